"""Torque explained by a prior model, beyond that explained by friction and inertia of the drives.

The torque of a joint is s τ̂ + F_v q̇ + F_c sign(q̇) + I_a q̈ + constant, where τ̂ is the torque of the model without its
friction and s, F_v, F_c, I_a ≥ 0 are free: with these signs friction and inertia cannot absorb a wrong sign, and neither a
model without friction nor a joint dominated by friction counts against the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.joint_physics import dry_torque, viscous_torque
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.robot import Robot

Array = npt.NDArray[Any]
COLLINEAR = 1e-12  # fraction of the variance of a column beyond that of others that is rounding


@dataclass(frozen=True, eq=False)
class Explained:
    """For each joint (n,): the variance of its torque, the fractions explained with and without the model, and the scale s.

    ``foretold`` is the variance of the part of τ̂ orthogonal to friction and inertia of the drive; ``predicted`` (N, n) is τ̂
    itself, ``coef`` (n, 4) are those of the complete fit, of which s is the last.
    """

    motion: MotionSummary
    variance: Array
    fraction: Array
    alone: Array
    foretold: Array
    predicted: Array
    coef: Array

    @property
    def scale(self) -> Array:
        """(n,): the factor s of the model."""
        return np.asarray(self.coef[:, 3])

    @property
    def fitted(self) -> Array:
        """(N, n): the torques of the complete fit."""
        columns = np.concatenate([self.motion.friction, self.predicted[..., None]], axis=-1)
        return np.einsum("ijk,jk->ij", columns - columns.mean(axis=0), self.coef) + self.motion.torque.mean(axis=0)

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
    def agreement(self) -> float:
        """The same relative to what the model predicts: where this is little beside the noise, it can explain no more."""
        foretold, left = float(self.foretold.sum()), float(self.left.sum())
        share = max(self.model_share, 0.0)
        return share / min(1.0, foretold / left) if foretold > 0.0 and left > 0.0 else 1.0

    @property
    def speaks(self) -> Array:
        """(n,): whether the model predicts torques comparable with those beyond friction."""
        return np.asarray(self.foretold > 0.3 * self.left)


def explained(robot: Robot, motion: MotionSummary, predicted: Array | None = None) -> Explained:
    """Fit the model and free friction to the torques of a run.

    ``predicted`` are the filtered torques of the model (rows, n), where they are known.
    """
    if predicted is None:  # without the friction of the file, which may be a placeholder
        friction = viscous_torque(robot.model, motion.v) + dry_torque(robot.model, motion.v)
        predicted = motion.filtered(np.asarray(robot.inverse_dynamics(motion.q, motion.v, motion.a)) - friction)
    columns = np.empty((predicted.shape[1], 5, len(predicted)))
    columns[:, :3], columns[:, 3], columns[:, 4] = motion.friction.transpose(1, 2, 0), predicted.T, motion.torque.T
    columns -= columns.mean(axis=2, keepdims=True)
    products = columns @ columns.transpose(0, 2, 1) / len(predicted)  # (n, 5, 5): covariances of the columns of each joint
    variance = np.maximum(products[:, 4, 4], 1e-300)
    size = np.sqrt(products[:, np.arange(4), np.arange(4)])
    size[size <= 1e-9 * size.max(axis=1, keepdims=True, initial=1.0)] = np.inf  # constant columns explain nothing
    A = products[:, :4, :4] / (size[:, :, None] * size[:, None, :])
    b = products[:, :4, 4] / (size * np.sqrt(variance)[:, None])
    x, fraction, alone, beyond = _non_negative(A, b)
    foretold = np.where(beyond > COLLINEAR, beyond, 0.0) * np.where(np.isinf(size[:, 3]), 0.0, size[:, 3]) ** 2
    return Explained(motion, variance, fraction, alone, foretold, predicted, x * np.sqrt(variance)[:, None] / size)


SUBSETS = np.arange(16)[:, None] >> np.arange(4) & 1  # of four columns; the first eight are without the last column


def _non_negative(A: Array, b: Array) -> tuple[Array, Array, Array, Array]:
    """Return the non-negative least squares solutions (n, 4) of n normal equations A x = b of columns and a right side of unit
    variance, the fraction (n,) of this variance explained with and without the last column, and the fraction of the last column
    independent of the others.

    A solution is the best non-negative one among the least squares solutions of all subsets of columns.
    """
    both = SUBSETS[:, :, None] * SUBSETS[:, None, :]
    systems = A[:, None] * both + (1 - SUBSETS + COLLINEAR)[:, None, :] * np.eye(4)
    inverse = np.linalg.inv(systems)
    x = (inverse @ (SUBSETS * b[:, None])[..., None])[..., 0]
    explained = 2.0 * np.einsum("jsk,jk->js", x, b) - np.einsum("jsk,jkl,jsl->js", x, A, x)
    explained[(x < 0.0).any(axis=2)] = -np.inf
    best = explained.argmax(axis=1)
    beyond = 1.0 / inverse[:, 15, 3, 3] - COLLINEAR
    return x[np.arange(len(b)), best], explained.max(axis=1), explained[:, :8].max(axis=1), beyond
