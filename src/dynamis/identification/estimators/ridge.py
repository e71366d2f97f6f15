"""Ridge regression towards a prior model: parameters that the log does not excite stay at the prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.estimators.estimator import Estimator, checked_rows, is_overfit, noise_of_each

Array = npt.NDArray[Any]
STRENGTHS = ("evidence", "gcv", "blocks")
DECADES = 12  # search range of λ on either side of the information of the data
PASSES = 3  # alternating estimates of noise and strength


class Ridge(Estimator):
    """min Σ (y − X β)² / σ_j² + λ Σ ((β − β₀) / s)², the maximum a posteriori β for a normal prior.

    ``prior`` is β₀ (default: zero). ``prior_scale`` is s, the prior standard deviation: one value per parameter in its unit; or
    one number relative to the prior (0.2: 20 %), where parameters with a prior of zero may have the same effect on torques as
    the others; or None, equal effects of all parameters on the torques.

    ``strength`` is λ, or the method to choose it: "evidence" (marginal likelihood [MacKay 1992]), "gcv" (generalised
    cross-validation [Golub, Heath & Wahba 1979]), "blocks" (cross-validation over blocks of rows; ``fit(…, blocks=labels)``).
    With autocorrelated errors "gcv" overfits the log, "blocks" does not. ``noise`` is σ_j, estimated by default.

    After ``fit``: ``strength_`` (λ), ``effective_`` (effective number of parameters), ``shown_`` (reduction of the prior
    variance of each parameter by the log, from 0 to 1). The covariance is the posterior one.

    >>> import numpy as np
    >>> X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])  # only the sum shows
    >>> fit = Ridge(prior=[1.0, 3.0], prior_scale=[0.1, 1.0], strength=1.0, noise=0.01).fit(X, X @ [1.0, 5.0])
    >>> np.round(fit.coef_, 2)  # what is believed less gives way
    array([1.02, 4.98])
    """

    strength_: float
    effective_: float
    shown_: Array

    def __init__(
        self,
        prior: Any = None,
        prior_scale: Any = None,
        strength: float | str = "evidence",
        noise: Any = None,
    ) -> None:
        self.prior, self.prior_scale, self.strength, self.noise = prior, prior_scale, strength, noise

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None, blocks: Any = None) -> Self:
        rows, given, labels = checked_rows(X, y, joint, names)
        blocks = self._blocks(blocks, len(given))
        r, joints = rows.shape[1], int(labels.max()) + 1
        prior = np.zeros(r) if self.prior is None else _one_each(self.prior, r, "prior", names)
        scale = self._scale(rows, prior, names)
        error, Z = given - rows @ prior, rows * scale
        noise = self._start_noise(Z, error, labels, joints, np.abs(given).max())
        for _ in range(1 if self.noise is not None else PASSES):
            weight = 1.0 / noise[labels]
            U, s, Vt = np.linalg.svd(Z * weight[:, None], full_matrices=False)
            whitened = error * weight
            strength = self._choose(U, s, Vt, whitened, blocks)
            keep = s / (s**2 + strength)
            step = Vt.T @ (keep * (U.T @ whitened))
            effective = float(np.sum(s * keep))
            residual = error - Z @ step
            if self.noise is None:
                noise = _noise(residual, (U**2) @ (s * keep), labels, noise, np.abs(given).max())
        variance = 1.0 if self.noise is not None else _variance(residual / noise[labels], effective)
        spread = (Vt.T * (variance / (s**2 + strength))) @ Vt
        self.coef_, self.n_features_in_, self.dof_ = prior + scale * step, r, len(given) - r
        self.covariance_ = spread * np.outer(scale, scale)
        self.noise_, self.strength_, self.effective_ = noise, float(strength), effective
        self.shown_ = (Vt**2).T @ (s * keep)
        self.condition_ = float(np.sqrt((s[0] ** 2 + strength) / (s[-1] ** 2 + strength)))
        return self

    def _blocks(self, blocks: Any, count: int) -> Array | None:
        if isinstance(self.strength, str) and self.strength not in STRENGTHS:
            raise InputError(
                f"strength={self.strength!r} is not supported; give λ, or choose {', '.join(map(repr, STRENGTHS))}"
            )
        if not isinstance(self.strength, str) and not 0.0 < self.strength < np.inf:
            raise InputError(
                f"strength= must be above zero and finite, got {self.strength!r}; without a prior use LeastSquares"
            )
        if self.strength != "blocks":
            return None
        if blocks is None:
            raise InputError("strength='blocks' needs the block of each row: fit(X, y, blocks=equations.blocks(2.0))")
        labels = np.asarray(blocks)
        if labels.shape != (count,) or len(np.unique(labels)) < 3:
            raise InputError(f"blocks= takes one label for each of the {count} rows, with at least three distinct values")
        return labels

    def _scale(self, rows: Array, prior: Array, names: Sequence[str] | None) -> Array:
        sizes = np.sqrt(np.mean(rows**2, axis=0))
        alike = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
        if self.prior_scale is None:
            return alike
        if np.ndim(self.prior_scale):
            scale = _one_each(self.prior_scale, len(prior), "prior_scale", names)
            if not (scale > 0.0).all():
                worst = int(np.argmin(scale))
                label = printable(names[worst]) if names is not None else f"column {worst}"
                raise InputError(f"prior_scale of {label} is {scale[worst]:g}; standard deviations must be above zero")
            return scale
        if not self.prior_scale > 0.0:
            raise InputError(f"prior_scale= must be above zero, got {self.prior_scale!r}")
        if not prior.any():
            raise InputError("prior_scale is relative to the prior, which is zero: pass prior=, or one scale per parameter")
        typical = float(np.median((np.abs(prior) * sizes)[prior != 0.0]))
        return float(self.prior_scale) * np.where(prior != 0.0, np.abs(prior), typical * alike)

    def _start_noise(self, Z: Array, error: Array, labels: Array, joints: int, largest: float) -> Array:
        if self.noise is not None:
            return noise_of_each(self.noise, joints)
        U, s, _ = np.linalg.svd(Z, full_matrices=False)
        U = U[:, s > 1e-6 * s[0]]
        rough = error - U @ (U.T @ error)
        pooled = np.full(joints, np.sqrt(rough @ rough / (len(error) - U.shape[1])))
        return _noise(rough, np.sum(U**2, axis=1), labels, pooled, largest)

    def _choose(self, U: Array, s: Array, Vt: Array, y: Array, blocks: Array | None) -> float:
        if not isinstance(self.strength, str):
            return float(self.strength)
        along = (U.T @ y) ** 2
        beyond = max(float(y @ y - along.sum()), 0.0)
        if self.strength == "blocks":
            assert blocks is not None
            cost = _left_out((U * s) @ Vt, y, blocks)
        elif self.strength == "gcv":
            cost = _cross_validated(s, along, beyond, len(y))
        else:
            cost = _unlikely(s, along, beyond, len(y))
        return _least(cost, max(float(s[0]) ** 2, 1e-300))


def _one_each(value: Any, count: int, what: str, names: Sequence[str] | None) -> Array:
    array = np.asarray(value, float)
    if array.shape != (count,) or not np.isfinite(array).all():
        whose = f" ({', '.join(map(printable, names[:3]))}, …)" if names is not None else ""
        raise InputError(f"{what}= takes {count} finite numbers, one per parameter{whose}; got shape {array.shape}")
    return array


def _noise(residual: Array, leverage: Array, labels: Array, before: Array, largest: float) -> Array:
    """Return each joint's noise; the previous value if its rows do not show it."""
    over = np.bincount(labels, 1.0 - leverage, len(before))
    squares = np.bincount(labels, residual**2, len(before)) / np.maximum(over, 1e-9)
    found = np.where(is_overfit(leverage, labels, len(before)), before, np.sqrt(squares))
    return np.maximum(found, 1e-13 * largest + 1e-100)


