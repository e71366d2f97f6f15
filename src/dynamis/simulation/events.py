"""User-defined events: functions of time and state whose zeros are located during integration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, as_text, short
from dynamis.errors import InputError
from dynamis.simulation.sources import checked_push
from dynamis.tolerances import TIME_ROUNDING

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class EventRecord:
    """An event: a joint ``starts``, ``stops``, ``reverses`` or ``hits its upper stop``, a user-defined event ``happens``."""

    time: float
    kind: str
    joint: str

    def __str__(self) -> str:
        return f"{self.time:.6g} s: {self.joint} {self.kind}"

    def __repr__(self) -> str:
        return short(f"<EventRecord {self}>")

    _repr_html_ = as_text


@dataclass(frozen=True, repr=False)
class Event:
    """An event: zeros of ``function(t, q, v)``, all of them or only those with rising (1) or falling (−1) values.

    With ``stop`` the first one ends the simulation. A zero at the start is not reported. A discontinuous change of sign, as
    of velocities at hard stops, is reported at the discontinuity.
    """

    function: Callable[[float, Array, Array], Any]
    direction: int = 0
    stop: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"an Event requires a function of (t, q, v), got {self.function!r}")
        if self.direction not in (-1, 0, 1) or isinstance(self.direction, bool):
            raise InputError(f"direction={self.direction!r} is unknown; choose 1 (rising), -1 (falling) or 0 (both)")
        if not isinstance(self.stop, bool):
            raise InputError(f"stop must be True or False, got {self.stop!r}")

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass
class _Watched:
    name: str
    watch: Event
    value: Callable[[float, Array, Array], Array]
    kind: str = "happens"
    sign: int = 0
    last: float = -np.inf  # when it happened last

    def rises_or_falls_right(self, sign: int) -> bool:
        """Whether a change to this sign matches the direction; leaving zero does not count."""
        return self.sign not in (0, sign) and self.watch.direction in (0, -self.sign)


class Watcher:
    """All events of a motion, with the last signs of their functions."""

    def __init__(self, given: Mapping[str, Any], nq: int, n: int) -> None:
        self._nq, self._n, self._begun = nq, n, False
        self.events: list[EventRecord] = []
        self.stopped: str | None = None  # the name of the watch that ended the motion
        if not isinstance(given, Mapping):
            raise InputError("events= must map names to functions of (t, q, v), or to Event(function, …)")
        self._all: list[_Watched] = []
        for name, one in given.items():
            if not isinstance(name, str) or not name:
                raise InputError(f"the name of an event must be a string, got {name!r}")
            self.add(name, one)

    def add(self, name: str, one: Any, kind: str = "happens") -> None:
        """Watch a function or an `Event`, recorded as this ``kind``."""
        watch = one if isinstance(one, Event) else Event(one)
        self._all.append(_Watched(name, watch, checked_push(_as_row(watch.function), 1, f"event {name!r}"), kind))

    def _sign(self, one: _Watched, t: float, y: Array) -> int:
        return int(np.sign(one.value(t, y[: self._nq], y[self._nq : self._nq + self._n])[0]))

    def jumped(self, t: float, y: Array) -> None:
        """Check a state after a discontinuity; the first call only sets the signs."""
        for one in self._all:
            sign = self._sign(one, t, y)
            if self._begun and one.rises_or_falls_right(sign):
                self._happens(one, t)
            one.sign = sign
        self._begun = True

    def passed(self, between: Callable[[float], Array], a: float, b: float) -> float | None:
        """Check the interval between two times; return the time of a stopping event, if any."""
        found = []
        signs = [self._sign(one, b, between(b)) for one in self._all]
        for one, sign in zip(self._all, signs, strict=True):
            if one.rises_or_falls_right(sign):
                found.append((self._located(one, between, a, b), one))
        for t, one in sorted(found, key=lambda pair: pair[0]):
            self._happens(one, t)
            if self.stopped is not None:
                return t
        for one, sign in zip(self._all, signs, strict=True):
            one.sign = sign
        return None

    def _located(self, one: _Watched, between: Callable[[float], Array], a: float, b: float) -> float:
        """The first sign change, on the side where the sign has changed."""
        spacing = TIME_ROUNDING * max(abs(a), abs(b), 1e-300)
        while b - a > spacing:
            middle = 0.5 * (a + b)
            if self._sign(one, middle, between(middle)) == one.sign:
                a = middle
            else:
                b = middle
        return b

    def _happens(self, one: _Watched, t: float) -> None:
        if t - one.last <= TIME_ROUNDING * max(1.0, abs(t)):
            return  # the same zero, seen from its two sides
        one.last = t
        self.events.append(EventRecord(t, one.kind, one.name))
        if one.watch.stop and self.stopped is None:
            self.stopped = one.name

    def records(self) -> list[EventRecord]:
        """The events since the last call."""
        events, self.events = self.events, []
        return events


def _as_row(function: Callable[..., Any]) -> Callable[..., Any]:
    def row(t: float, q: Array, v: Array) -> Array:
        value = np.asarray(function(t, q, v), dtype=float)
        if value.size != 1:
            raise InputError(f"it returned {value.size} numbers instead of one")
        return value.reshape(1)

    return row
