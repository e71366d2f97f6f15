"""Time-optimal path parametrisation within limits, by reachability analysis.

With x = ṡ² and u = s̈, x changes along an interval of the path of length Δ by 2 Δ u, and every limit is a row
a u + b x + c + k √x ≤ 0. A backward pass finds for each point the range of x from which the rest of the path can be
completed; a forward pass takes the largest u that stays within these ranges [Pham & Pham 2018, Algorithm 1].

Without viscous friction k = 0, and the programs in u and x are linear. They are solved by elimination: each pair of rows that
bound u from above and from below is a bound on x. There is no division by a, so that points where a changes its sign are no
special case. With viscous friction √x is replaced by its tangent at the solution, by fixed-point iteration, which is exact
there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.tolerances import NEGLIGIBLE, RECURSION_ROUNDING

Array = npt.NDArray[Any]
MAX_ITERATIONS = 40
CONVERGED = 10.0 * RECURSION_ROUNDING  # relative change of x


class UnreachableError(Exception):
    """The path cannot be followed from this interval on for any x."""

    def __init__(self, interval: int) -> None:
        super().__init__(interval)
        self.interval = interval


@dataclass(frozen=True, eq=False)
class Interval:
    """An interval of the path: its length Δ, and rows (rows, 4) of a, b, c, k at its start and at its end.

    Rows of its end apply to the x there, which is x + 2 Δ u. ``slowest`` is the smallest √x for tangents.
    """

    length: float
    begin: Array
    end: Array
    slowest: float

    @cached_property
    def _all(self) -> tuple[Array, ...]:
        """a, b, c, k of all rows, and the factor 2 Δ of u in the x of the end rows."""
        far = np.repeat([0.0, 2.0 * self.length], [len(self.begin), len(self.end)])
        return (*np.concatenate([self.begin, self.end]).T, far)

    @cached_property
    def linear(self) -> bool:
        return not self._all[3].any()

    def rows(self, x: float, x_end: float) -> Array:
        """(rows, 3) of a, b, c in the x of the start, with √x ≈ (x + x₀) / (2 √x₀) linearised at both ends."""
        a, b, c, k, far = self._all
        if not self.linear:
            roots = [max(math.sqrt(max(at, 0.0)), self.slowest) for at in (x, x_end)]
            root = np.where(far > 0.0, roots[1], roots[0])
            b, c = b + k / (2.0 * root), c + k * root / 2.0
        return np.stack([a + far * b, b, c], axis=1)

    def controllable(self, low: float, high: float) -> tuple[float, float]:
        """The range of x from which some u reaches the range from low to high at the end."""
        arrive = np.array([[2.0 * self.length, 1.0, -high], [-2.0 * self.length, -1.0, low], [0.0, -1.0, 0.0]])
        ends = []
        for side, first in ((0, low), (1, high)):
            x = x_end = first
            for _ in range(MAX_ITERATIONS):
                rows = np.concatenate([self.rows(x, x_end), arrive])
                found = _range(rows)
                if self.linear or found[0] > found[1]:
                    break
                before, x = x, found[side]
                x_end = x + 2.0 * self.length * _largest(rows, x)
                if abs(x - before) <= CONVERGED * x + self.slowest**2:
                    break
            ends.append(found)
            if self.linear:
                return found
        return ends[0][0], ends[1][1]

    def largest(self, x: float, high: float) -> float:
        """The largest u at x."""
        x_end, u = high, np.inf
        for _ in range(MAX_ITERATIONS):
            u = _largest(self.rows(x, x_end), x)
            before, x_end = x_end, min(high, max(0.0, x + 2.0 * self.length * u))
            if self.linear or abs(x_end - before) <= CONVERGED * x_end + self.slowest**2:
                break
        return u


def quickest(intervals: list[Interval]) -> Array:
    """x at the grid points (N + 1), from rest to rest."""
    ranges = np.zeros((len(intervals) + 1, 2))
    for i in reversed(range(len(intervals))):
        low, high = intervals[i].controllable(*ranges[i + 1])
        # rounding aside, a range that is empty, or does not hold the rest at the start, is the end
        if low > high * (1.0 + NEGLIGIBLE) + 1e-12 or (i == 0 and low > 1e-9 * max(1.0, high)):
            raise UnreachableError(i)
        ranges[i] = low, max(low, high * (1.0 - NEGLIGIBLE))
    x = np.zeros(len(intervals) + 1)
    for i, interval in enumerate(intervals[:-1]):
        x[i + 1] = np.clip(x[i] + 2.0 * interval.length * interval.largest(x[i], ranges[i + 1, 1]), *ranges[i + 1])
    return x


def _range(rows: Array) -> tuple[float, float]:
    """The smallest and largest x for which some u satisfies all rows."""
    a = rows[:, 0]
    above, below, other = rows[a > 0.0], rows[a < 0.0], rows[a == 0.0]
    # a⁺ · (row below) − a⁻ · (row above) has no u left in it
    pairs = above[:, None, :1] * below[None, :, 1:] - below[None, :, :1] * above[:, None, 1:]
    b, c = np.concatenate([pairs.reshape(-1, 2), other[:, 1:]]).T
    if (c[b == 0.0] > 1e-12).any():
        return np.inf, -np.inf
    most = (-c[b > 0.0] / b[b > 0.0]).min(initial=np.inf)
    least = (-c[b < 0.0] / b[b < 0.0]).max(initial=0.0)
    return float(least), float(most)


def _largest(rows: Array, x: float) -> float:
    a, room = rows[:, 0], -(rows[:, 1] * x + rows[:, 2])
    return float((room[a > 0.0] / a[a > 0.0]).min(initial=np.inf))
