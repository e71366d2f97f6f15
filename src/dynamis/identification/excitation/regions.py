"""Where frames may be: boxes, half-spaces, spheres, heights above a table. Metres, in world axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, printable
from dynamis.robot import Robot
from dynamis.scalar import sqrt
from dynamis.trajectories.given import number, numbers, positive

Array = npt.NDArray[Any]
UP = (0.0, 0.0, 1.0)


class Region(Protocol):
    """Numbers that a point has, and the interval each must lie in."""

    @property
    def frame(self) -> str | None:
        """The frame whose origin is meant; None for the tip."""

    def bounds(self) -> tuple[Array, Array]:
        """(m,) lower and upper, infinite where there is none."""

    def measures(self, p: Array) -> Array:
        """(m,) numbers of a point (3,), traceable."""

    def labels(self) -> tuple[str, ...]:
        """(m,) names for messages."""


@dataclass(frozen=True, repr=False)
class Box:
    """Stay inside a box with edges along the world axes; entries of ``lower`` and ``upper`` may be infinite.

    >>> Box((-0.5, -0.5, 0.1), (0.5, 0.5, 1.0)).labels()
    ('x', 'y', 'z')
    """

    lower: Any
    upper: Any
    frame: str | None = None

    def __post_init__(self) -> None:
        low, high = self.bounds()
        if not (low < high).all():
            raise InputError(f"a box needs its lower corner below its upper one, got {low.tolist()} and {high.tolist()}")

    def bounds(self) -> tuple[Array, Array]:
        try:
            low, high = (np.broadcast_to(np.array(x, dtype=float), (3,)) for x in (self.lower, self.upper))
        except (TypeError, ValueError):
            raise InputError(f"a box has two corners of 3 numbers, got {self.lower!r} and {self.upper!r}") from None
        return low, high

    def measures(self, p: Array) -> Array:
        return p

    def labels(self) -> tuple[str, ...]:
        return ("x", "y", "z")

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class HalfSpace:
    """Stay where normal · p ≥ offset: this side of a wall."""

    normal: Any
    offset: float
    frame: str | None = None
    label: str = "distance to the wall"

    def __post_init__(self) -> None:
        if not self._unit().any():
            raise InputError("the normal of a half-space must not be zero")

    def _unit(self) -> Array:
        normal = numbers(self.normal, "a normal", (1,))
        if normal.shape != (3,):
            raise InputError(f"a normal has 3 numbers, got {len(normal)}")
        return np.asarray(normal / (np.linalg.norm(normal) or 1.0))

    def bounds(self) -> tuple[Array, Array]:
        return np.array([number(self.offset, "an offset")]) / np.linalg.norm(self.normal), np.array([np.inf])

    def measures(self, p: Array) -> Array:
        return np.array([np.dot(self._unit(), p)])

    def labels(self) -> tuple[str, ...]:
        return (self.label,)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Sphere:
    """Stay out of a sphere, or inside it."""

    centre: Any
    radius: float
    frame: str | None = None
    inside: bool = False

    def __post_init__(self) -> None:
        if numbers(self.centre, "a centre", (1,)).shape != (3,):
            raise InputError("the centre of a sphere has 3 numbers")
        positive(self.radius, "a radius")

    def bounds(self) -> tuple[Array, Array]:
        low, high = (-np.inf, self.radius) if self.inside else (self.radius, np.inf)
        return np.array([low]), np.array([high])

    def measures(self, p: Array) -> Array:
        d = p - np.asarray(self.centre, float)
        return np.array([sqrt(np.dot(d, d) + 1e-18)])  # a slope at the centre too

    def labels(self) -> tuple[str, ...]:
        return ("distance from the centre",)

    __repr__ = as_call
    _repr_html_ = as_table


def above(robot: Robot, height: float, frames: tuple[str, ...] | None = None) -> list[HalfSpace]:
    """Keep frames above a height: the origins of all links that can change it, and the tip, unless frames are named.

    >>> import dynamis as dy
    >>> len(above(dy.load("ur5e"), 0.05)) > 3
    True
    """
    height = number(height, "the height")
    if frames is not None:
        return [HalfSpace(UP, height, robot.model.frame(name).name, "height") for name in frames]
    q = robot.random(np.random.default_rng(3), size=16)
    found: dict[bytes, HalfSpace] = {}
    for name in robot.link_names:
        z = robot.pose(q, name)[:, 2, 3]
        if np.ptp(z) > 1e-9:  # nothing can be done about the others
            found.setdefault(np.round(z, 9).tobytes(), HalfSpace(UP, height, name, "height"))
    if not found:
        raise InputError(f"no link of robot {printable(robot.name)} can change its height: leave the height out")
    return list(found.values())
