"""Integration of one smooth piece of a motion, up to the next event."""

from __future__ import annotations

import functools
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.simulation.events import Watcher
from dynamis.simulation.sources import EndOfMotionError, SourceError
from dynamis.tolerances import EPS, PROBE_WIDTH, TIME_ROUNDING

Array = npt.NDArray[Any]
MAX_RETRIES = 12  # with shorter steps, where a function failed
MIN_STEPS_PER_EVENT = 20  # between two events: the restarts keep the steps short
MAX_TURN_PER_STEP = 0.02  # rad or m in one step: the motion itself, not stability, keeps the steps short
REMIND_AFTER = 20.0  # s of computing time without a limit
MIN_PROBES = 500  # times at which functions of users are compared with the motion between the ends of a step
MISSED_SHARE, MISSED_TOLERANCES = 0.1, 1000.0  # differences of rates, relative to them and in tolerances per step
STIFF_STEP = 1e-4  # s: explicit methods that go on in shorter steps are held up by stability


# of DOP853, as in the code of Hairer and Wanner
STABILITY_BOUNDARY, STEPS_AT_BOUNDARY, STEPS_INSIDE = 6.1, 15, 5
STEPS_PER_CHECK = 4
STEPS_BEFORE_STIFF = 100  # fewer take less time than the Jacobians of an implicit method


class OutOfTimeError(Exception):
    """The limit of computing time is exceeded."""


class RunawayError(Exception):
    """A controlled motion is faster than any machine."""


