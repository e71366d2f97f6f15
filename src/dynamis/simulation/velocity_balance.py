"""Velocity balance of fixed steps: the change of each velocity in a step against the integral of the acceleration over it.

Where the steps resolve a motion, the trapezoidal rule gives the change of a velocity in a step up to (h ω)³/12 of the velocity,
with ω the largest rate at which the motion changes: 10 % at h ω = 1.1, up to where the rules themselves are accurate. Feedback
that is too fast for the steps breaks the balance by the size of the velocity itself, also where limits of the torques keep the
motion bounded, and where the motion of a light joint does not count in the energy of the robot. It does so in every step, or
in every second one. Jumps of torques, joints that friction stops, and modes that decay within a few steps do so in two or three
steps, and are no fault: counted is a difference that is exceeded in each of three consecutive pairs of steps.

The ledger of a motion is what is carried from step to step, (8 n + 1) numbers: the velocities at the start of the last step
with half the change that its acceleration gives, the differences in the last five steps, the largest differences that last, the
largest velocities, and the last step length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar import maximum, minimum
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
LARGE_IMBALANCE = 0.1  # of a velocity: such a motion is not that of the robot
SLOW_JOINT = 0.1  # of the largest velocity of all joints: slower ones are compared with this
LASTING = 6  # steps


def ledger_length(n: int) -> int:
    return 8 * n + 1


def new_ledger(v: Array) -> Array:
    """The ledger at the start of a motion, at the velocity v (n)."""
    return np.concatenate([v, np.zeros(6 * len(v)), np.abs(v), [0.0]])


def with_step(ledger: Array, v: Array, acceleration: Array, h: Any) -> Array:
    """The ledger with the step of length h from the velocity v, where it starts with this acceleration."""
    expected, *recent, longest, largest = ledger[:-1].reshape(8, len(v))
    recent = [np.array([abs(x) for x in v - expected - 0.5 * ledger[-1] * acceleration]), *recent]
    pairs = [[maximum(a, b) for a, b in zip(recent[k], recent[k + 1], strict=True)] for k in range(0, LASTING, 2)]
    kept = [maximum(a, minimum(b, minimum(c, d))) for a, b, c, d in zip(longest, *pairs, strict=True)]
    speed = [maximum(a, abs(b)) for a, b in zip(largest, v, strict=True)]
    return np.concatenate([v + 0.5 * h * acceleration, *recent[:-1], kept, speed, [h]])


def imbalance_of(ledger: Array) -> Array:
    """`imbalance` (n) of a motion."""
    kept, speed = ledger[:-1].reshape(8, -1)[6:]
    return imbalance(kept, speed)


def lasting(off: Array) -> Array:
    """(…): the largest of differences (steps, …) that last for three pairs of steps, or for all pairs if these are fewer."""
    pairs = np.maximum(off[1:], off[:-1]) if len(off) > 1 else off
    count = max(1, len(off) - LASTING + 1)
    return np.asarray(np.min([pairs[k : k + count] for k in range(0, min(LASTING, len(pairs)), 2)], axis=0).max(axis=0))


def imbalance(off: Array, largest: Array) -> Array:
    """(…, n): differences as parts of the largest velocities (…, n), each joint's own; 0 below 1e-9 rad/s or m/s."""
    scale = np.maximum(largest, SLOW_JOINT * largest.max(axis=-1, keepdims=True, initial=0.0))
    return np.where(off > NEGLIGIBLE, off / np.maximum(scale, NEGLIGIBLE), 0.0)
