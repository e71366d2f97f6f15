"""Controllers: one signature, optional internal states, optional sampling, for `simulate`, `rollouts` and code generation.

A controller is a function of t, of (t, q, v) or of (robot, t, q, v), a `Controller`, or `Sampled(function, rate)`. `as_law`
gives them one form.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.scalar import call_with_symbols
from dynamis.simulation.sampling import Sampled
from dynamis.simulation.sources import Command, Source, checked_push

Array = npt.NDArray[Any]
Sample = Callable[[float, Array, Array, Array], tuple[Array, Array]]
UPDATE = "update of the controller"
SIGNATURES = "a controller is a function of t, of (t, q, v) or of (robot, t, q, v), a Controller, or Sampled(function, rate)"


class Controller(ABC):
    """τ = controller(robot, t, q, v), or with ``size`` internal states x: τ = controller(robot, t, q, v, x) and
    ẋ = controller.rates(robot, t, q, v, x), integrated with the robot. In a `Sampled` controller x changes at the samples only:
    the next one is controller.update(robot, t, q, v, x, period), by default x + period ẋ.

    States are integrals, filters, parameter estimates, observers. A controller written with NumPy for one state can be
    compiled; with ``traceable`` set, `simulate` compiles it for fixed steps instead of calling it. ``torques`` states that it
    returns torques, which DC motors would take as voltages. In `rollouts`, further arguments of these functions without a
    default get their values from ``parameters=`` or ``inputs=``, by name.

    >>> import numpy as np, dynamis as dy
    >>> class Integral(dy.Controller):
    ...     size = 2
    ...
    ...     def __call__(self, robot, t, q, v, x):
    ...         return -4000.0 * (q - 0.5) - 900.0 * v - 3000.0 * x
    ...
    ...     def rates(self, robot, t, q, v, x):
    ...         return q - 0.5
    >>> motion = dy.simulate(dy.load("planar_2r_melchiorri"), 12.0, controller=Integral(), points=25)
    >>> bool(abs(motion.q[-1] - 0.5).max() < 1e-2)
    True
    """

    size: int = 0
    traceable: bool = False
    torques: bool = False

    @property
    def measures(self) -> Mapping[str, int]:
        """Names and sizes of measurements, arguments beyond the state."""
        return {}

    @abstractmethod
    def __call__(self, robot: Robot, t: Any, q: Array, v: Array, /, *more: Any) -> Any:
        """The torques (n); ``more`` is x if the controller has states, then its measurements."""

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, /, *measured: Any) -> Any:  # noqa: ARG002 - without states
        """ẋ (size)."""
        return np.zeros(0)

    def update(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, period: float, /, *more: Any, **given: Any) -> Any:
        """x (size) at the next sample, ``period`` seconds later, of a sampled controller."""
        return x + period * np.asarray(self.rates(robot, t, q, v, x, *more, **taken(self.rates, given)))

    def start(self, robot: Robot, q: Array, v: Array) -> Array:  # noqa: ARG002 - some start from where the robot is
        """The initial x (…, size), for states with any leading axes."""
        return np.zeros((*v.shape[:-1], self.size))


@dataclass(frozen=True)
class Law:
    """A controller without states as ``torque(robot, t, q, v, **extra)``, or one with ``states``, or with states that change at
    samples only (``digital``).

    ``extra`` names further arguments without a default, of any of the functions of a controller with states. ``sampled`` has
    the rate, delay and sensors of a sampled controller. ``traceable`` marks functions of the package, which can be compiled.
    """

    torque: Callable[..., Any] | None = None
    states: Controller | None = None
    sampled: Sampled | None = None
    extra: tuple[str, ...] = ()
    traceable: bool = False
    digital: Controller | None = None

    @property
    def is_empty(self) -> bool:
        return self.torque is None and self.states is None and self.digital is None

    def on(self, robot: Robot) -> Callable[[Any, Array, Array], Any]:
        """The torques of this robot as a function of (t, q, v)."""
        torque = self.torque
        assert torque is not None
        return lambda t, q, v: torque(robot, t, q, v)

    def sample(self, robot: Robot) -> Sample:
        """Torques and next states of a sampled controller, of (t, q, v, x), as checked functions of a user."""
        law, sampled = self.digital, self.sampled
        assert sampled is not None
        if law is None:
            torque = checked_push(self.on(robot), robot.n, "controller")
            return lambda t, q, v, x: (torque(t, q, v), x)

        def both(t: float, q: Array, v: Array, x: Array) -> tuple[Array, Array]:
            tau = checked_push(lambda t, q, v: law(robot, t, q, v, x.copy()), robot.n, "controller")
            following = checked_push(lambda t, q, v: law.update(robot, t, q, v, x.copy(), 1.0 / sampled.rate), law.size, UPDATE)
            return tau(t, q, v), following(t, q, v)

        return both

    def command(self, robot: Robot, others: Source, given: Mapping[str, Any] | None = None, *, checked: bool) -> Command:
        """``others``, to which the torques of a controller with states are added; ``given`` are its further arguments.

        ``checked`` for user functions, whose errors report time and state; not while the controller is traced.
        """
        law = self.states
        if law is None:
            return Command.of(others)

        def value(function: Callable[..., Any], size: int, name: str) -> Callable[[Any, Array, Array, Array], Array]:
            more = taken(function, given or {})

            def called(t: Any, q: Array, v: Array, x: Array) -> Array:
                # copies: a function that works in place must not reach the state
                if checked:
                    return checked_push(lambda t, q, v: function(robot, t, q, v, x.copy(), **more), size, name)(t, q, v)
                return sized(recorded(function, self.traceable)(robot, t, q.copy(), v.copy(), x.copy(), **more), size, name)

            return called

        torque = value(law, robot.n, "controller")
        return Command(
            lambda t, q, v, x: others(t, q, v) + torque(t, q, v, x),
            law.size,
            lambda q, v: first_states(law, robot, q, v),
            value(law.rates, law.size, "rates of the controller"),
        )


def first_states(law: Controller, robot: Robot, q: Array, v: Array) -> Array:
    """The initial states of a controller (…, size)."""
    states = np.asarray(law.start(robot, q, v))
    if states.shape != (*v.shape[:-1], law.size):
        raise InputError(
            f"start of {type(law).__name__} returned shape {states.shape} for v of shape {v.shape}; "
            f"its last axis must have the length of size, {law.size}, and the others are those of v"
        )
    return states


def recorded(function: Callable[..., Any], traceable: bool = False) -> Callable[..., Any]:
    """A function to be called with symbols: branches of user functions are recorded, those of the package have none."""
    own = traceable or getattr(function, "traceable", False)
    return function if own else functools.partial(call_with_symbols, function)


def sized(value: Any, size: int, name: str) -> Array:
    """The value of a function as an array of the right length."""
    if value is None:
        raise InputError(f"{name} returned None instead of {counted(size, 'number')}: is there no return statement?")
    array = np.asarray(value)
    if array.shape != (size,):
        raise InputError(f"{name} returned shape {array.shape} instead of ({size},)")
    return array


def as_law(controller: Any, parameters: Iterable[str] = ()) -> Law:
    """Adapt a controller. ``parameters`` are the names of its arguments beyond the state."""
    if isinstance(controller, Law):
        return controller
    if controller is None:
        return Law()
    sampled = controller if isinstance(controller, Sampled) else None
    function = controller if sampled is None else sampled.law
    if isinstance(function, Controller) and not (isinstance(function.size, int | np.integer) and function.size >= 0):
        raise InputError(f"size of {type(function).__name__} must be the number of its states, got {function.size!r}")
    if isinstance(function, Controller) and function.size:
        own, digital = (function, None) if sampled is None else (None, function)
        further = _further(function, set(parameters))
        return Law(states=own, sampled=sampled, extra=further, traceable=function.traceable, digital=digital)
    if isinstance(function, type):
        raise InputError(f"{SIGNATURES}; got the class {function.__name__}: give an object of it, {function.__name__}(…)")
    if not callable(function):
        raise InputError(f"{SIGNATURES}; got {type(function).__name__}")
    names, more = _required(function)
    state = [name for name in names if name not in set(parameters)]
    extra = tuple(name for name in names if name in set(parameters))
    _check_order(state)
    traceable = bool(getattr(function, "traceable", False))
    if len(state) == 1 and not more:
        return Law(lambda _robot, t, _q, _v, **given: function(t, **given), None, sampled, extra, traceable)
    if len(state) == 3 or (more and len(state) < 3):
        return Law(lambda _robot, t, q, v, **given: function(t, q, v, **given), None, sampled, extra, traceable)
    if len(state) >= 4 and state[0] in ("t", "time"):
        return Law(lambda _robot, t, q, v, **given: function(t, q, v, **given), None, sampled, (*extra, *state[3:]), traceable)
    if len(state) >= 4:
        return Law(function, None, sampled, (*extra, *state[4:]), traceable)
    raise InputError(f"{SIGNATURES}; this function takes {counted(len(state), 'argument')}")


def _further(law: Controller, parameters: Container[str]) -> tuple[str, ...]:
    """The arguments of a controller beyond the state and the time; measurements only where they are ``parameters``."""
    functions = ((law, 5), (law.rates, 5), (law.update, 6))
    names = dict.fromkeys(name for function, known in functions for name in _required(function)[0][known:])
    return tuple(name for name in names if name in parameters or name not in law.measures)


def taken(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the further arguments of a controller that one of its functions takes."""
    if not given:
        return {}
    names = inspect.signature(function).parameters
    all_of_them = any(p.kind is p.VAR_KEYWORD for p in names.values())
    return {name: value for name, value in given.items() if all_of_them or name in names}


def _check_order(names: Sequence[str]) -> None:
    """Refuse names of the state in another order than that in which the state is given."""
    order = ("t", "q", "v") if len(names) <= 3 or names[0] in ("t", "time") else ("robot", "t", "q", "v")
    for name, place in zip(names, order, strict=False):
        if name in ("t", "q", "v", "qd", "dq") and {"qd": "v", "dq": "v"}.get(name, name) != place:
            raise InputError(f"{SIGNATURES}; this function takes {', '.join(names)}, where {name} would be given {place}")


def _required(function: Callable[..., Any]) -> tuple[list[str], bool]:
    """The names of the arguments without a default, and whether ``*args`` is accepted."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["t"], False  # some built-in functions have no signature; those of time are tried
    names = [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return names, any(p.kind is p.VAR_POSITIONAL for p in parameters)
