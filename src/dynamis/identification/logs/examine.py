"""Checks of a raw log before use: non-finite numbers, clock, positions, velocities, torques."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.logs.examine_motion import motion_findings
from dynamis.identification.logs.examine_signals import torque_findings
from dynamis.identification.logs.examine_time import FEW, time_findings
from dynamis.identification.logs.finding import LogFinding
from dynamis.identification.logs.log import SIGNALS, Log
from dynamis.robot import Robot

Array = npt.NDArray[Any]
FEWEST = 30  # samples: a joint has up to thirteen parameters, and each needs more than one equation


def examine(log: Log, robot: Robot) -> list[LogFinding]:
    """Return errors and warnings about a log of a robot, the worst first; an empty list if there are none.

    Each `LogFinding` names its column and row, and a remedy; `refuse` raises the errors. Joint limits are checked only for
    joint-side logs.

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
