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
