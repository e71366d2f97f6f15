"""Torque explained by a prior model, beyond that explained by friction and inertia of the drives alone.

The torque of a joint is s τ̂ + F_v q̇ + F_c sign(q̇) + I_a q̈ + constant, where τ̂ is the torque of the model and s, F_v, F_c,
I_a ≥ 0 are free: with these signs friction and inertia cannot absorb a wrong sign, and neither a model without friction nor a
joint dominated by friction counts against the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class MotionSummary:
    """Measurements of runs, low-pass filtered and decimated like their equations, with the time and the run of each row."""

    q: Array
    v: Array
    a: Array
    tau: Array
    t: Array
    run: Array

    def step(self, most: int) -> int:
        """Return the step between rows of which about this many are kept."""
        return max(1, len(self.t) // most)

    def thinned(self, most: int) -> MotionSummary:
        """Return about this many rows."""
        step = self.step(most)
        return MotionSummary(*(x[::step] for x in (self.q, self.v, self.a, self.tau, self.t, self.run)))

    def delayed(self, seconds: Array, step: int) -> Array:
        """Return every ``step``-th of the torques (delays, N, n) logged this much later."""
        from scipy.interpolate import CubicSpline

        later = np.broadcast_to(self.tau, (len(seconds), *self.tau.shape)).copy()
        for run in np.unique(self.run):
            at = self.run == run
            t = self.t[at]
            if len(t) > 3:
                spline = CubicSpline(t, self.tau[at], axis=0)
                later[:, at] = [spline(np.clip(t + d, t[0], t[-1])) for d in seconds]
        return later[:, ::step]


@dataclass(frozen=True, eq=False)
class Explained:
    """For each joint (n,): the variance of its torque, the fractions explained with and without the model, and the scale s.

    ``foretold`` is the variance of the part of τ̂ orthogonal to friction and inertia of the drive; ``predicted`` (N, n) is τ̂
    itself, ``fitted`` (N, n) the complete fit.
    """

    variance: Array
    fraction: Array
    alone: Array
    scale: Array
    foretold: Array
    predicted: Array
    fitted: Array

    @property
    def left(self) -> Array:
        """(n,): the variance not explained by friction."""
        return self.variance * (1.0 - self.alone)

    @property
    def gain(self) -> Array:
        """(n,): the fraction of it explained by the model."""
        return np.asarray((self.fraction - self.alone) / np.maximum(1.0 - self.alone, 1e-12))

    @property
    def model_share(self) -> float:
        """The fraction of the variance beyond friction explained by the model, over all joints."""
        return float(self.left @ self.gain / max(self.left.sum(), 1e-300))

    @property
    def speaks(self) -> Array:
        """(n,): whether the model predicts torques comparable with those beyond friction."""
        return np.asarray(self.foretold > 0.3 * self.left)


def explained(robot: Robot, motion: MotionSummary, *, reversed_gravity: bool = False) -> Explained:
    """Fit the model and free friction to the torques of a run; with reversed gravity, as if the robot were upside down."""
    from scipy.optimize import nnls

    tau = motion.tau - motion.tau.mean(axis=0)
    predicted = np.asarray(robot.inverse_dynamics(motion.q, motion.v, motion.a))
    if reversed_gravity:
        predicted = predicted - 2.0 * np.asarray(robot.gravity(motion.q))
    n, count = robot.n, len(tau)
    variance = np.maximum((tau**2).mean(axis=0), 1e-300)
    fraction, alone, scale, foretold = np.zeros((4, n))
    fitted = np.empty_like(tau)
    for j in range(n):
        v = motion.v[:, j]
        slow = 0.05 * np.sqrt(np.mean(v**2)) + 1e-12
        F = np.stack([v, np.tanh(v / slow), motion.a[:, j], predicted[:, j]], axis=1)
        F = F - F.mean(axis=0)
        size = np.linalg.norm(F, axis=0)
        size[size <= 1e-9 * np.abs(F).max(initial=1.0)] = np.inf  # constant columns explain nothing
        Q, R = np.linalg.qr(F / size)
        b = Q.T @ tau[:, j]
        x, rest = nnls(R, b)
        _, rest_alone = nnls(R[:, :3], b)
        inside = float(b @ b)
        fraction[j], alone[j] = ((inside - r**2) / (count * variance[j]) for r in (rest, rest_alone))
        scale[j], fitted[:, j] = x[3] / size[3], F / size @ x + motion.tau[:, j].mean()
        foretold[j] = 0.0 if np.isinf(size[3]) else float(R[3, 3] * size[3]) ** 2 / count
    return Explained(variance, fraction, alone, scale, foretold, predicted, fitted)
