"""Parallel low-pass filter and decimation of regressor and torque.

Filtering both sides of τ = Y π with the same linear filter leaves π unchanged, so noise above the band of the motion can be
removed before the equations are solved. The filter is a symmetric FIR filter: zero phase, finite support, and the same result
wherever a long log is split. Samples are first averaged in small groups, which is cheap and shortens the FIR filter; aliasing
of the averaging affects both sides alike.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.row_sums import row_sums
from dynamis.display import as_call, as_table
from dynamis.errors import InputError

Array = npt.NDArray[Any]
ATTENUATION = 50.0  # dB, in the stop band
TRANSITION = 1.5  # width of the transition band, in cut-off frequencies
AVERAGED = 8.0  # the rate after averaging is at least this many times the cut-off frequency


@dataclass(frozen=True, repr=False)
class Decimation:
    """Low-pass filter at ``cutoff`` Hz for samples every ``period`` s; every ``every``-th output is kept."""

    period: float | None = None
    cutoff: float | None = None
    every: int = 1

    def __post_init__(self) -> None:
        if self.every < 1:
            raise InputError(f"every must be an integer ≥ 1 (one of every `every` filtered rows is kept), got {self.every}")
        if self.cutoff is None:
            return
        if self.period is None:
            raise InputError("a low-pass filter needs the sampling period: pass period=")
        if not 0.0 < self.cutoff < 0.5 / self.period:
            raise InputError(
                f"cutoff must be between 0 and half the sampling rate, {0.5 / self.period:g} Hz; got {self.cutoff!r} Hz"
            )

    @functools.cached_property
    def averaged(self) -> int:
        """Number of samples averaged before the FIR filter."""
        if self.cutoff is None or self.period is None:
            return 1
        most = 1.0 / (AVERAGED * self.cutoff * self.period)
        return max(d for d in range(1, self.every + 1) if self.every % d == 0 and (d <= most or d == 1))

    @functools.cached_property
    def weights(self) -> Array:
        """FIR weights for the averages: a Kaiser-windowed sinc with unit sum."""
        if self.cutoff is None:
            return np.ones(1)
        assert self.period is not None
        width = 2.0 * self.cutoff * self.period * self.averaged  # relative to the Nyquist frequency of the averages
        half = int(np.ceil((ATTENUATION - 7.95) / (2.285 * np.pi * width * TRANSITION) / 2.0))
        k = np.arange(-half, half + 1)
        window = np.kaiser(2 * half + 1, 0.1102 * (ATTENUATION - 8.7))
        weights = np.sinc(width * k) * window
        return weights / weights.sum()

    @functools.cached_property
    def taps(self) -> Array:
        """The weight of each sample in a filtered row."""
        return np.repeat(self.weights, self.averaged) / self.averaged

    @property
    def half(self) -> int:
        """Number of samples before the centre of a row."""
        return len(self.taps) // 2

    def rows(self, samples: int) -> int:
        """Return the number of filtered rows for a number of samples."""
        return max(0, (samples - len(self.taps)) // self.every + 1)

    def centres(self, samples: int) -> Array:
        """Return the index of the centre sample of each row."""
        return self.half + self.every * np.arange(self.rows(samples))

    def middles(self, x: Array) -> Array:
        """Return x at the centre of each row: between two samples if the number of taps is even."""
        at = self.centres(len(x))
        return x[at] if len(self.taps) % 2 else 0.5 * (x[at - 1] + x[at])

    def of(self, x: Array) -> Array:
        """Filter an array whose first axis is time."""
        if len(self.taps) == 1:
            return x[:: self.every]
        flat = np.ascontiguousarray(x, float).reshape(len(x), math.prod(x.shape[1:]))
        out = np.empty((self.rows(len(x)), flat.shape[1]))
        return self.of_means(flat, 1, out).reshape(len(out), *x.shape[1:])

    def of_means(self, x: Array, averaged: int, out: Array) -> Array:
        """Filter rows (N, c) that are already means of ``averaged`` samples, into ``out``."""
        if len(self.taps) == 1:
            out[...] = x[:: self.every]
            return out
        d = self.averaged // averaged
        means = x if d == 1 else np.add.reduce(x[: len(x) - len(x) % d].reshape(-1, d, x.shape[1]), axis=1) / d
        return row_sums(means, self.weights, self.every // self.averaged, out)

    __repr__ = as_call
    _repr_html_ = as_table
