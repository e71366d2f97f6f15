"""The sampling period behind time stamps: of an even clock with lost rows or uneven stamps, or the mean of uneven steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

POLLED = 0.1  # of a period: with a larger spread of the steps, an even clock is sought in the spectrum of the stamps
COHERENT = 0.15  # mean of exp(2πi t/period) over the stamps, which is 1 for an even clock: with less, there is none
SEARCHED = 0.7, 1.4  # range of the rate of an even clock, relative to that of the median step
FINE = 8  # parts of a period to which stamps are rounded for their spectrum
QUARTER = 0.25  # of a turn: a period that is off by more cannot be refined
BURSTS = 1.5  # ratio of the mean to the median step above which samples come in bursts
SPANS = 20_000  # spans averaged to refine the period
BURST = 50  # samples: a delay may be caught up within as many
ROUNDED = 9  # rows over which the rounding of coarse stamps is averaged
WIDE = 12.0  # median steps: four samples further apart contain motion, not only noise


def first_period(t: Array, coarse: bool) -> tuple[float, bool]:
    """Return the period, and whether stamps come in bursts or are coarse, so that single steps do not show missing samples."""
    steps = np.diff(t)
    ahead = steps[steps > 0.0]
    step = float(np.median(ahead)) if len(ahead) else 0.0
    span = min(BURST, len(t) - 1)
    rate = float(np.median(t[span:] - t[:-span])) / span
    if coarse or (rate > BURSTS * step and not (steps == 0.0).any()):
        # slope of all stamps over their indices, without the gaps
        even = np.cumsum(np.where(np.abs(steps) > BURST * rate, rate, steps))
        return float(np.polynomial.polynomial.polyfit(np.arange(len(even)), even, 1)[1]), True
    return step, False


def clock_period(parts: Sequence[Array], h: float, gap: float) -> tuple[float, bool]:
    """Return the period for the stamps of each run, given their median step, and whether it is that of an even clock.

    An even clock has a sharp line in the spectrum of the stamps, also if these are uneven and some are missing; at polled
    times, where deviations accumulate, there is none, and the period is the mean step.
    """
    steps = np.concatenate([np.diff(s) for s in parts])
    if not len(steps):
        return h, True
    longest = max(parts, key=len)
    start = _spectral_line(longest, h) if float(np.median(np.abs(steps - h))) > POLLED * h else h
    found = refined(parts, start)
    if coherence(parts, found) >= COHERENT:
        return found, True
    return float(steps[steps < (gap + 0.5) * h].mean()), False


def coherence(parts: Sequence[Array], h: float) -> float:
    """Return how well stamps agree with an even clock: 1 if exactly, 0 if not at all."""
    return float(sum(abs(np.exp(2j * np.pi / h * (s - s[0])).sum()) for s in parts)) / sum(map(len, parts))


def _spectral_line(s: Array, h: float) -> float:
    """Return the period with the strongest line in the spectrum of stamps near one over a step."""
    at = np.rint((s - s[0]) * (FINE / h)).astype(int)
    size = 2 << int(at[-1]).bit_length()
    power = np.abs(np.fft.rfft(np.bincount(at, minlength=1), size))
    f = np.arange(len(power)) * (FINE / (size * h))
    near = slice(*np.searchsorted(f, np.array(SEARCHED) / h))
    return float(1.0 / f[near][np.argmax(power[near])])


def refined(parts: Sequence[Array], h: float) -> float:
    """Refine the period over longer and longer spans: each determines the number of periods of the next one.

    Only the fractional part is used, averaged as an angle, since samples may be missing in any span.
    """
    span = 1
    while any(len(s) > 2 * span for s in parts):
        periods = np.concatenate([s[span:] - s[:-span] for s in parts if len(s) > span]) / h
        periods = periods[:: max(1, len(periods) // SPANS)]
        z = np.exp(2j * np.pi * periods).mean()
        turn = float(np.angle(z)) / (2.0 * np.pi)
        if abs(z) < max(0.05, 5.0 / np.sqrt(len(periods))) or abs(turn) > QUARTER:
            break  # the stamps drift too much
        h *= 1.0 + turn / periods.mean()
        span *= 4
    # least squares over all runs, each with its own offset
    above = below = 0.0
    for s in parts:
        if len(s) > 2:
            n = ticks_of(s, h).astype(float)
            r = s - h * n
            near = np.abs(r - np.median(r)) <= 4.0 * np.median(np.abs(r - np.median(r))) + 1e-9 * h
            n, r = n[near] - n[near].mean(), r[near] - r[near].mean()
            above, below = above + float(n @ r), below + float(n @ n)
    return float(h + above / below) if below else h


def ticks_of(s: Array, h: float) -> Array:
    """Return the tick of each stamp: increasing integers nearest the stamps [isotonic regression of ticks − row numbers]."""
    order = np.arange(len(s))
    ahead = (s - s[0]) / h - order
    ahead -= np.median(ahead - np.round(ahead))  # the first stamp is no better than any other
    nearest = np.round(ahead)
    if np.abs(ahead - nearest).max(initial=0.0) > 0.25 or (np.diff(nearest) < 0.0).any():  # else the regression changes nothing
        from scipy.optimize import isotonic_regression

        nearest = np.round(isotonic_regression(ahead).x)
    ticks = nearest.astype(int) + order
    return ticks - ticks[0]


def without_rounding(s: Array, h: float) -> Array:
    """Return coarse stamps, of which several rows share one, averaged over neighbours: their deviations from an even clock."""
    off = s - h * np.arange(len(s))
    reach = ROUNDED // 2
    padded = np.concatenate([np.full(reach, off[0]), off, np.full(reach, off[-1])])
    return np.asarray(s - off + np.convolve(padded, np.full(ROUNDED, 1.0 / ROUNDED), "valid"))


def deviations(t: Array, q: Array) -> Array:
    """Return the deviations (M, n) of positions (N, n) at these times from parabolas: third differences, divided by the times.

    Each is a sum of four neighbours whose squared weights have the sum one, so that white noise has the same size at all
    times, even or not, while wrong times add to it. Neighbours far apart are left out.
    """
    if len(t) < 4:
        return np.zeros((0, q.shape[1]))
    at = np.stack([t[k : len(t) - 3 + k] for k in range(4)])
    span = at[3] - at[0]
    near = span < WIDE * max(float(np.median(np.diff(t))), 1e-300)
    apart = at[:, None] - at[None] + 1e-6 * (span + 1e-300) * np.sign(np.arange(4)[:, None] - np.arange(4))[..., None]
    apart[range(4), range(4)] = 1.0
    # weights 1 / Π (tᵢ − tⱼ), relative to the largest
    size = np.log(np.abs(apart)).sum(axis=1)
    weights = np.sign(apart).prod(axis=1) * np.exp(size.min(axis=0) - size)
    weights /= np.linalg.norm(weights, axis=0)
    return np.asarray(sum(weights[k, :, None] * q[k : len(q) - 3 + k] for k in range(4)))[near]
