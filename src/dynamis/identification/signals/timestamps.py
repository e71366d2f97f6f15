"""Detection and repair of errors in time stamps, each with a note.

All functions take stamps ``t`` (N,) and row numbers; ``h`` is the sampling period.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SAME = 1e-3  # periods: closer stamps are equal
BURSTS = 1.5  # ratio of the mean to the median step above which samples come in bursts
BURST = 50  # samples: a delay may be caught up within as many
SHOWN = 6  # rows listed in a note


def first_period(t: Array, coarse: bool, notes: list[str]) -> tuple[float, bool]:
    """Return the period, and whether single steps do not show missing samples, so that rows are assumed consecutive."""
    steps = np.diff(t)
    ahead = steps[steps > 0.0]
    step = float(np.median(ahead)) if len(ahead) else 0.0
    span = min(BURST, len(t) - 1)
    rate = float(np.median(t[span:] - t[:-span])) / span
    if coarse or (rate > BURSTS * step and not (steps == 0.0).any()):
        # slope of all stamps over their indices, without the gaps
        even = np.cumsum(np.where(np.abs(steps) > BURST * rate, rate, steps))
        rate = float(np.polynomial.polynomial.polyfit(np.arange(len(even)), even, 1)[1])
        why = "too coarse for the sampling (many rows share one)" if coarse else "in bursts"
        notes.append(f"stamps {why}: period {rate:.6g} s from their average rate; single missing samples are not detectable")
        return rate, True
    return step, False


def strays_restamped(t: Array, rows: Array, h: float, gap: float, notes: list[str]) -> Array:
    """Replace a stamp far off between two that are two periods apart, unless a sample is missing at its time."""
    s = t[rows]
    apart = s[2:] - s[:-2]
    middle = 0.5 * (s[2:] + s[:-2])
    stray = (np.abs(apart - 2.0 * h) < 0.5 * h) & (np.abs(s[1:-1] - middle) > gap * h)
    if not stray.any():
        return t
    ordered = np.sort(s)
    place = np.searchsorted(ordered, s[1:-1])
    room = ordered[np.minimum(place + 1, len(s) - 1)] - ordered[np.maximum(place - 1, 0)]
    stray &= (room < 1.5 * h) | (room > (gap + 1.5) * h)
    if not stray.any():
        return t
    t = t.copy()
    at = rows[1:-1][stray]
    t[at] = middle[stray]
    notes.append(f"stamps out of order replaced by the mean of their neighbours: {which(at)}")
    return t


def in_parts(t: Array, rows: Array, h: float, gap: float, notes: list[str]) -> list[Array]:
    """Return the rows in order, split where the clock was set back and at long gaps."""
    back = np.flatnonzero(np.diff(t[rows]) < 0.0) + 1
    cuts, shuffled, seen, latest = [], [], 0, -np.inf
    for k in back:
        latest = max(latest, t[rows[seen:k]].max())
        behind = t[rows[k : k + int(gap) + 1]] <= latest
        if behind.all() and t[rows[k]] < latest - gap * h:
            cuts.append(int(k))
            latest = -np.inf
        elif t[rows[k]] < latest:
            shuffled.append(rows[k])
        seen = int(k)
    if shuffled:
        notes.append(f"rows out of order sorted: {which(shuffled)}")
    if cuts:
        notes.append(f"the clock was set back, a new run starts: {which(rows[cuts])}")
    parts = []
    for part in np.split(rows, cuts):
        ordered = part[np.argsort(t[part], kind="stable")]
        long = _gaps(t[ordered], h, gap)
        if len(long):
            lost = sum(round(d / h) - 1 for d in np.diff(t[ordered])[long - 1])
            notes.append(f"gaps of more than {gap:g} periods, {lost} samples in total, start new runs: {which(ordered[long])}")
        parts += np.split(ordered, long)
    return parts


def _gaps(s: Array, h: float, gap: float) -> Array:
    """Return where more samples are missing than allowed; a pause before a burst that catches up is not a gap."""
    far = np.flatnonzero(np.diff(s) > (gap + 0.5) * h) + 1
    late = s - h * np.arange(len(s))
    missing = [late[k : k + BURST].mean() - late[max(k - BURST, 0) : k].mean() for k in far]
    return far[np.array(missing) > gap * h] if len(far) else far


def without_duplicates(t: Array, parts: list[Array], h: float, repeats: Array, notes: list[str]) -> tuple[list[Array], int]:
    """Return the parts without rows that ``repeats`` the previous one with the same stamp, and their number."""
    kept, twice = [], []
    for part in parts:
        again = np.concatenate([[False], np.diff(t[part]) < SAME * h]) & repeats[part]
        twice += list(part[again])
        kept.append(part[~again])
    if twice:
        notes.append(f"rows with the stamp of the previous one dropped: {which(twice)}")
    return kept, len(twice)


def refined(parts: list[Array], h: float) -> float:
    """Refine the period over longer and longer spans: each determines the number of periods of the next one.

    Only the fractional part is used, averaged as an angle, since samples may be missing in any span.
    """
    span = 1
    while any(len(s) > 2 * span for s in parts):
        periods = np.concatenate([s[span:] - s[:-span] for s in parts if len(s) > span]) / h
        z = np.exp(2j * np.pi * periods).mean()
        if abs(z) < max(0.05, 5.0 / np.sqrt(len(periods))):
            break  # the stamps drift too much
        h *= 1.0 + float(np.angle(z)) / (2.0 * np.pi * periods.mean())
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


def which(rows: Any) -> str:
    """Return rows for a note: their number and the first of them."""
    numbers = [int(k) for k in rows]
    shown = ", ".join(map(str, numbers[:SHOWN])) + (", …" if len(numbers) > SHOWN else "")
    return f"{len(numbers)} row{'s' if len(numbers) > 1 else ''} ({shown})"
