"""PID control of each joint, with an integral that stops where the torque is saturated.

τ = ĝ + K_p (q_d − q) + K_i x + K_d (v_d − v), ẋ = q_d − q, with ĝ = 0, g(q) or g(q_d) [Arimoto & Miyazaki 1984], [Kelly 1995].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.dry_friction import dry_friction
from dynamis.control.gains import gain, gains
from dynamis.control.law import ControlLaw, joint_reference
from dynamis.control.pd_gravity import springs
from dynamis.control.reference import Reference, reference_of, resting_time
from dynamis.control.stability import LOCAL, PROVEN, RULE, Condition, Stability, as_rules, damped, sampled_often_enough
from dynamis.display import as_call, as_table
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.scalar import maximum, minimum, where
from dynamis.tolerances import CENTRAL_DIFFERENCE_STEP

Array = npt.NDArray[Any]
HUNTING = (
    "with dry friction the integral grows while a joint sticks, until it breaks away: around the goal this may go on for ever"
)


@dataclass(frozen=True, eq=False, repr=False)
class PID(ControlLaw):
    """Joint PID with gains ``stiffness`` K_p, ``integral`` K_i and ``damping`` K_d, which needs no model of the robot.

    ``gravity`` is compensated by the integral alone ("none"), or evaluated "here", g(q), or at the "goal", g(q_d), with the
    springs of the joints. Where the torque of a joint is beyond its ``torque_limits``, it is cut, and its integral does not
    grow further (anti-windup). The states x are the integrals of the errors.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> law = PID.designed(arm, [0.5, -0.5], bandwidth=10.0)
    >>> motion = dy.simulate(arm, 6.0, controller=law, method="rk4", step=1e-3, points=61)
    >>> bool(abs(motion.q[-1] - [0.5, -0.5]).max() < 1e-3)
    True
    """

    reference: Any
    stiffness: Any
    integral: Any
    damping: Any
    gravity: str = "none"
    torque_limits: Any = np.inf
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.gravity not in ("none", "here", "goal"):
            raise InputError(f"gravity={self.gravity!r} is unknown; choose 'none', 'here' for g(q), or 'goal' for g(q_d)")
        for name in ("stiffness", "integral", "damping"):
            object.__setattr__(self, name, gain(getattr(self, name), name))
        try:
            limits = np.asarray(self.torque_limits, dtype=float)
        except (TypeError, ValueError):
            limits = np.zeros(1)
        if limits.ndim > 1 or not (limits > 0.0).all():
            raise InputError(f"torque_limits must be positive, one number or one per joint, got {self.torque_limits!r}")
        object.__setattr__(self, "torque_limits", limits)
        object.__setattr__(self, "_at", reference_of(self.reference))

    @staticmethod
    def designed(
        robot: Robot, reference: Any, *, bandwidth: Any, damping: Any = 1.0, integral: Any = 0.2, gravity: str = "none",
        torque_limits: Any = None,
    ) -> PID:  # fmt: skip
        """Create the law with gains from bandwidth ω [rad/s] and damping ratio ζ, for the largest inertia of each joint.

        K_i = ``integral`` ω K_p; for that inertia the loop is stable below 2 ζ. ``torque_limits`` are those of the robot.
        """
        kp, kd = gains(bandwidth, damping, robot)
        ki = gain(integral, "integral") * gain(bandwidth, "bandwidth") * kp
        return PID(reference, kp, ki, kd, gravity, robot.limits["effort"] if torque_limits is None else torque_limits)

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of joints."""
        return len(self._at(0.0)[0])

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        own = {"stiffness": self.stiffness, "integral": self.integral, "damping": self.damping}
        return joint_reference(robot, self._at, t, **own, torque_limits=self.torque_limits)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array, x: Array) -> Array:
        tau = self._uncut(robot, t, q, v, x)
        limits = np.broadcast_to(self.torque_limits, (robot.n,))
        return np.array([minimum(maximum(u, -m), m) if np.isfinite(m) else u for u, m in zip(tau, limits, strict=True)])

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array) -> Array:
        """The errors; zero where the torque is beyond its limit and the error would drive it further."""
        e, tau = self.wanted(robot, t)[0] - np.asarray(q), self._uncut(robot, t, q, v, x)
        limits = np.broadcast_to(self.torque_limits, (robot.n,))
        return np.array([_held(*each) if np.isfinite(each[2]) else each[0] for each in zip(e, tau, limits, strict=True)])

    def _uncut(self, robot: Robot, t: Any, q: Array, v: Array, x: Array) -> Array:
        q_d, v_d, _ = self.wanted(robot, t)
        tau = self.stiffness * (q_d - q) + self.integral * np.asarray(x) + self.damping * (v_d - np.asarray(v))
        if self.gravity == "none":
            return np.asarray(tau)
        return np.asarray(tau + robot.gravity(q_d if self.gravity == "goal" else q) + springs(robot, q))

    def check(self, robot: Robot, *, rate: float | None = None, model: Robot | None = None) -> Stability:
        """Check the eigenvalues of the loop linearised at the goal, or at the end of the reference: small errors decay.

        ``model`` is the one whose gravity and springs the law compensates, by default the robot.
        """
        t = resting_time(self.reference)
        q_d = self.wanted(robot, 0.0 if t is None else t)[0]
        decay = self._decay(robot, robot if model is None else model, q_d)
        dry = bool(dry_friction(robot).any())
        of_a_goal = t is not None and not dry  # otherwise nothing is proven, neither decay nor growth
        why = "small errors decay at the goal; large ones where K_i is small enough [Arimoto & Miyazaki 1984]"
        conditions = [damped("damping K_d", self.damping, robot, "energy is dissipated")]
        if t is not None and np.isfinite(self.torque_limits).any():
            share = float((np.abs(robot.static_torque(q_d)) / self.torque_limits).max())
            what, holds = "torques that hold the goal over the torque limits", "the law can hold the robot at the goal"
            conditions.append(Condition(what, share < 1.0, share, 1.0, PROVEN, holds, "<"))
        basis = LOCAL if of_a_goal else RULE
        conditions.append(Condition("decay rate at the goal, −max Re s [1/s]", decay > 0.0, decay, 0.0, basis, why))
        bandwidth = float(np.max(2.0 * np.asarray(self.stiffness) / np.asarray(self.damping)))
        conditions += sampled_often_enough(rate, bandwidth)
        report = Stability("PID", tuple(conditions), ("the tracking error grows with the jerk of the reference",))
        if t is None:
            return as_rules(report, "the reference does not come to rest: the theorem is that of a constant goal")
        return as_rules(report, HUNTING) if dry else report

    def _decay(self, robot: Robot, model: Robot, q: Array) -> float:
        """−max Re s of det(s³ M + s² (K_d + F_v) + s (K_p + ∂g/∂q) + K_i) = 0 at rest at q."""
        n = robot.n
        minv, none, one = np.linalg.inv(robot.mass_matrix(q)), np.zeros((n, n)), np.eye(n)
        K = np.diag(gain(self.stiffness, "stiffness", n)) + self._slope(robot, model, q)
        D = np.diag(np.broadcast_to(self.damping, (n,)) + robot.model.viscous)
        integral = np.diag(gain(self.integral, "integral", n))
        loop = np.block([[none, one, none], [-minv @ K, -minv @ D, minv @ integral], [-one, none, none]])
        return -float(np.linalg.eigvals(loop).real.max())

    def _slope(self, robot: Robot, model: Robot, q: Array) -> Array:
        """∂(g + springs)/∂q (n, n) without what the law compensates."""
        nudges = CENTRAL_DIFFERENCE_STEP * np.eye(robot.n)

        def left(at: Array) -> Array:
            torque = robot.static_torque(at)
            if self.gravity == "here":
                torque = torque - model.static_torque(at)
            return np.asarray(torque - springs(model, at) if self.gravity == "goal" else torque)

        return np.asarray((left(q + nudges) - left(q - nudges)).T / (2.0 * CENTRAL_DIFFERENCE_STEP))

    def error_at_rest(self, robot: Robot) -> Array:
        """The steady-state error (n): zero. With dry friction joints may stick on the way, until the integral moves them."""
        return np.zeros(robot.n)

    __repr__ = as_call
    _repr_html_ = as_table


def _held(e: Any, tau: Any, limit: float) -> Any:
    return where(tau > limit, minimum(e, 0.0), where(tau < -limit, maximum(e, 0.0), e))
