"""Functions of q over boxes: f(c) + Σ_k s_k (q_k − c_k) ± ρ, with c the centre of the box.

There are two ways to compute ρ, both second-order in the width of the box. Where f is a trigonometric polynomial of moderate
size, s is its derivative at the centre, and ρ = ½ Σ_kl H_kl r_k r_l with bounds H of the second derivatives and half-widths r
of the box. Otherwise, by the mean value theorem, f(q) − f(c) = Σ_k ∂f/∂q_k(ξ) (q_k − c_k) for a ξ in the box: the derivatives
are enclosed over the box by intervals, [s_k − σ_k, s_k + σ_k], and ρ = Σ_k σ_k r_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.analysis.harmonics import harmonics
from dynamis.analysis.intervals import Interval, IntervalProgram
from dynamis.scalar import Node, Program, jacobian
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]

OUTWARD_FACTOR = 1.0 + RECURSION_ROUNDING  # rounds up sums of a few positive numbers outside the interval arithmetic
MAX_DIFFERENTIATED_OPERATIONS = 40_000  # beyond this, differentiating takes longer than it saves


class Linearised(NamedTuple):
    """m functions over N boxes of d variables."""

    value: Array  # (N, m) f(c) …
    error: Array  # (N, m) … to this much
    slope: Array  # (N, m, d) s …
    radius: Array  # (N, m, d) … ± σ
    half: Array  # (N, d) r

    @property
    def spread(self) -> Array:
        """The remainder bound of f(c) + Σ_k s_k (q_k − c_k): ρ (N, m)."""
        return (self.error + np.einsum("nmd,nd->nm", self.radius, self.half)) * OUTWARD_FACTOR

    @property
    def reach(self) -> Array:
        """Bounds of the deviation from f(c) (N, m)."""
        return (self.spread + np.einsum("nmd,nd->nm", np.abs(self.slope), self.half)) * OUTWARD_FACTOR

    @property
    def shares(self) -> Array:
        """The contribution of each variable to the reach, summed over all functions (N, d)."""
        return (np.abs(self.slope) + self.radius).sum(axis=1) * self.half


class Functions:
    """m expressions of d variables over a box (d,) and its parts."""

    def __init__(self, outputs: Sequence[Any], variables: Sequence[Node], lower: Array, upper: Array) -> None:
        self.m, self.d = len(outputs), len(variables)
        self.lower, self.upper = lower, upper
        expressions = np.array(list(outputs), dtype=object)
        self._values = Program(variables, expressions)
        self._enclosed = IntervalProgram(variables, outputs)
        self._harmonics = None
        self._differentiated = self.d > 0 and self.d * len(self._enclosed) <= MAX_DIFFERENTIATED_OPERATIONS
        if not self._differentiated:
            return
        derivatives = jacobian(expressions, variables)
        self._slopes = Program(variables, derivatives)
        self._slopes_enclosed = IntervalProgram(variables, list(derivatives.flat))
        sizes, self._error = self._enclosed.rounding(lower, upper)
        _, slope_error = self._slopes_enclosed.rounding(lower, upper)
        self._slope_error = slope_error.reshape(self.m, self.d)
        if np.isfinite(self._error).all() and np.isfinite(slope_error).all():
            self._harmonics = harmonics(outputs, variables, lower, upper, sizes, self._error)

    def at(self, points: Array) -> Array:
        """(N, d) to (N, m)."""
        return np.broadcast_to(self._values(*points.T), (len(points), self.m))

    def whole(self) -> Linearised:
        """The functions over the whole box, as intervals."""
        ends = self._enclosed(self.lower[None], self.upper[None])
        value, error = _middle(ends)
        if self._harmonics is not None:
            nearer = self._harmonics.range < error
            value, error = np.where(nearer, self._harmonics.mean, value), np.where(nearer, self._harmonics.range, error)
        none = np.zeros((1, self.m, self.d))
        return Linearised(value, error, none, none, 0.5 * (self.upper - self.lower)[None])

    def over(self, lower: Array, upper: Array) -> Linearised:
        """The functions over N parts of the box, given by their ends (N, d)."""
        centre = 0.5 * (lower + upper)
        half = np.maximum(upper - centre, centre - lower) * OUTWARD_FACTOR
        shape = (len(lower), self.m, self.d)
        if self._harmonics is not None:
            slope = np.broadcast_to(self._slopes(*centre.T), shape)
            radius = 0.5 * np.einsum("mkl,nl->nmk", self._harmonics.curvature, half) * OUTWARD_FACTOR + self._slope_error
            return Linearised(self.at(centre), np.broadcast_to(self._error, shape[:2]), slope, radius, half)
        value, error = _middle(self._enclosed(centre, centre))
        slope = radius = np.zeros(shape)
        if self._differentiated:
            slope, radius = _middle(Interval(*(end.reshape(shape) for end in self._slopes_enclosed(lower, upper))))
        elif self.d:
            ends = self._enclosed(lower, upper)
            error = np.maximum(ends.upper - value, value - ends.lower) * OUTWARD_FACTOR
        return Linearised(value, error, slope, radius, half)


def _middle(a: Interval) -> tuple[Array, Array]:
    """Middle and half-width."""
    middle = 0.5 * (a.lower + a.upper)
    return middle, np.maximum(a.upper - middle, middle - a.lower) * OUTWARD_FACTOR
