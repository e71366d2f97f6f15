"""Least squares with a prior: parameters that the log does not excite stay at the prior. Ridge regression, and physical
consistency: positive definite pseudo-inertias, non-negative friction and rotor inertias."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.estimators.body_space import BodySpace, TypicalSizes
from dynamis.identification.estimators.consistent_bodies import fit_bodies, settled
from dynamis.identification.estimators.estimator import FromFactors, noise_of_each
from dynamis.identification.estimators.factors import (
    FoldFactors,
    held_out_weight,
    householder_qr,
    joint_noise,
    least_noise,
    whitened,
)
from dynamis.identification.link_boxes import link_boxes

Array = npt.NDArray[Any]

# λ, from no influence of the prior to a standard error of 30 %: one that takes the file for more certain than that predicts
# well, but leaves intervals too narrow for parameters that the file has wrong
TRIED = 10.0 ** np.arange(-6.0, 1.5, 0.5)
RAISED = 4  # attempts, each with 100 times the λ
ONE_BLOCK = 1.0  # λ where nothing can be held out
DETERMINED = 1e-9  # relative size of a base parameter's free part: smaller is rounding, active constraints determine it
TOLD = 0.1  # reduction of the prior variance of a parameter by the log: with less, its spread is that of the prior
FAR = 20.0  # standard errors outside of a bound: a parameter that lies farther outside is exactly at the bound
CLEAN = 1e-5  # lower bound of the noise, relative to a joint's torque: equations with less are too stiff beside λ
METRICS = ("entropic", "euclidean")
DECADES = 12  # search range of λ of ridge regression on either side of the information of the data
EXACT = 1e-13  # lower bound of the noise of ridge regression


class Ridge(FromFactors):
    """min Σ (y − X β)² / σ_j² + λ Σ ((β − β₀) / s)², the maximum a posteriori β for a normal prior.

    ``prior`` is β₀ (default: zero). ``prior_scale`` is s, the prior standard deviation: one value per parameter in its unit; or
    one number relative to the prior (0.2: 20 %), where parameters with a prior of zero may have the same effect on torques as
    the others; or None, equal effects of all parameters on the torques.

    ``strength`` is λ; "blocks" chooses the λ with the best predictions of held-out blocks of consecutive samples, since
    neighbouring rows have the same errors: ``fit(…, blocks=labels)``, by default five blocks of rows in order of time.
    ``noise`` is σ_j, estimated by default.

    After ``fit``: ``strength_`` (λ), ``effective_`` (effective number of parameters), ``shown_`` (reduction of the prior
    variance of each parameter by the log, from 0 to 1). The covariance is the posterior one. A parameter that the log does not
    determine, with ``shown_`` below 0.1, is marked "prior" in ``at_bound_`` and has no standard error (NaN).

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
        factors, counts = folds.merged
        r = factors[0].shape[1] - 1
        prior = np.zeros(r) if self.prior is None else _one_each(self.prior, r, "prior", names)
        scale = self._scale(factors, counts, prior, names)
        if self.noise is None:
            noise = joint_noise(factors, counts, least=EXACT)
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
        self.at_bound_ = _from_prior(("",) * r, self.shown_)
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
        tried = largest * 10.0 ** np.linspace(-DECADES, DECADES, 8 * DECADES + 1)
        return held_out_weight(folds, noise, np.diag(scale), prior, np.zeros(len(prior)), tried)

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
        raise InputError(f"{what}= takes {counted(count, 'finite number')}, one per parameter{whose}; got shape {array.shape}")
    return array