class Clock:
    """The limit of computing time of an integration, counted from its first check, and step statistics."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds
        self._begin: float | None = None
        self._remind_after = REMIND_AFTER
        self.steps, self._lengths = 0, deque[float](maxlen=200)

    @property
    def spent(self) -> float:
        now = time.monotonic()
        if self._begin is None:
            self._begin = now
        return now - self._begin

    @property
    def over(self) -> bool:
        return self.spent > self.seconds

    @property
    def reminds(self) -> bool:
        """Whether the user should be told that the computation goes on; once."""
        due = self.seconds == math.inf and self.spent > self._remind_after
        self._remind_after = math.inf if due else self._remind_after
        return due

    def check(self) -> None:
        if self.over:
            raise OutOfTimeError

    def stepped(self, length: float) -> None:
        self.steps += 1
        self._lengths.append(length)

    def sentence(self, method: str, events: int = 0, speed: float = 0.0, *, automatic: bool = False) -> str:
        """Message with the time spent, what keeps the steps short, and advice; ``speed`` is the largest |v| at the end.

        ``automatic`` methods are implicit where the equations are stiff: something else keeps their steps short.
        """
        spent = f"took more than {self.seconds if self.seconds < math.inf else REMIND_AFTER:g} s"
        if not self._lengths:
            return f"{spent}, before its first step"
        typical = median(self._lengths)
        if events * MIN_STEPS_PER_EVENT > self.steps:
            advice = f"{counted(events, 'event')}, each of which restarts the integration; try method='time_stepping'"
        elif typical < STIFF_STEP and speed * typical > MAX_TURN_PER_STEP:
            advice = f"velocities up to {speed:.3g} rad/s or m/s; simulate a shorter motion, or increase seconds="
        elif automatic and typical < STIFF_STEP:
            advice = (
                "the controller or another function may jump back and forth; smooth it, sample it by dynamis.Sampled, or use "
                "method='rk4' with a step"
            )
        elif method in ("RK45", "RK23", "DOP853") and typical < STIFF_STEP:
            advice = "the equations are stiff; try method='Radau' or 'LSODA'"
        else:
            advice = "increase seconds= or rtol=, or simulate a shorter motion"
        return f"{spent} ({counted(self.steps, 'step')} of about {typical:.1g} s: {advice})"


class StiffnessDetector:
    """Recognises steps of DOP853 that are kept short by stability [Hairer and Wanner 1996, §IV.2].

    The last two stages of a step are both at its end: the ratio of their rates to their distance estimates the largest |λ| of
    the Jacobian. The equations are stiff where h |λ| stays at the boundary of the stability domain.
    """

    def __init__(self) -> None:
        self.steps = self.at_boundary = self.inside = 0

    def __call__(self, solver: Any) -> bool:
        """Whether the step just taken is the last of so many at the boundary."""
        self.steps += 1
        if self.steps < STEPS_BEFORE_STIFF or self.steps % STEPS_PER_CHECK:
            return False
        h, k = solver.t - solver.t_old, solver.K
        last = solver.y_old + h * (solver.A[-1] @ k[:-1])
        if h * float(np.linalg.norm(k[-1] - k[-2])) > STABILITY_BOUNDARY * float(np.linalg.norm(solver.y - last)):
            self.at_boundary, self.inside = self.at_boundary + 1, 0
        else:
            self.inside += 1
            self.at_boundary = 0 if self.inside > STEPS_INSIDE else self.at_boundary
        return self.at_boundary >= STEPS_AT_BOUNDARY


class Crossing(NamedTuple):
    """An event function of (t, y): an event occurs where it becomes positive; ``tag`` identifies the event.

    For a position beyond its limit, ``rate`` is the index of its velocity in y, so that a peak inside a step is detected.
    """

    function: Callable[[float, Array], float]
    tag: tuple[str, Any, int]
    rate: int | None = None


@dataclass
class Piece:
    """An integrated piece: step times, an interpolant for each step, the last state, and the reason for its end."""

    times: list[float]
    y: Array
    between: list[Any] = field(default_factory=list)
    crossed: list[tuple[str, Any, int]] = field(default_factory=list)
    message: str | None = None  # of an integrator that failed
    failure: Exception | None = None
    interrupted: bool = False
    stiff: bool = False  # ended in order to go on by an implicit method

    @property
    def end(self) -> float:
        return self.times[-1]

    def solution(self, method: str) -> Any:
        """The state as a function of time."""
        from scipy.integrate import OdeSolution

        return OdeSolution(self.times, self.between, alt_segment=method in ("BDF", "LSODA"))

    def add(self, t: float, y: Array, between: Any) -> None:
        self.between.append(between)
        self.times.append(t)
        self.y = y


def run_piece(
    rates: Callable[[float, Array], Array],
    t: float,
    y: Array,
    reported: Array,
    crossings: Sequence[Crossing],
    *,
    watcher: Watcher | None,
    clock: Clock | None,
    accepted: Callable[[float, Array], Array | None],
    method: str,
    options: dict[str, Any],
    stiffness: StiffnessDetector | None = None,
    probed: bool = False,
) -> Piece:
    """Integrate from (t, y) to the first crossing, the zero of a stopping event, or the last output time.

    Crossings and events are checked at the end of each step and at each output time, and located on the dense output. A
    function may fail at trial states that the motion never reaches, beyond the next crossing or in too long a step: shorter
    steps are tried before the failure is reported. ``accepted`` is called after every step, and may return another state from
    which to go on. The piece also ends where ``stiffness`` finds stiff equations. If the rates are ``probed``, steps that pass
    over a short pulse of torque are repeated with a shorter one.
    """
    piece = Piece([t], y.copy())
    probes = np.zeros(0)
    if probed:
        probes = reported if len(reported) > MIN_PROBES else np.linspace(reported[0], reported[-1], MIN_PROBES + 1)
    try:
        changed = accepted(t, y)
        piece.y = piece.y if changed is None else changed
        first_step = None
        for _ in range(1 + MAX_RETRIES):
            first_step = _march(
                piece, rates, reported, crossings, watcher, clock, accepted, method, options, first_step, stiffness, probes
            )  # fmt: skip
            if first_step is None:
                break
    except KeyboardInterrupt:
        piece.interrupted = True
    except (OutOfTimeError, RunawayError, EndOfMotionError) as error:
        piece.failure = error
    del piece.between[len(piece.times) - 1 :]  # an interrupt may come between the two
    return piece


def _march(
    piece: Piece,
    rates: Callable[[float, Array], Array],
    reported: Array,
    crossings: Sequence[Crossing],
    watcher: Watcher | None,
    clock: Clock | None,
    accepted: Callable[[float, Array], Array | None],
    method: str,
    options: dict[str, Any],
    first_step: float | None,
    stiffness: StiffnessDetector | None,
    probes: Array,
) -> float | None:
    """Continue the piece; return the length of a first step for a retry where a function failed."""
    from scipy import integrate

    end, piece.failure, reach = float(reported[-1]), None, [piece.end]

    def followed(t: float, y: Array) -> Array:
        reach[0] = t
        return rates(t, y)

    jacobian = {"jac": functools.partial(_jacobian, followed)} if method in ("Radau", "BDF") else {}

    def begun(first_step: float | None) -> Any:
        begin = {} if first_step is None else {"first_step": min(first_step, end - piece.end)}
        return getattr(integrate, method)(followed, piece.end, piece.y, end, **options, **jacobian, **begin)

    try:
        solver = begun(first_step)
        while solver.status == "running":
            message = solver.step()
            if solver.status == "failed":
                piece.message = message
                return None
            between = solver.dense_output()
            missed = _missed(followed, between, solver.t_old, solver.t, probes, options) if len(probes) else None
            if missed is not None:
                solver = begun(missed - solver.t_old)
                continue
            stop = _look(between, solver.t_old, solver.t, solver.y, reported, crossings, watcher, piece)
            if stop is not None:
                if stop > piece.end:
                    piece.add(stop, between(stop), between)
                return None
            piece.add(solver.t, solver.y.copy(), between)
            if clock is not None:
                clock.stepped(solver.t - solver.t_old)
            changed = accepted(solver.t, solver.y)
            if changed is not None:
                piece.y, solver.y, solver.f = changed, changed, followed(solver.t, changed)
            elif stiffness is not None and stiffness(solver):
                piece.stiff = True
                return None
    except EndOfMotionError:
        raise
    except SourceError as error:
        piece.failure = error
        return max(0.1 * (reach[0] - piece.end), TIME_ROUNDING * max(1.0, abs(piece.end)))
    return None


def _missed(
    rates: Callable[[float, Array], Array], between: Any, a: float, b: float, probes: Array, options: dict[str, Any]
) -> float | None:
    """The first probe inside a step at which the motion does not satisfy its equations: a pulse there was passed over."""
    inside = probes[np.searchsorted(probes, a, side="right") : np.searchsorted(probes, b, side="left")]
    width = PROBE_WIDTH * (b - a)
    for t in inside.tolist():
        before, y, after = between(np.array([t - width, t, t + width])).T
        rate, slope = rates(t, y), (after - before) / (2.0 * width)
        apart = np.abs(rate - slope)
        large = apart > MISSED_SHARE * np.maximum(np.abs(rate), np.abs(slope))
        if (large & (apart * (b - a) > MISSED_TOLERANCES * (options["atol"] + options["rtol"] * np.abs(y)))).any():
            return float(t)
    return None


def _jacobian(rates: Callable[[float, Array], Array], t: float, y: Array) -> Array:
    """∂ẏ/∂y by forward differences; SciPy's own lengthen their steps without bound where a state has no effect."""
    rate, columns = rates(t, y), []
    for k, step in enumerate(math.sqrt(EPS) * np.maximum(1.0, np.abs(y))):
        moved = y.copy()
        moved[k] += step
        columns.append((rates(t, moved) - rate) / (moved[k] - y[k]))
    return np.stack(columns, axis=-1)


