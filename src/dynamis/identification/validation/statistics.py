"""Statistics of a fit: standard errors and intervals, residuals of the joints, excitation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError
from dynamis.identification.estimators.factors import factor, whitened
from dynamis.identification.validation.excitation import Excitation, excitation_of, leverage
from dynamis.identification.validation.residuals import JointResidual, names_of_joints, relative, residuals_by_joint
from dynamis.identification.validation.whiteness import autocorrelated_covariance, widening

if TYPE_CHECKING:
    from dynamis.identification.equations import Equations
    from dynamis.identification.estimators.estimator import Estimator

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """``std`` (r,) standard errors, ``interval`` (r, 2) their confidence intervals, ``deviation`` (r,) 100 σ / |β| in percent.

    ``inflation`` (r,) is the ratio of the standard errors to those for white residuals; ``window`` the number of samples over
    which residuals are assumed correlated (1: white). ``share`` (r,) is the contribution of each parameter, in percent of the
    RMS torque. ``percent`` is 100 |e| / |τ| over all rows.

    ``at_bound`` (r,) is "" or the active constraint that alone determines the parameter: "lower bound", "upper bound", "fixed"
    or "constraints". Such an estimate does not scatter like the others, so ``std``, ``interval``, ``deviation`` and
    ``inflation`` are NaN there, and the ``covariance``, which assumes exact constraints, is zero.
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
    leverage: Array
    at_bound: tuple[str, ...]

    @property
    def median_inflation(self) -> float:
        """The median of ``inflation`` over the parameters with a standard error."""
        there = self.inflation[np.isfinite(self.inflation)]
        return float(np.median(there)) if len(there) else 1.0

    @property
    def correlation(self) -> Array:
        """Correlation of the estimates (r, r), with ones on the diagonal (zeros for a parameter at a bound)."""
        scale = np.where(self.std > 0.0, self.std, 1.0)
        return self.covariance / np.outer(scale, scale)

    @property
    def uncertain(self) -> tuple[str, ...]:
        """The parameters whose interval contains zero."""
        return tuple(n for n, (low, high) in zip(self.names, self.interval, strict=True) if low <= 0.0 <= high)

    def __repr__(self) -> str:
        left = f"residual {self.percent:.3g} % of the torque"
        return f"<Statistics of {len(self.names)} parameters from {self.rows} rows: {left}>"

    _repr_html_ = as_table


