"""A quadratic over the cone of real bodies: what is asked of a solver, and which one is asked.

    min  ½ wᵀ P w + qᵀ w − κ Σ log det B_k    with   B_k = unpacked(b_k + M_k w) ⪰ ε,   lower ≤ A w ≤ upper

Clarabel solves it where it is installed, an interior-point method of our own where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.pseudo_inertia import packed, unpacked

Array = npt.NDArray[Any]

LEAST = 1e-7  # of the believed inertia, left in every direction
ONE = packed(np.eye(4))


@dataclass(frozen=True, eq=False)
class Rows:
    """lower ≤ A w ≤ upper, each row with its name in words."""

    A: Array
    lower: Array
    upper: Array
    names: tuple[str, ...]

    def hold(self, w: Array, tolerance: float) -> bool:
        """Whether w is within them, up to a distance."""
        at, room = self.A @ w, tolerance * np.linalg.norm(self.A, axis=1)
        return bool((at >= self.lower - room).all() and (at <= self.upper + room).all())

    def moved(self, start: Array, W: Array) -> Rows:
        """The same for x = start + W w."""
        at = self.A @ start
        return Rows(self.A @ W, self.lower - at, self.upper - at, self.names)


@dataclass(frozen=True, eq=False)
class Programme:
    """The problem; ``bodies`` holds (b_k, M_k) of each link, ``log_det`` is κ, ``start`` a w that may be inside."""

    P: Array
    q: Array
    bodies: list[tuple[Array, Array]]
    rows: Rows
    log_det: float = 0.0
    least: float = LEAST
    start: Array | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """Where a solver ended, in words how, whether that is a minimum, and whether it found that nothing is allowed."""

    x: Array
    status: str
    solved: bool
    impossible: bool = False


def clarabel_is_installed() -> bool:
    return find_spec("clarabel") is not None


def minimise(programme: Programme) -> Solution:
    """The minimum of a programme."""
    from dynamis.identification.estimators.interior_point import solve as solve_here

    if clarabel_is_installed():
        from dynamis.identification.estimators.clarabel_cones import solve

        found = solve(programme)
        # its tolerances are relative to the largest numbers; ours are not
        if found.solved and _is_inside(programme, found.x):
            return found
    return solve_here(programme)


def _is_inside(programme: Programme, w: Array) -> bool:
    least = 0.5 * programme.least
    bodies = all(np.linalg.eigvalsh(unpacked(b + M @ w))[0] >= least for b, M in programme.bodies)
    return bodies and programme.rows.hold(w, 1e-9)
