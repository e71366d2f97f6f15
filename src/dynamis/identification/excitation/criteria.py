"""Optimality criteria of a motion for identification, to be minimized.

All are functions of the information matrix M = mean of Yᵀ Σ⁻¹ Y over the motion, with Σ the variance of each joint's torque,
and provide their gradient ∂F/∂M. "condition" normalizes each column by its own norm, as a solver does; the others use fixed
norms, so that larger motions are better.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, unknown_name
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.excitation.basis import Basis, states
from dynamis.identification.excitation.limits import Rows, Traced
from dynamis.robot import Robot
from dynamis.trajectories.motion import State

Array = npt.NDArray[Any]

Valued = tuple[float, Array]
Spectral = Callable[[Array, float], Valued]  # function of eigenvalues with its derivatives
Criterion = Callable[..., Valued]  # of M, the norms of the columns and the sharpness
LEAST = 1e-15  # relative to the largest eigenvalue: smaller ones are rounding
NOTHING = 1e-200  # column norm of a motion at rest
EXACT = 1e6  # sharpness at which the smooth maximum equals the maximum


def _scaled(of_values: Spectral, M: Array, lengths: Array, sharpness: float) -> Valued:
    """Return a function of the eigenvalues of M, each column divided by a norm, and its gradient ∂F/∂M."""
    scale = np.outer(lengths, lengths)
    values, vectors = np.linalg.eigh(M / scale)
    values = np.maximum(values, LEAST * max(values[-1], np.finfo(float).tiny))
    value, slopes = of_values(values, sharpness)
    return value, (vectors * slopes) @ vectors.T / scale


def smooth_maximum(x: Array, sharpness: float) -> Valued:
    """Return a smooth maximum, log Σ exp(s x) / s, and its derivatives: equal singular values would make it non-smooth."""
    top = x.max()
    weights = np.exp(sharpness * (x - top))
    total = weights.sum()
    return float(top + np.log(total) / sharpness), weights / total


def _spread(values: Array, sharpness: float) -> Valued:
    """Half the log of the ratio of the largest to the smallest eigenvalue: the log of the condition number."""
    (high, up), (low, down) = smooth_maximum(np.log(values), sharpness), smooth_maximum(-np.log(values), sharpness)
    return 0.5 * (high + low), 0.5 * (up - down) / values


def _log_det(values: Array, _sharpness: float) -> Valued:
    """−½ log det M / r: the log of the mean standard deviation, or volume of the confidence ellipsoid."""
    r = len(values)
    return float(-0.5 * np.log(values).sum() / r), -0.5 / r / values


def _mean_variance(values: Array, _sharpness: float) -> Valued:
    """Half the log of the mean variance of the parameters, each in units of its column norm."""
    total = (1.0 / values).sum()
    return float(0.5 * np.log(total / len(values))), -0.5 / total / values**2


def _smallest(values: Array, sharpness: float) -> Valued:
    """−log of the smallest singular value: the least certain combination of parameters."""
    value, slopes = smooth_maximum(-np.log(values), sharpness)
    return 0.5 * value, -0.5 * slopes / values


def condition(M: Array, _lengths: Array, sharpness: float = EXACT) -> Valued:
    """Return the log of the condition number of the regressor with normalized columns."""
    d = np.sqrt(np.maximum(np.diag(M), NOTHING))
    value, gradient = _scaled(_spread, M, d, sharpness)
    gradient[np.diag_indices_from(gradient)] -= np.einsum("ij,ji->i", gradient, M) / d**2  # the norms depend on M, too
    return value, gradient


def combined(M: Array, lengths: Array, sharpness: float = EXACT) -> Valued:
    """Return the sum of the log condition number and the D-optimal criterion."""
    (value, slope), (more, its) = condition(M, lengths, sharpness), CRITERIA["d-optimal"](M, lengths)
    return value + more, slope + its


def _with_fixed_norms(of_values: Spectral) -> Criterion:
    return lambda M, lengths, sharpness=EXACT: _scaled(of_values, M, lengths, sharpness)


CRITERIA: dict[str, Criterion] = {
    "condition": condition,
    "plain-condition": _with_fixed_norms(_spread),
    "d-optimal": _with_fixed_norms(_log_det),
    "a-optimal": _with_fixed_norms(_mean_variance),
    "e-optimal": _with_fixed_norms(_smallest),
    "combined": combined,
}


def criterion_of(name: str) -> Criterion:
    """Return the criterion with this name."""
    if name not in CRITERIA:
        raise unknown_name("criterion", name, CRITERIA)
    return CRITERIA[name]


def condition_number(X: Array) -> float:
    """Return the condition number of a matrix with normalized columns; infinite if one is zero or linearly dependent."""
    lengths = np.linalg.norm(X, axis=0)
    if not lengths.all():
        return float("inf")
    singular = np.linalg.svd(X / lengths, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 1e-14 * singular[0] else float("inf")


GENTLE_SIGN = 0.05  # rad/s: smoothing of Coulomb friction, so that the gradient depends on velocity reversals


class Regressor:
    """Regressor of the base parameters with gradients; rows divided by each joint's noise."""

    def __init__(self, base: BaseParameters, noise: Any = None) -> None:
        robot = base.model.robot
        self.base, self.robot = base, robot
        if base.model.sample_states().size:
            raise InputError(
                "presliding friction depends on the previous motion, or friction on temperature: design with a model without "
                "it, and identify with it"
            )
        try:
            self.noise = np.ones(robot.n) if noise is None else np.broadcast_to(np.asarray(noise, float), (robot.n,))
        except (TypeError, ValueError):
            raise InputError(f"noise= takes one number for all joints or {robot.n}, the torques' standard deviations") from None
        if not (self.noise > 0.0).all() or not np.isfinite(self.noise).all():
            raise InputError("noise= takes standard deviations above zero, in N m (N for prismatic joints)")
        model = copy.copy(base.model)
        model.smooth = GENTLE_SIGN if model.smooth is None else model.smooth

        def columns(robot: Robot, q: Array, v: Array, a: Array) -> Array:
            return np.asarray(model.rows(robot, q, v, a, np.zeros(0))[:, base.independent] / self.noise[:, None])

        self.smooth = Traced(robot, columns, "excitation_regressor")

    def stacked(self, q: Array, v: Array, a: Array) -> Array:
        """Return (states · n, rank): as measured, with discontinuous Coulomb friction."""
        Y = self.base.regressor(q, v, a) / self.noise[:, None]
        return np.asarray(Y.reshape(-1, Y.shape[-1]))


