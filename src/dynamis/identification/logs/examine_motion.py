"""Checks of positions and velocities of a log: joints at rest, limits, degrees, wrapped angles, wrong velocities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.logs.log import Log, LogFinding
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
        if log.side_of("q") == "joint":
            found = list(_degrees(log, robot, rows))
            in_degrees = {joint for joint, _ in found}
            yield from (finding for _, finding in found)
            if not found:
                yield from _beyond_limits(log, robot, rows)
    if log.v is not None and log.side_of("v") == log.side_of("q"):
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


STRETCH = 0.02  # s, duration of a segment
LEAST_STRETCHES = 25
CLEAR = 0.9  # significant correlation
WEAK = 0.6
NONE = 0.3  # correlation below which a velocity is unrelated to its position
MOVES = 5e-3  # rad/s or m/s: slower joints are not checked
FACTORS = {
    180.0 / np.pi: "degrees/s",
    np.pi / 180.0: "rad/s while the positions are in degrees",
    1e3: "thousandths",
    60.0 / (2.0 * np.pi): "rpm",
}
AGREE = 0.25  # relative tolerance of the velocity's magnitude


def velocity_findings(log: Log, robot: Robot, rows: Array, in_degrees: set[int]) -> Iterator[LogFinding]:
    """Yield findings on signs, units and swapped columns of velocities."""
    way, integral = _stretches(log, robot, rows)
    if len(way) < LEAST_STRETCHES:
        return
    size = np.linalg.norm(way, axis=0)
    shown = (size > MOVES * np.sqrt(len(way))) & (np.abs(integral).max(axis=0) > 0.0)
    moving = [int(i) for i in np.flatnonzero(shown)]
    norms = np.linalg.norm(integral, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = np.nan_to_num((way.T @ integral) / np.outer(size, norms))  # (i, j): displacement of i with velocity of j
    swapped: set[int] = set()
    for i in moving:
        if i in swapped or alike[i, i] > WEAK:
            continue
        others = [
            j for j in moving if j != i and abs(alike[i, j]) > CLEAR and abs(alike[j, i]) > CLEAR and abs(alike[j, j]) < CLEAR
        ]
        if others:
            j = max(others, key=lambda j: abs(alike[i, j]))
            swapped |= {i, j}
            whose = printable(log.names[j] if log.names else str(j + 1))
            text = f"is the velocity of joint {whose}, and {printable(log.column('v', j))} that of this one: correlations "
            text += f"{alike[i, j]:.2f} and {alike[j, i]:.2f}, with its own joint {alike[i, i]:.2f}"
            cure = "swap the two columns, of the velocities or of the positions"
            yield _finding("swapped velocities", log, i, rows, text, cure)
    for i in moving:
        if i in swapped:
            continue
        ratio = float(way[:, i] @ integral[:, i]) / float(size[i] ** 2)
        if alike[i, i] < -CLEAR:
            text = f"has the wrong sign: it is negative while the position increases (correlation {alike[i, i]:.2f})"
            yield _finding(
                "wrong sign",
                log,
                i,
                rows,
                text,
                "invert the sign of the velocities or of the positions: signs = […] in a mapping",
            )
        elif alike[i, i] < NONE:
            text = f"does not follow the position: correlation {alike[i, i]:.2f}"
            yield _finding("velocity disagrees", log, i, rows, text, "check its joint and signal", "warning")
        elif alike[i, i] > CLEAR and not 1.0 / (1.0 + AGREE) < ratio < 1.0 + AGREE and i not in in_degrees:
            unit = next((f", as if it were in {name}" for x, name in FACTORS.items() if abs(ratio / x - 1.0) < 0.1), "")
            yield _finding(
                "wrong unit",
                log,
                i,
                rows,
                f"is {ratio:.4g} times the rate of change of its position{unit}",
                "give the units in a mapping",
            )


def _stretches(log: Log, robot: Robot, rows: Array) -> tuple[Array, Array]:
    """Return mean velocities (segments, n) from positions and from velocities, over segments without gaps."""
    assert log.v is not None
    t = log.t[rows]
    steps = np.diff(t)
    ahead = steps[steps > 0.0]
    if not len(ahead):
        return np.zeros((0, log.n)), np.zeros((0, log.n))
    period = float(np.median(ahead))
    span = max(1, min(round(STRETCH / period), len(rows) // (2 * LEAST_STRETCHES)))
    areas = (log.v[rows][1:] + log.v[rows][:-1]) / 2.0 * steps[:, None]
    sums = np.concatenate([np.zeros((1, log.n)), np.cumsum(areas, axis=0)])
    starts = np.arange(0, len(rows) - span, span)
    ends = starts + span
    time = t[ends] - t[starts]
    good = (
        (time > 0.5 * span * period) & (time < 1.5 * span * period) & (np.minimum.reduceat(steps, starts) > 0.0)[: len(starts)]
    )
    starts, ends, time = starts[good], ends[good], time[good, None]
    q0, q1 = log.q[rows][starts], log.q[rows][ends]
    way = robot.difference(q0, q1) if robot.nq != robot.n else q1 - q0
    return way / time, (sums[ends] - sums[starts]) / time


def _finding(code: str, log: Log, joint: int, rows: Array, text: str, cure: str, severity: str = "error") -> LogFinding:
    column, row = log.column("v", joint), int(rows[0])
    return LogFinding(severity, code, column, row, f"column {printable(column)}, from {log.where(row)} on, {text}", cure)
