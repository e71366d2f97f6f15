"""Diagnosis of a failed inverse-kinematics search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.kinematics.collision_check import CollisionCheck, unavoidable_collisions
from dynamis.kinematics.damped_least_squares import Reached, descend
from dynamis.kinematics.ik_priorities import lower_priorities
from dynamis.kinematics.ik_problem import Problem
from dynamis.kinematics.posture_tasks import CenterOfMass
from dynamis.kinematics.tasks import Orientation, Position
from dynamis.kinematics.turns import Turns
from dynamis.tolerances import NEARLY_SINGULAR, NEGLIGIBLE, RANK_TOLERANCE, RECURSION_ROUNDING

Array = npt.NDArray[Any]
MAX_SEARCH_STARTS = 50  # random: the target may be within reach after all
DIAGNOSIS_STARTS = 12  # random, for each possible cause
FAR = 20.0  # times the reach: no target in metres
EXISTS = "a solution exists: increase restarts="


def why_not(task: Problem, q: Array, errors: Array, rng: np.random.Generator) -> str:
    """The reason for the failure, from the configuration with the smallest error."""
    if task.collision is not None:
        anyhow = replace(task, collision=None)
        reached = descend(anyhow, np.concatenate([q[None], task.starts(rng, MAX_SEARCH_STARTS, q)]))
        if reached.found.any():
            return _collides(task.collision, reached.q[reached.found])
        task = anyhow
    if task.loops and (gap := task.sizes(q)[2]) > NEGLIGIBLE:
        worst = int(np.argmax(np.abs(task.errors(q)[task.closed])))
        return f"the loops do not close: {task.loops.names[worst]!r} stays open, all closures together by {gap:.3g}"
    if task.kind == "tasks":
        return _largest_errors(task, q)
    if errors.max() <= RECURSION_ROUNDING:
        return f"{_misses(task, errors)}, which is rounding: use a larger tolerance="
    if descend(task, task.starts(rng, MAX_SEARCH_STARTS, q)).found.any():
        return f"{_misses(task, errors)}, but {EXISTS}"
    starts = np.concatenate([q[None], task.starts(rng, DIAGNOSIS_STARTS, q)])
    free = _without_limits(task, starts)
    if free is not None:
        beyond = _beyond_limits(task, free)
        within = _misses(task, errors)
        return (
            f"solutions exist only outside the joint limits: {beyond}; within the limits the {within}"
            if beyond
            else f"{within}, but {EXISTS}"
        )
    possible = _possible(task, rng)
    lost = _directions_lost(task, q, possible, rng)
    if lost:
        return f"{_misses(task, errors)}: {lost}"
    if task.kind == "pose":
        position = task.of_position()
        point = descend(position, starts)
        if task.loops and not point.found.any():
            point = lower_priorities(position, point.at(np.array([point.best()])))
        if point.found.any():
            off = f"smallest error {errors[1]:.3g} rad and {errors[0]:.3g} m"
            return f"the position is reachable, but not with this orientation: {off}{_joints_at_limits(task, q)}"
        nearest, held = float(point.errors[:, 0].min()), _joints_at_limits(task, point.q[point.best()])
        return (
            f"the position is out of reach by {nearest:.3g} m{_millimetres(task, nearest)}{held}{_singular(task, q, possible)}"
        )
    held, singular = _joints_at_limits(task, q), _singular(task, q, possible)
    if task.kind == "position":
        return f"the position is out of reach by {errors[0]:.3g} m{_millimetres(task, float(errors[0]))}{held}{singular}"
    return f"the orientation is out of reach by {errors[1]:.3g} rad{held}{singular}"


def _millimetres(task: Problem, miss: float) -> str:
    """A hint where the target is many times as far away as the robot reaches, but within reach in mm."""
    frame = getattr(task.of.tasks[0], "frame", None)
    places = task.robot.pose(task.robot.random(0, DIAGNOSIS_STARTS), frame)[:, :3, 3]
    reach = float(np.linalg.norm(places, axis=-1).max())
    return " (positions are in m: is the target in mm?)" if FAR * reach < miss < 2000.0 * reach else ""


def _collides(collision: CollisionCheck, q: Array) -> str:
    """Of solutions (m, nq): that they collide, and what touches in the first."""
    collide = collision.in_collision(q)
    if not collide.all():
        return EXISTS
    always = unavoidable_collisions(collision)
    return f"every solution found is in collision: {collision.nearest(q[0])[0].status}{f'; {always}' if always else ''}"


def _largest_errors(task: Problem, q: Array) -> str:
    """Of several goals: the errors of those that must be met."""
    e, begin, parts = task.errors(q) * task.required, 0, []
    for one in task.of.tasks:
        size = float(np.linalg.norm(e[begin : begin + one.size]))
        unit = " m" if isinstance(one, Position | CenterOfMass) else " rad" if isinstance(one, Orientation) else ""
        parts += [f"{one!r} by {size:.3g}{unit}"] if size > task.tolerance.min() else []
        begin += one.size
    missed = ", ".join(parts)
    return f"the smallest weighted error misses {missed}; give goals that may be missed a lower priority (a larger number)"


def _misses(task: Problem, errors: Array) -> str:
    parts = [f"{errors[0]:.3g} m"] if task.kind != "orientation" else []
    parts += [f"{errors[1]:.3g} rad"] if task.kind != "position" else []
    return "smallest error is " + " and ".join(parts)


def _possible(task: Problem, rng: np.random.Generator) -> Array:
    """An orthonormal basis (k, r) of the directions in which the frame can move in some configuration."""
    J = task.jacobians(_configurations(task, rng))
    U, values, _ = np.linalg.svd(np.concatenate(list(J), axis=1), full_matrices=False)
    return np.asarray(U[:, values > 1e-9 * max(values[0], 1e-300)])


def _configurations(task: Problem, rng: np.random.Generator) -> Array:
    """Random configurations, with closed loops."""
    starts = task.starts(rng, DIAGNOSIS_STARTS, task.of.home)
    if task.loops is None:
        return starts
    closed = descend(task, starts, settings=task.of_loops())
    return closed.q[closed.found] if closed.found.any() else closed.q


def _directions_lost(task: Problem, q: Array, possible: Array, rng: np.random.Generator) -> str:
    """A sentence if the robot cannot move the frame in all directions of the task in any configuration."""
    wanted = int((task.weights[~task.closed] > 0.0).sum())
    can = int(np.linalg.matrix_rank(task.jacobians(_configurations(task, rng)), tol=RANK_TOLERANCE).max())
    e = (task.weights * task.errors(q))[~task.closed]
    hopeless = float(np.linalg.norm(e - possible @ (possible.T @ e)))
    if can == possible.shape[1] and hopeless <= 1e-3 * float(np.linalg.norm(e)):
        return ""
    cure = (
        "exclude directions with zeros in weights="
        if task.kind != "pose"
        else "use kind='position', or exclude directions with zeros in weights="
    )
    if not can:
        return f"{task.robot.name!r} cannot move the frame at all; choose another frame="
    return (
        f"{task.robot.name!r} can move the frame in {can} of the {counted(wanted, 'independent direction')} of the task; {cure}"
    )


def _without_limits(task: Problem, starts: Array) -> Array | None:
    """The solution (nq) without joint limits that violates them least, if there is one."""
    if not (np.isfinite(task.lower).any() or np.isfinite(task.upper).any()):
        return None
    free: Reached = descend(task.without_limits(), starts)
    if not free.found.any():
        return None
    # a joint that comes round is within its limits, if a turn brings it there, where it is nearest to their middle
    limited = np.isfinite(task.lower) & np.isfinite(task.upper)
    middle = np.where(limited, (np.where(limited, task.lower, 0.0) + np.where(limited, task.upper, 0.0)) / 2.0, starts[0])
    solutions = Turns(task.robot, False).nearest(free.q[free.found], middle)
    return np.asarray(solutions[_outside(task, solutions).sum(axis=1).argmin()])


def _outside(task: Problem, q: Array) -> Array:
    """Violation of the limits by each entry of q (…, nq), up to rounding."""
    outside = np.maximum(task.lower - q, q - task.upper)
    return np.where(outside > RECURSION_ROUNDING, outside, 0.0)


def _beyond_limits(task: Problem, solution: Array) -> str:
    """The joints that violate their limits in a solution, with their values."""
    outside = _outside(task, solution)
    return ", ".join(
        f"{c.name} at {solution[c.q_index]:.4g} (allowed: {c.lower:.4g} to {c.upper:.4g})"
        for c in task.robot.model.coordinates
        if c.q_index is not None and outside[c.q_index] > 0.0
    )


def _joints_at_limits(task: Problem, q: Array) -> str:
    """Joints that move the frame, at a limit."""
    return "".join(
        f", {c.name} is at its {'lower' if q[c.q_index] == task.lower[c.q_index] else 'upper'} limit"
        for c in task.robot.model.coordinates
        if c.q_index is not None and task.moving[c.q_index] and q[c.q_index] in (task.lower[c.q_index], task.upper[c.q_index])
    )


def _singular(task: Problem, q: Array, possible: Array) -> str:
    values = np.linalg.svd(possible.T @ task.jacobians(q[None])[0], compute_uv=False)
    return (
        ", and the nearest configuration is singular (arm stretched or folded)"
        if values[-1] < NEARLY_SINGULAR * values[0]
        else ""
    )
