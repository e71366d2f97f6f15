"""Checks of positions and velocities of a log: joints at rest, limits, degrees, wrapped angles, wrong velocities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.logs.examine_velocities import velocity_findings
from dynamis.identification.logs.finding import LogFinding
from dynamis.identification.logs.log import Log
from dynamis.identification.signals.stages import HELD
from dynamis.robot import Robot

Array = npt.NDArray[Any]
DEGREE = np.pi / 180.0
IN_DEGREES = 'name the columns "q1 [deg]" and so on, or set unit = "deg" in a mapping'
LITTLE = 0.05  # rad, and a tenth of it in m: less motion does not identify friction and inertia
BEYOND = 0.05  # fraction of the range, and rad or m: tolerance of position limits
MANY_TURNS = 4.0 * np.pi  # rad: more than any joint with limits can turn
FAST = 3.0  # relative to the velocity limit
FASTEST = 60.0  # rad/s: no arm is faster; larger values are in degrees


def motion_findings(log: Log, robot: Robot, usable: Array) -> Iterator[LogFinding]:
    """Yield findings on positions and velocities, in the usable rows."""
    rows = np.flatnonzero(usable)
    yield from _held(log, robot, rows)
    in_degrees: set[int] = set()
    if robot.nq == robot.n:
        yield from _wrapped(log, robot, rows)
        if log.side == "joint":
            found = list(_degrees(log, robot, rows))
            in_degrees = {joint for joint, _ in found}
            yield from (finding for _, finding in found)
            if not found:
                yield from _beyond_limits(log, robot, rows)
    if log.v is not None:
        yield from velocity_findings(log, robot, rows, in_degrees)


def _held(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    ranges = np.ptp(log.q[rows], axis=0)
    still = [c for c in robot.model.coordinates if c.q_index is not None and ranges[c.q_index] < HELD]
    severity = "error" if len(still) == robot.n else "warning"
    for c in still:
        assert c.q_index is not None
        column = log.column("q", c.q_index)
        text = f"joint {printable(c.name)} does not move: column {printable(column)} stays within {ranges[c.q_index]:.3g} "
        text += f"{'rad' if c.revolute else 'm'} from {log.where(int(rows[0]))} on"
        yield LogFinding(
            severity, "constant", column, int(rows[0]), text, "move it; parameters that need its motion cannot be identified"
        )
    for c in robot.model.coordinates:
        if c.q_index is not None and HELD <= ranges[c.q_index] < (LITTLE if c.revolute else 0.1 * LITTLE):
            column = log.column("q", c.q_index)
            text = f"joint {printable(c.name)} hardly moves: column {printable(column)} stays within {ranges[c.q_index]:.3g} "
            text += f"{'rad' if c.revolute else 'm'} from {log.where(int(rows[0]))} on"
            yield LogFinding("warning", "little motion", column, int(rows[0]), text, "do not rely on its friction and inertia")


def _wrapped(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    """Yield wrapped angles: jumps of one turn between samples are not motion."""
    for joint, c in enumerate(robot.model.coordinates):
        q = log.q[rows, joint]
        steps = np.diff(q)
        for turn, unit in ((2.0 * np.pi, "rad"), (360.0, "degrees")):
            jumps = np.abs(np.abs(steps) - turn) < 0.05 * turn
            if c.revolute and jumps.any() and np.abs(steps[~jumps]).max(initial=0.0) < 0.2 * turn:
                row = int(rows[int(np.argmax(jumps)) + 1])
                column = log.column("q", joint)
                text = f"column {printable(column)} jumps by one turn ({turn:.6g} {unit}) at {log.where(row)}"
                more = f", {jumps.sum()} times in total" if jumps.sum() > 1 else ""
                yield LogFinding("error", "wrapped", column, row, text + more, "unwrap it: numpy.unwrap")
                break


def _degrees(log: Log, robot: Robot, rows: Array) -> Iterator[tuple[int, LogFinding]]:
    """Yield joints far beyond their limits, or too fast, that would be within them if the unit were degrees."""
    limits = robot.limits
    q = log.q[rows]
    speed = _largest_speed(log, rows)
    largest = np.abs(q).max(axis=0)
    bounds = np.maximum(np.abs(limits["lower"]), np.abs(limits["upper"]))
    far = np.where(np.isfinite(bounds), largest > np.maximum(1.5 * bounds, MANY_TURNS), False)
    fast = np.where(np.isfinite(limits["velocity"]), speed > FAST * limits["velocity"], speed > FASTEST)
    slack = BEYOND * np.where(np.isfinite(limits["upper"] - limits["lower"]), limits["upper"] - limits["lower"], 1.0)
    turned = q * DEGREE
    inside = np.all((turned >= limits["lower"] - slack) & (turned <= limits["upper"] + slack), axis=0)
    for joint, c in enumerate(robot.model.coordinates):
        past = fast[joint] and largest[joint] > 2.0 * np.pi
        if not c.revolute or not (far[joint] or past) or not inside[joint]:
            continue
        limit = bounds[joint] if far[joint] else 2.0 * np.pi
        row = int(rows[int(np.argmax(np.abs(q[:, joint]) > limit))])
        column = log.column("q", joint)
        text = f"column {printable(column)} seems to be in degrees: it reaches {log.q[row, joint]:.5g} at {log.where(row)}"
        why = f", the limits are {limits['lower'][joint]:.4g} and {limits['upper'][joint]:.4g} rad"
        yield joint, LogFinding("error", "degrees", column, row, text + why, IN_DEGREES)


def _largest_speed(log: Log, rows: Array) -> Array:
    """Return the speed each joint reaches over a few samples, robust to noise of single ones."""
    few = max(1, min(10, len(rows) // 20))
    q, t = log.q[rows], log.t[rows]
    time = t[few:] - t[:-few]
    good = time > 0.0
    if not good.any():
        return np.zeros(log.q.shape[1])
    return np.asarray(np.quantile(np.abs(q[few:] - q[:-few])[good] / time[good, None], 0.99, axis=0))


def _beyond_limits(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    lower, upper = robot.limits["lower"], robot.limits["upper"]
    width = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    outside = np.maximum(lower - log.q[rows], log.q[rows] - upper)
    for joint, c in enumerate(robot.model.coordinates):
        bad = outside[:, joint] > np.maximum(BEYOND * width[joint], 1e-3)
        if not bad.any():
            continue
        row, column = int(rows[int(np.argmax(bad))]), log.column("q", joint)
        worst = float(outside[:, joint].max())
        text = f"column {printable(column)} is {log.q[row, joint]:.5g} at {log.where(row)}, beyond the limits"
        text += f" {lower[joint]:.4g} and {upper[joint]:.4g} of joint {printable(c.name)}"
        severity = "error" if np.isfinite(width[joint]) and worst > max(width[joint], 1.0) else "warning"
        cure = "check the order of the columns, the unit and the zero position of the joint"
        yield LogFinding(severity, "beyond limits", column, row, text, cure)
