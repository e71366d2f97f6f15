"""Interpolation of samples by cubic splines or lines, and spikes replaced: a few samples far from their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable

Array = npt.NDArray[Any]

FACTOR = 8.0  # threshold relative to the usual deviation
WINDOW = 7  # samples; bursts of up to three are detected
USUAL = 201  # samples over which the usual deviation is estimated
HOP = 25  # samples with the same usual deviation
PASSES = 4  # a large spike may mask its neighbour
GAUSS = 1.4826  # standard deviation over median absolute deviation of normal noise
SHOWN = 6
NEGLIGIBLE = 1e-17  # coefficient of an unknown in the equation of another, relative to its own
FEWEST = 4  # samples of a cubic
COMPARED = 20_000  # samples for which kinds of interpolation are compared


class CubicSpline:
    """The cubic spline through values (N, …) at increasing times (N,), "not a knot" at its ends; straight lines for N < 4.

    >>> t = np.linspace(0.0, 1.0, 11)
    >>> bool(np.allclose(CubicSpline(t, t**3)(np.array([0.05, 0.93])), [0.05**3, 0.93**3]))
    True
    """

    def __init__(self, t: Array, values: Array) -> None:
        self.t, self.shape = t, values.shape[1:]
        self.x = np.asarray(values, float).reshape(len(t), -1)
        self.slopes = self._slopes() if len(t) >= FEWEST else None

    def _slopes(self) -> Array:
        """Return the slopes (N, c) for which the second derivatives are continuous."""
        h = np.diff(self.t)
        rise = np.diff(self.x, axis=0) / h[:, None]
        before, middle, after, right = *np.zeros((3, len(self.t))), np.empty_like(self.x)
        after[1:-1], middle[1:-1], before[1:-1] = h[:-1], 2.0 * (h[:-1] + h[1:]), h[1:]
        right[1:-1] = 3.0 * (h[1:, None] * rise[:-1] + h[:-1, None] * rise[1:])
        for end, beside, (first, second), (near, far) in (
            (0, after, h[:2], rise[:2]),
            (-1, before, h[-1:-3:-1], rise[-1:-3:-1]),
        ):
            # the third derivative is continuous, too, at the sample next to the end
            middle[end], beside[end] = second, first + second
            right[end] = ((first + 2.0 * (first + second)) * second * near + first**2 * far) / (first + second)
        return _tridiagonal(before / middle, after / middle, right / middle[:, None])

    def __call__(self, wanted: Array) -> Array:
        """Return the values at these times (M, …)."""
        if self.slopes is None:
            found = np.stack([np.interp(wanted, self.t, column) for column in self.x.T], axis=1)
            return found.reshape(len(wanted), *self.shape)
        k = np.clip(np.searchsorted(self.t, wanted, side="right") - 1, 0, len(self.t) - 2)
        h = (self.t[k + 1] - self.t[k])[:, None]
        s = (wanted - self.t[k])[:, None] / h
        a, b, da, db = self.x[k], self.x[k + 1], h * self.slopes[k], h * self.slopes[k + 1]
        found = a + s * (da + s * (3.0 * (b - a) - 2.0 * da - db + s * (2.0 * (a - b) + da + db)))
        return np.asarray(found).reshape(len(wanted), *self.shape)


def _tridiagonal(before: Array, after: Array, right: Array) -> Array:
    """Solve before[i] y[i − 1] + y[i] + after[i] y[i + 1] = right[i] by cyclic reduction.

    Every step eliminates the neighbours of each unknown, and relates it to those twice as far away; for a spline their
    coefficients fall quadratically below rounding.
    """
    count, far = len(right), 1
    while far < count and max(np.abs(before).max(), np.abs(after).max()) > NEGLIGIBLE:
        scale = np.ones(count)
        scale[far:] -= before[far:] * after[:-far]
        scale[:-far] -= after[:-far] * before[far:]
        lower, upper, rest = np.zeros(count), np.zeros(count), right.copy()
        lower[far:], upper[:-far] = -before[far:] * before[:-far], -after[:-far] * after[far:]
        rest[far:] -= before[far:, None] * right[:-far]
        rest[:-far] -= after[:-far, None] * right[far:]
        before, after, right, far = lower / scale, upper / scale, rest / scale[:, None], 2 * far
    return right


def interpolation(t: Array, values: Array) -> CubicSpline:
    """Return the interpolation of values (N, …) at increasing times that predicts left-out samples better: lines or a spline.

    A spline is accurate for smooth signals, but amplifies noise at uneven times, where its slopes are those of noise.
    """
    spline = CubicSpline(t, values)
    if len(t) < 4 * FEWEST:
        return spline
    x, some = spline.x[:COMPARED], t[:COMPARED]
    inner = CubicSpline(some[::2], x[::2])
    asked = slice(1, len(some) - 1, 2)
    curved = np.median(np.abs(inner(some[asked]) - x[asked]), axis=0)
    inner.slopes = None
    straight = np.median(np.abs(inner(some[asked]) - x[asked]), axis=0)
    if (np.log(straight + 1e-300) - np.log(curved + 1e-300)).mean() < 0.0:
        spline.slopes = None
    return spline


def stretches(mask: Array) -> list[tuple[int, int]]:
    """Return the first row, and that after the last one, of each stretch where a mask is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


class Repaired(NamedTuple):
    """The signals (N, n) without spikes, the mask (N, n) of these, and notes."""

    values: Array
    spikes: Array
    notes: tuple[str, ...]


