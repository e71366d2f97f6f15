"""Motion bases: functions of time with linear coefficients, q(t) = q₀ + Φ(t) c."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.scalar import Node, cos, sin
from dynamis.trajectories.motion import Motion, Polynomials, State
from dynamis.trajectories.validate import positive

Array = npt.NDArray[Any]

SHORTEST, LONGEST = 1e-3, 1e6  # s


def checked_duration(duration: Any) -> float:
    """Return a validated duration in seconds."""
    found = positive(duration, "duration")
    if not SHORTEST <= found <= LONGEST:
        raise InputError(f"duration must be between {SHORTEST:g} and {LONGEST:g} s, got {found:g}")
    return found


class Basis(ABC):
    """Functions of time from 0 to ``duration``, with one coefficient per joint for each: c is (size, n)."""

    kind: str
    duration: float
    free_start = False  # whether a constant comes before the functions, so that the start configuration is free too

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of functions."""

    @property
    @abstractmethod
    def finest(self) -> int:
        """Number of oscillations of the fastest function over the duration, which a grid must resolve."""

    @abstractmethod
    def derivative(self, t: Any, order: int = 0) -> Array:
        """Return (N, size): the derivatives of this order of the functions at N times."""

    @abstractmethod
    def bound(self, c: Array, order: int) -> Array:
        """Return (n,): an upper bound of |dᵏ(Φ c)/dtᵏ|, k ≥ 1, over all times."""

    @abstractmethod
    def motion(self, q0: Array, c: Array, status: str = "") -> Motion:
        """Return q₀ + Φ c as a motion that controllers can follow."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return the numbers that define it."""

    def matrices(self, t: Any) -> tuple[Array, Array, Array]:
        """Return Φ, Φ' and Φ'' at the times; states are products with them."""
        parts = [self.derivative(t, order) for order in range(3)]
        if self.free_start:
            parts = [np.column_stack([np.full(len(x), float(k == 0)), x]) for k, x in enumerate(parts)]
        return parts[0], parts[1], parts[2]

    def grid(self, count: int) -> Array:
        """Return the midpoints of this many equal intervals: the ends, at rest, carry no information."""
        return (np.arange(count) + 0.5) * (self.duration / count)


def states(phi: tuple[Array, Array, Array], q0: Array, c: Array) -> State:
    """Return (q, v, a) of a motion from the matrices Φ, Φ' and Φ''."""
    return q0 + phi[0] @ c, phi[1] @ c, phi[2] @ c


MOST_HARMONICS = 60


class Fourier(Basis):
    """sin kωt / k and (cos kωt − 1) / k for k = 1 … harmonics, ω = 2π periods / duration.

    They start and end in q₀, with zero velocity and acceleration unless ``periodic``.

    >>> basis = Fourier(10.0, harmonics=3)
    >>> basis.size
    4
    >>> bool(abs(basis.derivative([0.0, 10.0], 1)).max() < 1e-12)
    True
    """

    kind = "fourier"

    def __init__(self, duration: float = 10.0, harmonics: int = 5, *, periods: int = 1, periodic: bool = False) -> None:
        self.duration = checked_duration(duration)
        least = 1 if periodic else 2
        for name, value, low in (("harmonics", harmonics, least), ("periods", periods, 1)):
            if not isinstance(value, int | np.integer) or not low <= value <= MOST_HARMONICS:
                raise InputError(f"{name} must be an integer from {low} to {MOST_HARMONICS}, got {value!r}")
        self.harmonics, self.periods, self.periodic = int(harmonics), int(periods), bool(periodic)

    @cached_property
    def frequencies(self) -> Array:
        """The frequencies kω in rad/s."""
        return 2.0 * np.pi * self.periods / self.duration * np.arange(1, self.harmonics + 1)

    @cached_property
    def combination(self) -> Array:
        """(2 harmonics, size): for each function, the coefficients of the sines, then of the cosines minus one."""
        k = np.arange(1, self.harmonics + 1)
        if self.periodic:
            return np.diag(np.tile(1.0 / k, 2))
        # with amplitudes x/k, v(0) ∝ Σ x_sin and a(0) ∝ Σ k x_cos
        free = [_null_space(row) / k[:, None] for row in (np.ones(self.harmonics), k.astype(float))]
        empty = np.zeros_like(free[0])
        return np.block([[free[0], empty], [empty, free[1]]])

    @property
    def size(self) -> int:
        return int(self.combination.shape[1])

    @property
    def finest(self) -> int:
        return self.harmonics * self.periods

    def derivative(self, t: Any, order: int = 0) -> Array:
        angles = np.multiply.outer(np.asarray(t, float), self.frequencies)
        s, c = np.sin(angles), np.cos(angles)
        sines, cosines = ((s, c), (c, -s), (-s, -c), (-c, s))[order % 4]
        if order == 0:
            cosines = cosines - 1.0
        scale = np.tile(self.frequencies**order, 2)
        return (np.concatenate([sines, cosines], axis=-1) * scale) @ self.combination

    def amplitudes(self, c: Array) -> Array:
        """Return (2, harmonics, n): amplitudes of the sines and of the cosines."""
        return (self.combination @ c).reshape(2, self.harmonics, -1)

    def bound(self, c: Array, order: int) -> Array:
        return np.asarray(self.frequencies**order @ np.hypot(*self.amplitudes(c)))

    def motion(self, q0: Array, c: Array, status: str = "") -> Motion:
        return FourierMotion(self.duration, self.frequencies, np.array(q0, float), self.amplitudes(c), status)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "duration": self.duration, "harmonics": self.harmonics, "periods": self.periods,
                "periodic": self.periodic}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class FourierMotion(Motion):
    """q = q₀ + Σ s_k sin ω_k t + c_k (cos ω_k t − 1); ``amplitudes`` (2, harmonics, n) are s and c."""

    length: float
    frequencies: Array
    q0: Array
    amplitudes: Array
    status: str = ""
    measured: dict[str, float] = field(default_factory=dict)

    @property
    def duration(self) -> float:
        return self.length

    @property
    def shape(self) -> tuple[int, ...]:
        return self.q0.shape

    @property
    def breaks(self) -> Array:
        return np.array([0.0, self.length])

    def inside(self, t: Any) -> State:
        w, (s, c) = self.frequencies, self.amplitudes
        if isinstance(t, Node):
            sines, cosines = (np.array([f(t * float(x)) for x in w], dtype=object) for f in (sin, cos))
        else:
            angles = np.multiply.outer(np.asarray(t, float), w)
            sines, cosines = np.sin(angles), np.cos(angles)
        q = self.q0 + sines @ s + (cosines - 1.0) @ c
        v = (cosines * w) @ s - (sines * w) @ c
        a = -(sines * w**2) @ s - (cosines * w**2) @ c
        return q, v, a


