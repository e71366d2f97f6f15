"""Recursive least squares: each new row updates the triangular factor of all rows so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.identification.estimators.estimator import DEFICIENT, Estimator, check_rank, checked_rows

Array = npt.NDArray[Any]
FAINT = 0.1  # excitation relative to the usual: below it, no more is forgotten than is gained


class RecursiveLeastSquares(Estimator):
    """Square-root recursive least squares: R of [X, y] = Q R is updated by orthogonal transformations, without inversions.

    ``forgetting`` λ multiplies old information at each new row (or block of rows, such as the joints of one instant): 1 never
    forgets and equals least squares of the whole log; 0.99 has a memory of about 100 rows. With ``directional`` forgetting acts
    only in directions excited by the new rows [after Kulhavý 1987], and with weak excitation at most by the information gained:
    a robot at rest retains its estimates and the covariance does not wind up. Otherwise all information decays alike. The
    covariance assumes constant parameters and is conservative.

    ``prior`` and ``prior_scale`` (standard deviations) are the initial estimate, in units of ``noise``, the standard deviation
    of y, one number or one per joint. Without a prior there is no estimate before the rows determine one.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> online = RecursiveLeastSquares(forgetting=0.95)
    >>> for k in range(400):
    ...     x = rng.normal(size=(1, 2))
    ...     online = online.partial_fit(x, x @ ([1.0, 2.0] if k < 200 else [1.0, 3.0]))
    >>> np.round(online.coef_, 1)
    array([1., 3.])
    """

    determined_: bool
    rows_: float

    def __init__(
        self,
        forgetting: float = 1.0,
        directional: bool = True,
        prior: Any = None,
        prior_scale: Any = None,
        noise: Any = 1.0,
    ) -> None:
        self.forgetting, self.directional = forgetting, directional
        self.prior, self.prior_scale, self.noise = prior, prior_scale, noise

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None) -> Self:
        """Fit to a whole log from scratch, row by row if forgetting is used."""
        rows, given, labels = checked_rows(X, y, joint, names)
        self._begin(rows.shape[1])
        size = len(rows) if self.forgetting == 1.0 else 1
        for k in range(0, len(rows), size):
            self._take(rows[k : k + size], given[k : k + size], labels[k : k + size])
        if not self._learn():
            check_rank(self._factor[:, :-1], names)
        return self

    def partial_fit(self, X: Any, y: Any, *, joint: Any = None) -> Self:
        """Update with one row, or with the rows of one instant as one block."""
        rows, given = np.atleast_2d(np.asarray(X, float)), np.atleast_1d(np.asarray(y, float))
        if rows.ndim != 2 or given.shape != (len(rows),) or not (np.isfinite(rows).all() and np.isfinite(given).all()):
            raise InputError(f"X must be (rows, parameters) and y (rows,), all finite; got {rows.shape} and {given.shape}")
        labels = np.zeros(len(given), int) if joint is None else np.atleast_1d(np.asarray(joint, int))
        if not hasattr(self, "_factor"):
            self._begin(rows.shape[1])
        if rows.shape[1] != self.n_features_in_ or labels.shape != given.shape or (labels < 0).any():
            raise InputError(
                f"X has {counted(rows.shape[1], 'column')} and joint shape {labels.shape}; previously X had "
                f"{counted(self.n_features_in_, 'column')}"
            )
        self._take(rows, given, labels)
        self._learn()
        return self

    def _begin(self, r: int) -> None:
        if not 0.0 < self.forgetting <= 1.0:
            raise InputError(f"forgetting= must be in (0, 1], got {self.forgetting!r}")
        if (self.prior is None) != (self.prior_scale is None):
            raise InputError("an initial estimate needs both prior= and prior_scale= (its standard deviations)")
        self.n_features_in_ = r
        self._factor = np.zeros((r, r + 1))
        self._squares, self.rows_, self._spent = 0.0, 0.0, float(r if self.prior is None else 0)
        self.determined_ = False
        self._by_joint = np.zeros((0, 2))
        if self.prior is not None:
            prior, scale = (np.broadcast_to(np.asarray(x, float), (r,)) for x in (self.prior, self.prior_scale))
            if not (scale > 0.0).all():
                raise InputError("prior_scale= takes standard deviations above zero")
            self._factor = np.column_stack([np.diag(1.0 / scale), prior / scale])
            self._solve()

    def _take(self, rows: Array, y: Array, labels: Array) -> None:
        """Forget, then update the factor with the new rows."""
        noise = np.asarray(self.noise, float)
        if not (noise > 0.0).all() or (noise.ndim and int(labels.max()) >= len(noise)):
            raise InputError(
                f"noise= takes a standard deviation above zero, one for all joints or one per joint; got {self.noise!r:.60}"
            )
        weight = np.broadcast_to(noise, labels.shape) if noise.ndim == 0 else noise[labels]
        table = np.column_stack([rows, y]) / weight[:, None]
        r = self.n_features_in_
        if self.forgetting < 1.0 and self.determined_:
            self._forget(table[:, :r])
        R = np.asarray(np.linalg.qr(np.vstack([self._factor, table]), mode="r"))
        self._factor = R[:r]
        self._squares += float(np.sum(R[r:, r] ** 2))
        self.rows_ += len(y)
        # prediction errors of each joint, for its noise estimate
        if self._solve():
            joints = max(len(self._by_joint), int(labels.max()) + 1)
            kept = np.vstack([self._by_joint, np.zeros((joints - len(self._by_joint), 2))]) * self.forgetting
            off = (y - rows @ self.coef_) ** 2
            self._by_joint = kept + np.column_stack([np.bincount(labels, off, joints), np.bincount(labels, minlength=joints)])

    def _forget(self, new: Array) -> None:
        self._squares *= self.forgetting
        self._spent *= self.forgetting
        self.rows_ *= self.forgetting
        if not self.directional:
            self._factor = np.sqrt(self.forgetting) * self._factor
            return
        # relative to the current information, the new rows add s² along U; s² = 1 − λ is the steady state
        U, s, _ = np.linalg.svd(_back(self._factor[:, :-1], new.T, transposed=True), full_matrices=False)
        fades = 1.0 - self.forgetting
        kept = np.sqrt(1.0 - np.where(s**2 > FAINT * fades, fades, s**2))
        self._factor = self._factor - (U * (1.0 - kept)) @ (U.T @ self._factor)

    def _solve(self) -> bool:
        R, z = self._factor[:, :-1], self._factor[:, -1]
        # the diagonal is the component of each column independent of the previous ones
        beyond, lengths = np.abs(np.diag(R)), np.linalg.norm(R, axis=0)
        self.determined_ = bool((beyond > DEFICIENT * lengths).all())
        if self.determined_:
            self.coef_ = _back(R, z)
        return self.determined_

    @property
    def condition_(self) -> float:  # type: ignore[override]  # expensive and rarely needed: computed on access
        R = self._factor[:, :-1]
        lengths = np.linalg.norm(R, axis=0)
        return float(np.linalg.cond(R / lengths)) if lengths.all() else float("inf")

    def _learn(self) -> bool:
        """Compute β and its covariance, if the rows so far determine them."""
        if not self.determined_:
            return False
        inverse = _back(self._factor[:, :-1], np.eye(self.n_features_in_))
        left = max(self.rows_ - self._spent, 1.0)
        self.dof_ = round(left)
        self.covariance_ = self._squares / left * inverse @ inverse.T
        seen = np.maximum(self._by_joint[:, 1], 1e-300)
        self.noise_ = np.sqrt(self._by_joint[:, 0] / seen * max(self.rows_ / left, 1.0))
        return True


def _back(R: Array, b: Array, *, transposed: bool = False) -> Array:
    """Return R⁻¹ b, or R⁻ᵀ b, for upper triangular R: LAPACK directly, since checks would dominate the run time."""
    from scipy.linalg.lapack import dtrtrs

    return np.asarray(dtrtrs(R, b, trans=int(transposed))[0])
