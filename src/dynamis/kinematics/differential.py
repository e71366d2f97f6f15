"""Differential inverse kinematics: the joint velocity that moves tasks towards their targets, within limits.

v minimises Σ |w (J v − g e / dt)|² + d |v|² over the goals of the highest priority, then over those of the next one among the
velocities that are as good for the higher ones, subject to bounds of positions, velocities and accelerations at the end of the
step and to ḣ ≥ −γ h for each barrier h(q) ≥ 0 [Ames et al. 2019]. Each is a quadratic program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, flat, short
from dynamis.errors import InputError
from dynamis.kinematics.closures import smallest_singular_value
from dynamis.kinematics.collision_check import checked_collision
from dynamis.kinematics.goals import Goal
from dynamis.kinematics.ik_problem import check_robot, loop_task
from dynamis.kinematics.quadratic_program import EQUALITY, INEQUALITY, load_solver, minimise, symmetric_bounds
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.tolerances import SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
Barrier = Task | tuple[Callable[[Array], Any], Callable[[Array], Any]]
VIOLATION_COST = 1e6  # of a barrier, in multiples of the largest entry of the cost: only if barriers and limits conflict


@dataclass(frozen=True, eq=False, repr=False)
class VelocityStep:
    """Joint velocity ``v`` (n), the configuration ``q`` (nq) after the step, and the task errors ``e`` before it.

    ``active`` names joints at a bound; ``barriers`` are the values h(q) before the step. ``feasible`` is False if a barrier
    cannot be respected within the limits of the joints; its violation is then as small as possible.
    """

    v: Array
    q: Array
    errors: tuple[Array, ...]
    barriers: Array
    active: tuple[str, ...]
    feasible: bool
    status: str

    def __repr__(self) -> str:
        return short(f"<VelocityStep {flat(self.v)}: {self.status}>")

    _repr_html_ = as_table


def differential_inverse_kinematics(
    robot: Robot,
    q: Any,
    goals: Sequence[Goal],
    dt: float,
    *,
    v0: Any = None,
    gain: float = 1.0,
    limits: bool = True,
    velocity_limits: Any = "model",
    acceleration_limits: Any = None,
    barriers: Sequence[Barrier] = (),
    collision: Any = None,
    barrier_rate: float = 5.0,
    damping: float = 1e-6,
    closures: Any = None,
) -> VelocityStep:
    """The joint velocity for the next ``dt`` seconds that moves tasks towards their targets, within limits.

    In one step the share ``gain`` of each task error is removed, as far as the limits permit; with acceleration limits 0.1 to
    0.2 avoids overshooting. Positions stay within the limits of the joints (unless ``limits=False``), velocities within
    ``velocity_limits``: "model", None, one number, n numbers or (lower, upper). ``acceleration_limits``, likewise, hold from
    the preceding velocity ``v0`` (default: at rest); joints then brake in time before their limits. Where limits contradict
    each other, velocities come before positions and both before accelerations; ``feasible`` is then False, and ``status``
    names the limits that are exceeded.

    Each of ``barriers`` is a function h(q) ≥ 0: a task such as `task_space.Function`, or a pair of functions of q (nq) that
    return h and its gradient with respect to v, which is faster. It decreases at most with the rate ``barrier_rate``, and not
    beyond zero in one step: ḣ ≥ −γ h, γ ≤ 1/dt. ``collision`` is a `collision.Scene`, whose links keep its margin of distance:
    for another margin, pass ``scene.barrier(margin)`` as a barrier.

    ``closures`` of loops, by default those of the robot's file, are equations H v = −h / dt: what is open at q closes in the
    step, and what the step opens is of second order in dt. If they contradict the limits, they close as fast as these permit.

    Requires the extra ``qp``: pip install 'dynamis[qp]'.

    >>> import dynamis as dy, numpy as np
    >>> robot, ts = dy.load("ur5e"), dy.task_space
    >>> q, v = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1]), np.zeros(6)
    >>> target = robot.pose(q)[:3, 3] + [0.0, 0.1, 0.0]
    >>> for _ in range(150):
    ...     step = dy.differential_inverse_kinematics(
    ...         robot, q, [ts.Goal(ts.Position(), target)], 0.01, v0=v, gain=0.1, acceleration_limits=8.0
    ...     )
    ...     q, v = step.q, step.v
    >>> bool(np.allclose(robot.pose(q)[:3, 3], target, atol=1e-6))
    True
    """
    check_robot(robot)
    daqp = load_solver("velocities within limits")
    goals = [goals] if isinstance(goals, Goal) else list(goals) if isinstance(goals, Iterable) else []
    if not goals or not all(isinstance(goal, Goal) for goal in goals):
        raise InputError("goals must be a list of Goal(task, target), such as [Goal(PoseTask(), pose)], of dynamis.task_space")
    for name, value in (("dt", dt), ("gain", gain), ("barrier_rate", barrier_rate), ("damping", damping)):
        if not isinstance(value, int | float) or not 0.0 < value < np.inf:
            raise InputError(f"{name} must be a positive number, got {value!r}")
    q = robot.inputs.one_state(q, robot.nq, "q")
    v0 = np.zeros(robot.n) if v0 is None else robot.inputs.one_state(v0, robot.n, "v0")
    low, high = _velocity_bounds(robot, q, v0, dt, limits, velocity_limits, acceleration_limits)
    if collision is not None:
        barriers = [*barriers, checked_collision(robot, collision).barrier()]
    h, dh = _barriers(robot, q, barriers)
    loops = _loop_rows(robot, q, closures, dt)
    program = _Program(daqp, damping, low, high, dh, -min(barrier_rate, 1.0 / dt) * h, *loops)

    pairs = [goal.task.residual(robot, q, _one_target(goal)) for goal in goals]
    v = np.clip(np.zeros(robot.n), low, high)
    for level in sorted({goal.priority for goal in goals}):
        here = [(goal.weight, J, gain * e / dt) for goal, (e, J) in zip(goals, pairs, strict=True) if goal.priority == level]
        A = np.concatenate([w[:, None] * J for w, J, _ in here]).astype(float)
        b = np.concatenate([w * rate for w, _, rate in here]).astype(float)
        v = program.level(A, b, v)
    v = np.clip(v, low, high)  # rounding of the solver
    q_next = np.array(robot.integrate(q, v * dt))
    if limits:
        for c in robot.model.coordinates:
            if c.q_index is not None:
                k = c.q_index
                q_next[k] = min(max(q_next[k], min(c.lower, q[k])), max(c.upper, q[k]))
    room = SOLUTION_TOLERANCE * np.maximum(1.0, np.abs(v))
    active = tuple(robot.coordinate_names[k] for k in np.flatnonzero((v >= high - room) | (v <= low + room)))
    exceeded = _exceeded(robot, q_next, (v - v0) / dt, limits, acceleration_limits)
    kept = " or ".join(["a barrier cannot be respected"] * bool(h.size) + ["the loops do not close"] * bool(loops[1].size))
    status = "within limits" if program.feasible else f"{kept} within the limits of the joints"
    status = f"limits exceeded: {', '.join(exceeded)}" if exceeded else status
    status += f"; joints at a bound: {', '.join(active)}" if active else ""
    feasible = program.feasible and not exceeded
    return VelocityStep(v, q_next, tuple(np.asarray(e, dtype=float) for e, _ in pairs), h, active, feasible, status)


def _exceeded(robot: Robot, q: Array, a: Array, limits: bool, acceleration: Any) -> list[str]:
    """The limits that are not kept: accelerations given up for positions and velocities, positions outside from the start."""
    low, high = symmetric_bounds(acceleration, robot.n, "acceleration_limits")
    room = SOLUTION_TOLERANCE * np.maximum(1.0, np.abs(a))
    names = [f"acceleration of {robot.coordinate_names[k]}" for k in np.flatnonzero((a < low - room) | (a > high + room))]
    for name, c in zip(robot.coordinate_names, robot.model.coordinates, strict=True):
        if limits and c.q_index is not None and max(c.lower - q[c.q_index], q[c.q_index] - c.upper) > SOLUTION_TOLERANCE:
            names.append(f"position of {name}")
    return names


def _one_target(goal: Goal) -> Array:
    target = goal.task.as_target(goal.target)
    if target.ndim != 1:
        raise InputError(f"the target of {goal.task!r} has leading axes; differential inverse kinematics takes one target")
    return target


def _velocity_bounds(robot: Robot, q: Array, v0: Array, dt: float, limits: bool, velocity: Any, acceleration: Any) -> Any:
    """(low, high) of v: positions after the step within limits, also after braking; then velocities; then accelerations."""
    fastest = robot.limits["velocity"] if isinstance(velocity, str) and velocity == "model" else velocity
    v_low, v_high = symmetric_bounds(fastest, robot.n, "velocity_limits")
    a_low, a_high = symmetric_bounds(acceleration, robot.n, "acceleration_limits")
    low, high = v_low.copy(), v_high.copy()
    for k, c in enumerate(robot.model.coordinates):
        if limits and c.q_index is not None:
            low[k] = min(max(v_low[k], -_approach(q[c.q_index] - c.lower, a_high[k], dt)), v_high[k])
            high[k] = max(min(v_high[k], _approach(c.upper - q[c.q_index], -a_low[k], dt)), v_low[k])
    return np.clip(v0 + a_low * dt, low, high), np.clip(v0 + a_high * dt, low, high)


def _approach(distance: float, braking: float, dt: float) -> float:
    """The largest v with v dt + v² / (2 a) ≤ distance: after the step the joint can still stop."""
    if distance <= 0.0 or not np.isfinite(braking) or not np.isfinite(distance):
        return distance / dt
    return float(2.0 * distance / (dt + np.sqrt(dt * dt + 2.0 * distance / braking))) if braking > 0.0 else 0.0


def _barriers(robot: Robot, q: Array, barriers: Sequence[Barrier]) -> tuple[Array, Array]:
    """h (m) and ∂h/∂v (m × n)."""
    h, dh = [np.zeros(0)], [np.zeros((0, robot.n))]
    if not isinstance(barriers, Sequence):
        raise InputError(f"barriers= must be a list of barriers, got {type(barriers).__name__}")
    for barrier in barriers:
        if isinstance(barrier, Task):
            value, slope = barrier.value(robot, q), barrier.jacobian(robot, q)
        elif isinstance(barrier, tuple) and len(barrier) == 2 and all(map(callable, barrier)):
            value, slope = barrier[0](q), barrier[1](q)
        else:
            raise InputError("a barrier is a task whose values stay positive, or a pair of functions (h, gradient) of q")
        value = np.atleast_1d(np.asarray(value, dtype=float))
        slope = np.atleast_2d(np.asarray(slope, dtype=float))
        if slope.shape != (len(value), robot.n) or not (np.isfinite(value).all() and np.isfinite(slope).all()):
            raise InputError(
                f"the gradient of a barrier with {counted(len(value), 'value')} must be finite, of shape "
                f"{(len(value), robot.n)}; "
                f"got {slope.shape}"
            )
        h.append(value)
        dh.append(slope)
    return np.concatenate(h), np.concatenate(dh)


def _loop_rows(robot: Robot, q: Array, closures: Any, dt: float) -> tuple[Array, Array]:
    """Independent rows (r × n) and rates (r) with rows v = rates, equivalent to H v = −h / dt."""
    rows, rates = np.zeros((0, robot.n)), np.zeros(0)
    for task in loop_task(robot, closures):
        e, H = task.residual(robot, q, np.zeros(0))
        U, s, rows = np.linalg.svd(np.asarray(H, dtype=float), full_matrices=False)
        rank = int((s > smallest_singular_value(s)).sum())
        rows, rates = rows[:rank], U[:, :rank].T @ e / s[:rank] / dt
    return rows, rates


class _Program:
    """min |A v − b|² + d |v|² with v between bounds, dh v ≥ rate, closed loops, and A_p v unchanged for the levels before."""

    def __init__(
        self, daqp: Any, damping: float, low: Array, high: Array, dh: Array, rate: Array, loops: Array, closing: Array
    ) -> None:
        self.daqp, self.damping, self.low, self.high, self.dh, self.rate = daqp, damping, low, high, dh, rate
        self.held, self.equal = loops, closing
        self.first = self.feasible = True

    def level(self, A: Array, b: Array, v: Array) -> Array:
        n = len(self.low)
        H, f = A.T @ A + self.damping * np.eye(n), -A.T @ b
        rows = np.concatenate([self.dh, self.held])
        low = np.concatenate([self.low, self.rate, self.equal])
        high = np.concatenate([self.high, np.full(len(self.rate), np.inf), self.equal])
        sense = np.array([INEQUALITY] * (n + len(self.rate)) + [EQUALITY] * len(self.equal), dtype=np.int32)
        found = minimise(self.daqp, H, f, rows, low, high, sense)
        if found is None and self.first:
            found, self.feasible = self._least_violation(H, f), False
        v = v if found is None else np.clip(found, self.low, self.high)
        self.held, self.equal, self.first = np.concatenate([self.held, A]), np.append(self.equal, A @ v), False
        return v

    def _least_violation(self, H: Array, f: Array) -> Array:
        """One more variable, the violation of barriers and loops, at a high cost."""
        n, m, loops = len(self.low), len(self.rate), len(self.equal)
        cost = np.eye(n + 1) * VIOLATION_COST * float(np.abs(H).max())
        cost[:n, :n] = H
        rows = np.column_stack([np.concatenate([self.dh, self.held, -self.held]), np.ones(m + 2 * loops)])
        low = np.concatenate([self.low, [0.0], self.rate, self.equal, -self.equal])
        high = np.concatenate([self.high, np.full(1 + len(rows), np.inf)])
        found = minimise(self.daqp, cost, np.append(f, 0.0), rows, low, high, np.zeros(len(low), dtype=np.int32))
        if found is None:
            raise InputError("the quadratic program failed: check the magnitudes of limits, weights and barriers")
        v = np.clip(found[:n], self.low, self.high)
        self.rate, self.equal = np.minimum(self.rate, self.dh @ v), self.held @ v
        return found[:n]
