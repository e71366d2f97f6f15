"""Desired task motions: x_d(t) with its first two derivatives, from rest to rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError

Array = npt.NDArray[Any]
Desired = tuple[Array, Array, Array]  # x_d, ẋ_d, ẍ_d


@dataclass(frozen=True, repr=False)
class Circle:
    """Circles through the start point, each from rest to rest: ``cycles`` of ``period`` seconds.

    ``components`` are those of the task in the circle's plane; the centre is at −``radius`` from the start along the first.
    """

    radius: float = 0.1
    period: float = 2.0
    cycles: int = 3
    components: tuple[int, int] = (0, 1)

    def __post_init__(self) -> None:
        _check(self)
        if len(self.components) != 2 or self.components[0] == self.components[1]:
            raise InputError(f"Circle(components=…) takes two task components, such as (0, 1); got {self.components!r}")

    @property
    def duration(self) -> float:
        return self.cycles * self.period

    def from_start(self, x: Array) -> Callable[[float], Desired]:
        i, j = _within(self.components, len(x), "Circle")

        def desired(t: float) -> Desired:
            s, s_dot, s_ddot = (2.0 * np.pi * y for y in _phase(t, self.period, self.duration))
            c, d = np.cos(s), np.sin(s)
            values = np.zeros((3, len(x)))
            values[0] = x
            values[:, i] += self.radius * np.array([c - 1.0, -d * s_dot, -d * s_ddot - c * s_dot**2])
            values[:, j] += self.radius * np.array([d, c * s_dot, c * s_ddot - d * s_dot**2])
            return values[0], values[1], values[2]

        return desired

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Line:
    """Motion by ``length`` along one task component and back: ``cycles`` of ``period`` seconds, at rest at both ends."""

    length: float = 0.2
    period: float = 2.0
    cycles: int = 3
    component: int = 0

    def __post_init__(self) -> None:
        _check(self)

    @property
    def duration(self) -> float:
        return self.cycles * self.period

    def from_start(self, x: Array) -> Callable[[float], Desired]:
        (k,) = _within((self.component,), len(x), "Line")

        def desired(t: float) -> Desired:
            half = 0.5 * self.period
            way = _phase(t, half, self.duration)
            back = int(min(t, self.duration) // half) % 2 == 1 and t < self.duration
            values = np.zeros((3, len(x)))
            values[0] = x
            values[:, k] += self.length * (np.array([1.0 - way[0], -way[1], -way[2]]) if back else np.array(way))
            if t >= self.duration:
                values[0], values[1:] = x, 0.0
            return values[0], values[1], values[2]

        return desired

    __repr__ = as_call
    _repr_html_ = as_table


def _phase(t: float, period: float, duration: float) -> tuple[float, float, float]:
    """A quintic from 0 to 1 within each period, at rest with no acceleration at both ends, and its derivatives."""
    if t >= duration:
        return 0.0, 0.0, 0.0
    u = (t % period) / period
    s = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
    s_dot = 30.0 * u * u * (1.0 - u) ** 2 / period
    s_ddot = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / period**2
    return s, s_dot, s_ddot


def _check(motion: Circle | Line) -> None:
    for name in ("radius", "length", "period"):
        value = getattr(motion, name, 1.0)
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 < value < np.inf:
            raise InputError(f"{type(motion).__name__}({name}=…) must be a positive number, got {value!r}")
    if isinstance(motion.cycles, bool) or not isinstance(motion.cycles, int | np.integer) or motion.cycles < 1:
        raise InputError(f"{type(motion).__name__}(cycles=…) must be a positive integer, got {motion.cycles!r}")


def _within(components: tuple[int, ...], size: int, what: str) -> tuple[int, ...]:
    if not all(isinstance(k, int | np.integer) and 0 <= k < size for k in components):
        raise InputError(
            f"{what} moves along components {components}, but the task has {counted(size, 'component')}: choose "
            f"from 0 to {size - 1}"
        )
    return components
