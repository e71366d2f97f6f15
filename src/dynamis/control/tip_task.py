"""The position of the tip as a task: the directions in which the arm moves it, and goals in those directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.kinematics.tasks import Position
from dynamis.robot import Robot
from dynamis.tolerances import NEGLIGIBLE, RANK_TOLERANCE

Array = npt.NDArray[Any]


def tip_position(robot: Robot, q: Array) -> Position:
    """The tip position task at the configuration q, in the directions in which the arm can move the tip."""
    jacobians = robot.jacobian(robot.random(0, 32))[:, :3]  # the rank is the largest at random configurations
    rows = tuple(int(k) for k in np.flatnonzero(np.abs(jacobians).max(axis=(0, 2)) > NEGLIGIBLE))
    rank = max(map(_rank, jacobians))
    if not rows or rank < len(rows):
        tip, axes = printable(robot.model.tip), " and ".join("xyz"[k] for k in rows)
        can = (
            f"moves in {axes} with only {rank} of {counted(len(rows), 'degree of freedom', 'degrees of freedom')}"
            if rows
            else "does not move"
        )
        raise InputError(
            f"the tip {tip} {can}, in any configuration: add a tool frame away from the last joint axis to the robot's file, "
            "or choose a joint-space law such as computed-torque"
        )
    task = Position(rows=rows)
    if _rank(task.jacobian(robot, q)) < len(rows):
        raise InputError("the start is singular: the tip cannot move in every direction; give another start with q0=")
    return task


def check_tip_goal(goal: Any, task: Position) -> None:
    """Raise an error that names the task's directions for a goal of another size."""
    if np.size(goal) not in (1, task.size):
        axes = " and ".join(task.names)
        only = "" if task.size == 3 else " only"
        raise InputError(
            f"the goal has {counted(np.size(goal), 'number')}: the tip moves in {axes}{only}, so give "
            f"goal=({', '.join(task.names)})"
        )


def _rank(J: Array) -> int:
    values = np.linalg.svd(J, compute_uv=False)
    return int(np.sum(values > max(RANK_TOLERANCE * values[0], NEGLIGIBLE)))
