"""Constraint aggregation: thousands of limits on a time grid as a few smooth functions, one smooth maximum per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.excitation.basis import Basis
from dynamis.identification.excitation.limits import Rows

Array = npt.NDArray[Any]


class Aggregated:
    """g(c) ≤ 0 with gradients, on a time grid: an upper bound of the largest violation [Kreisselmeier & Steinhauser].

    ``extra`` (one array per kind of limit) tightens the bounds by violations found between the grid points.
    """

    def __init__(self, basis: Basis, rows: Sequence[Rows], count: int) -> None:
        self.rows = list(rows)
        self.phi = basis.matrices(np.linspace(0.0, basis.duration, count))
        self.bounded = [np.flatnonzero(np.isfinite(x.lower) | np.isfinite(x.upper)) for x in self.rows]
        self.extra = [np.zeros(len(x.names)) for x in self.rows]

    def states(self, q0: Array, c: Array) -> tuple[Array, Array, Array]:
        phi, phi_dot, phi_ddot = self.phi
        return q0 + phi @ c, phi_dot @ c, phi_ddot @ c

    def worst(self, q0: Array, c: Array) -> float:
        """Return the largest violation on the grid."""
        state = self.states(q0, c)
        return max(float(rows.excess(rows.values(*state)).max()) for rows in self.rows)

    def values_and_jacobian(self, q0: Array, c: Array, sharpness: float) -> tuple[Array, Array]:
        """Return (k,) and (k, size, n)."""
        state = self.states(q0, c)
        values, slopes = [], []
        for rows, kept, extra in zip(self.rows, self.bounded, self.extra, strict=True):
            value, weights = _smooth_maximum(rows, rows.values(*state), extra, sharpness)
            values.append(value[kept])
            slopes.append(self._pulled(rows, kept, state, weights))
        return np.concatenate(values), np.concatenate(slopes)

    def _pulled(self, rows: Rows, kept: Array, state: tuple[Array, Array, Array], weights: Array) -> Array:
        count, n = state[0].shape
        if rows.order is not None:
            slope = np.zeros((len(kept), self.phi[0].shape[1], n))
            slope[np.arange(len(kept)), :, kept] = (self.phi[rows.order].T @ weights).T[kept]
            return slope
        # one backward pass per row, with zero weights for the others
        single = np.zeros((len(kept), count, weights.shape[1]))
        single[np.arange(len(kept)), :, kept] = weights.T[kept]
        assert rows.traced is not None
        pulled = rows.traced.pull(*state, single)
        return np.asarray(sum(np.einsum("tk,mtn->mkn", phi, g, optimize=True) for phi, g in zip(self.phi, pulled, strict=True)))


def _smooth_maximum(rows: Rows, values: Array, extra: Array, sharpness: float) -> tuple[Array, Array]:
    """Return (m,) over time and both bounds, and its derivatives (N, m) by the values."""
    over, under = (values - rows.upper) / rows.scale + extra, (rows.lower - values) / rows.scale + extra
    top = np.maximum(over.max(axis=0), under.max(axis=0))
    safe_top = np.where(np.isfinite(top), top, 0.0)
    plus, minus = np.exp(sharpness * (over - safe_top)), np.exp(sharpness * (under - safe_top))
    total = plus.sum(axis=0) + minus.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = safe_top + np.log(total) / sharpness
        weights = (plus - minus) / (total * rows.scale)
    return value, np.nan_to_num(weights)
