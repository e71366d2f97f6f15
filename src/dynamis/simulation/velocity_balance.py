"""Velocity balance of fixed steps: the change of each velocity in a step against the integral of the acceleration over it.

Where the steps resolve a motion, the trapezoidal rule gives the change of a velocity in a step up to (h ω)³/12 of the velocity,
with ω the largest rate at which the motion changes: 10 % at h ω = 1.1, up to where the rules themselves are accurate. Feedback
that is too fast for the steps breaks the balance by the size of the velocity itself, also where limits of the torques keep the
motion bounded, and where the motion of a light joint does not count in the energy of the robot.

The ledger of a motion is what is carried from step to step, (3 n + 1) numbers: the velocities at the start of the last step
with half the change that its acceleration gives, the largest differences, the largest velocities, and the last step length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.robot import Robot
from dynamis.scalar import maximum
from dynamis.simulation.friction import StickingLaw
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
LARGE_IMBALANCE = 0.1  # of a velocity: such a motion is not that of the robot
SLOW_JOINT = 0.1  # of the largest velocity of all joints: slower ones are compared with this

SOME_CONFIGURATIONS = 50  # of a motion, at which its mobility is evaluated


def ledger_length(n: int) -> int:
    return 3 * n + 1


def new_ledger(v: Array) -> Array:
    """The ledger at the start of a motion, at the velocity v (n)."""
    return np.concatenate([v, np.zeros(len(v)), np.abs(v), [0.0]])


def with_step(ledger: Array, v: Array, acceleration: Array, h: Any) -> Array:
    """The ledger with the step of length h from the velocity v, where it starts with this acceleration."""
    n = len(v)
    expected = ledger[:n] + 0.5 * ledger[-1] * acceleration
    off = [maximum(a, abs(b)) for a, b in zip(ledger[n : 2 * n], v - expected, strict=True)]
    largest = [maximum(a, abs(b)) for a, b in zip(ledger[2 * n : -1], v, strict=True)]
    return np.concatenate([v + 0.5 * h * acceleration, off, largest, [h]])


def imbalance_of(ledger: Array, stopped: Array | float = 0.0) -> Array:
    """`imbalance` (n) of a motion, in which dry friction changes velocities by up to ``stopped`` within a step."""
    n = len(ledger) // 3
    return imbalance(np.maximum(0.0, ledger[n : 2 * n] - stopped), ledger[2 * n : -1])


def imbalance(off: Array, largest: Array) -> Array:
    """(…, n): differences as parts of the largest velocities (…, n), each joint's own; 0 below 1e-9 rad/s or m/s."""
    scale = np.maximum(largest, SLOW_JOINT * largest.max(axis=-1, keepdims=True, initial=0.0))
    return np.where(off > NEGLIGIBLE, off / np.maximum(scale, NEGLIGIBLE), 0.0)


def stopped_by_friction(robot: Robot, laws: Mapping[int, StickingLaw], q: Array, h: float) -> Array:
    """(n): h d (M⁻¹)ₖₖ, the largest at these configurations (N, nq): what friction d takes from a velocity in a step.

    A joint that stops within a step is at rest from there on, which the trapezoidal rule does not know.
    """
    found = np.zeros(robot.n)
    if laws:
        rows = q[:: max(1, len(q) // SOME_CONFIGURATIONS)]
        mobility = np.diagonal(np.linalg.inv(robot.mass_matrix(rows)), axis1=-2, axis2=-1).max(axis=0)
        for k, law in laws.items():
            found[k] = h * max(map(abs, law.holding)) * mobility[k]
    return found
