"""Whiteness of residuals: autocorrelation, the Ljung–Box test, and the effective number of samples.

The residual of a robot is seldom white: filters, gears and unmodelled effects colour it, and neighbouring samples are
correlated. N samples with a correlation length of T count as N/T [Ljung 1978, Sokal 1997].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.identification.validation.excitation import chunks

Array = npt.NDArray[Any]

LAGS_TESTED = 20
LONGEST = 4000  # largest lag for the correlation length
FEWEST = 20  # minimal number of rows for a test
WINDOW = 5.0  # correlation lengths after which summation stops, to exclude noise of the tail


@dataclass(frozen=True, eq=False, repr=False)
class Whiteness:
    """``p_value`` of the test for white noise. ``length``: correlation length in samples, 1 + 2 Σ ρ_k, at least one;
    ``seconds`` the same as a time; ``correlation`` (lags,) starts with ρ_0 = 1."""

    p_value: float
    length: float
    seconds: float
    correlation: Array

    @property
    def white(self) -> bool:
        """Whether white noise is not rejected at a level of 0.001."""
        return not self.p_value < 1e-3

    @property
    def effective(self) -> float:
        """The fraction of independent samples, 0 … 1."""
        return 1.0 / self.length

    __repr__ = as_call
    _repr_html_ = as_table


def period_of(t: Array) -> float:
    """Return the typical step of a time axis that may have gaps and restarts; 1 if it has none."""
    steps = np.diff(t)
    steps = steps[steps > 0.0]
    return float(np.median(steps)) if len(steps) else 1.0


def periods(t: Array, run: Array | None) -> Array:
    """Return the typical step of each row's run (rows,)."""
    if run is None:
        return np.full(len(t), period_of(t))
    found = np.empty(len(t))
    for which in np.unique(run):
        found[run == which] = period_of(t[run == which])
    return found


def in_order(t: Array, run: Array | None) -> Array:
    """Return the order of rows by run and time. Without runs the rows stay in place."""
    return np.arange(len(t)) if run is None else np.lexsort((t, run))


def positions(t: Array, run: Array | None, padding: int) -> Array:
    """Return the positions of ordered rows on a grid of their run's period; runs, and gaps at most, are separated by
    ``padding`` steps."""
    if len(t) < 2:
        return np.zeros(len(t), int)
    steps = np.rint(np.diff(t) / periods(t, run)[1:])
    fresh = steps < 1 if run is None else (steps < 1) | (np.diff(run) != 0)
    return np.concatenate([[0], np.cumsum(np.where(fresh, padding, np.clip(steps, 1, padding))).astype(int)])


def autocorrelation(e: Array, t: Array, lags: int, *, run: Array | None = None) -> tuple[Array, Array]:
    """Return ρ_0 … ρ_lags and the number of pairs of each; pairs across gaps and runs do not count.

    >>> import numpy as np
    >>> autocorrelation(np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4.0), 1)[0].tolist()
    [1.0, -1.0]
    """
    order = in_order(t, run)
    at = positions(t[order], None if run is None else run[order], lags + 1)
    size = int(at[-1]) + 1
    length = 1 << (size + lags).bit_length()  # zero padding against circular wrap-around
    values, there = np.zeros(size), np.zeros(size)
    values[at], there[at] = (e - e.mean())[order], 1.0

    def lagged(x: Array) -> Array:
        return np.fft.irfft(np.abs(np.fft.rfft(x, length)) ** 2, length)[: lags + 1]

    pairs = np.rint(lagged(there))
    means = lagged(values) / np.maximum(pairs, 1.0)
    return means / means[0] if means[0] > 0.0 else np.zeros(lags + 1), pairs


