"""Checks of the clock of a log: times that decrease, repeat or jump, and missing samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.logs.finding import LogFinding
from dynamis.identification.logs.log import Log
from dynamis.robot import Robot

Array = npt.NDArray[Any]
LONG = 2.5  # periods between two samples from which one is missing
SPREADS = 12.0  # median deviations tolerated for an irregular clock
FEW = 0.01  # fraction of the rows up to which `prepare` drops, interpolates or sorts them
SLOWEST = 0.5  # s: a longer period cannot resolve motion; such times are in another unit
CURE = "short gaps are interpolated and not used, long ones start a new run"
ONE_PERIOD = 0.25  # fraction of the displacement expected over a gap, below which it is that of one period


def time_findings(log: Log, robot: Robot) -> Iterator[LogFinding]:
    """Yield errors for non-increasing times and clock jumps, warnings for missing samples."""
    steps = np.diff(log.t)
    yield from _not_increasing(log, steps)
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
        text = f"{count} samples are missing at {len(lost)} places, first {steps[row - 1]:.6g} s before {log.where(row)}"
        yield LogFinding("warning", "gap", "t", row, f"{text} (the period is {period:.6g} s)", CURE)


def _not_increasing(log: Log, steps: Array) -> Iterator[LogFinding]:
    for code, which, what, cure in (
        ("time goes back", steps < 0.0, "time decreases", "sort the rows by time, or split the log there"),
        (
            "time repeated",
            steps == 0.0,
            "the time of the previous row is repeated",
            "remove the repeated rows, or set rate in a mapping",
        ),
    ):
        if which.any():
            row, count = int(np.argmax(which)) + 1, int(which.sum())
            many = f", and in {count} rows in total" if count > 1 else ""
            text = f"{what} at {log.where(row)}, from {log.t[row - 1]:.9g} to {log.t[row]:.9g} s{many}"
            yield LogFinding("error", code, "t", row, text, cure, mends=count <= max(1.0, FEW * len(log)))


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
    if k < 2 or k + 3 > len(log):
        return False
    difference = robot.difference if robot.nq != robot.n else lambda q0, q1: q1 - q0
    q = log.q[k - 2 : k + 3]
    if not np.isfinite(q).all():
        return False
    before, across, after = (difference(q[i], q[i + 1]) for i in (0, 2, 3))
    usual = (before + after) / 2.0 * ((log.t[k + 1] - log.t[k]) / period)
    # only at a high, nearly constant velocity does the displacement determine the time
    moving = np.abs(before - after) < 0.2 * np.abs(before + after)
    if not moving.any() or np.abs(usual[moving]).max() < 1e-3:
        return False
    return bool(
        np.linalg.norm(across[moving]) < (ONE_PERIOD + period / (log.t[k + 1] - log.t[k])) * np.linalg.norm(usual[moving])
    )
