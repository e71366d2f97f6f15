"""Robust least squares: iteratively reweighted, with a robust scale for each joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.estimators.estimator import Estimator, check_rank, checked_rows, is_overfit

Array = npt.NDArray[Any]
# tuning constants in standard deviations: 95 % efficiency without outliers
TUNING = {"huber": 1.345, "bisquare": 4.685}
MAD = 1.482602218505602  # 1 / median |x| of a standard normal variable
FLOOR = 1e-12  # relative to the largest |y| of a joint: smaller noise is rounding


class RobustLeastSquares(Estimator):
    """M-estimation: min Σ ρ((y − X β) / s_j), where s_j is the noise of the joint from its median absolute residual.

    ``loss`` "huber" is linear beyond ``tuning`` standard deviations; "bisquare" is constant there and starts from Huber's
    solution. Outliers in the torques are tolerated, for "bisquare" in up to about a third of a joint's rows; outliers in the
    states (rows of X) are not. Iteration stops when predictions change by less than ``tolerance`` standard deviations.
    ``weights_`` (rows) are the final weights.

    The covariance is the sandwich estimator H⁻¹ (Σ ψ² x xᵀ / s²) H⁻¹ with H = Σ ψ′ x xᵀ / s², valid for any distribution of
    independent errors [Huber & Ronchetti 2009, §7.6].

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X @ [1.0, 2.0] + 0.01 * rng.normal(size=200)
    >>> y[::10] += 50.0
    >>> np.round(RobustLeastSquares().fit(X, y).coef_, 2)
    array([1., 2.])
    """

    weights_: Array
    iterations_: int

    def __init__(
        self, loss: str = "bisquare", tuning: float | None = None, iterations: int = 200, tolerance: float = 1e-6
    ) -> None:
        self.loss, self.tuning, self.iterations, self.tolerance = loss, tuning, iterations, tolerance

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None) -> Self:
        if self.loss not in TUNING:
            raise InputError(f"loss={self.loss!r} is not supported; choose {' or '.join(map(repr, TUNING))}")
        if self.tuning is not None and not self.tuning > 0.0:
            raise InputError(f"tuning= takes a number of standard deviations above zero, got {self.tuning!r}")
        rows, given, labels = checked_rows(X, y, joint, names)
        lengths = np.linalg.norm(rows, axis=0)
        check_rank(np.asarray(np.linalg.qr(rows, mode="r")), names)
        Z = rows / lengths
        start = np.linalg.lstsq(Z, given, rcond=None)[0]
        if len(given) <= 2 * rows.shape[1]:
            raise InputError(
                f"{len(given)} rows for {rows.shape[1]} parameters: outliers are detectable only if more than half of the "
                "rows are redundant; record more, or use LeastSquares"
            )
        largest = np.array([np.abs(given[labels == k]).max(initial=0.0) for k in range(int(labels.max()) + 1)])
        floor = FLOOR * np.maximum(largest, 1e-6 * largest.max()) + 1e-100
        shy = is_overfit(np.sum(np.linalg.qr(Z)[0] ** 2, axis=1), labels, len(floor))
        beta, scale, count = self._reweighted(Z, given, labels, start, "huber", TUNING["huber"], floor, shy)
        tuning = self.tuning or TUNING[self.loss]
        if self.loss != "huber" or tuning != TUNING["huber"]:
            beta, scale, more = self._reweighted(Z, given, labels, beta, self.loss, tuning, floor, shy)
            count += more
        residual = given - Z @ beta
        u = residual / scale[labels]
        weights, slope = _weights(u, self.loss, tuning), _slope(u, self.loss, tuning)
        # interpolated rows do not show their errors: use those of the other rows
        squares = np.where(shy[labels], 1.0, (weights * u) ** 2)
        H, S = ((Z.T * (x / scale[labels] ** 2)) @ Z for x in (slope, squares))
        inverse = np.linalg.inv(H) / lengths
        r = Z.shape[1]
        self.coef_, self.n_features_in_, self.dof_ = beta / lengths, r, len(given) - r
        self.covariance_ = inverse.T @ S @ inverse * (len(given) / self.dof_)
        self.noise_, self.weights_, self.iterations_ = scale, weights, count
        R = np.linalg.qr(Z * (np.sqrt(weights) / scale[labels])[:, None], mode="r")
        self.condition_ = check_rank(np.asarray(R), names)
        return self

    def _reweighted(
        self, Z: Array, y: Array, labels: Array, beta: Array, loss: str, tuning: float, floor: Array, shy: Array
    ) -> tuple[Array, Array, int]:
        """Return β, the joints' scales and the number of iterations."""
        scale = _scales(y - Z @ beta, labels, Z.shape[1], floor, shy)
        for count in range(1, self.iterations + 1):
            residual = y - Z @ beta
            weight = _weights(residual / scale[labels], loss, tuning) / scale[labels] ** 2
            # normal equations for the step only: later steps correct its rounding
            step = np.linalg.solve((Z.T * weight) @ Z, Z.T @ (weight * residual))
            moved, beta = Z @ step, beta + step
            before, scale = scale, _scales(residual - moved, labels, Z.shape[1], floor, shy)
            if np.linalg.norm(moved / before[labels]) <= self.tolerance * np.sqrt(len(y)):
                return beta, scale, count
        return beta, scale, self.iterations


def _scales(residual: Array, labels: Array, parameters: int, floor: Array, shy: Array) -> Array:
    """Return each joint's noise: the median |residual| with a degrees-of-freedom correction; that of all if interpolated."""
    used = np.sqrt(len(residual) / (len(residual) - parameters))
    mads = [np.median(np.abs(residual[labels == k])) if (labels == k).any() else 0.0 for k in range(len(floor))]
    return np.maximum(MAD * used * np.where(shy, np.median(np.abs(residual)), mads), floor)


def _weights(u: Array, loss: str, c: float) -> Array:
    """Return ψ(u) / u."""
    if loss == "huber":
        return np.minimum(1.0, c / np.maximum(np.abs(u), 1e-300))
    return np.maximum(0.0, 1.0 - (u / c) ** 2) ** 2


def _slope(u: Array, loss: str, c: float) -> Array:
    """Return ψ′(u)."""
    if loss == "huber":
        return (np.abs(u) <= c).astype(float)
    x = (u / c) ** 2
    return np.where(x < 1.0, (1.0 - x) * (1.0 - 5.0 * x), 0.0)
