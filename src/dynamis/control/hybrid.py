"""Hybrid force/position control: force along constrained directions, position along free ones.

Directions S_f of the task are force-controlled, the others position-controlled, both with the task inertia Λ [Raibert & Craig
1981], [Khatib 1987]. With the reaction f = S_fᵀ w of the environment, positive along S_f:

    F = Λ (P_p (ẍ_d + k_d P_p ė + k_p P_p e) − P_f k_v ẋ − J̇ v) − S_f (f_d + k_f (f_d − f) + k_i ∫ (f_d − f) dt)
    τ = Jᵀ F + C v + g

Errors are projected before and after the gains, since unequal gains along oblique normals would couple force and position. The
integral removes the force error due to gravity errors and a wrong normal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.dry_friction import dry_friction
from dynamis.control.gains import gain, gains
from dynamis.control.law import ControlLaw
from dynamis.control.operational_space import well_conditioned
from dynamis.control.reference import Reference, reference_of
from dynamis.control.stability import PROVEN, Condition, Stability, positive, sampled_often_enough
from dynamis.control.task_loop import TaskError, check_task, inertia_times, posture_torque, task_force, task_reference
from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError
from dynamis.kinematics.tasks import Position, Task
from dynamis.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class HybridForcePosition(ControlLaw):
    """Hybrid force/position control, with the states ∫ (f_d − f) dt.

    ``normals`` (k × size) are the force directions, outward from the surface; ``force`` (k) the reference reactions in N.
    ``wrench`` on the task's frame in world axes is a function of (t, q, v), such as a `contact`, or the last argument of the
    law if measured. ``speed`` k_v [1/s] damps motion along the normals.
    """

    reference: Any
    force: Any
    normals: Any
    kp: Any
    kd: Any
    task: Task = Position()  # noqa: RUF009 - frozen
    wrench: Callable[[Any, Array, Array], Any] | None = None
    force_gain: float = 1.0
    integral: float = 5.0
    speed: float = 30.0
    posture: Any = None
    null: float = 2.0
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        size = check_task(self.task).size
        object.__setattr__(self, "normals", _orthonormal(self.normals, size))
        try:
            force = np.broadcast_to(np.array(self.force, dtype=float), (len(self.normals),))
        except (TypeError, ValueError):
            raise InputError(
                f"force requires {counted(len(self.normals), 'number')}, one per normal, got {self.force!r}"
            ) from None
        if not np.isfinite(force).all():
            raise InputError(f"force must be finite numbers, in N, got {self.force!r}")
        object.__setattr__(self, "force", force)
        object.__setattr__(self, "kp", gain(self.kp, "kp", size))
        object.__setattr__(self, "kd", gain(self.kd, "kd", size))
        for name in ("force_gain", "integral", "speed"):
            gain(getattr(self, name), name, zero=True)
        object.__setattr__(self, "_at", reference_of(self.reference, "the reference of the task"))

    @staticmethod
    def designed(
        reference: Any, force: Any, normals: Any, task: Task | None = None, *, bandwidth: Any, damping: Any = 1.0,
        wrench: Callable[[Any, Array, Array], Any] | None = None, force_gain: float = 1.0, integral: float = 5.0,
        speed: float = 30.0, posture: Any = None, null: float = 2.0,
    ) -> HybridForcePosition:  # fmt: skip
        """Create the law with position gains from the bandwidth ω [rad/s] and the damping ratio ζ."""
        kp, kd = gains(bandwidth, damping)
        return HybridForcePosition(reference, force, normals, kp, kd, task or Position(), wrench, force_gain, integral, speed,
                                   posture, null)  # fmt: skip

    @property
    def size(self) -> int:  # type: ignore[override]
        return len(self.normals)

    @property
    def measures(self) -> Mapping[str, int]:
        return {"wrench": 6} if self.wrench is None else {}

    def selection(self) -> tuple[Array, Array]:
        """(P_p, P_f): the projections on position and force directions, with P_p + P_f = 1."""
        P_f = self.normals.T @ self.normals
        return np.eye(self.task.size) - P_f, P_f

    def reaction(self, t: Any, q: Array, v: Array, wrench: Any = None) -> Array:
        """The reaction f along the normals (k)."""
        if wrench is None:
            if self.wrench is None:
                raise InputError("a hybrid law requires the wrench at the tip: give wrench=…, or pass it as the last argument")
            wrench = self.wrench(t, q, v)
        return np.asarray(self.normals @ task_force(self.task, np.asarray(wrench)))

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        return task_reference(robot, self._at, t, self.task, self.posture)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, wrench: Any = None) -> Array:
        now = TaskError.of(robot, t, q, v, self.task, self._at)
        P_p, P_f = self.selection()
        pulled = self.kd * (P_p @ now.e_dot) + self.kp * (P_p @ now.e)
        wanted = P_p @ (now.a_d + pulled) - self.speed * (P_f @ now.x_dot)
        missing = self.force - self.reaction(t, q, v, wrench)
        press = self.force + self.force_gain * missing + self.integral * np.asarray(x)
        F = inertia_times(now.instant, wanted - now.instant.drift) - self.normals.T @ press
        return np.asarray(now.instant.J.T @ F + now.instant.n + posture_torque(now.instant, q, v, self.posture, self.null))

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, wrench: Any = None) -> Array:  # noqa: ARG002
        return np.asarray(self.force - self.reaction(t, q, v, wrench))

    def check(self, robot: Robot, *, rate: float | None = None, q: Any = None) -> Stability:
        """Check stability at a configuration q (default: home), in contact with an elastic surface."""
        P_p, P_f = self.selection()
        apart = float(np.abs(P_p @ P_f).max())
        room = float(self.speed * (1.0 + self.force_gain))
        end = f"positions orthogonal to the normals {'stay bounded' if dry_friction(robot).any() else 'converge'}"
        conditions = (
            positive("smallest k_p", float(np.min(self.kp)), end),
            positive("smallest k_d", float(np.min(self.kd)), end),
            Condition("P_p P_f, largest entry", apart < 1e-9, apart, 1e-9, PROVEN, "no direction has both controls", "<"),
            Condition("k_v (1 + k_f) over the integral gain k_i", room > self.integral, room, float(self.integral), PROVEN,
                      "λ s³ + λ k_v s² + (1 + k_f) k_e s + k_i k_e is stable for every stiffness k_e (Routh)"),
            well_conditioned(robot, self.task, q),
        )  # fmt: skip
        dry = " without dry friction, which the law does not cancel," if dry_friction(robot).any() else ""
        notes = (f"proven for a rigid arm{dry} on a linear spring; delays and elastic joints require lower force gains",)
        bandwidth = float(max(np.sqrt(np.max(self.kp)), self.speed))
        return Stability("hybrid force/position", (*conditions, *sampled_often_enough(rate, bandwidth)), notes)

    __repr__ = as_call
    _repr_html_ = as_table


def _orthonormal(normals: Any, size: int) -> Array:
    try:
        N = np.atleast_2d(np.array(normals, dtype=float))
    except (TypeError, ValueError):
        N = np.zeros((0, 0))
    if N.ndim != 2 or N.shape[1:] != (size,) or not 0 < len(N) <= size or not np.isfinite(N).all():
        raise InputError(
            f"normals must be directions of the task, {counted(size, 'number')} each, such as {[0.0] * (size - 1) + [1.0]}"
        )
    lengths = np.linalg.norm(N, axis=1, keepdims=True)
    unit = N / np.where(lengths > 0.0, lengths, 1.0)
    if not np.allclose(unit @ unit.T, np.eye(len(N)), atol=1e-6):
        raise InputError("normals must be nonzero and mutually orthogonal")
    return unit
