"""The problem of inverse kinematics: goals, limits and tolerance, with the compiled iteration."""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.kinematics.closure_task import LoopClosures
from dynamis.kinematics.closures import smallest_singular_value
from dynamis.kinematics.collision_check import CollisionCheck, checked_collision
from dynamis.kinematics.file_closures import given_closures
from dynamis.kinematics.goals import Goal, checked_weights
from dynamis.kinematics.ik_iteration import EXTRA, Settings, iteration, residuals, sizes
from dynamis.kinematics.posture_tasks import JointPositions
from dynamis.kinematics.tasks import Orientation, PoseTask, Position, Task
from dynamis.kinematics.turns import Turns
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
KINDS: dict[str, type[Position] | type[Orientation] | type[PoseTask]] = {
    "pose": PoseTask,
    "position": Position,
    "orientation": Orientation,
}
MAX_PRODUCTS = 4000  # of the entries of Jacobians: for more, as for a humanoid, compiling takes longer than an easy search
INTERPRETED = 1500  # iterations after which compiling is shorter than to go on without
CLOSED = 0.0  # the level of the closures of loops
PROBES = 3  # random configurations at which it is seen on which joints the errors depend
MAX_COMPILED = 64  # of one robot; the oldest are forgotten


@dataclass(frozen=True, eq=False)
class Tasks:
    """Several tasks of a robot, with the compiled iteration that minimises their errors."""

    robot: Robot
    tasks: tuple[Task, ...]
    kernel: Callable[..., Array]  # state, target, settings → state
    lower: Array  # (nq), of positions
    upper: Array
    home: Array
    turns: Turns
    interpreted: bool = False  # at first: a start takes a tenth of a second
    problems: dict[Any, Problem] = field(default_factory=dict)  # with default weights, by limits and tolerance
    moving: dict[bytes, Array] = field(default_factory=dict)  # the positions that matter, by the components that do

    @property
    def size(self) -> int:
        return sum(task.size for task in self.tasks)


@dataclass(frozen=True, eq=False)
class Problem:
    """Targets of tasks: the weighted errors of level 1 are minimised, then those of the levels below.

    ``target`` (…, T) has the targets of all tasks; ``weights`` and ``levels`` (K) are those of the components of all tasks.
    ``required`` (K) marks the components that must come within tolerance. Closures of loops, if there are any, are the last
    task, of level 0. Configurations that are ``collision``s of a scene are no solutions.
    """

    of: Tasks
    target: Array
    weights: Array
    levels: Array
    required: Array
    lower: Array
    upper: Array
    tolerance: Array
    collision: CollisionCheck | None = None

    @property
    def robot(self) -> Robot:
        return self.of.robot

    @property
    def kind(self) -> str:
        """That of one target of a frame: "pose", "position" or "orientation"; "tasks" otherwise."""
        known = [kind for kind, task in KINDS.items() if isinstance(self.of.tasks[0], task)]
        if len(self.of.tasks) > 1 + (self.loops is not None) or not known:
            return "tasks"
        return "position" if known == ["pose"] and not self.weights[3:6].any() else known[0]

    @property
    def loops(self) -> LoopClosures | None:
        last = self.of.tasks[-1]
        return last if isinstance(last, LoopClosures) else None

    @property
    def closed(self) -> Array:
        """The components that are closures of loops (K)."""
        return np.asarray(self.levels == CLOSED)

    def settings(self, **changes: Any) -> Settings:
        first = self.weights * (self.levels <= self.levels[~self.closed].min())
        plain = Settings(first, np.zeros(len(first)), self.required, self.lower, self.upper, self.tolerance)
        return replace(plain, **changes) if changes else plain

    @functools.cached_property
    def vector(self) -> Array:
        """The settings by default, as given to compiled code."""
        return self.settings().vector()

    def with_target(self, target: Array) -> Problem:
        other = copy.copy(self)  # with its vector
        object.__setattr__(other, "target", target)
        return other

    def at(self, rows: Any) -> Problem:
        """The problem of some of the targets, or of one."""
        return self if self.target.ndim == 1 else self.with_target(self.target[rows])

    def avoiding(self, collision: Any) -> Problem:
        """The problem whose solutions do not collide in a scene; itself without one."""
        return self if collision is None else replace(self, collision=checked_collision(self.robot, collision))

    def errors(self, q: Array) -> Array:
        """e (K), of one target and one configuration."""
        return np.asarray(residuals(self.robot, self.of.tasks, q, self.target)[0], dtype=float)

    def sizes(self, q: Array) -> Array:
        """The largest errors in m and rad, and of closures (3), of one target and one configuration."""
        return np.asarray(sizes(self.robot, self.of.tasks, self.errors(q), self.required), dtype=float)

    def jacobians(self, q: Array) -> Array:
        """−∂e/∂v (m, K, n) of the tasks at configurations (m, nq), weighted, for motions that keep loops closed."""
        J = np.array([residuals(self.robot, self.of.tasks, x, self.target)[1] for x in q], dtype=float) * self.weights[:, None]
        held = self.closed
        if not held.any():
            return J
        return np.array([one[~held] @ null_projection(one[held]) for one in J])

    def starts(self, rng: np.random.Generator, count: int, reference: Array) -> Array:
        """Random configurations (count, nq); joints on which the errors do not depend stay where they are in the reference."""
        return np.where(self.moving, np.clip(self.robot.random(rng, count), self.lower, self.upper), reference)

    @property
    def moving(self) -> Array:
        """The entries of q (nq) on which the errors depend."""
        counted, robot = self.weights > 0.0, self.robot
        found = self.of.moving.get(counted.tobytes())
        if found is None:
            target = self.target.reshape(-1, self.target.shape[-1])[0]
            J = np.array([residuals(robot, self.of.tasks, x, target)[1] for x in robot.random(0, PROBES)], dtype=float)
            size = np.abs(J[:, counted]).max(axis=(0, 1))
            felt = size > NEGLIGIBLE * size.max(initial=0.0)
            at = [c.q_index for c in robot.model.coordinates]
            found = np.full(robot.nq, any(f for f, k in zip(felt, at, strict=True) if k is None))  # quaternions
            found[[k for k in at if k is not None]] = [f for f, k in zip(felt, at, strict=True) if k is not None]
            self.of.moving[counted.tobytes()] = found
        return found

    def without_limits(self) -> Problem:
        return replace(self, lower=np.full(self.robot.nq, -np.inf), upper=np.full(self.robot.nq, np.inf))

    def of_position(self) -> Problem:
        """The position part of a pose task."""
        linear = (np.arange(len(self.weights)) < 3) | self.closed
        return replace(self, weights=self.weights * linear, required=self.required * linear)

    def of_loops(self) -> Settings:
        """The settings by which only the loops are closed."""
        held = self.closed
        return self.settings(weights=self.weights * held, required=self.required * held)