def _null_space(row: Array) -> Array:
    """Return (k, k − 1): an orthonormal basis of the null space of a row, by one reflection, hence deterministic."""
    unit = row / np.linalg.norm(row)
    mirror = unit.copy()
    mirror[0] += 1.0  # all entries are positive: no cancellation
    reflection = np.eye(len(row)) - 2.0 * np.outer(mirror, mirror) / (mirror @ mirror)
    return reflection[:, 1:]


DEGREE = 5
HELD = 3  # control points that determine position, velocity and acceleration at an end
MOST_POINTS = 400


class Splines(Basis):
    """B-splines on uniform knots, with ``points`` free control points between the ends.

    ``closed`` motions end where they start; others have one more coefficient for the end.

    >>> Splines(10.0, points=8, closed=False).size
    9
    """

    kind = "spline"

    def __init__(self, duration: float = 10.0, points: int = 10, *, closed: bool = True) -> None:
        self.duration = checked_duration(duration)
        if not isinstance(points, int | np.integer) or not 1 <= points <= MOST_POINTS:
            raise InputError(f"points must be an integer from 1 to {MOST_POINTS}, got {points!r}")
        self.points, self.closed = int(points), bool(closed)

    @cached_property
    def knots(self) -> Array:
        """The clamped knot vector, with end knots of multiplicity six."""
        inner = np.linspace(0.0, self.duration, self.points + 2 * HELD - DEGREE + 1)
        return np.concatenate([np.zeros(DEGREE), inner, np.full(DEGREE, self.duration)])

    @cached_property
    def combination(self) -> Array:
        """(control points, size): the control points minus q₀, for each function."""
        made = np.zeros((self.points + 2 * HELD, self.points + (not self.closed)))
        made[HELD:-HELD, : self.points] = np.eye(self.points)
        if not self.closed:
            made[-HELD:, -1] = 1.0
        return made

    @property
    def size(self) -> int:
        return int(self.combination.shape[1])

    @property
    def finest(self) -> int:
        return 1 + self.points // 2

    def derivative(self, t: Any, order: int = 0) -> Array:
        return np.asarray(self._spline(self.combination)(np.clip(np.asarray(t, float), 0.0, self.duration), order))

    def bound(self, c: Array, order: int) -> Array:
        # a spline lies in the convex hull of its control points
        return np.asarray(np.abs(self._spline(self.combination @ c).derivative(order).c).max(axis=0))

    def motion(self, q0: Array, c: Array, status: str = "") -> Motion:
        spline = self._spline(np.asarray(q0, float) + self.combination @ c)
        times = self.knots[DEGREE:-DEGREE]
        terms = [spline(times[:-1], order) / factorial(order) for order in range(DEGREE + 1)]
        return Polynomials(times, np.stack(terms, axis=1), status)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "duration": self.duration, "points": self.points, "closed": self.closed}

    def _spline(self, control: Array) -> Any:
        from scipy.interpolate import BSpline

        return BSpline(self.knots, control, DEGREE)
