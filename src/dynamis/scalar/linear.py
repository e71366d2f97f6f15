"""Solving with symmetric positive definite matrices of any scalar."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import SingularError


def solve_positive(M: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """x with M x = b, for symmetric positive definite M; b is a vector or a matrix of columns.

    Numbers go to LAPACK's Cholesky. Symbols go through M = Lᵀ D L, whose order keeps the zeros
    that separate the branches of a tree [Featherstone 2008, §6.5].
    """
    if object not in (M.dtype, b.dtype):
        try:
            L = np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            raise SingularError(
                "the mass matrix is not positive definite: some motion of the joints moves no mass; "
                "give the last links mass and inertia, or their joints a rotor inertia"
            ) from None
        return np.linalg.solve(L.T, np.linalg.solve(L, b))
    n = len(M)
    L, x = np.array(M, dtype=object), np.array(b, dtype=object)
    # M = Lᵀ D L, D on the diagonal of the work array
    for k in reversed(range(n)):
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


def _is_zero(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0
