"""From a log to samples: clock, spikes, transmission, derivatives, and selection of rows, in this order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, counted
from dynamis.errors import InputError, printable
from dynamis.identification.logs.log import checked_time_scale
from dynamis.identification.samples import Decimation, Samples
from dynamis.identification.signals.filters import SHORTEST as FEWEST
from dynamis.identification.signals.filters import Cutoff, check_cutoff, low_pass, suggest_cutoff
from dynamis.identification.signals.sampling_clock import GAP, Clock, Notes, repair, repair_with_positions
from dynamis.identification.signals.stages import (
    HELD,
    SHORTEST,
    Even,
    Measured,
    at_rest,
    beside_gaps,
    found_cutoff,
    kept_rows,
    long_gaps,
    motion,
    notes_on_runs,
    on_the_clock,
    usable_stamps,
)
from dynamis.robot import Robot

Array = npt.NDArray[Any]

ROWS = 5.0  # kept per period of the parallel low-pass
PARALLEL = 5.0  # automatic parallel low-pass, relative to the band with 99 % of the power of the velocities
SMOOTHING = 5.0  # highest automatic cut-off of the derivatives, relative to the parallel low-pass
SLOW = 0.01  # automatic limit of slow rows, relative to the joint's highest speed
WIDEST = 25.0  # periods: gaps interpolated for a first estimate of the cut-off
INTERPOLATED = 0.25  # of a period of the cut-off: longer gaps are not interpolated


@dataclass(frozen=True, eq=False, repr=False)
class Prepared(Sequence[Samples]):
    """The uninterrupted runs of a log, a list of `Samples`, and ``notes`` on the processing.

    ``settings`` are the arguments of `prepare` that were chosen from the log.
    """

    samples: list[Samples]
    notes: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, k: Any) -> Any:
        return self.samples[k]

    def __str__(self) -> str:
        return "\n".join([*map(repr, self.samples), *self.notes])

    def __repr__(self) -> str:
        return f"<Prepared: {counted(len(self), 'run')}, {counted(sum(map(len, self.samples)), 'sample')}>"

    _repr_html_ = as_text


def prepare(
    log: Any,
    robot: Robot,
    *,
    cutoff: float | None = None,
    derivative: str = "central",
    logged: Sequence[str] = (),
    parallel: float | None = None,
    every: int | None = None,
    smooth_torque: bool = False,
    slow: Any = None,
    outliers: bool = True,
    transmission: Any = None,
    drive_gains: Any = None,
    period: float | None = None,
    gap: float | None = None,
    jitter: str = "auto",
    trim: float | None = None,
    rest: str | None = None,
    held: float = HELD,
    delay: Any = 0.0,
    zero: Any = None,
    time_scale: float = 1.0,
    leave_out: Any = (),
    options: dict[str, Any] | None = None,
) -> Prepared:
    """Prepare a log for identification, with one `Samples` for each uninterrupted run.

    ``cutoff`` [Hz] and ``derivative`` (with its ``options``) select the differentiation of positions, see `derivatives`; the
    default cut-off is that of `suggest_cutoff`. ``logged`` lists those of ("v", "a") taken from the log instead. ``parallel``
    [Hz] is the cut-off of a low-pass filter applied to both regressor and torque in the equations, 0 for none; one in ``every``
    of its rows is kept, by default about five per period; ``smooth_torque`` means that the logged torque was already filtered.
    Rows of a joint slower than ``slow`` [rad/s], one value or one per joint, after the parallel filter are not used.
    ``rest="drop"`` removes the time at rest before and after the motion. If neither ``cutoff`` nor ``parallel`` is given, the
    parallel filter is at five times the band of the motion, and by default the rest and rows below 1 % of a joint's highest
    speed, where friction is undetermined, are not used. ``outliers`` enables spike removal. ``transmission`` maps motors to
    joints, ``drive_gains`` currents to torques. ``period`` and ``jitter`` are those of `repair`; "auto" chooses the meaning of
    uneven stamps for which the positions are smoother. ``gap`` [periods] is the longest gap that is interpolated, by default 5,
    or a quarter of a period of the cut-off. ``trim`` [s] is removed at the ends of each run, by default one period of the
    cut-off, where filters have not settled. A joint that moves less than ``held`` [rad or m] in a run is taken to be at rest:
    the sign of its velocity noise would affect friction. ``delay`` [s] is the time by which torques were logged late,
    one or one for each joint, ``zero`` (n,) the joint positions at logged zeros, added to the positions. ``time_scale``
    multiplies the logged times, for a clock of another rate; logged velocities and accelerations are left as they are. The
    torques between the times ``leave_out``, (start, end) [s] or a list of these, are not used.

    >>> import dynamis as dy
    >>> from types import SimpleNamespace
    >>> robot, t = dy.load("planar_2r_melchiorri"), np.arange(2000) * 0.002
    >>> q = np.sin(np.outer(t, [2.0, 3.0]))
    >>> log = SimpleNamespace(t=t, q=q, tau=np.zeros_like(q))
    >>> ready = prepare(log, robot, cutoff=20.0)
    >>> len(ready), bool(np.abs(ready[0].v - [2.0, 3.0] * np.cos(np.outer(ready[0].t, [2.0, 3.0]))).max() < 1e-3)
    (1, True)
    """
    raw, notes = Measured.of(log, robot, transmission, drive_gains, checked_time_scale(time_scale)), Notes.on(log)
    logged, delays = _taken_from_the_log(raw, robot, logged), _each_joint(delay, robot, "delay= takes times in s")
    _check(rest, trim, every, float(np.abs(delays).max(initial=0.0)), period, raw.t)
    automatic = cutoff is None and parallel is None and "a" not in logged
    stamps, spans = usable_stamps(raw, GAP if gap is None else gap, robot.coordinate_names, notes), time_spans(leave_out)
    clock = _clock(raw, stamps, jitter, period, GAP if gap is None else gap, notes)
    if gap is None and len(clock.runs) > 1:
        gap = _tolerated_gap(raw, _clock(raw, stamps, jitter, period, WIDEST, notes), cutoff, automatic, robot)
        clock = _clock(raw, stamps, jitter, period, gap, notes) if gap > GAP else clock
    notes += [*clock.notes, *outside_notes(spans, raw.t)]
    runs = [
        on_the_clock(raw, run, robot, logged, outliers, delays * np.ones(robot.n), notes)
        for run in clock.runs
        if len(run.rows) >= SHORTEST
    ]
    if zero is not None:
        runs = [replace(run, q=run.q + _zeros(zero, robot)) for run in runs]
    if cutoff is not None:
        check_cutoff(clock.period, cutoff)
    elif runs and "a" not in logged:
        found = found_cutoff(runs, clock.period, robot, notes)
        cutoff = found.value
        if automatic:
            cutoff, parallel = _filters(found, clock.period, max(len(run.t) for run in runs), notes)
    if parallel:
        check_cutoff(clock.period, parallel, "the parallel low-pass")
        every = _even(int(1.0 / (clock.period * ROWS * parallel))) if every is None else every
    parallel = parallel or None
    edge = (0.0 if cutoff is None else 1.0 / cutoff) if trim is None else trim
    slowest = np.zeros(robot.n) if slow is None else _each_joint(slow, robot, "slow= takes speeds ≥ 0", 0.0)
    samples, resting = [], list[Array]()
    for run in runs:
        if cutoff is not None and len(run.t) * clock.period * cutoff < 1.0:
            continue
        q, v, a = motion(run, clock.period, derivative, cutoff, options or {})
        if robot.nq == robot.n:
            v, a = at_rest(run.q, v, a, held, resting)
        drop = (automatic and parallel is not None) if rest is None else rest == "drop"
        rows = kept_rows(v, int(np.ceil(edge / clock.period - 1e-9)), drop, notes)
        if rows is None or Decimation(clock.period, parallel, every or 1).rows(rows.stop - rows.start) == 0:
            continue
        if automatic and slow is None and parallel is not None:
            slowest = SLOW * np.abs(v).max(axis=0)
        use = _used(run, v, slowest, edge, cutoff, Decimation(clock.period, parallel, every or 1), spans)
        arrays = {"q": q, "v": v, "a": a, "tau": run.tau, "t": run.t, "use": use, "temperature": run.temperature}
        cut: dict[str, Any] = {name: None if x is None else x[rows] for name, x in arrays.items()}
        filters: dict[str, Any] = {"parallel": parallel, "every": every or 1, "smooth_torque": smooth_torque}
        samples.append(Samples.of(**cut, **filters, period=clock.period, source=raw.source))
    notes += notes_on_runs(len(samples), len(clock.runs), resting, robot)
    if not samples:
        raise InputError(f"no run of the log is long enough to be used ({'; '.join(notes)})")
    _check_used(samples, slow)
    chosen = {"period": clock.period, "cutoff": cutoff, "parallel": parallel, "every": every, "slow": slowest, "gap": gap}
    return Prepared(samples, tuple(notes), chosen)


def _used(run: Even, v: Array, slowest: Array, edge: float, cutoff: float | None, filtered: Decimation, spans: Array) -> Array:
    """Return which samples (N, n) are used: of joints that are not slow or saturated, not in gaps or beside long ones, and not
    within ``spans`` of time (k, 2).

    A row of the parallel filter, which averages over gaps short against its period, is used also if its middle is in one.
    """
    assert filtered.period is not None
    # after the parallel filter, a short fast segment is as slow as its neighbourhood
    parallel = filtered.cutoff
    speed = v if parallel is None or not slowest.any() else low_pass(v, filtered.period, parallel)
    use = run.use & (np.abs(speed) >= slowest)
    if run.gaps.any():
        long = long_gaps(run.gaps, filtered.period, parallel or cutoff)
        lost = beside_gaps(long, int(np.ceil(edge / filtered.period)), filtered.taps)
        use &= ~(lost if parallel is not None else lost | run.gaps)[:, None]
    for j in np.flatnonzero(run.saturated.any(axis=0)):
        use[:, j] &= ~beside_gaps(run.saturated[:, j], 0, filtered.taps)
    for start, end in spans:
        use &= ~beside_gaps((run.t >= start) & (run.t <= end), 0, filtered.taps)[:, None]
    return np.asarray(use)


def _taken_from_the_log(raw: Measured, robot: Robot, logged: Sequence[str]) -> tuple[str, ...]:
    """Return which of v and a are not derived from q."""
    names = (logged,) if isinstance(logged, str) else tuple(logged)
    if robot.nq > robot.n:
        if raw.v is None or raw.a is None:
            raise InputError(
                f"robot {printable(robot.name)} has joints with quaternions, whose velocities are not derivatives of "
                "columns of q: the log must contain v and a"
            )
        return "v", "a"
    for name in names:
        if name not in ("v", "a"):
            raise InputError(f"logged= takes 'v' and 'a', got {name!r}")
        if getattr(raw, name) is None:
            raise InputError(f"logged= contains {name!r}, which is not in the log")
    return names


def _clock(raw: Measured, stamps: Array, jitter: str, period: float | None, gap: float, notes: Notes) -> Clock:
    options: dict[str, Any] = {
        "period": period, "gap": gap, "repeats": raw.repeats, "numbers": notes.numbers, "word": notes.word,
        "excluded": np.isfinite(raw.t) & ~np.isfinite(stamps),
    }  # fmt: skip
    if jitter == "auto":
        return repair_with_positions(stamps, raw.q, **options)
    return repair(stamps, jitter=jitter, **options)


def _tolerated_gap(raw: Measured, clock: Clock, cutoff: float | None, automatic: bool, robot: Robot) -> float:
    """Return the number of periods over which signals below the cut-off can be interpolated."""
    longest = max(clock.runs, key=len)
    if cutoff is None:
        if robot.nq > robot.n or len(longest) < FEWEST or not np.isfinite(raw.q[longest.rows]).all():
            return GAP
        try:
            found = suggest_cutoff(raw.at_joints("q", longest.resample(raw.q[longest.rows])), clock.period)
        except InputError:  # no joint moves
            return GAP
        cutoff = min(found.value, SMOOTHING * PARALLEL * found.band) if automatic and found.band > 0.0 else found.value
    return max(GAP, INTERPOLATED / (cutoff * clock.period))


def _filters(found: Cutoff, period: float, samples: int, notes: list[str]) -> tuple[float, float]:
    """Return the cut-offs of the derivatives and of the parallel low-pass.

    The latter is 0, for none, if it is too close to the sampling rate, or the run too short for it.
    """
    parallel = PARALLEL * found.band
    if not 0.0 < parallel < 0.25 / period or len(Decimation(period, parallel).taps) >= 0.25 * samples:
        return found.value, 0.0
    cutoff = min(found.value, SMOOTHING * parallel)
    notes.append(
        f"regressor and torque low-pass filtered at {parallel:.3g} Hz, five times the band of the motion, with derivatives at "
        f"{cutoff:.3g} Hz"
    )
    return cutoff, parallel


def _even(every: int) -> int:
    """Return this number of samples between rows, made even, so that pairs of means suffice for the filter (`Decimation`)."""
    return max(1, every - every % 2 if every > 2 else every)


def _check(rest: str | None, trim: float | None, every: int | None, delay: float, period: float | None, t: Array) -> None:
    if rest not in (None, "keep", "drop"):
        raise InputError(f"rest={rest!r} is not supported; choose 'keep' or 'drop'")
    times = t[np.isfinite(t)]
    duration = float(np.ptp(times)) if len(times) else 0.0
    if trim is not None and not trim >= 0.0:
        raise InputError(f"trim={trim!r} must be a time in s, zero or more")
    if trim is not None and 2.0 * trim > duration:
        raise InputError(f"trim={trim!r} at both ends leaves nothing of a log of {duration:.4g} s; give a shorter time in s")
    if period is not None and not 0.0 < period < np.inf:
        raise InputError(f"period={period!r} must be a time in s above zero")
    if every is not None and not every >= 1:
        raise InputError(f"every={every!r} must be an integer number of rows, 1 or more")
    if delay and delay >= duration:
        raise InputError(f"delay={delay!r} is as long as the log of {duration:.4g} s; give a time in s")


def _check_used(samples: Sequence[Samples], slow: Any) -> None:
    if slow is not None and not any(run.use.any() for run in samples):
        fastest = max(float(np.abs(run.v).max()) for run in samples)
        raise InputError(f"slow={slow!r} excludes every sample: no joint is faster than {fastest:.3g}; give a lower speed")


def time_spans(leave_out: Any) -> Array:
    """Return intervals of time (k, 2), given as one or several pairs."""
    try:
        spans = np.atleast_2d(np.asarray(leave_out, dtype=float)) if len(leave_out) else np.zeros((0, 2))
    except (TypeError, ValueError):
        spans = np.zeros((1, 1))
    if spans.ndim != 2 or spans.shape[1] != 2 or not (np.isfinite(spans).all() and (spans[:, 0] < spans[:, 1]).all()):
        raise InputError(f"leave_out= takes the start and the end of a time in s, or a list of such pairs; got {leave_out!r}")
    return spans


def overlapping(spans: Array, t: Array) -> Array:
    """Return which intervals of time (k, 2) contain some of the duration of a log with these times."""
    times = t[np.isfinite(t)]
    return np.zeros(len(spans), bool) if not len(times) else (spans[:, 1] >= times.min()) & (spans[:, 0] <= times.max())


def outside_notes(spans: Array, t: Array) -> list[str]:
    """Return a note for each interval of time (k, 2) outside of a log with these times."""
    whole = f"the times of the log are {np.nanmin(t):.6g} … {np.nanmax(t):.6g} s" if np.isfinite(t).any() else "it has no times"
    return [
        f"the time left out, {start:.6g} … {end:.6g} s, is outside of the log and has no effect: {whole}"
        for start, end in spans[~overlapping(spans, t)]
    ]


def _zeros(zero: Any, robot: Robot) -> Array:
    """The positions of the joints at logged zeros: one other than zero hardly is that of all joints."""
    found = _each_joint(zero, robot, "zero= takes joint positions")
    if not found.ndim and found and robot.n > 1:
        raise InputError(f"zero= takes one position for each of the {robot.n} joints, 0 where it is right; got {zero!r}")
    return found


def _each_joint(value: Any, robot: Robot, what: str, least: float = -np.inf) -> Array:
    numbers = np.asarray(value, dtype=float)
    if numbers.shape not in ((), (robot.n,)) or not (np.isfinite(numbers) & (numbers >= least)).all():
        raise InputError(f"{what}, one or one for each of the {counted(robot.n, 'joint')}; got {value!r}")
    return numbers
