"""Base class of the estimators, with the scikit-learn interface; ordinary and weighted least squares.

Settings are constructor arguments stored under the same names; ``fit`` takes rows X and torques y; fitted attributes end in an
underscore. Thus scikit-learn's clone, pipelines, cross-validation and grid search work with all estimators.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable, unknown_name
from dynamis.identification.estimators.factors import ENOUGH, FOLDS, FoldFactors, consecutive_folds, joint_noise, whitened

Array = npt.NDArray[Any]
DEFICIENT = 1e-10  # relative to the largest singular value of the normalized columns


class Estimator(ABC):
    """Estimator of a linear model y = X β.

    After ``fit``: ``coef_`` (β), ``covariance_`` of β, ``noise_`` (residual standard deviation of each joint), ``dof_``
    (degrees of freedom), ``condition_`` (condition number of the weighted, normalized columns), ``n_features_in_``,
    ``at_bound_``.

    ``at_bound_`` (r,) names, for each parameter, the active constraint that alone determines its value: "lower bound", "upper
    bound", "fixed", "constraints" (several), or "prior" if the log does not determine it; "" for the others. It is empty for
    estimators without constraints and prior. Such a parameter has no standard error; ``covariance_`` has zeros for an active
    constraint, which is taken as exact, and the variance of the prior for "prior".
    """

    coef_: Array
    covariance_: Array
    noise_: Array
    dof_: int
    condition_: float
    n_features_in_: int
    at_bound_: tuple[str, ...] = ()

    @abstractmethod
    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None) -> Self:
        """Fit to rows X (N, r) and torques y (N,); ``joint`` is the joint index of each row, ``names`` are the column names."""

    def predict(self, X: Any) -> Array:
        """Return X β."""
        self._check_fitted()
        rows = np.asarray(X, float)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has shape {rows.shape}; this {type(self).__name__} was fitted with {counted(self.n_features_in_, 'column')}"
            )
        return rows @ self.coef_

    def score(self, X: Any, y: Any) -> float:
        """Return the coefficient of determination R²."""
        given = np.asarray(y, float)
        residual = given - self.predict(X)
        left, varies = float(residual @ residual), float(np.sum((given - given.mean()) ** 2))
        return 1.0 - left / varies if varies > 0.0 else float(left == 0.0)

    @property
    def standard_errors_(self) -> Array:
        """Square root of the covariance diagonal; NaN for a parameter in ``at_bound_``."""
        self._check_fitted()
        errors = np.sqrt(np.maximum(np.diag(self.covariance_), 0.0))
        return np.where([bool(bound) for bound in self.at_bound_], np.nan, errors) if self.at_bound_ else errors

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn passes it
        """Return the settings."""
        return {name: getattr(self, name) for name in self._settings()}

    def set_params(self, **settings: Any) -> Self:
        """Set settings."""
        for name, value in settings.items():
            if name not in self._settings():
                raise InputError(
                    f"{type(self).__name__} has no setting {printable(name)}; it has {', '.join(self._settings())}"
                )
            setattr(self, name, value)
        return self

    @classmethod
    def _settings(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def _check_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise InputError(f"this {type(self).__name__} is not fitted: call fit(X, y) first")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags, Tags, TargetTags

        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True), regressor_tags=RegressorTags())

    def changed_settings(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults."""
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        given = {k: v for k, v in self.get_params().items() if v is not defaults[k]}
        return {k: v for k, v in given.items() if isinstance(v, np.ndarray) or bool(v != defaults[k])}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.changed_settings().items())})"


