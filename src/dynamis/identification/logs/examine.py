"""Checks of a raw log before use: non-finite numbers, clock, positions, velocities, torques."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.logs.examine_motion import motion_findings
from dynamis.identification.logs.log import SIGNALS, Log, LogFinding
from dynamis.robot import Robot

Array = npt.NDArray[Any]
FEWEST = 30  # samples: a joint has up to thirteen parameters, and each needs more than one equation


def examine(log: Log, robot: Robot) -> list[LogFinding]:
    """Return errors and warnings about a log of a robot, the worst first; an empty list if there are none.

    Each `LogFinding` names its column and row, and a remedy; `raise_errors` raises the errors. Joint limits are checked only
    for joint-side logs.

    >>> import dynamis as dy, numpy as np
    >>> from dynamis.identification.logs import Log, examine
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> t = np.arange(200) / 100
    >>> q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    >>> tau = arm.gravity(q)
    >>> tau[17, 0] = np.nan
    >>> print(*examine(Log(t, q, tau, names=arm.coordinate_names), arm))
    error: column 'tau.joint1' is nan at row 17; remove these rows, or interpolate
    """
    if log.n != robot.n or log.q.shape[1] != robot.nq:
        what = f"the log has {log.q.shape[1]} positions and {log.n} torques, the robot {robot.nq} and {robot.n}"
        raise InputError(f"{what}: it is a log of another robot")
    if len(log) < FEWEST:
        end = f", which end at {log.where(len(log) - 1)}" if len(log) else ""
        text = f"the log has {len(log)} samples{end}; at least {FEWEST} are needed"
        few = LogFinding("error", "few samples", None, max(len(log) - 1, 0), text, "record a run of some seconds")
        return [*_not_finite(log), few]
    findings = [*_not_finite(log)]
    usable = np.isfinite(log.t)
    for name in SIGNALS:
        values = getattr(log, name)
        usable &= True if values is None else np.isfinite(values).all(axis=1)
    if np.count_nonzero(usable) < FEWEST:
        return findings
    findings += time_findings(log, robot)
    findings += motion_findings(log, robot, usable)
    findings += torque_findings(log, robot, usable)
    return sorted(findings, key=lambda finding: finding.severity != "error")


def _not_finite(log: Log) -> Iterator[LogFinding]:
    cure = "remove these rows, or interpolate"
    for signal in ("t", *SIGNALS):
        values = getattr(log, signal)
        if values is None:
            continue
        table = values[:, None] if values.ndim == 1 else values
        bad = ~np.isfinite(table)
        for joint in np.flatnonzero(bad.any(axis=0)):
            row, count = int(np.argmax(bad[:, joint])), int(bad[:, joint].sum())
            column = "t" if signal == "t" else log.column(signal, int(joint))
            found = table[row, joint]
            more = f", and in {count} rows in total" if count > 1 else ""
            yield LogFinding(
                "error",
                "not a number",
                column,
                row,
                f"column {printable(column)} is {found} at {log.where(row)}{more}",
                cure,
                mends=count <= max(1.0, FEW * len(log)),
            )


OVER = 1.5  # relative to the effort limit
OTHER_UNIT = 50.0  # relative to the effort limit
USUAL = 0.9  # quantile of the torques that a few spikes do not affect
RUN = 6  # consecutive samples at the same extreme value
OFTEN = 0.004  # fraction of all samples


def torque_findings(log: Log, robot: Robot, usable: Array) -> Iterator[LogFinding]:
    """Yield findings on torques and currents that need no model."""
    rows = np.flatnonzero(usable)
    moves = np.ptp(log.q[rows], axis=0).max() > 1e-3
    limits = robot.limits["effort"]
    for joint in range(log.n):
        tau, column = log.tau[rows, joint], log.column("tau" if "tau" in log.columns or not log.columns else "current", joint)
        if np.ptp(tau) == 0.0:
            row = int(rows[0])
            text = f"column {printable(column)} is {tau[0] + 0.0:.6g} in every row from {log.where(row)} on: not measured"
            yield LogFinding(
                "error" if moves else "warning", "flat torque", column, row, text, "check that the drive reports torques"
            )
            continue
        largest = np.abs(tau).max()
        if log.side_of("tau") == "joint" and largest > OVER * limits[joint]:
            row = int(rows[int(np.argmax(np.abs(tau) > OVER * limits[joint]))])
            unit = largest > OTHER_UNIT * limits[joint] and np.quantile(np.abs(tau), USUAL) > limits[joint]  # not a spike
            severity = "error" if unit else "warning"
            text = f"column {printable(column)} is {log.tau[row, joint]:.5g} at {log.where(row)}"
            text += f"; the joint's limit is {limits[joint]:.5g}{', as if it were in N·mm or mN·m' if unit else ''}"
            yield LogFinding(severity, "beyond effort limit", column, row, text, "check its unit and sign, and the limits")
        at = _clipped(log, rows, joint)
        if at is not None:
            row = int(rows[at])
            text = f"column {printable(column)} is clipped at {log.tau[row, joint]:.6g}, first at {log.where(row)}"
            yield LogFinding(
                "warning",
                "clipped",
                column,
                row,
                text,
                "leave these rows out: the recorded torque is wrong, or the drive saturated",
            )


def _clipped(log: Log, rows: Array, joint: int) -> int | None:
    """Return where a torque first stays at its extreme value while the robot moves, or None."""
    tau = log.tau[rows, joint]
    for extreme in (tau.max(), tau.min()):
        at = tau == extreme
        if np.count_nonzero(at) < max(RUN, OFTEN * len(tau)):
            continue
        edges = np.flatnonzero(np.diff(np.concatenate([[0], at.astype(np.int8), [0]])))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            # at rest, a torque may be constant
            if stop - start >= RUN and np.ptp(log.q[rows[start:stop]], axis=0).max() > 1e-4:
                return int(start)
    return None


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
            rows = np.flatnonzero(which) + 1
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
