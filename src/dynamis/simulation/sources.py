"""What pushes the robot: torques and wrenches that are constant, or functions of time and state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import DynamisError, InputError
from dynamis.robot import Robot

Array = npt.NDArray[Any]
Source = Callable[[float, Array, Array], Array]


class SourceError(DynamisError):
    """A user's function raised, or returned what is not a torque; what was simulated so far is kept."""


def torque_source(robot: Robot, torque: Any, controller: Any) -> Source:
    """τ(t, q, v) from a constant or function of time, and a controller of (t, q, v), added up."""
    if controller is not None and not callable(controller):
        raise InputError("controller= takes a function of (t, q, v)")
    pushes = [_source(x, robot.n, name) for name, x in (("torque", torque), ("controller", controller)) if x is not None]

    def total(t: float, q: Array, v: Array) -> Array:
        result = np.zeros(robot.n)
        for push in pushes:
            result = result + push(t, q, v)
        return result

    return total


def wrench_sources(robot: Robot, wrenches: Mapping[str, Any] | None) -> dict[str, Source]:
    """w(t, q, v) on each frame."""
    if wrenches is None:
        return {}
    if not isinstance(wrenches, Mapping):
        raise InputError("wrenches= takes a mapping such as {'tool0': (fx, fy, fz, mx, my, mz)} or to functions of time")
    return {robot.model.frame(frame).name: _source(w, 6, f"wrench on {frame}") for frame, w in wrenches.items()}


def _source(given: Any, size: int, name: str) -> Source:
    if not callable(given):
        constant = np.asarray(given, dtype=float)
        if constant.shape != (size,) or not np.isfinite(constant).all():
            raise InputError(f"{name} must be {size} finite numbers or a function, got {given!r}")
        return lambda _t, _q, _v: constant
    wanted = len(inspect.signature(given).parameters)
    if wanted not in (1, 3):
        raise InputError(f"{name} must be a function of t, or of t, q and v; it takes {wanted} arguments")

    def push(t: float, q: Array, v: Array) -> Array:
        where = f"at t = {t:.6g} s, q = {np.array2string(q, precision=4)}, v = {np.array2string(v, precision=4)}"
        try:
            value = np.asarray(given(t) if wanted == 1 else given(t, q, v), dtype=float)
        except Exception as error:
            raise SourceError(f"{name} raised {type(error).__name__}: {error} {where}") from error
        if value.shape != (size,):
            raise SourceError(f"{name} returned shape {value.shape} in place of ({size},) {where}")
        if not np.isfinite(value).all():
            raise SourceError(f"{name} returned {value} {where}")
        return value

    return push
