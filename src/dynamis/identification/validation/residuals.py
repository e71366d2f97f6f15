"""Residuals of a fit by joint: magnitude, distribution, whiteness, and the covariance of parameters for coloured residuals.

The residual of a robot is seldom white: filters, gears and unmodelled effects colour it, and neighbouring samples are
correlated. N samples with a correlation length of T count as N/T [Ljung 1978, Sokal 1997].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import printable
from dynamis.identification.equations import Equations
from dynamis.identification.validation.distributions import chi_square_tail

Array = npt.NDArray[Any]
NORMAL_MAD = 1.4826  # standard deviation over median absolute deviation of normal noise
LAGS_TESTED = 20
LONGEST = 4000  # largest lag for the correlation length
FEWEST = 20  # minimal number of rows for a test
STEADIEST = 0.99  # largest lag-1 autocorrelation for the bandwidth rule
CLEAR = 2.0  # standard deviations of the scatter of the scores by which it must differ from that of a joint's correlation
LEAST = -0.5  # lower bound of this relative difference


@dataclass(frozen=True, repr=False)
class JointResidual:
    """The residual e = τ − X β of one joint, in its unit of torque.

    ``percent`` is 100 |e| / |τ|. ``skewness`` and ``kurtosis`` (excess) are zero for normal noise; ``outliers`` is the fraction
    of rows beyond five robust standard deviations, less than one in a million for normal noise.
    """

    joint: str
    unit: str
    rows: int
    rms: float
    largest: float
    mean: float
    torque: float
    percent: float
    skewness: float
    kurtosis: float
    outliers: float
    whiteness: Whiteness

    def __repr__(self) -> str:
        share = f"{self.percent:.3g} % of the torque"
        return f"<JointResidual of {printable(self.joint)}: rms {self.rms:.4g}, {share}, {counted(self.rows, 'row')}>"

    _repr_html_ = as_table


def relative(e: Array, y: Array) -> float:
    """Return 100 |e| / |y|; infinite if the torque is zero, NaN without rows."""
    if not len(e):
        return float("nan")
    size, torque = float(np.linalg.norm(e)), float(np.linalg.norm(y))
    if torque > 0.0:
        return 100.0 * size / torque
    return 0.0 if size == 0.0 else float("inf")


def percent(squares: Array, torque: Array, counts: Array) -> tuple[float, Array]:
    """Return 100 |e| / |τ| of all joints together and of each (n,), from sums of squares and numbers of rows (n,).

    It is infinite if the torque is zero, NaN without rows.
    """

    def ratio(e: float, y: float, rows: int) -> float:
        if not rows:
            return float("nan")
        return 100.0 * float(np.sqrt(e / y)) if y > 0.0 else 0.0 if e == 0.0 else float("inf")

    every = ratio(float(squares.sum()), float(torque.sum()), int(counts.sum()))
    return every, np.array([ratio(*sums) for sums in zip(squares, torque, counts, strict=True)])


def residuals_by_joint(rows: Equations, e: Array) -> tuple[JointResidual, ...]:
    """Return the residual of every joint that has rows, from the residuals e (rows,)."""
    found = []
    for j, name in enumerate(rows.joints):
        at = np.flatnonzero(rows.joint == j)
        if not len(at):
            continue
        own, torque = e[at], rows.y[at]
        centred = own - own.mean()
        spread = float(centred.std())
        middle = float(np.median(own))
        robust = NORMAL_MAD * float(np.median(np.abs(own - middle)))
        shape = centred / spread if spread > 0.0 else centred
        found.append(
            JointResidual(
                joint=name,
                unit=rows.units[j],
                rows=len(at),
                rms=float(np.sqrt(np.mean(own**2))),
                largest=float(np.abs(own).max()),
                mean=float(own.mean()),
                torque=float(np.sqrt(np.mean(torque**2))),
                percent=relative(own, torque),
                skewness=float(np.mean(shape**3)),
                kurtosis=float(np.mean(shape**4) - 3.0) if spread > 0.0 else 0.0,
                outliers=float(np.mean(np.abs(own - middle) > 5.0 * robust)) if robust > 0.0 else 0.0,
                whiteness=whiteness(own, rows.t[at], rows.run[at]),
            )
        )
    return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)
class Whiteness:
    """``p_value`` of the test for white noise. ``length``: correlation length in samples, 1 + 2 Σ ρ_k until ρ_k is not
    positive: later ones may be negative because a fit removes slow errors that its parameters explain; ``seconds`` the same as
    a time; ``correlation`` (lags,) starts with ρ_0 = 1."""

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

    def wandering(self, rows: int) -> float:
        """Return (1 + 2 Σ ρ²) Δt from so many rows: a time in which torques that go up and down count, too [Bartlett 1946]."""
        return self.seconds / self.length * (1.0 + 2.0 * float(np.sum(self.correlation[1:] ** 2 - 1.0 / max(rows, 1))))

    __repr__ = as_call
    _repr_html_ = as_table


def period_of(t: Array) -> float:
    """Return the typical step of a time axis that may have gaps and restarts; 1 if it has none."""
    steps = np.diff(t)
    steps = steps[steps > 0.0]
    return float(np.median(steps)) if len(steps) else 1.0


def periods(t: Array, run: Array) -> Array:
    """Return the typical step of each row's run (rows,)."""
    found = np.empty(len(t))
    for which in np.unique(run):
        found[run == which] = period_of(t[run == which])
    return found


