"""Checks of the time stamps of a raw log: not increasing, jumps, missing samples, two recordings in one time, another unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.identification.logs.log import Log, LogFinding
from dynamis.identification.signals.outliers import GAUSS, stretches
from dynamis.identification.signals.sampling_period import deviations
from dynamis.robot import Robot

Array = npt.NDArray[Any]
LONG = 2.5  # periods between two samples from which one is missing
SPREADS = 12.0  # median deviations tolerated for an irregular clock
FEW = 0.01  # fraction of the rows up to which `prepare` drops, interpolates or sorts them
MOST_REPEATED = 0.9  # fraction of repeated times up to which they are rounded
WHOLE, OFTEN = 0.01, 0.9  # of the unit of rounded times: deviation of steps from multiples; fraction of steps of two or less
STILL_MOVING = 0.25  # displacement between rows with one time, relative to that between others: these are not repeated rows
SLOWEST = 0.5  # s: a longer period cannot resolve motion; such times are in another unit
BESIDE = 5  # rows on either side of a gap that determine the velocity
CERTAIN = 8.0  # standard deviations by which the displacement over a gap must differ from velocity × time for a clock jump
ONE_PERIOD = 0.3  # and its deviation from velocity × period, relative to that difference, below which it is that of one period
CAUGHT_UP = 20  # rows within which stamps that were late are on time again
TESTED = 20_000  # rows from which the noise of the positions is estimated
ALTERNATE = 20  # rows that belong to two recordings by turns, from which they are reported
FAR, TIMES = 1e-3, 5.0  # rad or m, and median steps: more than the steps of an encoder between two values
ASIDE = 0.2  # ratio of the displacement over two rows to that over one, below which they do


def clock_findings(log: Log, robot: Robot) -> Iterator[LogFinding]:
    """Yield errors for non-increasing times and clock jumps, warnings for missing samples."""
    steps = np.diff(log.t)
    if (both := _two_recordings(log, robot)) is not None:
        yield both
        return
    cure = "sort the rows by time, or split the log there"
    yield from _not_increasing(log, "time goes back", steps < 0.0, "time decreases", cure)
    ahead = steps[steps > 0.0]
    if _rounded(log, robot, steps):
        row = int(np.flatnonzero(steps == 0.0)[0]) + 1
        text = f"the times are rounded to {ahead.min():.6g} s: several rows share one, first at {log.where(row)}"
        cure = "they are averaged over neighbours; log them with more digits"
        yield LogFinding("warning", "time rounded", "t", row, text, cure)
    else:
        cure = "remove the repeated rows, or set rate in a mapping"
        yield from _not_increasing(log, "time repeated", steps == 0.0, "the time of the previous row is repeated", cure)
    if not len(ahead):
        return
    period = float(np.median(ahead))
    if period >= SLOWEST:
        yield _slow_clock(log, period)
    spread = float(np.median(np.abs(ahead - period)))
    gaps = np.flatnonzero(steps > max(LONG * period, period + SPREADS * spread))
    jumped = gaps[_clock_jumped(log, robot, gaps, period)]
    if len(jumped):
        row, many = int(jumped[0]) + 1, f", and at {len(jumped)} places in total" if len(jumped) > 1 else ""
        text = f"the clock jumps by {steps[row - 1]:.6g} s at {log.where(row)}{many}"
        text += f", while the robot moves as in one period of {period:.6g} s"
        yield LogFinding("error", "clock jump", "t", row, text, "correct the times, or split the log there")
    lost = np.setdiff1d(gaps, jumped)
    if len(lost):
        row, count = int(lost[0]) + 1, int(sum(round(steps[k] / period) - 1 for k in lost))
        places = "one place" if len(lost) == 1 else f"{len(lost)} places, first"
        text = f"{count} samples are missing at {places} {steps[row - 1]:.6g} s before {log.where(row)}"
        cure = "short gaps are interpolated, long ones start a new run"
        yield LogFinding("warning", "gap", "t", row, f"{text} (the period is {period:.6g} s)", cure)


def _two_recordings(log: Log, robot: Robot) -> LogFinding | None:
    """Return a finding if rows of two recordings alternate: the clock was set back, and the rows were sorted by time."""
    if len(log) < ALTERNATE:
        return None
    one = np.linalg.norm(displacement(robot, log.q[:-1], log.q[1:]), axis=1)
    least = np.minimum(one[:-1], one[1:])
    far = least > max(FAR, TIMES * float(np.nanmedian(one)))
    if np.count_nonzero(far) < ALTERNATE:
        return None
    aside = far & (np.linalg.norm(displacement(robot, log.q[:-2], log.q[2:]), axis=1) < ASIDE * least)
    found = [(first, last) for first, last in stretches(aside) if last - first >= ALTERNATE]
    if not found:
        return None
    first, last = found[0][0], found[-1][1] + 1
    text = f"from {log.where(first)} to {log.where(last)} rows of two recordings alternate"
    text += ": as if the clock had been set back, and the rows sorted by time"
    cure = "give the rows in the order in which they were recorded, or leave these out"
    return LogFinding("error", "two recordings", "t", first, text, cure)


def _not_increasing(log: Log, code: str, which: Array, what: str, cure: str) -> Iterator[LogFinding]:
    """Yield an error for steps ``which`` of the clock, mended if they are few or all values are repeated with the time."""
    if which.any():
        rows = np.flatnonzero(which) + 1
        row, count = int(rows[0]), len(rows)
        many = f", and in {counted(count, 'row')} in total" if count > 1 else ""
        text = f"{what} at {log.where(row)}, from {log.t[row - 1]:.9g} to {log.t[row]:.9g} s{many}"
        twice = code == "time repeated" and all(np.array_equal(x[rows], x[rows - 1]) for x in (log.q, log.tau))
        yield LogFinding("error", code, "t", row, text, cure, mends=twice or count <= max(1.0, FEW * len(log)))


def _rounded(log: Log, robot: Robot, steps: Array) -> bool:
    """Return whether times are multiples of a unit coarser than the sampling: many repeat while the robot moves."""
    repeated = float(np.mean(steps == 0.0)) if len(steps) else 0.0
    if not FEW < repeated < MOST_REPEATED or not (steps >= 0.0).all():
        return False
    units = steps / steps[steps > 0.0].min()
    if np.abs(units - np.rint(units)).max() > WHOLE or np.mean(units < 2.5) < OFTEN:
        return False
    moved = np.linalg.norm(displacement(robot, log.q[:-1], log.q[1:]), axis=1)
    return bool(np.nanmean(moved[steps == 0.0]) > STILL_MOVING * np.nanmean(moved[steps > 0.0]))


def _slow_clock(log: Log, period: float) -> LogFinding:
    """Return a finding if times in milliseconds or smaller units were read as seconds."""
    units = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    unit = next((name for name, x in units.items() if period * x < SLOWEST), "ns")
    text = f"samples are {period:.6g} s apart from {log.where(0)} on: the times seem to be in {unit}"
    text += f", {1.0 / (period * units[unit]):.4g} samples per second"
    cure = f'name the column "t [{unit}]", or set unit = "{unit}" under [time] in a mapping'
    return LogFinding("error", "wrong unit", "t", 0, text, cure)


def _clock_jumped(log: Log, robot: Robot, gaps: Array, period: float) -> Array:
    """Return a mask of the gaps over which the robot moved as far as in one period, not as far as the elapsed time implies.

    Lines through the positions on either side of a gap give the displacement over it and the velocity. Their difference from
    velocity × time must be significant against the noise of the positions and the change of the velocity.
    """
    jumped = np.zeros(len(gaps), bool)
    inside = (gaps >= BESIDE - 1) & (gaps + BESIDE < len(log)) & ~_caught_up(log.t, gaps, period)
    at = gaps[inside]
    if not len(at):
        return jumped
    around = at[:, None] + np.arange(1 - BESIDE, BESIDE + 1)
    here, flat = np.repeat(at, 2 * BESIDE), around.reshape(-1)
    q = displacement(robot, log.q[here], log.q[flat]).reshape(len(at), 2 * BESIDE, -1)
    before, after = (_line(log.t[around[:, x]], q[:, x], end) for x, end in ((slice(BESIDE), -1), (slice(BESIDE, None), 0)))
    elapsed = (log.t[at + 1] - log.t[at])[:, None]
    across, v, change = after[0] - before[0], 0.5 * (before[1] + after[1]), np.abs(after[1] - before[1])
    noise = _noise(log, robot)
    # of the ends of both lines, and of the mean of their slopes
    spread = BESIDE * (BESIDE**2 - 1) / 12.0 * period**2
    variance = noise**2 * (8.0 / BESIDE + elapsed**2 / (2.0 * spread)) + (0.25 * change * elapsed) ** 2
    short = (across - v * elapsed) / np.sqrt(variance)
    moving = np.abs(short) > 1.0
    near = np.linalg.norm(np.where(moving, across - v * period, 0.0), axis=1)
    far = np.linalg.norm(np.where(moving, across - v * elapsed, 0.0), axis=1)
    jumped[inside] = (np.abs(short).max(axis=1) > CERTAIN) & (near < ONE_PERIOD * far)
    return jumped


def _caught_up(t: Array, gaps: Array, period: float) -> Array:
    """Return a mask of the gaps that are no more than late stamps, followed by as many that are closer than a period."""
    rows = np.minimum(gaps[:, None] + np.arange(1, CAUGHT_UP + 2), len(t) - 1)
    late = t[rows] - t[rows[:, :1]] - period * (rows - rows[:, :1])
    return np.asarray(late.min(axis=1) < -0.5 * (t[gaps + 1] - t[gaps] - period))


def _line(t: Array, q: Array, end: int) -> tuple[Array, Array]:
    """Return the value at an end, and the slope, of the lines through positions (G, N, n) at times (G, N)."""
    middle, mean = t.mean(axis=1, keepdims=True), q.mean(axis=1)
    off = t - middle
    slope = (off[..., None] * q).sum(axis=1) / ((off**2).sum(axis=1)[:, None] + 1e-300)
    return mean + slope * off[:, end, None], slope


def _noise(log: Log, robot: Robot) -> Array:
    """Return the standard deviation (n,) of the noise of the positions, at least that of their resolution."""
    q = displacement(robot, np.broadcast_to(log.q[:1], log.q.shape), log.q) if robot.nq != robot.n else log.q
    rows = slice(max(len(log) - TESTED, 0) // 2, (len(log) + TESTED) // 2)
    off = np.abs(deviations(log.t[rows], q[rows]))
    steps = np.abs(np.diff(q[rows], axis=0))
    resolution = np.min(np.where(steps > 0.0, steps, np.inf), axis=0, initial=np.inf)
    return GAUSS * np.nanmedian(off, axis=0) + np.where(np.isfinite(resolution), resolution, 0.0) if len(off) else resolution


def displacement(robot: Robot, q0: Array, q1: Array) -> Array:
    """Return the velocity × time that leads from q0 to q1."""
    return robot.difference(q0, q1) if robot.nq != robot.n else q1 - q0
