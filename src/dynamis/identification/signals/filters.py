"""Zero-phase low-pass filters, Butterworth forward and backward, and the cut-off frequency between motion and noise.

Filtered signals are not delayed. Every operation is linear along the first axis, including the treatment of the ends, so
filtering both sides of τ = Y π preserves the equation: F(τ) = F(Y) π.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError

Array = npt.NDArray[Any]

NEGLIGIBLE = 1e-12  # relative effect of samples farther away than `margin`
EXTENSION = 6.0  # periods of the cut-off by which a signal is extended beyond its ends
BLOCK = 1 << 21  # numbers filtered at a time, to limit memory
SEGMENTS = 8  # minimal number of averaged segments, if the run is long enough
SHORTEST = 64  # samples
SMEAR = 4  # spectral lines on either side mixed by the Blackman–Harris window
LEAK = 1e-9  # leakage of the window, relative to the total power
CLEAR = 4.0  # ratio to the noise above which the spectrum is motion


def low_pass(x: Any, period: float, cutoff: float, order: int = 4, *, every: int = 1) -> Array:
    """Low-pass filter a signal (N, …) at ``cutoff`` [Hz] with zero phase, and keep every ``every``-th row.

    A Butterworth filter of the given order runs forward and backward: gain 1/(1 + (f/cutoff)^(2 order)), a half at the cut-off.
    The signal is extended beyond its ends by point reflection, so straight lines pass unchanged.

    >>> t = np.arange(2000) * 1e-3
    >>> slow, fast = np.sin(2 * np.pi * 2 * t), np.sin(2 * np.pi * 200 * t)
    >>> bool(np.abs(low_pass(slow + fast, 1e-3, 30.0) - slow)[200:-200].max() < 1e-5)
    True
    """
    signal = _signal(x)
    every = _count(every, "every")
    sos = _sections(period, cutoff, order)
    if len(signal) < 2:
        raise InputError(f"a signal of {len(signal)} samples cannot be filtered; at least two are needed")
    pad = min(_extension(period, cutoff), len(signal) - 1)
    flat = signal.reshape(len(signal), -1)
    kept = np.empty((-(-len(signal) // every), flat.shape[1]))
    width = max(1, BLOCK // len(signal))
    for first in range(0, flat.shape[1], width):
        block = slice(first, first + width)
        kept[:, block] = _zero_phase(sos, flat[:, block], pad, pad)[::every]
    return kept.reshape(len(kept), *signal.shape[1:])


def margin(period: float, cutoff: float, order: int = 4) -> int:
    """Return the distance in samples beyond which a sample changes a filtered value by less than 1e-12 of itself.

    >>> margin(1e-3, 20.0) > margin(1e-3, 40.0) > 100
    True
    """
    return _margin(float(period), float(cutoff), int(order))


@functools.lru_cache(maxsize=64)
def _margin(period: float, cutoff: float, order: int) -> int:
    sos = _sections(period, cutoff, order)
    slowest = max(abs(np.roots([1.0, *section[3:]])).max() for section in sos)
    length = int(np.ceil(3.0 * np.log(NEGLIGIBLE) / np.log(slowest))) + 10
    impulse = np.zeros(length)
    impulse[0] = 1.0
    h = np.abs(_forward(sos, impulse[:, None])[:, 0])
    # the response of both passes is Σ_k h(k) h(k + n); beyond n on both sides it sums to at most 2 Σ_k |h(k)| tail(k + n)
    tail = np.concatenate([np.cumsum(h[::-1])[::-1], np.zeros(length)])
    low, high = 0, length
    while low < high:
        n = (low + high) // 2
        if 2.0 * h @ tail[n : n + length] < NEGLIGIBLE:
            high = n
        else:
            low = n + 1
    return low


def check_cutoff(period: float, cutoff: float, what: str = "the cut-off") -> None:
    """Raise an error unless a cut-off is between zero and half the sampling rate."""
    if not _positive(period):
        raise InputError(f"the sampling period must be a positive number of seconds, got {period!r}")
    nyquist = 0.5 / period
    if not _positive(cutoff):
        raise InputError(f"{what} must be a positive number of hertz, got {cutoff!r}")
    if cutoff >= nyquist:
        raise InputError(
            f"{what} of {cutoff:.6g} Hz is not below {nyquist:.6g} Hz, half the sampling rate of {1.0 / period:.6g} Hz: "
            "choose a lower one, or none"
        )


def _positive(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value)) and bool(value > 0)


def _sections(period: float, cutoff: float, order: int) -> Array:
    """Return sections (k, 5) of first or second order, b0, b1, b2, a1, a2: the bilinear transform of a Butterworth filter."""
    check_cutoff(period, cutoff)
    order = _count(order, "order")
    K = np.tan(np.pi * cutoff * period)
    sections = []
    for k in range(order // 2):
        damping = 2.0 * K * np.sin(np.pi * (2 * k + 1) / (2 * order))
        scale = 1.0 + damping + K**2
        b = K**2 / scale
        sections.append([b, 2.0 * b, b, 2.0 * (K**2 - 1.0) / scale, (1.0 - damping + K**2) / scale])
    if order % 2:
        sections.append([K / (1.0 + K), K / (1.0 + K), 0.0, (K - 1.0) / (1.0 + K), 0.0])
    return np.array(sections)


def _forward(sections: Array, x: Array) -> Array:
    """Filter the columns of x (N, c) from rest: a banded triangular system for each section."""
    from scipy.linalg.lapack import dtbtrs

    y, bands = np.asfortranarray(x), np.ones((3, len(x)), order="F")
    for b0, b1, b2, a1, a2 in sections:
        right = b0 * y
        right[1:] += b1 * y[:-1]
        right[2:] += b2 * y[:-2]
        bands[1], bands[2] = a1, a2
        y = dtbtrs(bands, right, uplo="L", diag="U", overwrite_b=1)[0]
    return np.asarray(y)


def _extension(period: float, cutoff: float) -> int:
    return int(np.ceil(EXTENSION / (cutoff * period)))


def _zero_phase(sos: Array, x: Array, before: int, after: int) -> Array:
    """Filter the columns of x (N, c) forward and backward, with this many reflected samples at its ends."""
    N = len(x)
    y = np.empty((before + N + after, x.shape[1]), order="F")
    y[before : before + N] = x
    if before:
        y[:before] = 2.0 * x[0] - x[before:0:-1]
    if after:
        y[before + N :] = 2.0 * x[-1] - x[-2 : -after - 2 : -1]
    for _ in range(2):
        first = y[0].copy()  # the initial state is that of a constant signal equal to the first sample
        y = (_forward(sos, y - first) + first)[::-1]
    return y[before : before + N]


def _signal(x: Any) -> Array:
    signal = np.asarray(x, dtype=float)
    if signal.ndim == 0:
        raise InputError("a signal to filter must have its samples along the first axis, got a scalar")
    return signal


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be an integer ≥ 1, got {value!r}")
    return int(value)


class Cutoff(NamedTuple):
    """``value`` [Hz] for all joints, those of the ``joints`` (n,) [Hz], the ``noise`` of their positions (n,), and a note.

    ``band`` [Hz] contains 99 % of the power of the velocities of every joint.
    """

    value: float
    joints: Array
    noise: Array
    note: str
    band: float = 0.0

    def __repr__(self) -> str:
        return f"<Cutoff {self.value:.4g} Hz for {len(self.joints)} joints>"

    def _repr_html_(self) -> str:
        return as_table(self)


def suggest_cutoff(q: Any, period: float, order: int = 4, *, names: Sequence[str] = (), units: Sequence[str] = ()) -> Cutoff:
    """Suggest the cut-off of `low_pass` with the smallest error of the accelerations, for positions (N,) or (N, n).

    The motion occupies the spectrum of the positions up to where it first reaches a flat noise floor; peaks above, such as
    vibrations and encoder ripple, are ignored. With a gain G(f), the acceleration loses ∫ ω⁴ (1 − G)² of the motion's spectrum
    and keeps ∫ ω⁴ G² of the noise's. The cut-off minimizes the sum of both over the joints, each relative to the power of its
    own motion, so that no single joint determines it. ``names`` and ``units`` of the joints are used in the note.

    >>> t = np.arange(8000) * 1e-3
    >>> q = np.sin(2 * np.pi * t) + 1e-4 * np.random.default_rng(0).normal(size=t.size)
    >>> 1.0 < suggest_cutoff(q, 1e-3).value < 10.0
    True
    """
    x = np.asarray(q, dtype=float)
    x = x.reshape(len(x), -1)
    if len(x) < SHORTEST:
        raise InputError(f"{len(x)} samples are too few to find the noise floor (at least {SHORTEST}): pass the cut-off")
    # of second differences: the spectrum of the slow motion would leak otherwise
    bends = np.diff(x, 2, axis=0)
    size = min(len(bends), max(SHORTEST - 2, len(bends) // SEGMENTS))
    f, P = _spectrum(bends, period, size)
    shape = (2.0 * np.sin(np.pi * f * period)) ** 4  # spectrum of differenced white noise
    floor = np.median(P[f > 0.5 * f[-1]] / shape[f > 0.5 * f[-1], None], axis=0) + 1e-300
    seen = np.append(shape[SMEAR:], np.full(SMEAR, shape[-1])) + LEAK * shape.sum()  # with the window: shape increases with f
    motion = np.where(_before_the_floor(P, seen[:, None] * floor), P, 0.0)
    candidates = np.geomspace(max(4.0 / (size * period), f[1]), 0.8 * f[-1], 60)
    G = 1.0 / (1.0 + (f / candidates[:, None]) ** (2 * order))
    cost = ((1.0 - G) ** 2) @ motion + (G**2 @ shape)[:, None] * floor
    joints = candidates[np.argmin(cost, axis=0)]
    noise = np.sqrt(floor * 0.5 / period)
    still = motion.sum(axis=0) == 0.0
    if still.all():
        raise InputError("no joint moves more than its noise, so no cut-off can be found: pass one, or use another log")
    relative = np.sum(cost[:, ~still] / motion[:, ~still].sum(axis=0), axis=1)
    value = float(candidates[np.argmin(relative)])
    band = float(_velocity_band(x[:, ~still], period, joints[~still]).max())
    noisiest = int(np.flatnonzero(~still)[np.argmax((noise**2 / (motion.sum(axis=0) + 1e-300))[~still])])
    who = names[noisiest] if noisiest < len(names) else f"column {noisiest}"
    unit = f" {units[noisiest]}" if noisiest < len(units) else ""
    note = (
        f"cut-off {value:.3g} Hz chosen from the spectra of all joints (by joint: {', '.join(f'{c:.3g}' for c in joints)} Hz); "
        f"the noisiest, {who}, has a noise floor of {noise[noisiest]:.2g}{unit}"
    )
    return Cutoff(value, joints, noise, note, band)


def _spectrum(x: Array, period: float, size: int) -> tuple[Array, Array]:
    """Return the frequencies (m,) and the power spectral density (m, n) of x, averaged over half-overlapping segments."""
    angle = 2.0 * np.pi * np.arange(size) / size
    window = 0.35875 - 0.48829 * np.cos(angle) + 0.14128 * np.cos(2.0 * angle) - 0.01168 * np.cos(3.0 * angle)
    starts = range(0, len(x) - size + 1, size - size // 2)
    power = [np.abs(np.fft.rfft(x[k : k + size] * window[:, None], axis=0)) ** 2 for k in starts]
    P = np.mean(power, axis=0) * period / np.sum(window**2)
    P[1 : (size + 1) // 2] *= 2.0  # of both signs of the frequency
    return np.fft.rfftfreq(size, period), P


def _velocity_band(x: Array, period: float, cutoffs: Array) -> Array:
    """Return the frequencies (n,) below which 99 % of the power of the velocities lies, up to the cut-off of each joint."""
    window = np.hanning(len(x))[:, None]
    v = np.gradient(x, axis=0)
    power = np.abs(np.fft.rfft((v - v.mean(axis=0)) * window, axis=0)) ** 2
    f = np.fft.rfftfreq(len(x), period)
    share = np.cumsum(np.where(f[:, None] <= cutoffs, power, 0.0), axis=0)
    return f[np.argmax(share >= 0.99 * share[-1], axis=0)]


def _before_the_floor(P: Array, noise: Array) -> Array:
    """Return a mask of the frequencies below the first band of a sixth of an octave that is noise."""
    standing = P / noise > CLEAR
    standing[0] = True
    motion = np.zeros_like(standing)
    for j in range(P.shape[1]):
        k = 1
        while k < len(P):
            stretch = slice(k, max(k + 3, int(k * 2.0 ** (1 / 6)) + 1))
            if not standing[stretch, j].any():
                break
            motion[stretch, j] = standing[stretch, j]
            k = stretch.stop
    return motion
