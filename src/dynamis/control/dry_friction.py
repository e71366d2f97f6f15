"""Feedforward compensation of dry friction along the reference, not by the sign of the measured velocity."""

from __future__ import annotations

from collections.abc import Iterable
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


def steady_state(names: Iterable[str], units: Iterable[str], error: Array) -> str:
    """A sentence on the largest steady-state errors of these coordinates."""
    each = ", ".join(f"{name} {x:.3g} {unit}".rstrip() for name, x, unit in zip(names, error, units, strict=True))
    return f"steady-state error up to {each}"


def bounded_by_dry_friction(
    robot: Robot, torque: str, names: Iterable[str], units: Iterable[str], error: Array
) -> tuple[str, tuple[str, ...]]:
    """How errors with ë + k_d ė + k_p e = 0 end, and notes on dry friction: a bounded torque, not cancelled at rest."""
    if not dry_friction(robot).any():
        return "e → 0 exponentially for an exact model", ()
    held = f"the law does not cancel dry friction at rest, which holds the robot for {torque} < F_s"
    return "e stays bounded for an exact model, by dry friction", (held, steady_state(names, units, error))


def joint_units(robot: Robot) -> list[str]:
    return ["rad" if c.revolute else "m" for c in robot.model.coordinates]


def dry_feedforward(robot: Robot, v_d: Array, slip: float | None) -> Array:
    """F_s tanh(v_d / slip) plus the bias of friction, along a reference velocity (n)."""
    model = robot.model
    if slip is None or not (np.any(model.coulomb) or np.any(model.coulomb_bias)):
        return np.zeros(robot.n)
    s = tanh(np.asarray(v_d) / slip)
    return np.asarray(model.coulomb * s + model.coulomb_bias * (s * s))
