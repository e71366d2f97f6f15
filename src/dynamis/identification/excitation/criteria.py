"""Optimality criteria of a motion for identification, to be minimized.

All are functions of the information matrix M = mean of Yᵀ Σ⁻¹ Y over the motion, with Σ the variance of each joint's torque,
and provide their gradient ∂F/∂M. "condition" normalizes each column by its own norm, as a solver does; the others use fixed
norms, so that larger motions are better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import unknown_name

Array = npt.NDArray[Any]
Valued = tuple[float, Array]
LEAST = 1e-15  # relative to the largest eigenvalue: smaller ones are rounding
NOTHING = 1e-200  # column norm of a motion at rest
EXACT = 1e6  # sharpness at which the smooth maximum equals the maximum


def condition(M: Array, _lengths: Array, sharpness: float = EXACT) -> Valued:
    """Return the log of the condition number of the regressor with normalized columns."""
    d = np.sqrt(np.maximum(np.diag(M), NOTHING))
    C = M / np.outer(d, d)
    value, A = _spread(C, sharpness)
    # C = D⁻¹ M D⁻¹ with D² the diagonal of M
    gradient = A / np.outer(d, d)
    gradient[np.diag_indices_from(gradient)] -= np.einsum("ij,ji->i", A, C) / d**2
    return value, gradient


def plain_condition(M: Array, lengths: Array, sharpness: float = EXACT) -> Valued:
    """Return the log of the condition number, each column divided by the given norm."""
    value, A = _spread(M / np.outer(lengths, lengths), sharpness)
    return value, A / np.outer(lengths, lengths)


def d_optimal(M: Array, lengths: Array, _sharpness: float = EXACT) -> Valued:
    """Return −½ log det M / r: the log of the mean standard deviation, or volume of the confidence ellipsoid."""
    values, vectors = _eigen(M / np.outer(lengths, lengths))
    r = len(M)
    A = (vectors * (-0.5 / r / values)) @ vectors.T
    return float(-0.5 * np.log(values).sum() / r), A / np.outer(lengths, lengths)


def a_optimal(M: Array, lengths: Array, _sharpness: float = EXACT) -> Valued:
    """Return ½ log of the mean variance of the parameters, each in units of its column norm."""
    values, vectors = _eigen(M / np.outer(lengths, lengths))
    total = (1.0 / values).sum()
    A = (vectors * (-0.5 / total / values**2)) @ vectors.T
    return float(0.5 * np.log(total / len(M))), A / np.outer(lengths, lengths)


def smallest(M: Array, lengths: Array, sharpness: float = EXACT) -> Valued:
    """Return −log of the smallest singular value: the least certain combination of parameters (E-optimal)."""
    values, vectors = _eigen(M / np.outer(lengths, lengths))
    value, slopes = _largest(-np.log(values), sharpness)
    A = (vectors * (-0.5 * slopes / values)) @ vectors.T
    return 0.5 * value, A / np.outer(lengths, lengths)


def combined(M: Array, lengths: Array, sharpness: float = EXACT) -> Valued:
    """Return the sum of the log condition number and the D-optimal criterion."""
    parts = condition(M, lengths, sharpness), d_optimal(M, lengths)
    return parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]


CRITERIA: dict[str, Callable[..., Valued]] = {
    "condition": condition,
    "plain-condition": plain_condition,
    "d-optimal": d_optimal,
    "a-optimal": a_optimal,
    "e-optimal": smallest,
    "combined": combined,
}


def criterion_of(name: str) -> Callable[..., Valued]:
    """Return the criterion with this name."""
    if name not in CRITERIA:
        raise unknown_name("criterion", name, CRITERIA)
    return CRITERIA[name]


def condition_number(X: Array) -> float:
    """Return the condition number of a matrix with normalized columns; infinite if one is zero or linearly dependent."""
    lengths = np.linalg.norm(X, axis=0)
    if not lengths.all():
        return float("inf")
    singular = np.linalg.svd(X / lengths, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 1e-14 * singular[0] else float("inf")


def _eigen(M: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(M)
    return np.maximum(values, LEAST * max(values[-1], np.finfo(float).tiny)), vectors


def _largest(x: Array, sharpness: float) -> Valued:
    """Return a smooth maximum, log Σ exp(s x) / s, and its derivatives: equal singular values would make it non-smooth."""
    top = x.max()
    weights = np.exp(sharpness * (x - top))
    total = weights.sum()
    return float(top + np.log(total) / sharpness), weights / total


def _spread(C: Array, sharpness: float) -> Valued:
    """Return ½ log of the ratio of the largest to the smallest eigenvalue."""
    values, vectors = _eigen(C)
    logs = np.log(values)
    (high, up), (low, down) = _largest(logs, sharpness), _largest(-logs, sharpness)
    return 0.5 * (high + low), (vectors * (0.5 * (up - down) / values)) @ vectors.T
