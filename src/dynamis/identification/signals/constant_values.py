"""Signals that stay at one value: frozen encoders, torques that are not measured, and drives at a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.signals.outliers import stretches

Array = npt.NDArray[Any]
FROZEN = 20  # rows: a shorter repetition of one value is the resolution of the sensor
LONGER = 10.0  # ratio of a repetition of one torque to the usual ones, from which it is not the resolution of the sensor
VARIES = 0.2  # change of a joint's velocity, relative to its highest one, with which its torque must change
AT_LIMIT = 6  # consecutive samples at the same extreme torque
OFTEN = 0.004  # fraction of all samples with this torque
PILED = 5.0  # ratio of their number to that at the next value: the resolution of a sensor repeats both
MOVES = 1e-4  # rad or m: at rest, a torque may be constant


def saturated(tau: Array, q: Array) -> Array:
    """Return the mask of the samples at which a torque (N,) stays at an extreme value while the robot moves."""
    found, values = np.zeros(len(tau), bool), np.unique(tau[np.isfinite(tau)])
    for extreme, following in ((values[-1], values[-2]), (values[0], values[1])) if len(values) > 2 else ():
        at = tau == extreme
        if np.count_nonzero(at) < max(AT_LIMIT, OFTEN * len(tau), PILED * np.count_nonzero(tau == following)):
            continue
        if any(stop - start >= AT_LIMIT and np.ptp(q[start:stop], axis=0).max() > MOVES for start, stop in stretches(at)):
            found |= at
    return found


def frozen_stretches(q: Array, t: Array) -> list[tuple[int, int, int]]:
    """Return (first row, row after the last, column) of encoders that repeat one value, then jump.

    A joint at rest also repeats its value, but leaves it continuously. The value before is the last valid one.
    """
    found = []
    for j in range(q.shape[1]):
        steps = np.abs(np.diff(q[:, j]))
        still = [(a, b) for a, b in stretches(np.append(False, steps == 0.0)) if b - a >= FROZEN]
        if not still or not (moving := steps[steps > 0.0]).size:
            continue
        usual = float(np.quantile(moving, 0.99))
        for first, last in still:
            jump = steps[last - 1] if last <= len(steps) else 0.0
            ends = t[min(last, len(t) - 1)] - t[first - 1]
            if ends > 0.0 and jump > 5.0 * usual:
                found.append((first, last, j))
    return found


def dead_torques(q: Array, tau: Array, t: Array) -> list[tuple[int, int, int]]:
    """Return (first row, row after the last, column) of torques that repeat one value while the joint's velocity changes.

    Not at an extreme value, where the drive saturates, nor in a whole column.
    """
    found = []
    for j in range(tau.shape[1] if q.shape == tau.shape else 0):
        edges = np.concatenate([[0], np.flatnonzero(np.diff(tau[:, j]) != 0.0) + 1, [len(t)]])
        lengths = np.diff(edges)
        if lengths.max() < FROZEN:
            continue
        longest = np.flatnonzero((lengths >= max(FROZEN, LONGER * np.quantile(lengths, 0.99))) & (lengths < len(t)))
        if not len(longest):
            continue
        speeds = np.abs(_mean_velocity(q[:, j], t, np.arange(0, len(t), FROZEN // 4)))
        for first, last in zip(edges[longest], edges[longest + 1], strict=True):
            inside = np.nanmin(tau[:, j]) < tau[first, j] < np.nanmax(tau[:, j])
            parts = _mean_velocity(q[:, j], t, np.linspace(first, last - 1, 5).astype(int))
            if inside and np.ptp(parts) > VARIES * np.nanquantile(speeds, 0.95):
                found.append((int(first), int(last), j))
    return found


def _mean_velocity(q: Array, t: Array, rows: Array) -> Array:
    """Return the mean velocities between rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.diff(q[rows]) / np.diff(t[rows]))
