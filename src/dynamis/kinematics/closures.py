"""Loop closures: coincident frames, a rod between frames, a gear between two joints.

Each closure gives, for one state, its part of h(q) = 0, the rows H with ḣ = H v, and the bias Ḣ v, so that ḧ = H v̇ + Ḣ v. Rates
of vectors between frames are those seen from the last body that moves both (`closure_rows.separation`).
The formulas accept numbers and symbols. A multiplier λ is the force of ``frame_b`` on ``frame_a``: the virtual work of the
closure is λ · δh = (Hᵀ λ) · δq, with opposite forces on the two sides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, SingularError, unknown_name
from dynamis.kinematics.closure_rows import (
    WORLD,
    Place,
    Rows,
    Vector,
    across,
    carrier,
    coincidence,
    cosine,
    direction,
    half_angles,
    joined,
    place,
    separation,
)
from dynamis.kinematics.targets import as_rotation
from dynamis.model.model import Frame
from dynamis.robot import Robot
from dynamis.scalar import Node, is_number, sqrt
from dynamis.spatial import cross
from dynamis.spatial.checks import finite
from dynamis.tolerances import LOOP_RANK_TOLERANCE, RECURSION_ROUNDING

Array = npt.NDArray[Any]


def named_frame(robot: Robot, name: str) -> Frame:
    """The frame that a closure names; the tip is no default here."""
    if not isinstance(name, str):
        raise unknown_name("frame", name, robot.model.frames)
    return robot.model.frame(name)


def _check_ends(robot: Robot, a: str, b: str) -> None:
    if named_frame(robot, a).body == named_frame(robot, b).body:
        raise InputError(f"{a!r} and {b!r} are fixed to the same body: a closure needs two bodies")


class Closure(ABC):
    """A holonomic constraint between parts of a robot."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """A name for each row of h."""

    @property
    def key(self) -> tuple[Any, ...]:
        """Type and values, by which compiled code is known."""
        return (type(self).__name__, *astuple(self))  # type: ignore[call-overload]

    @property
    def form(self) -> Any:
        """What code compiled for other constants has in common with this closure; itself if there are none."""
        return self

    @property
    def constants(self) -> Array:
        """Numbers that compiled code takes as an argument."""
        return np.zeros(0)

    @abstractmethod
    def rows(self, robot: Robot, q: Array, v: Array, constants: Array | None = None) -> Rows:
        """Return (h, H, Ḣ v) at one state; ``constants`` are its own by default."""

    @abstractmethod
    def check(self, robot: Robot) -> None:
        """Raise an error if the robot lacks a frame or joint of the closure."""


@dataclass(frozen=True, repr=False)
class Point(Closure):
    """A ball joint: the origins of two frames coincide. λ is the force on ``frame_a``, in world axes."""

    frame_a: str
    frame_b: str

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.frame_a} on {self.frame_b}: {axis}" for axis in "xyz")

    def rows(self, robot: Robot, q: Array, v: Array, constants: Array | None = None) -> Rows:  # noqa: ARG002
        a, b = (place(robot, q, v, frame) for frame in (self.frame_a, self.frame_b))
        return separation(a, b, carrier(robot, q, v, self.frame_a, self.frame_b))

    def check(self, robot: Robot) -> None:
        _check_ends(robot, self.frame_a, self.frame_b)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class InPlane(Closure):
    """The origins of two frames coincide in the plane orthogonal to ``normal``; along the normal they are free.

    In a planar loop these are the independent rows of a pin; in general, a point on a line along the normal. The normal is a
    direction of the ``normal_frame`` (``frame_b`` by default); λ is the force on ``frame_a`` along two directions of that frame
    orthogonal to the normal (x and y for a normal along z).
    """

    frame_a: str
    frame_b: str
    normal: Vector = (0.0, 0.0, 1.0)
    normal_frame: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "normal", direction(self.normal, "normal"))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.frame_a} on {self.frame_b}: {k} in the plane" for k in ("first", "second"))

    def rows(self, robot: Robot, q: Array, v: Array, constants: Array | None = None) -> Rows:  # noqa: ARG002
        a, b = place(robot, q, v, self.frame_a), place(robot, q, v, self.frame_b)
        c = b if self.normal_frame is None else place(robot, q, v, self.normal_frame)
        d, d_dot, d_ddot = a.p - b.p, a.v - b.v, a.a - b.a
        h, H, bias = [], [], []
        for axis in across(self.normal):
            e = c.R @ axis
            e_dot = cross(c.w, e)
            h.append(np.dot(e, d))
            H.append(e @ (a.J - b.J) + cross(e, d) @ c.J_w)
            turning = np.dot(cross(c.w_dot, e) + cross(c.w, e_dot), d)
            bias.append(np.dot(e, d_ddot) + 2.0 * np.dot(e_dot, d_dot) + turning)
        return h, H, bias

    def check(self, robot: Robot) -> None:
        _check_ends(robot, self.frame_a, self.frame_b)
        named_frame(robot, self.normal_frame or self.frame_b)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Pin(Closure):
    """A hinge: the origins coincide, and ``axis`` of frame a is parallel to ``axis_b`` (default: the same numbers) of frame b.

    λ is the force on ``frame_a`` in world axes, then the moment about two directions of ``frame_a`` orthogonal to the axis.
    """

    frame_a: str
    frame_b: str
    axis: Vector = (0.0, 0.0, 1.0)
    axis_b: Vector | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", direction(self.axis, "axis"))
        object.__setattr__(self, "axis_b", direction(self.axis if self.axis_b is None else self.axis_b, "axis_b"))

    @property
    def labels(self) -> tuple[str, ...]:
        turns = tuple(f"{self.frame_a} on {self.frame_b}: {k} tilt" for k in ("first", "second"))
        return (*Point(self.frame_a, self.frame_b).labels, *turns)

    def rows(self, robot: Robot, q: Array, v: Array, constants: Array | None = None) -> Rows:  # noqa: ARG002
        a, b = place(robot, q, v, self.frame_a), place(robot, q, v, self.frame_b)
        z = b.R @ np.array(self.axis_b)
        # a turn of a by θ about each of the two directions across the axis shows as θ
        sines = [cosine(a, b, a.R @ np.cross(self.axis, about), z) for about in across(self.axis)]
        apart = separation(a, b, carrier(robot, q, v, self.frame_a, self.frame_b))
        return joined(apart, half_angles(sines, cosine(a, b, a.R @ np.array(self.axis), z)))

    def check(self, robot: Robot) -> None:
        _check_ends(robot, self.frame_a, self.frame_b)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Weld(Closure):
    """Two frames coincide, origins and axes. λ is force in world axes, then moment about the axes of ``frame_b``."""

    frame_a: str
    frame_b: str

    @property
    def labels(self) -> tuple[str, ...]:
        turns = tuple(f"{self.frame_a} on {self.frame_b}: turn about {axis}" for axis in "xyz")
        return (*Point(self.frame_a, self.frame_b).labels, *turns)

    def rows(self, robot: Robot, q: Array, v: Array, constants: Array | None = None) -> Rows:  # noqa: ARG002
        a, b = (place(robot, q, v, frame) for frame in (self.frame_a, self.frame_b))
        return coincidence(a, b, carrier(robot, q, v, self.frame_a, self.frame_b))

    def check(self, robot: Robot) -> None:
        _check_ends(robot, self.frame_a, self.frame_b)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Anchor(Closure):
    """A frame held in the world: its origin at ``position``, and its axes at ``rotation`` (3 × 3) if given.

    λ is the force on the frame, then the moment, both in world axes.
    """

    frame: str
    position: Any
    rotation: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", tuple(finite(self.position, (3,), "position=").tolist()))
        if self.rotation is not None:
            object.__setattr__(self, "rotation", tuple(map(tuple, as_rotation(self.rotation, "rotation=").tolist())))

    @property
    def labels(self) -> tuple[str, ...]:
        kinds = ("",) if self.rotation is None else ("force ", "moment ")
        return tuple(f"{self.frame}: {kind}{axis}" for kind in kinds for axis in "xyz")

    @property
    def form(self) -> Any:
        return type(self).__name__, self.frame, self.rotation is not None

    @property
    def constants(self) -> Array:
        return np.concatenate([self.position, np.ravel(self.rotation) if self.rotation is not None else []])

    def rows(self, robot: Robot, q: Array, v: Array, constants: Array | None = None) -> Rows:
        at = self.constants if constants is None else constants
        a, none = place(robot, q, v, self.frame), np.zeros(3)
        world = Place(at[:3], WORLD, 0.0 * a.J, 0.0 * a.J_w, none, none, none, none)
        if self.rotation is None:
            return separation(a, world)
        return coincidence(a._replace(R=a.R @ at[3:].reshape(3, 3).T), world)

    def check(self, robot: Robot) -> None:
        if named_frame(robot, self.frame).body == 0:
            raise InputError(f"frame {self.frame!r} is fixed to the base: an anchor there constrains nothing")

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Distance(Closure):
    """A massless rod between the origins of two frames. λ is the rod force, positive in compression."""

    frame_a: str
    frame_b: str
    length: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.length) and self.length > 0.0):
            raise InputError(f"length= of a rod must be positive, got {self.length!r}; use Point for coincident frames")

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"rod from {self.frame_a} to {self.frame_b}",)

    def rows(self, robot: Robot, q: Array, v: Array, constants: Array | None = None) -> Rows:  # noqa: ARG002
        a, b = place(robot, q, v, self.frame_a), place(robot, q, v, self.frame_b)
        d, d_dot = a.p - b.p, a.v - b.v
        length = sqrt(np.dot(d, d))
        if is_number(length) and not length > 0.0:
            raise SingularError(f"the rod from {self.frame_a!r} to {self.frame_b!r} has no direction: its ends coincide")
        u = d / length
        rate = np.dot(u, d_dot)
        bias = np.dot(u, a.a - b.a) + (np.dot(d_dot, d_dot) - rate * rate) / length
        return [length - self.length], [u @ (a.J - b.J)], [bias]

    def check(self, robot: Robot) -> None:
        _check_ends(robot, self.frame_a, self.frame_b)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Coupled(Closure):
    """A gear: q_a = ``ratio`` · q_b + ``offset`` of two coordinates. λ is the torque on ``joint_a``, −ratio · λ on b.

    ``higher`` are coefficients of q_b², q_b³, …, as those of a knee whose axis moves as it bends. Without ``joint_b`` the joint
    is held: q_a = ``offset``.
    """

    joint_a: str
    joint_b: str | None = None
    ratio: float = 1.0
    offset: float = 0.0
    higher: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.higher, Sequence | np.ndarray):
            raise InputError(f"higher= takes coefficients such as (0.1, -0.2), got {self.higher!r}")
        object.__setattr__(self, "higher", tuple(self.higher))

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"{self.joint_a} held" if self.joint_b is None else f"{self.joint_a} geared to {self.joint_b}",)

    def rows(self, robot: Robot, q: Array, v: Array, constants: Array | None = None) -> Rows:  # noqa: ARG002
        i, row = _coordinate(robot, self.joint_a), np.zeros(robot.n)
        row[i[0]] += 1.0
        if self.joint_b is None:
            return [q[i[1]] - self.offset], [row], [0.0]
        j = _coordinate(robot, self.joint_b)
        x, rate = q[j[1]], v[j[0]]
        place = slope = bend = 0.0  # the polynomial and its first two derivatives, by Horner's rule
        for c in (*reversed(self.higher), self.ratio, self.offset):
            bend, slope, place = bend * x + 2.0 * slope, slope * x + place, place * x + c
        row = row.astype(object) if isinstance(slope, Node) else row
        row[j[0]] -= slope
        return [q[i[1]] - place], [row], [-bend * rate * rate]

    def check(self, robot: Robot) -> None:
        first = _coordinate(robot, self.joint_a)
        if self.joint_b is not None and first == _coordinate(robot, self.joint_b):
            raise InputError(f"a gear must couple two different joints, got {self.joint_a!r} twice")
        numbers = (self.ratio, self.offset, *self.higher)
        if not all(is_number(x) and np.isfinite(x) for x in numbers):
            raise InputError(f"ratio, offset and higher coefficients of a gear must be finite numbers, got {numbers!r}")

    __repr__ = as_call
    _repr_html_ = as_table


def _coordinate(robot: Robot, name: str) -> tuple[int, int]:
    """(index in v, index in q)."""
    for k, coordinate in enumerate(robot.model.coordinates):
        if coordinate.name == name:
            if coordinate.q_index is None:
                raise InputError(f"{name!r} has a quaternion: only joints with one coordinate can be coupled")
            return k, coordinate.q_index
    raise unknown_name("coordinate", name, robot.coordinate_names)


def smallest_singular_value(singular_values: Array, tolerance: float = LOOP_RANK_TOLERANCE) -> float:
    """Singular values of H up to it are zero: parts of the largest, and rounding errors (m or rad per rad or m)."""
    return max(tolerance * float(singular_values.max(initial=0.0)), RECURSION_ROUNDING)


def closure_rows(
    robot: Robot, closures: Sequence[Closure], q: Array, v: Array, constants: Array | None = None
) -> tuple[Array, Array, Array]:
    """(h, H, Ḣ v) of all closures at one state; ``constants`` are theirs, one after the other."""
    ends = np.cumsum([len(closure.constants) for closure in closures])[:-1]
    given = [None] * len(closures) if constants is None else np.split(constants, ends)
    h, H, bias = joined(*(closure.rows(robot, q, v, x) for closure, x in zip(closures, given, strict=True)))
    return np.array(h), np.array(H), np.array(bias)
