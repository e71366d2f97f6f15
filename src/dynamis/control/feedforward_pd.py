"""Feedforward of the inverse dynamics along the reference, with PD feedback.

τ = ID(q_d, v_d, a_d) + K_p e + K_d ė. The model is evaluated at the reference only, not at the measured state, so that noise
does not enter it [Siciliano 2009, §8.5], [Santibáñez & Kelly 2001].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.dry_friction import dry_feedforward, dry_friction, joint_units, smooth_model, steady_state
from dynamis.control.gains import gain, gains
from dynamis.control.law import ControlLaw, joint_reference
from dynamis.control.reference import Reference, duration_of, reference_of, resting_time
from dynamis.control.stability import SEARCHED, Condition, Stability, damped, positive, sampled_often_enough
from dynamis.display import as_call, as_table
from dynamis.robot import Robot
from dynamis.tolerances import CENTRAL_DIFFERENCE_STEP, NEGLIGIBLE

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class FeedforwardPD(ControlLaw):
    """Inverse dynamics along the reference, with PD gains ``stiffness`` K_p and ``damping`` K_d of each joint.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> def swing(t):
    ...     s, c = np.sin(2.0 * t), np.cos(2.0 * t)
    ...     return np.array([0.5, 1.0]) * s, np.array([1.0, 2.0]) * c, np.array([-2.0, -4.0]) * s
    >>> law = FeedforwardPD.designed(arm, swing, bandwidth=10.0)
    >>> motion = dy.simulate(arm, 2.0, v0=[1.0, 2.0], controller=law, method="rk4", step=1e-3, points=21)
    >>> bool(abs(motion.q[-1] - swing(2.0)[0]).max() < 1e-9)
    True
    """

    reference: Any
    stiffness: Any
    damping: Any
    slip: float | None = 0.05
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stiffness", gain(self.stiffness, "stiffness"))
        object.__setattr__(self, "damping", gain(self.damping, "damping"))
        object.__setattr__(self, "_at", reference_of(self.reference))

    @staticmethod
    def designed(
        robot: Robot, reference: Any, *, bandwidth: Any, damping: Any = 1.0, slip: float | None = 0.05
    ) -> FeedforwardPD:
        """Create the law with gains from bandwidth ω [rad/s] and damping ratio ζ, for the largest inertia of each joint."""
        return FeedforwardPD(reference, *gains(bandwidth, damping, robot), slip)

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        return joint_reference(robot, self._at, t, stiffness=self.stiffness, damping=self.damping)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array) -> Array:
        q_d, v_d, a_d = self.wanted(robot, t)
        ahead = smooth_model(robot).inverse_dynamics(q_d, v_d, a_d) + dry_feedforward(robot, v_d, self.slip)
        return ahead + self.stiffness * (q_d - q) + self.damping * (v_d - v)

    def check(self, robot: Robot, *, rate: float | None = None, duration: float | None = None) -> Stability:
        """Check stability along the reference, up to ``duration`` (default: that of the reference)."""
        end = duration_of(self.reference, duration)
        kp = gain(self.stiffness, "stiffness", robot.n)
        steepest, root = 0.0, np.sqrt(kp)
        for t in np.linspace(0.0, end, 41):
            slope = torque_slope(smooth_model(robot), *(np.asarray(x, dtype=float) for x in self._at(float(t))))
            falling = -0.5 * (slope + slope.T) / np.outer(root, root)
            steepest = max(steepest, float(np.linalg.eigvalsh(falling)[-1]))
        what, margin = "K_p over the negative stiffness of the torque", 1.0 / max(steepest, NEGLIGIBLE)
        why = "K_p exceeds the negative stiffness ∂ID(q, v_d, a_d)/∂q: small errors are restored"
        outweighs = Condition(what, margin > 1.0, margin, 1.0, SEARCHED, why)
        if steepest < NEGLIGIBLE:
            why = "∂ID(q, v_d, a_d)/∂q has no negative stiffness along the reference: small errors are restored"
            outweighs = Condition(what, True, np.nan, np.nan, SEARCHED, why)
        conditions = (
            positive("smallest stiffness K_p", float(kp.min()), "positive stiffness of each joint"),
            damped("damping K_d", self.damping, robot, "positive damping of each joint"),
            outweighs,
        )
        bandwidth = float(np.max(2.0 * np.asarray(self.stiffness) / np.asarray(self.damping)))
        local = "local result for references slow compared to the bandwidth: small errors"
        notes: tuple[str, ...] = (f"{local} decay [Santibáñez & Kelly 2001]",)
        if dry_friction(robot).any():
            held = "dry friction, which the law does not cancel at rest, holds the arm for |K_p e + g(q_d) − g(q)| < F_s"
            left = steady_state(robot.coordinate_names, joint_units(robot), self.error_at_rest(robot))
            notes = (f"{local} stay small [Santibáñez & Kelly 2001]", held, left)
        return Stability("feedforward + PD", (*conditions, *sampled_often_enough(rate, bandwidth)), notes)

    def error_at_rest(self, robot: Robot) -> Array:
        """The largest |e_k| (n), to first order, at which dry friction holds the robot at the end of its reference:
        |(K_p + ∂g/∂q)⁻¹| F_s."""
        q, v, a = self.wanted(robot, resting_time(self.reference) or 0.0)
        K = np.diag(gain(self.stiffness, "stiffness", robot.n)) + torque_slope(smooth_model(robot), q, 0.0 * v, 0.0 * a)
        return np.asarray(np.abs(np.linalg.pinv(K)) @ dry_friction(robot))

    __repr__ = as_call
    _repr_html_ = as_table


def torque_slope(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """∂ID/∂q (n, n) at a state, by central differences."""
    nudges = CENTRAL_DIFFERENCE_STEP * np.eye(robot.n)
    ahead, behind = (robot.inverse_dynamics(q + s * nudges, v, a) for s in (1.0, -1.0))
    return np.asarray((ahead - behind).T / (2.0 * CENTRAL_DIFFERENCE_STEP))