def _look(
    between: Any,
    a: float,
    b: float,
    y_b: Array,
    reported: Array,
    crossings: Sequence[Crossing],
    watcher: Watcher | None,
    piece: Piece,
) -> float | None:
    """The time within this step at which the piece ends, if any."""
    if not crossings and watcher is None:
        return None
    y_a = piece.y
    inside = reported[np.searchsorted(reported, a, side="right") : np.searchsorted(reported, b, side="left")]
    for t in [*inside.tolist(), b]:
        y = y_b if t == b else between(t)
        end, tags = _first_crossing(between, a, y_a, t, y, crossings)
        stop = None if watcher is None else watcher.passed(between, a, end)
        if stop is not None:
            return stop
        if tags:
            piece.crossed = tags
            return end
        a, y_a = t, y
    return None


def _first_crossing(
    between: Any, a: float, y_a: Array, b: float, y_b: Array, crossings: Sequence[Crossing]
) -> tuple[float, list[tuple[str, Any, int]]]:
    """The first crossing from a to b with all events there; b if there is none."""
    found = []
    for crossing in crossings:
        far: float | None = b
        if not crossing.function(b, y_b) > 0:
            far = None if crossing.rate is None else _peak(crossing, between, a, y_a, b, y_b)
        if far is not None:
            found.append((_located(crossing, between, a, y_a, far), crossing.tag))
    if not found:
        return b, []
    first = min(t for t, _ in found)
    return first, [tag for t, tag in found if t - first <= TIME_ROUNDING * max(1.0, abs(first))]


def _peak(crossing: Crossing, between: Any, a: float, y_a: Array, b: float, y_b: Array) -> float | None:
    """The time of a peak between a and b at which the position exceeds its limit."""
    from scipy.optimize import brentq

    k, side = crossing.rate, crossing.tag[2]
    if not side * y_a[k] > 0 > side * y_b[k]:
        return None
    t = float(brentq(lambda t: between(t)[k], a, b)) if between(a)[k] * side > 0 else a
    return t if crossing.function(t, between(t)) > 0 else None


def _located(crossing: Crossing, between: Any, a: float, y_a: Array, b: float) -> float:
    """The time at which the function becomes positive; it is positive at b."""
    from scipy.optimize import brentq

    def value(t: float) -> float:
        return crossing.function(t, between(t))

    least = 4 * float(np.finfo(float).eps)
    at_a = crossing.function(a, y_a)
    if at_a >= 0 or value(a) >= 0:
        # it begins at zero: it has to go away from there before it can come back
        away = next((c for c in (a + (b - a) * 0.5**i for i in range(1, 50)) if value(c) < 0), None)
        if away is None or at_a > 0:
            return a
        a = away
    return float(brentq(value, a, b, xtol=least, rtol=least))
