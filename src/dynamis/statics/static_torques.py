"""Torques in static equilibrium, with their parts, and the principle of virtual work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, flat, short, static_torques_card
from dynamis.kinematics.state_measures import torque_bounds
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_open_loops
from dynamis.statics.convention import STATICS_OF_LOOPS, on_robot, torques_at_rest
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class StaticTorques:
    """Joint torques (…, n) in static equilibrium: ``total`` = ``weight`` + ``load`` + ``spring``.

    ``weight`` is g(q), ``spring`` the torques of the springs of the model; ``load`` is −Jᵀ w of the wrench w that the
    environment exerts, which is Jᵀ F of the wrench F = −w that the robot exerts. ``limits`` are the effort limits of the
    joints, infinite if not stated, and 0 for the unactuated coordinates of a free base.
    """

    names: tuple[str, ...]
    weight: Array
    load: Array
    spring: Array
    limits: Array

    @property
    def total(self) -> Array:
        return self.weight + self.load + self.spring

    @property
    def used(self) -> Array:
        """|torque| / limit of each joint (…, n)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.total == 0.0, 0.0, np.abs(self.total) / self.limits)

    @property
    def possible(self) -> Any:
        """Whether every torque is within its limit (…)."""
        return self._within.all(axis=-1)

    @property
    def beyond_limits(self) -> tuple[str, ...]:
        """The joints whose torque exceeds its limit; of a batch, in any of its states."""
        within = self._within
        of_joints = np.atleast_1d(within.all(axis=tuple(range(within.ndim - 1))))
        return tuple(name for name, ok in zip(self.names, of_joints, strict=True) if not ok)

    @property
    def _within(self) -> Array:
        size = np.abs(self.total)
        rounding = size <= RECURSION_ROUNDING * size.max(axis=-1, keepdims=True, initial=0.0)
        return np.atleast_1d((self.used <= 1.0) | rounding)

    def __repr__(self) -> str:
        share = f"{100.0 * float(np.max(self.used, initial=0.0)):.3g} % of the limit"
        used = share if np.isfinite(self.limits).any() else "no torque limits stated"
        most = f"{float(np.abs(self.total).max(initial=0.0)):.4g} N m or N maximum"
        return f"<StaticTorques of {counted(len(self.names), 'joint')}: {most}, {used}>"

    def _repr_html_(self) -> str:
        return static_torques_card(self)


@dataclass(frozen=True, repr=False)
class VirtualWork:
    """Virtual work [J] of torques, gravity, wrench and springs for a displacement δq; in static equilibrium the sum is zero."""

    torques: Any
    weight: Any
    wrench: Any
    springs: Any

    @property
    def total(self) -> Any:
        return self.torques + self.weight + self.wrench + self.springs

    def __repr__(self) -> str:
        return short(
            f"<VirtualWork: torques {flat(self.torques)}, weight {flat(self.weight)}, wrench {flat(self.wrench)}, "
            f"springs {flat(self.springs)} J>"
        )

    _repr_html_ = as_table


def static_torques(
    robot: Robot, q: Any, wrench: Any = None, frame: str | None = None, *, by: str = "environment", torque_limits: Any = None
) -> StaticTorques:
    """Joint torques in static equilibrium with gravity, springs and a wrench at a frame, with their parts.

    ``wrench`` (…, 6) is (f, μ) in world axes at the frame's origin, or three numbers for a force alone. ``by`` selects the
    sign convention: "environment", exerted on the robot (τ = g − Jᵀ w), or "robot", exerted on the environment
    (τ = g + Jᵀ F) [Tzafestas, slides 3 to 5]. ``torque_limits`` defaults to the robot's effort limits. Leading axes broadcast.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> pushed = dy.statics.static_torques(arm, [0.0, 1.5707963], (0, 10, 0), by="robot")
    >>> pushed.load.round(3).tolist()  # (l_1 c_1 + l_2 c_12, l_2 c_12) times 10 N
    [10.0, 0.0]
    """
    w = on_robot(robot, wrench, by)
    warn_of_open_loops(robot, "its statics", instead=STATICS_OF_LOOPS)
    weight = robot.gravity(q)
    load = -np.einsum("...ij,...i->...j", robot.jacobian(q, frame), w)
    springs = torques_at_rest(robot, q, gravity=False)
    return StaticTorques(robot.coordinate_names, weight, np.asarray(load), springs, torque_bounds(robot, torque_limits))


def virtual_work(
    robot: Robot, q: Any, dq: Any, tau: Any, wrench: Any = None, frame: str | None = None, *, by: str = "environment"
) -> VirtualWork:
    """Virtual work for a displacement δq (n): (J δq)ᵀ w + δqᵀ (τ − g − springs) [Tzafestas, slide 5].

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> tau = dy.statics.static_torques(arm, [0.3, 0.8], (5, 0, 0)).total
    >>> abs(dy.statics.virtual_work(arm, [0.3, 0.8], [1e-3, -2e-3], tau, (5, 0, 0)).total) < 1e-12
    np.True_
    """
    w = on_robot(robot, wrench, by)
    inputs = robot.inputs
    step, torques = inputs.vector(dq, robot.n, "dq"), inputs.vector(tau, robot.n, "tau")
    moved = np.einsum("...ij,...j->...i", robot.jacobian(q, frame), step)
    return VirtualWork(
        torques=(step * torques).sum(axis=-1),
        weight=-(step * robot.gravity(q)).sum(axis=-1),
        wrench=(moved * w).sum(axis=-1),
        springs=-(step * torques_at_rest(robot, q, gravity=False)).sum(axis=-1),
    )
