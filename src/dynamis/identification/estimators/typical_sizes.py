"""Typical size of a parameter of unknown value: the value whose torque is as large as the joint's torque.

For a parameter π_k with regressor columns Y_jk and joint torques τ_j (RMS values over a motion),

    s_k² = Σ_j τ_j² / Σ_j Y_jk²      over the joints j whose torque depends on π_k,

so sizes scale with torques and masses, and do not depend on units. A slow log hardly excites viscous friction or rotor
inertia and would allow any size: each column counts with at least its RMS over reference states of the robot, with speeds
from the limits in its file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.linear_model import LinearModel

Array = npt.NDArray[Any]

STATES = 64
SPEED = 2.0  # rad/s or m/s: RMS of `LinearModel.random_states`
SHARE_OF_LIMIT = 0.5  # RMS of the reference states, relative to the velocity limit
ROUNDING = 1e-9  # relative to a parameter's largest column


class TypicalSizes:
    """Typical sizes of the parameters of a model, from a log or from the robot's file alone."""

    def __init__(self, model: LinearModel) -> None:
        q, v, a, past = model.random_states(np.random.default_rng(11), STATES)
        limit = np.asarray(model.robot.limits["velocity"], dtype=float)
        known = np.isfinite(limit) & (limit > 0.0)
        stretch = np.where(known, SHARE_OF_LIMIT / SPEED * limit, 1.0)
        # a user-defined column may be undefined there
        self.rows = np.nan_to_num(model.regressor(q, stretch * v, stretch * a, past), posinf=0.0, neginf=0.0)
        self.columns = np.sqrt(np.mean(self.rows**2, axis=0))

    def of_model(self, prior: Array) -> Array:
        """Return (p,) from the torques of the parameters ``prior`` in the reference states."""
        return _sizes(np.sqrt(np.mean((self.rows @ prior) ** 2, axis=0)), self.columns)

    def of_log(self, B: Array, factors: Sequence[Array], counts: Array) -> Array:
        """Return (p,) from the triangular factor of [X, y] of each joint, or of all, where X β = Y π and β = B π."""
        torque, shown = _root_mean_squares(B, factors, counts)
        least = self.columns if len(shown) == len(self.columns) else np.sqrt(np.mean(self.columns**2, axis=0, keepdims=True))
        return _sizes(torque, np.maximum(shown, least))


def weighted_sizes(B: Array, factors: Sequence[Array], counts: Array) -> Array:
    """Return (p,) from rows divided by unknown noise, which show torques and columns as ratios only."""
    return _sizes(*_root_mean_squares(B, factors, counts))


def _root_mean_squares(B: Array, factors: Sequence[Array], counts: Array) -> tuple[Array, Array]:
    """Return the RMS of the torque (joints,) and of each parameter's column (joints, p)."""
    rows = np.maximum(np.asarray(counts, dtype=float), 1.0)
    torque = np.array([np.sum(F[:, -1] ** 2) for F in factors]) / rows
    columns = np.stack([np.sum((F[:, :-1] @ B) ** 2, axis=0) for F in factors]) / rows[:, None]
    return np.sqrt(torque), np.sqrt(columns)


def _sizes(torque: Array, columns: Array) -> Array:
    """Return s (p,) of torques (joints,) and columns (joints, p)."""
    shown = columns > ROUNDING * columns.max(axis=0, initial=0.0)
    squares = np.sum(np.where(shown, torque[:, None] ** 2, 0.0), axis=0)
    # if the joint itself has no torque, the size comes from the torques of all joints
    squares = np.where(squares > 0.0, squares, np.mean(torque**2) or 1.0)
    lengths = np.sum(columns**2, axis=0)
    return np.sqrt(squares / np.where(lengths > 0.0, lengths, 1.0))
