"""PD control with gravity compensation.

τ = ĝ + K_p (q_d − q) + K_d (v_d − v), with ĝ = g(q) or g(q_d) [Takegaki & Arimoto 1981], [Siciliano 2009, §8.5.1].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.dry_friction import dry_friction, joint_units, steady_state
from dynamis.control.gains import gain, gains, largest_gravity
from dynamis.control.law import ControlLaw, joint_reference
from dynamis.control.reference import Reference, reference_of
from dynamis.control.stability import Condition, Stability, damped, outweighs, positive, sampled_often_enough
from dynamis.control.structural_constants import gravity_slope
from dynamis.display import as_call, as_table
from dynamis.errors import InputError, printable
from dynamis.robot import Robot
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class PDGravity(ControlLaw):
    """Joint PD with gains ``stiffness`` K_p and ``damping`` K_d, and gravity compensation.

    ``gravity`` is evaluated "here", g(q), or at the "goal", g(q_d), which requires K_p above −∂g/∂q. Joint
    springs of the robot are compensated too, always at the measured position.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> law = PDGravity.designed(arm, [0.5, -0.5], bandwidth=8.0)
    >>> motion = dy.simulate(arm, 2.0, controller=law, method="rk4", step=1e-3, points=21)
    >>> bool(abs(motion.q[-1] - [0.5, -0.5]).max() < 1e-3)
    True
    """

    reference: Any
    stiffness: Any
    damping: Any
    gravity: str = "here"
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.gravity not in ("here", "goal"):
            raise InputError(f"gravity={self.gravity!r} is unknown; choose 'here' for g(q), or 'goal' for g(q_d)")
        object.__setattr__(self, "stiffness", gain(self.stiffness, "stiffness"))
        object.__setattr__(self, "damping", gain(self.damping, "damping"))
        object.__setattr__(self, "_at", reference_of(self.reference))

    @staticmethod
    def designed(robot: Robot, reference: Any, *, bandwidth: Any, damping: Any = 1.0, gravity: str = "here") -> PDGravity:
        """Create the law with gains from bandwidth ω [rad/s] and damping ratio ζ, for the largest inertia of each joint."""
        return PDGravity(reference, *gains(bandwidth, damping, robot), gravity)

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        return joint_reference(robot, self._at, t, stiffness=self.stiffness, damping=self.damping)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array) -> Array:
        q_d, v_d, _ = self.wanted(robot, t)
        carried = robot.gravity(q_d if self.gravity == "goal" else q)
        return carried + springs(robot, q) + self.stiffness * (q_d - q) + self.damping * (v_d - np.asarray(v))

    def check(self, robot: Robot, *, rate: float | None = None, error: float = 0.0) -> Stability:
        """Check stability for a constant goal. ``error`` is the relative error of gravity, such as 0.05.

        Dry friction and gravity errors cause a steady-state error, which a note gives for each joint.
        """
        kp = float(gain(self.stiffness, "stiffness", robot.n).min())
        conditions = [
            positive("smallest stiffness K_p", kp, "the Lyapunov function has its minimum at the goal"),
            damped("damping K_d", self.damping, robot, "energy is dissipated until the robot is at rest"),
        ]
        if self.gravity == "goal" or error:
            conditions.append(self._stiffer_than_gravity(robot, float(error)))
        bandwidth = float(np.max(2.0 * np.asarray(self.stiffness) / np.asarray(self.damping)))
        moving = "the tracking error grows with the acceleration of the reference"
        notes = (*self._at_rest(robot, float(error)), moving)
        return Stability("PD + gravity", (*conditions, *sampled_often_enough(rate, bandwidth)), notes)

    def _stiffer_than_gravity(self, robot: Robot, error: float) -> Condition:
        """K_p + ∂g/∂q is positive definite with gravity at the goal, and K_p ± δ ∂g/∂q with its error δ: a convex potential."""
        goal = self.gravity == "goal"
        slope = gravity_slope(robot, np.sqrt(gain(self.stiffness, "stiffness", robot.n)), both=not goal)
        what = "K_p over the largest −∂g/∂q" if goal else f"K_p over {error:g} times the largest ±∂g/∂q"
        assert slope.at is not None
        at = np.where(np.abs(slope.at) > FILE_PRECISION, slope.at, 0.0)
        pose = ", ".join(f"{printable(name)} = {q:.4g}" for name, q in zip(robot.coordinate_names, at, strict=True))
        sum_ = "K_p + ∂g/∂q" if goal else f"K_p ± {error:g} ∂g/∂q"
        return outweighs(
            what, slope, 1.0 if goal else error, "the equilibrium is unique and globally attractive [Tomei 1991]",
            f"{sum_} is not positive definite at {pose}: an equilibrium there is unstable",
        )  # fmt: skip

    def _at_rest(self, robot: Robot, error: float) -> tuple[str, ...]:
        """Message on convergence to a constant goal."""
        dry, left = dry_friction(robot), self.error_at_rest(robot, error)
        if not left.any():
            return ("if all conditions hold, the goal is globally asymptotically stable",)
        stuck = "dry friction holds the arm for |K_p e| < F_s" if dry.any() else ""
        off = (
            f"a gravity error of {100.0 * error:g} % moves the equilibrium by δg/K_p (largest |g| of sampled configurations)"
            if error
            else ""
        )
        why = " and ".join(x for x in (stuck, off) if x)
        return (f"the arm comes to rest near the goal: {why}", steady_state(robot.coordinate_names, joint_units(robot), left))

    def error_at_rest(self, robot: Robot, error: float = 0.0) -> Array:
        """The largest steady-state error |e_k| (n): (F_s + δ |g|)/K_p, with ``error`` δ the relative error of gravity.

        The largest |g_k| are those found over sampled configurations. With gravity at the goal, ‖√K_p e‖ is bounded by
        ‖(F_s + δ |g|)/√K_p‖/(1 − α), where α is the largest −∂g/∂q over K_p; infinite where α < 1 is not proven.
        """
        kp = gain(self.stiffness, "stiffness", robot.n)
        held = dry_friction(robot)
        if error:
            held = held + error * largest_gravity(robot)
        if self.gravity == "here" or not held.any():
            return np.asarray(held / kp)
        root = np.sqrt(kp)
        slope = gravity_slope(robot, root).safe
        return np.asarray(
            np.linalg.norm(held / root) / root / (1.0 - max(slope, 0.0)) if slope < 1.0 else np.full(robot.n, np.inf)
        )

    __repr__ = as_call
    _repr_html_ = as_table


def springs(robot: Robot, q: Array) -> Array:
    """The torques that compensate the joint springs (…, n); zero for joints without springs or with quaternions."""
    model = robot.model
    if not np.any(model.stiffness):
        return np.zeros(robot.n)
    places = [c.q_index for c in model.coordinates]
    stiffness = np.where([k is None for k in places], 0.0, model.stiffness)
    return np.asarray(stiffness * (np.asarray(q)[..., [k or 0 for k in places]] - model.rest))
