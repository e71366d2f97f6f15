"""Robots without dry friction, or with a smooth one: dry friction jumps at zero velocity, where it has no derivative."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.robot.base import RobotBase

Array = npt.NDArray[Any]

# made once for each robot, as its compiled functions come with it
_without: weakref.WeakKeyDictionary[RobotBase, Any] = weakref.WeakKeyDictionary()


def without_dry_friction(robot: Any) -> Any:
    """The same robot with viscous friction only."""
    if not robot.evaluator.dry:
        return robot
    if robot not in _without:
        joints = [j.name for j in robot.description.joints if j.type != "fixed"]
        _without[robot] = robot.replace(friction={name: {"coulomb": 0.0, "coulomb_bias": 0.0} for name in joints})
    return _without[robot]


class _Slopes(NamedTuple):
    """∂a/∂q, ∂a/∂v and ∂a/∂τ."""

    dq: Array
    dv: Array
    dtau: Array


class SmoothedRobot:
    """The forward dynamics of a robot, with coulomb_bias + coulomb · tanh(v / width) in place of its dry friction."""

    def __init__(self, robot: Any, width: Any) -> None:
        if isinstance(width, bool) or not isinstance(width, int | float | np.number) or not 0.0 < width < np.inf:
            raise InputError(f"friction_velocity must be a positive velocity in rad/s or m/s, got {width!r}")
        self.robot, self.width, self.smooth = robot, float(width), without_dry_friction(robot)

    def friction(self, v: Array) -> Array:
        model = self.robot.model
        return np.asarray(model.coulomb_bias + model.coulomb * np.tanh(v / self.width))

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        return np.asarray(self.smooth.inverse_dynamics(q, v, a) + self.friction(v))

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        return np.asarray(self.smooth.forward_dynamics(q, v, tau - self.friction(v)))

    def forward_dynamics_derivatives(self, q: Array, v: Array, tau: Array) -> _Slopes:
        found = self.smooth.forward_dynamics_derivatives(q, v, tau - self.friction(v))
        slope = self.robot.model.coulomb / self.width * (1.0 - np.tanh(v / self.width) ** 2)
        return _Slopes(found.dq, found.dv - found.dtau * slope[..., None, :], found.dtau)
