"""The robot as a page draws it: the tree of its joints, its frames, masses and simple shapes, in plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.joints import Free, Helical, Prismatic, Revolute, Spherical
from dynamis.model.model import Body
from dynamis.report.numbers import main_frame, middle, ranges, short, unit_of
from dynamis.robot import Robot
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]

DIGITS = 12  # of poses: the page's forward kinematics agree with the robot's to rounding
SAMPLES = 200  # configurations, to see how much room the robot takes
SOLID = ("box", "cylinder", "capsule", "sphere")
FLAT = 1e-9


def scene_of(robot: Robot) -> dict[str, Any]:
    """Everything the page's view needs; `page/kinematics.js` computes poses from it."""
    model = robot.model
    kept = [(i, b) for i, b in model.moving if not b.is_rotor]
    number = {0: 0} | {i: k for k, (i, _) in enumerate(kept, 1)}
    low, high = ranges(robot)
    return {
        "name": robot.name,
        "nq": robot.nq,
        "neutral": short(middle(robot), DIGITS),
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
        "shapes": _shapes(robot),
        **_room(robot),
    }


def _body(body: Body, parent: int) -> dict[str, Any]:
    m = body.motion
    kind = {Revolute: "revolute", Prismatic: "prismatic", Helical: "helical", Spherical: "spherical", Free: "free"}.get(type(m))
    made: dict[str, Any] = {
        "name": body.name,
        "parent": parent,
        "placement": _pose(body.placement),
        "kind": kind or "fixed",
        "q": body.q_index.start,
    }
    if isinstance(m, Revolute | Prismatic | Helical):
        made["axis"] = short(m.axis, DIGITS)
    if isinstance(m, Helical):
        made["pitch"] = short(m.pitch, DIGITS)
    if body.ratio != 1.0 or body.offset != 0.0:
        made |= {"ratio": short(body.ratio, DIGITS), "offset": short(body.offset, DIGITS)}
    return made


def _pose(pose: Pose) -> list[float]:
    """Twelve numbers, row by row: R | p."""
    return [float(x) for row in short(np.column_stack([pose.R, pose.p]), DIGITS) for x in row]


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


def _shapes(robot: Robot) -> list[dict[str, Any]]:
    """Boxes, cylinders, capsules and spheres the file has; of a link without visible ones, those it collides as."""
    found = []
    for link in robot.description.links:
        if link.name not in robot.model.frames:
            continue
        solid = [s for s in link.shapes if s.kind in SOLID]
        for shape in [s for s in solid if s.role == "visual"] or solid:
            size = [float(x) for x in shape.size]
            found.append(
                {
                    "frame": link.name,
                    "kind": shape.kind,
                    "size": size,
                    "pose": _pose(shape.origin),
                    **({"rgba": list(map(float, shape.rgba))} if shape.rgba is not None else {}),
                }
            )
    return found


def _room(robot: Robot) -> dict[str, Any]:
    """Which way is up, where the floor is, how far the robot reaches."""
    model = robot.model
    g = np.asarray(model.gravity, dtype=float)
    up = -g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, 1.0])
    low, high = ranges(robot)
    rng = np.random.default_rng(0)
    q = np.tile(middle(robot), (SAMPLES, 1))
    for k, c in enumerate(model.coordinates):
        if c.q_index is not None and c.q_index < robot.nq:
            q[1:, c.q_index] = rng.uniform(low[k], high[k], SAMPLES - 1)
    points = np.stack([_positions(robot, row) for row in q])
    heights = points @ up
    extent = np.ptp(points.reshape(-1, 3), axis=0)
    upright = up[2] > 0.9
    # an arm that swings in an upright plane hangs from a wall; others stand on the floor or on their feet
    planar = bool((extent <= FLAT * max(float(extent.max()), 1e-300)).any()) and not upright
    floor = float(heights.min() if planar or not upright else min(0.0, heights[0].min()))
    # what the view is centred on: the room between the floor and where the robot usually is
    top = 0.6 * float(heights.max()) + 0.4 * float(heights[0].max())
    reach = max(float(np.linalg.norm(points, axis=-1).max()), 1e-3)
    # and half-way towards where it stands at rest
    box = np.concatenate([points[0], np.zeros((1, 3))])
    aside = 0.25 * (box.min(axis=0) + box.max(axis=0))
    centre = np.zeros(3) if planar else aside + (0.5 * (floor + top) - aside @ up) * up
    return {
        "centre": short(centre, 5),
        "room": short(1.08 * reach if planar else max(0.5 * (top - floor), 0.62 * reach), 5),
        "up": short(up, 6),
        "floor": short(floor, 5),
        "planar": planar,
        "reach": short(reach, 5),
    }


def _positions(robot: Robot, q: Array) -> Array:
    """Where the robot is (points, 3): origins of frames, and the far side of the last bodies' centres of mass.

    By the tree itself: a compiled function for each frame would take longer than its one use.
    """
    model = robot.model
    poses = [Pose.identity()]
    for _, body in model.moving:
        poses.append(poses[body.parent] @ body.pose(q))
    points = [(poses[f.body] @ f.pose).p for f in model.frames.values()]
    last = [i for i, body in model.moving if not model.children[i] and not body.is_rotor]
    far = [(i, model.with_locked_rotors(i)) for i in last]
    points += [poses[i].R @ (2.0 * inertia.com) + poses[i].p for i, inertia in far if float(inertia.mass) > 0.0]
    return np.array(points, dtype=float)
