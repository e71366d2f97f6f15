"""Measurements of runs, reduced to the few samples that checks of a log need."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.samples import Decimation, Samples, means
from dynamis.identification.signals.outliers import CubicSpline

Array = npt.NDArray[Any]
FINE, ROWS = 20.0, 5.0  # samples and filtered rows per period of the filter
MOST_SAMPLES = 20_000  # of a long log
MOST_ROWS = 4000  # more rows do not improve the few fitted numbers


@dataclass(frozen=True, eq=False)
class MotionSummary:
    """Measurements of runs: the time and the run of each row, and the low-pass filter of each run for both sides of a fit.

    ``motors`` are the velocities and accelerations of the motors, where springs lie between them and the links.
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    t: Array
    run: Array
    filters: tuple[Decimation, ...]
    temperature: Array | None = None
    motors: tuple[Array, Array] | None = None

    def filtered(self, x: Array) -> Array:
        """Filter an array with one row per sample, run by run."""
        if len(self.filters) == 1:
            return self.filters[0].of(np.asarray(x))
        return np.concatenate([keep.of(np.asarray(x)[self.run == k]) for k, keep in enumerate(self.filters)])

    @functools.cached_property
    def torque(self) -> Array:
        """The filtered torques (rows, n)."""
        return self.filtered(self.tau)

    @functools.cached_property
    def friction(self) -> Array:
        """The filtered velocities, their signs (smooth below a twentieth of their RMS) and accelerations (rows, n, 3)."""
        slow = 0.05 * np.sqrt(np.mean(self.v**2, axis=0)) + 1e-12
        return np.stack([self.filtered(x) for x in (self.v, np.tanh(self.v / slow), self.a)], axis=-1)

    def changed(self, change: Callable[[Array], Array], *, motion: bool, torque: bool) -> MotionSummary:
        """Return the measurements with their columns (rows, n) multiplied by factors or reordered by ``change``.

        Filters act on single columns, so what was filtered is changed instead of filtered again.
        """
        q, v, a = (change(x) for x in (self.q, self.v, self.a)) if motion else (self.q, self.v, self.a)
        other = replace(self, q=q, v=v, a=a, tau=change(self.tau) if torque else self.tau)
        friction = np.stack([change(self.friction[..., k]) for k in range(3)], axis=-1) if motion else self.friction
        vars(other).update(torque=change(self.torque) if torque else self.torque, friction=friction)
        return other

    def moved(self, zeros: Array) -> MotionSummary:
        """Return the measurements with these zeros (n,) added to the positions."""
        if not zeros.any():
            return self
        other = replace(self, q=self.q + zeros)
        vars(other).update(torque=self.torque, friction=self.friction)
        return other

    def faster(self, factor: float) -> MotionSummary:
        """Return the measurements with velocities multiplied by a factor, and accelerations by its square."""
        other = replace(self, v=self.v * factor, a=self.a * factor**2)
        vars(other).update(torque=self.torque)
        return other

    @property
    def rows(self) -> Array:
        """The index of the sample at the centre of each filtered row."""
        places = [np.flatnonzero(self.run == k) for k in range(len(self.filters))]
        return np.concatenate([at[keep.centres(len(at))] for at, keep in zip(places, self.filters, strict=True)])

    def thinned(self, most: int) -> MotionSummary:
        """Return the motion with about this many rows, the same object for the same number."""
        known = vars(self).setdefault("_thinned", {})
        if most not in known:
            step = len(self.torque) // most
            known[most] = self if step < 2 else self._thinned_by(step)
        return known[most]

    def _thinned_by(self, step: int) -> MotionSummary:
        if any(keep.cutoff for keep in self.filters):
            return replace(self, filters=tuple(replace(keep, every=step * keep.every) for keep in self.filters))
        q, v, a, tau, t, run = (x[::step] for x in (self.q, self.v, self.a, self.tau, self.t, self.run))
        return MotionSummary(q, v, a, tau, t, run, self.filters, None if self.temperature is None else self.temperature[::step])

    @property
    def runs(self) -> Iterator[Samples]:
        """The samples of each run, with its filter."""
        for k, keep in enumerate(self.filters):
            own = slice(None) if len(self.filters) == 1 else self.run == k
            t, q, v, a, tau = (x[own] for x in (self.t, self.q, self.v, self.a, self.tau))
            warm = None if self.temperature is None else self.temperature[own]
            use = np.ones(tau.shape, bool)
            yield Samples(t, q, v, a, tau, use, keep.period, keep.cutoff, keep.every, temperature=warm)

    def later(self, delays: Array) -> Array:
        """Return the filtered torques (rows, n, k) logged later by k delays, interpolated after the filter; NaN beyond runs."""
        parts = []
        for run, keep in zip(self.runs, self.filters, strict=True):
            fine = replace(keep, every=keep.averaged)
            t, at = fine.of(run.t[:, None])[:, 0], keep.of(run.t[:, None]) + delays
            found = CubicSpline(t, fine.of(run.tau))(np.clip(at, t[0], t[-1]).reshape(-1))
            inside = (at >= t[0]) & (at <= t[-1])
            parts.append(np.where(inside[..., None], found.reshape(*at.shape, -1), np.nan).transpose(0, 2, 1))
        return np.concatenate(parts)

    def deflected(self, torque: Array, joints: Array, coordinates: Array) -> MotionSummary:
        """Return the motion behind springs with these compliances, of the joints (n,) of torques and of the coordinates of q,
        which a torque (samples, n) deflects: q − C τ, with its derivatives by differences."""
        own, at = np.flatnonzero(joints), np.flatnonzero(coordinates)
        q, v, a = self.q.copy(), self.v.copy(), self.a.copy()
        for k in range(len(self.filters)):
            run = np.flatnonzero(self.run == k)
            x = joints[own] * torque[np.ix_(run, own)]
            q[np.ix_(run, at)] -= x
            for motion in (v, a) if len(run) > 1 else ():
                x = np.gradient(x, self.t[run], axis=0)
                motion[np.ix_(run, own)] -= x
        return replace(self, q=q, v=v, a=a, motors=self.motors or (self.v, self.a))

    def shifted(self, seconds: float) -> Array:
        """Return the torques logged this much later."""
        later = self.tau.copy()
        for run, spline in self._splines.items():
            t = self.t[self.run == run]
            later[self.run == run] = spline(np.clip(t + seconds, t[0], t[-1]))
        return later

    @functools.cached_property
    def _splines(self) -> dict[int, Any]:
        runs = [k for k in range(len(self.filters)) if np.count_nonzero(self.run == k) > 3]
        return {k: CubicSpline(self.t[self.run == k], self.tau[self.run == k]) for k in runs}


