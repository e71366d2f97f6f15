"""Repair of time stamps: the sampling period, and the tick of an even clock for each row of a log.

Every repair adds a note with the number of rows and their indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.signals.splines import CubicSpline
from dynamis.identification.signals.timestamps import (
    SAME,
    first_period,
    in_parts,
    refined,
    strays_restamped,
    ticks_of,
    which,
    without_duplicates,
)

Array = npt.NDArray[Any]

GAP = 5.0  # periods: longer gaps are not interpolated
HOLE = 2.5  # periods between two samples above which the values in between are interpolated, not measured
CLOSE = 0.2  # periods: of two samples closer than this, a spline would amplify the noise
POLLED = 0.1  # of a period: with a larger spread of the steps there is no even clock behind the stamps
COARSE = 0.01  # fraction of rows with a repeated stamp but other values above which stamps are coarser than the sampling


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

    @property
    def missing(self) -> Array:
        """Mask of the ticks without a measurement: without a row or, at uneven times, between two samples far apart."""
        if not self.even:
            after = np.clip(np.searchsorted(self.times, self.t), 1, len(self.times) - 1)
            return np.asarray(self.times[after] - self.times[after - 1] > HOLE * self.period)
        empty = np.ones(len(self), dtype=bool)
        empty[self.ticks] = False
        return empty

    @property
    def even(self) -> bool:
        """Whether the values were sampled at the ticks."""
        return bool(np.abs(self.times - (self.start + self.period * self.ticks)).max() <= SAME * self.period)

    def resample(self, values: Any) -> Array:
        """Return values (rows, …) of this run's rows at the even times: unchanged if sampled at a tick, else by spline."""
        x = np.asarray(values, dtype=float)
        if len(x) != len(self.rows):
            raise InputError(f"this run has {len(self.rows)} rows, but {len(x)} values are given")
        if not self.even:
            return CubicSpline(self.times, x)(self.t)
        result = np.empty((len(self), *x.shape[1:]))
        result[self.ticks] = x
        missing = self.missing
        if missing.any():
            result[missing] = CubicSpline(self.ticks.astype(float), x)(np.flatnonzero(missing))
        return result


@dataclass(frozen=True, eq=False)
class Clock:
    """The even clock of a log: its period [s], its runs, the number of missing samples, and of duplicates."""

    period: float
    runs: tuple[Run, ...]
    dropped: int
    duplicated: int
    notes: tuple[str, ...]


def repair(t: Any, *, period: float | None = None, gap: float = GAP, jitter: str = "stamps", repeats: Any = None) -> Clock:
    """Return the even clock for time stamps (N,) in s.

    Rows with the same stamp are duplicates, and the later one is dropped, unless ``repeats`` (N,) is false there because its
    values differ: then the stamps are too coarse. Rows out of order are sorted; a clock that was set back, or a gap of more
    than ``gap`` periods, starts a new run; smaller gaps are interpolated. ``jitter`` is the meaning of uneven stamps: "stamps"
    if the samples were even and the stamps are not, so that a line is fitted to them; or "samples" if the values were taken at
    these times, and are interpolated at even ones.

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
    notes: list[str] = []
    rows = np.flatnonzero(np.isfinite(stamps))
    if len(rows) < 3:
        raise InputError(f"no run: {len(rows)} of {len(stamps)} rows have a time and positions that can be used")
    if len(rows) < len(stamps):
        notes.append(f"rows without a time dropped: {which(np.flatnonzero(~np.isfinite(stamps)))}")
    again = np.ones(len(stamps), dtype=bool) if repeats is None else np.asarray(repeats, dtype=bool)
    if again.shape != stamps.shape:
        raise InputError(f"repeats has shape {again.shape}; expected one boolean for each of the {len(stamps)} stamps")
    coarse = float(np.mean((np.diff(stamps[rows]) == 0.0) & ~again[rows][1:])) > COARSE
    h, in_a_row = first_period(stamps[rows], coarse, notes) if period is None else (float(period), False)
    if not (np.isfinite(h) and h > 0.0):
        raise InputError(f"the time stamps do not increase (period {h!r} s); check that this column is the time in seconds")
    stamps = strays_restamped(stamps, rows, h, gap, notes)
    parts = in_parts(stamps, rows, h, gap, notes)
    parts, duplicated = without_duplicates(stamps, parts, h, again, notes)
    if period is None and not in_a_row:
        steps = np.concatenate([np.diff(stamps[part]) for part in parts])
        polled = jitter == "samples" and len(steps) > 0 and float(np.median(np.abs(steps - h))) > POLLED * h
        h = float(steps[steps < gap * h].mean()) if polled else refined([stamps[part] for part in parts], h)
    runs = tuple(_run(stamps, part, h, jitter, in_a_row) for part in parts)
    return Clock(h, runs, *_told(stamps, runs, h, duplicated, jitter, notes))


def repair_with_positions(stamps: Any, q: Array, *, repeats: Any = None, **options: Any) -> Clock:
    """Return the even clock for which the positions (N, n) are smoother: uneven stamps are true sampling times, or errors.

    Positions at the wrong times have jitter in proportion to their velocity, visible in their third differences.
    """
    true = repair(stamps, jitter="samples", repeats=repeats, **options)
    if all(run.even for run in true.runs):
        return true
    errors = repair(stamps, jitter="stamps", repeats=repeats, **options)
    return errors if _roughness(errors, q) < CLEARLY * _roughness(true, q) else true


CLEARLY = 0.8  # ratio of the roughness below which stamps are taken to be erroneous


def _roughness(clock: Clock, q: Array) -> float:
    """Return the geometric mean over the joints of the RMS third difference of the positions."""
    longest = max(clock.runs, key=len)
    x = longest.resample(np.where(np.isfinite(q), q, 0.0)[longest.rows])
    rough = np.quantile(np.abs(np.diff(x, 3, axis=0)), 0.8, axis=0) if len(x) > 3 else np.zeros(1)  # not spikes
    return float(np.exp(np.mean(np.log(rough[rough > 0.0])))) if (rough > 0.0).any() else 0.0


def _run(t: Array, part: Array, h: float, jitter: str, in_a_row: bool) -> Run:
    s = t[part]
    ticks = np.arange(len(s)) if in_a_row else ticks_of(s, h)
    start = float(np.median(s - h * ticks))
    if jitter == "stamps" or in_a_row or len(s) < 4:
        return Run(start, h, part, ticks, start + h * ticks)
    if np.abs(s - start - h * ticks).max() > SAME * h:
        kept = _apart(s, CLOSE * h)
        part, s, ticks = part[kept], s[kept], ticks[kept]
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
    t: Array, runs: Sequence[Run], h: float, duplicated: int, jitter: str, notes: list[str]
) -> tuple[int, int, tuple[str, ...]]:
    before = [run.rows[np.flatnonzero(np.diff(run.ticks) > 1) + 1] for run in runs]
    dropped = sum(int(run.missing.sum()) for run in runs)
    if dropped:
        notes.append(f"{dropped} missing samples interpolated and not used, before {which(np.concatenate(before))}")
    off = np.concatenate([t[run.rows] - (run.start + run.period * run.ticks) for run in runs])
    if np.abs(off).max() > 0.01 * h:
        done = "replaced by an even clock" if jitter == "stamps" else "kept, and the values interpolated at even times"
        notes.append(
            f"uneven stamps (RMS {off.std() / h:.1%} of a period, at most {np.abs(off).max() / h:.1%}) {done}, period {h:.6g} s"
        )
    return dropped, duplicated, tuple(notes)
