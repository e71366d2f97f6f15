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

from dynamis.errors import InputError, unknown_name
from dynamis.identification.estimators.estimator import Estimator, check_rank, checked_rows
from dynamis.identification.estimators.factors import ENOUGH, FOLDS, FoldFactors, consecutive_folds, joint_noise, whitened

if TYPE_CHECKING:
    from dynamis.identification.reduction.normal_equations import NormalEquations

Array = npt.NDArray[Any]
CLEAR = 1e4  # condition numbers whose square is far from rounding


class FromFactors(Estimator):
    """An estimator that needs only the triangular factors of [X, y] of each joint, in folds of consecutive samples."""

    uses_folds = False  # whether a setting is chosen on held-out folds

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None, blocks: Any = None) -> Self:
        """Fit to rows; ``blocks`` (rows,) labels blocks of time, which are held out together where a setting is chosen on
        held-out rows. Without labels the rows of each joint, in order of time, are divided into five blocks."""
        rows, given, labels = checked_rows(X, y, joint, names)
        fold = consecutive_folds(blocks, labels) if self.uses_folds else np.zeros(len(given), int)
        folds = FoldFactors.of(rows, given, labels, fold, int(labels.max()) + 1, FOLDS if self.uses_folds else 1)
        return self.fit_factors(folds, names)

    def fit_normal_equations(self, equations: NormalEquations) -> Self:
        """Fit to the reduced equations of a long log instead of its rows."""
        self.fit_factors(FoldFactors((tuple(equations.factors()),), equations.counts[None]), equations.names)
        if not equations.exact and self.condition_ > CLEAR:
            raise InputError(
                f"the parameters are ill-conditioned (condition number {self.condition_:.1e}), too much for normal equations: "
                "compute the normal equations with exact=True"
            )
        return self

    @abstractmethod
    def fit_factors(self, folds: FoldFactors, names: Sequence[str] | None = None) -> Self:
        """Fit to the factors of [X, y] of each fold and joint."""

    def _learn(self, factors: Sequence[Array], counts: Array, noise: Array, names: Sequence[str] | None) -> Array:
        """Return each joint's sum of squared residuals for rows divided by the noise, and set the common attributes."""
        r = factors[0].shape[1] - 1
        if counts.sum() <= r:
            raise InputError(f"{counts.sum()} rows cannot determine {r} parameters: record more, or estimate fewer")
        whole = whitened(factors, noise)
        R, z = np.zeros((r, r)), np.zeros(r)  # normal equations may have a lower rank than the number of parameters
        R[: len(whole)], z[: len(whole)] = whole[:r, :r], whole[:r, r]
        self.condition_ = check_rank(R, names)
        self.coef_ = np.linalg.solve(R, z)
        self.n_features_in_, self.dof_ = r, int(counts.sum()) - r
        root = np.linalg.inv(R)
        self._spread = root @ root.T
        ends = np.append(self.coef_, -1.0)
        return np.array([float(np.sum((F @ ends) ** 2)) for F in factors])


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

    def fit_factors(self, folds: FoldFactors, names: Sequence[str] | None = None) -> Self:
        factors, counts = folds.merged()
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
    estimated from the residuals and the fit repeated until convergence, at most ``iterations`` times. ``only`` names the
    parameters to estimate, such as the essential ones; the others are zero.
    """

    def __init__(self, iterations: int = 20, tolerance: float = 1e-10, only: Sequence[str] | None = None) -> None:
        self.iterations, self.tolerance, self.only = iterations, tolerance, only

    def fit_factors(self, folds: FoldFactors, names: Sequence[str] | None = None) -> Self:
        factors, counts = folds.merged()
        r = factors[0].shape[1] - 1
        kept = np.arange(r) if self.only is None else self._kept(names)
        chosen = [F[:, np.append(kept, r)] for F in factors]
        labels = None if names is None else [names[k] for k in kept]
        self.noise_ = joint_noise(chosen, counts, least=1e-14, iterations=self.iterations, tolerance=self.tolerance)
        self._learn(chosen, counts, self.noise_, labels)
        self.covariance_ = self._spread
        if self.only is not None:
            coef, covariance, bound = np.zeros(r), np.zeros((r, r)), np.full(r, "fixed", object)
            coef[kept], covariance[np.ix_(kept, kept)], bound[kept] = self.coef_, self._spread, ""
            self.coef_, self.covariance_, self.at_bound_, self.n_features_in_ = coef, covariance, tuple(bound), r
        return self

    def _kept(self, names: Sequence[str] | None) -> Array:
        if names is None:
            raise InputError("only= selects parameters by name: pass names= to fit")
        for name in self.only or ():
            if name not in names:
                raise unknown_name("parameter", name, names)
        return np.array([k for k, name in enumerate(names) if name in set(self.only or ())])
