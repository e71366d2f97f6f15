"""Verification that a motion satisfies its limits at every time, not only at sampled times.

Between two neighbours of a grid a function exceeds the larger of both by at most h²/8 · sup |f''|. For q, v and a the basis
has a bound of the supremum; for torques and positions, which are as smooth, twice the largest second difference nearby is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.excitation.basis import Basis
from dynamis.identification.excitation.limits import Rows

Array = npt.NDArray[Any]
POINTS = 1000  # minimum, and
POINTS_A_SWING = 200
DOUBT = 2.0  # safety factor on the curvature between the points
NARROWINGS = 12


@dataclass(frozen=True, eq=False)
class Extent:
    """Guaranteed range of the rows of one kind."""

    rows: Rows
    lowest: Array
    highest: Array

    @property
    def excess(self) -> Array:
        """Return (m,): the violation of the bounds; negative inside."""
        return np.maximum(self.highest - self.rows.upper, self.rows.lower - self.lowest) / self.rows.scale

    @property
    def used(self) -> Array:
        """Return (m,): the fraction of each limit that is used; NaN without a reference for 100 %."""
        away = np.maximum(self.highest - self.rows.centre, self.rows.centre - self.lowest)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(self.rows.limit), (away + self.rows.aside) / self.rows.limit, np.nan)


class Checker:
    """Range computation for motions of one basis."""

    def __init__(self, basis: Basis, rows: Sequence[Rows]) -> None:
        self.basis, self.rows = basis, list(rows)
        count = max(POINTS, POINTS_A_SWING * basis.finest)
        self.t = np.linspace(0.0, basis.duration, count + 1)
        self.phi = basis.matrices(self.t)

    def extents(self, q0: Array, c: Array) -> list[Extent]:
        """Return the range of each kind of limit."""
        phi, phi_dot, phi_ddot = self.phi
        state = q0 + phi @ c, phi_dot @ c, phi_ddot @ c
        return [self._extent(rows, rows.values(*state), c) for rows in self.rows]

    def excess(self, q0: Array, c: Array) -> float:
        """Return the largest violation; a motion is feasible if it is ≤ 0."""
        return max(float(extent.excess.max()) for extent in self.extents(q0, c))

    def inside(self, q0: Array, c: Array) -> tuple[Array, float]:
        """Scale the motion about the feasible q₀ until it is feasible; return it with the factor."""
        if self.excess(q0, c) <= 0.0:
            return c, 1.0
        good, bad = 0.0, 1.0
        step = 1e-4
        while step < 1.0:
            if self.excess(q0, (1.0 - step) * c) <= 0.0:
                good = 1.0 - step
                break
            bad, step = 1.0 - step, 2.0 * step
        for _ in range(NARROWINGS):
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if self.excess(q0, middle * c) <= 0.0 else (good, middle)
        return good * c, good

    def _extent(self, rows: Rows, values: Array, c: Array) -> Extent:
        if rows.order is not None:
            h = self.t[1] - self.t[0]
            room = h * h / 8.0 * self.basis.bound(c, rows.order + 2)
            return Extent(rows, values.min(axis=0) - room, values.max(axis=0) + room)
        bend = np.abs(np.diff(values, 2, axis=0))
        bend = np.concatenate([bend[:1], bend, bend[-1:]])  # at every point; the ends take that of their neighbour
        between = DOUBT / 8.0 * np.maximum(bend[1:], bend[:-1])
        highest = (np.maximum(values[1:], values[:-1]) + between).max(axis=0)
        lowest = (np.minimum(values[1:], values[:-1]) - between).min(axis=0)
        return Extent(rows, lowest, highest)
