"""Whether the goal of a task-space controller lies in the workspace of the arm."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.kinematics.ik_diagnosis import EXISTS
from dynamis.kinematics.inverse_kinematics import inverse_kinematics
from dynamis.robot import Robot
from dynamis.task_space.tasks import Position

Array = npt.NDArray[Any]
TOLERANCE = 1e-6  # m: far below the tracking error of a controller
RESTARTS = 10  # random starts of the search; its diagnosis of a failure searches from 50 more


def why_unreachable(robot: Robot, task: Position, goal: Array, q0: Array) -> str:
    """The empty string if inverse kinematics reaches the goal of the tip, else a sentence with the distance and a remedy."""
    rows = list(task.rows)
    target = np.array(robot.pose(q0)[:3, 3], dtype=float)
    target[rows] = goal
    weights = np.isin(np.arange(3), rows).astype(float)
    found = inverse_kinematics(robot, target, q0=q0, weights=weights, tolerance=TOLERANCE, restarts=RESTARTS)
    if found.found or EXISTS in found.status:
        return ""
    reason = found.status.partition(": ")[2]
    nearest = robot.pose(found.q)[:3, 3][rows]
    return (
        f"the goal {_point(goal)} is not reachable: {reason}. The nearest position found by inverse kinematics is "
        f"{_point(nearest)}; choose a goal inside the workspace"
    )


def _point(x: Array) -> str:
    return f"({', '.join(f'{value:.4g}' for value in np.round(x, 6) + 0.0)}) m"
