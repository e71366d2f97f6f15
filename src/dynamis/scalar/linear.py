"""Solving with symmetric positive definite matrices of any scalar."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import SingularError
from dynamis.scalar.functions import sqrt, where
from dynamis.scalar.node import Scalar, make

Array = npt.NDArray[Any]

# a pivot below this share of its scale is rounding: singular mass matrices of random trees leave up to 8e-12 in double
# precision and some 10 units of rounding in single; regular robots, humanoids on a free base included, have more than 1e-5
PIVOT_TOLERANCE = {"double": 1e-11, "float": 1e-6}
# of the mean diagonal of J M⁻¹ Jᵀ, ten times a pivot's tolerance: in double precision accelerations of a condition of 3e8 are
# exact to 1.2e-7 rad/s²; in single precision those of a humanoid on the corners of its feet to 4e-6 of the largest
REGULARISATION = {"double": 1e-10, "float": 1e-5}


def pivot(value: Scalar, scale: Scalar) -> Scalar:
    """``value`` if it exceeds ``PIVOT_TOLERANCE`` times ``scale``, else 0: a division by it then gives no finite number."""
    if isinstance(value, float) and isinstance(scale, float):
        return value if value > PIVOT_TOLERANCE["double"] * scale else 0.0
    return make("pivot", value, scale)


def regularisation(scale: Scalar) -> Scalar:
    """``REGULARISATION`` of the precision that is computed in, times ``scale``."""
    double, single = (REGULARISATION[kind] * scale for kind in ("double", "float"))
    between = pivot(1e-8 * scale, scale)  # zero in single precision only
    return where(between > 0.0, double, single)


def solve_positive(M: Array, b: Array, scale: Array | None = None) -> Array:
    """x with M x = b, for symmetric positive definite M; b is a vector or a matrix of columns.

    Numbers go to LAPACK's Cholesky. Symbols go through M = Lᵀ D L, whose order keeps the zeros
    that separate the branches of a tree [Featherstone 2008, §6.5].

    A pivot that is rounding against ``scale``, by default the diagonal of M, means a singular matrix: numbers raise
    `SingularError`; compiled code divides by zero, so that the result is not finite.
    """
    scale = np.diagonal(M) if scale is None else scale
    if object not in (M.dtype, b.dtype):
        L = _cholesky(M, scale)
        return np.linalg.solve(L.T, np.linalg.solve(L, b))
    L, d = factorise(M, scale)
    x = solve_upper(L, b)
    return solve_lower(L, x / (d if b.ndim == 1 else d[:, None]))


def factorise(M: Array, scale: Array | None = None) -> tuple[Array, Array]:
    """(L, d) with M = Lᵀ diag(d) L, L lower triangular with ones on its diagonal; ``scale`` as for `solve_positive`."""
    scale = np.diagonal(M) if scale is None else scale
    if M.dtype != object:
        U = _cholesky(M[::-1, ::-1], np.asarray(scale)[::-1])[::-1, ::-1]  # M = U Uᵀ with U upper triangular
        diagonal = np.diagonal(U)
        return (U / diagonal).T, diagonal * diagonal
    L, d = np.array(M, dtype=object), np.empty(len(M), dtype=object)
    for k in reversed(range(len(M))):
        d[k] = pivot(L[k, k], scale[k])
        if _is_zero(d[k]):
            raise SingularError("the matrix is singular for all values of its symbols")
        row = [i for i in range(k) if not _is_zero(L[k, i])]
        for i in reversed(row):
            ratio = L[k, i] / d[k]
            for j in row:
                if j <= i:
                    L[i, j] = L[i, j] - ratio * L[k, j]
            L[k, i] = ratio
        L[k, k], L[k, k + 1 :] = 1.0, 0.0
    return L, d


def solve_upper(L: Array, b: Array) -> Array:
    """x with Lᵀ x = b, for the factor L of `factorise`."""
    if object not in (L.dtype, b.dtype):
        return np.asarray(np.linalg.solve(L.T, b))
    x = np.array(b, dtype=object)
    for k in reversed(range(len(L))):
        for i in range(k):
            if not _is_zero(L[k, i]):
                x[i] = x[i] - L[k, i] * x[k]
    return x


def solve_lower(L: Array, b: Array) -> Array:
    """x with L x = b, for the factor L of `factorise`."""
    if object not in (L.dtype, b.dtype):
        return np.asarray(np.linalg.solve(L, b))
    x = np.array(b, dtype=object)
    for k in range(len(L)):
        for i in range(k):
            if not _is_zero(L[k, i]):
                x[k] = x[k] - L[k, i] * x[i]
    return x


def solve_general(A: Array, b: Array) -> Array:
    """x with A x = b for any regular A, by Householder reflections, which need no pivoting; b is a vector or columns."""
    if object not in (A.dtype, b.dtype):
        return np.asarray(np.linalg.solve(A, b))
    R, x, _ = _triangular(A, b)
    n = len(A)
    for k in reversed(range(n)):
        x[k] = (x[k] - R[k, k + 1 :] @ x[k + 1 :]) / R[k, k] if k + 1 < n else x[k] / R[k, k]
    return x


def determinant(A: Array) -> Any:
    """The determinant, by the same reflections, each of which changes its sign."""
    if A.dtype != object:
        return np.linalg.det(A)
    if len(A) == 2:
        return A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    R, _, reflections = _triangular(A, np.zeros(len(A)))
    return np.prod(np.diagonal(R)) * (-1.0) ** reflections


def _triangular(A: Array, b: Array) -> tuple[Array, Array, int]:
    """(R, x, number of reflections) with R x = b equivalent to A x = b, by Householder reflections."""
    R, x, reflections = np.array(A, dtype=object), np.array(b, dtype=object), 0
    for k in range(len(A)):
        if all(map(_is_zero, R[k + 1 :, k])):
            continue
        reflections += 1
        size = sqrt(R[k:, k] @ R[k:, k])
        u = R[k:, k].copy()
        u[0] = u[0] + where(u[0] < 0.0, -size, size)
        scale = 2.0 / (u @ u)
        R[k:, k:] = R[k:, k:] - np.outer(u * scale, u @ R[k:, k:])
        x[k:] = x[k:] - np.multiply.outer(u * scale, u @ x[k:])
    return R, x, reflections


def _cholesky(M: Array, scale: Array) -> Array:
    if not np.isfinite(M).all():
        raise SingularError("the matrix has entries that are not finite: the state is too large to be computed with")
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise SingularError("the matrix is not positive definite") from None
    if (np.diagonal(L) ** 2 <= PIVOT_TOLERANCE["double"] * scale).any():
        raise SingularError("the matrix is singular to working precision")
    return L


def _is_zero(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0
