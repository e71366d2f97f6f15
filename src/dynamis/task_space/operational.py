"""Operational-space equations of motion: Λ ẍ + μ + p = F with τ = Jᵀ F.

[Rocco, "Modello dinamico nello spazio operativo"]: Λ is his B_A, μ his C_A ẋ, p his g_A; [Khatib 1987].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, short
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric, warn_of_open_loops
from dynamis.scalar import solve_positive
from dynamis.task_space.singularities import decide
from dynamis.task_space.task_state import TaskState, solved
from dynamis.tolerances import NEARLY_SINGULAR

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class OperationalModel:
    """Λ ẍ + μ + p = F and τ = Jᵀ F at one state.

    ``Lambda`` (m × m) is the operational-space inertia, ``mu`` (m) Coriolis, centrifugal, friction and spring forces, ``p`` (m)
    gravity; ``J`` (m × n), ``J_dot_v`` (m); ``J_bar`` = M⁻¹ Jᵀ Λ (n × m) the dynamically consistent inverse; ``N`` = 1 − J̄ J
    (n × n), whose transpose projects torques into the null space of the task. ``how`` describes how Λ was computed;
    ``condition`` is σ_max / σ_min of J M^-½, infinite at a singularity.

    If only some coordinates are actuated, J, J̄ and N refer to those (``actuated``).
    """

    Lambda: Array
    mu: Array
    p: Array
    J: Array
    J_dot_v: Array
    J_bar: Array
    N: Array
    condition: float
    rank: int
    how: str
    names: tuple[str, ...]
    actuated: tuple[int, ...]

    @property
    def singular(self) -> bool:
        return self.rank < len(self.names)

    def force(self, acceleration: Any) -> Array:
        """F = Λ ẍ + μ + p."""
        return self.Lambda @ np.asarray(acceleration, dtype=float) + self.mu + self.p

    def torque(self, acceleration: Any, null_torque: Any = None) -> Array:
        """τ = Jᵀ F, plus Nᵀ τ₀ for a null-space torque τ₀."""
        tau = self.J.T @ self.force(acceleration)
        return tau if null_torque is None else tau + self.N.T @ np.asarray(null_torque, dtype=float)

    def __repr__(self) -> str:
        return short(
            f"<OperationalModel of {', '.join(self.names)}: {self.how}, rank {self.rank}, condition {self.condition:.3g}>"
        )

    _repr_html_ = as_table


def operational_space(
    robot: Robot,
    q: Any,
    v: Any,
    task: Task,
    *,
    damping: float = 0.0,
    truncate: bool = False,
    tolerance: float = NEARLY_SINGULAR,
    actuated: Any = "all",
) -> OperationalModel:
    """Operational-space dynamics Λ, μ, p of a task at one state.

    A direction whose singular value of J M^-½ is below ``tolerance`` times the largest is treated as singular and truncated,
    with a `SingularityWarning` unless ``truncate=True``. ``damping`` λ gives
    Λ = (J M⁻¹ Jᵀ + λ² 1)⁻¹ everywhere, λ² in units of 1/kg.

    ``actuated`` selects the actuated coordinates: "all", "joints" (not a free base), names or indices. J and τ
    then refer to the actuated coordinates; the others are passive.

    >>> import dynamis as dy, numpy as np
    >>> robot, task = dy.load("panda"), dy.task_space.Position()
    >>> q, v = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]), np.full(7, 0.1)
    >>> x = dy.operational_space(robot, q, v, task)
    >>> x.how, x.Lambda.shape
    ('redundant', (3, 3))
    >>> a = robot.forward_dynamics(q, v, x.torque([1.0, 0.0, 0.0]))
    >>> ((x.J @ a + x.J_dot_v).round(9) + 0.0).tolist()
    [1.0, 0.0, 0.0]
    """
    q, v = checked_state(robot, q, v, task)
    whole = checked_instant(robot, q, v, task)
    weight = whole.J @ solve_positive(whole.M, robot.gravity(q))
    driven = sorted(robot.inputs.actuated(actuated))
    at = whole if len(driven) == robot.n else whole.reduced(driven)
    B = at.whitened()
    found = decide(B, task.names, damping, truncate, tolerance)
    Lambda = found.inverse(B)
    J_bar = at.A_T @ Lambda
    return OperationalModel(
        Lambda=Lambda, mu=Lambda @ (at.beta - weight), p=Lambda @ weight, J=at.J, J_dot_v=whole.drift,
        J_bar=J_bar, N=np.eye(len(driven)) - J_bar @ at.J, condition=found.condition, rank=found.rank, how=found.how,
        names=task.names, actuated=tuple(driven),
    )  # fmt: skip


def operational_terms(robot: Robot, q: Any, v: Any, task: Task, damping: Any = 0.0) -> tuple[Array, Array, Array]:
    """(Λ, μ, p) with a fixed damping, for numbers and symbols; compiled by `task_kernels`."""
    at = TaskState.of(robot, q, v, task)
    weight = at.A_T.T @ robot.gravity(q)
    bias = at.A_T.T @ at.n - at.drift
    found = solved(at.mobility, np.column_stack([np.eye(task.size), bias - weight, weight]), damping)
    return found[:, : task.size], found[:, -2], found[:, -1]


def checked_instant(robot: Robot, q: Array, v: Array, task: Task, actuated: Any = "all") -> TaskState:
    """The instant evaluated numerically, checked to be finite."""
    with np.errstate(all="ignore"):  # finiteness is checked below
        at = TaskState.of(robot, q, v, task, actuated)
    if not (np.isfinite(at.J).all() and np.isfinite(at.drift).all()):
        raise SingularError(
            "the orientation coordinates of the task are singular at this configuration, so their rates are infinite; "
            "choose others: coordinates='geometric' has no singularity"
        )
    return at


def checked_state(robot: Any, q: Any, v: Any, task: Any) -> tuple[Array, Array]:
    """Validate robot and task; return q and v of one state as numbers."""
    check_numeric(robot)
    warn_of_open_loops(robot, "the operational-space model", stacklevel=4)
    if not isinstance(task, Task):
        raise InputError(f"task must be a task of dynamis.task_space, such as Position(), got {type(task).__name__}")
    inputs = robot.inputs
    found = inputs.one_state(q, robot.nq, "q"), inputs.one_state(v, robot.n, "v")
    if object in (found[0].dtype, found[1].dtype):
        raise InputError("rank and damping are determined numerically; use operational_terms(…, damping) for symbolic states")
    return found