def positions(t: Array, run: Array, padding: int) -> Array:
    """Return the positions of ordered rows on a grid of their run's period; runs, and gaps at most, are separated by
    ``padding`` steps."""
    steps = np.rint(np.diff(t) / periods(t, run)[1:])
    fresh = (steps < 1) | (np.diff(run) != 0)
    return np.concatenate([[0], np.cumsum(np.where(fresh, padding, np.clip(steps, 1, padding))).astype(int)])


def autocorrelation(e: Array, t: Array, lags: int, run: Array | None = None) -> tuple[Array, Array]:
    """Return ρ_0 … ρ_lags and the number of pairs of each; pairs across gaps and runs do not count.

    >>> import numpy as np
    >>> autocorrelation(np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4.0), 1)[0].tolist()
    [1.0, -1.0]
    """
    run = np.zeros(len(t), int) if run is None else run
    order = np.lexsort((t, run))
    at = positions(t[order], run[order], lags + 1)
    size = int(at[-1]) + 1
    length = 1 << (size + lags).bit_length()  # zero padding against circular wrap-around
    values, there = np.zeros(size), np.zeros(size)
    values[at], there[at] = (e - e.mean())[order], 1.0

    def lagged(x: Array) -> Array:
        return np.fft.irfft(np.abs(np.fft.rfft(x, length)) ** 2, length)[: lags + 1]

    pairs = np.rint(lagged(there))
    means = lagged(values) / np.maximum(pairs, 1.0)
    return means / means[0] if means[0] > 0.0 else np.zeros(lags + 1), pairs


