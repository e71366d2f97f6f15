"""The ten numbers of one body from a triangular factor: what it determines, and the nearest body that can exist.

Units are chosen with the size of the load as the length, so that the ten numbers of a compact body are of one magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.spatial import PARAMETER_NAMES, Inertia

Array = npt.NDArray[Any]
LENGTH_POWERS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])  # the unit of each parameter is kg m to this power
NOT_SHOWN = 1e-8  # of the largest singular value: directions that no torque depends on
MIXED = 1e-6  # a parameter with less than this of such a direction is determined on its own
WEAK = 10.0  # the belief in a plain body is this many times its own numbers wide: it fills in, and hardly pulls
LOWER = np.tril_indices(4)


@dataclass(frozen=True, eq=False)
class Determined:
    """What least squares says: ``parameters`` (10) with nan where nothing does, ``filled`` with the smallest numbers there.

    ``determined`` are those no other combination can stand for; ``identifiable`` those of them whose standard error is less
    than what a body of the load's size could have.
    """

    parameters: Array
    filled: Array
    standard_errors: Array
    covariance: Array
    determined: Array
    identifiable: Array
    combinations: tuple[str, ...]


def determined(R: Array, z: Array, size: float) -> Determined:
    """The solution of min |R π − z|², where the rows are in units of their noise."""
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
    """The sums of undetermined parameters that are determined: reduced rows of what the torques depend on."""
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
    """The ten parameters of the real body nearest to the torques: its pseudo-inertia is L Lᵀ, with any lower triangular L.

    Unlike logarithms of L's diagonal, L itself reaches point masses and rods, where the matrix is singular. What R does not
    determine is drawn to a ball of the load's size around its origin.
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
    """The ten parameters of a pseudo-inertia: I = tr(Σ) 1 − Σ."""
    second = P[:3, :3]
    return Inertia(P[3, 3], P[:3, 3], np.trace(second) * np.eye(3) - second).parameters
