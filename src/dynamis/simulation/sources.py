"""Applied torques and wrenches, constant or functions of time and state.

A wrench is in world axes at the origin of its frame, unless given as a `Push`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import DynamisError, InputError, ModelWarning, literal
from dynamis.robot import Robot
from dynamis.robot.inputs import WRENCH_PARTS
from dynamis.scalar import FunctionState
from dynamis.simulation.contact import Contact, ContactGroup, grouped
from dynamis.spatial.checks import shape_of

Array = npt.NDArray[Any]
Source = Callable[[float, Array, Array], Array]
HAS_A_STATE = (
    "it has a state of its own, such as an integral, a mode or a random generator, and integration calls it several times per "
    "step. Sample it, controller=dynamis.Sampled(function, rate=1000.0), or integrate its states, dynamis.Controller"
)


@dataclass(frozen=True)
class Command:
    """The commanded torques τ(t, q, v, x) of one robot, and the internal states x (size) of its controller."""

    torque: Callable[[Any, Array, Array, Array], Array]
    size: int = 0
    start: Callable[[Array, Array], Array] | None = None
    rates: Callable[[Any, Array, Array, Array], Array] | None = None

    @staticmethod
    def of(source: Source) -> Command:
        """Torques without internal states."""
        return Command(lambda t, q, v, _x: source(t, q, v))


def warn_of_states(state: FunctionState) -> None:
    """Warn once of a controller that changed its variables: trial steps of the integration have changed them too."""
    known = bool(state.seen)
    state.look()
    if not known and state.seen:
        text = (
            f"the controller changed its variable {state.seen[0]!r} during the motion. If its torques depend on it, the motion "
            f"is inaccurate: {HAS_A_STATE}"
        )
        warnings.warn(text, ModelWarning, stacklevel=4)


class SourceError(DynamisError):
    """A user function raised an exception, returned an invalid value, or made the motion diverge; the motion so far is kept."""


class EndOfMotionError(SourceError):
    """The motion is undetermined from here on; shorter steps do not help."""


class DivergedError(SourceError):
    """A velocity is beyond what any machine has."""


@dataclass(frozen=True, repr=False)
class Push:
    """A wrench (fx, fy, fz, mx, my, mz) with given axes and point of application.

    ``wrench`` is constant, or a function of t or of (t, q, v). ``axes`` is "world" or "local" (those of the frame).
    ``point``, in frame coordinates, is the point of application of the force and the reference point of the moment.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> tip = arm.link_names[-1]
    >>> wind = Push((0, 5, 0, 0, 0, 0), axes="local", point=(0.1, 0, 0))
    >>> wind.at(arm, tip)(0.0, arm.neutral(), None)
    array([0. , 5. , 0. , 0. , 0. , 0.5])
    """

    wrench: Any
    axes: str = "world"
    point: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.axes not in ("world", "local"):
            raise InputError(f"axes={self.axes!r} is unknown; choose 'world' or 'local'")
        object.__setattr__(self, "point", tuple(_numbers(self.point, 3, "the point of a push, in the frame's own axes,")))
        if callable(self.wrench):
            wanted_arguments(self.wrench, "the wrench of a push")
        else:
            object.__setattr__(self, "wrench", tuple(_numbers(self.wrench, 6, "the wrench of a push")))

    def at(self, robot: Robot, frame: str | None) -> Pushed:
        """w(t, q, v) in world axes at the origin of the frame."""
        return Pushed(robot, robot.model.frame(frame, "wrenches={frame: push}").name, (self,))

    def given(self, t: Any, q: Array, v: Array) -> Array:
        if not callable(self.wrench):
            return np.array(self.wrench)
        return np.asarray(self.wrench(t) if _arguments(self.wrench) == 1 else self.wrench(t, q, v))

    def moved(self, R: Array, w: Array) -> Array:
        """R is the orientation of the frame."""
        if w.shape != (6,):
            raise InputError(f"a push has shape {w.shape} instead of (6,)")
        force, moment = w[:3], w[3:]
        if self.axes == "local":
            force, moment = R @ force, R @ moment
        if any(self.point):
            moment = moment + np.cross(R @ np.array(self.point), force)
        return np.concatenate([force, moment])

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True)
class Pushed:
    """The sum of all pushes on one frame, as a traceable function of (t, q, v)."""

    robot: Robot
    frame: str
    pushes: tuple[Any, ...]

    @property
    def traceable(self) -> bool:
        """Whether it contains no user function."""
        return all(not callable(p.wrench) or getattr(p.wrench, "traceable", False) for p in self.pushes)

    def __call__(self, t: Any, q: Array, v: Array) -> Array:
        total: Any = 0.0
        turned = any(p.axes == "local" or any(p.point) for p in self.pushes)
        R = self.robot.pose(q, self.frame)[:3, :3] if turned else np.eye(3)
        for push in self.pushes:
            total = total + push.moved(R, push.given(t, q, v))
        return np.asarray(total)


def torque_source(robot: Robot, torque: Any, controller: Any, stops: Any = None) -> Source:
    """τ(t, q, v): the sum of a constant or function of time, a controller of (t, q, v), and the joint stops."""
    given = (("torque", torque), ("controller", controller), ("stops", stops))
    pushes = [source(x, robot.n, name) for name, x in given if x is not None]

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
        raise InputError(
            "wrenches= must map frames to wrenches or functions of time, such as {'tool0': (fx, fy, fz, mx, my, mz)}"
        )
    return {frame: source(w, 6, f"wrench on {frame}") for frame, w in plain_wrenches(robot, wrenches).items()}


def plain_wrenches(robot: Robot, wrenches: Mapping[str, Any] | None) -> dict[str, Any]:
    """The wrench on each frame as numbers or one function, in world axes at its origin; pushes converted, lists summed."""
    plain: dict[str, Any] = {}
    for frame, wrench in (wrenches or {}).items():
        given, name = grouped(wrench), robot.model.frame(frame, "wrenches={frame: wrench}").name
        if name in plain:
            raise InputError(f"wrenches= has the frame {name!r} twice: give a list for one frame")
        if isinstance(given, Contact | ContactGroup) and given.frame != name:
            raise InputError(
                f"wrenches= has a contact of the frame {given.frame!r} under {name!r}: give it under {given.frame!r}"
            )
        several = isinstance(given, list | tuple) and any(isinstance(x, Push) or callable(x) for x in given)
        if several or isinstance(given, Push):
            each = given if several else [given]
            plain[name] = Pushed(robot, name, tuple(x if isinstance(x, Push) else Push(x) for x in each))
        else:
            plain[name] = given
    return plain


def source(given: Any, size: int, name: str) -> Source:
    """A constant or a function as a validated function of (t, q, v)."""
    if not callable(given):
        constant = _numbers(given, size, name, " or a function")
        return lambda _t, _q, _v: constant
    return checked_push(given, size, name, wanted_arguments(given, name))


def _numbers(given: Any, size: int, name: str, otherwise: str = "") -> Array:
    try:
        numbers = np.array(given, dtype=float)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape != (size,) or not np.isfinite(numbers).all():
        parts = f" {WRENCH_PARTS}" if name.startswith("wrench on ") else ""
        found = literal(given) if numbers.ndim < 2 else f"an array of shape {numbers.shape}"
        if otherwise and numbers.ndim == 2 and numbers.shape[1] == size:
            found += ": of a table with a row per step, give a function, lambda t: table[min(int(t / step), len(table) - 1)]"
        raise InputError(f"{name} must be {counted(size, 'finite number')}{parts}{otherwise}, got {found}")
    return numbers


def wanted_arguments(given: Callable[..., Any], name: str) -> int:
    wanted = _arguments(given)
    if wanted not in (1, 3):
        raise InputError(f"{name} must be a function of t, or of (t, q, v); it takes {counted(wanted, 'argument')}")
    return wanted


def checked_push(given: Callable[..., Any], size: int, name: str, wanted: int = 3) -> Source:
    """A user function of t or (t, q, v), whose errors report time and state."""

    def push(t: float, q: Array, v: Array) -> Array:
        try:
            # copies: a function that works in place must not reach the state
            result = given(t) if wanted == 1 else given(t, q.copy(), v.copy())
        except Exception as error:
            raise SourceError(f"{name} raised {type(error).__name__}: {error} {at_state(t, q, v)}") from error
        try:
            value = np.asarray(() if result is None else result)
            if value.dtype.kind == "c":
                raise TypeError
            value = value.astype(float)
        except (TypeError, ValueError):
            kind = type(result).__name__ if shape_of(result) == () else f"{np.asarray(result).dtype.name} values"
            raise SourceError(f"{name} returned {kind} instead of {counted(size, 'number')} {at_state(t, q, v)}") from None
        if result is None:
            raise SourceError(
                f"{name} returned None instead of {counted(size, 'number')} (no return statement?) {at_state(t, q, v)}"
            )
        if value.shape != (size,):
            of_joints = " (the first six act on the free base: numpy.concatenate([numpy.zeros(6), tau]))"
            base = of_joints if value.shape == (size - 6,) else ""
            raise SourceError(f"{name} returned shape {value.shape} instead of ({size},){base} {at_state(t, q, v)}")
        if not np.isfinite(value).all():
            raise SourceError(f"{name} returned {value} {at_state(t, q, v)}")
        return value

    return push


def at_state(t: float, q: Array, v: Array) -> str:
    """Time and state, for a message."""
    return f"at t = {t:.6g} s, q = {np.array2string(q, precision=4)}, v = {np.array2string(v, precision=4)}"


def _arguments(given: Callable[..., Any]) -> int:
    """The number of arguments without a default."""
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        return 1  # some built-in functions do not say; of those, the ones of time are worth a try
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 3
    return sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in parameters)
