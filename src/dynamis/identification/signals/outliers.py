"""Spikes: single samples, or a few in a row, that lie where neither a motion nor a torque can have been."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable

Array = npt.NDArray[Any]

FACTOR = 8.0  # times the usual deviation from a neighbourhood
WINDOW = 7  # samples; bursts of up to three are found
USUAL = 201  # samples, over which "usual" is judged
PASSES = 4  # a large spike may hide its neighbour
GAUSS = 1.4826  # standard deviation of normal noise over its median deviation
SHOWN = 6


class Repaired(NamedTuple):
    """The signals (N, n) without spikes, where these were (N, n), and sentences that say so."""

    values: Array
    spikes: Array
    notes: tuple[str, ...]


def remove_spikes(
    x: Any, *, factor: float = FACTOR, window: int = WINDOW, names: Sequence[str] = (), rows: Any = None
) -> Repaired:
    """Spikes of each column of (N, n) found, and replaced by a spline through the other samples.

    A sample is a spike if it is far from the cubic through its four neighbours, as its noise goes, and as far from the median
    of ``window`` samples around it [Hampel 1974]. The first alone would take steps for spikes, such as the torque's where
    friction changes sign; the second alone the turning points of a fast motion. Numbers that are not finite are spikes.
    ``names`` of the columns and the numbers of the ``rows`` are for the notes.

    >>> x = np.sin(np.arange(300) * 0.05)[:, None]
    >>> x[100] += 0.3
    >>> repaired = remove_spikes(x)
    >>> np.flatnonzero(repaired.spikes).tolist(), bool(abs(repaired.values[100, 0] - np.sin(5.0)) < 1e-6)
    ([100], True)
    """
    signals = np.array(x, dtype=float)
    if signals.ndim != 2:
        raise InputError(f"signals have shape {signals.shape}; they take one row a sample and one column a joint")
    if isinstance(window, bool) or window < 5 or window % 2 == 0:
        raise InputError(f"window={window!r} must be an odd number of samples from 5")
    spikes = ~np.isfinite(signals)
    numbers = np.arange(len(signals)) if rows is None else np.asarray(rows)
    notes = []
    for j in range(signals.shape[1]):
        name = printable(names[j]) if j < len(names) else f"column {j}"
        lost = int(spikes[:, j].sum())
        if lost > len(signals) // 2:
            raise InputError(f"{name}: {lost} of {len(signals)} numbers are not finite; leave the column or these rows out")
        _repair(signals[:, j], spikes[:, j], factor, window)
        found = np.flatnonzero(spikes[:, j])
        if len(found):
            shown = ", ".join(map(str, numbers[found[:SHOWN]])) + (", …" if len(found) > SHOWN else "")
            what = f", {lost} of them not finite" if lost else ""
            notes.append(
                f"{name}: {len(found)} spike{'s' if len(found) > 1 else ''}{what} replaced and not used (rows {shown})"
            )
    return Repaired(signals, spikes, tuple(notes))


def _repair(x: Array, spikes: Array, factor: float, window: int) -> None:
    """Find the spikes of one signal, the largest of each neighbourhood first, and replace them, in place."""
    from scipy.ndimage import maximum_filter1d, median_filter

    _interpolate(x, spikes)
    if len(x) < window:
        return
    for _ in range(PASSES):
        off = np.abs(_from_neighbours(x))
        usual = np.maximum(median_filter(off, USUAL, mode="nearest"), np.median(off))
        limit = factor * GAUSS * usual + _resolution(x)
        apart = np.abs(x - median_filter(x, window, mode="nearest"))
        far = np.where((off > limit) & (apart > np.maximum(limit, 0.5 * off)) & ~spikes, off, 0.0)
        new = (far > 0.0) & (far >= maximum_filter1d(far, 5))
        if not new.any():
            return
        spikes |= new
        _interpolate(x, spikes)


def _from_neighbours(x: Array) -> Array:
    """x minus the cubic through two samples before and two after; at the ends, where there are not as many, nothing."""
    result = np.zeros_like(x)
    result[2:-2] = x[2:-2] - (4.0 * (x[1:-3] + x[3:-1]) - x[:-4] - x[4:]) / 6.0
    return result


def _resolution(x: Array) -> float:
    """Differences that an encoder or the digits of a file may leave."""
    steps = np.abs(np.diff(x))
    steps = steps[steps > 0.0]
    return 3.0 * float(steps.min()) + 1e-12 * float(np.ptp(x)) if len(steps) else 0.0


def _interpolate(x: Array, bad: Array) -> None:
    from scipy.interpolate import CubicSpline

    if not bad.any():
        return
    good, wanted = np.flatnonzero(~bad), np.flatnonzero(bad)
    inside = (wanted > good[0]) & (wanted < good[-1])
    x[wanted[inside]] = CubicSpline(good, x[good])(wanted[inside])
    x[: good[0]], x[good[-1] + 1 :] = x[good[0]], x[good[-1]]
