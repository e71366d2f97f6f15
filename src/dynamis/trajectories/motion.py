"""Motions: positions, velocities and accelerations as functions of time.

There are two classes. `Polynomials` are piecewise polynomials, used for profiles, splines and geometric paths. `PathMotion`
is a piecewise polynomial path with a time law s(t).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted, motion_card, plotted, short
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.robot.checks import check_count
from dynamis.scalar import Node, maximum, minimum, where
from dynamis.tolerances import SHORTEST_PIECE
from dynamis.trajectories.files import save

Array = npt.NDArray[Any]
State = tuple[Any, Any, Any]


class Motion(ABC):
    """Positions, velocities and accelerations from time 0 to ``duration``; at rest before and after.

    ``status`` describes how the motion was computed, ``measured`` has the corresponding numbers.
    """

    status: str
    measured: Mapping[str, float]

    @property
    @abstractmethod
    def duration(self) -> float:
        """Duration, in s."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(n,) for n joints, () for one variable."""

    @property
    @abstractmethod
    def breaks(self) -> Array:
        """Break points between which the motion is smooth, from 0 to the end."""

    @abstractmethod
    def inside(self, t: Any) -> State:
        """(q, v, a) at a time between start and end, without checks."""

    def at(self, t: Any) -> State:
        """(q, v, a) at a time, at many times (…) → (…, n), or at a symbolic time.

        Before the start and after the end q is constant, v and a are zero.
        """
        t = checked_time(t)
        if isinstance(t, float) and 0.0 <= t <= self.duration:
            return self.inside(t)
        q, v, a = self.inside(minimum(maximum(t, 0.0), self.duration))
        v, a = (_at_rest_outside(t, self.duration, x, len(self.shape)) for x in (v, a))
        return q, v, a

    def sample(self, count: int = 201) -> tuple[Array, Array, Array, Array]:
        """(t, q, v, a) at evenly spaced times from start to end."""
        check_count("count", count, 1)
        t = np.linspace(0.0, self.duration, count)
        return (t, *self.at(t))

    def plot(self, path: str | os.PathLike[str] | None = None, *, robot: Robot | None = None) -> Any:
        """Plot positions, velocities and accelerations, and write the figure to ``path`` if given.

        With a robot, the plot has joint names, limits, and the torques from inverse dynamics.
        """
        return plotted("motion", self, path, robot)

    def save(self, path: str | os.PathLike[str], *, robot: Robot | None = None, samples: int = 1001) -> Path:
        """Write evenly spaced times, q, v and a as .csv or .npz; with a robot the columns have the names of its joints.

        `dynamis id --states` and `dynamis collide --states` read these files.
        """
        return save(self.sample(samples), path, robot)

    def __repr__(self) -> str:
        what = counted(self.shape[0], "joint") if self.shape else "one variable"
        return short(f"<{type(self).__name__}: {what}, {self.duration:.6g} s{'; ' + self.status if self.status else ''}>")

    def _repr_html_(self) -> str:
        return motion_card(self)


@dataclass(frozen=True, eq=False, repr=False)
class Polynomials(Motion):
    """Polynomials between breaks: q = Σ c_k (t − start of the piece)ᵏ.

    ``times`` (pieces + 1) begins with 0; ``coefficients`` is (pieces, degree + 1) for one number, (pieces, degree + 1, n) for
    n joints, constant term first.
    """

    times: Array
    coefficients: Array
    status: str = ""
    measured: Mapping[str, float] = field(default_factory=dict)

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.coefficients.shape[2:])

    @property
    def breaks(self) -> Array:
        return self.times

    def inside(self, t: Any) -> State:
        if isinstance(t, Node):
            start, rows = (value_of_piece(t, self.times, values) for values in (self.times[:-1], self.coefficients))
            return _horner(t - start, list(rows))
        if isinstance(t, float):
            piece = bisect_right(self._inner_times, t)
            return _at_number(t - self.times[piece], self.coefficients[piece])
        return self.on_pieces(t, np.searchsorted(self.times[1:-1], t, side="right"))

    @cached_property
    def _inner_times(self) -> list[float]:
        return list(self.times[1:-1].tolist())

    def on_pieces(self, t: Any, piece: Any) -> State:
        """(q, v, a) of given pieces, which need not contain the times: at a break, either side can be evaluated."""
        c = self.coefficients[piece]
        degree = c.ndim - 1 - len(self.shape)
        return _horner(_expanded(t - self.times[piece], len(self.shape)), list(np.moveaxis(c, degree, 0)))

    def derivative(self) -> Polynomials:
        """The motion whose positions are the velocities of this one."""
        powers = np.arange(1, self.coefficients.shape[1]).reshape(-1, *(1,) * len(self.shape))
        kept = self.coefficients[:, 1:] * powers
        return Polynomials(self.times, kept if kept.shape[1] else 0.0 * self.coefficients)

    def peaks(self) -> Array:
        """The exact largest |q| of each joint, attained at a break or where the velocity is zero."""
        every = np.abs([self.on_pieces(self.times[k + e], k)[0] for k in range(len(self.coefficients)) for e in (0, 1)])
        largest = every.max(axis=0)
        for time, joint in self.derivative().zeros():
            at = np.abs(self.inside(time)[0])
            largest = np.maximum(largest, np.where(np.arange(at.size).reshape(at.shape) == joint, at, 0.0))
        return np.asarray(largest)

    def zeros(self) -> list[tuple[float, int]]:
        """(time, joint) of all zeros within the pieces, except identically zero pieces."""
        found = []
        flat = self.coefficients.reshape(*self.coefficients.shape[:2], -1)
        for k, rows in enumerate(flat):
            span = self.times[k + 1] - self.times[k]
            for joint in range(rows.shape[1]):
                c = np.trim_zeros(rows[:, joint] * span ** np.arange(len(rows)), "b")
                if len(c) > 1:
                    roots = np.roots(c[::-1])
                    real = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0.0) & (roots.real < 1.0)]
                    found += [(float(self.times[k] + span * x), joint) for x in real]
        return found

    def stretched(self, factor: float) -> Polynomials:
        """The same positions, ``factor`` times slower."""
        spans = np.diff(self.times) * factor
        times = self.times * factor
        gentler = np.ones(len(spans))  # velocities change alike in pieces that last longer for the rounding of times
        for k in np.flatnonzero((spans > 0.0) & (spans < SHORTEST_PIECE * times[-1])):
            times[k + 1 :] = np.maximum(times[k + 1 :], not_before(times[k], spans[k]))
            gentler[k] = spans[k] / (times[k + 1] - times[k])
        axes = (1,) * len(self.shape)
        powers = np.arange(self.coefficients.shape[1]).reshape(-1, *axes)
        slower = gentler.reshape(-1, 1, *axes) ** np.maximum(powers - 1, 0) / factor**powers
        return Polynomials(times, self.coefficients * slower, self.status, self.measured)


