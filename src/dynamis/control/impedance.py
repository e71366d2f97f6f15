"""Cartesian impedance control: the tip responds to an external wrench like a mass–spring–damper system.

With the natural inertia Λ(q): τ = g + Jᵀ (Λ ẍ_d + D ė + K e) plus Coriolis terms, either kept, so that the loop is passive, or
cancelled, so that Λ ë + D ė + K e = w also holds in fast motion. No force measurement is required. With a desired inertia M_d
the measured wrench w enters: τ = Jᵀ (Λ (ẍ_d − J̇ v + M_d⁻¹ (D ė + K e + w)) − w) + C v + g [Hogan 1985], [Ott 2008].

K e is the gradient of ½ eᵀ K e for positions, and for orientation coordinates such as "rpy". For "geometric" rotations the
three rotational stiffnesses must be equal: otherwise the moments are not conservative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from dynamis.control.damping_design import consistent_damping
from dynamis.control.dry_friction import dry_friction, steady_state
from dynamis.control.gains import gain
from dynamis.control.law import ControlLaw
from dynamis.control.operational_space import checked_at, well_conditioned
from dynamis.control.pd_gravity import springs
from dynamis.control.reference import Reference, reference_of, rests
from dynamis.control.stability import PROVEN, RULE, Condition, Stability, positive, sampled_often_enough
from dynamis.control.task_loop import (
    TaskError,
    check_task,
    inertia_times,
    posture_torque,
    task_force,
    task_reference,
    task_units,
)
from dynamis.display import as_call, as_table
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.tasks import Orientation, Position, Task
from dynamis.robot import Robot
from dynamis.tolerances import SOLUTION_TOLERANCE

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Impedance(ControlLaw):
    """Cartesian impedance control, with ``stiffness`` K (one number or one per task component) and modal damping ``ratio`` ζ.

    ``inertia`` None means the natural inertia; otherwise M_d (kg, kg m²), which requires the ``wrench`` on the task's frame in
    world axes: a function of (t, q, v) such as a `contact`, or the last argument of the law if measured. ``coriolis`` is
    "kept" or "cancelled" with the natural inertia; ``null`` and ``posture`` are as in `OperationalSpace`.

    >>> import dynamis as dy, numpy as np
    >>> arm, task = dy.load("planar_2r_melchiorri"), dy.task_space.Position(rows=(0, 1))
    >>> law = Impedance([1.2, 0.9], 800.0, task)
    >>> push = {arm.link_names[-1]: [40.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    >>> moved = dy.simulate(arm, 20.0, [0.1, 1.0], controller=law, wrenches=push, method="rk4", step=2e-3, points=3)
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
            raise InputError(f"coriolis={self.coriolis!r} is unknown; choose 'kept' (passive) or 'cancelled'")
        object.__setattr__(self, "stiffness", gain(self.stiffness, "stiffness", size))
        if any(np.ptp(self.stiffness[place]) > 0.0 for place in _rotations(self.task)):
            raise InputError(
                "the three rotational stiffnesses must be equal, else the moments are not conservative; give one number, or "
                "use coordinates='rpy'"
            )
        if gain(self.ratio, "ratio").ndim:
            raise InputError("ratio must be one number, the damping ratio of every mode")
        if self.inertia is not None:
            object.__setattr__(self, "inertia", gain(self.inertia, "inertia", size))
        if self.wrench is not None and not callable(self.wrench):
            raise InputError("wrench= must be a function of (t, q, v), such as from dynamis.contact")
        object.__setattr__(self, "_at", reference_of(self.reference, "the reference of the task"))

    @property
    def measures(self) -> Mapping[str, int]:
        return {"wrench": 6} if self.inertia is not None and self.wrench is None else {}

    def damping(self, mobility: Array) -> Array:
        """D (m × m) for Λ⁻¹, by double diagonalisation; with a desired inertia 2 ζ √(M_d K)."""
        if self.inertia is None:
            return consistent_damping(mobility, self.stiffness, self.ratio)
        return np.diag(2.0 * self.ratio * np.sqrt(self.inertia * self.stiffness))

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        return task_reference(robot, self._at, t, self.task, self.posture)

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
            raise InputError("a desired inertia requires the wrench at the tip: give wrench=…, or pass it as the last argument")
        return np.asarray(self.wrench(t, q, v) if wrench is None and self.wrench is not None else wrench)

    def check(self, robot: Robot, *, rate: float | None = None, q: Any = None) -> Stability:
        """Check stability at a configuration q (default: home)."""
        at, where = checked_at(robot, q)
        J = self.task.jacobian(robot, at)
        mobility = J @ np.linalg.solve(robot.mass_matrix(at), J.T)
        mass = mobility if self.inertia is None else np.diag(1.0 / self.inertia)
        try:
            (ratio, fastest), why = modes(mass, self.damping(mobility), self.stiffness), "as designed, in every mode"
        except SingularError:
            ratio, fastest, why = 0.0, 0.0, "the task is singular there: some direction can be neither moved nor damped"
        why = f"{why}; q is {where}"
        if math.isclose(ratio, self.ratio, rel_tol=SOLUTION_TOLERANCE):
            ratio = float(self.ratio)
        conditions = [
            positive(
                "smallest stiffness K", float(np.min(self.stiffness)), "positive stiffness in every direction of the task"
            ),
            Condition("smallest damping ratio at q", ratio >= self.ratio, ratio, float(self.ratio), PROVEN, why, "≥"),
            well_conditioned(robot, self.task, q),
        ]
        if self.inertia is None:
            conditions += [*self._damped_beside_friction(robot, at, J, mobility), self._passive(robot)]
        else:
            lightest = float(np.min(self.inertia * np.diagonal(mobility)))
            conditions.append(
                Condition("M_d over the natural inertia", lightest >= 0.3, lightest, 0.3, RULE,
                          "a much smaller inertia than the natural one becomes unstable in stiff contact with any delay", "≥")
            )  # fmt: skip
        if self.task.size < robot.n:
            conditions.append(positive("null-space bandwidth ω_0", float(self.null), "null-space motion is damped"))
        notes = []
        if self.inertia is None:
            notes.append("the damping ratio holds wherever the task is nonsingular, since D follows Λ(q)")
        if dry_friction(robot).any():
            notes.append("the law does not cancel dry friction, which holds the robot for |Jᵀ K e| < F_s")
            notes.append(steady_state(self.task.names, task_units(self.task), self.error_at_rest(robot, at)))
        often = sampled_often_enough(rate, fastest) if fastest else ()
        return Stability("Cartesian impedance", (*conditions, *often), tuple(notes))

    def error_at_rest(self, robot: Robot, q: Any = None) -> Array:
        """The largest |e_k| (task.size) at which dry friction can hold the robot at q (default: home): |K⁻¹ Λ J M⁻¹| F_s.

        M_d is in place of Λ if it is given. Infinite where the task is singular.
        """
        at, _ = checked_at(robot, q)
        if not well_conditioned(robot, self.task, at).holds:
            return np.full(self.task.size, np.inf)
        J = self.task.jacobian(robot, at)
        answer = np.linalg.solve(robot.mass_matrix(at), J.T).T
        Lambda = np.linalg.inv(answer @ J.T) if self.inertia is None else np.diag(self.inertia)
        return np.asarray(np.abs(Lambda @ answer) @ dry_friction(robot) / self.stiffness)

    def _damped_beside_friction(self, robot: Robot, q: Array, J: Array, mobility: Array) -> tuple[Condition, ...]:
        """The condition that the damping of task and null space outweighs negative viscous friction."""
        viscous = robot.model.viscous
        if self.coriolis != "kept" or viscous.min(initial=0.0) >= 0.0 or np.linalg.matrix_rank(J) < len(J):
            return ()
        M = robot.mass_matrix(q)
        B = J.T @ self.damping(mobility) @ J + np.diag(viscous)
        if len(J) < robot.n:
            B += 2.0 * self.null * (M - J.T @ np.linalg.solve(mobility, J))
        least = float(eigh(B, M, eigvals_only=True)[0])
        return (positive("smallest rate of the damping with viscous friction at q [1/s]", least, "the motion decays"),)

    def _passive(self, robot: Robot) -> Condition:
        """The condition of passivity; where it is not met, the reasons."""
        kept = self.coriolis == "kept"
        missing = []
        if not kept:
            missing.append("Λ̇ is neglected: move slowly")
        if self.posture is not None and self.task.size < robot.n:
            missing.append("the null-space posture torques are not conservative and can supply energy")
        if kept and robot.model.viscous.min(initial=0.0) < 0.0:
            missing.append("negative viscous friction of the joints supplies energy")
        if not rests(self.reference):
            missing.append("a moving reference does work")
        if not missing:
            why = "the loop is passive: stable in contact with any passive environment"
            return Condition("passivity", True, math.nan, math.nan, PROVEN, why)
        return Condition("passivity", False, math.nan, math.nan, RULE, "passivity is not proven: " + "; ".join(missing))

    __repr__ = as_call
    _repr_html_ = as_table


def _rotations(task: Task, start: int = 0) -> list[slice]:
    """The component indices of geometric orientations within a task."""
    if isinstance(task, Orientation):
        return [slice(start, start + task.size)] if task.coordinates == "geometric" else []
    found = []
    for part in getattr(task, "parts", ()):
        found += _rotations(part, start)
        start += part.size
    return found


def modes(mobility: Array, D: Array, stiffness: Array) -> tuple[float, float]:
    """(smallest damping ratio, largest frequency [rad/s]) of the modes of Λ ẍ + D ẋ + K x = 0.

    With U such that Uᵀ Λ U = 1 and Uᵀ K U = diag(ω²), the damping ratio of a mode is (Uᵀ D U)_kk / (2 ω).
    """
    root = np.sqrt(stiffness)
    squares, vectors = np.linalg.eigh(root[:, None] * mobility * root[None, :])
    U = (vectors / root[:, None]) * np.sqrt(squares)
    omega = np.sqrt(squares)
    return float((np.diagonal(U.T @ D @ U) / (2.0 * omega)).min()), float(omega.max())


def _any(x: Array) -> bool:
    """Whether any entry is nonzero or symbolic."""
    return x.dtype == object or bool(np.any(x))
