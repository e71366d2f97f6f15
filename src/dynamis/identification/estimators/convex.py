"""Quadratic programs over physically consistent inertias, and the choice of solver.

    min  ½ wᵀ P w + qᵀ w − κ Σ log det B_k    with   B_k = unpacked(b_k + M_k w) ⪰ ε,   lower ≤ A w ≤ upper

They are solved by Clarabel if it is installed, and by a built-in interior-point method otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.pseudo_inertia import packed, unpacked

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


def clarabel_is_installed() -> bool:
    return find_spec("clarabel") is not None


def minimise(programme: Programme) -> Solution:
    """Solve a program."""
    from dynamis.identification.estimators.interior_point import solve as solve_here

    if clarabel_is_installed():
        from dynamis.identification.estimators.clarabel_cones import solve

        found = solve(programme)
        # Clarabel's tolerances are relative to the largest numbers; these are not
        if found.solved and _is_inside(programme, found.x):
            return found
    return solve_here(programme)


def _is_inside(programme: Programme, w: Array) -> bool:
    least = 0.5 * programme.least
    bodies = all(np.linalg.eigvalsh(unpacked(b + M @ w))[0] >= least for b, M in programme.bodies)
    return bodies and programme.rows.hold(w, 1e-9)