class Information:
    """A criterion for motions of one basis, on one time grid; ``known`` (r, r) is added to M: the information of earlier logs
    per sample of the motion."""

    def __init__(
        self, regressor: Regressor, basis: Basis, criterion: str, count: int, lengths: Array | None = None,
        known: Array | None = None,
    ) -> None:  # fmt: skip
        self.regressor, self.criterion = regressor, criterion_of(criterion)
        self.phi = basis.matrices(basis.grid(count))
        self.lengths = np.ones(regressor.base.rank) if lengths is None else lengths
        self.known = np.zeros(()) if known is None else known

    def states(self, q0: Array, c: Array) -> State:
        """Return (q, v, a) on the grid."""
        return states(self.phi, q0, c)

    def matrix(self, q0: Array, c: Array) -> Array:
        """Return M of the motion, with discontinuous friction as measured."""
        X = self.regressor.stacked(*self.states(q0, c))
        return np.asarray(X.T @ X / len(self.phi[0]))

    def measure(self, q0: Array, c: Array) -> float:
        """Return the criterion without smoothing."""
        return self.criterion(self.matrix(q0, c) + self.known, self.lengths)[0]

    def value_and_gradient(self, q0: Array, c: Array, sharpness: float) -> Valued:
        """Return the smoothed criterion, and its gradient by the coefficients (size, n)."""
        q, v, a = self.states(q0, c)
        Y = self.regressor.smooth(q, v, a)
        count, X = len(q), Y.reshape(-1, Y.shape[-1])
        value, slope = self.criterion(X.T @ X / count + self.known, self.lengths, sharpness)
        # dF = Σ ∂F/∂M : (dYᵀ Y + Yᵀ dY) / count
        weights = (X @ (slope + slope.T) / count).reshape(Y.shape)
        pulled = self.regressor.smooth.pull(q, v, a, weights)
        return value, np.asarray(sum(phi.T @ g for phi, g in zip(self.phi, pulled, strict=True)))


class Aggregated:
    """g(c) ≤ 0 with gradients, on a time grid: an upper bound of the largest violation [Kreisselmeier & Steinhauser].

    ``extra`` (one array per kind of limit) tightens the bounds by violations found between the grid points. With ``averaged``,
    g is a lower bound instead, exact for values that do not change with time.
    """

    def __init__(self, basis: Basis, rows: Sequence[Rows], count: int, *, averaged: bool = False) -> None:
        self.rows, self.averaged = list(rows), averaged
        self.phi = basis.matrices(np.linspace(0.0, basis.duration, count))
        self.bounded = [np.flatnonzero(np.isfinite(x.lower) | np.isfinite(x.upper)) for x in self.rows]
        self.extra = [np.zeros(len(x.names)) for x in self.rows]

    def worst(self, q0: Array, c: Array) -> float:
        """Return the largest violation on the grid."""
        state = states(self.phi, q0, c)
        return max(float(rows.excess(rows.values(*state)).max()) for rows in self.rows)

    def values(self, q0: Array, c: Array, sharpness: float) -> Array:
        """Return g (k,)."""
        found = [value[kept] for kept, (value, _) in zip(self.bounded, self._maxima(q0, c, sharpness), strict=True)]
        return np.asarray(np.concatenate(found) - (np.log(len(self.phi[0])) / sharpness if self.averaged else 0.0))

    def jacobian(self, q0: Array, c: Array, sharpness: float) -> Array:
        """Return ∂g/∂c (k, size, n)."""
        state, maxima = states(self.phi, q0, c), self._maxima(q0, c, sharpness)
        parts = zip(self.rows, self.bounded, maxima, strict=True)
        return np.concatenate([self._pulled(rows, kept, state, weights) for rows, kept, (_, weights) in parts])

    def _maxima(self, q0: Array, c: Array, sharpness: float) -> list[tuple[Array, Array]]:
        state = states(self.phi, q0, c)
        return [_bounded_maximum(x, x.values(*state), more, sharpness) for x, more in zip(self.rows, self.extra, strict=True)]

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


def _bounded_maximum(rows: Rows, values: Array, extra: Array, sharpness: float) -> tuple[Array, Array]:
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
