"""Least squares that gross errors cannot pull: iteratively reweighted, with a scale for each joint that they do not touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.estimators.estimator import Estimator, check_rank, checked_rows, followed

Array = npt.NDArray[Any]
# what a loss lets pass in full, in standard deviations: 95 % as efficient as least squares where there are no gross errors
TUNING = {"huber": 1.345, "bisquare": 4.685}
MAD = 1.482602218505602  # median |x| of a normal variable, inverted
FLOOR = 1e-12  # of the largest |y| of a joint: noise below is rounding


class RobustLeastSquares(Estimator):
    """M-estimation: min Σ ρ((y − X β) / s_j), where s_j is the noise of the row's joint by its median absolute residual.

    ``loss`` "huber" counts errors beyond ``tuning`` standard deviations linearly instead of squared; "bisquare" leaves them out
    altogether beyond that, and starts from Huber's solution. Wrong torques are withstood, up to about a third of a joint's
    rows by "bisquare"; wrong states (rows of X) are not. It ends when predictions move by less than ``tolerance`` standard
    deviations. ``weights_`` (rows) shows what each row counted for.

    The covariance is a sandwich, H⁻¹ (Σ ψ² x xᵀ / s²) H⁻¹ with H = Σ ψ′ x xᵀ / s²: it holds for errors of any shape that are
    independent from row to row [Huber & Ronchetti 2009, §7.6].

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
            raise InputError(f"loss={self.loss!r} is not known; choose {' or '.join(map(repr, TUNING))}")
        if self.tuning is not None and not self.tuning > 0.0:
            raise InputError(f"tuning= is a number of standard deviations above zero, got {self.tuning!r}")
        rows, given, labels = checked_rows(X, y, joint, names)
        lengths = np.linalg.norm(rows, axis=0)
        check_rank(np.asarray(np.linalg.qr(rows, mode="r")), names)
        Z = rows / lengths
        start = np.linalg.lstsq(Z, given, rcond=None)[0]
        if len(given) <= 2 * rows.shape[1]:
            raise InputError(
                f"{len(given)} rows for {rows.shape[1]} parameters: gross errors stand out only where more than half of the "
                "rows are left over; record more, or use LeastSquares"
            )
        largest = np.array([np.abs(given[labels == k]).max(initial=0.0) for k in range(int(labels.max()) + 1)])
        floor = FLOOR * np.maximum(largest, 1e-6 * largest.max()) + 1e-100
        shy = followed(np.sum(np.linalg.qr(Z)[0] ** 2, axis=1), labels, len(floor))
        beta, scale, count = self._reweighted(Z, given, labels, start, "huber", TUNING["huber"], floor, shy)
        tuning = self.tuning or TUNING[self.loss]
        if self.loss != "huber" or tuning != TUNING["huber"]:
            beta, scale, more = self._reweighted(Z, given, labels, beta, self.loss, tuning, floor, shy)
            count += more
        residual = given - Z @ beta
        u = residual / scale[labels]
        weights, slope = _weights(u, self.loss, tuning), _slope(u, self.loss, tuning)
        # rows that are followed one by one do not show their errors: these are taken for what they are elsewhere
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
        """β and the joints' scales, from a start, and after how many rounds they stood."""
        scale = _scales(y - Z @ beta, labels, Z.shape[1], floor, shy)
        for count in range(1, self.iterations + 1):
            residual = y - Z @ beta
            weight = _weights(residual / scale[labels], loss, tuning) / scale[labels] ** 2
            # normal equations for the step alone: what they lose of its digits, the next step has back
            step = np.linalg.solve((Z.T * weight) @ Z, Z.T @ (weight * residual))
            moved, beta = Z @ step, beta + step
            before, scale = scale, _scales(residual - moved, labels, Z.shape[1], floor, shy)
            if np.linalg.norm(moved / before[labels]) <= self.tolerance * np.sqrt(len(y)):
                return beta, scale, count
        return beta, scale, self.iterations


def _scales(residual: Array, labels: Array, parameters: int, floor: Array, shy: Array) -> Array:
    """Each joint's noise: the median |residual|, made larger for the parameters that were fitted; of shy ones that of all."""
    used = np.sqrt(len(residual) / (len(residual) - parameters))
    mads = [np.median(np.abs(residual[labels == k])) if (labels == k).any() else 0.0 for k in range(len(floor))]
    return np.maximum(MAD * used * np.where(shy, np.median(np.abs(residual)), mads), floor)


def _weights(u: Array, loss: str, c: float) -> Array:
    """ψ(u) / u."""
    if loss == "huber":
        return np.minimum(1.0, c / np.maximum(np.abs(u), 1e-300))
    return np.maximum(0.0, 1.0 - (u / c) ** 2) ** 2


def _slope(u: Array, loss: str, c: float) -> Array:
    """ψ′(u)."""
    if loss == "huber":
        return (np.abs(u) <= c).astype(float)
    x = (u / c) ** 2
    return np.where(x < 1.0, (1.0 - x) * (1.0 - 5.0 * x), 0.0)
