"""Ordinary least squares, and least squares weighted by each joint's noise.

Both need only triangular factors of the data: for each joint, R of [X, y] = Q R is sufficient for least squares and its
statistics, whatever the length of the log.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.estimators.estimator import ENOUGH, Estimator, check_rank, checked_rows
from dynamis.identification.reduction.normal_equations import householder_qr

if TYPE_CHECKING:
    from dynamis.identification.reduction.normal_equations import NormalEquations

Array = npt.NDArray[Any]
CLEAR = 1e4  # condition numbers whose square is far from rounding


class FromFactors(Estimator):
    """An estimator that needs only the triangular factor of [X, y] of each joint."""

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None) -> Self:
        rows, given, labels = checked_rows(X, y, joint, names)
        factors, counts = [], []
        for k in range(int(labels.max()) + 1):
            mine = labels == k
            factors.append(householder_qr(np.column_stack([rows[mine], given[mine]])))
            counts.append(int(mine.sum()))
        return self._fit_factors(factors, np.array(counts), names)

    def fit_normal_equations(self, equations: NormalEquations) -> Self:
        """Fit to the reduced equations of a long log instead of its rows."""
        self._fit_factors(equations.factors(), equations.counts, equations.names)
        if not equations.exact and self.condition_ > CLEAR:
            raise InputError(
                f"the parameters are ill-conditioned (condition number {self.condition_:.1e}), too much for normal equations: "
                "compute the normal equations with exact=True"
            )
        return self

    @abstractmethod
    def _fit_factors(self, factors: Sequence[Array], counts: Array, names: Sequence[str] | None) -> Self:
        """Fit to each joint's R of [X, y] and the number of rows it represents."""

    def _learn(self, factors: Sequence[Array], counts: Array, weights: Array, names: Sequence[str] | None) -> Array:
        """Return each joint's sum of squared residuals for the given weights, and set the common attributes."""
        r = factors[0].shape[1] - 1
        if counts.sum() <= r:
            raise InputError(f"{counts.sum()} rows cannot determine {r} parameters: record more, or estimate fewer")
        whole = householder_qr(np.vstack([w * F for w, F in zip(weights, factors, strict=True)]))
        R, z = np.zeros((r, r)), np.zeros(r)  # normal equations may have a lower rank than the number of parameters
        R[: len(whole)], z[: len(whole)] = whole[:r, :r], whole[:r, r]
        self.condition_ = check_rank(R, names)
        self.coef_ = np.linalg.solve(R, z)
        self.n_features_in_, self.dof_ = r, int(counts.sum()) - r
        self._root = np.linalg.inv(R)
        self._spread = self._root @ self._root.T
        ends = np.append(self.coef_, -1.0)
        return np.array([float(np.sum((F @ ends) ** 2)) for F in factors])

    def _leverages(self, factors: Sequence[Array], weights: Array) -> Array:
        """Return the total leverage of each joint's rows; they sum to the number of parameters."""
        return np.array([np.sum((w * F[:, :-1] @ self._root) ** 2) for w, F in zip(weights, factors, strict=True)])


class LeastSquares(FromFactors):
    """Ordinary least squares: min |y − X β|², with equal weights.

    The covariance assumes equal noise in all rows, σ² (XᵀX)⁻¹, unless ``per_joint``: then each joint has its own noise,
    (XᵀX)⁻¹ Σ σ_j² X_jᵀX_j (XᵀX)⁻¹.

    >>> import dynamis as dy, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> fit = dy.identification.LeastSquares().fit(X, X @ [1.0, 2.0] + 0.01 * rng.normal(size=100))
    >>> np.round(fit.coef_, 2)
    array([1., 2.])
    """

    def __init__(self, per_joint: bool = True) -> None:
        self.per_joint = per_joint

    def _fit_factors(self, factors: Sequence[Array], counts: Array, names: Sequence[str] | None) -> Self:
        squares = self._learn(factors, counts, np.ones(len(factors)), names)
        grams = [F[:, :-1].T @ F[:, :-1] for F in factors]
        self.noise_ = np.sqrt(self._variances(grams, counts, squares))
        if self.per_joint:
            inner = sum((s**2 * G for s, G in zip(self.noise_, grams, strict=True)), np.zeros(1))
            self.covariance_ = self._spread @ inner @ self._spread
        else:
            self.covariance_ = float(squares.sum()) / self.dof_ * self._spread
        return self

    def _variances(self, grams: Sequence[Array], counts: Array, squares: Array) -> Array:
        """Return σ_j² from the sums of squared residuals. Noise of one joint affects the residuals of all:
        E |e_j|² = (n_j − 2 tr H_jj) σ_j² + Σ_k tr(H_jk H_kj) σ_k²."""
        spread = [self._spread @ G for G in grams]
        mixed = np.array([[np.sum(a * b.T) for b in spread] for a in spread])
        pulls = np.array([np.trace(a) for a in spread])
        mixed[np.diag_indices_from(mixed)] += counts - 2.0 * pulls
        plain = squares / np.maximum(counts * (1.0 - self.n_features_in_ / counts.sum()), 1.0)
        solved = np.linalg.lstsq(mixed, squares)[0]
        found = np.where(solved > 0.0, solved, plain)
        # residuals of a joint whose rows are interpolated do not show its noise: use that of all joints
        return np.where(counts - pulls >= ENOUGH * counts, found, squares.sum() / self.dof_)


class WeightedLeastSquares(FromFactors):
    """Least squares with each joint's rows divided by its noise, which is estimated with the parameters.

    Torques of a large shoulder and of a small wrist differ by orders of magnitude, and so do their errors. The noise is
    estimated from the residuals and the fit repeated until convergence, at most ``iterations`` times.
    """

    def __init__(self, iterations: int = 20, tolerance: float = 1e-10) -> None:
        self.iterations, self.tolerance = iterations, tolerance

    def _fit_factors(self, factors: Sequence[Array], counts: Array, names: Sequence[str] | None) -> Self:
        weights = np.ones(len(factors))
        # lower bound of the noise: rounding
        sizes = np.sqrt(np.array([np.sum(F[:, -1] ** 2) for F in factors]) / np.maximum(counts, 1))
        floor = 1e-14 * np.maximum(sizes, 1e-6 * sizes.max()) + 1e-100
        for repeat in range(max(1, self.iterations)):
            squares = self._learn(factors, counts, weights, names)
            # initially, every joint has the noise of all joints
            before = 1.0 / weights if repeat else np.full(len(counts), np.sqrt(squares.sum() / self.dof_))
            noise = np.maximum(self._noise(factors, counts, weights, squares, before), floor)
            change = float(np.max(np.abs(noise * weights - 1.0)))
            weights = 1.0 / noise
            if change < self.tolerance:
                break
        squares = self._learn(factors, counts, weights, names)
        self.noise_ = np.maximum(self._noise(factors, counts, weights, squares, 1.0 / weights), floor)
        self.covariance_ = self._spread
        return self

    def _noise(self, factors: Sequence[Array], counts: Array, weights: Array, squares: Array, before: Array) -> Array:
        over = counts - self._leverages(factors, weights)
        # residuals of a joint whose rows are interpolated do not show its noise: leave it unchanged
        return np.where(over >= ENOUGH * counts, np.sqrt(squares / np.maximum(over, 1.0)), before)
