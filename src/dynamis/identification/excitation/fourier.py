"""Finite Fourier series: every joint moves at the same few frequencies, and the motion can be repeated periodically.

[Swevers et al. 1997]: measurements can be averaged over periods and differentiated exactly. The series there starts with
arbitrary velocity; here it starts and ends at rest unless ``periodic``: the coefficients satisfy v(0) = 0 and a(0) = 0, both
linear, through a basis of the null space of these two conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.excitation.basis import Basis, checked_duration
from dynamis.scalar import Node, cos, sin
from dynamis.trajectories.motion import Motion, State

Array = npt.NDArray[Any]
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
