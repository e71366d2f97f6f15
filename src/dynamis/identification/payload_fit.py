"""Inertial parameters of one body from a triangular factor: identifiable ones, and the nearest consistent body.

The size of the load is the unit of length, so that the ten parameters of a compact body have the same magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.spatial import PARAMETER_NAMES, Inertia

Array = npt.NDArray[Any]
LENGTH_POWERS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])  # each parameter has the unit kg m to this power
NOT_SHOWN = 1e-8  # relative to the largest singular value: unexcited directions
MIXED = 1e-6  # a parameter with a smaller component along unexcited directions is determined
WEAK = 10.0  # standard deviation of the prior, relative to the values of a compact body: a weak regularization
LOWER = np.tril_indices(4)


@dataclass(frozen=True, eq=False)
class Determined:
    """Least-squares solution: ``parameters`` (10), NaN where undetermined, and ``filled``, minimum-norm there.

    ``determined`` is a mask of the individually determined parameters; ``identifiable`` of those whose standard error is also
    below the values of a body of the load's size.
    """

    parameters: Array
    filled: Array
    standard_errors: Array
    covariance: Array
    determined: Array
    identifiable: Array
    combinations: tuple[str, ...]


def determined(R: Array, z: Array, size: float) -> Determined:
    """Solve min |R π − z|², with rows in units of their noise."""
    units = size ** LENGTH_POWERS.astype(float)
    _, s, Vt = np.linalg.svd(R * units)
    s = np.concatenate([s, np.zeros(10 - len(s))])
    shown = s > NOT_SHOWN * max(s[0], 1e-300)
    V = Vt[shown].T
    covariance = (V / s[shown] ** 2) @ V.T
    filled = covariance @ (R * units).T @ z
    null = Vt[~shown].T
    known = np.abs(null).max(axis=1, initial=0.0) < MIXED
    covariance = covariance * np.outer(units, units)
    covariance[~known] = covariance[:, ~known] = np.nan
    covariance[~known, ~known] = np.inf
    errors = np.sqrt(np.diag(covariance))
    filled = filled * units
    plausible = max(abs(filled[0]), 1e-300) * units
    return Determined(
        parameters=np.where(known, filled, np.nan),
        filled=filled,
        standard_errors=errors,
        covariance=covariance,
        determined=known,
        identifiable=known & (errors < plausible),
        combinations=_combinations(V, known, units),
    )


def _combinations(V: Array, known: Array, units: Array) -> tuple[str, ...]:
    """Return the identifiable combinations of undetermined parameters: reduced rows of the row space."""
    open_ = np.flatnonzero(~known)
    rows = V[open_].T.copy()
    pivots: list[int] = []
    for column in range(len(open_)):
        rank = len(pivots)
        if rank == len(rows):
            break
        best = rank + int(np.argmax(np.abs(rows[rank:, column])))
        if abs(rows[best, column]) < MIXED:
            continue
        rows[[rank, best]] = rows[[best, rank]]
        rows[rank] /= rows[rank, column]
        for other in range(len(rows)):
            if other != rank:
                rows[other] -= rows[other, column] * rows[rank]
        pivots.append(column)
    found = []
    for row, pivot in zip(rows, pivots, strict=False):
        terms = []
        for k, value in enumerate(row):
            factor = value / units[open_[k]] * units[open_[pivot]]
            if abs(value) > MIXED:
                number = "" if abs(abs(factor) - 1.0) < 1e-9 else f"{abs(factor):.4g} "
                terms.append(("− " if factor < 0.0 else "+ ") + number + PARAMETER_NAMES[open_[k]])
        found.append(" ".join(terms).removeprefix("+ "))
    return tuple(found)


def consistent_parameters(R: Array, z: Array, size: float) -> Array:
    """Return the parameters of the physically consistent body that best fits: its pseudo-inertia is L Lᵀ, L lower triangular.

    Unlike the log-Cholesky form, L includes point masses and rods, where the pseudo-inertia is singular. Parameters that R
    does not determine are regularized towards a ball of the load's size around the origin.
    """
    from scipy.optimize import least_squares

    units = size ** LENGTH_POWERS.astype(float)
    A = R * units
    free = np.linalg.lstsq(A, z, rcond=NOT_SHOWN)[0]
    mass = max(abs(float(free[0])), 1e-6)
    ball = mass * np.array([1.0, 0.0, 0.0, 0.0, 0.4, 0.0, 0.4, 0.0, 0.0, 0.4])
    pull = 1.0 / (WEAK * mass)
    stacked, wanted = np.vstack([A, pull * np.eye(10)]), np.concatenate([z, pull * ball])
    to_parameters = np.column_stack([_parameters(_symmetric(unit)) for unit in np.eye(10)])
    M = stacked @ to_parameters
    rows, columns = LOWER

    def matrix(x: Array) -> Array:
        L = np.zeros((4, 4))
        L[LOWER] = x
        return L

    def residual(x: Array) -> Array:
        L = matrix(x)
        return M @ (L @ L.T)[LOWER] - wanted

    def slope(x: Array) -> Array:
        L = matrix(x)
        # ∂(L Lᵀ)_ij / ∂L_ab = δ_ia L_jb + δ_ja L_ib
        D = (rows[:, None] == rows) * L[columns[:, None], columns] + (columns[:, None] == rows) * L[rows[:, None], columns]
        return M @ D

    start = np.linalg.lstsq(stacked, wanted, rcond=None)[0]
    values, vectors = np.linalg.eigh(Inertia.from_parameters(start).pseudo_inertia)
    lifted = (vectors * np.maximum(values, 1e-3 * mass)) @ vectors.T
    found = least_squares(
        residual, np.linalg.cholesky(lifted)[LOWER], jac=slope, method="lm", xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    L = matrix(found.x)
    return _parameters(L @ L.T) * units


def _symmetric(entries: Array) -> Array:
    P = np.zeros((4, 4))
    P[LOWER] = entries
    return P + np.tril(P, -1).T


def _parameters(P: Array) -> Array:
    """Return the ten parameters of a pseudo-inertia: I = tr(Σ) 1 − Σ."""
    second = P[:3, :3]
    return Inertia(P[3, 3], P[:3, 3], np.trace(second) * np.eye(3) - second).parameters
