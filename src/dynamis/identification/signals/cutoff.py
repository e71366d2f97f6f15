"""Optimal cut-off frequency for the differentiation of a measured motion, from its spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError

Array = npt.NDArray[Any]
SEGMENTS = 8  # minimal number of averaged segments, if the run is long enough
SHORTEST = 64  # samples
SMEAR = 4  # spectral lines on either side mixed by the Blackman–Harris window
LEAK = 1e-9  # leakage of the window, relative to the total power
CLEAR = 4.0  # ratio to the noise above which the spectrum is motion


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
