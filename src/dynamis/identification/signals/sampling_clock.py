"""Repair of time stamps: the sampling period, and the tick of an even clock for each row of a log.

Every repair adds a note with the number of rows and their indices.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.identification.signals.outliers import interpolation
from dynamis.identification.signals.sampling_period import (
    BURST,
    COHERENT,
    clock_period,
    coherence,
    deviations,
    first_period,
    ticks_of,
    without_rounding,
)

Array = npt.NDArray[Any]

GAP = 5.0  # periods: longer gaps are not interpolated
HOLE = 2.5  # periods between two samples above which the values in between are interpolated, not measured
CLOSE = 0.2  # periods: of two samples closer than this, a spline would amplify the noise
COARSE = 0.01  # fraction of rows with a repeated stamp but other values above which stamps are coarser than the sampling
CLEARLY = 0.8  # ratio of the deviations of the positions from smooth curves below which stamps are taken to be erroneous
COMPARED = 20_000  # rows in which they are compared
USUAL = 0.98  # quantile of the deviations above which they are spikes
SAME = 1e-3  # periods: closer stamps are equal
SHOWN = 6  # rows listed in a note


@dataclass(frozen=True, eq=False)
class Run:
    """An uninterrupted part of a log: its ``rows`` in order of time, and the tick of an even clock for each.

    ``start`` is the time of tick 0, ``times`` are the sampling times of the rows.
    """

    start: float
    period: float
    rows: Array
    ticks: Array
    times: Array

    def __len__(self) -> int:
        return int(self.ticks[-1]) + 1

    @property
    def t(self) -> Array:
        """The even times."""
        return self.start + self.period * np.arange(len(self))

    @functools.cached_property
    def missing(self) -> Array:
        """Mask of the ticks without a measurement: without a row or, at uneven times, between two samples far apart."""
        if not self.even:
            after = np.clip(np.searchsorted(self.times, self.t), 1, len(self.times) - 1)
            return np.asarray(self.times[after] - self.times[after - 1] > HOLE * self.period)
        empty = np.ones(len(self), dtype=bool)
        empty[self.ticks] = False
        return empty

    @property
    def holes(self) -> Array:
        """Mask of the steps from a row to the next between which a sample is missing."""
        return np.diff(self.ticks) > 1 if self.even else np.diff(self.times) > HOLE * self.period

    @functools.cached_property
    def even(self) -> bool:
        """Whether the values were sampled at the ticks."""
        return bool(np.abs(self.times - (self.start + self.period * self.ticks)).max() <= SAME * self.period)

    def resample(self, values: Any) -> Array:
        """Return values (rows, …) of this run's rows at the even times: unchanged if sampled at a tick, else interpolated."""
        x = np.asarray(values, dtype=float)
        if len(x) != len(self.rows):
            raise InputError(f"this run has {counted(len(self.rows), 'row')}, but {len(x)} values are given")
        if not self.even:
            return interpolation(self.times, x)(self.t)
        missing = self.missing
        if len(x) == len(self) and not missing.any():
            return x
        result = np.empty((len(self), *x.shape[1:]))
        result[self.ticks] = x
        result[missing] = interpolation(self.times, x)(self.t[missing])
        return result


class Notes(list[str]):
    """Notes on rows, with the ``numbers`` of these in their file, in units of ``word`` ("line", "row")."""

    def __init__(self, numbers: Any = None, word: str = "row") -> None:
        super().__init__()
        self.numbers, self.word = numbers, word

    @classmethod
    def on(cls, log: Any) -> Notes:
        notes = cls(getattr(log, "numbers", None), getattr(log, "row_word", "row"))
        notes.extend(getattr(log, "notes", ()))
        return notes

    def which(self, rows: Any) -> str:
        """Return rows for a note: their number and the first of them."""
        shown = ", ".join(str(self.number(k)) for k in rows[:SHOWN]) + (", …" if len(rows) > SHOWN else "")
        return f"{counted(len(rows), self.word)} ({shown})"

    def span(self, first: int, last: int) -> str:
        """Return the rows from the first to before the last for a note."""
        return f"from {self.word} {self.number(first)} to {self.number(last - 1)}"

    def number(self, rows: Any) -> Any:
        """Return the numbers of rows in the file."""
        return rows if self.numbers is None else np.asarray(self.numbers)[rows]