_known: weakref.WeakKeyDictionary[Robot, dict[Any, Tasks]] = weakref.WeakKeyDictionary()


def compiled_tasks(robot: Robot, tasks: tuple[Task, ...]) -> Tasks:
    """The tasks with their iteration, compiled at the first call."""
    known = _known.get(robot)
    if known is None:
        known = _known[robot] = {}
    found = known.get(tasks)
    if found is None:
        if len(known) >= MAX_COMPILED:
            known.pop(next(iter(known)))
        found = known[tasks] = _compiled(robot, tasks)
    return found


def _compiled(robot: Robot, tasks: tuple[Task, ...]) -> Tasks:
    rows, nq = sum(task.size for task in tasks), robot.nq
    size = sum(task.target_size for task in tasks)

    text = ", ".join(repr([x.key for x in task.closures]) if isinstance(task, LoopClosures) else repr(task) for task in tasks)

    def step(robot: Robot, state: Array, target: Array, settings: Array) -> Array:
        return iteration(robot, tasks, state, target, Settings.of(settings, rows, nq))

    @functools.cache
    def compiled() -> Callable[..., Array]:
        # tasks of these classes are described by their text; functions of the user are not
        plain = all(type(task) in (*KINDS.values(), JointPositions, LoopClosures) for task in tasks)
        kernel = robot.compile(
            step, identity=f"inverse kinematics {text}" if plain else None,
            state=nq + EXTRA, target=size, settings=Settings.size(rows, nq),
        )  # fmt: skip
        kernel.compiled("double")
        return kernel

    left = INTERPRETED if min(rows, robot.n) ** 2 * max(rows, robot.n) > MAX_PRODUCTS else 0

    def at_first_interpreted(state: Array, target: Array, settings: Array) -> Array:
        nonlocal left
        left -= len(state) if state.ndim > 1 else 1
        if left < 0:
            return compiled()(state, target, settings)
        if state.ndim == 1:
            return np.asarray(step(robot, state, target, settings), dtype=float)
        targets = np.broadcast_to(target, (len(state), size))
        return np.array([step(robot, *pair, settings) for pair in zip(state, targets, strict=True)], dtype=float)

    return _with_limits(robot, tasks, at_first_interpreted if left else compiled(), left > 0)


