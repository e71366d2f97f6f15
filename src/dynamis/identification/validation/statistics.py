"""Statistics of a fit: standard errors and intervals, residuals of the joints, excitation, essential parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, as_text, counted
from dynamis.errors import InputError
from dynamis.identification.equations import Equations
from dynamis.identification.estimators.factors import FoldFactors, joint_noise, whitened
from dynamis.identification.validation.distributions import t_quantile
from dynamis.identification.validation.residuals import (
    JointResidual,
    autocorrelated_covariance,
    percent,
    relative,
    residuals_by_joint,
)

if TYPE_CHECKING:
    from dynamis.identification.estimators.estimator import Estimator

Array = npt.NDArray[Any]
LEVEL = 0.95  # of the confidence intervals
BARELY_INDEPENDENT = 0.03  # independent fraction of a column


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """``std`` (r,) standard errors, ``interval`` (r, 2) their confidence intervals, ``deviation`` (r,) 100 σ / |β| in percent.

    ``inflation`` (r,) is the ratio of the standard errors to those for white residuals; ``window`` the number of samples over
    which residuals are assumed correlated (1: white). ``share`` (r,) is the contribution of each parameter, in percent of the
    RMS torque. ``percent`` is 100 |e| / |τ| over all rows.

    ``at_bound`` (r,) is "" or the active constraint that alone determines the parameter: "lower bound", "upper bound", "fixed"
    or "constraints"; or "prior" if the log does not determine it. Such an estimate does not scatter like the others, so
    ``std``, ``interval``, ``deviation`` and ``inflation`` are NaN there. The ``covariance``, which assumes exact constraints,
    is zero, or that of the prior.
    """

    names: tuple[str, ...]
    coef: Array
    covariance: Array
    std: Array
    interval: Array
    deviation: Array
    inflation: Array
    window: int
    level: float
    rows: int
    dof: float
    percent: float
    share: Array
    joints: tuple[JointResidual, ...]
    excitation: Excitation
    residual: Array
    leverages: Callable[[], Array]
    at_bound: tuple[str, ...]
    joint_names: tuple[str, ...]

    @functools.cached_property
    def leverage(self) -> Array:
        """The leverage (rows,) of each row, 0 … 1."""
        return self.leverages()

    @property
    def effective(self) -> list[float]:
        """The fraction of independent samples of each joint of the equations; 1 for a joint without rows."""
        shares = {j.joint: j.whiteness.effective for j in self.joints}
        return [shares.get(name, 1.0) for name in self.joint_names]

    @property
    def inflation_range(self) -> tuple[float, float]:
        """The least and the largest ``inflation`` of the parameters with a standard error."""
        there = self.inflation[np.isfinite(self.inflation)]
        return (float(there.min()), float(there.max())) if len(there) else (1.0, 1.0)

    @property
    def uncertain(self) -> tuple[str, ...]:
        """The parameters whose interval contains zero."""
        return tuple(n for n, (low, high) in zip(self.names, self.interval, strict=True) if low <= 0.0 <= high)

    def __repr__(self) -> str:
        left = f"residual {self.percent:.3g} % of the torque"
        return f"<Statistics of {counted(len(self.names), 'parameter')} from {counted(self.rows, 'row')}: {left}>"

    _repr_html_ = as_table


def judge_fit(rows: Equations, estimator: Estimator, *, autocorrelated: bool = True, more: Array | None = None) -> Statistics:
    """Return the statistics of a fitted estimator on the rows it was fitted to; ``more`` as in `statistics`."""
    C, bound = estimator.covariance_, estimator.at_bound_
    least = getattr(estimator, "least_noise_", 0.0)
    return statistics(rows, estimator.coef_, C, autocorrelated=autocorrelated, at_bound=bound, more=more, least_noise=least)


def statistics(
    rows: Equations,
    coef: Array,
    covariance: Array,
    *,
    autocorrelated: bool = True,
    at_bound: Sequence[str] = (),
    more: Array | None = None,
    least_noise: Any = 0.0,
) -> Statistics:
    """Assess the parameters ``coef`` (r,) of τ = X β on rows.

    ``covariance`` is the estimator's one for white residuals. Unless ``autocorrelated=False``, it is replaced by one for
    residuals correlated over time and between joints. ``at_bound`` (r,) is non-empty for parameters at a bound (`Estimator`),
    which have no standard error. ``more`` is the covariance, for white residuals, due to what the regressor depends on besides
    the motion: the load of friction, which follows from the log as well. ``least_noise`` (joints,) is that which the estimator
    took for residuals below it: the covariance is for this noise.
    """
    if len(at_bound) not in (0, len(coef)):
        raise InputError(
            f"at_bound= has {counted(len(at_bound), 'entry', 'entries')}; expected one for each of "
            f"{counted(len(coef), 'parameter')}"
        )
    C = np.asarray(covariance, float)
    y, joint, r = rows.y, rows.joint, len(coef)
    e = y - rows.predict(coef)
    torque = max(float(np.sqrt(np.mean(y**2))), 1e-300)
    sigma = np.maximum(noise_of_joints(e, joint, len(rows.joints)), np.maximum(1e-12 * torque, least_noise))
    R = rows.whole.R[0]
    plain_R = whitened(R, np.ones(len(R)))[:r]
    weighed = not _unweighted(plain_R, coef, float(np.linalg.norm(e)))
    white, window, dof = C, 1, float(max(len(y) - r, 1))
    joints = residuals_by_joint(rows, e)
    if autocorrelated:
        C, window = autocorrelated_covariance(rows, R, e, white, sigma, weighted=weighed)
    if more is not None and more.any():  # correlated residuals have the same effect on it
        variance = np.where(np.diag(white) > 0.0, np.diag(white), np.inf)
        k = int(np.argmax(np.diag(more) / variance))
        C, white = C + more * (C[k, k] / variance[k]), white + more
    bound = tuple(at_bound) or ("",) * r
    scatters = np.array([not active for active in bound])
    std, plain = (np.where(scatters, np.sqrt(np.maximum(np.diag(c), 0.0)), np.nan) for c in (C, white))
    half = t_quantile(dof, 0.5 + 0.5 * LEVEL) * std
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.where(coef != 0.0, 100.0 * std / np.abs(coef), np.where(std > 0.0, np.inf, 0.0 * std))
        inflation = np.where(plain == 0.0, 1.0, std / plain)
    used_R = (whitened(R, sigma)[:r] if weighed else plain_R)[:, :-1]
    excited = excitation_of(used_R, plain_R[:, :-1], len(y), rows.names)
    moved = excited.column_rms * np.abs(coef)
    return Statistics(
        rows.names, coef, C, std, np.stack([coef - half, coef + half], axis=1), deviation, inflation, window, LEVEL,
        len(y), dof, relative(e, y), 100.0 * moved / torque, joints, excited, e,
        functools.partial(leverage_of, rows, used_R, sigma if weighed else np.ones(len(R))), bound, rows.joints,
    )  # fmt: skip


def _unweighted(R: Array, coef: Array, size: float) -> bool:
    """Return whether rows were not weighted: only then is the residual, of this norm, orthogonal to every column.

    ``R`` is the triangular factor of [X, y].
    """
    X = R[:, :-1]
    along, lengths = np.abs(X.T @ (R[:, -1] - X @ coef)), np.linalg.norm(X, axis=0)
    return bool(np.all(along <= 1e-7 * lengths * size))


def noise_of_joints(e: Array, joint: Array, count: int) -> Array:
    """Return the RMS residual of every joint; that of all joints if one has no rows."""
    every = float(np.sqrt(np.mean(e**2))) if len(e) else 0.0
    return np.array([float(np.sqrt(np.mean(e[joint == j] ** 2))) if np.any(joint == j) else every for j in range(count)])


@dataclass(frozen=True, eq=False, repr=False)
class Excitation:
    """``condition`` of X in mixed units, and ``scaled_condition`` with normalized columns.

    ``independence`` (r,) is the fraction of each column that is not a combination of the others: 1 if orthogonal to them, 0 if
    linearly dependent (1/√ of the variance inflation factor). ``column_rms`` (r,) is the RMS torque per unit of the parameter.
    """

    names: tuple[str, ...]
    condition: float
    scaled_condition: float
    singular_values: Array
    independence: Array
    column_rms: Array

    @property
    def weak(self) -> tuple[str, ...]:
        """Nearly collinear parameters, the weakest first."""
        order = np.argsort(self.independence)
        return tuple(self.names[k] for k in order if self.independence[k] < BARELY_INDEPENDENT)

    def __repr__(self) -> str:
        return (
            f"<Excitation of {counted(len(self.names), 'parameter')}: condition {self.condition:.4g}, scaled "
            f"{self.scaled_condition:.4g}>"
        )

    _repr_html_ = as_table


def excitation_of(R: Array, every: Array, rows: int, names: Sequence[str]) -> Excitation:
    """Return the excitation from the triangular factors of the weighted and of the plain rows."""
    size = np.linalg.norm(R, axis=0)
    scaled = R / np.where(size > 0.0, size, 1.0)
    values, Vt = np.linalg.svd(scaled)[1:]
    plain = np.linalg.svd(every, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        inflation = ((Vt.T[:, : len(values)] / values) ** 2).sum(axis=1)
        own = np.where(size > 0.0, 1.0 / np.sqrt(inflation), 0.0)
        ratios = [float(s[0] / s[-1]) if s[-1] > 0.0 else float("inf") for s in (plain, values)]
    return Excitation(tuple(names), ratios[0], ratios[1], values, np.nan_to_num(own), np.linalg.norm(every, axis=0) / rows**0.5)


def leverage_of(rows: Equations, R: Array, noise: Array) -> Array:
    """Return the leverage (rows,) of each row, 0 … 1: the diagonal of X (XᵀX)⁻¹ Xᵀ; it sums to the rank.

    ``R`` is the triangular factor of X, the rows of each joint divided by its ``noise`` (joints,).
    """
    _, sigma, Vt = np.linalg.svd(R, full_matrices=False)
    shown = sigma > 1e-13 * sigma.max(initial=0.0)
    root = Vt[shown].T / sigma[shown]
    found = np.empty(len(rows))
    for chunk in rows.chunks():
        for part in chunk:
            found[part.rows] = np.sum((part.A[:, :-1] @ root[part.columns]) ** 2, axis=1) / noise[part.joint] ** 2
    return found


@dataclass(frozen=True, eq=False, repr=False)
class EssentialParameters:
    """``indices`` of the remaining parameters, with ``values``, standard errors and relative deviations 100 σ / |β|;
    ``dropped`` names the others in the order of elimination; ``percent_before`` and ``percent`` are 100 |e| / |τ|."""

    indices: Array
    names: tuple[str, ...]
    values: Array
    std: Array
    deviation: Array
    dropped: tuple[str, ...]
    percent_before: float
    percent: float
    stopped: str

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        count = len(self.names) + len(self.dropped)
        return (
            f"{len(self)} of {count} parameters are essential: with these the residual is {self.percent:.3g} % of the torque "
            f"instead of {self.percent_before:.3g} %. {self.stopped}"
        )

    def __repr__(self) -> str:
        count = f"{len(self)} of {len(self) + len(self.dropped)}"
        return f"<EssentialParameters: {count}; residual {self.percent:.3g} % of the torque>"

    _repr_html_ = as_text


def essential_of(reduced: FoldFactors, names: Sequence[str], *, effective: Any = 1.0) -> EssentialParameters:
    """Eliminate the parameter with the largest relative deviation, fit again, and repeat until a parameter is significant: an
    F-test against the full fit rejects its elimination at the level of 5 %.

    ``reduced`` are the triangular factors of the rows of each joint. ``effective`` is the fraction of independent samples
    (`Whiteness.effective`), one number or one for each joint: coloured residuals otherwise make every parameter significant. A
    joint is weighted by its noise and counts as many samples as are independent [Gautier 1991; Pressé and Gautier 1993].
    """
    factors, rows_of = reduced.merged
    r, count, rows = factors[0].shape[1] - 1, len(factors), int(rows_of.sum())
    if rows <= r:
        raise InputError(f"{rows} equations do not determine {counted(r, 'parameter')} and their noise: use more samples")
    share = np.asarray(effective, float)
    if share.shape not in ((), (count,)) or not ((share > 0.0) & (share <= 1.0)).all():
        raise InputError(f"effective={effective!r} must be a fraction of the samples, above 0 and at most 1, or one per joint")
    share = np.broadcast_to(share, (count,))
    # a sample that repeats others adds only its share of information
    found = whitened(factors, joint_noise(factors, rows_of, least=1e-12) / np.sqrt(share))
    whole = np.zeros((r + 1, r + 1))
    whole[: len(found)] = found
    R, z, floor = whole[:r, :r], whole[:r, r], float(whole[r, r] ** 2)
    dof = max(float(share @ rows_of) - r, 1.0)
    variance = floor / max(float(share @ rows_of) * (1.0 - r / rows), 1.0)
    from scipy.special import fdtrc

    def fit(kept: list[int]) -> tuple[Array, Array, Array, float]:
        """Return values, standard errors, relative deviations, and the growth of the sum of squares."""
        Q, T = np.linalg.qr(R[:, kept])
        inverse = np.linalg.pinv(T)
        values = inverse @ (Q.T @ z)
        # the noise is that of the full fit: a wrongly eliminated parameter must not make the others look uncertain
        std = np.sqrt((inverse**2).sum(axis=1) * variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.where(values != 0.0, 100.0 * std / np.abs(values), np.inf)
        return values, std, deviation, float(np.sum((z - R[:, kept] @ values) ** 2))

    def left(kept: list[int], values: Array) -> float:
        """Return 100 |e| / |τ|."""
        squares = sum(float(np.sum((F[:, kept] @ values - F[:, -1]) ** 2)) for F in factors)
        torque = sum(float(np.sum(F[:, -1] ** 2)) for F in factors)
        return percent(np.array([squares]), np.array([torque]), np.ones(1, int))[0]

    kept, dropped, stopped = list(range(r)), list[str](), "Every relative deviation is small enough."
    values, std, deviation, _ = fit(kept)
    before = left(kept, values)
    while len(kept) > 1 and deviation.max() > 0.0:
        worst = int(np.argmax(deviation))
        fewer = kept[:worst] + kept[worst + 1 :]
        trial = fit(fewer)
        F = trial[3] / (len(dropped) + 1) / max(variance, 1e-300)
        probability = float(fdtrc(len(dropped) + 1, dof, max(F, 0.0)))
        if probability < 1.0 - LEVEL:
            grown = float(np.sqrt(1.0 + trial[3] / max(floor, 1e-300))) - 1.0
            stopped = f"Without {names[kept[worst]]} the residual would grow by {100 * grown:.2g} % (p = {probability:.1g})."
            break
        dropped.append(names[kept[worst]])
        kept, (values, std, deviation, _) = fewer, trial
    return EssentialParameters(
        np.array(kept), tuple(names[k] for k in kept), values, std, deviation, tuple(dropped), before, left(kept, values),
        stopped,
    )  # fmt: skip
