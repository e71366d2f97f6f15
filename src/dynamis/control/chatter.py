"""Chatter: a sampled law whose torque swings back and forth every few samples, since it answers its own delayed effect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.simulation.trajectory import Trajectory
from dynamis.tolerances import NEGLIGIBLE

FloatArray = npt.NDArray[np.float64]
SLOWEST_SWING = 4  # samples from one reversal of the torque to the next
LEAST_REVERSALS = 6  # in a row: a single disturbance is damped in fewer
LARGE_CHANGE = 0.05  # of the joint's largest torque, from one sample to the next


@dataclass(frozen=True, repr=False)
class Chatter:
    """In a ``share`` of the motion the torque swings with a ``period`` [s] of a few samples, by up to ``swing`` [N m or N]."""

    share: float
    period: float
    swing: float

    __repr__ = as_call
    _repr_html_ = as_table


def chatter(motion: Trajectory, rate: float) -> dict[str, Chatter]:
    """The joints whose torques chatter at this sample rate [Hz]; none if the motion does not have all samples."""
    at = motion.t * rate
    tau = motion.tau[np.abs(at - np.round(at)) < NEGLIGIBLE * np.maximum(at, 1.0)]
    if len(tau) < (motion.t[-1] - motion.t[0]) * rate:
        return {}
    least = LARGE_CHANGE * np.abs(tau).max(axis=0, initial=0.0)
    least = np.maximum(least, NEGLIGIBLE * max(least, default=0.0))  # rounding errors of a torque that is zero
    found = {name: _of(tau[:, k], least[k], rate) for k, name in enumerate(motion.robot.coordinate_names)}
    return {name: x for name, x in found.items() if x is not None}


def _of(tau: FloatArray, least: float, rate: float) -> Chatter | None:
    change = np.diff(tau)
    large = np.flatnonzero(np.abs(change) > least)
    steps = np.diff(large)
    reverses = (np.diff(np.sign(change[large])) != 0.0) & (steps <= SLOWEST_SWING)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], reverses, [False]])))
    runs = [(a, b) for a, b in edges.reshape(-1, 2) if b - a >= LEAST_REVERSALS]
    if not runs:
        return None
    samples = sum(int(large[b] - large[a]) for a, b in runs)
    swing = max(
        float(np.ptp(tau[k : k + SLOWEST_SWING + 1])) for a, b in runs for k in range(large[a], large[b] - SLOWEST_SWING + 2)
    )
    halves = np.concatenate([steps[a:b] for a, b in runs])
    return Chatter(samples / len(change), 2.0 * float(halves.mean()) / rate, swing)