def _with_limits(robot: Robot, tasks: tuple[Task, ...], kernel: Callable[..., Array], interpreted: bool) -> Tasks:
    nq = robot.nq
    lower, upper = np.full(nq, -np.inf), np.full(nq, np.inf)
    for c in robot.model.coordinates:
        if c.q_index is not None:
            lower[c.q_index], upper[c.q_index] = c.lower, c.upper
    return Tasks(robot, tasks, kernel, lower, upper, robot.home(), Turns(robot), interpreted)


def target_problem(
    robot: Robot,
    target: Any,
    frame: str | None,
    kind: str,
    limits: bool,
    weights: Any,
    tolerance: Array,
    closures: Any = None,
) -> Problem:
    """The problem of one target of a frame, or of a batch of them, from the arguments of the user."""
    check_robot(robot)
    if kind not in KINDS:
        raise InputError(f"kind={kind!r} is unknown; choose 'pose', 'position' or 'orientation'")
    tasks = _frame_tasks(kind, robot.model.frame(frame).name)
    vector = tasks[0].as_target(target)
    held = loop_task(robot, closures)
    if weights is not None:
        if np.ndim(weights) == 0:
            raise InputError(
                f"weights= must be {counted(tasks[0].size, 'finite non-negative number')}, not all zero, got {weights!r}"
            )
        w = checked_weights(weights, tasks[0].size)
        return _problem(robot, tasks, held, vector, w, np.ones(len(w)), limits, tolerance)
    known, key = compiled_tasks(robot, (*tasks, *held)).problems, (limits, *tolerance.tolist())
    if key not in known:
        if len(known) >= MAX_COMPILED:
            known.clear()
        ones = np.ones(tasks[0].size)
        known[key] = _problem(robot, tasks, held, vector, ones, ones, limits, tolerance)
        _ = known[key].vector  # computed once, copied with the problem
    return known[key].with_target(vector)


@functools.lru_cache(maxsize=1000)
def _frame_tasks(kind: str, frame: str) -> tuple[Task, ...]:
    return (KINDS[kind](frame),)


def loop_task(robot: Robot, closures: Any) -> tuple[LoopClosures, ...]:
    """The task to close the loops, if there are any; None stands for those of the file."""
    held = given_closures(robot, closures)
    return (LoopClosures(held),) if held else ()


def goals_problem(robot: Robot, goals: Sequence[Goal], limits: bool, tolerance: Array, closures: Any = None) -> Problem:
    """The problem of several goals."""
    check_robot(robot)
    vectors = [goal.task.as_target(goal.target) for goal in goals]
    try:
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in vectors))
    except ValueError:
        shapes = ", ".join(str(x.shape[:-1]) for x in vectors)
        raise InputError(f"the leading (batch) axes of the targets do not broadcast: {shapes}") from None
    target = np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in vectors], axis=-1)
    levels = np.concatenate([np.full(goal.task.size, float(goal.priority)) for goal in goals])
    weights = np.concatenate([goal.weight for goal in goals])
    held = loop_task(robot, closures)
    return _problem(robot, tuple(goal.task for goal in goals), held, target, weights, levels, limits, tolerance)


def _problem(
    robot: Robot,
    tasks: tuple[Task, ...],
    held: tuple[LoopClosures, ...],
    target: Array,
    weights: Array,
    levels: Array,
    limits: bool,
    tolerance: Array,
) -> Problem:
    known = compiled_tasks(robot, (*tasks, *held))
    required = (weights > 0.0) * (levels == levels.min()) * 1.0
    for task in held:
        ones = np.ones(task.size)
        weights, levels = np.concatenate([weights, ones]), np.concatenate([levels, CLOSED * ones])
        required = np.concatenate([required, ones])
    problem = Problem(known, target, weights, levels, required, known.lower, known.upper, tolerance)
    return problem if limits else problem.without_limits()


def null_projection(H: Array) -> Array:
    """1 − H⁺ H (n × n)."""
    _, s, Vt = np.linalg.svd(H)
    V = Vt[: int((s > smallest_singular_value(s)).sum())]
    return np.asarray(np.eye(H.shape[1]) - V.T @ V)


def check_robot(robot: Any) -> None:
    check_numeric(robot)
    if robot.n == 0:
        raise InputError(f"robot {robot.name!r} has no moving joints")
