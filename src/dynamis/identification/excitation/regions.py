"""Regions for frame positions: boxes, half-spaces, spheres, heights above a table. In metres, in world axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.display import as_call, as_table
from dynamis.errors import InputError, printable
from dynamis.robot import Robot
from dynamis.scalar import Node, sqrt
from dynamis.scalar.derivative import gradient
from dynamis.trajectories.validate import number, numbers, positive

Array = npt.NDArray[Any]

UP = (0.0, 0.0, 1.0)


class Region(Protocol):
    """Functions of a point, each with bounds."""

    @property
    def frame(self) -> str | None:
        """The frame whose origin is constrained; None for the tip."""

    def bounds(self) -> tuple[Array, Array]:
        """Return (m,) lower and upper bounds, possibly infinite."""

    def measures(self, p: Array) -> Array:
        """Return (m,) functions of a point (3,), traceable."""

    def labels(self) -> tuple[str, ...]:
        """Return (m,) names for messages."""


@dataclass(frozen=True, repr=False)
class Box:
    """Stay inside a box aligned with the world axes; entries of ``lower`` and ``upper`` may be infinite.

    >>> Box((-0.5, -0.5, 0.1), (0.5, 0.5, 1.0)).labels()
    ('x', 'y', 'z')
    """

    lower: Any
    upper: Any
    frame: str | None = None

    def __post_init__(self) -> None:
        low, high = self.bounds()
        if not (low < high).all():
            raise InputError(f"the lower corner of a box must be below its upper one, got {low.tolist()} and {high.tolist()}")

    def bounds(self) -> tuple[Array, Array]:
        try:
            low, high = (np.broadcast_to(np.array(x, dtype=float), (3,)) for x in (self.lower, self.upper))
        except (TypeError, ValueError):
            raise InputError(f"a box takes two corners of 3 numbers, got {self.lower!r} and {self.upper!r}") from None
        return low, high

    def measures(self, p: Array) -> Array:
        return p

    def labels(self) -> tuple[str, ...]:
        return ("x", "y", "z")

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class HalfSpace:
    """Stay in the half-space normal · p ≥ offset."""

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
            raise InputError(f"a normal must have 3 numbers, got {len(normal)}")
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
    """Stay outside a sphere, or inside it."""

    centre: Any
    radius: float
    frame: str | None = None
    inside: bool = False

    def __post_init__(self) -> None:
        if numbers(self.centre, "a centre", (1,)).shape != (3,):
            raise InputError("the centre of a sphere must have 3 numbers")
        positive(self.radius, "a radius")

    def bounds(self) -> tuple[Array, Array]:
        low, high = (-np.inf, self.radius) if self.inside else (self.radius, np.inf)
        return np.array([low]), np.array([high])

    def measures(self, p: Array) -> Array:
        d = p - np.asarray(self.centre, float)
        return np.array([sqrt(np.dot(d, d) + 1e-18)])  # differentiable at the centre

    def labels(self) -> tuple[str, ...]:
        return ("distance from the centre",)

    __repr__ = as_call
    _repr_html_ = as_table


def above(robot: Robot, height: float, frames: tuple[str, ...] | None = None) -> list[HalfSpace]:
    """Keep frames above a height: by default the origins of all links whose height can change, and the tip.

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
        if np.ptp(z) > 1e-9:  # other heights are constant
            found.setdefault(np.round(z, 9).tobytes(), HalfSpace(UP, height, name, "height"))
    if not found:
        raise InputError(f"no link of robot {printable(robot.name)} can change its height: remove this constraint")
    return list(found.values())


class Traced:
    """A traceable function f(robot, q, v, a) of one state, evaluated for many states, and its vector–Jacobian product.

    ``shape`` is that of the value for one state.
    """

    def __init__(self, robot: Robot, function: Callable[..., Any], name: str) -> None:
        self.n, self.function = robot.n, function

        def values(robot: Robot, q: Array, v: Array, a: Array) -> Array:
            return np.asarray(function(robot, q, v, a))

        values.__name__ = name
        self._values: Kernel = robot.compile(values)
        ((_, self.shape),) = self._values.code.results
        self._pull: Kernel = robot.compile(self._pulled, w=max(1, int(np.prod(self.shape))))

    def _pulled(self, robot: Robot, q: Array, v: Array, a: Array, w: Array) -> Array:
        values = np.asarray(self.function(robot, q, v, a)).ravel()
        total = sum((w[k] * x for k, x in enumerate(values)), 0.0 * w[0])
        inputs = [*q, *v, *a]
        return gradient(total, inputs) if isinstance(total, Node) else np.zeros(len(inputs))

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return (…, *shape)."""
        return np.asarray(self._values(q, v, a))

    def pull(self, q: Array, v: Array, a: Array, w: Array) -> tuple[Array, Array, Array]:
        """Return ∂(Σ w ∘ f)/∂q, /∂v and /∂a, each (…, n), for weights (…, *shape)."""
        flat = w.reshape(*w.shape[: w.ndim - len(self.shape)], -1)
        # infinite derivatives, such as that of √|v| at rest, are set to zero
        slopes = np.nan_to_num(np.asarray(self._pull(q, v, a, flat)), nan=0.0, posinf=0.0, neginf=0.0)
        gq, gv, ga = np.split(slopes, 3, axis=-1)
        return gq, gv, ga