def whiteness(e: Array, t: Array, *, run: Array | None = None) -> Whiteness:
    """Return the Ljung–Box test over 20 lags, and the correlation length.

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> whiteness(noise, np.arange(1000.0)).white, whiteness(np.cumsum(noise), np.arange(1000.0)).white
    (True, False)
    """
    if len(e) < FEWEST or not np.ptp(e) > 0.0:
        return Whiteness(float("nan"), 1.0, period_of(t), np.ones(1))
    lags = int(min(LONGEST, len(e) // 4))
    rho, pairs = autocorrelation(e, t, lags, run=run)
    tested = slice(1, min(LAGS_TESTED, lags) + 1)
    known = pairs[tested] > 0
    Q = len(e) * (len(e) + 2) * np.sum((rho[tested] ** 2 / np.maximum(pairs[tested], 1.0))[known])
    from scipy.special import chdtrc

    length = np.cumsum(2.0 * rho) - 1.0
    enough = np.flatnonzero(np.arange(lags + 1) >= WINDOW * length)
    T = max(1.0, float(length[enough[0] if len(enough) else -1]))
    return Whiteness(float(chdtrc(max(int(known.sum()), 1), Q)), T, T * period_of(t), rho)


STEADIEST = 0.99  # largest lag-1 autocorrelation for the bandwidth rule
LEAST = -0.5  # lower bound of the relative change of the variance for white noise


def bandwidth(e: Array, joint: Array, t: Array, *, run: Array | None = None) -> int:
    """Return the bandwidth of the Bartlett window in samples, by the rule of [Andrews 1991], and at least six correlation
    lengths."""
    alpha, length, count = 0.0, 1.0, 1
    for j in np.unique(joint):
        at = np.flatnonzero(joint == j)
        if len(at) < 20:
            continue
        own = None if run is None else run[at]
        rho = float(np.clip(autocorrelation(e[at], t[at], 1, run=own)[0][1], -STEADIEST, STEADIEST))
        alpha = max(alpha, 4.0 * rho**2 / ((1.0 - rho) ** 2 * (1.0 + rho) ** 2))
        length, count = max(length, whiteness(e[at], t[at], run=own).length), max(count, len(at))
    andrews = 1.1447 * (alpha * count) ** (1.0 / 3.0)
    white = length <= 1.0 and alpha < 16.0 / count  # within two standard deviations of zero correlation
    return int(np.clip(1.0 if white else np.ceil(max(andrews, 6.0 * length)), 1, max(count // 4, 1)))


def widening(window: int, instants: int) -> float:
    """Return the factor on confidence intervals because a long window leaves few independent segments.

    For the Bartlett window, from its critical values at 97.5 % [Kiefer and Vogelsang 2005, Table 1].
    """
    b = min(window / max(instants, 1), 1.0) if window > 1 else 0.0
    return 1.0 + (2.9694 * b + 0.4160 * b**2 - 0.5324 * b**3) / 1.9600


def scatter_of_scores(scores: Array, t: Array, *, run: Array | None = None, window: int = 1) -> Array:
    """Return the sum over pairs of instants of s_i s_jᵀ with weights decreasing from 1 to 0 at ``window`` samples apart.

    Bartlett weights are the overlap of two windows, so the sum over pairs equals the sum over all windows of the squared
    window sums: one matrix product instead of one per lag, and positive semi-definite.
    """
    return _scatter(scores, np.ones(len(t)), np.ones(scores.shape[1]), t, run, window)


def _scatter(X: Array, factor: Array, unit: Array, t: Array, run: Array | None, window: int) -> Array:
    """Return `scatter_of_scores` of the scores factor_i unit_k X_ik, which are never all in memory."""
    order = np.lexsort((t, run)) if run is not None else np.argsort(t, kind="stable")
    times = t[order]
    runs = np.zeros(len(t)) if run is None else run[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(times) != 0.0) | (np.diff(runs) != 0)]))
    at = positions(times[first], runs[first], window)
    grid = np.zeros((int(at[-1]) + 1 + 2 * window, X.shape[1]))
    ends = np.append(first, len(t))
    for part in chunks(len(first)):
        begins = first[part]
        rows = order[begins[0] : ends[part.start + len(begins)]]
        # sum over the joints of one instant
        grid[at[part] + window] = np.add.reduceat(X[rows] * factor[rows, None], begins - begins[0], axis=0)
    grid *= unit
    total = np.cumsum(grid, axis=0, out=grid)
    S = np.zeros((X.shape[1], X.shape[1]))
    for part in chunks(len(total) - window):
        sums = total[part.start + window : part.stop + window] - total[part][: len(total) - window - part.start]
        S += sums.T @ sums
    return S / window


def autocorrelated_covariance(
    X: Array,
    e: Array,
    joint: Array,
    t: Array,
    covariance: Array,
    noise: Array,
    *,
    run: Array | None = None,
    weighted: bool = True,
) -> tuple[Array, int]:
    """Return the covariance of the parameters for autocorrelated residuals, and the window in samples.

    ``covariance`` C is that for white residuals of standard deviation ``noise`` (joints,). The scores XᵀW e have the scatter S,
    for white noise S_0, so the covariance is C + H⁻¹ (S − S_0) H⁻¹. For a fit ``weighted`` by the noise H⁻¹ = C, so that with a
    prior only the part due to the data grows; otherwise H = XᵀX.
    """
    # in units of the standard errors, which differ by orders of magnitude
    unit = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    unit = np.where(unit > 0.0, unit, 1.0)
    covariance = covariance / np.outer(unit, unit)
    weight = 1.0 / noise[joint] ** 2 if weighted else np.ones(len(e))
    bread = covariance if weighted else np.linalg.pinv((X.T @ X) * np.outer(unit, unit), hermitian=True)
    S, S_0, window, pull = np.zeros(covariance.shape), np.zeros(covariance.shape), 1, np.empty(len(e))
    for part in chunks(len(e)):
        Z = X[part] * unit
        pull[part] = weight[part] * np.einsum("ij,ij->i", Z @ bread, Z)
        S_0 += (Z.T * (weight * noise[joint])[part] ** 2) @ Z
    for rows in _of_one_rate(t, run):  # the window is a number of samples
        own = None if run is None else run[rows]
        error = e[rows] * _released(pull[rows], e[rows], joint[rows], t[rows], own)
        width = bandwidth(error, joint[rows], t[rows], run=own)
        same = len(rows) == len(e) and np.array_equal(rows, np.arange(len(e)))
        S += _scatter(X if same else X[rows], weight[rows] * error, unit, t[rows], own, width)
        window = max(window, width)
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    there = values > 1e-15 * max(float(values[-1]), 1e-300)  # fixed directions stay fixed
    vectors, size = vectors[:, there], np.sqrt(values[there])
    inward = (vectors / size).T @ bread
    excess, directions = np.linalg.eigh(inward @ (S - S_0) @ inward.T)
    half = (vectors * size) @ directions
    return np.asarray((half * (1.0 + np.maximum(excess, LEAST))) @ half.T) * np.outer(unit, unit), window


def _of_one_rate(t: Array, run: Array | None) -> list[Array]:
    """Yield the rows (in order) of runs with about the same period."""
    order = in_order(t, run)
    rate = np.rint(50.0 * np.log(periods(t, run)[order]))
    return [order[rate == which] for which in np.unique(rate)]


def _released(pull: Array, e: Array, joint: Array, t: Array, run: Array | None) -> Array:
    """Return the ratio (rows,) of errors to residuals from the leverage ``pull`` (rows,): the fit adapts to the errors.

    A joint that determines r_j parameters with n_j independent samples has residuals of √(1 − r_j / n_j) times its errors.
    """
    factor = np.ones(len(e))
    for j in np.unique(joint):
        at = joint == j
        independent = float(at.sum()) * whiteness(e[at], t[at], run=None if run is None else run[at]).effective
        factor[at] = 1.0 / np.sqrt(1.0 - min(float(pull[at].sum()) / max(independent, 1.0), 0.5))
    return factor
