"""PD with gravity compensation: a spring and a damper at each joint, and the weight carried.

τ = ĝ + K_p (q_d − q) + K_d (v_d − v), with ĝ = g(q) or g(q_d) [Takegaki & Arimoto 1981], [Siciliano 2009, §8.5.1].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.dry_friction import dry_friction
from dynamis.control.gains import gain, pd_gains
from dynamis.control.law import Controller, check_plain_joints
from dynamis.control.reference import Reference, check_length, reference_of
from dynamis.control.stability import Stability, outweighs, positive, sampled_often_enough
from dynamis.control.structure import gravity_slope
from dynamis.display import as_call, as_table
from dynamis.errors import InputError
from dynamis.robot import Robot

Array = npt.NDArray[Any]
LOOKED_AT = 512  # configurations


@dataclass(frozen=True, eq=False, repr=False)
class PDGravity(Controller):
    """A spring of ``stiffness`` K_p and a damper of ``damping`` K_d at each joint, and the weight.

    ``gravity`` is that of "here", g(q), or of the "goal", g(q_d), which needs springs stiffer than gravity can turn over. The
    joints' own springs, where the robot has some, are carried too.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> law = PDGravity.designed(arm, [0.5, -0.5], bandwidth=8.0)
    >>> motion = dy.simulate(arm, 2.0, controller=law.on(arm), method="rk4", step=1e-3, points=21)
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
            raise InputError(f"gravity={self.gravity!r} is not known; choose 'here' for g(q), or 'goal' for g(q_d)")
        object.__setattr__(self, "stiffness", gain(self.stiffness, "stiffness"))
        object.__setattr__(self, "damping", gain(self.damping, "damping"))
        object.__setattr__(self, "_at", reference_of(self.reference))

    @staticmethod
    def designed(robot: Robot, reference: Any, *, bandwidth: Any, damping: Any = 1.0, gravity: str = "here") -> PDGravity:
        """With gains from the bandwidth ω [rad/s] and damping ratio ζ, for the inertia that each joint sees at most."""
        return PDGravity(reference, *pd_gains(robot, bandwidth, damping), gravity)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array) -> Array:
        check_plain_joints(robot)
        q_d, v_d, _ = self._at(t)
        check_length(q_d, robot.n, "the reference")
        carried = robot.gravity(q_d if self.gravity == "goal" else q)
        return carried + springs(robot, q) + self.stiffness * (q_d - q) + self.damping * (v_d - np.asarray(v))

    def check(self, robot: Robot, *, rate: float | None = None, error: float = 0.0) -> Stability:
        """For a goal at rest. ``error`` is the share of gravity that is not known, such as 0.05.

        Dry friction and unknown gravity leave an error at rest, which a note states for each joint.
        """
        kp = float(gain(self.stiffness, "stiffness", robot.n).min())
        kd = float(gain(self.damping, "damping", robot.n).min())
        unknown = 1.0 if self.gravity == "goal" else float(error)
        conditions = [
            positive("least stiffness K_p", kp, "what is known of the energy is least at the goal"),
            positive("least damping K_d", kd, "energy leaves until the robot rests"),
        ]
        if unknown:
            slope = gravity_slope(robot, np.sqrt(gain(self.stiffness, "stiffness", robot.n)))
            what = "K_p over the slope of gravity" if unknown == 1.0 else f"K_p over {unknown:g} of the slope of gravity"
            conditions.append(outweighs(what, slope, unknown, "there is one equilibrium, and it attracts [Tomei 1991]"))
        bandwidth = float(np.max(2.0 * np.asarray(self.stiffness) / np.asarray(self.damping)))
        moving = "a moving reference is followed with an error that grows with its acceleration"
        notes = (*self._at_rest(robot, float(error)), moving)
        return Stability("PD + gravity", (*conditions, *sampled_often_enough(rate, bandwidth)), notes)

    def _at_rest(self, robot: Robot, error: float) -> tuple[str, ...]:
        """What is promised of a goal, in words."""
        dry, left = dry_friction(robot), self.error_at_rest(robot, error)
        if not left.any():
            return ("a goal is reached from everywhere",)
        stuck = "dry friction holds the arm where |K_p e| < F_s" if dry.any() else ""
        off = f"{error:g} of gravity moves the equilibrium by δg/K_p (g by search)" if error else ""
        each = ", ".join(
            f"{name} {x:.3g} {'rad' if c.revolute else 'm'}"
            for name, c, x in zip(robot.coordinate_names, robot.model.coordinates, left, strict=True)
        )
        why = " and ".join(x for x in (stuck, off) if x)
        return (f"the arm comes to rest near the goal, not at it: {why}", f"it rests within {each}")

    def error_at_rest(self, robot: Robot, error: float = 0.0) -> Array:
        """|e_k| (n) at which the arm may rest: (F_s + δ |g|)/K_p, with ``error`` δ the share of gravity that is not known.

        The largest |g_k| are those found among many configurations. With the gravity of the goal, which does not follow the
        arm, it is more by 1/(1 − α), where α is the slope of gravity over K_p; infinite where that is not below one.
        """
        kp = gain(self.stiffness, "stiffness", robot.n)
        held = dry_friction(robot)
        if error:
            held = held + error * largest_gravity(robot)
        if self.gravity == "here" or not held.any():
            return np.asarray(held / kp)
        root = np.sqrt(kp)
        slope = gravity_slope(robot, root).safe
        return np.asarray((held / root).max() / root / (1.0 - slope) if slope < 1.0 else np.full(robot.n, np.inf))

    __repr__ = as_call
    _repr_html_ = as_table


def largest_gravity(robot: Robot) -> Array:
    """The largest |g_k| (n) that was found among many configurations within the limits."""
    q = np.vstack([robot.neutral()[None], robot.random(0, LOOKED_AT)])
    return np.asarray(np.abs(robot.gravity(q)).max(axis=0))


def springs(robot: Robot, q: Array) -> Array:
    """The torques that hold the joints' own springs (…, n); zero for most robots, and where a coordinate is no number of q."""
    model = robot.model
    if not np.any(model.stiffness):
        return np.zeros(robot.n)
    places = [c.q_index for c in model.coordinates]
    stiffness = np.where([k is None for k in places], 0.0, model.stiffness)
    return np.asarray(stiffness * (np.asarray(q)[..., [k or 0 for k in places]] - model.rest))
