"""Loop closures: coincident frames, a rod between frames, a gear between two joints.

Each closure gives, for one state, its part of h(q) = 0, the rows H with ḣ = H v, and the bias Ḣ v, so that ḧ = H v̇ + Ḣ v.
The formulas accept numbers and symbols. A multiplier λ is the force of ``frame_b`` on ``frame_a``: the virtual work of the
closure is λ · δh = (Hᵀ λ) · δq, with opposite forces on the two sides.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, unknown_name
from dynamis.model.description import LoopClosure
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.scalar import sqrt
from dynamis.spatial import cross

Array = npt.NDArray[Any]
Rows = tuple[list[Any], list[Any], list[Any]]  # h, H, Ḣ v
Vector = tuple[float, float, float]
WORLD = np.eye(3)


class Place(NamedTuple):
    """Kinematics of a frame, in world axes: pose, Jacobians, velocities, accelerations for v̇ = 0."""

    p: Array
    R: Array
    J: Array
    J_w: Array
    v: Array
    w: Array
    a: Array
    w_dot: Array


def _place(robot: Robot, q: Array, v: Array, frame: str) -> Place:
    X, J = robot.pose(q, frame), robot.jacobian(q, frame)
    V, A = robot.velocity(q, v, frame), robot.acceleration(q, v, np.zeros(robot.n), frame)
    return Place(X[:3, 3], X[:3, :3], J[:3], J[3:], V[:3], V[3:], A[:3], A[3:])


def _direction(value: Any, name: str) -> Vector:
    array = np.array(value, dtype=float)
    length = np.linalg.norm(array)
    if array.shape != (3,) or not np.isfinite(length) or length == 0.0:
        raise InputError(f"{name}= must be a direction of three numbers, got {value!r}")
    x, y, z = (float(c) for c in array / length)
    return x, y, z


def _across(axis: Vector) -> tuple[Array, Array]:
    """Two directions orthogonal to an axis and to each other, from the coordinate axes farthest from it."""
    first, second = np.delete(WORLD, int(np.argmax(np.abs(axis))), axis=0)
    one = first - np.dot(first, axis) * np.array(axis)
    one /= np.linalg.norm(one)
    two = second - np.dot(second, axis) * np.array(axis) - np.dot(second, one) * one
    return one, two / np.linalg.norm(two)


def _separation(a: Place, b: Place) -> Rows:
    """p_a − p_b, in world axes."""
    return list(a.p - b.p), list(a.J - b.J), list(a.a - b.a)


class Angle(NamedTuple):
    """A function of an angle between two frames: its value, its row of H, its rate, and its second rate for v̇ = 0."""

    value: Any
    row: Array
    rate: Any
    bias: Any

    def plus(self, other: Angle, factor: float = 1.0) -> Angle:
        return Angle(*(mine + factor * theirs for mine, theirs in zip(self, other, strict=True)))

    def times(self, factor: float) -> Angle:
        return Angle(*(factor * mine for mine in self))


def _cosine(a: Place, b: Place, u: Array, w: Array) -> Angle:
    """u · w of directions u fixed to frame a and w fixed to frame b: its rate is (u × w) · (ω_a − ω_b)."""
    c, relative = cross(u, w), a.w - b.w
    c_dot = cross(cross(a.w, u), w) + cross(u, cross(b.w, w))
    bias = np.dot(c, a.w_dot - b.w_dot) + np.dot(c_dot, relative)
    return Angle(np.dot(u, w), c @ (a.J_w - b.J_w), np.dot(c, relative), bias)


def _half_angles(sines: list[Angle], cosine: Angle) -> Rows:
    """2 sin(φ/2) = sin φ / cos(φ/2) for each sine: unlike sin φ it vanishes only for equal orientations, not at half a turn."""
    k = 1.0 / (1.0 + cosine.value)
    g = sqrt(2.0 * k)  # 1 / cos(φ/2)
    g_dot = -0.5 * g * k * cosine.rate
    g_ddot = -0.5 * k * (g_dot * cosine.rate + g * cosine.bias - g * k * cosine.rate * cosine.rate)
    h = [g * s.value for s in sines]
    H = [g * s.row - (0.5 * g * k * s.value) * cosine.row for s in sines]
    bias = [g * s.bias + 2.0 * g_dot * s.rate + g_ddot * s.value for s in sines]
    return h, H, bias


def _joined(*parts: Rows) -> Rows:
    h, H, bias = ([row for part in parts for row in part[k]] for k in range(3))
    return h, H, bias


def _check_ends(robot: Robot, a: str, b: str) -> None:
    if robot.model.frame(a).body == robot.model.frame(b).body:
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

    @abstractmethod
    def rows(self, robot: Robot, q: Array, v: Array) -> Rows:
        """Return (h, H, Ḣ v) at one state."""

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

    def rows(self, robot: Robot, q: Array, v: Array) -> Rows:
        return _separation(_place(robot, q, v, self.frame_a), _place(robot, q, v, self.frame_b))

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
        object.__setattr__(self, "normal", _direction(self.normal, "normal"))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.frame_a} on {self.frame_b}: {k} in the plane" for k in ("first", "second"))

    def rows(self, robot: Robot, q: Array, v: Array) -> Rows:
        a, b = _place(robot, q, v, self.frame_a), _place(robot, q, v, self.frame_b)
        c = b if self.normal_frame is None else _place(robot, q, v, self.normal_frame)
        d, d_dot, d_ddot = a.p - b.p, a.v - b.v, a.a - b.a
        h, H, bias = [], [], []
        for direction in _across(self.normal):
            e = c.R @ direction
            e_dot = cross(c.w, e)
            h.append(np.dot(e, d))
            H.append(e @ (a.J - b.J) + cross(e, d) @ c.J_w)
            turning = np.dot(cross(c.w_dot, e) + cross(c.w, e_dot), d)
            bias.append(np.dot(e, d_ddot) + 2.0 * np.dot(e_dot, d_dot) + turning)
        return h, H, bias

    def check(self, robot: Robot) -> None:
        _check_ends(robot, self.frame_a, self.frame_b)
        robot.model.frame(self.normal_frame or self.frame_b)

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
        object.__setattr__(self, "axis", _direction(self.axis, "axis"))
        object.__setattr__(self, "axis_b", _direction(self.axis if self.axis_b is None else self.axis_b, "axis_b"))

    @property
    def labels(self) -> tuple[str, ...]:
        turns = tuple(f"{self.frame_a} on {self.frame_b}: {k} tilt" for k in ("first", "second"))
        return (*Point(self.frame_a, self.frame_b).labels, *turns)

    def rows(self, robot: Robot, q: Array, v: Array) -> Rows:
        a, b = _place(robot, q, v, self.frame_a), _place(robot, q, v, self.frame_b)
        z = b.R @ np.array(self.axis_b)
        # a turn of a by θ about each of the two directions across the axis shows as θ
        sines = [_cosine(a, b, a.R @ np.cross(self.axis, about), z) for about in _across(self.axis)]
        return _joined(_separation(a, b), _half_angles(sines, _cosine(a, b, a.R @ np.array(self.axis), z)))

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

    def rows(self, robot: Robot, q: Array, v: Array) -> Rows:
        a, b = _place(robot, q, v, self.frame_a), _place(robot, q, v, self.frame_b)
        # R_bᵀ R_a: its skew part is axis · sin φ, its trace 1 + 2 cos φ
        pairs = ((1, 2), (2, 0), (0, 1))
        sines = [
            _cosine(a, b, a.R[:, i], b.R[:, j]).plus(_cosine(a, b, a.R[:, j], b.R[:, i]), -1.0).times(0.5) for i, j in pairs
        ]
        x, y, z = (_cosine(a, b, a.R[:, i], b.R[:, i]) for i in range(3))
        trace = x.plus(y).plus(z).times(0.5)
        return _joined(_separation(a, b), _half_angles(sines, trace._replace(value=trace.value - 0.5)))

    def check(self, robot: Robot) -> None:
        _check_ends(robot, self.frame_a, self.frame_b)

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

    def rows(self, robot: Robot, q: Array, v: Array) -> Rows:
        a, b = _place(robot, q, v, self.frame_a), _place(robot, q, v, self.frame_b)
        d, d_dot = a.p - b.p, a.v - b.v
        length = sqrt(np.dot(d, d))
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
    """A gear: q_a = ``ratio`` · q_b + ``offset`` of two coordinates. λ is the torque on ``joint_a``, −ratio · λ on b."""

    joint_a: str
    joint_b: str
    ratio: float = 1.0
    offset: float = 0.0

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"{self.joint_a} geared to {self.joint_b}",)

    def rows(self, robot: Robot, q: Array, v: Array) -> Rows:  # noqa: ARG002 - a gear does not depend on the velocity
        i, j = _coordinate(robot, self.joint_a), _coordinate(robot, self.joint_b)
        row = np.zeros(robot.n)
        row[i[0]] += 1.0
        row[j[0]] -= self.ratio
        return [q[i[1]] - self.ratio * q[j[1]] - self.offset], [row], [0.0]

    def check(self, robot: Robot) -> None:
        if _coordinate(robot, self.joint_a) == _coordinate(robot, self.joint_b):
            raise InputError(f"a gear must couple two different joints, got {self.joint_a!r} twice")
        if not np.isfinite([self.ratio, self.offset]).all():
            raise InputError(f"ratio and offset of a gear must be finite numbers, got {self.ratio!r} and {self.offset!r}")

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


def closures(robot: Robot) -> tuple[Closure, ...]:
    """The closures that the file of a robot describes: equality constraints connect, weld and joint of MJCF.

    >>> import dynamis as dy
    >>> dy.loops.closures(dy.load("ur5e"))
    ()
    """
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a Robot, such as dynamis.load('ur5e'), got {type(robot).__name__}")
    found = _of_files.get(robot)
    if found is None:
        found = _of_files[robot] = tuple(map(_of_description, robot.description.closures))
    return found


_of_files: weakref.WeakKeyDictionary[Robot, tuple[Closure, ...]] = weakref.WeakKeyDictionary()


def _of_description(x: LoopClosure) -> Closure:
    if x.kind == "coupled":
        return Coupled(x.first, x.second, x.ratio, x.offset)
    return (Point if x.kind == "point" else Weld)(x.first, x.second)


def given_closures(robot: Robot, wanted: Closure | Sequence[Closure] | None) -> tuple[Closure, ...]:
    """The closures as a tuple, each checked against the robot; None stands for those of its file."""
    check_numeric(robot)
    if wanted is None:
        return closures(robot)
    given = (wanted,) if isinstance(wanted, Closure) else tuple(wanted)
    for closure in given:
        if not isinstance(closure, Closure):
            raise InputError(f"a closure is a Point, InPlane, Pin, Weld, Distance or Coupled, got {type(closure).__name__}")
        closure.check(robot)
    return given


def closures_of(robot: Robot, closures: Closure | Sequence[Closure]) -> tuple[Closure, ...]:
    """At least one closure, as a tuple, each checked against the robot."""
    given = given_closures(robot, closures)
    if not given:
        raise InputError("no closures given: use simulate for a robot without loops")
    return given
