"""Operational-space control: computed torque for a task, with damping in its null space.

τ = Jᵀ Λ (ẍ_d + k_d ė + k_p e − J̇ v) + C v + g + Nᵀ M (ω_0² (q_0 − q) − 2 ω_0 v) [Khatib 1987], [Siciliano 2009, §8.6.3].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.dry_friction import bounded_by_dry_friction, dry_friction
from dynamis.control.gains import gain, gains
from dynamis.control.law import ControlLaw
from dynamis.control.reference import Reference, reference_of
from dynamis.control.stability import SEARCHED, Condition, Stability, positive, sampled_often_enough
from dynamis.control.task_loop import TaskError, check_task, inertia_times, posture_torque, task_reference, task_units
from dynamis.display import as_call, as_table
from dynamis.kinematics.tasks import Position, Task
from dynamis.robot import Robot

Array = npt.NDArray[Any]
MAX_CONDITION = 1e3  # of J M⁻¹ Jᵀ: beyond it small task errors need large torques


@dataclass(frozen=True, eq=False, repr=False)
class OperationalSpace(ControlLaw):
    """Operational-space control: ë + k_d ė + k_p e = 0 in the task for an exact model.

    Null-space motion is damped with the bandwidth ``null`` ω_0 [rad/s], towards a ``posture`` if given. ``singular`` is the
    damping λ of (J M⁻¹ Jᵀ + λ² 1)⁻¹ near singularities.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> task = dy.task_space.Position(rows=(0, 1))
    >>> law = OperationalSpace.designed([0.8, 1.0], task, bandwidth=6.0)
    >>> motion = dy.simulate(arm, 2.5, [0.5, 1.0], controller=law, method="rk4", step=1e-3, points=21)
    >>> motion.path()[-1, :2].round(4)
    array([0.8, 1. ])
    """

    reference: Any
    kp: Any
    kd: Any
    task: Task = Position()  # noqa: RUF009 - frozen
    posture: Any = None
    null: float = 2.0
    singular: float = 0.0
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_task(self.task)
        object.__setattr__(self, "kp", gain(self.kp, "kp", self.task.size))
        object.__setattr__(self, "kd", gain(self.kd, "kd", self.task.size))
        gain(self.null, "null", zero=True)
        object.__setattr__(self, "_at", reference_of(self.reference, "the reference of the task"))

    @staticmethod
    def designed(
        reference: Any, task: Task | None = None, *, bandwidth: Any, damping: Any = 1.0, posture: Any = None,
        null: float = 2.0, singular: float = 0.0,
    ) -> OperationalSpace:  # fmt: skip
        """Create the law with task gains from the bandwidth ω [rad/s] and the damping ratio ζ."""
        return OperationalSpace(reference, *gains(bandwidth, damping), task or Position(), posture, null, singular)

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        return task_reference(robot, self._at, t, self.task, self.posture)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array) -> Array:
        now = TaskError.of(robot, t, q, v, self.task, self._at)
        wanted = now.a_d + self.kd * now.e_dot + self.kp * now.e
        F = inertia_times(now.instant, wanted - now.instant.drift, self.singular)
        beside = posture_torque(now.instant, q, v, self.posture, self.null, self.singular)
        return np.asarray(now.instant.J.T @ F + now.instant.n + beside)

    def check(self, robot: Robot, *, rate: float | None = None, q: Any = None) -> Stability:
        """Check stability at a configuration q (default: home), including the null-space motion of redundant arms."""
        names, units, left = self.task.names, task_units(self.task), self.error_at_rest(robot, q)
        end, notes = bounded_by_dry_friction(robot, "|Jᵀ Λ k_p e|", names, units, left)
        conditions = [
            positive("smallest k_p", float(np.min(self.kp)), end),
            positive("smallest k_d", float(np.min(self.kd)), end),
            well_conditioned(robot, self.task, q),
        ]
        if self.task.size < robot.n:
            why = "null-space motion is damped; otherwise it may drift"
            conditions.append(positive("null-space bandwidth ω_0", float(self.null), why))
        note = "valid away from singularities; λ > 0 keeps torques finite there, at the expense of accuracy"
        bandwidth = float(np.sqrt(np.max(self.kp)))
        return Stability("operational space", (*conditions, *sampled_often_enough(rate, bandwidth)), (*notes, note))

    def error_at_rest(self, robot: Robot, q: Any = None) -> Array:
        """The largest |e_k| (task.size) at which dry friction can hold the robot at q (default: home): |J M⁻¹| F_s / k_p.

        Infinite where the task is singular.
        """
        at, _ = checked_at(robot, q)
        if not well_conditioned(robot, self.task, at).holds:
            return np.full(self.task.size, np.inf)
        answer = np.linalg.solve(robot.mass_matrix(at), self.task.jacobian(robot, at).T).T
        return np.asarray(np.abs(answer) @ dry_friction(robot) / self.kp)

    __repr__ = as_call
    _repr_html_ = as_table


def checked_at(robot: Robot, q: Any) -> tuple[Array, str]:
    """The configuration at which a law is checked, and which it is."""
    if q is None:
        return robot.home(), "the home configuration; for another one, check(…, q=…)"
    at = robot.inputs.one_state(q, robot.nq, "q")
    return at, f"({', '.join(f'{x + 0.0:.4g}' for x in at)})"


def well_conditioned(robot: Robot, task: Task, q: Any = None) -> Condition:
    """The condition that the task is nonsingular at a configuration (default: home)."""
    at, where = checked_at(robot, q)
    J, M = task.jacobian(robot, at), robot.mass_matrix(at)
    # in units in which the task's own components weigh alike
    mobility = J @ np.linalg.solve(M, J.T)
    size = np.sqrt(np.maximum(np.diagonal(mobility), 1e-300))
    least, most = np.linalg.eigvalsh(mobility / np.outer(size, size))[[0, -1]]
    share = float(max(least, 0.0) / most)
    return Condition("smallest over largest mobility at q", share > 1.0 / MAX_CONDITION, share, 1.0 / MAX_CONDITION,
                     SEARCHED, f"the task is nonsingular there; q is {where}")  # fmt: skip
