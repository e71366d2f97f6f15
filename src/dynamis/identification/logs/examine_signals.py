"""Checks of the torques of a log: limits, clipping, constant columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.logs.finding import LogFinding
from dynamis.identification.logs.log import Log
from dynamis.robot import Robot

Array = npt.NDArray[Any]
OVER = 1.5  # relative to the effort limit
OTHER_UNIT = 50.0  # relative to the effort limit
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
        if log.side == "joint" and largest > OVER * limits[joint]:
            row = int(rows[int(np.argmax(np.abs(tau) > OVER * limits[joint]))])
            severity = "error" if largest > OTHER_UNIT * limits[joint] else "warning"
            text = f"column {printable(column)} is {log.tau[row, joint]:.5g} at {log.where(row)}"
            text += f"; the joint's limit is {limits[joint]:.5g}"
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
