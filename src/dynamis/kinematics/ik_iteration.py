"""One iteration of damped least squares for one start, in plain NumPy: traced and compiled for batches of starts.

The step solves (AᵀA + λ 1) dv = Aᵀ r for the weighted errors r and their Jacobian A, with λ = μ |r|², so that the damping
vanishes near the target and the last steps converge quadratically [Levenberg 1944, Marquardt 1963; Yamashita & Fukushima 2001
for λ ~ |r|²]. A step that increases the error is rejected, and μ is increased. Joints pushed against a limit are fixed for the
step; steps beyond a limit are clipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.kinematics.closure_task import LoopClosures
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.scalar import floor, maximum, minimum, solve_positive, sqrt, where
from dynamis.tolerances import RECURSION_ROUNDING, SAFE_DIVISOR, SUM_ROUNDING

Array = npt.NDArray[Any]
INITIAL_DAMPING, MIN_DAMPING = 0.1, 1e-6  # μ
MAX_STEP = 1.0  # rad or m, of any joint
STAGNATION_STEPS = 12  # a start whose error shrinks by less than a given share in so many steps is given up
# entries of the state behind q
DAMPING, COUNT, BEFORE, LENGTH_ERROR, ANGLE_ERROR, FOUND, ENDED = range(7)
EXTRA = 7
PROGRESS = -2  # the entry of `Settings.progress` in their vector


@dataclass(frozen=True, eq=False)
class Settings:
    """What the iteration is given beside state and targets, as one vector.

    ``weights`` (K) multiply the errors (K) plus ``offset`` (K); those with ``required`` (K) equal to 1, not 0, must come within
    ``tolerance`` (2), in m and rad, closures of loops within rounding; positions are kept between ``lower`` and ``upper`` (nq).
    An iteration that reduces the error by less than the share ``progress`` in `STAGNATION_STEPS` ends, as does one whose steps
    are shorter than ``shortest``.
    """

    weights: Any
    offset: Any
    required: Any
    lower: Any
    upper: Any
    tolerance: Any
    progress: float = 0.01
    shortest: float = SUM_ROUNDING

    def vector(self) -> Array:
        ends = [self.progress, self.shortest]
        return np.concatenate([self.weights, self.offset, self.required, self.lower, self.upper, self.tolerance, ends])

    @staticmethod
    def size(rows: int, nq: int) -> int:
        return 3 * rows + 2 * nq + 4

    @staticmethod
    def of(vector: Array, rows: int, nq: int) -> Settings:
        weights, offset, required, lower, upper, tolerance = np.split(vector[:-2], np.cumsum([rows, rows, rows, nq, nq]))
        return Settings(weights, offset, required, lower, upper, tolerance, vector[-2], vector[-1])


def first_state(q: Array) -> Array:
    """The states (…, nq + EXTRA) of starts q (…, nq)."""
    nq = q.shape[-1]
    state = np.zeros((*q.shape[:-1], nq + EXTRA))
    state[..., :nq], state[..., nq + DAMPING], state[..., nq + BEFORE] = q, INITIAL_DAMPING, np.inf
    return state


def iteration(robot: Robot, tasks: Sequence[Task], state: Array, target: Array, settings: Settings) -> Array:
    """The state after one iteration; a state that has ended is not changed."""
    q, extra = state[: robot.nq], state[robot.nq :]
    mu = extra[DAMPING]
    e, J = residuals(robot, tasks, q, target)
    r, A = settings.weights * (e + settings.offset), settings.weights[:, None] * J
    cost = np.dot(r, r)
    size = sizes(robot, tasks, e, settings.required)
    within = _is_within(size, settings)

    dv = _damped_step(robot, q, r, A, mu * cost, settings)
    q_new = minimum(maximum(robot.integrate(q, dv), settings.lower), settings.upper)
    e_new = residuals(robot, tasks, q_new, target)[0]
    r_new = settings.weights * (e_new + settings.offset)
    cost_new = np.dot(r_new, r_new)

    going = (extra[ENDED] == 0.0) * (within == 0.0)
    better = going * (cost_new < cost)
    size = where(better, sizes(robot, tasks, e_new, settings.required), size)
    cost, found = where(better, cost_new, cost), _is_within(size, settings)
    count = extra[COUNT] + going
    review = count - STAGNATION_STEPS * floor(count / STAGNATION_STEPS) == 0.0
    error = sqrt(cost)
    stagnant = review * (error > (1.0 - settings.progress) * extra[BEFORE])
    still = (_largest(dv) < settings.shortest) * 1.0
    ended = maximum(maximum(extra[ENDED], found), going * maximum(stagnant, still))
    after = [
        where(going, where(better, maximum(mu / 5.0, MIN_DAMPING), mu * 4.0), mu),
        count,
        where(review * going, error, extra[BEFORE]),
        *where(extra[ENDED] == 0.0, size[:2], extra[[LENGTH_ERROR, ANGLE_ERROR]]),
        where(extra[ENDED] == 0.0, found, extra[FOUND]),
        ended,
    ]
    return np.concatenate([where(better, q_new, q), np.array(after)])


def residuals(robot: Robot, tasks: Sequence[Task], q: Array, target: Array) -> tuple[Array, Array]:
    """The errors (K) of all tasks and their Jacobians (K × n)."""
    ends = np.cumsum([task.target_size for task in tasks])[:-1]
    pairs = [task.residual(robot, q, x) for task, x in zip(tasks, np.split(target, ends), strict=True)]
    return np.concatenate([e for e, _ in pairs]), np.concatenate([J for _, J in pairs])


def _damped_step(robot: Robot, q: Array, r: Array, A: Array, damping: Any, settings: Settings) -> Array:
    """dv = (AᵀA + λ 1)⁻¹ Aᵀ r = Aᵀ (A Aᵀ + λ 1)⁻¹ r, by the smaller matrix, without the joints at their limits."""
    A = A * _free(robot, q, A.T @ r, settings)
    level = damping + RECURSION_ROUNDING * (A * A).sum() + SAFE_DIVISOR  # regular also where joints are redundant
    rows, n = A.shape
    H = (A @ A.T if rows <= n else A.T @ A) + level * np.eye(min(rows, n))
    none = np.zeros(len(H))  # the damping keeps the pivots positive
    dv = A.T @ solve_positive(H, r, none) if rows <= n else solve_positive(H, A.T @ r, none)
    return dv * minimum(1.0, MAX_STEP / maximum(_largest(dv), SAFE_DIVISOR))


def _free(robot: Robot, q: Array, push: Array, settings: Settings) -> Array:
    """0 for joints at a limit and pushed against it, 1 for the others (n)."""
    if push.dtype != object:
        axes = [(k, c.q_index) for k, c in enumerate(robot.model.coordinates) if c.q_index is not None]
        rates, at = np.array(axes, dtype=int).reshape(-1, 2).T
        below, above = push[rates] < 0.0, push[rates] > 0.0
        numbers = np.ones(robot.n)
        numbers[rates] = ~(((q[at] <= settings.lower[at]) & below) | ((q[at] >= settings.upper[at]) & above))
        return numbers
    free: list[Any] = [1.0] * robot.n
    for k, c in enumerate(robot.model.coordinates):
        if c.q_index is not None and not (isinstance(push[k], float) and push[k] == 0.0):
            at, low, high = q[c.q_index], settings.lower[c.q_index], settings.upper[c.q_index]
            blocked = (at <= low) * (push[k] < 0.0) + (at >= high) * (push[k] > 0.0)
            free[k] = where(blocked, 0.0, 1.0)
    return np.array(free)


def sizes(robot: Robot, tasks: Sequence[Task], e: Array, required: Array) -> Array:
    """The largest error of a task in m and in rad, of its required components, and that of closures of loops (3)."""
    largest, begin = [0.0, 0.0, 0.0], 0
    for task in tasks:
        counted = required[begin : begin + task.size] * e[begin : begin + task.size]
        begin += task.size
        kinds = [2] * task.size if isinstance(task, LoopClosures) else [int(angle) for angle in task.angular(robot)]
        for k in range(3):
            part = counted[[kind == k for kind in kinds]]
            if len(part):
                largest[k] = maximum(largest[k], sqrt(np.dot(part, part)))
    return np.array(largest)


def _is_within(size: Array, settings: Settings) -> Any:
    within = (size[0] <= settings.tolerance[0]) * (size[1] <= settings.tolerance[1])
    return within * (1.0 * (size[2] <= RECURSION_ROUNDING))  # without loops a bool


def _largest(x: Array) -> Any:
    largest = abs(x[0])
    for entry in x[1:]:
        largest = maximum(largest, abs(entry))
    return largest