def statistics(
    X: Any,
    y: Any,
    joint: Any,
    t: Any,
    coef: Any,
    covariance: Any,
    names: Sequence[str],
    *,
    run: Any = None,
    joint_names: Sequence[str] | None = None,
    noise: Any = None,
    weighted: bool | None = None,
    autocorrelated: bool = True,
    level: float = 0.95,
    at_bound: Sequence[str] = (),
) -> Statistics:
    """Assess the parameters ``coef`` (r,) of τ = X β on rows (rows, r) of joints ``joint`` at times ``t`` (None: unrelated).

    ``covariance`` is the estimator's one for white residuals, ``noise`` (joints,) the standard deviations of the joints (by
    default those of the residuals) and ``weighted`` whether the rows were weighted by them (by default detected from the
    residuals). Unless ``autocorrelated=False``, the covariance is replaced by one for residuals correlated over time and
    between joints. ``at_bound`` (r,) is non-empty for parameters at a bound (`Estimator`), which have no standard error.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = X @ [2.0, -1.0] + 0.1 * rng.normal(size=500)
    >>> C = 0.01 * np.linalg.inv(X.T @ X)
    >>> s = statistics(X, y, np.zeros(500, int), np.arange(500.0), np.linalg.solve(X.T @ X, X.T @ y), C, ["a", "b"])
    >>> bool(s.interval[0, 0] < 2.0 < s.interval[0, 1]), s.uncertain, round(s.percent)
    (True, (), 5)
    """
    X, y, coef, C = (np.asarray(value, float) for value in (X, y, coef, covariance))
    joint = np.asarray(joint, int)
    times = None if t is None else np.asarray(t, float)
    runs = None if run is None else np.asarray(run)
    _check(X, y, joint, times, coef, C, names, level)
    if len(at_bound) not in (0, len(coef)):
        raise InputError(f"at_bound= has {len(at_bound)} entries; expected one for each of {len(coef)} parameters")
    whose = names_of_joints(joint, joint_names)
    e = y - X @ coef
    torque = max(float(np.sqrt(np.mean(y**2))), 1e-300)
    sigma = noise_of_joints(e, joint, len(whose)) if noise is None else np.asarray(noise, float)
    sigma = np.maximum(sigma, 1e-12 * torque)
    weighed = not _unweighted(X, e) if weighted is None else weighted
    white, window, dof, wider = C, 1, float(max(len(y) - len(coef), 1)), 1.0
    joints = residuals_by_joint(e, y, joint, times, run=runs, names=whose)
    if autocorrelated and times is not None:
        C, window = autocorrelated_covariance(X, e, joint, times, white, sigma, run=runs, weighted=weighed)
        wider = widening(window, max(j.rows for j in joints))
    bound = tuple(at_bound) or ("",) * len(coef)
    scatters = np.array([not active for active in bound])
    std, plain = (np.where(scatters, np.sqrt(np.maximum(np.diag(c), 0.0)), np.nan) for c in (C, white))
    from scipy.special import stdtrit

    half = float(stdtrit(dof, 0.5 + 0.5 * level)) * wider * std
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.where(coef != 0.0, 100.0 * std / np.abs(coef), np.where(std > 0.0, np.inf, 0.0 * std))
        inflation = np.where(plain == 0.0, 1.0, std / plain)
    rows = sigma[joint] if weighed else None
    factors = [factor(X, y, np.flatnonzero(joint == j)) for j in range(len(whose))]
    plain_R = whitened(factors, np.ones(len(factors)))[: X.shape[1], :-1]
    R = whitened(factors, sigma)[: X.shape[1], :-1] if weighed else plain_R
    excited = excitation_of(R, plain_R, len(y), names)
    moved = excited.column_rms * np.abs(coef)
    return Statistics(
        tuple(names), coef, C, std, np.stack([coef - half, coef + half], axis=1), deviation, inflation, window, level,
        len(y), dof, relative(e, y), 100.0 * moved / torque, joints, excited, e,
        leverage(X, noise=rows, R=R), bound,
    )  # fmt: skip


def judge_fit(equations: Equations, estimator: Estimator, *, autocorrelated: bool = True) -> Statistics:
    """Return the statistics of a fitted estimator on the rows it was fitted to."""
    rows = equations
    return statistics(
        rows.X, rows.y, rows.joint, rows.t, estimator.coef_, estimator.covariance_, rows.names,
        run=rows.run, joint_names=rows.joints, autocorrelated=autocorrelated, at_bound=estimator.at_bound_,
    )  # fmt: skip


def _unweighted(X: Array, e: Array) -> bool:
    """Return whether rows were not weighted: only then is the residual orthogonal to every column."""
    along, lengths = np.abs(X.T @ e), np.sqrt(np.einsum("ij,ij->j", X, X))
    return bool(np.all(along <= 1e-7 * lengths * np.linalg.norm(e)))


def noise_of_joints(e: Array, joint: Array, count: int) -> Array:
    """Return the RMS residual of every joint; that of all joints if one has no rows."""
    every = float(np.sqrt(np.mean(e**2))) if len(e) else 0.0
    return np.array([float(np.sqrt(np.mean(e[joint == j] ** 2))) if np.any(joint == j) else every for j in range(count)])


def _check(
    X: Array, y: Array, joint: Array, t: Array | None, coef: Array, C: Array, names: Sequence[str], level: float
) -> None:
    if X.ndim != 2 or not len(X):
        raise InputError(f"X has shape {X.shape}; expected one row per equation and one column per parameter")
    rows, r = X.shape
    for what, array, shape in (("y", y, (rows,)), ("joint", joint, (rows,)), ("t", t, (rows,)), ("coef", coef, (r,)),
                               ("covariance", C, (r, r))):  # fmt: skip
        if array is not None and array.shape != shape:
            raise InputError(f"{what} has shape {array.shape}; expected {shape} with X of shape {X.shape}")
        if array is not None and not np.all(np.isfinite(array)):
            raise InputError(f"{what} has {int(np.sum(~np.isfinite(array)))} non-finite numbers")
    if len(names) != r:
        raise InputError(f"X has {r} columns, but {len(names)} parameter names are given")
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} must be a probability between 0 and 1, such as 0.95")