def whiteness(e: Array, t: Array, run: Array | None = None) -> Whiteness:
    """Return the Ljung–Box test over 20 lags, and the correlation length.

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> whiteness(noise, np.arange(1000.0)).white, whiteness(np.cumsum(noise), np.arange(1000.0)).white
    (True, False)
    """
    if len(e) < FEWEST or not np.ptp(e) > 0.0:
        return Whiteness(float("nan"), 1.0, period_of(t), np.ones(1))
    lags = int(min(LONGEST, len(e) // 4))
    rho, pairs = autocorrelation(e, t, lags, run)
    tested = slice(1, min(LAGS_TESTED, lags) + 1)
    known = pairs[tested] > 0
    Q = len(e) * (len(e) + 2) * np.sum((rho[tested] ** 2 / np.maximum(pairs[tested], 1.0))[known])
    positive = np.flatnonzero(np.append(rho[1:], 0.0) <= 0.0)[0]
    T = 1.0 + 2.0 * float(rho[1 : 1 + positive].sum())
    return Whiteness(chi_square_tail(max(int(known.sum()), 1), float(Q)), T, T * period_of(t), rho)


def bandwidth(e: Array, joint: Array, t: Array, run: Array) -> int:
    """Return the bandwidth of the Bartlett window in samples, by the rule of [Andrews 1991], and at least six correlation
    lengths."""
    alpha, length, count = 0.0, 1.0, 1
    for j in np.unique(joint):
        at = np.flatnonzero(joint == j)
        if len(at) < FEWEST:
            continue
        rho = float(np.clip(autocorrelation(e[at], t[at], 1, run[at])[0][1], -STEADIEST, STEADIEST))
        alpha = max(alpha, 4.0 * rho**2 / ((1.0 - rho) ** 2 * (1.0 + rho) ** 2))
        length, count = max(length, whiteness(e[at], t[at], run[at]).length), max(count, len(at))
    andrews = 1.1447 * (alpha * count) ** (1.0 / 3.0)
    white = length <= 1.0 and alpha < 16.0 / count  # within two standard deviations of zero correlation
    return int(np.clip(1.0 if white else np.ceil(max(andrews, 6.0 * length)), 1, max(count // 4, 1)))


def scatter_of_scores(rows: Equations, weight: Array, window: int = 1) -> Array:
    """Return the sum over pairs of instants of s_i s_jᵀ with weights decreasing from 1 to 0 at ``window`` samples apart, where
    the score of an instant is s = Σ w X over its rows, with ``weight`` (rows,) w; rows without weight do not count.

    Bartlett weights are the overlap of two windows, so the sum over pairs equals the sum over all windows of the squared
    window sums: one matrix product instead of one per lag, and positive semi-definite.
    """
    order = np.lexsort((rows.t, rows.run))
    order = order[weight[order] != 0.0]
    r = len(rows.names)
    S = np.zeros((r, r))
    if not len(order):
        return S
    t, run = rows.t[order], rows.run[order]
    fresh = np.concatenate([[True], (np.diff(t) != 0.0) | (np.diff(run) != 0)])
    at = positions(t[fresh], run[fresh], window)
    place = np.full(len(rows), -1)
    place[order] = at[np.cumsum(fresh) - 1]  # of each row on a grid of samples
    tail, done = np.zeros((window, r)), 0
    for chunk in rows.chunks():
        parts = [(part, place[part.rows]) for part in chunk]
        last = max((int(on.max(initial=-1)) for _, on in parts), default=-1)
        if last < done:
            continue
        grid = np.zeros((last + 1 - done, r))
        for part, on in parts:
            used = on >= 0
            grid[np.ix_(on[used] - done, part.columns)] += (part.A[:, :-1] * weight[part.rows, None])[used]
        S += _squared_window_sums(tail, grid)
        tail, done = np.concatenate([tail, grid])[-window:], last + 1
    return (S + _squared_window_sums(tail, np.zeros((window, r)))) / window


def _squared_window_sums(before: Array, new: Array) -> Array:
    """Return Σ s sᵀ over the windows that end in ``new``; s is the sum over a window, as long as ``before``."""
    total = np.cumsum(np.concatenate([before, new]), axis=0)
    sums = total[len(before) :] - total[: len(new)]
    return np.asarray(sums.T @ sums)


def autocorrelated_covariance(
    rows: Equations, factors: Sequence[Array], e: Array, covariance: Array, noise: Array, *, weighted: bool = True
) -> tuple[Array, int]:
    """Return the covariance of the parameters for autocorrelated residuals e (rows,), and the window in samples.

    ``covariance`` C is that for white residuals of standard deviation ``noise`` (joints,), ``factors`` are those of each
    joint. With the scatter S of the scores XᵀW e, and S_0 for white noise, it is C + H⁻¹ (S − S_0) H⁻¹. For a fit ``weighted``
    by the noise H⁻¹ = C, so that with a prior only the part due to the data grows; otherwise H = XᵀX.

    S is S_0 times the correlation length of each joint, unless the scatter of the scores themselves, with a Bartlett window,
    differs by more than `CLEAR` standard deviations: it includes correlation between joints and changes of the noise, but
    is uncertain by √(4b/3) of itself for a window that is a fraction b of the log [Newey and West 1987], and too small where
    the parameters explain slow errors.
    """
    # in units of the standard errors, which differ by orders of magnitude
    unit = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    unit = np.where(unit > 0.0, unit, 1.0)
    covariance = covariance / np.outer(unit, unit)
    weight = 1.0 / noise**2 if weighted else np.ones(len(noise))
    grams = [(F[:, :-1] * unit).T @ (F[:, :-1] * unit) for F in factors]
    bread = covariance if weighted else np.linalg.pinv(sum(grams, np.zeros(1)), hermitian=True)
    S_0 = sum(((w * s) ** 2 * G for w, s, G in zip(weight, noise, grams, strict=True)), np.zeros(covariance.shape))
    S_1, S, window, share = (*np.zeros((2, *covariance.shape)), 1, 0.0)
    rates = _of_one_rate(rows.t, rows.run)
    for own in rates:  # the window is a number of samples
        if len(rates) > 1:
            mine = rows.factors(1 - np.isin(np.arange(len(rows)), own), 2).R[0]
            grams = [(F[:, :-1] * unit).T @ (F[:, :-1] * unit) for F in mine]
        t, run, joint = rows.t[own], rows.run[own], rows.joint[own]
        pull = np.array([w * np.sum(bread * G) for w, G in zip(weight, grams, strict=True)])
        length, released = _lengths(pull, e[own], joint, t, run)
        error = e[own] * np.sqrt(released)[joint]
        width = bandwidth(error, joint, t, run)
        scores = np.zeros(len(rows))
        scores[own] = weight[joint] * error
        S += scatter_of_scores(rows, scores, width) * np.outer(unit, unit)
        for j, G in enumerate(grams):
            S_1 += (weight[j] * noise[j]) ** 2 * length[j] * released[j] * G
        window, share = max(window, width), max(share, width / max(int(np.bincount(joint).max()), 1))
    covariance = covariance + bread @ (S_1 - S_0) @ bread
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    there = values > 1e-15 * max(float(values[-1]), 1e-300)  # fixed directions stay fixed
    vectors, size = vectors[:, there], np.sqrt(values[there])
    inward = (vectors / size).T @ bread
    excess, directions = np.linalg.eigh(inward @ (S - S_1) @ inward.T)
    excess = np.sign(excess) * np.maximum(np.abs(excess) - CLEAR * np.sqrt(4.0 * share / 3.0), 0.0)
    half = (vectors * size) @ directions
    return np.asarray((half * (1.0 + np.maximum(excess, LEAST))) @ half.T) * np.outer(unit, unit), window


def _of_one_rate(t: Array, run: Array) -> list[Array]:
    """Return the rows (in order) of runs with about the same period."""
    order = np.lexsort((t, run))
    rate = np.rint(50.0 * np.log(periods(t, run)[order]))
    return [order[rate == which] for which in np.unique(rate)]


def _lengths(pull: Array, e: Array, joint: Array, t: Array, run: Array) -> tuple[Array, Array]:
    """Return the correlation length of each joint's residuals in samples, and the ratio of the variance of its errors to that
    of its residuals: a joint that determines r_j parameters, its total leverage ``pull``, with n_j independent samples has
    residuals of √(1 − r_j / n_j) times its errors."""
    length, released = np.ones((2, len(pull)))
    for j in np.unique(joint):
        at = joint == j
        length[j] = whiteness(e[at], t[at], run[at]).length
        released[j] = 1.0 / (1.0 - min(float(pull[j]) * length[j] / float(at.sum()), 0.5))
    return length, released