@dataclass(frozen=True, eq=False)
class Clock:
    """The even clock of a log: its period [s], its runs, the number of missing samples, and of duplicates.

    ``bursts`` tells whether many rows have almost the same stamp, so that they are taken to be consecutive.
    """

    period: float
    runs: tuple[Run, ...]
    dropped: int
    duplicated: int
    notes: tuple[str, ...]
    bursts: bool = False


def repair(
    t: Any,
    *,
    period: float | None = None,
    gap: float = GAP,
    jitter: str = "stamps",
    repeats: Any = None,
    numbers: Any = None,
    word: str = "row",
    excluded: Any = False,
) -> Clock:
    """Return the even clock for time stamps (N,) in s.

    Rows with the same stamp are duplicates, and the later one is dropped, unless ``repeats`` (N,) is false there because its
    values differ: then the stamps are too coarse. Rows out of order are sorted; a clock that was set back, or a gap of more
    than ``gap`` periods, starts a new run; smaller gaps are interpolated. ``jitter`` is the meaning of uneven stamps: "stamps"
    if the samples were even and the stamps are not, so that a line is fitted to them; or "samples" if the values were taken at
    these times, and are interpolated at even ones. Notes name the ``numbers`` (N,) of rows in their file, in units of ``word``;
    rows without a time are noted unless they are ``excluded`` (N,) for another reason.

    >>> clock = repair([0.0, 0.01, 0.021, 0.03, 0.05, 0.05, 0.06])
    >>> round(clock.period, 3), clock.dropped, clock.duplicated
    (0.01, 1, 1)
    >>> clock.runs[0].resample(np.array([0.0, 1.0, 2.0, 3.0, 5.0, 6.0])).round(6).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    stamps = np.asarray(t, dtype=float)
    if stamps.ndim != 1 or len(stamps) < 3:
        raise InputError(f"time stamps must be a list of at least three numbers, got shape {stamps.shape}")
    if jitter not in ("stamps", "samples"):
        raise InputError(f"jitter={jitter!r} is not supported; choose 'stamps' or 'samples'")
    if not gap >= 1.0:
        raise InputError(f"gap={gap!r} must be at least one period")
    notes = Notes(numbers, word)
    rows = np.flatnonzero(np.isfinite(stamps))
    if len(rows) < 3:
        raise InputError(f"no run: {len(rows)} of {len(stamps)} rows have a time and positions that can be used")
    timeless = np.flatnonzero(~np.isfinite(stamps) & ~np.asarray(excluded))
    if len(timeless):
        notes.append(f"rows without a time dropped: {notes.which(timeless)}")
    again = np.ones(len(stamps), dtype=bool) if repeats is None else np.asarray(repeats, dtype=bool)
    if again.shape != stamps.shape:
        raise InputError(
            f"repeats has shape {again.shape}; expected one boolean for each of the {counted(len(stamps), 'stamp')}"
        )
    coarse = float(np.mean((np.diff(stamps[rows]) == 0.0) & ~again[rows][1:])) > COARSE
    h, in_a_row = first_period(stamps[rows], coarse) if period is None else (float(period), False)
    if not (np.isfinite(h) and h > 0.0):
        raise InputError(f"the time stamps do not increase (period {h!r} s); check that this column is the time in seconds")
    stamps = strays_restamped(stamps, rows, h, gap, notes)
    parts = in_parts(stamps, rows, h, gap, notes)
    parts, duplicated = without_duplicates(stamps, parts, h, again, notes)
    even, bursts = [stamps[part] for part in parts], in_a_row and jitter == "stamps"
    if in_a_row and coarse and any(_drifts(x, h) for x in even):
        stamps = stamps.copy()
        for part, x in zip(parts, even, strict=True):
            stamps[part] = without_rounding(x, h)
        notes.append("stamps too coarse for the sampling (many rows share one) and of no even clock: averaged over neighbours")
        jitter, in_a_row, clocked, bursts = "samples", False, False, False
    elif in_a_row and (coarse or jitter == "stamps"):
        why, clocked = "too coarse for the sampling (many rows share one)" if coarse else "in bursts", True
        notes.append(f"stamps {why}: period {h:.6g} s from their average rate; single missing samples are not detectable")
    elif period is None:
        h, clocked = clock_period(even, h, gap)
        in_a_row = not clocked and jitter == "stamps"
    else:
        clocked = coherence(even, h) >= COHERENT
    runs = tuple(_run(stamps, part, h, jitter, in_a_row, clocked) for part in parts)
    return Clock(h, runs, *_told(stamps, runs, h, duplicated, jitter, notes), bursts)


def _drifts(s: Array, h: float) -> bool:
    """Return whether coarse stamps deviate from an even clock by more than their rounding."""
    off = s - h * np.arange(len(s))
    steps = np.diff(s)
    return len(s) > BURST and float(np.std(off)) > float(np.median(steps[steps > 0.0]))


def repair_with_positions(stamps: Any, q: Array, *, repeats: Any = None, **options: Any) -> Clock:
    """Return the even clock for which the positions (N, n) are smoother: uneven stamps are true sampling times, or errors.

    Positions at the wrong times deviate from smooth curves in proportion to their velocity.
    """
    true = repair(stamps, jitter="samples", repeats=repeats, **options)
    if all(run.even for run in true.runs):
        return true
    errors = repair(stamps, jitter="stamps", repeats=repeats, **options)
    longest = max(errors.runs, key=len)
    rows = longest.rows[:COMPARED]
    x = np.where(np.isfinite(q[rows]), q[rows], 0.0)
    limit = 1.0 / CLEARLY if errors.bursts else CLEARLY
    return errors if _roughness(longest.times[:COMPARED], x) < limit * _roughness(np.asarray(stamps)[rows], x) else true


def _roughness(t: Array, q: Array) -> float:
    """Return the geometric mean over the joints of the mean deviation of positions at these times from smooth curves."""
    off = np.abs(deviations(t, q))
    if not len(off):
        return 0.0
    mean = np.minimum(off, np.quantile(off, USUAL, axis=0)).mean(axis=0)
    return float(np.exp(np.mean(np.log(mean[mean > 0.0])))) if (mean > 0.0).any() else 0.0


def _run(t: Array, part: Array, h: float, jitter: str, in_a_row: bool, clocked: bool) -> Run:
    s = t[part]
    ticks = (
        np.arange(len(s))
        if in_a_row
        else ticks_of(s, h)
        if clocked or jitter == "stamps"
        else np.rint((s - s[0]) / h).astype(int)
    )
    start = float(np.median(s - h * ticks)) if clocked or jitter == "stamps" else float(s[0])
    if jitter == "stamps" or in_a_row or len(s) < 4:
        return Run(start, h, part, ticks, start + h * ticks)
    if np.abs(s - start - h * ticks).max() > SAME * h:
        kept = _apart(s, CLOSE * h)
        part, s = part[kept], s[kept]
        ticks = np.rint((s - start) / h).astype(int)
    # even times must be within the stamps
    first = int(np.ceil((s[0] - start) / h - SAME))
    last = int(np.floor((s[-1] - start) / h + SAME))
    return Run(start + first * h, h, part, np.clip(ticks - first, 0, max(last - first, 0)), s)


def _apart(s: Array, least: float) -> list[int]:
    """Return the indices of stamps at least this far from the previous one kept."""
    kept = [0]
    for k in range(1, len(s)):
        if s[k] - s[kept[-1]] >= least:
            kept.append(k)
    return kept


def _told(
    t: Array, runs: Sequence[Run], h: float, duplicated: int, jitter: str, notes: Notes
) -> tuple[int, int, tuple[str, ...]]:
    before = [run.rows[np.flatnonzero(run.holes) + 1] for run in runs]
    dropped = sum(int(run.missing.sum()) for run in runs)
    if dropped:
        notes.append(f"{counted(dropped, 'missing sample')} interpolated, before {notes.which(np.concatenate(before))}")
    if jitter == "stamps":
        off = np.concatenate([t[run.rows] - (run.start + run.period * run.ticks) for run in runs])
        what, done = "", "replaced by an even clock"
    else:
        steps = np.concatenate([np.diff(run.times)[~run.holes] for run in runs if not run.even] or [np.full(1, h)])
        off, what, done = steps - h, " in their steps", "kept, and the values interpolated at even times"
    if len(off) and np.abs(off).max() > 0.01 * h:
        rms, most = 100.0 * float(np.sqrt(np.mean(off**2))) / h, 100.0 * np.abs(off).max() / h
        notes.append(f"uneven stamps (RMS {rms:.1f} % of a period{what}, at most {most:.1f} %) {done}, period {h:.6g} s")
    return dropped, duplicated, tuple(notes)


def strays_restamped(t: Array, rows: Array, h: float, gap: float, notes: Notes) -> Array:
    """Replace a stamp far off between two that are two periods apart, unless a sample is missing at its time."""
    s = t[rows]
    apart = s[2:] - s[:-2]
    middle = 0.5 * (s[2:] + s[:-2])
    stray = (np.abs(apart - 2.0 * h) < 0.5 * h) & (np.abs(s[1:-1] - middle) > gap * h)
    if not stray.any():
        return t
    ordered = np.sort(s)
    place = np.searchsorted(ordered, s[1:-1])
    room = ordered[np.minimum(place + 1, len(s) - 1)] - ordered[np.maximum(place - 1, 0)]
    stray &= (room < 1.5 * h) | (room > (gap + 1.5) * h)
    if not stray.any():
        return t
    t = t.copy()
    at = rows[1:-1][stray]
    t[at] = middle[stray]
    notes.append(f"stamps out of order replaced by the mean of their neighbours: {notes.which(at)}")
    return t


def in_parts(t: Array, rows: Array, h: float, gap: float, notes: Notes) -> list[Array]:
    """Return the rows in order, split where the clock was set back and at long gaps."""
    back = np.flatnonzero(np.diff(t[rows]) < 0.0) + 1
    cuts, shuffled, seen, latest = [], [], 0, -np.inf
    for k in back:
        latest = max(latest, t[rows[seen:k]].max())
        behind = t[rows[k : k + int(gap) + 1]] <= latest
        if behind.all() and t[rows[k]] < latest - gap * h:
            cuts.append(int(k))
            latest = -np.inf
        elif t[rows[k]] < latest:
            shuffled.append(rows[k])
        seen = int(k)
    if shuffled:
        notes.append(f"rows out of order sorted: {notes.which(shuffled)}")
    if cuts:
        notes.append(f"the clock was set back, a new run starts: {notes.which(rows[cuts])}")
    parts = []
    for part in np.split(rows, cuts):
        ordered = part[np.argsort(t[part], kind="stable")]
        long = _gaps(t[ordered], h, gap)
        if len(long):
            lost = sum(round(d / h) - 1 for d in np.diff(t[ordered])[long - 1])
            notes.append(
                f"gaps of more than {gap:g} periods, {counted(lost, 'sample')} in total, start new runs: "
                f"{notes.which(ordered[long])}"
            )
        parts += np.split(ordered, long)
    return parts


def _gaps(s: Array, h: float, gap: float) -> Array:
    """Return where more samples are missing than allowed; a pause before a burst that catches up is not a gap."""
    far = np.flatnonzero(np.diff(s) > (gap + 0.5) * h) + 1
    late = s - h * np.arange(len(s))
    missing = [late[k : k + BURST].mean() - late[max(k - BURST, 0) : k].mean() for k in far]
    return far[np.array(missing) > gap * h] if len(far) else far


def without_duplicates(t: Array, parts: list[Array], h: float, repeats: Array, notes: Notes) -> tuple[list[Array], int]:
    """Return the parts without rows that ``repeats`` the previous one with the same stamp, and their number."""
    kept, twice = [], []
    for part in parts:
        again = np.concatenate([[False], np.diff(t[part]) < SAME * h]) & repeats[part]
        twice += list(part[again])
        kept.append(part[~again])
    if twice:
        notes.append(f"rows with the stamp of the previous one dropped: {notes.which(twice)}")
    return kept, len(twice)
