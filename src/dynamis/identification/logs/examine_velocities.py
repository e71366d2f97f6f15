"""Checks of velocities of a log against its positions.

The displacement of a joint over a segment is compared with the integral of its velocity. Neither needs differentiation, so
noise and coarse encoders matter little.
"""

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
