"""Total least squares: noise in the columns too, such as that of differentiated positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.estimators.estimator import Estimator, check_rank, checked_rows, noise_of_each

Array = npt.NDArray[Any]
NOT_GENERIC = 1e-7  # component of the smallest singular vector along y: below it the solution diverges
SAME = 1e-8  # relative difference of the two smallest singular values below which they are equal


class TotalLeastSquares(Estimator):
    """The smallest change of X and y, in units of their noise, that makes y = X β exact.

    ``column_noise`` (parameters) is the standard deviation of each column's errors, zero for exact columns (mixed problem,
    solved by [Golub, Hoffman & Stewart 1987]); None assumes the noise of y in all columns. Only ratios to the noise of y
    matter, so a common factor has no effect. ``noise`` is that of y: one number, or one per joint, which then scales the rows
    of X and y alike. Errors are assumed independent of each other and from row to row.

    After ``fit``, ``noise_`` is that of y and ``column_noise_`` that of the columns, as estimated from the log. The covariance
    is of first order [Fuller 1987, §2.2]; with large errors in the columns it is too small. A non-generic problem, which has no
    solution, raises an error that names the columns.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> exact = rng.normal(size=(5000, 2))
    >>> X, y = exact + 0.3 * rng.normal(size=(5000, 2)), exact @ [1.0, -2.0] + 0.3 * rng.normal(size=5000)
    >>> np.round(TotalLeastSquares().fit(X, y).coef_, 1)
    array([ 1., -2.])
    """

    column_noise_: Array

    def __init__(self, column_noise: Any = None, noise: Any = 1.0) -> None:
        self.column_noise, self.noise = column_noise, noise

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None) -> Self:
        rows, given, labels = checked_rows(X, y, joint, names)
        count, r = rows.shape
        given_noise = noise_of_each(self.noise, int(labels.max()) + 1)
        weight = given_noise[labels]
        typical = float(np.sqrt(np.mean(weight**2)))  # the noise of y to which that of the columns refers
        spread = np.ones(r) if self.column_noise is None else self._column_noise(r, names) / typical
        table = np.column_stack([rows, given]) / weight[:, None]
        noisy = spread > 0.0
        order = np.concatenate([np.flatnonzero(~noisy), np.flatnonzero(noisy)])
        R = np.asarray(np.linalg.qr(table[:, [*order, r]], mode="r"))
        self.condition_ = check_rank(R[:, :r][:, np.argsort(order)], names)
        exact = int((~noisy).sum())
        label = [f"column {k}" if names is None else names[k] for k in order[exact:]]
        ends, least = _smallest(R[exact:, exact:], spread[noisy], label)
        beta = np.empty(r)
        beta[order[exact:]] = ends
        beta[order[:exact]] = np.linalg.solve(R[:exact, :exact], R[:exact, r] - R[:exact, exact:r] @ ends) if exact else []
        # the estimated noise level, and its effect on the moments of the columns
        size = least**2 / (count - r)
        moments = R[:, :r][:, np.argsort(order)]
        M = moments.T @ moments / count - size * np.diag(spread**2)
        variance = size * (1.0 + float(np.sum((spread * beta) ** 2)))
        mixed = spread**2 * beta
        inverse = np.linalg.inv(M)
        inner = variance * M + size * variance * np.diag(spread**2) - size**2 * np.outer(mixed, mixed)
        self.coef_, self.n_features_in_, self.dof_ = beta, r, count - r
        self.covariance_ = inverse @ inner @ inverse / count
        self.noise_ = np.sqrt(size) * given_noise
        self.column_noise_ = np.sqrt(size) * spread * typical
        return self

    def _column_noise(self, count: int, names: Sequence[str] | None) -> Array:
        spread = np.asarray(self.column_noise, float)
        if spread.shape != (count,) or not (spread >= 0.0).all():
            whose = f" ({', '.join(map(printable, names[:3]))}, …)" if names is not None else ""
            raise InputError(f"column_noise= takes {count} numbers ≥ 0, one per parameter{whose}; got {spread!r:.80}")
        return spread


def _smallest(R: Array, spread: Array, label: Sequence[str]) -> tuple[Array, float]:
    """Return β of the noisy columns, and the smallest singular value of [X, y] in units of noise."""
    if not len(spread):
        return np.zeros(0), float(np.linalg.norm(R))
    _, s, Vt = np.linalg.svd(R / np.append(spread, 1.0))
    last = Vt[len(spread)]
    s = np.concatenate([s, np.zeros(len(spread) + 1 - len(s))])
    if abs(last[-1]) < NOT_GENERIC or s[-2] - s[-1] < SAME * s[-2]:
        blamed = [printable(label[k]) for k in np.argsort(-np.abs(last[:-1]))[:3] if abs(last[k]) > 0.1]
        raise InputError(
            f"total least squares has no solution: the noise can explain {' and '.join(blamed) or 'a direction'} entirely. "
            "Reduce column_noise= of these columns, excite them more, or use LeastSquares"
        )
    return -last[:-1] / last[-1] / spread, float(s[-1])
