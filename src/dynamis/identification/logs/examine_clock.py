"""Checks of the time stamps of a raw log: not increasing, jumps, missing samples, two recordings in one time, another unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.identification.logs.log import Log, LogFinding
from dynamis.identification.signals.stages import stretches
from dynamis.robot import Robot

Array = npt.NDArray[Any]
LONG = 2.5  # periods between two samples from which one is missing
SPREADS = 12.0  # median deviations tolerated for an irregular clock
FEW = 0.01  # fraction of the rows up to which `prepare` drops, interpolates or sorts them
SLOWEST = 0.5  # s: a longer period cannot resolve motion; such times are in another unit
ONE_PERIOD = 0.25  # fraction of the displacement expected over a gap, below which it is that of one period
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
    cure = "remove the repeated rows, or set rate in a mapping"
    yield from _not_increasing(log, "time repeated", steps == 0.0, "the time of the previous row is repeated", cure)
    ahead = steps[steps > 0.0]
    if not len(ahead):
        return
    period = float(np.median(ahead))
    if period >= SLOWEST:
        yield _slow_clock(log, period)
    spread = float(np.median(np.abs(ahead - period)))
    gaps = np.flatnonzero(steps > max(LONG * period, period + SPREADS * spread))
    jumped = [k for k in gaps if _clock_jumped(log, robot, int(k), period)]
    if jumped:
        row, many = int(jumped[0]) + 1, f", and at {len(jumped)} places in total" if len(jumped) > 1 else ""
        text = f"the clock jumps by {steps[row - 1]:.6g} s at {log.where(row)}{many}"
        text += f", while the robot moves as in one period of {period:.6g} s"
        yield LogFinding("error", "clock jump", "t", row, text, "correct the times, or split the log there")
    lost = [k for k in gaps if k not in set(jumped)]
    if lost:
        row, count = int(lost[0]) + 1, int(sum(round(steps[k] / period) - 1 for k in lost))
        places = "one place" if len(lost) == 1 else f"{len(lost)} places, first"
        text = f"{count} samples are missing at {places} {steps[row - 1]:.6g} s before {log.where(row)}"
        cure = "short gaps are interpolated and not used, long ones start a new run"
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


def _slow_clock(log: Log, period: float) -> LogFinding:
    """Return a finding if times in milliseconds or smaller units were read as seconds."""
    units = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    unit = next((name for name, x in units.items() if period * x < SLOWEST), "ns")
    text = f"samples are {period:.6g} s apart from {log.where(0)} on: the times seem to be in {unit}"
    text += f", {1.0 / (period * units[unit]):.4g} samples per second"
    cure = f'name the column "t [{unit}]", or set unit = "{unit}" under [time] in a mapping'
    return LogFinding("error", "wrong unit", "t", 0, text, cure)


def _clock_jumped(log: Log, robot: Robot, k: int, period: float) -> bool:
    """Return whether the robot moved in a step as far as in one period, not as far as the elapsed time implies."""
    q = log.q[max(k - 2, 0) : k + 3]
    if len(q) < 5 or not np.isfinite(q).all():
        return False
    before, across, after = (displacement(robot, q[i], q[i + 1]) for i in (0, 2, 3))
    usual = (before + after) / 2.0 * ((log.t[k + 1] - log.t[k]) / period)
    # only at a high, nearly constant velocity does the displacement determine the time
    moving = np.abs(before - after) < 0.2 * np.abs(before + after)
    if not moving.any() or np.abs(usual[moving]).max() < 1e-3:
        return False
    most = ONE_PERIOD + period / (log.t[k + 1] - log.t[k])
    return bool(np.linalg.norm(across[moving]) < most * np.linalg.norm(usual[moving]))


def displacement(robot: Robot, q0: Array, q1: Array) -> Array:
    """Return the velocity × time that leads from q0 to q1."""
    return robot.difference(q0, q1) if robot.nq != robot.n else q1 - q0
