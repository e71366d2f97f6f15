"""Reachability of a task motion from a start configuration, by resolved motion with Newton steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.tolerances import SOLUTION_TOLERANCE

Array = npt.NDArray[Any]

SAMPLES_PER_CYCLE = 80
MAX_NEWTON_STEPS = 8
SEARCH_STARTS = 30  # random configurations from which a point of the path is searched
CANDIDATE_STARTS = 64  # random configurations among which a start is chosen
MAX_DISTANCE_FROM_HOME = 1.6  # rad or m, per coordinate of a candidate
MAX_TRIED_STARTS = 8  # the best conditioned, whose paths are followed
MAX_CONDITION = 20.0  # of J along the path from a suggested start
RELATIVE_DAMPING = 1e-3  # of the largest singular value, in the search of a point


def first_unreachable(robot: Robot, task: Task, q0: Array, desired: Callable[[float], Any], period: float) -> float | None:
    """The first time in one cycle at which no configuration reaches the desired point; None if all are reached.

    The path is followed from q0; where this fails, the point is also searched from random configurations. Joint limits are not
    taken into account, as in the simulation of the laws.
    """
    t, _, _ = _follow(robot, task, q0, desired, period)
    if t is None:
        return None
    x = desired(t)[0]
    starts = [q0, *robot.random(np.random.default_rng(0), SEARCH_STARTS)]
    return None if any(_search(robot, task, q, x) for q in starts) else t


def suggested_start(robot: Robot, task: Task, motion: Any) -> Array | None:
    """A configuration from which the motion can be followed with a well-conditioned Jacobian, in steps of 0.1 rad (m)."""
    candidates = _candidates(robot)
    order = np.argsort([_conditioning(task.jacobian(robot, q)) for q in candidates])
    for q in candidates[order[:MAX_TRIED_STARTS]]:
        desired = motion.from_start(task.value(robot, q))
        t, _, worst = _follow(robot, task, q, desired, motion.period)
        if t is None and worst < MAX_CONDITION:
            return np.asarray(q)
    return None


def _candidates(robot: Robot) -> Array:
    """Random configurations near home, within the limits; of quaternions, anywhere."""
    rng = np.random.default_rng(0)
    if robot.nq != robot.n:
        return robot.random(rng, CANDIDATE_STARTS)
    near = robot.home() + rng.uniform(-MAX_DISTANCE_FROM_HOME, MAX_DISTANCE_FROM_HOME, (CANDIDATE_STARTS, robot.n))
    return np.round(np.clip(near, robot.limits["lower"], robot.limits["upper"]), 1)


def _follow(robot: Robot, task: Task, q0: Array, desired: Any, period: float) -> tuple[float | None, Array, float]:
    """(time at which the path is lost or None, configuration, largest condition number of J) over one cycle."""
    q, worst = np.array(q0, dtype=float), 0.0
    for t in np.linspace(0.0, period, SAMPLES_PER_CYCLE + 1):
        q, left, condition = _newton(robot, task, q, desired(t)[0])
        worst = max(worst, condition)
        if not left < SOLUTION_TOLERANCE:
            return float(t), q, worst
    return None, q, worst


def _newton(robot: Robot, task: Task, q: Array, x: Array) -> tuple[Array, float, float]:
    """Newton steps towards a task value: (configuration, remaining error, condition number of the last J)."""
    condition = 1.0
    for _ in range(MAX_NEWTON_STEPS):
        error = task.error(x, task.value(robot, q))
        J = task.jacobian(robot, q)
        condition = _conditioning(J)
        if np.linalg.norm(error) < SOLUTION_TOLERANCE:
            break
        q = robot.integrate(q, np.linalg.lstsq(J, error, rcond=1e-9)[0])
    return q, float(np.linalg.norm(task.error(x, task.value(robot, q)))), condition


def _search(robot: Robot, task: Task, q: Array, x: Array) -> bool:
    """Whether damped least squares, with a damping that vanishes with the error, reaches a task value."""
    q = np.array(q, dtype=float)
    for _ in range(60):
        error = task.error(x, task.value(robot, q))
        size = float(np.linalg.norm(error))
        if size < SOLUTION_TOLERANCE:
            return True
        J = task.jacobian(robot, q)
        damping = RELATIVE_DAMPING * min(1.0, size) * np.linalg.norm(J, 2)
        q = robot.integrate(q, J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(J)), error))
    return False


def _conditioning(J: Array) -> float:
    values = np.linalg.svd(J, compute_uv=False)
    return float(values[0] / max(values[-1], 1e-300))