class PhysicallyConsistent(FromFactors):
    """Weighted least squares over physically consistent robots, regularized towards a prior.

        min  Σ_j |y_j − X_j B π|² / σ_j²  +  λ d(π, prior)    with every pseudo-inertia positive definite

    All parameters π are estimated, not only the base parameters B π: those the log does not excite stay at the prior, by
    default that of ``base.model``; ``prior`` gives others, all (p,) or some by name. σ_j is each joint's noise, estimated from
    the residuals of weighted least squares.

    ``metric`` is the distance from the prior: "euclidean" Σ tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ), or "entropic" twice the divergence
    Σ tr(J₀⁻¹ J) − log det(J₀⁻¹ J) − 4, equal to second order and infinite at the boundary. ``regularisation`` is λ; λ = 1
    weights the prior like a measurement of each parameter with a standard error of 100 %. "auto" takes the λ with the best
    predictions of held-out blocks of time (``blocks`` of ``fit``), computed without the constraints; it is 1 for equations
    reduced to a single block. The convex program is solved by `entropic.minimum` where that is possible, else by Clarabel. For
    ``masses``, ``com``, ``total_mass`` and ``bounds`` see `BodySpace`; with ``shapes`` the mass of each link lies within the
    box around its visual and collision shapes.

    Additional attributes: ``full_`` (p,), all parameters π; ``consistent_``, verified from ``full_`` alone; ``active_``, the
    active constraints in words; ``regularisation_`` λ; ``sizes_`` (p,), the scales of friction and other scalars, from
    torques and regressors of the log (`TypicalSizes`); ``status_`` of the solver; ``least_noise_`` (joints,), below which no
    residual raises the weight of a joint. ``covariance_`` of the base parameters is the
    inverse of the Gauss–Newton matrix including the prior, restricted to the face of the active constraints. Scalars at a bound
    may lie inside as far as their errors reach; links that are flat are assumed to be so exactly. Base parameters that the
    active constraints alone determine, such as a Coulomb friction of zero, are marked in ``at_bound_`` and have no standard
    error (NaN); so are those whose variance given by the prior the log reduces by less than a tenth, as "prior".

    >>> import dynamis as dy, numpy as np
    >>> base = dy.identification.base_parameters(dy.load("planar_2r_melchiorri"))
    >>> rng = np.random.default_rng(0)
    >>> X = base.regressor(*rng.normal(size=(3, 40, 2))).reshape(80, -1)
    >>> fit = PhysicallyConsistent(base).fit(X, X @ base.prior + rng.normal(size=80))
    >>> fit.consistent_, len(fit.full_) == len(base.model.names)
    (True, True)
    """

    uses_folds = True
    full_: Array
    consistent_: bool
    active_: tuple[str, ...]
    regularisation_: float
    sizes_: Array
    status_: str
    least_noise_: Array

    def __init__(
        self,
        base: BaseParameters,
        *,
        prior: Any = None,
        regularisation: float | str = "auto",
        metric: str = "entropic",
        masses: Mapping[str, tuple[float, float]] | None = None,
        com: Mapping[str, tuple[Any, Any]] | None = None,
        total_mass: float | None = None,
        shapes: bool = False,
        bounds: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.base, self.prior, self.regularisation, self.metric = base, prior, regularisation, metric
        self.masses, self.com, self.total_mass, self.shapes, self.bounds = masses, com, total_mass, shapes, bounds

    def fit_factors(self, folds: FoldFactors, names: Sequence[str] | None = None) -> Self:  # noqa: ARG002 - those of the base
        self._check_settings()
        r = self.base.rank
        if folds.R[0][0].shape[1] != r + 1:
            raise InputError(f"X has {counted(folds.R[0][0].shape[1] - 1, 'column')}; the base has {counted(r, 'parameter')}")
        factors, counts = folds.merged
        if not counts.sum():
            raise InputError("no rows to fit: all torques are unused, or the logs are empty")
        self.sizes_ = TypicalSizes(self.base.model).of_log(self.base.B, factors, counts)
        space = BodySpace(
            self.base.model, self.prior, sizes=self.sizes_, masses=self.masses, com=self.com, total_mass=self.total_mass,
            bounds=self.bounds, boxes=link_boxes(self.base.model.robot) if self.shapes else None,
        )  # fmt: skip
        self.least_noise_ = least_noise(factors, counts, CLEAN)
        noise = joint_noise(factors, counts, least=CLEAN, tolerance=1e-3)
        weight = self._weight(folds, space, noise)
        whole = whitened(factors, noise)
        R, z = whole[:r, :r], whole[:r, r]
        D = R @ self.base.B @ space.spun
        G, g = D @ space.C, z - D @ space.origin
        x, self.status_, weight = self._solve(space, G, g, weight)
        self.full_ = _within(space, space.parameters(settled(space, G, x)))
        self.coef_ = self.base.values(self.full_)
        self.consistent_ = space.is_consistent(self.full_)
        words, normals = space.active(x)
        self.active_, self.regularisation_ = tuple(words), weight
        S, free = self.base.B @ space.spun @ space.C, _null_space(normals, G.shape[1])
        determined = np.linalg.norm(S @ free, axis=1) <= DETERMINED * np.linalg.norm(S, axis=1)
        prior = np.sqrt(weight) * space.curvature(x, self.metric)
        self.covariance_ = _covariance(S, G, prior, free) + _at_bounds(
            space, S, G, prior, normals, x, G.T @ (G @ x - g), weight
        )
        alone = np.diag(_covariance(S, np.zeros((0, G.shape[1])), prior, free))
        shown = 1.0 - np.diag(self.covariance_) / np.where(alone > 0.0, alone, np.inf)
        self.at_bound_ = _from_prior(_active_bounds(space, self.base.B, self.full_, determined), shown)
        self.covariance_[determined] = self.covariance_[:, determined] = 0.0
        self.n_features_in_, self.dof_ = r, int(counts.sum()) - r
        squares = np.array([float(np.sum((F @ np.append(self.coef_, -1.0)) ** 2)) for F in factors])
        self.noise_ = np.sqrt(squares / np.maximum(counts * max(1.0 - r / counts.sum(), 0.0), 1.0))
        lengths = np.linalg.norm(R, axis=0)
        self.condition_ = float(np.linalg.cond(R / lengths)) if lengths.all() else float("inf")
        return self

    def _solve(self, space: BodySpace, G: Array, g: Array, weight: float) -> tuple[Array, str, float]:
        """Return x, the status and λ, which is raised if it is too small beside almost exact data for the solver."""
        for _ in range(RAISED if self.regularisation == "auto" else 1):
            found = fit_bodies(space, G, g, weight, self.metric)
            if found.impossible:
                raise InputError(f"{found.status}: relax masses=, com=, total_mass=, shapes= or bounds=")
            if found.solved:
                return found.x, found.status, weight
            weight *= 100.0
        raise InputError(f"the physically consistent fit failed ({found.status}): check the units of the log and the prior")

    def _weight(self, folds: FoldFactors, space: BodySpace, noise: Array) -> float:
        """Return λ: as given, or the one with the best predictions of held-out folds."""
        if self.regularisation != "auto":
            return float(self.regularisation)
        if len(folds) < 2:
            return ONE_BLOCK
        T = self.base.B @ space.spun
        return held_out_weight(folds, noise, T @ space.C, T @ space.origin, space.wish, TRIED)

    def _check_settings(self) -> None:
        if self.metric not in METRICS:
            raise InputError(f"metric={self.metric!r} is not supported; choose {' or '.join(map(repr, METRICS))}")
        given = self.regularisation
        if isinstance(given, str) and given != "auto":
            raise InputError(f"regularisation={given!r} is not supported; choose a number or 'auto'")
        if not isinstance(given, str) and not (np.isfinite(given) and given > 0.0):
            raise InputError(f"regularisation must be above zero, got {given!r}: it determines unexcited parameters")


def _within(space: BodySpace, parameters: Array) -> Array:
    """Clip scalar parameters to their bounds, which a solver may violate by rounding."""
    result, k = parameters.copy(), space.others
    for end in (space.lower[k], space.upper[k]):
        close = np.abs(result[k] - end) < 1e-9 * np.diagonal(space.C)[k]
        result[k[close]] = end[close]
    result[k] = np.clip(result[k], space.lower[k], space.upper[k])
    return result


def _null_space(normals: Array, size: int) -> Array:
    """Return an orthonormal basis (size, k) of the directions that leave the active constraints unchanged."""
    if not len(normals):
        return np.eye(size)
    _, sigma, Vt = np.linalg.svd(normals, full_matrices=True)
    return np.asarray(Vt[int((sigma > 1e-9 * sigma[0]).sum()) :].T)


def _active_bounds(space: BodySpace, B: Array, parameters: Array, determined: Array) -> tuple[str, ...]:
    """Return the active constraint of each base parameter that constraints alone determine, "" for the others."""
    words = [""] * len(B)
    for row in np.flatnonzero(determined):
        words[row] = "constraints"
        columns = np.flatnonzero(B[row])
        if len(columns) == 1 and columns[0] in space.others:
            k = int(columns[0])
            low, high = sorted((B[row, k] * space.lower[k], B[row, k] * space.upper[k]))
            value = B[row, k] * parameters[k]
            words[row] = "fixed" if low == high else "lower bound" if value - low <= high - value else "upper bound"
    return tuple(words)


def _from_prior(bounds: Sequence[str], shown: Array) -> tuple[str, ...]:
    """Return the active constraints, and "prior" for other parameters that the log does not determine."""
    return tuple(bound or ("prior" if reduction < TOLD else "") for bound, reduction in zip(bounds, shown, strict=True))


def _at_bounds(
    space: BodySpace, S: Array, G: Array, prior: Array, normals: Array, x: Array, slope: Array, weight: float
) -> Array:
    """Return the covariance of S x due to scalar parameters at bounds, which may lie inside as far as their errors reach.

    A parameter whose minimum without the bound lies k standard errors σ outside has the mean square distance σ² (1 − k m) from
    it, with m = φ(k) / (1 − Φ(k)) − k, the mean of a normal distribution about −k that is cut at zero.
    """
    of_bounds = [(int(np.argmax(np.abs(a))), i) for i, a in enumerate(normals) if np.count_nonzero(a) == 1]
    ends = [(k, i) for k, i in of_bounds if k in space.others and space.lower[k] < space.upper[k]]
    if not ends:
        return np.zeros((len(S), len(S)))
    k, rows = (list(x) for x in zip(*ends, strict=True))
    free = _null_space(np.delete(normals, rows, axis=0), G.shape[1])
    inner = householder_qr(np.vstack([G @ free, prior @ free]))
    U, V = (np.linalg.solve(inner.T, M) for M in (free[k].T, (S @ free).T))
    inverse = np.linalg.inv(U.T @ U)
    sigma = 1.0 / np.sqrt(np.diag(inverse))  # with the others at their bounds
    outside = np.minimum(sigma * np.abs(slope[k] + weight * (x - space.wish)[k]), FAR)
    tails = np.array([0.5 * math.erfc(size / math.sqrt(2.0)) for size in outside])
    mean = np.exp(-0.5 * outside**2) / (math.sqrt(2.0 * math.pi) * tails) - outside
    gain = V.T @ U @ inverse
    return np.asarray((gain * (sigma**2 * (1.0 - outside * mean))) @ gain.T)


def _covariance(S: Array, G: Array, prior: Array, free: Array) -> Array:
    """Return S (GᵀG + priorᵀ prior)⁻¹ Sᵀ within the directions ``free`` of the active constraints."""
    inner = householder_qr(np.vstack([G @ free, prior @ free]))
    root = np.linalg.solve(inner.T, (S @ free).T)
    return np.asarray(root.T @ root)
