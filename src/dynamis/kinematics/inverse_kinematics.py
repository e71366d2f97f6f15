"""Inverse kinematics: configurations for desired poses, positions or orientations of a frame, or for several goals."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.kinematics.closure_task import LoopClosures
from dynamis.kinematics.damped_least_squares import Reached, descend
from dynamis.kinematics.goals import Goal
from dynamis.kinematics.ik_diagnosis import why_not
from dynamis.kinematics.ik_priorities import lower_priorities
from dynamis.kinematics.ik_problem import Problem, goals_problem, target_problem
from dynamis.kinematics.posture_tasks import JointPositions
from dynamis.kinematics.solution import Solution, counted_status
from dynamis.kinematics.targets import as_orientation
from dynamis.kinematics.turns import Turns
from dynamis.robot import Robot
from dynamis.spatial import Pose
from dynamis.spatial.checks import shape_of

Array = npt.NDArray[Any]
STARTS_PER_BATCH = 10  # random starts
SLOW_STARTS_PER_BATCH = 3  # where a start takes long
SAME_ERROR, ENOUGH = 1.02, 4  # so many starts that end within this factor of the smallest error: it is taken as the minimum
MAX_ROWS = 200_000  # starts of all targets that are iterated at once


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
    path: bool = False,
    collision: Any = None,
    closures: Any = None,
) -> Solution:
    """Find q for which a frame (default: the tip) has a pose (4 × 4 or `Pose`), a position (3) or an orientation (3 × 3).

    The shape of ``target`` determines the ``kind`` ("pose", "position" or "orientation"), unless it is given.
    The solver starts from ``q0`` (default: home), then from random configurations until the error is within
    ``tolerance``, one number for m and rad or two; joints that do not move the frame stay at ``q0``. Joint limits are satisfied
    exactly, unless ``limits=False``. Joints with periodic angles end as close to ``q0`` as their limits permit. ``weights``
    multiply the errors in world axes, linear part first; a direction with weight zero is ignored. A configuration that collides
    in ``collision``, a `collision.Scene`, is no solution: the search goes on.

    Leading axes of ``target`` are a batch, and so are those of the result. ``path=True``: the targets (N, …) are a path, each
    search starts from the preceding solution.

    A list of `task_space.Goal` in place of the target has tasks with weights and priorities; the goals of the highest priority
    must come within the tolerance.

    ``closures`` of `dynamis.loops` hold to rounding in every solution, and in the nearest configuration where there is none; by
    default those of the robot's file, none with ``closures=()``.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("ur5e")
    >>> q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
    >>> found = inverse_kinematics(robot, robot.pose(q), q0=q + 0.2)
    >>> found.found, bool(abs(found.q - q).max() < 1e-6)
    (True, True)
    >>> inverse_kinematics(robot, robot.pose(robot.random(0, 1000))).status
    '1000 of 1000 found'
    """
    near = tolerances(tolerance)
    if not isinstance(restarts, int | np.integer) or restarts < 0:
        raise InputError(f"restarts= must be a non-negative integer, got {restarts!r}")
    problem = _problem(robot, target, frame, kind, bool(limits), weights, near, closures).avoiding(collision)
    batch, rng = problem.target.shape[:-1], Starts(problem, seed)
    reference = start_of(problem, q0, batch)
    for start in () if q0 is None or not limits else np.reshape(q0, (-1, robot.nq))[:1]:
        robot.inputs.warn_degrees(start, stacklevel=3)
    if path:
        return _along_path(problem, reference, int(restarts), rng)
    if len(batch) > 1:
        problem = problem.with_target(problem.target.reshape(-1, problem.target.shape[-1]))
    reached, done = _search(problem, reference.reshape(-1, robot.nq), int(restarts), rng)
    reached = lower_priorities(problem, reached)
    if batch:
        return _batched(reached, done, batch)
    return _solution(problem.at(0), reached, int(done[0]), rng)


def _problem(
    robot: Robot, target: Any, frame: str | None, kind: str | None, limits: bool, weights: Any, near: Array, closures: Any
) -> Problem:
    if isinstance(target, Sequence) and not isinstance(target, str) and any(isinstance(x, Goal) for x in target):
        if not all(isinstance(x, Goal) for x in target):
            raise InputError("the list of goals has entries that are no Goal(task, target)")
        if frame is not None or kind is not None or weights is not None:
            raise InputError("frame=, kind= and weights= belong to one target; goals have their own tasks and weights")
        return goals_problem(robot, target, limits, near, closures)
    if isinstance(target, Goal):
        return _problem(robot, [target], frame, kind, limits, weights, near, closures)
    if isinstance(target, list | tuple) and not isinstance(target, Pose) and any(isinstance(x, Pose) for x in target):
        target = np.array([x.matrix() if isinstance(x, Pose) else x for x in target])
    if kind is None:
        shape = () if isinstance(target, Pose) else shape_of(target)
        kind = "orientation" if shape[-2:] == (3, 3) else "position" if shape[-1:] == (3,) else "pose"
        if shape == (3, 3):  # three points as well
            try:
                as_orientation(target)
            except InputError as error:
                raise InputError(f"{error}; for three positions, set kind='position'") from None
    return target_problem(robot, target, frame, kind, limits, weights, near, closures)


class Starts:
    """Random configurations; the generator is made when the first is asked for."""

    def __init__(self, problem: Problem, seed: Any) -> None:
        self.problem, self.seed = problem, seed
        if not isinstance(seed, int | np.integer) or seed < 0:
            self.rng = generator(seed)

    @functools.cached_property
    def rng(self) -> np.random.Generator:
        return generator(self.seed)

    def __call__(self, count: int) -> Array:
        return self.problem.starts(self.rng, count, self.problem.of.home)


def turns_of(problem: Problem) -> Turns | None:
    """The periodic joints, with the limits of the problem; None if the positions themselves are a goal, or coupled."""
    if any(isinstance(x, JointPositions) or (isinstance(x, LoopClosures) and x.geared) for x in problem.of.tasks):
        return None
    return problem.of.turns if problem.lower is problem.of.lower else Turns(problem.robot, False)


def _search(problem: Problem, reference: Array, restarts: int, rng: Starts) -> tuple[Reached, Array]:
    """The result for each target (N, T) with start (N, nq), and the number of random starts that were needed.

    Where a start takes long, the search for a target ends when several starts lead to its smallest error.
    """
    best, turns = descend(problem, reference), turns_of(problem)
    slow = problem.of.interpreted
    done, tried, same = np.zeros(len(reference), dtype=int), 0, np.zeros(len(reference), dtype=int)
    errors = np.full((len(reference), restarts + 1 if slow else 1), np.inf)
    errors[:, 0] = best.errors.sum(axis=1)
    while tried < restarts and not (best.found | (same >= ENOUGH)).all():
        count = min(SLOW_STARTS_PER_BATCH if slow else STARTS_PER_BATCH, restarts - tried)
        starts, tried = rng(count), tried + count
        every = np.flatnonzero(~best.found & (same < ENOUGH))
        for lost in np.split(every, range(MAX_ROWS // count, len(every), MAX_ROWS // count)):
            done[lost] = tried
            ends = _restart(problem, best, lost, starts, reference, turns)
            if slow:
                errors[lost, tried - count + 1 : tried + 1] = ends
        if slow:
            same = (errors <= SAME_ERROR * errors.min(axis=1, keepdims=True)).sum(axis=1)
    lost = np.flatnonzero(~best.found)
    if len(lost):
        settled = descend(problem.at(lost), best.q[lost], patient=True)
        best.put(lost, settled)
    if turns is not None:
        best.q[:] = turns.nearest(best.q, reference)
    return best, done


def _restart(problem: Problem, best: Reached, lost: Array, starts: Array, reference: Array, turns: Turns | None) -> Array:
    """Replace the results of some targets by the solution nearest to the reference, or by the smallest error.

    The error of every start (targets, starts) is returned.
    """
    count = len(starts)
    rows = np.repeat(lost, count)
    begin = np.where(problem.moving, np.tile(starts, (len(lost), 1)), reference[rows])
    reached = descend(problem.at(rows), begin)
    if turns is not None:
        reached.q[:] = np.where(reached.found[:, None], turns.nearest(reached.q, reference[rows]), reached.q)
    apart = np.linalg.norm(turns_apart(problem.robot, reached.q, reference[rows]), axis=1)
    error = reached.errors.sum(axis=1)
    # solutions by their distance, before all that are none by their error
    order = np.where(reached.found, apart, np.inf).reshape(-1, count), error.reshape(-1, count)
    found = np.isfinite(order[0]).any(axis=1)
    chosen = np.where(found, order[0].argmin(axis=1), order[1].argmin(axis=1)) + count * np.arange(len(lost))
    better = found | (error[chosen] < best.errors[lost].sum(axis=1))
    steps = best.steps[lost] + reached.steps.reshape(-1, count).max(axis=1)
    best.put(lost[better], reached.at(chosen[better]))
    best.steps[lost] = steps
    return order[1]


def _along_path(problem: Problem, reference: Array, restarts: int, rng: Starts) -> Solution:
    """Each search starts from the preceding solution."""
    if problem.target.ndim != 2:
        raise InputError("path=True takes targets with one leading axis, the points of the path")
    q0 = reference[0]
    parts, done = [], []
    for k in range(len(problem.target)):
        here = problem.at(slice(k, k + 1))
        reached, count = _search(here, q0[None], restarts, rng)
        reached = lower_priorities(here, reached)
        q0 = reached.q[0] if reached.found[0] else q0
        parts.append(reached)
        done.append(count)
    fields = zip(*((x.q, x.errors, x.found, x.steps) for x in parts), strict=True)
    return _batched(Reached(*(np.concatenate(x) for x in fields)), np.concatenate(done), problem.target.shape[:-1])


def _batched(reached: Reached, done: Array, batch: tuple[int, ...]) -> Solution:
    errors, found = reached.errors.reshape(*batch, 2), reached.found.reshape(batch)
    return Solution(reached.q.reshape(*batch, reached.q.shape[1]), errors[..., 0], errors[..., 1], reached.steps.reshape(batch),
                    done.reshape(batch), found, counted_status(found))  # fmt: skip


def _solution(problem: Problem, reached: Reached, restarts: int, rng: Starts) -> Solution:
    after, found = f" after {counted(restarts, 'restart')}" if restarts else "", bool(reached.found[0])
    q, errors = reached.q[0], reached.errors[0]
    status = f"found{after}" if found else f"not found{after}: {why_not(problem, q, errors, rng.rng)}"
    return Solution(q, float(errors[0]), float(errors[1]), int(reached.steps[0]), restarts, found, status)


def start_of(problem: Problem, q0: Any, batch: tuple[int, ...] = ()) -> Array:
    """The starts of the search (*batch, nq), clipped to the limits."""
    robot = problem.robot
    given = problem.of.home if q0 is None else robot.inputs.vector(q0, robot.nq, "q0")
    if given.dtype == object:
        raise InputError("q0 must have numeric entries, not symbols")
    try:
        start = given if given.ndim == 1 and not batch else np.broadcast_to(given, (*batch, robot.nq))
    except ValueError:
        raise InputError(
            f"q0 has shape {given.shape}; it must be ({robot.nq},), or {(*batch, robot.nq)} as the targets"
        ) from None
    return np.minimum(np.maximum(start, problem.lower), problem.upper)


def generator(seed: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"seed= must be an integer or a numpy.random.Generator: {error}") from None


def tolerances(tolerance: Any) -> Array:
    """(m, rad)."""
    if isinstance(tolerance, float) and 0.0 < tolerance < np.inf:
        return np.array([tolerance, tolerance])
    try:
        array = np.broadcast_to(np.array(tolerance, dtype=float), (2,))
    except (TypeError, ValueError):
        raise InputError(f"tolerance= must be one number, or two for m and rad, got {tolerance!r}") from None
    if not (np.isfinite(array).all() and (array > 0.0).all()):
        raise InputError(f"tolerance= must be positive and finite, got {tolerance!r}")
    return array


def turns_apart(robot: Robot, q: Array, reference: Array) -> Array:
    """Differences (m, n) of configurations (m, nq) from references."""
    return np.asarray(q - reference if robot.nq == robot.n else robot.difference(np.broadcast_to(reference, q.shape), q))
