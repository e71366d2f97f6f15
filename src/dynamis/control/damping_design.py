"""Damping design: all modes of Λ ẍ + D ẋ + K x = 0 with the same damping ratio ζ.

Double diagonalisation finds Q with Λ = Q Qᵀ and K = Q K_0 Qᵀ, and sets D = 2 ζ Q K_0^½ Qᵀ [Albu-Schäffer et al. 2003]. That
is 2 ζ times the geometric mean of Λ and K, D = 2 ζ K^½ (K^½ Λ⁻¹ K^½)^-½ K^½, which requires one matrix square root
instead of eigenvectors. It is computed by a fixed number of Newton iterations, so that it can be traced, from the mobility
Λ⁻¹ = J M⁻¹ Jᵀ, without Λ. At a singularity of the task D is infinite, and an error is raised.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import SingularError
from dynamis.scalar import exp, log, solve_positive, sqrt
from dynamis.tolerances import MOBILITY_ROUNDING

Array = npt.NDArray[Any]
SCALED_ITERATIONS, ITERATIONS = 4, 11  # quadratic convergence; scaled ones first bring a condition number of 1e8 down to a few


def consistent_damping(mobility: Array, stiffness: Array, ratio: float = 1.0) -> Array:
    """D (m × m) from Λ⁻¹ (m × m) and the diagonal of K (m).

    >>> D = consistent_damping(np.diag([0.5, 0.1]), np.array([8.0, 40.0]), 0.7)
    >>> D.round(9).tolist()
    [[5.6, 0.0], [0.0, 28.0]]
    """
    root = sqrt(np.asarray(stiffness))
    S = root[:, None] * mobility * root[None, :]
    if S.dtype != object:
        _refuse_singular(S)
    return np.asarray(2.0 * ratio * root[:, None] * inverse_square_root(S) * root[None, :])


def _refuse_singular(S: Array) -> None:
    least, most = np.linalg.eigvalsh(S)[[0, -1]] if np.isfinite(S).all() else (0.0, 0.0)
    if least <= MOBILITY_ROUNDING * most:
        raise SingularError("the task is singular at this state and its damping is infinite; choose another task or start")


def inverse_square_root(S: Array) -> Array:
    """S^-½ of a symmetric positive definite matrix, in the product form of Denman and Beavers [Higham 2008, (6.29)].

    X ← ½ X (1 + P⁻¹)/…, P ← ½ (1 + ½ (P + P⁻¹)), both polynomials of S: they commute, and stay symmetric.
    """
    size = len(S)
    one = np.eye(size)
    P, X = S, one
    for k in range(ITERATIONS):
        if k < SCALED_ITERATIONS:
            # the determinant brings the eigenvalues around one
            factor = exp(log(_determinant(P)) * (-0.5 / size))
            P, X = P * (factor * factor), X * factor
        Q = _symmetric(solve_positive(P, one))
        X = _symmetric(0.5 * (X + X @ Q))
        P = 0.5 * (one + 0.5 * (P + Q))
    return X


def _determinant(P: Array) -> Any:
    """By elimination without pivoting, for a positive definite matrix."""
    A, product = np.array(P, dtype=object if P.dtype == object else float), 1.0
    for k in range(len(A)):
        product = product * A[k, k]
        for i in range(k + 1, len(A)):
            ratio = A[i, k] / A[k, k]
            A[i, k:] = A[i, k:] - ratio * A[k, k:]
    return product


def _symmetric(A: Array) -> Array:
    """The matrix symmetrised from its upper half, against accumulation of rounding."""
    upper = np.triu_indices(len(A), 1)
    B = np.array(A)
    B.T[upper] = B[upper]
    return B