def remove_spikes(x: Any, *, names: Sequence[str] = (), rows: Any = None, word: str = "row") -> Repaired:
    """Detect the spikes of each column of (N, n), and replace them by a spline through the other samples.

    A sample is a spike if it is far from the cubic through its four neighbours, relative to the noise, and from the median of
    `WINDOW` samples around it [Hampel 1974]. The first criterion alone would also detect steps, such as those of the torque
    at friction reversals; the second alone the turning points of a fast motion. Non-finite numbers are spikes. ``names`` of the
    columns and row numbers ``rows``, in units of ``word``, are used in the notes.

    >>> x = np.sin(np.arange(300) * 0.05)[:, None]
    >>> x[100] += 0.3
    >>> repaired = remove_spikes(x)
    >>> np.flatnonzero(repaired.spikes).tolist(), bool(abs(repaired.values[100, 0] - np.sin(5.0)) < 1e-6)
    ([100], True)
    """
    signals = np.array(x, dtype=float, order="F")
    if signals.ndim != 2:
        raise InputError(f"signals have shape {signals.shape}; expected one row per sample and one column per joint")
    spikes = ~np.isfinite(signals)
    numbers = np.arange(len(signals)) if rows is None else np.asarray(rows)
    notes = []
    for j in range(signals.shape[1]):
        name = printable(names[j]) if j < len(names) else f"column {j}"
        lost = int(spikes[:, j].sum())
        if lost > len(signals) // 2:
            raise InputError(f"{name}: {lost} of {len(signals)} numbers are not finite; leave the column or these rows out")
        _repair(signals[:, j], spikes[:, j])
        found = np.flatnonzero(spikes[:, j])
        if len(found):
            shown = ", ".join(map(str, numbers[found[:SHOWN]])) + (", …" if len(found) > SHOWN else "")
            counts = ((len(found) - lost, "spike"), (lost, "non-finite value"))
            what = " and ".join(counted(k, noun) for k, noun in counts if k)
            many = "s" if len(found) > 1 else ""
            notes.append(f"{name}: {what} replaced and not used ({word}{many} {shown})")
    return Repaired(signals, spikes, tuple(notes))


def _repair(x: Array, spikes: Array) -> None:
    """Detect the spikes of one signal, the largest of each neighbourhood first, and replace them in place."""
    _interpolate(x, spikes)
    if len(x) < WINDOW:
        return
    for _ in range(PASSES):
        off = np.abs(_from_neighbours(x))
        if 2 * np.count_nonzero(FACTOR * GAUSS * off >= off.max()) > len(off):
            return  # even the largest is usual: the median is among those counted
        usual, resolution = float(np.median(off)), _resolution(x)
        at = np.flatnonzero((off > FACTOR * GAUSS * usual + resolution) & ~spikes)
        limit = FACTOR * GAUSS * np.maximum(_usual(off, at), usual) + resolution
        apart = np.abs(x[at] - np.median(np.pad(x, WINDOW // 2, mode="edge")[at[:, None] + np.arange(WINDOW)], axis=1))
        at = at[(off[at] > limit) & (apart > np.maximum(limit, 0.5 * off[at]))]
        if not len(at):
            return
        far = np.zeros(len(x) + 4)
        far[at + 2] = off[at]
        spikes[at[off[at] >= far[at[:, None] + np.arange(5)].max(axis=1)]] = True
        _interpolate(x, spikes)


def _usual(off: Array, at: Array) -> Array:
    """Return the median of the samples around each of those ``at``; those in the same part of the signal have the same."""
    part, place = np.unique(at // HOP, return_inverse=True)
    first = np.clip(HOP * part + HOP // 2 - USUAL // 2, 0, max(len(off) - USUAL, 0))
    return np.median(off[first[:, None] + np.arange(min(USUAL, len(off)))], axis=1)[place]


def _from_neighbours(x: Array) -> Array:
    """Return x minus the cubic through two samples before and two after; zero at the ends."""
    result = np.zeros_like(x)
    result[2:-2] = x[2:-2] - (4.0 * (x[1:-3] + x[3:-1]) - x[:-4] - x[4:]) / 6.0
    return result


def _resolution(x: Array) -> float:
    """Return differences within the resolution of an encoder or of the digits of a file."""
    steps = np.abs(np.diff(x))
    steps = steps[steps > 0.0]
    return 3.0 * float(steps.min()) + 1e-12 * float(np.ptp(x)) if len(steps) else 0.0


def _interpolate(x: Array, bad: Array) -> None:
    if not bad.any():
        return
    good, wanted = np.flatnonzero(~bad), np.flatnonzero(bad)
    inside = (wanted > good[0]) & (wanted < good[-1])
    x[wanted[inside]] = CubicSpline(good, x[good])(wanted[inside])
    x[: good[0]], x[good[-1] + 1 :] = x[good[0]], x[good[-1]]


def filled(x: Array | None) -> Array | None:
    """Return slow signals (N, n) interpolated where they are not finite, since they are often logged at a lower rate than
    positions; None if some column has no finite value.

    >>> filled(np.array([[20.0], [np.nan], [21.0]])).ravel()
    array([20. , 20.5, 21. ])
    """
    if x is None or not np.isfinite(x).any(axis=0).all():
        return None
    at = np.arange(len(x))
    return np.column_stack([np.interp(at, at[known], c[known]) for c, known in zip(x.T, np.isfinite(x).T, strict=True)])
