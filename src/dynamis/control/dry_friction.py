"""Feedforward compensation of dry friction along the reference, not by the sign of the measured velocity."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.robot import Robot
from dynamis.robot.dry_friction import without_dry_friction
from dynamis.scalar import tanh

Array = npt.NDArray[Any]


def smooth_model(robot: Robot) -> Robot:
    """The robot with viscous friction only, for the feedback of a law."""
    return without_dry_friction(robot)


def dry_friction(robot: Robot) -> Array:
    """The largest static friction torque (n) of each joint over both directions."""
    return np.asarray(np.abs(robot.model.coulomb) + np.abs(robot.model.coulomb_bias), dtype=float)


def dry_feedforward(robot: Robot, v_d: Array, slip: float | None) -> Array:
    """F_s tanh(v_d / slip) plus the bias of friction, along a reference velocity (n)."""
    model = robot.model
    if slip is None or not (np.any(model.coulomb) or np.any(model.coulomb_bias)):
        return np.zeros(robot.n)
    s = tanh(np.asarray(v_d) / slip)
    return np.asarray(model.coulomb * s + model.coulomb_bias * (s * s))
