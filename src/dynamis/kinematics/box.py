"""The box of configurations of an analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.model.joints import Revolute
from dynamis.model.model import Model
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric

Array = npt.NDArray[Any]

MAX_MAGNITUDE = 1e6  # m or rad: sines of larger angles have few correct digits


def check_robot(robot: Any) -> None:
    """Reject robots with symbolic parameters or with q̇ ≠ v."""
    check_numeric(robot)
    model = robot.model
    if not model.n:
        raise InputError(f"robot {printable(robot.name)} has no moving joints")
    for c in model.coordinates:
        if c.q_index is None:
            raise InputError(
                f"joint {printable(c.joint)} of robot {printable(robot.name)} has a quaternion coordinate; this analysis "
                "requires joints with one coordinate per degree of freedom, on a fixed base"
            )


def box_of(robot: Robot, lower: Any, upper: Any) -> tuple[Array, Array]:
    """The ends of the box (n,): as given, else the joint limits, else one turn for revolute joints, else infinite."""
    limits = robot.limits
    turns = np.array([c.revolute for c in robot.model.coordinates])
    unlimited = np.where(turns, np.pi, np.inf)
    low = np.where(np.isfinite(limits["lower"]), limits["lower"], -unlimited)
    high = np.where(np.isfinite(limits["upper"]), limits["upper"], unlimited)
    if lower is not None:
        low = _ends(robot, lower, "lower")
    if upper is not None:
        high = _ends(robot, upper, "upper")
    names = [printable(name) for name in robot.coordinate_names]
    for k in np.flatnonzero(low > high):
        raise InputError(f"the box is empty: lower {low[k]:g} > upper {high[k]:g} for {names[k]}")
    for end in (low, high):
        for k in np.flatnonzero(np.isfinite(end) & (np.abs(end) > MAX_MAGNITUDE)):
            raise InputError(f"the box extends to {end[k]:g} for {names[k]}; the largest magnitude is {MAX_MAGNITUDE:g}")
    return low, high


def _ends(robot: Robot, value: Any, name: str) -> Array:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must be {counted(robot.n, 'number')}, one per coordinate, or one for all, got {value!r}"
        ) from None
    if array.shape not in ((), (robot.n,)):
        names = ", ".join(map(printable, robot.coordinate_names[:8]))
        raise InputError(f"{name} has shape {array.shape}; it must have {counted(robot.n, 'number')} ({names}), or one for all")
    if np.isnan(array).any():
        raise InputError(f"{name} contains nan; every entry must be a number")
    return np.broadcast_to(array, (robot.n,)).copy()


def refuse_unlimited(robot: Robot, used: list[int], low: Array, high: Array) -> None:
    """Reject boxes that are unbounded in a coordinate on which the bounds depend."""
    names = [printable(robot.coordinate_names[k]) for k in used if not np.isfinite([low[k], high[k]]).all()]
    if names:
        raise InputError(
            f"{', '.join(names)} of robot {printable(robot.name)} has no limits, and the bounds depend on it; "
            "give lower= and upper=, with one number per coordinate"
        )


def one_turn(model: Model, low: Array, high: Array) -> tuple[Array, Array]:
    """The box with at most one turn for each periodic joint."""
    low, high = low.copy(), high.copy()
    for k in np.flatnonzero(high - low > 2.0 * np.pi):
        bodies = [b for _, b in model.moving if int(k) in b.dof and not b.is_rotor]
        if all(isinstance(b.motion, Revolute) and float(b.ratio).is_integer() for b in bodies):
            middle = 0.5 * (low[k] + high[k]) if np.isfinite(low[k] + high[k]) else 0.0
            low[k], high[k] = middle - np.pi, middle + np.pi
    return low, high
