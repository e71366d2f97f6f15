"""The robot as a page draws it: the tree of its joints, its frames, masses and simple shapes, in plain numbers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.documents.numbers import short
from dynamis.model.joints import Helical, Prismatic, Revolute
from dynamis.model.model import Body
from dynamis.reports.meshes.drawing import Drawing, drawing_of
from dynamis.reports.numbers import main_frame, ranges, unit_of
from dynamis.reports.staging import stage_of
from dynamis.robot import Robot
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]

POSE_DIGITS = 12  # the page's forward kinematics agree with the robot's to rounding


@functools.lru_cache(maxsize=4)  # several figures of a report show the same robot
def scene_of(robot: Robot) -> dict[str, Any]:
    """Everything the page's view needs; `page/kinematics.js` computes poses from it."""
    model = robot.model
    kept = [(i, b) for i, b in model.moving if not b.is_rotor]
    number = {0: 0} | {i: k for k, (i, _) in enumerate(kept, 1)}
    low, high = ranges(robot)
    return {
        "name": robot.name,
        "nq": robot.nq,
        "home": short(robot.home(), POSE_DIGITS),
        "bodies": [_body(b, number[b.parent]) for _, b in kept],
        "frames": [
            {"name": f.name, "body": number[f.body], "pose": _pose(f.pose)} for f in (model.frames[x] for x in model.link_names)
        ],
        "tip": main_frame(robot),
        "coordinates": [
            {"name": c.name, "q": c.q_index, "lower": short(low[k], 8), "upper": short(high[k], 8), "unit": unit_of(robot, k)}
            for k, c in enumerate(model.coordinates)
        ],
        "masses": [_mass(model.with_locked_rotors(i), number[i]) for i, _ in kept],
        **_shapes(drawing_of(robot)),
        **stage_of(robot),
    }


def _body(body: Body, parent: int) -> dict[str, Any]:
    m = body.motion
    made: dict[str, Any] = {
        "name": body.name,
        "parent": parent,
        "placement": _pose(body.placement),
        "kind": m.drawn,
        "q": body.q_index.start,
    }
    if isinstance(m, Revolute | Prismatic | Helical):
        made["axis"] = short(m.axis, POSE_DIGITS)
    if isinstance(m, Helical):
        made["pitch"] = short(m.pitch, POSE_DIGITS)
    if body.ratio != 1.0 or body.offset != 0.0:
        made |= {"ratio": short(body.ratio, POSE_DIGITS), "offset": short(body.offset, POSE_DIGITS)}
    return made


def _pose(pose: Pose) -> list[float]:
    """Twelve numbers, row by row: R | p."""
    return [float(x) for row in short(np.column_stack([pose.R, pose.p]), POSE_DIGITS) for x in row]


def _mass(inertia: Any, body: int) -> dict[str, Any]:
    """Mass, centre, and the solid ellipsoid of the same mass and moments: a_i² = 5 (I_j + I_k − I_i) / (2 m)."""
    mass = float(inertia.mass)
    made: dict[str, Any] = {"body": body, "mass": short(mass, 6)}
    if mass <= 0.0:
        return made
    moments, axes = np.linalg.eigh(np.asarray(inertia.tensor_about_com, dtype=float))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    squares = np.clip(2.5 * (moments.sum() - 2.0 * moments) / mass, 0.0, None)
    pose = Pose(axes, np.asarray(inertia.com, dtype=float))
    return made | {"pose": _pose(pose), "radii": short(np.sqrt(squares), 5)}


def _shapes(drawing: Drawing) -> dict[str, Any]:
    """The shapes in the frames of their bodies, the meshes among them, and balls (body, x, y, z, radius) that hold them."""
    shapes = [
        {
            "body": drawn.body,
            "kind": drawn.shape.kind,
            "size": [float(x) for x in drawn.shape.size],
            "pose": _pose(drawn.shape.origin),
            **({"mesh": drawn.mesh} if drawn.mesh is not None else {}),
            **({"rgba": list(map(float, drawn.shape.rgba))} if drawn.shape.rgba is not None else {}),
        }
        for drawn in drawing.shapes
    ]
    balls = [
        [drawn.body, *short(point), short(radius)]
        for drawn in drawing.shapes
        for point, radius in zip(drawn.points, drawn.radii, strict=True)
    ]
    return {"shapes": shapes, "meshes": drawing.meshes, "outline": balls}
