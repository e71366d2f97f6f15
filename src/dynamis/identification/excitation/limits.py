"""Constraints of a motion: functions of the state, each between two bounds.

Positions, velocities and accelerations are the state itself; torques come from the prior robot model; positions of frames
(regions, in metres, in world axes) and user-defined functions are traced. All have gradients, and bounds with the margin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from dynamis.trajectories.validate import limits as given_limits
from dynamis.trajectories.validate import number, numbers, positive

Array = npt.NDArray[Any]

UP = (0.0, 0.0, 1.0)
NEAR = 0.1  # m: distances that exceed the margin of a scene by more are not computed
NEGLIGIBLE_WEIGHT = 1e-3  # relative to the largest: the gradients of distances leave out instants with smaller ones


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
        return [HalfSpace(UP, height, robot.model.frame(name, "frames=").name, "height") for name in frames]
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


class Distances:
    """Signed distances of the pairs of a scene, with the interface of `Traced`; beyond ``within`` they are that."""

    def __init__(self, scene: Any, within: float) -> None:
        self.scene, self.within = scene, within
        self._last: tuple[bytes, Array] = b"", np.zeros(0)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:  # noqa: ARG002 - every limit has a state
        """Return (N, pairs) for states (N, n)."""
        if self._last[0] != q.tobytes():
            self._last = q.tobytes(), np.asarray(self.scene.distances(q, within=self.within))
        return self._last[1]

    def pull(self, q: Array, v: Array, a: Array, w: Array) -> tuple[Array, Array, Array]:
        """Return ∂(Σ w ∘ f)/∂q, /∂v and /∂a, each (…, N, n), for weights (…, N, pairs)."""
        weights = np.abs(w).reshape(-1, *w.shape[-2:]).max(axis=0) * (self(q, v, a) < self.within)
        near = np.flatnonzero(weights.max(axis=1) > NEGLIGIBLE_WEIGHT * np.abs(w).max(initial=0.0))
        gradients = self.scene.distance_gradients(q[near], within=self.within)
        slopes = np.zeros((*w.shape[:-1], q.shape[-1]))
        slopes[..., near, :] = np.einsum("...tp,tpn->...tn", w[..., near, :], gradients, optimize=True)
        return slopes, np.zeros_like(slopes), np.zeros_like(slopes)


ASSUMED_RANGE = np.pi  # rad to both sides of the reference configuration, for revolute joints without limits


@dataclass(frozen=True, eq=False)
class Rows:
    """m functions of a state with bounds (m,). ``order`` is 0, 1, 2 for q, v or a, None if traced.

    ``limit`` (m,) is the reference for 100 %: half the range, or the bound without margin; NaN if neither is known. ``centre``
    is the reference for 0 %; ``aside`` is the allowance for Coulomb friction. ``assumed`` (m,) marks bounds that neither the
    robot nor the caller gave.
    """

    kind: str
    names: tuple[str, ...]
    lower: Array
    upper: Array
    limit: Array
    centre: Array
    order: int | None = None
    traced: Traced | Distances | None = None
    aside: Any = 0.0
    assumed: Any = False

    @property
    def scale(self) -> Array:
        """Scale (m,) of the violations."""
        return np.where(np.isfinite(self.limit) & (self.limit > 0.0), self.limit, 1.0)

    def values(self, q: Array, v: Array, a: Array) -> Array:
        """Return (…, m)."""
        if self.order is not None:
            return (q, v, a)[self.order]
        assert self.traced is not None
        return self.traced(q, v, a)

    def excess(self, values: Array) -> Array:
        """Return (…, m): the violation in units of the scale; negative inside."""
        return np.asarray(np.maximum(values - self.upper, self.lower - values) / self.scale)


def joint_rows(robot: Robot, start: Array, margin: float, given: dict[str, Any]) -> list[Rows]:
    """Return position, velocity and acceleration limits: the robot's, unless others are given."""
    names, own = robot.coordinate_names, robot.limits
    low, high, assumed = _range(robot, given.get("position"), start)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    kept = (1.0 - margin) * half
    made = [Rows("position", names, middle - kept, middle + kept, half, middle, order=0, assumed=assumed)]
    for order, kind in ((1, "velocity"), (2, "acceleration")):
        bound = np.full(robot.n, np.inf) if kind == "acceleration" else np.where(own[kind] > 0.0, own[kind], np.inf)
        if given.get(kind) is not None:
            bound = np.minimum(bound, given_limits(given[kind], robot.n, kind))
        top = (1.0 - margin) * bound
        made.append(Rows(kind, names, -top, top, bound, np.zeros(robot.n), order=order))
    return made


