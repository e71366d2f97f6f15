"""The low-pass that regressor and torque go through alike, and the rows that are kept of it.

What a linear filter does to both sides of τ = Y π leaves π as it is, so the noise above the motion's band can be taken away
before the equations are solved. The filter is a symmetric finite one: no phase, nothing from beyond its length, the same
result wherever a long log is cut. It averages a few samples first, which costs next to nothing and makes the rest shorter; what
that lets through of higher frequencies it lets through on both sides.
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
ATTENUATION = 50.0  # dB, of what lies beyond the transition
TRANSITION = 1.5  # width of the fall from 1 to nothing, in cut-offs
AVERAGED = 8.0  # samples are first averaged down to no less than this many times the cut-off


@dataclass(frozen=True, repr=False)
class Decimation:
    """A low-pass at ``cutoff`` Hz on samples every ``period`` s, of which every ``every``-th result is kept."""

    period: float | None = None
    cutoff: float | None = None
    every: int = 1

    def __post_init__(self) -> None:
        if self.every < 1:
            raise InputError(f"every must be 1 or more: of the filtered rows, every how many are kept; got {self.every}")
        if self.cutoff is None:
            return
        if self.period is None:
            raise InputError("a low-pass needs to know the sampling period: give period=")
        if not 0.0 < self.cutoff < 0.5 / self.period:
            raise InputError(
                f"the cut-off must lie between 0 and half the sampling rate, {0.5 / self.period:g} Hz; got {self.cutoff!r} Hz"
            )

    @functools.cached_property
    def averaged(self) -> int:
        """How many samples are averaged before the filter proper, which then is as much shorter."""
        if self.cutoff is None or self.period is None:
            return 1
        most = 1.0 / (AVERAGED * self.cutoff * self.period)
        return max(d for d in range(1, self.every + 1) if self.every % d == 0 and (d <= most or d == 1))

    @functools.cached_property
    def weights(self) -> Array:
        """Of the averages: a sinc under Kaiser's window, of sum one."""
        if self.cutoff is None:
            return np.ones(1)
        assert self.period is not None
        width = 2.0 * self.cutoff * self.period * self.averaged  # as a share of half the rate of the averages
        half = int(np.ceil((ATTENUATION - 7.95) / (2.285 * np.pi * width * TRANSITION) / 2.0))
        k = np.arange(-half, half + 1)
        window = np.kaiser(2 * half + 1, 0.1102 * (ATTENUATION - 8.7))
        weights = np.sinc(width * k) * window
        return weights / weights.sum()

    @functools.cached_property
    def taps(self) -> Array:
        """The weight of each sample in a row."""
        return np.repeat(self.weights, self.averaged) / self.averaged

    @property
    def half(self) -> int:
        """Samples before the one a row stands for."""
        return len(self.taps) // 2

    def rows(self, samples: int) -> int:
        """How many rows come of so many samples."""
        return max(0, (samples - len(self.taps)) // self.every + 1)

    def centres(self, samples: int) -> Array:
        """The sample each row stands for."""
        return self.half + self.every * np.arange(self.rows(samples))

    def middles(self, x: Array) -> Array:
        """x in the middle of what each row is made of: between two samples, if it is made of an even number."""
        at = self.centres(len(x))
        return x[at] if len(self.taps) % 2 else 0.5 * (x[at - 1] + x[at])

    def of(self, x: Array) -> Array:
        """The filtered rows of an array whose first axis is time."""
        if len(self.taps) == 1:
            return x[:: self.every]
        flat = np.ascontiguousarray(x, float).reshape(len(x), math.prod(x.shape[1:]))
        out = np.empty((self.rows(len(x)), flat.shape[1]))
        return self.of_means(flat, 1, out).reshape(len(out), *x.shape[1:])

    def of_means(self, x: Array, averaged: int, out: Array) -> Array:
        """The same, into ``out``, of rows (N, c) each of which is already the mean of ``averaged`` samples."""
        if len(self.taps) == 1:
            out[...] = x[:: self.every]
            return out
        d = self.averaged // averaged
        means = x if d == 1 else np.add.reduce(x[: len(x) - len(x) % d].reshape(-1, d, x.shape[1]), axis=1) / d
        return row_sums(means, self.weights, self.every // self.averaged, out)

    __repr__ = as_call
    _repr_html_ = as_table
