"""Statistics of a fit: standard errors and intervals, residuals of the joints, excitation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError
from dynamis.identification.equations import Equations, equations_of_rows
from dynamis.identification.estimators.factors import householder_qr, whitened
from dynamis.identification.validation.residuals import (
    JointResidual,
    autocorrelated_covariance,
    names_of_joints,
    relative,
    residuals_by_joint,
    widening,
)

if TYPE_CHECKING:
    from dynamis.identification.estimators.estimator import Estimator

Array = npt.NDArray[Any]
CHUNK = 16384
BARELY_INDEPENDENT = 0.03  # independent fraction of a column


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
        shares = {j.joint: j.whiteness.effective for j in self.joints if j.whiteness is not None}
        return [shares.get(name, 1.0) for name in self.joint_names]

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
    rows = equations_of_rows(X, y, joint, times, names, names_of_joints(joint, joint_names), runs)
    return _statistics(
        rows, coef, C, noise=noise, weighted=weighted, autocorrelated=autocorrelated and times is not None, level=level,
        at_bound=at_bound, related=times is not None,
    )  # fmt: skip


def judge_fit(equations: Equations, estimator: Estimator, *, autocorrelated: bool = True) -> Statistics:
    """Return the statistics of a fitted estimator on the rows it was fitted to."""
    return _statistics(
        equations, estimator.coef_, estimator.covariance_, autocorrelated=autocorrelated, at_bound=estimator.at_bound_,
    )  # fmt: skip


def _statistics(
    rows: Equations,
    coef: Array,
    C: Array,
    *,
    noise: Any = None,
    weighted: bool | None = None,
    autocorrelated: bool = True,
    level: float = 0.95,
    at_bound: Sequence[str] = (),
    related: bool = True,
) -> Statistics:
    if len(at_bound) not in (0, len(coef)):
        raise InputError(f"at_bound= has {len(at_bound)} entries; expected one for each of {len(coef)} parameters")
    y, joint, r = rows.y, rows.joint, len(coef)
    e = y - rows.predict(coef)
    torque = max(float(np.sqrt(np.mean(y**2))), 1e-300)
    sigma = noise_of_joints(e, joint, len(rows.joints)) if noise is None else np.asarray(noise, float)
    sigma = np.maximum(sigma, 1e-12 * torque)
    R = rows.whole.R[0]
    plain_R = whitened(R, np.ones(len(R)))[:r]
    weighed = not _unweighted(plain_R, coef, float(np.linalg.norm(e))) if weighted is None else weighted
    white, window, dof, wider = C, 1, float(max(len(y) - r, 1)), 1.0
    joints = residuals_by_joint(e, y, joint, rows.t if related else None, run=rows.run, names=rows.joints)
    if autocorrelated:
        C, window = autocorrelated_covariance(rows, R, e, white, sigma, weighted=weighed)
        wider = widening(window, max(j.rows for j in joints))
    bound = tuple(at_bound) or ("",) * r
    scatters = np.array([not active for active in bound])
    std, plain = (np.where(scatters, np.sqrt(np.maximum(np.diag(c), 0.0)), np.nan) for c in (C, white))
    from scipy.special import stdtrit

    half = float(stdtrit(dof, 0.5 + 0.5 * level)) * wider * std
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.where(coef != 0.0, 100.0 * std / np.abs(coef), np.where(std > 0.0, np.inf, 0.0 * std))
        inflation = np.where(plain == 0.0, 1.0, std / plain)
    used_R = (whitened(R, sigma)[:r] if weighed else plain_R)[:, :-1]
    excited = excitation_of(used_R, plain_R[:, :-1], len(y), rows.names)
    moved = excited.column_rms * np.abs(coef)
    return Statistics(
        rows.names, coef, C, std, np.stack([coef - half, coef + half], axis=1), deviation, inflation, window, level,
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
            f"<Excitation of {len(self.names)} parameters: condition {self.condition:.4g}, scaled {self.scaled_condition:.4g}>"
        )

    _repr_html_ = as_table


def excitation(X: Array, names: Sequence[str] | None = None, *, noise: Array | None = None) -> Excitation:
    """Return the excitation of the rows X; ``noise`` (rows,) divides them first, as in a weighted fit.

    >>> import numpy as np
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> e = excitation(np.stack([np.sin(7 * x), x, x + 0.001 * np.cos(9 * x)], axis=1), ["a", "b", "c"])
    >>> e.weak, e.scaled_condition > 1000
    (('c', 'b'), True)
    """
    R = triangle(X, noise)
    return excitation_of(R, R if noise is None else triangle(X), len(X), names)


def excitation_of(R: Array, every: Array, rows: int, names: Sequence[str] | None = None) -> Excitation:
    """Return the excitation from the triangular factors of the weighted and of the plain rows."""
    size = np.linalg.norm(R, axis=0)
    scaled = R / np.where(size > 0.0, size, 1.0)
    values, Vt = np.linalg.svd(scaled)[1:]
    plain = np.linalg.svd(every, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        inflation = ((Vt.T[:, : len(values)] / values) ** 2).sum(axis=1)
        own = np.where(size > 0.0, 1.0 / np.sqrt(inflation), 0.0)
        ratios = [float(s[0] / s[-1]) if s[-1] > 0.0 else float("inf") for s in (plain, values)]
    labels = tuple(names) if names is not None else tuple(f"β{k + 1}" for k in range(R.shape[1]))
    return Excitation(labels, ratios[0], ratios[1], values, np.nan_to_num(own), np.linalg.norm(every, axis=0) / rows**0.5)


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


def leverage(X: Array) -> Array:
    """Return the leverage (rows,) of each row of a matrix."""
    rows = equations_of_rows(X, np.zeros(len(X)), np.zeros(len(X), int), None, [""] * X.shape[1], [""])
    return leverage_of(rows, triangle(X), np.ones(1))


def triangle(X: Array, noise: Array | None = None) -> Array:
    """Return R of X = Q R, with rows divided by ``noise`` (rows,)."""
    parts = [householder_qr(X[part] if noise is None else X[part] / noise[part, None]) for part in chunks(len(X))]
    return parts[0] if len(parts) == 1 else householder_qr(np.vstack(parts))


def chunks(rows: int) -> list[slice]:
    """Return slices of the rows that are small enough for copies of them to need little memory."""
    return [slice(low, low + CHUNK) for low in range(0, max(rows, 1), CHUNK)]
