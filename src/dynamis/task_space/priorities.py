"""Prioritised tasks: each task is realised in the dynamically consistent null space of those above it [Sentis, Khatib 2005].

Level k has the Jacobian J_k|p = J_k N_p in the null space of the levels above, N_p = 1 − Σ J̄_j|p J_j|p, and
F_k = Λ_k|p (ẍ_k − J̇_k v + J_k M⁻¹ (n − τ_p)) with τ_p the torque of the levels above, so that τ = Σ J_k|pᵀ F_k + N_pᵀ τ₀.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, flat, short
from dynamis.errors import InputError
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.scalar import solve_positive, where
from dynamis.task_space.null_space import checked_preferences, preferred_torque
from dynamis.task_space.operational import checked_instant, checked_state
from dynamis.task_space.resolve import task_vector
from dynamis.task_space.singularities import Decision, decide
from dynamis.task_space.task_state import of_task, singular, solved
from dynamis.tolerances import NEARLY_SINGULAR

Array = npt.NDArray[Any]
Levels = Sequence[tuple[Task, Any]]  # (task, ẍ), the most important first
Invert = Callable[[int, Array, Array], tuple[Array, Array]]  # level, J_k, J_k|p → Λ_k|p of the force, and of the null space


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """Result of one task: ``task_error`` ẍ − ẍ_achieved, and its rank in the null space of the tasks above."""

    names: tuple[str, ...]
    task_error: Array
    rank: int
    how: str

    def __repr__(self) -> str:
        return short(
            f"<Level of {', '.join(self.names)}: error {flat(np.linalg.norm(self.task_error))}, rank {self.rank}, {self.how}>"
        )

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Prioritised:
    """Torque ``tau`` of the actuated joints, and the result of each task in order of priority."""

    tau: Array
    acceleration: Array
    levels: tuple[Level, ...]

    def __repr__(self) -> str:
        return short(f"<Prioritised {flat(self.tau)}: {counted(len(self.levels), 'level')}>")

    _repr_html_ = as_table


def prioritised_torque(robot: Robot, q: Any, v: Any, levels: Levels, *, damping: Any = 0.0, preferred: Any = None) -> Array:
    """τ of tasks in order of priority, for numbers and symbols, with a fixed damping of each Λ_k|p.

    The damping affects the forces; null spaces are computed without it, except where a task is singular.
    """
    M, n = robot.mass_matrix(q), robot.bias(q, v)

    def invert(_k: int, _J: Array, J_p: Array) -> tuple[Array, Array]:
        G, one = J_p @ solve_positive(M, J_p.T), np.eye(len(J_p))
        return solved(G, one, damping), solved(G, one, where(singular(G), damping, 0.0))

    parts = [(task.jacobian(robot, q), of_task(a, task.size) - task.bias(robot, q, v)) for task, a in levels]
    return _recursion(M, n, parts, invert, preferred)


def _recursion(M: Array, n: Array, parts: Sequence[tuple[Array, Array]], invert: Invert, preferred: Any) -> Array:
    """τ for (J_k, ẍ_k − J̇_k v), highest priority first."""
    tau: Array = np.zeros(len(n))
    N: Array = np.eye(len(n))
    for k, (J, r) in enumerate(parts):
        J_p = J @ N
        Lambda, exact = invert(k, J, J_p)
        tau = tau + J_p.T @ (Lambda @ (r + J @ solve_positive(M, n - tau)))
        N = N - solve_positive(M, J_p.T) @ (exact @ J_p)
    return tau if preferred is None else tau + N.T @ np.asarray(preferred)


def prioritised(
    robot: Robot,
    q: Any,
    v: Any,
    levels: Levels,
    *,
    null_space: Any = (),
    damping: float = 0.0,
    tolerance: float = NEARLY_SINGULAR,
    actuated: Any = "all",
) -> Prioritised:
    """The torque for tasks in order of priority, with a report of each.

    A direction of a task that is singular, also in the null space of the tasks above, is truncated (or damped, with
    ``damping``); its level reports it. A damped task does not reach ẍ, but lower tasks still act in its null space only.
    ``actuated`` is as for `operational_space`.

    >>> import dynamis as dy, numpy as np
    >>> robot, ts = dy.load("panda"), dy.task_space
    >>> levels = [(ts.Position(), [0.0, 0.0, 1.0]), (ts.Orientation(), [0.0, 0.0, 0.0])]
    >>> found = ts.prioritised(robot, [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8], np.zeros(7), levels)
    >>> [bool(abs(level.task_error).max() < 1e-9) for level in found.levels]
    [True, True]
    """
    if not levels or not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in levels):
        raise InputError("levels must be pairs (task, acceleration), the highest priority first")
    for task, _ in levels:
        q, v = checked_state(robot, q, v, task)
    driven = sorted(robot.inputs.actuated(actuated))
    instants = [checked_instant(robot, q, v, task, actuated) for task, _ in levels]
    wanted = [task_vector(a, task) for task, a in levels]
    M, n = instants[0].M, instants[0].n
    L = np.linalg.cholesky(M)
    decisions: list[Decision] = []

    def invert(k: int, J: Array, J_p: Array) -> tuple[Array, Array]:
        # a task that is used up altogether has nothing but rounding left: measured by what it was before
        scale = float(np.linalg.norm(np.linalg.solve(L, J.T), 2))
        B = np.linalg.solve(L, J_p.T).T
        found = decide(B, levels[k][0].names, damping, False, tolerance, scale=scale, warn=False)
        decisions.append(found)
        return found.inverse(B), replace(found, damping=0.0).inverse(B)

    tau_0 = preferred_torque(checked_preferences(null_space), robot, q, v)
    parts = [(at.J, x - at.drift) for at, x in zip(instants, wanted, strict=True)]
    tau = _recursion(M, n, parts, invert, None if tau_0 is None else tau_0[driven])
    full = np.zeros(robot.n)
    full[driven] = tau
    a = robot.forward_dynamics(q, v, full)
    reports = [
        Level(task.names, x - at.J @ a[driven] - at.drift, d.rank, d.how)
        for (task, _), at, x, d in zip(levels, instants, wanted, decisions, strict=True)
    ]
    return Prioritised(tau, a, tuple(reports))
