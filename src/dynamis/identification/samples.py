"""Samples for identification, positions, velocities, accelerations and torques at the same instants, and their filter.

Filtering both sides of τ = Y π with the same linear filter leaves π unchanged, so noise above the band of the motion can be
removed before the equations are solved. The filter is a symmetric FIR filter: zero phase, finite support, and the same result
wherever a long log is split. Samples are first averaged in small groups, which is cheap and shortens the FIR filter; aliasing
of the averaging affects both sides alike.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.row_sums import row_sums
from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError, printable

Array = npt.NDArray[Any]
ATTENUATION = 50.0  # dB, in the stop band
TRANSITION = 1.5  # width of the transition band, in cut-off frequencies
AVERAGED = 8.0  # the rate after averaging is at least this many times the cut-off frequency


@dataclass(frozen=True, eq=False)
class Samples:
    """One uninterrupted run at a constant sampling period.

    ``use`` (N, n) is a mask of the torques to use: leave out a joint that hardly moves, since its Coulomb friction is then
    unknown. ``parallel`` is the cut-off frequency in Hz of a low-pass filter applied to both regressor and torque, of which
    every ``every``-th row is kept; with ``smooth_torque`` the logged torque was already filtered, and only the regressor is.
    ``period`` is None for unrelated instants. ``temperature`` (N, n) is that of the joints in °C, if measured.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    use: Array
    period: float | None = None
    parallel: float | None = None
    every: int = 1
    smooth_torque: bool = False
    source: str = ""
    temperature: Array | None = None

    @classmethod
    def of(
        cls,
        q: Any,
        v: Any,
        a: Any,
        tau: Any,
        *,
        t: Any = None,
        use: Any = None,
        period: float | None = None,
        parallel: float | None = None,
        every: int = 1,
        smooth_torque: bool = False,
        source: str = "",
        temperature: Any = None,
    ) -> Samples:
        """Return samples from arrays with one row per instant; all values must be finite.

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("ur5e")
        >>> rng = np.random.default_rng(0)
        >>> q, v, a = rng.normal(size=(3, 100, 6))
        >>> len(dy.identification.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a), period=0.01))
        100
        """
        whose = f" of {printable(source)}" if source else ""
        arrays = {}
        given = {"q": q, "v": v, "a": a, "tau": tau} | ({} if temperature is None else {"temperature": temperature})
        for name, value in given.items():
            array = np.asarray(value, float)
            if array.ndim != 2:
                raise InputError(
                    f"{name}{whose} has shape {array.shape}; expected one row per instant and one column per joint"
                )
            if len(bad := not_finite(array)):
                (row, column), count = bad[0], len(bad)
                found = array[row, column]
                raise InputError(
                    f"{name}[{row}, {column}]{whose} is {found} ({count} such values): leave these rows out or repair them"
                )
            arrays[name] = array
        count, joints = arrays["tau"].shape
        for name, array in arrays.items():
            if len(array) != count:
                raise InputError(f"{name}{whose} has {counted(len(array), 'row')}, but tau has {count}; they must be equal")
            if name != "q" and array.shape[1] != joints:
                raise InputError(
                    f"{name}{whose} has {counted(array.shape[1], 'column')}, but tau has {joints}; expected one per joint"
                )
        if period is not None and not 0.0 < period < np.inf:
            raise InputError(f"the sampling period{whose} must be above zero, got {period!r} s")
        if every < 1 or int(every) != every:
            raise InputError(f"every{whose} must be an integer ≥ 1 (one of every `every` filtered rows is kept), got {every!r}")
        if parallel is not None and period is None:
            raise InputError("a low-pass filter needs the sampling period: pass period=")
        times = np.arange(count) * (period or 1.0) if t is None else np.asarray(t, float)
        if times.shape != (count,):
            raise InputError(f"t{whose} has shape {times.shape}; expected one time for each of the {counted(count, 'row')}")
        if not np.isfinite(times).all():
            row = int(np.flatnonzero(~np.isfinite(times))[0])
            raise InputError(f"t[{row}]{whose} is {times[row]}: leave this row out or repair it")
        used = np.ones((count, joints), bool) if use is None else np.asarray(use, bool)
        if used.shape != (count, joints):
            raise InputError(f"use{whose} has shape {used.shape}; expected one boolean per torque, {(count, joints)}")
        return cls(
            times, **arrays, use=used, period=period, parallel=parallel, every=int(every), smooth_torque=smooth_torque,
            source=source,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, rows: slice) -> Samples:
        """Return a slice of the run."""
        if not isinstance(rows, slice):
            raise InputError(f"samples are indexed by slices, such as samples[100:200], not by {type(rows).__name__}")
        cut = {f.name: getattr(self, f.name)[rows] for f in fields(self) if isinstance(getattr(self, f.name), np.ndarray)}
        step = abs(rows.step or 1)
        return replace(self, **cut, period=self.period if self.period is None else self.period * step)

    def __repr__(self) -> str:
        rate = "" if self.period is None else f" at {1.0 / self.period:g} Hz"
        whose = f" of {printable(self.source)}" if self.source else ""
        return f"<Samples{whose}: {counted(len(self), 'sample')} of {counted(self.tau.shape[1], 'joint')}{rate}>"

    _repr_html_ = as_table


def not_finite(x: Array) -> Array:
    """Return the indices (count, axes) of non-finite values; the sum is a fast check for the usual case of none."""
    with np.errstate(over="ignore", invalid="ignore"):
        fine = bool(np.isfinite(x.sum()))
    return np.empty((0, x.ndim), int) if fine else np.argwhere(~np.isfinite(x))


def as_runs(samples: Samples | Sequence[Samples]) -> list[Samples]:
    """Return one or several runs as a list."""
    runs = [samples] if isinstance(samples, Samples) else list(samples)
    for run in runs:
        if not isinstance(run, Samples):
            raise InputError(f"samples must be Samples or a list of Samples, got {type(run).__name__}")
    if not runs:
        raise InputError("no samples given")
    return runs


def means(x: Array, d: int) -> Array:
    """Return the means of d successive rows of x (N, c)."""
    count = len(x) // d
    return x if d == 1 else row_sums(np.ascontiguousarray(x), np.full(d, 1.0 / d), d, np.empty((count, x.shape[1])))


@functools.lru_cache(maxsize=64)
def windowed_sinc(width: float) -> Array:
    """Return the weights of a Kaiser-windowed low-pass filter, its cut-off relative to the Nyquist frequency, with unit sum."""
    half = int(np.ceil((ATTENUATION - 7.95) / (2.285 * np.pi * width * TRANSITION) / 2.0))
    k = np.arange(-half, half + 1)
    weights = np.sinc(width * k) * np.kaiser(2 * half + 1, 0.1102 * (ATTENUATION - 8.7))
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


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
        """FIR weights for the averages, with unit sum."""
        if self.cutoff is None:
            return np.ones(1)
        assert self.period is not None
        return windowed_sinc(2.0 * self.cutoff * self.period * self.averaged)

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
        row_sums(means(flat, self.averaged), self.weights, self.every // self.averaged, out)
        return out.reshape(len(out), *x.shape[1:])

    __repr__ = as_call
    _repr_html_ = as_table
