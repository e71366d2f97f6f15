"""Fits with free base parameters, independent of the prior masses: joint zeros and a delay as nonlinear parameters.

A joint zero turns everything beyond the joint, which the base parameters of the links cannot represent as long as further
joints follow; a delay shifts torques against the motion. Both are found by refitting with the correction applied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.linear_model import Past
from dynamis.identification.logs.explained import MotionSummary

Array = npt.NDArray[Any]
EXACT = 1e-5  # fraction of the variance below which there is nothing to correct
GOOD = 0.05  # fraction of the variance of the torques, mean over the joints, below which a fit is good
FALLS = 0.3  # ratio of this fraction after and before a correction that is reported
MOST_ROWS = 400  # samples used in a fit
STEPS = 6  # Gauss–Newton iterations of a zero
EPSILON = 1e-4  # rad or m, finite difference
SHOWN = 0.03  # rad or m: a smaller zero is not reported
HIDDEN = 0.02  # relative effect of a zero beyond that of the base parameters: below it the zero is not determined
CERTAIN = 5.0  # standard errors
LATEST = 0.06  # s: the longest delay considered
DELAYS = 61  # number of delays considered
AGREE = 0.6  # fraction of the joints that must agree on a delay


@dataclass(frozen=True)
class Zero:
    """A joint zero: ``angle`` [rad or m] to add to the logged positions, its standard error, and both unexplained fractions."""

    joint: int
    angle: float
    error: float
    before: float
    after: float


@dataclass(frozen=True)
class Delay:
    """Torques logged ``seconds`` late (early if negative), in agreement of ``joints``, and both unexplained fractions."""

    seconds: float
    joints: tuple[int, ...]
    before: float
    after: float


class FreeFit:
    """Weighted least squares of friction, offsets and base parameters of a robot to a `MotionSummary`."""

    def __init__(self, base: BaseParameters) -> None:
        self.base, self.n = base, base.model.robot.n

    def unexplained(self, motion: MotionSummary) -> Array:
        """Return the fraction (n,) of the variance of each torque that the fit leaves."""
        motion = motion.thinned(MOST_ROWS)
        fit = self._fit(motion)
        return self._left(fit.rest(fit.y))

    def _fit(self, motion: MotionSummary) -> _Weighted:
        X = np.asarray(self.base.regressor(motion.q, motion.v, motion.a, Past(self.base.model).advance(motion.q)))
        X = np.concatenate([X, np.broadcast_to(np.eye(self.n), (len(X), self.n, self.n))], axis=2)  # offsets
        X = motion.filtered(X)
        weight = np.tile(1.0 / self._size(motion), len(X))
        return _Weighted.of(X.reshape(len(weight), -1) * weight[:, None], motion.torque.reshape(-1) * weight, weight)

    @staticmethod
    def _size(motion: MotionSummary) -> Array:
        """The standard deviation (n,) of the torques, above zero."""
        return np.asarray(np.maximum(motion.torque.std(axis=0), 1e-9 * np.abs(motion.torque).max() + 1e-300))

    def _left(self, weighted: Array) -> Array:
        """Return the fraction (n,) of the variance in a residual weighted by the standard deviations."""
        return np.asarray((weighted.reshape(-1, self.n) ** 2).mean(axis=0))

    def zero(self, motion: MotionSummary) -> Zero | None:
        """Return the joint zero whose correction makes the fit good, or None."""
        motion = motion.thinned(MOST_ROWS)
        before = float(self.unexplained(motion).mean())
        if before < EXACT:
            return None
        trials = [self._zero_of(motion, joint, before) for joint in range(self.n)]
        found = [z for z in trials if z is not None and z.after < min(GOOD, FALLS * before)]
        return min(found, key=lambda z: z.after) if found else None

    def _zero_of(self, motion: MotionSummary, joint: int, before: float) -> Zero | None:
        """Fit the zero of one joint by Gauss–Newton steps, the base parameters refitted at each."""
        angle, error, left = 0.0, np.inf, before
        for _ in range(STEPS):
            fit = self._fit(self._turned(motion, joint, angle))
            ahead = self._fit(self._turned(motion, joint, angle + EPSILON))
            d = (ahead.W - fit.W) @ fit.solution / EPSILON
            rest = fit.rest(d)
            if np.linalg.norm(rest) <= HIDDEN * np.linalg.norm(d):
                return None
            e = fit.rest(fit.y)
            left = float(self._left(e).mean())
            step = float(rest @ e) / float(rest @ rest)
            error = float(np.std(e) / np.linalg.norm(rest))
            if abs(step) < 0.01 * SHOWN:
                break
            angle += float(np.clip(step, -0.3, 0.3))
        if abs(angle) < max(SHOWN, CERTAIN * error) or abs(angle) > np.pi:
            return None
        return Zero(joint, angle, error, before, left)

    def _turned(self, motion: MotionSummary, joint: int, angle: float) -> MotionSummary:
        return replace(motion, q=motion.q + angle * (np.arange(self.n) == joint))

    def delay(self, motion: MotionSummary) -> Delay | None:
        """Return a delay common to the joints, within the range considered, whose correction makes the fit good, or None."""
        thin = motion.thinned(MOST_ROWS)
        fit = self._fit(thin)
        if self._left(fit.rest(fit.y)).mean() < EXACT:
            return None
        delays = np.linspace(-LATEST, LATEST, DELAYS)
        left = np.stack([self._left(fit.rest(thin.delayed(d).reshape(-1) * fit.weight)) for d in delays])
        total = left.mean(axis=1)
        best, none = int(np.argmin(total)), DELAYS // 2
        if best in (0, DELAYS - 1) or total[best] > min(GOOD, FALLS * total[none]):
            return None
        near = np.abs(delays[np.argmin(left, axis=0)] - delays[best]) <= max(
            0.3 * abs(delays[best]), 2.0 * (delays[1] - delays[0])
        )
        telling = left[best] < 0.9 * left[none]
        if np.count_nonzero(near & telling) < max(1.0, AGREE * np.count_nonzero(telling)):
            return None
        agreeing = tuple(int(j) for j in np.flatnonzero(near & telling))
        return Delay(_vertex(delays, total, best), agreeing, float(total[none]), float(total[best]))


@dataclass(frozen=True, eq=False)
class _Weighted:
    """A weighted regressor ``W`` and torques ``y``, with the pseudo-inverse ``P`` of WᵀW, columns scaled to unit length."""

    W: Array
    y: Array
    weight: Array
    P: Array

    @classmethod
    def of(cls, W: Array, y: Array, weight: Array) -> _Weighted:
        size = np.linalg.norm(W, axis=0)
        size[size == 0.0] = 1.0
        S = W / size
        return cls(W, y, weight, np.linalg.pinv(S.T @ S, rcond=1e-9, hermitian=True) / np.outer(size, size))

    @property
    def solution(self) -> Array:
        return np.asarray(self.P @ (self.W.T @ self.y))

    def rest(self, d: Array) -> Array:
        """Return the part of a vector orthogonal to the columns."""
        return np.asarray(d - self.W @ (self.P @ (self.W.T @ d)))


def _vertex(x: Array, y: Array, k: int) -> float:
    """Return the minimum of the parabola through three neighbouring points."""
    bend = y[k - 1] - 2.0 * y[k] + y[k + 1]
    return float(x[k] + (0.5 * (y[k - 1] - y[k + 1]) / bend if bend > 0.0 else 0.0) * (x[1] - x[0]))
