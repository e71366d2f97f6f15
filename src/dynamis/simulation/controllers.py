"""Adapters that give every controller signature one form for `simulate` and `rollouts`.

A controller is a function of t, of (t, q, v) or of (robot, t, q, v), a controller of `dynamis.control`, a `DynamicLaw` with
internal states, or a `Sampled` function. `as_law` converts each to a `Law`: one signature, optional states, optional sampling.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.simulation.dynamic_law import DynamicLaw
from dynamis.simulation.sampling import Sampled

Array = npt.NDArray[Any]
SIGNATURES = (
    "a controller is a function of t, of (t, q, v) or of (robot, t, q, v), a controller of dynamis.control, "
    "a DynamicLaw, or Sampled(function, rate)"
)


@dataclass(frozen=True)
class Law:
    """A controller as ``torque(robot, t, q, v, **extra)``, or a ``dynamic`` law with internal states.

    ``extra`` names further arguments without a default. ``sampled`` has the rate, delay and sensors of a sampled controller.
    ``traceable`` marks functions of the package, which can be compiled.
    """

    torque: Callable[..., Any] | None = None
    dynamic: DynamicLaw | None = None
    sampled: Sampled | None = None
    extra: tuple[str, ...] = ()
    traceable: bool = False

    def on(self, robot: Robot) -> Callable[[Any, Array, Array], Any]:
        """The torques of this robot as a function of (t, q, v)."""
        torque = self.torque
        assert torque is not None
        return lambda t, q, v: torque(robot, t, q, v)


def as_law(controller: Any, parameters: Iterable[str] = ()) -> Law:
    """Adapt a controller. ``parameters`` are the names of its arguments beyond the state."""
    if isinstance(controller, Law):
        return controller
    if controller is None:
        return Law()
    if isinstance(controller, DynamicLaw):
        return Law(dynamic=controller, traceable=controller.traceable)
    sampled = controller if isinstance(controller, Sampled) else None
    function = controller if sampled is None else sampled.law
    if not callable(function):
        raise InputError(f"{SIGNATURES}; got {type(function).__name__}")
    names, more = _required(function)
    state = [name for name in names if name not in set(parameters)]
    extra = tuple(name for name in names if name in set(parameters))
    traceable = bool(getattr(function, "traceable", False))
    if len(state) == 1 and not more:
        return Law(lambda _robot, t, _q, _v, **given: function(t, **given), None, sampled, extra, traceable)
    if len(state) == 3 or (more and len(state) < 3):
        return Law(lambda _robot, t, q, v, **given: function(t, q, v, **given), None, sampled, extra, traceable)
    if len(state) >= 4 and state[0] in ("t", "time"):
        return Law(lambda _robot, t, q, v, **given: function(t, q, v, **given), None, sampled, (*extra, *state[3:]), traceable)
    if len(state) >= 4:
        return Law(function, None, sampled, (*extra, *state[4:]), traceable)
    raise InputError(f"{SIGNATURES}; this function takes {len(state)} arguments")


def _required(function: Callable[..., Any]) -> tuple[list[str], bool]:
    """The names of the arguments without a default, and whether ``*args`` is accepted."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["t"], False  # some built-in functions have no signature; those of time are tried
    names = [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return names, any(p.kind is p.VAR_POSITIONAL for p in parameters)
