"""Cartesian impedance: the tip answers a push like a mass on a spring with a damper.

With the natural inertia Λ(q): τ = g + Jᵀ (Λ ẍ_d + D ė + K e) beside Coriolis terms that are kept, for then the loop is
passive, or cancelled, for then the answer is Λ ë + D ė + K e = w also in quick motion. No force need be measured. With a
chosen inertia M_d the measured wrench w is shaped: τ = Jᵀ (Λ (ẍ_d − J̇ v + M_d⁻¹ (D ė + K e + w)) − w) + C v + g [Hogan
1985], [Ott 2008].

K e is the gradient of ½ eᵀ K e for positions, and for coordinates of the orientation such as "rpy". For "geometric" rotations
one number of stiffness belongs to all three axes: other moments belong to no energy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.damping_design import consistent_damping
from dynamis.control.gains import gain
from dynamis.control.law import Controller
from dynamis.control.operational_space import well_conditioned
from dynamis.control.pd_gravity import springs
from dynamis.control.reference import Reference, reference_of, rests
from dynamis.control.stability import PROVEN, RULE, Condition, Stability, positive, sampled_often_enough
from dynamis.control.task_loop import TaskError, check_task, inertia_times, posture_torque, task_force
from dynamis.display import as_call, as_table
from dynamis.errors import InputError, SingularError
from dynamis.robot import Robot
from dynamis.task_space.tasks import Orientation, Position, Task

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Impedance(Controller):
    """``stiffness`` K (one number or one for each component of the task), ``ratio`` ζ of the damping of every mode.

    ``inertia`` None is the arm's own; otherwise M_d (kg, kg m²), which needs the ``wrench`` on the task's frame in world
    axes: a function of (t, q, v) such as a `contact`, or the law's last argument where it is measured. ``coriolis`` is
    "kept" or "cancelled" with the natural inertia; ``null`` and ``posture`` are as in `OperationalSpace`.

    >>> import dynamis as dy, numpy as np
    >>> arm, task = dy.load("planar_2r_melchiorri"), dy.task_space.Position(rows=(0, 1))
    >>> law = Impedance([1.2, 0.9], 800.0, task)
    >>> push = {arm.link_names[-1]: [40.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    >>> moved = dy.simulate(arm, 20.0, [0.1, 1.0], controller=law.on(arm), wrenches=push, method="rk4", step=2e-3, points=3)
    >>> (moved.path()[-1, :2] - [1.2, 0.9]).round(6)  # 40 N over 800 N/m
    array([ 0.05, -0.  ])
    """

    reference: Any
    stiffness: Any
    task: Task = Position()  # noqa: RUF009 - frozen
    ratio: float = 1.0
    inertia: Any = None
    wrench: Callable[[Any, Array, Array], Any] | None = None
    coriolis: str = "kept"
    posture: Any = None
    null: float = 2.0
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        size = check_task(self.task).size
        if self.coriolis not in ("kept", "cancelled"):
            raise InputError(f"coriolis={self.coriolis!r} is not known; choose 'kept' (passive) or 'cancelled'")
        object.__setattr__(self, "stiffness", gain(self.stiffness, "stiffness", size))
        if any(np.ptp(self.stiffness[place]) > 0.0 for place in _rotations(self.task)):
            raise InputError(
                "the three stiffnesses of rotation must be equal: other moments would belong to no energy; take one number, "
                "or coordinates='rpy'"
            )
        if gain(self.ratio, "ratio").ndim:
            raise InputError("ratio is one number: the damping ratio of every mode")
        if self.inertia is not None:
            object.__setattr__(self, "inertia", gain(self.inertia, "inertia", size))
        if self.wrench is not None and not callable(self.wrench):
            raise InputError("wrench= takes a function of (t, q, v), such as dynamis.contact makes")
        object.__setattr__(self, "_at", reference_of(self.reference, "the reference of the task"))

    @property
    def measures(self) -> Mapping[str, int]:
        return {"wrench": 6} if self.inertia is not None and self.wrench is None else {}

    def damping(self, mobility: Array) -> Array:
        """D (m × m) for Λ⁻¹, by double diagonalisation; with a chosen inertia 2 ζ √(M_d K)."""
        if self.inertia is None:
            return consistent_damping(mobility, self.stiffness, self.ratio)
        return np.diag(2.0 * self.ratio * np.sqrt(self.inertia * self.stiffness))

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array, wrench: Any = None) -> Array:
        now = TaskError.of(robot, t, q, v, self.task, self._at)
        instant = now.instant
        pull = self.damping(instant.mobility) @ now.e_dot + self.stiffness * now.e
        beside = posture_torque(instant, q, v, self.posture, self.null)
        if self.inertia is None:
            kept = self.coriolis == "kept"
            rest, ahead = (robot.gravity(q) + springs(robot, q), now.a_d) if kept else (instant.n, now.a_d - instant.drift)
            F = pull if not _any(ahead) else pull + inertia_times(instant, ahead)
            return np.asarray(rest + instant.J.T @ F + beside)
        w = task_force(self.task, self._measured(t, q, v, wrench))
        F = inertia_times(instant, now.a_d - instant.drift + (pull + w) / self.inertia) - w
        return np.asarray(instant.n + instant.J.T @ F + beside)

    def _measured(self, t: Any, q: Array, v: Array, wrench: Any) -> Array:
        if wrench is None and self.wrench is None:
            raise InputError(
                "a chosen inertia needs the wrench at the tip: wrench=… when the law is made, or as its last argument"
            )
        return np.asarray(self.wrench(t, q, v) if wrench is None and self.wrench is not None else wrench)

    def check(self, robot: Robot, *, rate: float | None = None, q: Any = None) -> Stability:
        """At a configuration q (neutral unless given)."""
        at = robot.neutral() if q is None else np.asarray(q, dtype=float)
        J = self.task.jacobian(robot, at)
        mobility = J @ np.linalg.solve(robot.mass_matrix(at), J.T)
        mass = mobility if self.inertia is None else np.diag(1.0 / self.inertia)
        try:
            (ratio, fastest), why = modes(mass, self.damping(mobility), self.stiffness), "as designed, in every mode"
        except SingularError:
            ratio, fastest, why = 0.0, 0.0, "the task is singular there: some direction of it cannot be moved, nor damped"
        damped = ratio > (1.0 - 1e-6) * self.ratio
        conditions = [
            positive("least stiffness K", float(np.min(self.stiffness)), "a spring pulls in every direction of the task"),
            Condition("least damping ratio at q", damped, ratio, self.ratio, PROVEN, why),
            well_conditioned(robot, self.task, at),
        ]
        if self.inertia is None:
            conditions.append(self._passive(robot))
        else:
            lightest = float(np.min(self.inertia * np.diagonal(mobility)))
            conditions.append(
                Condition("M_d over the arm's own inertia", lightest >= 0.3, lightest, 0.3, RULE,
                          "much lighter than the arm becomes unstable in stiff contact, with any delay")
            )  # fmt: skip
        if self.task.size < robot.n:
            conditions.append(positive("ω_0 beside the task", float(self.null), "what the task leaves free is damped"))
        note = "the designed ratio holds wherever the task is not singular, for D follows Λ(q)" if self.inertia is None else ""
        often = sampled_often_enough(rate, fastest) if fastest else ()
        return Stability("Cartesian impedance", (*conditions, *often), (note,) if note else ())

    def _passive(self, robot: Robot) -> Condition:
        """That the loop takes energy only from what pushes it; where a premise is missing, which."""
        kept = self.coriolis == "kept"
        missing = []
        if not kept:
            missing.append("Λ̇ is left out: move slowly")
        if self.posture is not None and self.task.size < robot.n:
            missing.append("the posture's torques beside the task belong to no energy, and can drive the arm")
        if not rests(self.reference):
            missing.append("a reference that moves does work")
        if not missing:
            why = "the loop is passive: stable against any passive surroundings"
            return Condition("Coriolis terms kept", True, 1.0, 1.0, PROVEN, why)
        what = "Coriolis terms kept" if not kept else "premises of passivity"
        return Condition(what, False, 0.0, 1.0, RULE, "passivity is not proven: " + "; ".join(missing))

    __repr__ = as_call
    _repr_html_ = as_table


def _rotations(task: Task, start: int = 0) -> list[slice]:
    """Where the geometric orientations within a task have their components."""
    if isinstance(task, Orientation):
        return [slice(start, start + task.size)] if task.coordinates == "geometric" else []
    found = []
    for part in getattr(task, "parts", ()):
        found += _rotations(part, start)
        start += part.size
    return found


def modes(mobility: Array, D: Array, stiffness: Array) -> tuple[float, float]:
    """(least damping ratio, largest frequency [rad/s]) of the modes of Λ ẍ + D ẋ + K x = 0.

    With U that makes Uᵀ Λ U = 1 and Uᵀ K U = diag(ω²), the ratio of a mode is (Uᵀ D U)_kk / (2 ω).
    """
    root = np.sqrt(stiffness)
    squares, vectors = np.linalg.eigh(root[:, None] * mobility * root[None, :])
    U = (vectors / root[:, None]) * np.sqrt(squares)
    omega = np.sqrt(squares)
    return float((np.diagonal(U.T @ D @ U) / (2.0 * omega)).min()), float(omega.max())


def _any(x: Array) -> bool:
    """Whether something is there: a goal at rest is plain zeros, in a trace too."""
    return x.dtype == object or bool(np.any(x))
