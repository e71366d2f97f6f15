"""A robot as a stick figure: the points of its chain."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.robot import Robot

Array = npt.NDArray[Any]


def chain_points(robot: Robot, q: Any, frame: str | None = None) -> Array:
    """The joints' origins from the base to a frame, and the frame's own (points, 3)."""
    model = robot.model
    f = model.frame(frame)
    X_W = world_poses(model, relative_poses(model, np.asarray(q, dtype=float)))
    body = list(model.ancestors(f.body))[::-1]
    # a Denavit–Hartenberg frame stands at the far end of its link; where the joint turns, no motion moves it
    joints = [_joint_place(robot, X_W, i) for i in body]
    points = [*joints, (X_W[f.body] @ f.pose).p]
    kept = [points[0]] + [b for a, b in itertools.pairwise(points) if np.linalg.norm(b - a) > 1e-9]
    return np.array(kept, dtype=float)


def _joint_place(robot: Robot, X_W: list[Any], i: int) -> Array:
    """The point on the axis of a revolute joint nearest to its frame origin; of other joints, the origin."""
    body = robot.model.bodies[i]
    assert body is not None
    placed = (X_W[body.parent] @ body.placement).p
    if len(body.dof) != 1 or not robot.model.coordinates[body.dof[0]].revolute:
        return np.asarray(placed, dtype=float)
    # S = (−z × r, z) in the body's frame: the axis passes through r = z × v / ‖z‖²
    v, z = (X_W[i].R @ body.S[:3, 0]).astype(float), (X_W[i].R @ body.S[3:, 0]).astype(float)
    on_axis = X_W[i].p.astype(float) + np.cross(z, v) / (z @ z)
    along = z / np.linalg.norm(z)
    return np.asarray(on_axis + along * (along @ (placed - on_axis)), dtype=float)