def torque_rows(robot: Robot, margin: float, effort: Any = None) -> Rows | None:
    """Return the torque limits with the prior robot model; None if no joint has one.

    Coulomb friction counts with its full magnitude in both directions, since its sign at velocity reversals is unknown.
    """
    bound = np.where(robot.limits["effort"] > 0.0, robot.limits["effort"], np.inf)
    if effort is not None:
        bound = np.minimum(bound, given_limits(effort, robot.n, "effort"))
    if not np.isfinite(bound).any():
        return None
    model = robot.model
    dry = np.array(np.abs(model.coulomb) + np.abs(model.coulomb_bias), float)
    frictionless = robot
    if dry.any():
        joints = sorted({c.joint for c, size in zip(model.coordinates, dry, strict=True) if size})
        frictionless = robot.replace(friction={name: {"coulomb": 0.0, "coulomb_bias": 0.0} for name in joints})
    top = (1.0 - margin) * bound - dry
    if not (top > 0.0).all():
        k = int(np.argmin(top))
        raise InputError(
            f"joint {printable(robot.coordinate_names[k])}: Coulomb friction of {dry[k]:.4g} exceeds its torque limit "
            f"{bound[k]:.4g}; raise effort=, or design with torque=False"
        )

    def torques(robot: Robot, q: Array, v: Array, a: Array) -> Array:
        return robot.inverse_dynamics(q, v, a)

    traced = Traced(frictionless, torques, "excitation_torque")
    return Rows("torque", robot.coordinate_names, -top, top, bound, np.zeros(robot.n), traced=traced, aside=dry)


def region_rows(robot: Robot, regions: Sequence[Region]) -> Rows | None:
    """Return the constraints on frame positions; user-defined bounds, without margin."""
    if not regions:
        return None
    frames = [robot.model.frame(region.frame).name for region in regions]

    def places(robot: Robot, q: Array, v: Array, a: Array) -> Array:  # noqa: ARG001 - every traced function has a state
        return np.concatenate([r.measures(robot.pose(q, f)[:3, 3]) for r, f in zip(regions, frames, strict=True)])

    lower, upper = (np.concatenate([region.bounds()[k] for region in regions]) for k in (0, 1))
    names = tuple(f"{label} of {frame}" for region, frame in zip(regions, frames, strict=True) for label in region.labels())
    closed = np.isfinite(lower) & np.isfinite(upper)
    with np.errstate(invalid="ignore"):
        half, middle = np.where(closed, 0.5 * (upper - lower), np.nan), np.where(closed, 0.5 * (upper + lower), np.nan)
    return Rows("place", names, lower, upper, half, middle, traced=Traced(robot, places, "excitation_places"))


def user_rows(robot: Robot, functions: Sequence[Callable[..., Any]]) -> Rows | None:
    """Return g(robot, q, v, a) ≤ 0, functions of one state, traceable, each with one or several values."""
    if not functions:
        return None

    def together(robot: Robot, q: Array, v: Array, a: Array) -> Array:
        return np.concatenate([np.ravel(np.asarray(g(robot, q, v, a))) for g in functions])

    traced = Traced(robot, together, "excitation_constraints")
    sizes = [int(np.prod(Traced(robot, g, "constraint").shape)) for g in functions]
    labels = [getattr(g, "__name__", "constraint") for g in functions]
    names = tuple(f"{x}[{k}]" if size > 1 else x for x, size in zip(labels, sizes, strict=True) for k in range(size))
    none = np.full(len(names), np.nan)
    return Rows("constraint", names, np.full(len(names), -np.inf), np.zeros(len(names)), none, none, traced=traced)


def distance_rows(scene: Any) -> Rows | None:
    """Return the distances of a scene's pairs, which exceed its margin; None without pairs."""
    if not scene.pairs:
        return None
    m = len(scene.pairs)
    names = tuple(" and ".join(pair) for pair in scene.pairs)
    lower, limit, none = np.full(m, scene.margin), np.full(m, NEAR), np.full(m, np.nan)
    return Rows("distance", names, lower, np.full(m, np.inf), limit, none, traced=Distances(scene, scene.margin + NEAR))


def stated_range(robot: Robot, given: Any = None) -> tuple[Array, Array]:
    """Return the position limits (n,) of the robot, tightened by ``given`` = (lower, upper); infinite where neither has one."""
    low, high = robot.limits["lower"], robot.limits["upper"]
    if given is None:
        return low, high
    try:
        lower, upper = (np.broadcast_to(np.array(x, dtype=float), (robot.n,)) for x in given)
    except (TypeError, ValueError):
        raise InputError(f"position= takes (lower, upper), each one number or {robot.n}") from None
    return np.maximum(low, lower), np.minimum(high, upper)


def _range(robot: Robot, given: Any, start: Array) -> tuple[Array, Array, Array]:
    """Return lower, upper, assumed (n,): revolute joints without limits are bounded, prismatic ones refused."""
    low, high = stated_range(robot, given)
    open_ended = ~(np.isfinite(low) & np.isfinite(high))
    lengths = [printable(c.name) for c, x in zip(robot.model.coordinates, open_ended, strict=True) if x and not c.revolute]
    if lengths:
        raise InputError(
            f"{', '.join(lengths)}: no position limits in metres, and none can be assumed; give position=(lower, upper), one "
            f"number per coordinate: {', '.join(map(printable, robot.coordinate_names))}"
        )
    low, high = (
        np.where(np.isfinite(bound), bound, start + side) for bound, side in ((low, -ASSUMED_RANGE), (high, ASSUMED_RANGE))
    )
    if not (low < high).all():
        k = int(np.argmin(high - low))
        raise InputError(
            f"joint {printable(robot.coordinate_names[k])} has no range: positions from {low[k]:.4g} to {high[k]:.4g}"
        )
    return low, high, open_ended