def summary(runs: Sequence[Samples], most: int = MOST_SAMPLES) -> tuple[MotionSummary, Array]:
    """Return runs reduced to about `MOST_ROWS` samples with the filters of their equations, and the index of each sample.

    Of a long log the first ``most`` samples are kept.
    Samples are averaged in groups far shorter than a period of the filter; without a filter, one in so many is kept.
    """
    total = sum(len(run.tau) for run in runs)
    warm = all(getattr(run, "temperature", None) is not None for run in runs)
    parts: list[list[Array]] = []
    filters: list[Decimation] = []
    before = kept = 0
    for run in runs:
        cutoff, period = getattr(run, "parallel", None), getattr(run, "period", None)
        arrays = [np.asarray(x, float) for x in (run.q, run.v, run.a, run.tau, np.asarray(run.t)[:, None])]
        arrays.append(np.asarray(run.temperature) if warm else np.zeros((len(run.tau), 0)))
        index = np.arange(before, before + len(run.tau))
        before += len(run.tau)
        if cutoff is None or period is None:
            step = max(1, total // MOST_ROWS)
            reduced, keep = [x[::step] for x in arrays], Decimation()
            index = index[::step]
        else:
            step = max(1, int(1.0 / (FINE * cutoff * period)))
            count = len(index) // step
            reduced = [means(x, step) for x in arrays]
            index = index[: count * step : step] + step // 2
            keep = Decimation(step * period, cutoff, max(1, int(FINE / ROWS)))
        if keep.rows(count := min(len(index), most - kept)):
            parts.append([x[:count] for x in (*reduced, np.full(len(index), len(filters)), index)])
            filters.append(keep)
            kept += count
    q, v, a, tau, t, temperature, number, rows = (np.concatenate(x) for x in zip(*parts, strict=True))
    return MotionSummary(q, v, a, tau, t[:, 0], number, tuple(filters), temperature if warm else None), rows
