"""Reachability of a task motion from a start configuration, by resolved motion with Newton steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.robot import Robot
from dynamis.task_space.tasks import Task

Array = npt.NDArray[Any]

SAMPLES = 80  # per cycle
NEWTON_STEPS = 8
REACHED = 1e-6  # m and rad: task error below which a point of the path counts as reached
STARTS = 30  # random configurations from which a point of the path is searched
CANDIDATES = 64  # random configurations among which a start is searched
NEAR = 1.6  # rad, m: distance of these from home, per coordinate
TRIED = 8  # of these, the best conditioned, whose paths are followed
WORST_CONDITION = 20.0  # of J along the path from a suggested start
DAMPING = 1e-3  # of the largest singular value, in the search of a point


def first_unreachable(robot: Robot, task: Task, q0: Array, desired: Callable[[float], Any], period: float) -> float | None:
    """The first time in one cycle at which no configuration reaches the desired point; None if all are reached.

    The path is followed from q0; where this fails, the point is also searched from random configurations. Joint limits are not
    taken into account, as in the simulation of the laws.
    """
    t, _, _ = _follow(robot, task, q0, desired, period)
    if t is None:
        return None
    x = desired(t)[0]
    starts = [q0, *robot.random(np.random.default_rng(0), STARTS)]
    return None if any(_search(robot, task, q, x) for q in starts) else t


def suggested_start(robot: Robot, task: Task, motion: Any) -> Array | None:
    """A configuration from which the motion can be followed with a well-conditioned Jacobian, in steps of 0.1 rad (m)."""
    candidates = _candidates(robot)
    order = np.argsort([_conditioning(task.jacobian(robot, q)) for q in candidates])
    for q in candidates[order[:TRIED]]:
        desired = motion.from_start(task.value(robot, q))
        t, _, worst = _follow(robot, task, q, desired, motion.period)
        if t is None and worst < WORST_CONDITION:
            return np.asarray(q)
    return None


def _candidates(robot: Robot) -> Array:
    """Random configurations near home, within the limits; of quaternions, anywhere."""
    rng = np.random.default_rng(0)
    if robot.nq != robot.n:
        return robot.random(rng, CANDIDATES)
    near = robot.home() + rng.uniform(-NEAR, NEAR, (CANDIDATES, robot.n))
    return np.round(np.clip(near, robot.limits["lower"], robot.limits["upper"]), 1)


def _follow(robot: Robot, task: Task, q0: Array, desired: Any, period: float) -> tuple[float | None, Array, float]:
    """(time at which the path is lost or None, configuration, largest condition number of J) over one cycle."""
    q, worst = np.array(q0, dtype=float), 0.0
    for t in np.linspace(0.0, period, SAMPLES + 1):
        q, left, condition = _newton(robot, task, q, desired(t)[0])
        worst = max(worst, condition)
        if not left < REACHED:
            return float(t), q, worst
    return None, q, worst


def _newton(robot: Robot, task: Task, q: Array, x: Array) -> tuple[Array, float, float]:
    """Newton steps towards a task value: (configuration, remaining error, condition number of the last J)."""
    condition = 1.0
    for _ in range(NEWTON_STEPS):
        error = task.error(x, task.value(robot, q))
        J = task.jacobian(robot, q)
        condition = _conditioning(J)
        if np.linalg.norm(error) < REACHED:
            break
        q = robot.integrate(q, np.linalg.lstsq(J, error, rcond=1e-9)[0])
    return q, float(np.linalg.norm(task.error(x, task.value(robot, q)))), condition


def _search(robot: Robot, task: Task, q: Array, x: Array) -> bool:
    """Whether damped least squares, with a damping that vanishes with the error, reaches a task value."""
    q = np.array(q, dtype=float)
    for _ in range(60):
        error = task.error(x, task.value(robot, q))
        size = float(np.linalg.norm(error))
        if size < REACHED:
            return True
        J = task.jacobian(robot, q)
        damping = DAMPING * min(1.0, size) * np.linalg.norm(J, 2)
        q = robot.integrate(q, J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(J)), error))
    return False


def _conditioning(J: Array) -> float:
    values = np.linalg.svd(J, compute_uv=False)
    return float(values[0] / max(values[-1], 1e-300))
