"""Common parts of task-space laws: task error, reference, and null-space damping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.dry_friction import smooth_model
from dynamis.control.law import check_actuated_base
from dynamis.control.reference import Reference, check_length
from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.kinematics.tasks import Orientation, PoseTask, Position, Task
from dynamis.robot import Robot
from dynamis.task_space.task_state import TaskState, solved

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class TaskError:
    """e = x_d − x and its rate, and the reference acceleration, at one state of a robot."""

    instant: TaskState
    e: Array
    e_dot: Array
    x_dot: Array
    a_d: Array

    @staticmethod
    def of(robot: Robot, t: Any, q: Array, v: Array, task: Task, reference: Reference) -> TaskError:
        x_d, v_d, a_d = task_reference(robot, reference, t, task)
        instant = TaskState.of(smooth_model(robot), q, v, task)
        x_dot = instant.J @ np.asarray(v)
        return TaskError(instant, task.error(x_d, task.value(robot, q)), v_d - x_dot, x_dot, a_d)


def task_reference(robot: Robot, reference: Reference, t: Any, task: Task, posture: Any = None) -> tuple[Array, Array, Array]:
    """(x, ẋ, ẍ) of a reference at a time, for a robot with a fixed base and as many components as the task has."""
    check_actuated_base(robot)
    if posture is not None and task.size < robot.n:
        checked_posture(posture, robot.nq, robot.n)
    x_d, v_d, a_d = reference(t)
    check_length(x_d, task.size, f"the reference of the task ({', '.join(task.names)})")
    return x_d, v_d, a_d


def inertia_times(instant: TaskState, b: Array, damping: float = 0.0) -> Array:
    """Λ b; ``damping`` keeps it finite near singularities."""
    return solved(instant.mobility, b, damping)


def null_space_projection(instant: TaskState, torque: Array, damping: float = 0.0) -> Array:
    """Nᵀ τ₀ = τ₀ − Jᵀ Λ J M⁻¹ τ₀: the null-space part of a torque, which does not accelerate the task [Khatib 1987]."""
    return np.asarray(torque - instant.J.T @ inertia_times(instant, instant.A_T.T @ torque, damping))


def posture_torque(instant: TaskState, q: Array, v: Array, posture: Any, bandwidth: float, damping: float = 0.0) -> Array:
    """Null-space torque M (ω² (q_0 − q) − 2 ω v), damping only if no posture is given; zero for a square Jacobian."""
    m, n = instant.J.shape
    if m >= n:
        return np.zeros(n)
    wanted = -2.0 * bandwidth * np.asarray(v)
    if posture is not None:
        wanted = wanted + bandwidth * bandwidth * (checked_posture(posture, len(np.asarray(q)), n) - q)
    return null_space_projection(instant, instant.M @ wanted, damping)


def checked_posture(posture: Any, count: int, n: int) -> Array:
    """q_0, for robots without quaternions, for which q_0 − q is defined."""
    if count != n:
        raise InputError(
            "posture= requires joints with one coordinate each; this robot has a spherical or free joint: use posture=None, "
            "which damps null-space motion"
        )
    wanted = np.asarray(posture, dtype=float)
    if wanted.shape not in ((), (n,)):
        raise InputError(
            f"posture= has {counted(np.size(wanted), 'number')}, the robot has {counted(n, 'joint')}: give one per joint"
        )
    return wanted


def task_force(task: Task, wrench: Array) -> Array:
    """The task force (size) of a wrench on the task's frame, in world axes."""
    match task:
        case Position():
            return wrench[:3][list(task.rows)]
        case Orientation(coordinates="geometric"):
            return wrench[3:][list(task.rows)]
        case PoseTask(coordinates="geometric"):
            return wrench
    raise InputError("forces require a Position, or an Orientation or PoseTask in 'geometric' coordinates")


def task_units(task: Task) -> tuple[str, ...]:
    """m for positions, rad for orientations, none for user-defined components."""
    parts = getattr(task, "parts", None)
    if parts is not None:
        return tuple(unit for part in parts for unit in task_units(part))
    return ("m" if isinstance(task, Position) else "rad" if isinstance(task, Orientation) else "",) * task.size


def check_task(task: Any) -> Task:
    if not isinstance(task, Task):
        raise InputError(f"task= must be a task, such as dynamis.task_space.Position(), got {type(task).__name__}")
    return task