def checked_rows(X: Any, y: Any, joint: Any = None, names: Sequence[str] | None = None) -> tuple[Array, Array, Array]:
    """Return X, y and the joint of each row as validated arrays."""
    rows, given = np.asarray(X, float), np.asarray(y, float)
    if rows.ndim != 2 or given.ndim != 1 or len(rows) != len(given):
        raise InputError(f"X must be (rows, parameters) and y (rows,); got {rows.shape} and {given.shape}")
    for name, array in (("X", rows), ("y", given)):
        bad = ~np.isfinite(array)
        if bad.any():
            at = tuple(int(k) for k in np.argwhere(bad)[0])
            column = f", column {printable(names[at[1]])}" if names is not None and len(at) > 1 else ""
            count = int(bad.reshape(len(bad), -1).any(axis=1).sum())
            raise InputError(
                f"{name}{list(at)} is {array[at]}{column}; {counted(count, 'row')} {'is' if count == 1 else 'are'} not finite"
            )
    if len(rows) <= rows.shape[1]:
        raise InputError(
            f"{len(rows)} rows cannot determine {counted(rows.shape[1], 'parameter')}: record more, or estimate fewer"
        )
    if joint is None:
        return rows, given, np.zeros(len(rows), int)
    labels = np.asarray(joint)
    if labels.shape != given.shape or labels.dtype.kind not in "iu" or (len(labels) and labels.min() < 0):
        raise InputError(
            f"joint must be an integer ≥ 0 for each of the {counted(len(given), 'row')}, got {labels.dtype} {labels.shape}"
        )
    return rows, given, labels.astype(int)


def noise_of_each(noise: Any, joints: int) -> Array:
    """Return the given standard deviation of y for each joint."""
    values = np.asarray(noise, float)
    if values.shape not in ((), (joints,)) or not ((values > 0.0) & np.isfinite(values)).all():
        raise InputError(
            f"noise= takes a standard deviation of y above zero, one number or one for each of {counted(joints, 'joint')}; got "
            f"{noise!r:.60}"
        )
    return np.broadcast_to(values, (joints,)).copy()


def check_rank(R: Array, names: Sequence[str] | None = None) -> float:
    """Return the condition number of the normalized columns, or raise an error naming the indistinguishable parameters."""
    lengths = np.linalg.norm(R, axis=0)
    label = names if names is not None else [f"column {k}" for k in range(R.shape[1])]
    if (lengths == 0.0).any():
        empty = [printable(label[int(k)]) for k in np.flatnonzero(lengths == 0.0)]
        raise InputError(
            f"the log does not excite {_listed(empty)}: the column is zero. Move the joints it depends on, or remove it from "
            "the model"
        )
    _, singular, Vt = np.linalg.svd(R / lengths)
    if singular[-1] < DEFICIENT * singular[0]:
        null = Vt[singular < DEFICIENT * singular[0]]
        share = np.abs(null).max(axis=0)
        involved = [printable(label[int(k)]) for k in np.argsort(-share)[:8] if share[k] > 0.05]
        raise InputError(
            f"in this log {_listed(involved)} are indistinguishable: {len(null)} of {R.shape[1]} directions are unexcited. Use "
            "richer excitation, fewer parameters, or an estimator with a prior (Ridge, PhysicallyConsistent)"
        )
    return float(singular[0] / singular[-1])


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


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

    @abstractmethod
    def fit_factors(self, folds: FoldFactors, names: Sequence[str] | None = None) -> Self:
        """Fit to the factors of [X, y] of each fold and joint, such as `Equations.whole` of a long log, instead of its rows."""

    def _learn(self, factors: Sequence[Array], counts: Array, noise: Array, names: Sequence[str] | None) -> Array:
        """Return each joint's sum of squared residuals for rows divided by the noise, and set the common attributes."""
        r = factors[0].shape[1] - 1
        if counts.sum() <= r:
            raise InputError(f"{counts.sum()} rows cannot determine {counted(r, 'parameter')}: record more, or estimate fewer")
        whole = whitened(factors, noise)
        R, z = np.zeros((r, r)), np.zeros(r)  # few rows have fewer directions than there are parameters
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
        factors, counts = folds.merged
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
        factors, counts = folds.merged
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
