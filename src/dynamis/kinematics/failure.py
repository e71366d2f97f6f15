"""Why a target was not reached, found out and said in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.kinematics.descent import Reached, descend
from dynamis.kinematics.task import Task

Array = npt.NDArray[Any]
SINGULAR = 1e-4  # smallest over largest singular value: some direction is as good as lost
TRIES = 12  # random starts of each further question


def why_not(task: Task, q: Array, errors: Array, tolerance: Array, rng: np.random.Generator) -> str:
    """What is in the way at the nearest configuration that was come to."""
    possible = _possible(task, rng)
    lost = _directions_lost(task, q, possible, rng)
    if lost:
        return f"{_misses(task, errors)}: {lost}"
    starts = np.concatenate([q[None], task.starts(rng, TRIES)])
    beyond = _beyond_limits(task, starts, tolerance)
    if beyond:
        return f"only beyond the limits: {beyond}; within them it {_misses(task, errors)}"
    if task.kind == "pose":
        point = descend(task.of_position(), starts, tolerance)
        if point.found.any():
            off = f"off by {errors[1]:.3g} rad and {errors[0]:.3g} m at best"
            return f"the point can be reached, but not in this orientation: {off}{_held(task, q)}"
        nearest = float(point.errors[:, 0].min())
        return f"the point is out of reach by {nearest:.3g} m{_held(task, point.q[point.best()])}{_singular(task, q, possible)}"
    held, singular = _held(task, q), _singular(task, q, possible)
    if task.kind == "position":
        return f"the point is out of reach by {errors[0]:.3g} m{held}{singular}"
    return f"this orientation is out of reach by {errors[1]:.3g} rad{held}{singular}"


def _misses(task: Task, errors: Array) -> str:
    parts = [f"{errors[0]:.3g} m"] if task.kind != "orientation" else []
    parts += [f"{errors[1]:.3g} rad"] if task.kind != "position" else []
    return "misses by " + " and ".join(parts)


def _possible(task: Task, rng: np.random.Generator) -> Array:
    """An orthonormal basis (k, r) of the directions in which the frame can move in one configuration or another."""
    J = task.jacobian(task.starts(rng, TRIES))
    U, values, _ = np.linalg.svd(np.concatenate(list(J), axis=1), full_matrices=False)
    return np.asarray(U[:, values > 1e-9 * max(values[0], 1e-300)])


def _directions_lost(task: Task, q: Array, possible: Array, rng: np.random.Generator) -> str:
    """A robot that cannot move in all the directions that matter, whatever its configuration, if that is to blame."""
    wanted = int((task.weights > 0.0).sum())
    can = int(np.linalg.matrix_rank(task.jacobian(task.starts(rng, TRIES)), tol=1e-9).max())
    e = task.errors(q[None])[0][0]
    hopeless = float(np.linalg.norm(e - possible @ (possible.T @ e)))
    if can == possible.shape[1] and hopeless <= 1e-3 * float(np.linalg.norm(e)):
        return ""
    cure = (
        "weights= with zeros asks for less" if task.kind != "pose" else "task='position' or weights= with zeros asks for less"
    )
    return f"{task.robot.name!r} moves in {can} independent directions of the {wanted} asked for; {cure}"


def _beyond_limits(task: Task, starts: Array, tolerance: Array) -> str:
    """Which joints would have to leave their limits, if that would help."""
    if not (np.isfinite(task.lower).any() or np.isfinite(task.upper).any()):
        return ""
    free: Reached = descend(task.without_limits(), starts, tolerance)
    if not free.found.any():
        return ""
    solutions = free.q[free.found]
    outside = np.maximum(task.lower - solutions, solutions - task.upper).clip(min=0.0)
    nearest = int(outside.sum(axis=1).argmin())
    return ", ".join(
        f"{c.name} at {solutions[nearest, c.q_index]:.4g} (allowed: {c.lower:.4g} to {c.upper:.4g})"
        for c in task.robot.model.coordinates
        if c.q_index is not None and outside[nearest, c.q_index] > 0.0
    )


def _held(task: Task, q: Array) -> str:
    """Joints that stand at a limit."""
    return "".join(
        f", {c.name} stands at its {'lower' if q[c.q_index] == task.lower[c.q_index] else 'upper'} limit"
        for c in task.robot.model.coordinates
        if c.q_index is not None and q[c.q_index] in (task.lower[c.q_index], task.upper[c.q_index])
    )


def _singular(task: Task, q: Array, possible: Array) -> str:
    values = np.linalg.svd(possible.T @ task.jacobian(q[None])[0], compute_uv=False)
    return ", and the configuration is singular there: stretched out or folded" if values[-1] < SINGULAR * values[0] else ""
