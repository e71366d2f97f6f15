"""Gravity compensation with a payload, for hand guiding.

τ = g(q) − Jᵀ (weight of the payload) − D v. The payload need not be part of the robot model: its weight m g₀ acts at its
centre of mass, fixed to a frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.gains import gain
from dynamis.control.law import ControlLaw, check_actuated_base, check_gain_lengths
from dynamis.control.pd_gravity import springs
from dynamis.control.stability import PROVEN, Condition, Stability, damped
from dynamis.display import as_call, as_table
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.spatial import Inertia, cross
from dynamis.spatial.inertia import foreign_inertia

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class GravityCompensation(ControlLaw):
    """Gravity compensation of the robot and of a ``payload`` at a ``frame`` (default: the tip), with joint ``damping`` D.

    >>> import dynamis as dy, numpy as np
    >>> arm, load = dy.load("planar_2r_melchiorri"), dy.solids.sphere(0.1, mass=5.0)
    >>> law = GravityCompensation(load)
    >>> q = np.array([0.3, 0.4])
    >>> bool(np.allclose(law(arm, 0.0, q, np.zeros(2)), arm.replace(payload=load).gravity(q)))
    True
    """

    payload: Inertia | None = None
    frame: str | None = None
    damping: Any = 0.0

    def __post_init__(self) -> None:
        if self.payload is not None and not isinstance(self.payload, Inertia):
            found = foreign_inertia(self.payload)
            raise InputError(f"payload= must be a dynamis.Inertia, such as dynamis.solids.sphere(0.1, mass=2), got {found}")
        object.__setattr__(self, "damping", gain(self.damping, "damping", zero=True))

    def wanted(self, robot: Robot, t: Any) -> None:  # noqa: ARG002 - it has no reference
        check_actuated_base(robot)
        check_gain_lengths(robot, damping=self.damping)
        if self.payload is not None and self.frame is not None:
            robot.model.frame(self.frame)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array) -> Array:
        self.wanted(robot, t)
        carried = robot.gravity(q) + springs(robot, q) - self.damping * np.asarray(v)
        return carried if self.payload is None else carried + payload_torque(robot, q, self.payload, self.frame)

    def check(self, robot: Robot, *, rate: float | None = None) -> Stability:  # noqa: ARG002 - it has no bandwidth
        decays = damped("damping D", self.damping, robot, "the motion decays")
        why = "the loop is passive: τ cancels the power of gravity exactly, and D dissipates energy"
        passive = Condition("largest energy input [J]", True, 0.0, 0.0, PROVEN, why, "≤")
        note = "every configuration is an equilibrium; with gravity errors the arm drifts"
        return Stability("gravity compensation", (*((passive,) if decays.found >= 0.0 else ()), decays), (note,))

    __repr__ = as_call
    _repr_html_ = as_table


def payload_torque(robot: Robot, q: Array, payload: Inertia, frame: str | None = None) -> Array:
    """The torques that support a payload fixed to a frame, with its centre of mass in frame coordinates."""
    R = robot.pose(q, frame)[:3, :3]
    weight = payload.mass * robot.model.gravity
    moment = cross(R @ payload.first_moment, robot.model.gravity)
    return np.asarray(-(robot.jacobian(q, frame).T @ np.concatenate([weight, moment])))
