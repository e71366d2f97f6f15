"""Least squares with physical consistency: positive definite pseudo-inertias, non-negative friction and rotor inertias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.estimators import linear_matrix_inequalities, log_cholesky_fit
from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.estimator import checked_rows
from dynamis.identification.estimators.least_squares import FromFactors
from dynamis.identification.estimators.typical_sizes import TypicalSizes, weighted_sizes

Array = npt.NDArray[Any]

AUTO = 1.0  # the prior counts like a measurement of every parameter with a standard error of 100 %
TRIED = tuple(10.0 ** np.arange(-4.0, 5.0))
FOLDS = 5
DETERMINED = 1e-9  # relative size of a base parameter's free part: smaller is rounding, active constraints determine it
CLEAN = 1e-7  # lower bound of the noise, relative to a joint's torque
ENOUGH = 0.2  # fraction of a joint's rows that must be redundant for its noise to be estimated
METRICS, METHODS = ("entropic", "euclidean"), ("lmi", "log-cholesky")


class PhysicallyConsistent(FromFactors):
    """Weighted least squares over physically consistent robots, regularized towards a prior.

        min  Σ_j |y_j − X_j B π|² / σ_j²  +  λ d(π, prior)    with every pseudo-inertia positive definite

    All parameters π are estimated, not only the base parameters B π: those the log does not excite stay at the prior, by
    default that of ``base.model``; ``prior`` gives others, all (p,) or some by name. σ_j is each joint's noise, estimated from
    the residuals of weighted least squares.

    ``metric`` is the distance from the prior: "euclidean" Σ tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ), or "entropic" twice the divergence
    Σ tr(J₀⁻¹ J) − log det(J₀⁻¹ J) − 4, equal to second order and infinite at the boundary. ``regularisation`` is λ; in both
    metrics, λ = 1 weights the prior like a measurement with a standard error of 100 %. "auto" is 1, which hardly affects
    well-excited parameters and keeps the others bounded; "cross-validated" minimizes the error on held-out blocks, given to
    ``fit`` as ``blocks``. ``method`` is "lmi" (a convex program, solved by Clarabel if installed) or "log-cholesky" (Newton's
    method without constraints [Rucker & Wensing 2022]: the same minimum, slower). For ``masses``, ``com``, ``total_mass`` and
    ``bounds`` see `BodySpace`.

    Additional attributes: ``full_`` (p,), all parameters π; ``consistent_``, verified from ``full_`` alone; ``active_``, the
    active constraints in words; ``regularisation_`` λ; ``sizes_`` (p,), the scales of parameters with a prior of zero, from
    torques and regressors of the log (`TypicalSizes`); ``status_`` of the solver. ``covariance_`` of the base parameters is the
    inverse of the Gauss–Newton matrix including the prior, restricted to the face of the active constraints: these are assumed
    exact, so it is too small if a constraint is active due to noise only. Base parameters that the active constraints alone
    determine, such as a Coulomb friction of zero, are marked in ``at_bound_`` and have no standard error (NaN).

    >>> import dynamis as dy, numpy as np
    >>> base = dy.identification.base_parameters(dy.load("planar_2r_melchiorri"))
    >>> rng = np.random.default_rng(0)
    >>> X = base.regressor(*rng.normal(size=(3, 40, 2))).reshape(80, -1)
    >>> fit = PhysicallyConsistent(base).fit(X, X @ base.prior + rng.normal(size=80))
    >>> fit.consistent_, len(fit.full_) == len(base.model.names)
    (True, True)
    """

    full_: Array
    consistent_: bool
    active_: tuple[str, ...]
    regularisation_: float
    sizes_: Array
    status_: str

    def __init__(
        self,
        base: BaseParameters,
        *,
        prior: Any = None,
        regularisation: float | str = "auto",
        metric: str = "entropic",
        method: str = "lmi",
        masses: Mapping[str, tuple[float, float]] | None = None,
        com: Mapping[str, tuple[Any, Any]] | None = None,
        total_mass: float | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.base, self.prior, self.regularisation, self.metric, self.method = base, prior, regularisation, metric, method
        self.masses, self.com, self.total_mass, self.bounds = masses, com, total_mass, bounds

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None, blocks: Any = None) -> Self:
        """Fit to rows; ``blocks`` (rows,) labels the time blocks that cross-validation holds out together."""
        self._check_settings()
        if self.regularisation != "cross-validated":
            return super().fit(X, y, joint=joint, names=names)
        rows, given, labels = checked_rows(X, y, joint, names)
        if blocks is None or np.shape(blocks) != given.shape:
            raise InputError(
                f"cross-validation needs blocks=, one label for each of the {len(given)} rows; see Equations.blocks"
            )
        numbers, fold = np.unique(np.asarray(blocks), return_inverse=True)
        if len(numbers) < 2:
            raise InputError("cross-validation needs at least two blocks; record longer, or use shorter blocks")
        fold = fold * min(FOLDS, len(numbers)) // len(numbers)  # neighbouring blocks are in one fold
        count = int(labels.max()) + 1
        parts = [
            [_factor(rows[m], given[m]) for k in range(count) for m in [(fold == f) & (labels == k)]] for f in np.unique(fold)
        ]
        sizes = np.array([[int(((fold == f) & (labels == k)).sum()) for k in range(count)] for f in np.unique(fold)])
        joined = [_triangle(np.vstack(each)) for each in zip(*parts, strict=True)]
        return self._learn_consistent(joined, sizes.sum(axis=0), self._cross_validated(parts, sizes))

    def fit_factor(self, R: Any, z: Any, rss: float = 0.0, count: int | None = None) -> Self:
        """Fit to a triangular factor of weighted rows: |y − X β|² = |R β − z|² + rss over ``count`` rows."""
        self._check_settings()
        R, z = np.asarray(R, dtype=float), np.asarray(z, dtype=float)
        r = self.base.rank
        if R.ndim != 2 or R.shape[1] != r or z.shape != R.shape[:1]:
            raise InputError(f"R must be (k, {r}) and z (k,), got {R.shape} and {z.shape}")
        last = np.zeros((1, r + 1))
        last[0, r] = np.sqrt(max(rss, 0.0))
        factor = np.vstack([np.column_stack([R, z]), last])
        return self._fit_factors([factor], np.array([len(R) if count is None else count]), None, weighted=True)

    def _fit_factors(
        self,
        factors: Sequence[Array],
        counts: Array,
        names: Sequence[str] | None,  # noqa: ARG002
        weighted: bool = False,
    ) -> Self:
        self._check_settings()
        if self.regularisation == "cross-validated":
            raise InputError("cross-validation needs rows and blocks: use fit(X, y, blocks=…), or a number for regularisation")
        weight = AUTO if self.regularisation == "auto" else float(self.regularisation)
        return self._learn_consistent(factors, counts, weight, weighted)

    def _learn_consistent(self, factors: Sequence[Array], counts: Array, weight: float, weighted: bool = False) -> Self:
        r = self.base.rank
        if factors[0].shape[1] != r + 1:
            raise InputError(f"X has {factors[0].shape[1] - 1} columns; the base has {r} parameters")
        if not counts.sum():
            raise InputError("no rows to fit: all torques are unused, or the logs are empty")
        space, (R, z) = self._space(factors, counts, weighted), _whitened(factors, counts)
        D = R @ self.base.B @ space.spun
        G, g = D @ space.C, z - D @ space.origin
        x, self.status_ = self._solve(space, G, g, weight)
        self.full_ = _within(space, space.parameters(x))
        self.coef_ = self.base.values(self.full_)
        self.consistent_ = space.is_consistent(self.full_)
        words, normals = space.active(x)
        self.active_, self.regularisation_ = tuple(words), weight
        S, free = self.base.B @ space.spun @ space.C, _null_space(normals, G.shape[1])
        determined = np.linalg.norm(S @ free, axis=1) <= DETERMINED * np.linalg.norm(S, axis=1)
        self.at_bound_ = _active_bounds(space, self.base.B, self.full_, determined)
        self.covariance_ = _covariance(S, G, np.sqrt(weight) * space.curvature(x, self.metric), free)
        self.covariance_[determined] = self.covariance_[:, determined] = 0.0
        self.n_features_in_, self.dof_ = r, int(counts.sum()) - r
        squares = np.array([float(np.sum((F @ np.append(self.coef_, -1.0)) ** 2)) for F in factors])
        self.noise_ = np.sqrt(squares / np.maximum(counts * max(1.0 - r / counts.sum(), 0.0), 1.0))
        lengths = np.linalg.norm(R, axis=0)
        self.condition_ = float(np.linalg.cond(R / lengths)) if lengths.all() else float("inf")
        return self

    def _solve(self, space: BodySpace, G: Array, g: Array, weight: float) -> tuple[Array, str]:
        if self.method == "lmi":
            found = linear_matrix_inequalities.fit_bodies(space, G, g, weight, self.metric)
            if found.impossible:
                raise InputError(f"{found.status}: relax masses=, com=, total_mass= or bounds=")
            if found.solved and space.is_consistent(_within(space, space.parameters(found.x))):
                return found.x, found.status
        # unconstrained coordinates cannot leave the cone, even if the solver fails
        found = log_cholesky_fit.fit_bodies(space, G, g, weight, self.metric)
        return found.x, found.status

    def _cross_validated(self, parts: Sequence[Sequence[Array]], sizes: Array) -> float:
        """Return the λ with the best predictions of held-out folds."""
        joined = [_triangle(np.vstack(each)) for each in zip(*parts, strict=True)]
        space, errors = self._space(joined, sizes.sum(axis=0)), np.zeros(len(TRIED))
        for f, held in enumerate(parts):
            others = [part for k, part in enumerate(parts) if k != f]
            factors = [_triangle(np.vstack(each)) for each in zip(*others, strict=True)]
            counts = sizes.sum(axis=0) - sizes[f]
            R, z = _whitened(factors, counts)
            noise = _noise(factors, counts)
            D = R @ self.base.B @ space.spun
            G, g = D @ space.C, z - D @ space.origin
            for k, weight in enumerate(TRIED):
                beta = self.base.values(space.parameters(self._solve(space, G, g, weight)[0]))
                errors[k] += sum(
                    float(np.sum((F @ np.append(beta, -1.0)) ** 2)) / s**2 for F, s in zip(held, noise, strict=True)
                )
        return TRIED[int(np.argmin(errors))]

    def _space(self, factors: Sequence[Array], counts: Array, weighted: bool = False) -> BodySpace:
        model, B = self.base.model, self.base.B
        self.sizes_ = weighted_sizes(B, factors, counts) if weighted else TypicalSizes(model).of_log(B, factors, counts)
        limits: dict[str, Any] = {"masses": self.masses, "com": self.com, "total_mass": self.total_mass, "bounds": self.bounds}
        return BodySpace(model, self.prior, sizes=self.sizes_, **limits)

    def _check_settings(self) -> None:
        if self.metric not in METRICS:
            raise InputError(f"metric={self.metric!r} is not supported; choose {' or '.join(map(repr, METRICS))}")
        if self.method not in METHODS:
            raise InputError(f"method={self.method!r} is not supported; choose {' or '.join(map(repr, METHODS))}")
        given = self.regularisation
        if isinstance(given, str) and given not in ("auto", "cross-validated"):
            raise InputError(f"regularisation={given!r} is not supported; choose a number, 'auto' or 'cross-validated'")
        if not isinstance(given, str) and not (np.isfinite(given) and given > 0.0):
            raise InputError(f"regularisation must be above zero, got {given!r}: it determines unexcited parameters")


def _triangle(rows: Array) -> Array:
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _factor(rows: Array, given: Array) -> Array:
    return _triangle(np.column_stack([rows, given]))


def _noise(factors: Sequence[Array], counts: Array) -> Array:
    """Return σ_j of iterated weighted least squares, without unexcited directions.

    A joint with few rows could be fitted exactly, which would raise its weight further: its noise is updated only while enough
    of its rows are redundant according to their leverage.
    """
    r = factors[0].shape[1] - 1
    owner = np.repeat(np.arange(len(factors)), [len(F) for F in factors])
    sizes = np.sqrt(np.array([np.sum(F[:, -1] ** 2) for F in factors]) / np.maximum(counts, 1))
    floor = np.maximum(CLEAN * np.maximum(sizes, 1e-3 * sizes.max(initial=0.0)), 1e-100)
    noise = np.ones(len(factors))
    for repeat in range(12):
        stacked = np.vstack([F / s for F, s in zip(factors, noise, strict=True)])
        lengths = np.linalg.norm(stacked[:, :r], axis=0)
        U, sigma, _ = np.linalg.svd(stacked[:, :r] / np.where(lengths > 0.0, lengths, 1.0), full_matrices=False)
        U = U[:, sigma > 1e-10 * sigma[0]]
        left = stacked[:, r] - U @ (U.T @ stacked[:, r])
        squares = np.bincount(owner, left**2, len(factors)) * noise**2
        over = counts - np.bincount(owner, (U**2).sum(axis=1), len(factors))
        enough = over > ENOUGH * counts
        pooled = np.sqrt(squares.sum() / max(over.sum(), 1.0))
        found = np.where(enough, np.sqrt(squares / np.maximum(over, 1e-9)), noise if repeat else pooled)
        found = np.maximum(found, floor)
        settled = np.max(np.abs(found / noise - 1.0)) < 1e-3
        noise = found
        if settled:
            break
    return noise


def _whitened(factors: Sequence[Array], counts: Array) -> tuple[Array, Array]:
    """Return (R, z) of all rows, each divided by its joint's noise."""
    stacked = np.vstack([F / s for F, s in zip(factors, _noise(factors, counts), strict=True)])
    whole = _triangle(stacked)
    r = stacked.shape[1] - 1
    return whole[:r, :r], whole[:r, r]


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


def _covariance(S: Array, G: Array, prior: Array, free: Array) -> Array:
    """Return S (GᵀG + priorᵀ prior)⁻¹ Sᵀ within the directions ``free`` of the active constraints."""
    inner = _triangle(np.vstack([G @ free, prior @ free]))
    root = np.linalg.solve(inner.T, (S @ free).T)
    return np.asarray(root.T @ root)