def _variance(u: Array, effective: float) -> float:
    return float(u @ u) / max(len(u) - effective, 1.0)


def _unlikely(s: Array, along: Array, beyond: float, count: int) -> Callable[[float], float]:
    """Return the negative log marginal likelihood, with the noise level optimized."""

    def cost(strength: float) -> float:
        share = strength / (s**2 + strength)
        return 0.5 * (count * np.log(max(beyond + np.sum(share * along), 1e-300)) - np.sum(np.log(share)))

    return cost


def _cross_validated(s: Array, along: Array, beyond: float, count: int) -> Callable[[float], float]:
    def cost(strength: float) -> float:
        share = strength / (s**2 + strength)
        return float(np.log(max(beyond + np.sum(share**2 * along), 1e-300)) - 2.0 * np.log(count - len(s) + share.sum()))

    return cost


def _left_out(Z: Array, y: Array, blocks: Array) -> Callable[[float], float]:
    """Return the squared errors of each block predicted from the others, with diagonal normal equations."""
    whole, wanted = Z.T @ Z, Z.T @ y
    parts = []
    for label in np.unique(blocks):
        A, b = Z[blocks == label], y[blocks == label]
        values, vectors = np.linalg.eigh(whole - A.T @ A)
        parts.append((A @ vectors, b, np.maximum(values, 0.0), vectors.T @ (wanted - A.T @ b)))

    def cost(strength: float) -> float:
        return float(sum(np.sum((b - A @ (c / (values + strength))) ** 2) for A, b, values, c in parts))

    return cost


def _least(cost: Callable[[float], float], largest: float) -> float:
    """Return the λ of least cost: the best of a grid, refined."""
    from scipy.optimize import minimize_scalar

    grid = np.log(largest) + np.log(10.0) * np.linspace(-DECADES, DECADES, 4 * DECADES + 1)
    costs = [cost(float(np.exp(x))) for x in grid]
    best = int(np.argmin(costs))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(lambda x: cost(float(np.exp(x))), bounds=(low, high), method="bounded")
    return float(np.exp(found.x if found.fun < costs[best] else grid[best]))
