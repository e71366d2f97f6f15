"""What all estimators share: the shape scikit-learn gave to learning from rows.

Settings are given when an estimator is made and kept under their names; ``fit`` learns from rows X and torques y; what it has
learnt ends in an underscore. So scikit-learn's clone, pipelines, cross-validation and grid search work with each of them.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable

Array = npt.NDArray[Any]
DEFICIENT = 1e-10  # of the largest singular value of columns of length one
ENOUGH = 0.2  # of a joint's rows must be left over for its noise to be told


class Estimator(ABC):
    """A linear model y = X β to be fitted.

    After ``fit``: ``coef_`` (β), ``covariance_`` of β, ``noise_`` (the residual's standard deviation, joint by joint), ``dof_``
    (rows beyond the parameters), ``condition_`` (of the weighted columns, each of length one), ``n_features_in_``.
    """

    coef_: Array
    covariance_: Array
    noise_: Array
    dof_: int
    condition_: float
    n_features_in_: int

    @abstractmethod
    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None) -> Self:
        """Learn from rows X (N, r) and torques y (N,); ``joint`` says which joint's each row is, ``names`` are the columns'."""

    def predict(self, X: Any) -> Array:
        """X β."""
        self._check_fitted()
        rows = np.asarray(X, float)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has shape {rows.shape}; this {type(self).__name__} was fitted with {self.n_features_in_} columns"
            )
        return rows @ self.coef_

    def score(self, X: Any, y: Any) -> float:
        """R²: one minus the share of y's variation that is left over."""
        given = np.asarray(y, float)
        residual = given - self.predict(X)
        left, varies = float(residual @ residual), float(np.sum((given - given.mean()) ** 2))
        return 1.0 - left / varies if varies > 0.0 else float(left == 0.0)

    @property
    def standard_errors_(self) -> Array:
        """√ of the covariance's diagonal."""
        self._check_fitted()
        return np.sqrt(np.maximum(np.diag(self.covariance_), 0.0))

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn passes it
        """The settings."""
        return {name: getattr(self, name) for name in self._settings()}

    def set_params(self, **settings: Any) -> Self:
        """Change settings."""
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
            raise InputError(f"this {type(self).__name__} has learnt nothing yet: call fit(X, y) first")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags, Tags, TargetTags

        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True), regressor_tags=RegressorTags())

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not defaults[k] and not _same(v, defaults[k])]
        return f"{type(self).__name__}({', '.join(changed)})"


def checked_rows(X: Any, y: Any, joint: Any = None, names: Sequence[str] | None = None) -> tuple[Array, Array, Array]:
    """X, y and each row's joint as arrays that fit together."""
    rows, given = np.asarray(X, float), np.asarray(y, float)
    if rows.ndim != 2 or given.ndim != 1 or len(rows) != len(given):
        raise InputError(f"X must be (rows, parameters) and y (rows,); got {rows.shape} and {given.shape}")
    for name, array in (("X", rows), ("y", given)):
        bad = ~np.isfinite(array)
        if bad.any():
            at = tuple(int(k) for k in np.argwhere(bad)[0])
            column = f", column {printable(names[at[1]])}" if names is not None and len(at) > 1 else ""
            count = int(bad.reshape(len(bad), -1).any(axis=1).sum())
            raise InputError(f"{name}{list(at)} is {array[at]}{column}; {count} rows are such")
    if len(rows) <= rows.shape[1]:
        raise InputError(f"{len(rows)} rows cannot determine {rows.shape[1]} parameters: record more, or look for fewer")
    if joint is None:
        return rows, given, np.zeros(len(rows), int)
    labels = np.asarray(joint)
    if labels.shape != given.shape or labels.dtype.kind not in "iu" or (len(labels) and labels.min() < 0):
        raise InputError(f"joint gives each of the {len(given)} rows a number from 0, got {labels.dtype} {labels.shape}")
    return rows, given, labels.astype(int)


def noise_of_each(noise: Any, joints: int) -> Array:
    """The standard deviation of y that was given, one number for all joints or for each."""
    values = np.asarray(noise, float)
    if values.shape not in ((), (joints,)) or not ((values > 0.0) & np.isfinite(values)).all():
        raise InputError(
            f"noise= is the standard deviation of y, above zero, one number or one for each of {joints} joints; got "
            f"{noise!r:.60}"
        )
    return np.broadcast_to(values, (joints,)).copy()


def followed(leverage: Array, labels: Array, joints: int) -> Array:
    """Whether a joint's rows are followed one by one by the parameters, so that what is left does not show its noise.

    ``leverage`` (rows,) is how much each row pulls the fit towards itself.
    """
    counts = np.bincount(labels, minlength=joints)
    return np.asarray(counts - np.bincount(labels, leverage, joints) < ENOUGH * counts)


def check_rank(R: Array, names: Sequence[str] | None = None) -> float:
    """The condition number of columns scaled to length one, or an error that names what cannot be told apart."""
    lengths = np.linalg.norm(R, axis=0)
    label = names if names is not None else [f"column {k}" for k in range(R.shape[1])]
    if (lengths == 0.0).any():
        empty = [printable(label[int(k)]) for k in np.flatnonzero(lengths == 0.0)]
        raise InputError(
            f"the log says nothing about {_listed(empty)}: the column is zero throughout. Move the joints this depends on, or "
            "leave it out"
        )
    _, singular, Vt = np.linalg.svd(R / lengths)
    if singular[-1] < DEFICIENT * singular[0]:
        null = Vt[singular < DEFICIENT * singular[0]]
        share = np.abs(null).max(axis=0)
        involved = [printable(label[int(k)]) for k in np.argsort(-share)[:8] if share[k] > 0.05]
        raise InputError(
            f"in this log {_listed(involved)} cannot be told apart: {len(null)} of {R.shape[1]} directions are missing. Excite "
            "the robot more richly, look for fewer parameters, or use an estimator with a prior (Ridge, PhysicallyConsistent)"
        )
    return float(singular[0] / singular[-1])


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    return bool(a == b)
