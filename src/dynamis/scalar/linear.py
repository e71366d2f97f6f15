"""Solving with symmetric positive definite matrices of any scalar."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import SingularError
from dynamis.scalar.node import PIVOT_TOLERANCE, pivot

Array = npt.NDArray[Any]


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
    n = len(M)
    L, x = np.array(M, dtype=object), np.array(b, dtype=object)
    # M = Lᵀ D L, D on the diagonal of the work array
    for k in reversed(range(n)):
        L[k, k] = pivot(L[k, k], scale[k])
        if _is_zero(L[k, k]):
            raise SingularError("the matrix is singular for all values of its symbols")
        row = [i for i in range(k) if not _is_zero(L[k, i])]
        for i in reversed(row):
            ratio = L[k, i] / L[k, k]
            for j in row:
                if j <= i:
                    L[i, j] = L[i, j] - ratio * L[k, j]
            L[k, i] = ratio
    for k in reversed(range(n)):
        for i in range(k):
            if not _is_zero(L[k, i]):
                x[i] = x[i] - L[k, i] * x[k]
    for k in range(n):
        x[k] = x[k] / L[k, k]
        for i in range(k):
            if not _is_zero(L[k, i]):
                x[k] = x[k] - L[k, i] * x[i]
    return x


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
