"""Computed-torque control: inverse dynamics reduces the arm to n independent double integrators.

τ = M̂ (a_d + k_d ė + k_p e) + Ĉ v + ĝ + friction, which gives ë + k_d ė + k_p e = 0 for an exact model
[Siciliano 2009, §8.5.2], [Spong 2006, §8.3].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.dry_friction import bounded_by_dry_friction, dry_feedforward, dry_friction, joint_units, smooth_model
from dynamis.control.gains import gain, gains
from dynamis.control.law import ControlLaw, joint_reference
from dynamis.control.reference import Reference, reference_of, resting_time
from dynamis.control.stability import SEARCHED, Condition, Stability, positive, sampled_often_enough
from dynamis.display import as_call, as_table
from dynamis.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class ComputedTorque(ControlLaw):
    """Inverse dynamics of the model with PD feedback of the acceleration: k_p = ω² [1/s²], k_d = 2 ζ ω [1/s].

    Dry friction is fed forward along the reference, smoothed below ``slip`` [rad/s]: compensation by the measured velocity
    would chatter at rest. None disables it.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> law = ComputedTorque.designed([0.5, -0.5], bandwidth=8.0)
    >>> motion = dy.simulate(arm, 2.0, controller=law, method="rk4", step=1e-3, points=21)
    >>> bool(abs(motion.q[-1] - [0.5, -0.5]).max() < 1e-4)
    True
    """

    reference: Any
    kp: Any
    kd: Any
    slip: float | None = 0.05
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kp", gain(self.kp, "kp"))
        object.__setattr__(self, "kd", gain(self.kd, "kd"))
        object.__setattr__(self, "_at", reference_of(self.reference))

    @staticmethod
    def designed(reference: Any, *, bandwidth: Any, damping: Any = 1.0, slip: float | None = 0.05) -> ComputedTorque:
        """Create the law with gains from the bandwidth ω [rad/s] and the damping ratio ζ."""
        return ComputedTorque(reference, *gains(bandwidth, damping), slip)

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        return joint_reference(robot, self._at, t, kp=self.kp, kd=self.kd)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array) -> Array:
        q_d, v_d, a_d = self.wanted(robot, t)
        wanted = a_d + self.kd * (v_d - v) + self.kp * (q_d - q)
        return smooth_model(robot).inverse_dynamics(q, v, wanted) + dry_feedforward(robot, v_d, self.slip)

    def check(self, robot: Robot, *, rate: float | None = None, model: Robot | None = None) -> Stability:
        """Check stability; ``model`` is the model of the law, if different from the robot."""
        least_p, least_d = float(np.min(self.kp)), float(np.min(self.kd))
        left = self.error_at_rest(robot)
        end, notes = bounded_by_dry_friction(robot, "|M k_p e|", robot.coordinate_names, joint_units(robot), left)
        conditions = [positive("smallest k_p", least_p, end), positive("smallest k_d", least_d, end)]
        if model is not None:
            conditions.append(inertia_known(robot, model))
        bandwidth = float(np.sqrt(np.max(self.kp)))
        notes = (*notes, "with model errors, |e| is bounded by the acceleration error divided by ω² (ζ ≥ 1)")
        return Stability("computed torque", (*conditions, *sampled_often_enough(rate, bandwidth)), notes)

    def error_at_rest(self, robot: Robot) -> Array:
        """The largest |e_k| (n) at which dry friction holds the robot at the end of its reference: |M⁻¹| F_s / k_p."""
        q = self.wanted(robot, resting_time(self.reference) or 0.0)[0]
        return np.asarray(np.abs(np.linalg.inv(robot.mass_matrix(q))) @ dry_friction(robot) / self.kp)

    __repr__ = as_call
    _repr_html_ = as_table


def inertia_known(robot: Robot, model: Robot) -> Condition:
    """‖1 − M⁻¹ M̂‖ < 1: the relative error of the commanded acceleration is below one [Spong 2006, §8.4]."""
    q = robot.random(0, 512)
    missed = np.eye(robot.n) - np.linalg.solve(robot.mass_matrix(q), model.mass_matrix(q))
    # the spectral radius does not depend on the units of the joints, as the norm would
    worst = float(np.abs(np.linalg.eigvals(missed)).max())
    why = "required for bounded model errors to give bounded tracking errors"
    return Condition("1 − ρ(1 − M⁻¹ M̂), accuracy of the inertia matrix", worst < 1.0, 1.0 - worst, 0.0, SEARCHED, why)
