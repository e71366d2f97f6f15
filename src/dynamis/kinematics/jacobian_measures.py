"""Measures of one Jacobian, for numbers and for symbols: they can be traced, differentiated and compiled."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar import maximum, solve_positive, sqrt

Array = npt.NDArray[Any]

MAX_MINORS = 2000  # beyond this the determinant of J Jᵀ is quicker, and accurate enough


def minors(A: Array) -> list[Any]:
    """All m × m minors of A (m × n), by Laplace expansion along the rows, without division, also for singular A."""
    m, n = A.shape
    known: dict[tuple[int, ...], Any] = {(): 1.0}
    for i in range(m):
        grown: dict[tuple[int, ...], Any] = {}
        for columns in itertools.combinations(range(n), i + 1):
            total: Any = 0.0
            for place, j in enumerate(columns):
                term = A[i, j] * known[columns[:place] + columns[place + 1 :]]
                total = total + term if (i + place) % 2 == 0 else total - term
            grown[columns] = total
        known = grown
    return list(known.values())


def volume(A: Array) -> Any:
    """√det(A Aᵀ), the product of the singular values of A (m ≤ n).

    By the formula of Cauchy and Binet, √Σ (minors)²: a sum of squares, accurate also near zero.
    """
    m, n = A.shape
    if m == n:
        return abs(minors(A)[0])
    if math.comb(n, m) <= MAX_MINORS:
        return sqrt(sum((x * x for x in minors(A)), 0.0))
    return sqrt(maximum(minors(A @ A.T)[0], 0.0))


def dynamic_volume(A: Array, M: Array) -> Any:
    """√det(A M⁻² Aᵀ): the accelerations of the tip for unit torques [Yoshikawa 1985]."""
    return volume(solve_positive(M, A.T).T)


def mobility(A: Array, M: Array) -> Array:
    """A M⁻¹ Aᵀ = Λ⁻¹: the acceleration of the tip for a unit force there."""
    return np.asarray(A @ solve_positive(M, A.T))
