"""Motion bases: functions of time with linear coefficients, q(t) = q₀ + Φ(t) c."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.trajectories.motion import Motion
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
        phi, phi_dot, phi_ddot = (self.derivative(t, order) for order in range(3))
        return phi, phi_dot, phi_ddot

    def grid(self, count: int) -> Array:
        """Return the midpoints of this many equal intervals: the ends, at rest, carry no information."""
        return (np.arange(count) + 0.5) * (self.duration / count)


class Shifted(Basis):
    """Another basis extended by a constant as first function, so that the start configuration is free too."""

    def __init__(self, inner: Basis) -> None:
        self.inner, self.kind, self.duration = inner, inner.kind, inner.duration

    @property
    def size(self) -> int:
        return 1 + self.inner.size

    @property
    def finest(self) -> int:
        return self.inner.finest

    def derivative(self, t: Any, order: int = 0) -> Array:
        functions = self.inner.derivative(t, order)
        return np.concatenate([np.full((len(functions), 1), float(order == 0)), functions], axis=1)

    def bound(self, c: Array, order: int) -> Array:
        return self.inner.bound(c[1:], order)

    def motion(self, q0: Array, c: Array, status: str = "") -> Motion:
        return self.inner.motion(q0 + c[0], c[1:], status)

    def as_dict(self) -> dict[str, Any]:
        return self.inner.as_dict()
