"""Inverse kinematics: a configuration for a desired pose, position or orientation of a frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.kinematics.damped_least_squares import descend
from dynamis.kinematics.ik_diagnosis import why_not
from dynamis.kinematics.ik_problem import Problem, make_problem
from dynamis.kinematics.solution import Solution
from dynamis.kinematics.turns import Turns
from dynamis.robot import Robot
from dynamis.spatial import Pose

Array = npt.NDArray[Any]
STARTS_PER_BATCH = 10  # random starts


def inverse_kinematics(
    robot: Robot,
    target: Any,
    frame: str | None = None,
    *,
    q0: Any = None,
    kind: str | None = None,
    limits: bool = True,
    tolerance: Any = 1e-9,
    restarts: int = 50,
    seed: int = 0,
    weights: Any = None,
) -> Solution:
    """Find q for which a frame (default: the tip) has a pose (4 × 4 or `Pose`), a position (3) or an orientation (3 × 3).

    The shape of ``target`` determines the ``kind`` ("pose", "position" or "orientation"), unless it is given.
    The solver starts from ``q0`` (default: home), then from random configurations until the error is within
    ``tolerance``, one number for m and rad or two. Joint limits are satisfied exactly, unless ``limits=False``. Joints with
    periodic angles end as close to ``q0`` as their limits permit. ``weights`` multiply the errors in world axes, linear part
    first; a direction with weight zero is ignored.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("ur5e")
    >>> q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
    >>> found = inverse_kinematics(robot, robot.pose(q), q0=q + 0.2)
    >>> found.found, bool(abs(found.q - q).max() < 1e-6)
    (True, True)
    """
    shape = _one_target(target)
    if kind is None:
        kind = {(3,): "position", (3, 3): "orientation"}.get(shape, "pose")
    problem = make_problem(robot, target, frame, kind, bool(limits), weights)
    near = tolerances(tolerance)
    if not isinstance(restarts, int | np.integer) or restarts < 0:
        raise InputError(f"restarts= must be a non-negative integer, got {restarts!r}")
    reference = start_of(problem, q0)
    rng = generator(seed)
    reached = descend(problem, reference[None], near)
    best, steps, done = (reached.q[0], reached.errors[0], bool(reached.found[0])), reached.steps, 0
    turns = Turns(robot, bool(limits))
    while not best[2] and done < restarts:
        count = min(STARTS_PER_BATCH, int(restarts) - done)
        reached = descend(problem, problem.starts(rng, count), near)
        done, steps = done + count, steps + reached.steps
        if reached.found.any():
            q = turns.nearest(reached.q[reached.found], reference)
            nearest = int(np.linalg.norm(turns_apart(robot, q, reference), axis=1).argmin())
            best = q[nearest], reached.errors[reached.found][nearest], True
        elif reached.errors[reached.best()].sum() < best[1].sum():
            best = reached.q[reached.best()], reached.errors[reached.best()], False
    if not best[2]:
        settled = descend(problem, best[0][None], near, patient=True)
        best, steps = (settled.q[0], settled.errors[0], bool(settled.found[0])), steps + settled.steps
    return _solution(problem, turns.nearest(best[0], reference), best[1], best[2], steps, done, near, rng)


def inverse_kinematics_each(
    robot: Robot, targets: Iterable[Any], frame: str | None = None, *, q0: Any = None, **options: Any
) -> list[Solution]:
    """A solution for each of several targets, such as poses (N, 4, 4); each search starts from the preceding solution.

    ``targets`` is an array with a leading axis, or an iterable; ``options`` are those of `inverse_kinematics`.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("ur5e")
    >>> along = np.linspace([0.3, -1.2, 1.5, -0.4, 0.8, 0.1], [0.5, -1.0, 1.3, -0.4, 0.9, 0.2], 5)
    >>> all(s.found for s in inverse_kinematics_each(robot, robot.pose(along), q0=along[0]))
    True
    """
    solutions: list[Solution] = []
    for target in targets:
        solutions.append(inverse_kinematics(robot, target, frame, q0=q0, **options))
        q0 = solutions[-1].q if solutions[-1].found else q0
    return solutions


def _one_target(target: Any) -> tuple[int, ...]:
    """The shape of a target; several targets belong to `inverse_kinematics_each`."""
    if isinstance(target, Pose):
        return ()
    several = isinstance(target, list | tuple) and any(isinstance(x, Pose) for x in target)
    shape: tuple[int, ...] = (len(target),) if several else np.shape(target)
    if several or (len(shape) == 3 and shape[1:] in ((4, 4), (3, 3))) or (len(shape) == 2 and shape[1] == 3 and shape[0] > 3):
        raise InputError(
            f"target is one pose, position or orientation, got {shape[0]}: for several targets use "
            "inverse_kinematics_each(robot, targets), which returns a list of solutions"
        )
    return shape


def start_of(problem: Problem, q0: Any) -> Array:
    """The start of the search, clipped to the limits."""
    robot = problem.robot
    given = robot.home() if q0 is None else robot.inputs.one_state(q0, robot.nq, "q0")
    if given.dtype == object:
        raise InputError("q0 must have numeric entries, not symbols")
    return np.clip(given, problem.lower, problem.upper)


def generator(seed: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"seed= must be an integer or a numpy.random.Generator: {error}") from None


def tolerances(tolerance: Any) -> Array:
    """(m, rad)."""
    try:
        array = np.broadcast_to(np.array(tolerance, dtype=float), (2,))
    except (TypeError, ValueError):
        raise InputError(f"tolerance= must be one number, or two for m and rad, got {tolerance!r}") from None
    if not (np.isfinite(array).all() and (array > 0.0).all()):
        raise InputError(f"tolerance= must be positive and finite, got {tolerance!r}")
    return array


def turns_apart(robot: Robot, q: Array, reference: Array) -> Array:
    """Differences (m, n) of configurations (m, nq) from a reference."""
    return np.asarray(q - reference if robot.nq == robot.n else robot.difference(np.broadcast_to(reference, q.shape), q))


def _solution(problem: Problem, q: Array, errors: Array, found: bool, steps: int, restarts: int, near: Array,
              rng: np.random.Generator) -> Solution:  # fmt: skip
    after = f" after {restarts} restarts" if restarts else ""
    status = f"found{after}" if found else f"not found{after}: {why_not(problem, q, errors, near, rng)}"
    return Solution(q, float(errors[0]), float(errors[1]), steps, restarts, found, status)
