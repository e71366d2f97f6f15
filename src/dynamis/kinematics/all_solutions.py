"""All inverse-kinematics solutions of a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.kinematics.damped_least_squares import descend
from dynamis.kinematics.ik_problem import target_problem
from dynamis.kinematics.inverse_kinematics import generator, start_of, tolerances, turns_apart, turns_of
from dynamis.kinematics.solution import Solution
from dynamis.kinematics.turns import Turns
from dynamis.robot import Robot

Array = npt.NDArray[Any]
STARTS_PER_BATCH = 50  # between two reports of progress


def all_solutions(
    robot: Robot,
    target: Any,
    frame: str | None = None,
    *,
    q0: Any = None,
    kind: str = "pose",
    limits: bool = True,
    tolerance: Any = 1e-9,
    starts: int = 200,
    seed: int = 0,
    weights: Any = None,
    apart: float = 1e-3,
    collision: Any = None,
    closures: Any = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> list[Solution]:
    """Distinct inverse-kinematics solutions from many random starts, the closest to ``q0`` (default: home) first.

    Two solutions are equal if no joint differs by more than ``apart``, modulo full turns, and as a rotation where it has a
    quaternion, of either sign; joints that do not move the frame
    stay at ``q0``. A robot with more joints than the
    task needs has infinitely many solutions; the result is then a sample. Solutions that collide in ``collision``, a
    `collision.Scene`, are left out. ``closures`` are those of `inverse_kinematics`: the ways to assemble the mechanism count as
    solutions of their own.

    ``progress(starts done, starts, solutions)`` is called periodically.

    >>> import dynamis as dy
    >>> robot = dy.load("ur5e")
    >>> len(all_solutions(robot, robot.pose([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])))
    8
    """
    near = tolerances(tolerance)
    problem = target_problem(robot, target, frame, kind, bool(limits), weights, near, closures).avoiding(collision)
    if problem.target.ndim > 1:
        raise InputError(f"all_solutions takes one target, got {len(problem.target)}")
    reference, rng, turns = start_of(problem, q0), generator(seed), turns_of(problem)
    if not isinstance(starts, int | np.integer) or starts < 1:
        raise InputError(f"starts= must be a positive integer, got {starts!r}")
    if not isinstance(apart, int | float) or not 0.0 < apart < np.inf:
        raise InputError(f"apart= must be a positive number, got {apart!r}")
    kept: list[Solution] = []
    done = 0
    while done < starts:
        count = min(STARTS_PER_BATCH, int(starts) - done)
        begin = problem.starts(rng, count, reference)
        if done == 0:
            begin[0] = reference
        reached = descend(problem, begin)
        for q, errors, steps in zip(*(x[reached.found] for x in (reached.q, reached.errors, reached.steps)), strict=True):
            if all(np.abs(_gap(robot, turns, q, other.q)).max() > apart for other in kept):
                here = q if turns is None else turns.nearest(q, reference)
                kept.append(Solution(here, float(errors[0]), float(errors[1]), int(steps), done, True, "found"))
        done += count
        if progress is not None:
            progress(done, int(starts), len(kept))
    return sorted(kept, key=lambda s: float(np.linalg.norm(turns_apart(robot, s.q[None], reference))))


def _gap(robot: Robot, turns: Turns | None, q: Array, other: Array) -> Array:
    """The difference of two configurations (n,), of periodic joints modulo full turns."""
    if robot.nq == robot.n:
        return q - other if turns is None else turns.apart(q, other)
    gap = turns_apart(robot, q[None], other)[0]
    if turns is not None:
        periodic = [k for k, c in enumerate(robot.model.coordinates) if c.q_index in turns.places.tolist()]
        gap[periodic] -= 2.0 * np.pi * np.round(gap[periodic] / (2.0 * np.pi))
    return gap
