"""Ridge regression towards a prior model: parameters that the log does not excite stay at the prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.estimators.estimator import FromFactors, noise_of_each
from dynamis.identification.estimators.factors import FoldFactors, held_out_weight, joint_noise, whitened

Array = npt.NDArray[Any]
DECADES = 12  # search range of λ on either side of the information of the data
CLEAN = 1e-13  # lower bound of the noise, relative to a joint's torque


class Ridge(FromFactors):
    """min Σ (y − X β)² / σ_j² + λ Σ ((β − β₀) / s)², the maximum a posteriori β for a normal prior.

    ``prior`` is β₀ (default: zero). ``prior_scale`` is s, the prior standard deviation: one value per parameter in its unit; or
    one number relative to the prior (0.2: 20 %), where parameters with a prior of zero may have the same effect on torques as
    the others; or None, equal effects of all parameters on the torques.

    ``strength`` is λ; "blocks" chooses the λ with the best predictions of held-out blocks of consecutive samples, since
    neighbouring rows have the same errors: ``fit(…, blocks=labels)``, by default five blocks of rows in order of time.
    ``noise`` is σ_j, estimated by default.

    After ``fit``: ``strength_`` (λ), ``effective_`` (effective number of parameters), ``shown_`` (reduction of the prior
    variance of each parameter by the log, from 0 to 1). The covariance is the posterior one.

    >>> import numpy as np
    >>> X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])  # only the sum shows
    >>> fit = Ridge(prior=[1.0, 3.0], prior_scale=[0.1, 1.0], strength=1.0, noise=0.01).fit(X, X @ [1.0, 5.0])
    >>> np.round(fit.coef_, 2)  # the parameter with the larger prior standard deviation changes more
    array([1.02, 4.98])
    """

    uses_folds = True
    strength_: float
    effective_: float
    shown_: Array

    def __init__(
        self,
        prior: Any = None,
        prior_scale: Any = None,
        strength: float | str = "blocks",
        noise: Any = None,
    ) -> None:
        self.prior, self.prior_scale, self.strength, self.noise = prior, prior_scale, strength, noise

    def fit_factors(self, folds: FoldFactors, names: Sequence[str] | None = None) -> Self:
        self._check_strength()
        factors, counts = folds.merged()
        r = factors[0].shape[1] - 1
        prior = np.zeros(r) if self.prior is None else _one_each(self.prior, r, "prior", names)
        scale = self._scale(factors, counts, prior, names)
        if self.noise is None:
            noise = joint_noise(factors, counts, least=CLEAN)
        else:
            noise = noise_of_each(self.noise, len(factors))
        R = whitened(factors, noise)
        G, g = R[:, :r] * scale, R[:, r] - R[:, :r] @ prior
        U, s, Vt = np.linalg.svd(G, full_matrices=False)
        strength = self._choose(folds, noise, scale, prior, float(s[0]) ** 2 or 1.0)
        keep = s / (s**2 + strength)
        step = Vt.T @ (keep * (U.T @ g))
        effective = float(np.sum(s * keep))
        spread = (Vt.T / (s**2 + strength)) @ Vt
        if self.noise is None:
            squares = np.array([np.sum((F @ np.append(prior + scale * step, -1.0)) ** 2) for F in factors])
            spread *= float(np.sum(squares / noise**2)) / max(counts.sum() - effective, 1.0)
        self.coef_, self.n_features_in_, self.dof_ = prior + scale * step, r, int(counts.sum()) - r
        self.covariance_ = spread * np.outer(scale, scale)
        self.noise_, self.strength_, self.effective_ = noise, float(strength), effective
        self.shown_ = (Vt**2).T @ (s * keep)
        self.condition_ = float(np.sqrt((s[0] ** 2 + strength) / (s[-1] ** 2 + strength)))
        return self

    def _check_strength(self) -> None:
        if isinstance(self.strength, str):
            if self.strength != "blocks":
                raise InputError(f"strength={self.strength!r} is not supported; give λ, or choose 'blocks'")
        elif not 0.0 < self.strength < np.inf:
            raise InputError(
                f"strength= must be above zero and finite, got {self.strength!r}; without a prior use LeastSquares"
            )

    def _choose(self, folds: FoldFactors, noise: Array, scale: Array, prior: Array, largest: float) -> float:
        if not isinstance(self.strength, str):
            return float(self.strength)
        if len(folds) < 2:
            raise InputError("strength='blocks' needs rows in blocks of time; give a number for equations reduced to one block")
        parts = []
        for own in folds.R:
            R = whitened(own, noise)
            parts.append((R[:, :-1] * scale, R[:, -1] - R[:, :-1] @ prior))
        tried = largest * 10.0 ** np.linspace(-DECADES, DECADES, 8 * DECADES + 1)
        return held_out_weight(parts, np.zeros(len(prior)), tried)

    def _scale(self, factors: Sequence[Array], counts: Array, prior: Array, names: Sequence[str] | None) -> Array:
        sizes = np.sqrt(sum(np.sum(F[:, :-1] ** 2, axis=0) for F in factors) / counts.sum())
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


def _one_each(value: Any, count: int, what: str, names: Sequence[str] | None) -> Array:
    array = np.asarray(value, float)
    if array.shape != (count,) or not np.isfinite(array).all():
        whose = f" ({', '.join(map(printable, names[:3]))}, …)" if names is not None else ""
        raise InputError(f"{what}= takes {count} finite numbers, one per parameter{whose}; got shape {array.shape}")
    return array
