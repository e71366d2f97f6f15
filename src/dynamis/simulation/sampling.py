"""Digital control: a law evaluated at a fixed rate on quantised measurements, with a delay of the torques."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError
from dynamis.scalar import is_number
from dynamis.simulation.adaptive import integrate
from dynamis.simulation.motion import EquationsOfMotion
from dynamis.simulation.pieces import REACHED, Pieces
from dynamis.simulation.sources import SourceError
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
SLOWEST = 0.2  # Hz: a lower rate controls no arm; it is a period in s
PERIODS_PER_BATCH = 1000  # whose instants are computed together: those of a long motion may not fit into memory


@dataclass(frozen=True, repr=False)
class Sampled:
    """A controller evaluated every 1/``rate`` seconds; its torques act ``delay`` later and are held until the next sample's.

    ``law`` is a function of (t, q, v) or of (robot, t, q, v), or a controller of `dynamis.control`. States of a `Controller`
    change at the samples only, by its method ``update``.

    ``resolution`` of the positions (encoder increment) quantises q; ``velocity`` is "measured" (quantised by
    ``velocity_resolution``) or "differences" of the quantised positions.
    """

    law: Callable[..., Any]
    rate: float
    delay: float = 0.0
    resolution: float = 0.0
    velocity: str = "measured"
    velocity_resolution: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.law):
            raise InputError("a sampled controller needs a law, a function of (t, q, v) or of (robot, t, q, v)")
        given = (self.rate, self.delay, self.resolution, self.velocity_resolution)
        if not all(is_number(x) and 0 <= x < np.inf for x in given) or self.rate == 0:
            names = ("rate", "delay", "resolution", "velocity_resolution")
            text = ", ".join(f"{name}={x!r}" for name, x in zip(names, given, strict=True))
            raise InputError(
                f"a sampled controller needs a finite rate > 0 [Hz], and a finite delay [s] and resolutions ≥ 0; got {text}"
            )
        if self.rate < SLOWEST:
            raise InputError(
                f"rate={self.rate!r} is in Hz: one sample in {1.0 / self.rate:g} s; for a period of {self.rate:g} s give "
                f"rate={1.0 / self.rate:g}"
            )
        if self.velocity not in ("measured", "differences"):
            raise InputError(f"velocity={self.velocity!r} is unknown; choose 'measured' or 'differences'")
        if self.velocity == "differences" and self.velocity_resolution:
            raise InputError(
                f"velocity_resolution={self.velocity_resolution!r} quantises measured velocities; those of "
                "velocity='differences' have the resolution of the positions times the rate: leave it out"
            )

    @property
    def torques(self) -> bool:
        """Whether the law states that it returns torques."""
        return bool(getattr(self.law, "torques", False))

    @property
    def measurement(self) -> list[str]:
        """The options other than the rate that have an effect, as they are written."""
        plain = {"delay": 0.0, "resolution": 0.0, "velocity": "measured", "velocity_resolution": 0.0}
        return [f"{name}={getattr(self, name)!r}" for name, value in plain.items() if getattr(self, name) != value]

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, eq=False)
class Samples:
    """The memory of a sampled controller: start time, number of samples, last measurement.

    ``times`` and ``torques`` are the active and the delayed commands; ``seen`` is None before the first sample, and ``states``,
    those of the controller, before the first one and without any.
    """

    rate: float
    delay: float
    origin: float
    count: int
    times: Array
    torques: Array
    seen: Array | None
    states: Array | None = None


class Held:
    """The torques commanded so far by a sampled controller, as a function of time; the first sample is at ``origin``.

    ``law`` returns the torques and the next states from (t, q, v, states); ``start`` the first states from (q, v).
    """

    def __init__(
        self, sampled: Sampled, n: int, origin: float, law: Callable[[float, Array, Array, Array], tuple[Array, Array]],
        before: Samples | None = None, start: Callable[[Array, Array], Array] | None = None,
    ) -> None:  # fmt: skip
        self.sampled, self.n, self.origin = sampled, n, origin
        self._law, self._start = law, start
        self.period = 1.0 / sampled.rate
        self.inside: float | None = None
        self._times: list[float] = [-np.inf]
        self._torques: list[Array] = [np.zeros(n)]
        self._seen: list[Array | None] = [None]  # at every sample, and before the first
        self._states: list[Array | None] = [None]  # after every sample, and before the first
        self._first = 0  # the number of the first sample of which we know
        if before is not None:
            if (before.rate, before.delay) != (sampled.rate, sampled.delay):
                raise InputError(
                    f"the motion was sampled at {before.rate:g} Hz with a delay of {before.delay:g} s, the controller has "
                    f"{sampled.rate:g} Hz and {sampled.delay:g} s: use the same values"
                )
            size = 0 if start is None else len(start(np.zeros(n), np.zeros(n)))
            if before.states is not None and len(before.states) != size:
                known = counted(len(before.states), "state")
                raise InputError(f"the sampled controller of the motion has {known}, this one {size}: use the same")
            self.origin, self._first = before.origin, before.count
            self._times, self._torques = list(before.times), list(before.torques)
            self._seen, self._states = [before.seen], [before.states]

    def __call__(self, t: float) -> Array:
        t = t if self.inside is None else self.inside
        return self._torques[bisect_right(self._times, t + NEGLIGIBLE * self.period) - 1]

    def changes(self, start: float, end: float) -> Array:
        """The sampling instants, and those at which delayed commands become active, between two times."""
        delay = self.sampled.delay
        return np.concatenate([self._samples(start, end), self._samples(start - delay, end - delay) + delay])

    def _samples(self, start: float, end: float) -> Array:
        """The sampling instants between two times, and perhaps one before."""
        first = max(int(np.floor((start - self.origin) * self.sampled.rate)), 0)
        count = int(np.ceil((end - self.origin) * self.sampled.rate - NEGLIGIBLE))
        return self.origin + np.arange(first, max(count, first)) / self.sampled.rate

    def reach(self, t: float, q: Array, v: Array) -> None:
        """Take a sample if one is due at this time."""
        due = self.origin + self._sample_count / self.sampled.rate
        if due <= t + NEGLIGIBLE * self.period:
            self._sample(due, q, v)

    @property
    def _sample_count(self) -> int:
        return self._first + len(self._seen) - 1

    def _sample(self, t: float, q: Array, v: Array) -> None:
        """Read the sensors, evaluate the law, and queue its torques for after the delay."""
        s, last = self.sampled, self._seen[-1]
        seen = _quantised(q, s.resolution)
        if s.velocity == "differences":
            rates = np.zeros(len(v)) if last is None else (seen[: len(v)] - last[: len(v)]) * s.rate
        else:
            rates = _quantised(v, s.velocity_resolution)
        states = self._states[-1]
        if states is None:
            states = np.zeros(0) if self._start is None else np.asarray(self._start(q, v), float)
        torque, states = self._law(t, seen, rates, states)
        # only what succeeded is remembered: a sample that failed can be taken again
        self._seen.append(seen)
        self._states.append(states)
        self._times.append(t + s.delay)
        self._torques.append(torque)

    def samples(self, t: float) -> Samples:
        """The memory at a time, before a sample due there."""
        count = int(np.ceil((t - self.origin) * self.sampled.rate - NEGLIGIBLE))
        count = min(max(count, self._first), self._sample_count)
        known = len(self._times) - (self._sample_count - count)
        acting = max(0, min(bisect_right(self._times, t + NEGLIGIBLE * self.period), known) - 1)
        return Samples(
            self.sampled.rate, self.sampled.delay, self.origin, count, np.array(self._times[acting:known]),
            np.array(self._torques[acting:known]), self._seen[count - self._first], self._states[count - self._first],
        )  # fmt: skip


class Stepwise(Protocol):
    """Piecewise constant torques.

    ``inside`` is a time within the interval being integrated, so that the next value is not used at the end of a step; None
    to evaluate at the given times.
    """

    inside: float | None
    period: float

    def changes(self, start: float, end: float, /) -> Array: ...

    def reach(self, t: float, q: Array, v: Array) -> None: ...


class Shortcut(Protocol):
    """Faster integration of intervals without stick-slip transitions; None where one may occur."""

    def interval(self, a: float, b: float, y: Array, reported: Array, before: Pieces | None) -> Pieces | None: ...


def integrate_stepwise(
    motion: EquationsOfMotion, steps: Sequence[Stepwise], times: Array, y0: Array, *, before: Pieces | None = None,
    shortcut: Shortcut | None = None, **options: Any,
) -> Pieces:  # fmt: skip
    """Integrate from instant to instant, with piecewise constant torques."""
    start, end = float(times[0]), float(times[-1])
    whole, y, progress = Pieces(), y0, options.pop("progress")
    try:
        for a, b in pairwise(instants(steps, start, end)):
            q, v, _ = motion.split(y)
            try:
                for source in steps:
                    source.reach(a, q, v)
                    source.inside = 0.5 * (a + b)
            except SourceError as failed:
                whole.status, whole.failure = f"stopped: {failed}", failed
                break
            known = whole if whole.pieces else before
            inside = times[np.searchsorted(times, a, side="right") : np.searchsorted(times, b, side="left")]
            reported = np.array([a, *inside, b])
            part = None if shortcut is None else shortcut.interval(a, b, y, reported, known)
            if part is None:
                part = integrate(motion, reported, y, progress=None, before=known, **options)
            whole.add(part)
            if part.status != REACHED:
                break
            assert part.last is not None
            y = part.last
            if progress is not None:
                progress((b - start) / (end - start))
    except KeyboardInterrupt:
        whole.interrupted(start)
    finally:
        for source in steps:
            source.inside = None
    return whole


def instants(steps: Sequence[Stepwise], start: float, end: float) -> Iterator[float]:
    """Start, every change between, and end, one after the other; instants that differ only by rounding are merged."""
    shortest = min(source.period for source in steps)
    least, last, b = NEGLIGIBLE * shortest, start, start
    yield start
    while b < end - least:
        a, b = b, min(b + PERIODS_PER_BATCH * shortest, end)
        # a little more than this window, so that a change at its edge is in one of both
        found = np.unique(np.concatenate([source.changes(a - source.period, b + source.period) for source in steps]))
        for t in found[(found >= a - least) & (found < b - least)].tolist():
            if t - last > least:
                last = t
                yield t
    yield end


def _quantised(x: Array, resolution: float) -> Array:
    return np.round(x / resolution) * resolution if resolution > 0 else x.copy()
