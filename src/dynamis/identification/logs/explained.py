"""Torque explained by a prior model, beyond that explained by friction and inertia of the drives alone.

The torque of a joint is s τ̂ + F_v q̇ + F_c sign(q̇) + I_a q̈ + constant, where τ̂ is the torque of the model and s, F_v, F_c,
I_a ≥ 0 are free: with these signs friction and inertia cannot absorb a wrong sign, and neither a model without friction nor a
joint dominated by friction counts against the log.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.decimation import Decimation
from dynamis.identification.signals.splines import CubicSpline
from dynamis.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class MotionSummary:
    """Measurements of runs: the time and the run of each row, and the low-pass filter of each run for both sides of a fit."""

    q: Array
    v: Array
    a: Array
    tau: Array
    t: Array
    run: Array
    filters: tuple[Decimation, ...]

    def filtered(self, x: Array) -> Array:
        """Filter an array with one row per sample, run by run."""
        return np.concatenate([keep.of(np.asarray(x)[self.run == k]) for k, keep in enumerate(self.filters)])

    @functools.cached_property
    def torque(self) -> Array:
        """The filtered torques (rows, n)."""
        return self.filtered(self.tau)

    @property
    def rows(self) -> Array:
        """The index of the sample at the centre of each filtered row."""
        places = [np.flatnonzero(self.run == k) for k in range(len(self.filters))]
        return np.concatenate([at[keep.centres(len(at))] for at, keep in zip(places, self.filters, strict=True)])

    def thinned(self, most: int) -> MotionSummary:
        """Return about this many samples, if they are not filtered."""
        step = 1 if any(keep.cutoff for keep in self.filters) else max(1, len(self.t) // most)
        q, v, a, tau, t, run = (x[::step] for x in (self.q, self.v, self.a, self.tau, self.t, self.run))
        return MotionSummary(q, v, a, tau, t, run, self.filters)

    def delayed(self, seconds: float) -> Array:
        """Return the filtered torques logged this much later."""
        later = self.tau.copy()
        for run, spline in self._splines.items():
            t = self.t[self.run == run]
            later[self.run == run] = spline(np.clip(t + seconds, t[0], t[-1]))
        return self.filtered(later)

    @functools.cached_property
    def _splines(self) -> dict[int, Any]:
        runs = [k for k in range(len(self.filters)) if np.count_nonzero(self.run == k) > 3]
        return {k: CubicSpline(self.t[self.run == k], self.tau[self.run == k]) for k in runs}


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
    tau = motion.torque - motion.torque.mean(axis=0)
    predicted = np.asarray(robot.inverse_dynamics(motion.q, motion.v, motion.a))
    if reversed_gravity:
        predicted = predicted - 2.0 * np.asarray(robot.gravity(motion.q))
    predicted = motion.filtered(predicted)
    slow = 0.05 * np.sqrt(np.mean(motion.v**2, axis=0)) + 1e-12
    v, dry, a = (motion.filtered(x) for x in (motion.v, np.tanh(motion.v / slow), motion.a))
    n, count = robot.n, len(tau)
    variance = np.maximum((tau**2).mean(axis=0), 1e-300)
    fraction, alone, scale, foretold = np.zeros((4, n))
    fitted = np.empty_like(tau)
    for j in range(n):
        F = np.stack([v[:, j], dry[:, j], a[:, j], predicted[:, j]], axis=1)
        F = F - F.mean(axis=0)
        size = np.linalg.norm(F, axis=0)
        size[size <= 1e-9 * np.abs(F).max(initial=1.0)] = np.inf  # constant columns explain nothing
        Q, R = np.linalg.qr(F / size)
        b = Q.T @ tau[:, j]
        x, rest = _non_negative(R, b)
        _, rest_alone = _non_negative(R[:, :3], b)
        inside = float(b @ b)
        fraction[j], alone[j] = ((inside - r**2) / (count * variance[j]) for r in (rest, rest_alone))
        scale[j], fitted[:, j] = x[3] / size[3], F / size @ x + motion.torque[:, j].mean()
        foretold[j] = 0.0 if np.isinf(size[3]) else float(R[3, 3] * size[3]) ** 2 / count
    return Explained(variance, fraction, alone, scale, foretold, predicted, fitted)


def _non_negative(A: Array, b: Array) -> tuple[Array, float]:
    """Return the non-negative least squares solution for a few columns, and the norm of its residual.

    It is the best non-negative one among the least squares solutions of all subsets of columns.
    """
    best, least = np.zeros(A.shape[1]), float(np.linalg.norm(b))
    for bits in range(1, 1 << A.shape[1]):
        kept = np.array([k for k in range(A.shape[1]) if bits >> k & 1])
        x = np.linalg.lstsq(A[:, kept], b)[0]
        rest = float(np.linalg.norm(b - A[:, kept] @ x))
        if (x >= 0.0).all() and rest < least:
            best, least = np.zeros(A.shape[1]), rest
            best[kept] = x
    return best, least
