"""Derivatives from the spectrum: every frequency up to the cut-off is differentiated exactly, what lies above is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.signals.ends import end_cubic

Array = npt.NDArray[Any]
TAPER = 0.2  # of the cut-off, to either side: where the gain falls from 1 to 0


def spectral(x: Array, period: float, cutoff: float | None, *, periodic: bool = False) -> tuple[Array, Array, Array]:
    """Smoothed positions, velocities and accelerations of (N,) or (N, n).

    ``periodic``: the N samples are whole periods, the next one would equal the first; then nothing is lost at the ends, and
    frequencies up to the cut-off are exact. Otherwise what remains beside the cubic of the ends, continued by point
    reflection, is a sine series whose coefficients fall with the fifth power.
    """
    if len(x) < 12:
        raise InputError(f"{len(x)} samples are too few for a spectrum: it takes 12; give a longer run")
    return _whole_periods(x, period, cutoff) if periodic else _stretch(x, period, cutoff)


def _whole_periods(x: Array, period: float, cutoff: float | None) -> tuple[Array, Array, Array]:
    N = len(x)
    f = np.fft.rfftfreq(N, period)
    c = np.fft.rfft(x, axis=0)
    # a line of the spectrum at the cut-off belongs to the signal
    c[f > (np.inf if cutoff is None else cutoff * (1.0 + 1e-9))] = 0.0
    jw = _column(2j * np.pi * f, x)
    first = jw * c
    if N % 2 == 0:
        first[-1] = 0.0  # at half the sampling rate only the cosine is seen, and its derivative is zero at the samples
    q, v, a = (np.fft.irfft(s, N, axis=0) for s in (c, first, jw * jw * c))
    return q, v, a


def _stretch(x: Array, period: float, cutoff: float | None) -> tuple[Array, Array, Array]:
    from scipy.fft import dst

    N = len(x)
    cubic = end_cubic(x, period, cutoff)
    k = np.arange(1, N - 1)
    f = k / (2.0 * (N - 1) * period)
    b = dst((x - cubic.q)[1:-1], type=1, axis=0) / (N - 1) * _column(_gain(f, cutoff), x)
    w = _column(2.0 * np.pi * f, x)
    q, a = np.zeros_like(x), np.zeros_like(x)
    q[1:-1], a[1:-1] = (0.5 * dst(z, type=1, axis=0) for z in (b, -w * w * b))
    v = _cosines(w * b, N)
    return cubic.q + q, cubic.v + v, cubic.a + a


def _cosines(b: Array, N: int) -> Array:
    """Σ_k b_k cos(π k i / (N − 1)) for i = 0 … N − 1."""
    from scipy.fft import dct

    padded = np.zeros((N, *b.shape[1:]))
    padded[1:-1] = 0.5 * b
    return np.asarray(dct(padded, type=1, axis=0))


def _gain(f: Array, cutoff: float | None) -> Array:
    if cutoff is None:
        return np.ones_like(f)
    inside = np.clip((f / cutoff - 1.0) / TAPER, -1.0, 1.0)
    return 0.5 - 0.5 * np.sin(0.5 * np.pi * inside)


def _column(values: Array, x: Array) -> Array:
    return values.reshape(-1, *(1,) * (x.ndim - 1))
