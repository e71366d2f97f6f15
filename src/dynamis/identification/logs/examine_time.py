"""The clock of a log examined: times that go back, stand still or jump, and samples that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.logs.finding import Finding
from dynamis.identification.logs.log import Log
from dynamis.robot import Robot

Array = npt.NDArray[Any]
LONG = 2.5  # periods between two samples from which one is missing
SPREADS = 12.0  # median deviations a clock that is not regular may be off
FEW = 0.01  # of the rows: as many are left out, filled in or put in order by `prepare`
SLOWEST = 0.5  # s: a period this long shows no motion; times that have it are in another unit
CURE = "short gaps are filled in and not used, long ones begin a new run"
ONE_PERIOD = 0.25  # of the way a gap in time would have taken: less is the way of one period


def time_findings(log: Log, robot: Robot) -> Iterator[Finding]:
    """Errors for times that do not increase and for jumps of the clock, warnings for missing samples."""
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
        row, many = int(jumped[0]) + 1, f", and at {len(jumped)} places in all" if len(jumped) > 1 else ""
        text = f"the clock jumps by {steps[row - 1]:.6g} s at {log.where(row)}{many}"
        text += f", while the robot moves on as in one period of {period:.6g} s"
        yield Finding("error", "clock jump", "t", row, text, "correct the times, or cut the log there")
    lost = [k for k in gaps if k not in set(jumped)]
    if lost:
        row, count = int(lost[0]) + 1, int(sum(round(steps[k] / period) - 1 for k in lost))
        text = f"{count} samples are missing at {len(lost)} places, first {steps[row - 1]:.6g} s before {log.where(row)}"
        yield Finding("warning", "gap", "t", row, f"{text} (the period is {period:.6g} s)", CURE)


def _not_increasing(log: Log, steps: Array) -> Iterator[Finding]:
    for code, which, what, cure in (
        ("time goes back", steps < 0.0, "time goes back", "sort the rows by time, or cut the log there"),
        (
            "time repeated",
            steps == 0.0,
            "the time of the row before is repeated",
            "remove the repeated rows, or give rate in a mapping",
        ),
    ):
        if which.any():
            row, count = int(np.argmax(which)) + 1, int(which.sum())
            many = f", and in {count} rows in all" if count > 1 else ""
            text = f"{what} at {log.where(row)}, from {log.t[row - 1]:.9g} to {log.t[row]:.9g} s{many}"
            yield Finding("error", code, "t", row, text, cure, mends=count <= max(1.0, FEW * len(log)))


def _slow_clock(log: Log, period: float) -> Finding:
    """Thousandths of seconds and the like taken for seconds."""
    units = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    unit = next((name for name, x in units.items() if period * x < SLOWEST), "ns")
    text = f"samples are {period:.6g} s apart from {log.where(0)} on: the times seem to be in {unit}"
    text += f", {1.0 / (period * units[unit]):.4g} samples a second"
    cure = f'name the column "t [{unit}]", or say unit = "{unit}" under [time] in a mapping'
    return Finding("error", "wrong unit", "t", 0, text, cure)


def _clock_jumped(log: Log, robot: Robot, k: int, period: float) -> bool:
    """Whether the robot went as far in a step as in one period, not as far as in the time the clock says passed."""
    if k < 2 or k + 3 > len(log):
        return False
    difference = robot.difference if robot.nq != robot.n else lambda q0, q1: q1 - q0
    q = log.q[k - 2 : k + 3]
    if not np.isfinite(q).all():
        return False
    before, across, after = (difference(q[i], q[i + 1]) for i in (0, 2, 3))
    usual = (before + after) / 2.0 * ((log.t[k + 1] - log.t[k]) / period)
    # fast, and hardly changing: only then does the way tell the time
    moving = np.abs(before - after) < 0.2 * np.abs(before + after)
    if not moving.any() or np.abs(usual[moving]).max() < 1e-3:
        return False
    return bool(
        np.linalg.norm(across[moving]) < (ONE_PERIOD + period / (log.t[k + 1] - log.t[k])) * np.linalg.norm(usual[moving])
    )
