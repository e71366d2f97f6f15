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
    """A user's function raised, or returned what is no torque, or made the motion infinite; what came before is kept."""


def torque_source(robot: Robot, torque: Any, controller: Any, stops: Any = None) -> Source:
    """τ(t, q, v) from a constant or function of time, a controller of (t, q, v), and the stops of the joints, added up."""
    if controller is not None and not callable(controller):
        raise InputError("controller= takes a function of (t, q, v)")
    given = (("torque", torque), ("controller", controller), ("stops", stops))
    pushes = [_source(x, robot.n, name) for name, x in given if x is not None]

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
        try:
            constant = np.array(given, dtype=float)
        except (TypeError, ValueError):
            constant = np.zeros(0)
        if constant.shape != (size,) or not np.isfinite(constant).all():
            raise InputError(f"{name} must be {size} finite numbers or a function, got {given!r}")
        return lambda _t, _q, _v: constant
    wanted = _arguments(given)
    if wanted not in (1, 3):
        raise InputError(f"{name} must be a function of t, or of t, q and v; it takes {wanted} arguments")

    return checked_push(given, size, name, wanted)


def checked_push(given: Callable[..., Any], size: int, name: str, wanted: int = 3) -> Source:
    """A user's function of t (or of t, q and v) whose failures say when and where."""

    def push(t: float, q: Array, v: Array) -> Array:
        try:
            # copies: a function that works in place must not reach the state
            value = np.array(given(t) if wanted == 1 else given(t, q.copy(), v.copy()), dtype=float)
        except Exception as error:
            raise SourceError(f"{name} raised {type(error).__name__}: {error} {_where(t, q, v)}") from error
        if value.shape != (size,):
            raise SourceError(f"{name} returned shape {value.shape} in place of ({size},) {_where(t, q, v)}")
        if not np.isfinite(value).all():
            raise SourceError(f"{name} returned {value} {_where(t, q, v)}")
        return value

    return push


def _where(t: float, q: Array, v: Array) -> str:
    return f"at t = {t:.6g} s, q = {np.array2string(q, precision=4)}, v = {np.array2string(v, precision=4)}"


def _arguments(given: Callable[..., Any]) -> int:
    """How many arguments a function must be given; those with a default are its own business."""
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        return 1  # some built-in functions do not say; of those, the ones of time are worth a try
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 3
    return sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in parameters)
