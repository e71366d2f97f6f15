"""Covariance of a fit with residuals correlated over time and between joints [Newey and West 1987]."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.validation.excitation import chunks
from dynamis.identification.validation.whiteness import autocorrelation, in_order, periods, positions, whiteness

Array = npt.NDArray[Any]
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
