"""Torque at one state, with rank, damping and task error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, flat, short
from dynamis.errors import InputError, unknown_name
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.task_space.null_space import checked_preferences, preferred_torque
from dynamis.task_space.operational import checked_instant, checked_state
from dynamis.task_space.redundancy import LAWS, Weight, law_weight, weight_matrix
from dynamis.task_space.singularities import decide
from dynamis.task_space.task_state import TaskState
from dynamis.tolerances import NEARLY_SINGULAR

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Resolution:
    """``tau`` of the actuated joints, the joint ``acceleration``, ``task_error`` ẍ − ẍ_achieved, and ``cost`` ½ τᵀ W τ.

    ``rank`` and ``condition`` are those of J M^-½, and ``how`` is the case: square, redundant, damped or truncated.
    """

    tau: Array
    acceleration: Array
    task_error: Array
    cost: float
    rank: int
    condition: float
    how: str

    def __repr__(self) -> str:
        return short(f"<Resolution {flat(self.tau)}: {self.how}, rank {self.rank}, cost {self.cost:.4g}>")

    _repr_html_ = as_table


def resolve(
    robot: Robot,
    q: Any,
    v: Any,
    task: Task,
    acceleration: Any,
    law: str = "driven-acceleration",
    *,
    weight: Weight = None,
    null_space: Any = (),
    damping: float = 0.0,
    truncate: bool = False,
    tolerance: float = NEARLY_SINGULAR,
    actuated: Any = "all",
) -> Resolution:
    """The torque that realises ẍ with minimal cost ½ (τ − τ₀)ᵀ W (τ − τ₀), with a report.

    ``law`` selects W: "driven-acceleration" (M⁻²), "acceleration-energy" (M⁻¹) or "torque" (1); ``weight`` gives
    a user-defined W instead. ``null_space`` has objectives such as ``Damping(5.0)``. Singularities are treated as in
    `operational_space`.

    >>> import dynamis as dy, numpy as np
    >>> robot, task = dy.load("panda"), dy.task_space.Position()
    >>> q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    >>> found = dy.task_space.resolve(robot, q, np.zeros(7), task, [0.0, 0.0, 1.0], "torque")
    >>> found.how, bool(abs(found.task_error).max() < 1e-9)
    ('redundant', True)
    """
    q, v = checked_state(robot, q, v, task)
    wanted = task_vector(acceleration, task)
    driven = sorted(robot.inputs.actuated(actuated))
    at = checked_instant(robot, q, v, task, actuated)
    tau_0 = preferred_torque(checked_preferences(null_space), robot, q, v)
    tau_0 = np.zeros(len(driven)) if tau_0 is None else tau_0[driven]
    W, X, B = _weighted(robot, q, v, at, law, weight)
    # whether a task can be moved does not depend on the weight: decided as for the operational space
    found = decide(at.whitened(), task.names, damping, truncate, tolerance)
    A = at.A_T.T
    tau = tau_0 + X @ (found.inverse(B) @ (wanted + at.beta - A @ tau_0))
    full = np.zeros(robot.n)
    full[driven] = tau
    return Resolution(
        tau, robot.forward_dynamics(q, v, full), wanted - (A @ tau - at.beta), 0.5 * float(tau @ W @ tau), found.rank,
        found.condition, found.how,
    )  # fmt: skip


def _weighted(robot: Robot, q: Array, v: Array, at: TaskState, law: str, weight: Weight) -> tuple[Array, Array, Array]:
    """W, X = W⁻¹ Aᵀ, and B with B Bᵀ = A W⁻¹ Aᵀ: explicitly where M cancels, for accuracy."""
    if weight is not None:
        W = weight_matrix(weight, robot, q, v, len(at.M))
        return W, np.linalg.solve(W, at.A_T), np.linalg.solve(np.linalg.cholesky(W), at.A_T).T
    if law not in LAWS:
        raise unknown_name("law", law, LAWS)
    W = law_weight(law, at.M)
    match law:
        case "driven-acceleration":
            return W, at.M @ at.J.T, at.J
        case "acceleration-energy":
            return W, at.J.T, at.whitened()
        case _:
            return W, at.A_T, at.A_T.T


def task_vector(value: Any, task: Task, name: str = "acceleration") -> Array:
    """A vector of the task's size as finite numbers."""
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros((0, 0))
    if found.shape != (task.size,) or not np.isfinite(found).all():
        raise InputError(f"{name} must be {counted(task.size, 'finite number')} ({', '.join(task.names)}); got {value!r}")
    return found
