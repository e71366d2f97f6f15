"""Spectral derivatives: exact differentiation of all frequencies up to the cut-off; higher ones are removed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.signals.ends import end_cubic

Array = npt.NDArray[Any]
TAPER = 0.2  # half width of the roll-off, relative to the cut-off


def spectral(x: Array, period: float, cutoff: float | None, *, periodic: bool = False) -> tuple[Array, Array, Array]:
    """Return smoothed positions, velocities and accelerations of (N,) or (N, n).

    ``periodic``: the N samples are whole periods, and the next one would equal the first; then the ends are exact, and so are
    frequencies up to the cut-off. Otherwise the remainder after subtraction of the cubic of the ends, extended by point
    reflection, is a sine series whose coefficients decay with the fifth power.
    """
    if len(x) < 12:
        raise InputError(f"{len(x)} samples are too few for a spectrum, which needs 12; use a longer run")
    return _whole_periods(x, period, cutoff) if periodic else _stretch(x, period, cutoff)


def _whole_periods(x: Array, period: float, cutoff: float | None) -> tuple[Array, Array, Array]:
    N = len(x)
    f = np.fft.rfftfreq(N, period)
    c = np.fft.rfft(x, axis=0)
    # a spectral line at the cut-off belongs to the signal
    c[f > (np.inf if cutoff is None else cutoff * (1.0 + 1e-9))] = 0.0
    jw = _column(2j * np.pi * f, x)
    first = jw * c
    if N % 2 == 0:
        first[-1] = 0.0  # at the Nyquist frequency only the cosine is sampled, whose derivative is zero at the samples
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
    """Return Σ_k b_k cos(π k i / (N − 1)) for i = 0 … N − 1."""
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
