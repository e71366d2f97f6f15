"""Robot and task at one state: the quantities, numeric or symbolic, that all task-space laws use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.singularity import singular_mass_named
from dynamis.display import as_table, counted
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.scalar import maximum, minimum, solve_positive, where
from dynamis.tolerances import FEW_ROUNDINGS, MOBILITY_ROUNDING

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class TaskState:
    """M v̇ + n = τ and ẍ = J v̇ + J̇ v at one state; the exam's B is M, and n = c + g with friction and springs.

    If only some joints are actuated, M and J are those of the actuated joints with the others eliminated (`reduced`);
    ``beta`` remains that of the whole robot.
    """

    M: Array
    J: Array
    n: Array
    drift: Array  # J̇ v
    beta: Array  # J M⁻¹ n − J̇ v: what a torque must add to ẍ besides the task's acceleration

    @staticmethod
    def of(robot: Robot, q: Any, v: Any, task: Task, actuated: Any = "all") -> TaskState:
        if not isinstance(task, Task):
            raise InputError(f"task must be a task of dynamis.task_space, such as Position(), got {type(task).__name__}")
        if np.ndim(q) != 1 or np.ndim(v) != 1:
            raise InputError("laws are evaluated at one state, q (nq) and v (n); use task_kernels for batches")
        M, J, n, drift = robot.mass_matrix(q), task.jacobian(robot, q), robot.bias(q, v), task.bias(robot, q, v)
        with singular_mass_named(robot.model, q):
            beta = J @ solve_positive(M, n) - drift
        whole = TaskState(M, J, n, drift, beta)
        driven = sorted(robot.inputs.actuated(actuated))
        return whole if len(driven) == robot.n else whole.reduced(driven)

    @cached_property
    def A_T(self) -> Array:
        """Aᵀ = M⁻¹ Jᵀ: A τ is the contribution of the torques to ẍ."""
        return solve_positive(self.M, self.J.T)

    @cached_property
    def mobility(self) -> Array:
        """Λ⁻¹ = J M⁻¹ Jᵀ."""
        return self.J @ self.A_T

    def whitened(self) -> Array:
        """B = J L⁻ᵀ with M = L Lᵀ, so that Λ⁻¹ = B Bᵀ: J M^-½ up to a rotation of the joints. For numbers."""
        return np.linalg.solve(np.linalg.cholesky(self.M), self.J.T).T

    def reduced(self, driven: Sequence[int]) -> TaskState:
        """The actuated joints with the passive ones eliminated: M* = M_aa − M_ab M_bb⁻¹ M_ba, J* = J_a − J_b M_bb⁻¹ M_ba.

        J* is the generalised Jacobian of a free-flying robot [Umetani, Yoshida 1989]; J* M*⁻¹ are the driven columns of J M⁻¹.
        """
        a = list(driven)
        b = [k for k in range(len(self.M)) if k not in a]
        coupling = solve_positive(self.M[np.ix_(b, b)], np.column_stack([self.M[np.ix_(b, a)], self.n[b]]))
        B, n_b = coupling[:, :-1], coupling[:, -1]
        M = self.M[np.ix_(a, a)] - self.M[np.ix_(a, b)] @ B
        J = self.J[:, a] - self.J[:, b] @ B
        n = self.n[a] - self.M[np.ix_(a, b)] @ n_b
        return TaskState(M, J, n, self.drift - self.J[:, b] @ n_b, self.beta)

    def __repr__(self) -> str:
        return f"<TaskState: J {' × '.join(map(str, self.J.shape))}>"

    _repr_html_ = as_table


def of_task(value: Any, size: int, name: str = "acceleration") -> Array:
    """A vector of the task's size, of numbers or symbols."""
    found = np.asarray(value)
    if found.shape != (size,):
        raise InputError(f"{name} has shape {found.shape}; the task has {counted(size, 'component')}, so it must be ({size},)")
    return found


def solved(G: Array, b: Array, damping: Any = 0.0) -> Array:
    """(G + λ² 1)⁻¹ b for a symmetric G ≥ 0, for numbers and symbols; at a singular G numbers raise, symbols are not finite."""
    lost = singular(G, damping)
    if not _is_none(damping):
        G = G + damping * damping * np.eye(len(G))
    if object in (G.dtype, b.dtype):
        return solve_positive(G, b) / where(lost, 0.0, 1.0)
    try:
        if lost:
            raise SingularError("a pivot is zero to rounding")
        return solve_positive(G, b)
    except SingularError:
        raise SingularError(
            "the task is singular at this state: J M⁻¹ Jᵀ is rank-deficient; give damping=…, or use "
            "operational_space or resolve, which truncate the singular directions"
        ) from None


def singular(G: Array, damping: Any = 0.0) -> Any:
    """Whether a pivot of G + λ² 1 is zero to rounding, for numbers and symbols: the inverse then has no correct digit.

    The error of a pivot is that of its diagonal entry over the smallest preceding pivot. Significant damping keeps all nonzero.
    """
    diagonal = list(np.diag(G))
    largest = diagonal[0]
    for entry in diagonal[1:]:
        largest = maximum(largest, entry)
    # a row of J that is rounding itself has the square of that in its diagonal entry
    rounding, no_row = MOBILITY_ROUNDING, MOBILITY_ROUNDING**2 * largest
    if not _is_none(damping):
        square = damping * damping
        held = square > FEW_ROUNDINGS * largest
        rounding, no_row = where(held, 0.0, rounding), where(held, 0.0, no_row)
        G, diagonal = G + square * np.eye(len(G)), [entry + square for entry in diagonal]
    safe: Any = 1.0
    least: Any = 1.0
    for pivot, entry in reversed(list(zip(_pivots(G), diagonal, strict=True))):
        safe = where(pivot > no_row, where(pivot * least > rounding * entry, safe, 0.0), 0.0)  # 0 for NaN too
        least = minimum(least, pivot / where(entry > 0.0, entry, 1.0))
    return safe < 0.5


def _is_none(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0


def _pivots(G: Array) -> list[Any]:
    """D of G = Lᵀ D L, in the order of `solve_positive`, whose expressions they share."""
    work = np.array(G)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k in reversed(range(1, len(work))):
            row = work[k, :k]
            if all(_is_none(x) for x in row):
                continue
            work[:k, :k] = work[:k, :k] - np.outer(row / work[k, k], row)
    return list(np.diag(work))