@dataclass(frozen=True, eq=False, repr=False)
class PathMotion(Motion):
    """A path q(s) with a time law s(t): v = q' ṡ, a = q' s̈ + q'' ṡ²."""

    path: Polynomials
    clock: Polynomials
    status: str = ""
    measured: Mapping[str, float] = field(default_factory=dict)

    @property
    def duration(self) -> float:
        return self.clock.duration

    @property
    def shape(self) -> tuple[int, ...]:
        return self.path.shape

    @property
    def breaks(self) -> Array:
        return self.clock.breaks

    def inside(self, t: Any) -> State:
        s, s1, s2 = self.clock.inside(t)
        s1 = maximum(s1, 0.0)  # where rounding makes it negative at the end, dry friction would be reversed
        # rounding may carry s beyond the ends of the path by its last digit
        q, q1, q2 = self.path.inside(minimum(maximum(s, 0.0), self.path.duration))
        s1, s2 = (_expanded(x, len(self.shape)) for x in (s1, s2))
        return q, q1 * s1, q1 * s2 + q2 * (s1 * s1)


def standing(q: Array, duration: float = 0.0) -> Polynomials:
    """A constant motion, by default of zero duration."""
    return Polynomials(np.array([0.0, duration]), np.array(q, dtype=float)[None, None])


def not_before(start: float, span: float) -> float:
    """The first floating-point time at least a span after a start."""
    end = start + span
    return end if end - start >= span else float(np.nextafter(end, np.inf))


def checked_time(t: Any) -> Any:
    """A time as a float, an array of floats, or a node."""
    if isinstance(t, np.ndarray) and t.shape == () and t.dtype == object:
        t = t.item()
    if isinstance(t, Node) or (isinstance(t, np.float64) and not np.isnan(t)):
        return t
    try:
        times = np.asarray(t, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"t must be a number, an array of numbers or one symbol, got {type(t).__name__}") from None
    if np.isnan(times).any():
        raise InputError("t contains nan")
    return times[()]


def _at_rest_outside(t: Any, duration: float, x: Any, axes: int) -> Any:
    before, after = (_expanded(outside, axes) for outside in (t < 0.0, t > duration))
    kept = where(before, 0.0, where(after, 0.0, x))
    return kept if isinstance(kept, Node) else kept[()]


def _expanded(x: Any, axes: int) -> Any:
    """Append axes of length one for broadcasting against n joints; a scalar is unchanged."""
    return x.reshape(*x.shape, *(1,) * axes) if isinstance(x, np.ndarray) else x


def value_of_piece(t: Node, times: Array, values: Array) -> Any:
    """The value of the piece that contains a symbolic time, by bisection without branches; the pieces begin at ``times``."""
    return _chosen(t, times, values, 0, len(values))


def _chosen(t: Node, times: Array, values: Array, first: int, last: int) -> Any:
    if last - first == 1:
        return values[first]
    middle = (first + last) // 2
    earlier, later = (_chosen(t, times, values, *half) for half in ((first, middle), (middle, last)))
    return where(t < float(times[middle]), earlier, later)


def _at_number(s: float, c: Array) -> State:
    """Σ c_k sᵏ with its first and second derivative, by one product with the powers of a number."""
    count = len(c)
    powers = np.zeros((3, count))
    power = 1.0
    for k in range(count):
        powers[0, k] = power
        if k + 1 < count:
            powers[1, k + 1] = (k + 1) * power
        if k + 2 < count:
            powers[2, k + 2] = (k + 2) * (k + 1) * power
        power *= s
    q, v, a = powers @ c
    return q, v, a


def _horner(s: Any, c: list[Any]) -> State:
    """Σ c_k sᵏ with its first and second derivative."""
    q, v, a = c[-1], 0.0 * c[-1], 0.0 * c[-1]
    for coefficient in reversed(c[:-1]):
        a = a * s + v
        v = v * s + q
        q = q * s + coefficient
    return q, v, 2.0 * a
