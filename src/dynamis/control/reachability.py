"""Checks before an experiment: the start is not singular for the task, and its goal or path can be reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.kinematics.ik_diagnosis import EXISTS
from dynamis.kinematics.inverse_kinematics import inverse_kinematics
from dynamis.kinematics.tasks import Position, Task
from dynamis.robot import Robot
from dynamis.task_space.motions import Circle, Line
from dynamis.task_space.operational import checked_instant
from dynamis.task_space.path_check import first_unreachable, suggested_start
from dynamis.task_space.singularities import decide
from dynamis.tolerances import NEARLY_SINGULAR, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]


def why_unreachable(robot: Robot, task: Task, goal: Array, q0: Array) -> str:
    """The empty string if inverse kinematics reaches the goal of the tip, else a sentence with the distance and a remedy."""
    if not isinstance(task, Position) or task.frame is not None:
        return ""
    rows = list(task.rows)
    target = np.array(robot.pose(q0)[:3, 3], dtype=float)
    target[rows] = goal
    weights = np.isin(np.arange(3), rows).astype(float)
    found = inverse_kinematics(robot, target, q0=q0, weights=weights, tolerance=SOLUTION_TOLERANCE, restarts=10)
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


def check_cycles(robot: Robot, task: Task, q: Array, motion: Circle | Line, desired: Any) -> None:
    """Reject a periodic task motion that is singular at its start or leaves the workspace."""
    if task.size > robot.n:
        raise InputError(
            f"the task has {counted(task.size, 'component')}, but the robot has {counted(robot.n, 'joint')}: select fewer rows"
        )
    at = decide(checked_instant(robot, q, np.zeros(robot.n), task).whitened(), task.names, 0.0, True, NEARLY_SINGULAR)
    if at.singular:
        raise InputError(
            f"the task is singular at q0 ({at.how}): choose another start{_such_as(robot, task, motion)}, or a positive "
            f"regularisation"
        )
    lost = first_unreachable(robot, task, q, desired, motion.period)
    if lost is not None:
        raise InputError(
            f"the task motion leaves the workspace at t = {lost:.3g} s: choose another start"
            f"{_such_as(robot, task, motion)}, or a smaller motion"
        )


def _such_as(robot: Robot, task: Task, motion: Circle | Line) -> str:
    """A start from which the motion can be followed, as part of a message."""
    q = suggested_start(robot, task, motion)
    return "" if q is None else f", such as q0=({', '.join(f'{x + 0.0:g}' for x in q)})"
