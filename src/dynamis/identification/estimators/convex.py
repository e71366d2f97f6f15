"""Quadratic programs over physically consistent inertias.

min  ½ wᵀ P w + qᵀ w − κ Σ log det B_k    with   B_k = unpacked(b_k + M_k w) ⪰ ε,   lower ≤ A w ≤ upper
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.pseudo_inertia import packed

Array = npt.NDArray[Any]

LEAST = 1e-7  # margin ε, relative to the prior inertia
ONE = packed(np.eye(4))


@dataclass(frozen=True, eq=False)
class Rows:
    """lower ≤ A w ≤ upper, with a name for each row."""

    A: Array
    lower: Array
    upper: Array
    names: tuple[str, ...]

    def hold(self, w: Array, tolerance: float) -> bool:
        """Return whether w satisfies them up to a tolerance."""
        at, room = self.A @ w, tolerance * np.linalg.norm(self.A, axis=1)
        return bool((at >= self.lower - room).all() and (at <= self.upper + room).all())

    def moved(self, start: Array, W: Array) -> Rows:
        """Return the same constraints for x = start + W w."""
        at = self.A @ start
        return Rows(self.A @ W, self.lower - at, self.upper - at, self.names)


@dataclass(frozen=True, eq=False)
class Programme:
    """The program; ``bodies`` holds (b_k, M_k) of each link, ``log_det`` is κ, ``start`` a w that may be feasible."""

    P: Array
    q: Array
    bodies: list[tuple[Array, Array]]
    rows: Rows
    log_det: float = 0.0
    least: float = LEAST
    start: Array | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solver: the point, a status text, whether it is a minimum, and whether the problem is infeasible."""

    x: Array
    status: str
    solved: bool
    impossible: bool = False
