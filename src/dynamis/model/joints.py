"""The joint types, in one table: `JOINT_TYPES`.

Five primitive motions carry every algorithm; each has a motion subspace S that is constant in the moving frame:

    revolute    q = angle about the axis                    v = q̇
    prismatic   q = distance along the axis                 v = q̇
    helical     q = angle, pitch · q the distance along     v = q̇
    spherical   q = unit quaternion (x, y, z, w)            v = angular velocity in the moving frame
    free        q = (position, unit quaternion)             v = twist (v, ω) in the moving frame

The compound types are sequences of primitives with massless bodies between them:

    cylindrical = prismatic, then revolute, about the same axis                         q = (distance, angle)
    universal   = revolute about the axis, then about the second axis                   q = (angle, angle)
    planar      = prismatic along x and along y of the plane, then revolute about the   q = (x, y, angle)
                  normal; the axis is the plane's normal

``continuous`` is a revolute joint without position limits; it keeps one number for q.

One motion is no joint of a file: the rotor of a motor that rides on a link (`Spin`) turns in proportion to a joint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.scalar import sqrt
from dynamis.spatial import rotation
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]


class Primitive(ABC):
    """One primitive motion: what q means (``pose``), what v means (``S``), and how to move on the manifold of q."""

    nq: int
    nv: int
    S: Array
    drawn: str  # the name of the motion in the interactive views

    @abstractmethod
    def pose(self, q: Array) -> Pose:
        """The moved frame in the frame it moves against."""

    @abstractmethod
    def integrate(self, q: Array, dv: Array) -> Array:
        """The configuration reached from q by the constant velocity dv during one unit of time."""

    @abstractmethod
    def difference(self, q0: Array, q1: Array) -> Array:
        """The dv with integrate(q0, dv) = q1."""

    @abstractmethod
    def carried(self, dv: Array) -> Array:
        """∂ integrate(q, dv) / ∂q: a small motion before the step, seen after it (nv, nv)."""

    @abstractmethod
    def step_jacobian(self, dv: Array) -> Array:
        """∂ integrate(q, dv) / ∂dv, as a small motion after the step (nv, nv)."""

    @abstractmethod
    def inverse_step_jacobian(self, dv: Array) -> Array:
        """The inverse of `step_jacobian`."""

    @abstractmethod
    def neutral(self) -> Array:
        """The configuration where the two frames coincide."""

    @abstractmethod
    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        """``count`` random configurations, within the limits where they are finite (count, nq)."""


class OneNumber(Primitive):
    """What the motions with q̇ = v share."""

    axis: Array
    nq = nv = 1
    span = 1.0

    def integrate(self, q: Array, dv: Array) -> Array:
        return q + dv

    def difference(self, q0: Array, q1: Array) -> Array:
        return q1 - q0

    def carried(self, dv: Array) -> Array:
        return np.eye(len(dv))

    def step_jacobian(self, dv: Array) -> Array:
        return np.eye(len(dv))

    inverse_step_jacobian = step_jacobian

    def neutral(self) -> Array:
        return np.zeros(1)

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        low, high = self.interval(float(lower[0]), float(upper[0]))
        return rng.uniform(low, high, (count, 1))

    def interval(self, low: float, high: float) -> tuple[float, float]:
        """Where random positions lie: between the limits; an infinite one is replaced."""
        if not np.isfinite(low):
            low = high - 2.0 * self.span if np.isfinite(high) else -self.span
        if not np.isfinite(high):
            high = low + 2.0 * self.span
        return low, high


class Revolute(OneNumber):
    drawn = "revolute"
    span = np.pi

    def __init__(self, axis: Array) -> None:
        self.axis = axis
        self.S = np.concatenate([np.zeros(3), axis])[:, None]

    def pose(self, q: Array) -> Pose:
        return Pose(rotation.about_axis(self.axis, q[0]), np.zeros(3))


class Prismatic(OneNumber):
    drawn = "prismatic"

    def __init__(self, axis: Array) -> None:
        self.axis = axis
        self.S = np.concatenate([axis, np.zeros(3)])[:, None]

    def pose(self, q: Array) -> Pose:
        return Pose(rotation.IDENTITY, self.axis * q[0])


class Helical(OneNumber):
    drawn = "helical"
    span = np.pi

    def __init__(self, axis: Array, pitch: Any) -> None:
        self.axis, self.pitch = axis, pitch
        self.S = np.concatenate([axis * pitch, axis])[:, None]

    def pose(self, q: Array) -> Pose:
        return Pose(rotation.about_axis(self.axis, q[0]), self.axis * (self.pitch * q[0]))


class Spin(OneNumber):
    """A rotor that turns ``ratio`` times as fast as the joint it drives, about an axis of the link it rides on.

    A rotor looks the same whichever way it is turned, so its frame may stay where the link's is: no angle is multiplied by a
    large ratio, only the velocity is. What differentiates poses needs the frame that does turn, ``turning``.
    """

    drawn = "fixed"  # the rotor is hidden in its motor
    span = np.pi

    def __init__(self, axis: Array, ratio: Any) -> None:
        self.axis, self.ratio = axis, ratio
        self.S = np.concatenate([np.zeros(3), ratio * axis])[:, None]

    def pose(self, _q: Array) -> Pose:
        return Pose.identity()

    def turning(self, q: Array) -> Pose:
        """The frame that turns with the rotor."""
        return Pose(rotation.about_axis(self.axis, self.ratio * q[0]), np.zeros(3))


class Fixed(Primitive):
    """No motion: a placement with a frame of its own."""

    drawn = "fixed"
    nq = nv = 0
    S = np.zeros((6, 0))

    def pose(self, _q: Array) -> Pose:
        return Pose.identity()

    def integrate(self, q: Array, _dv: Array) -> Array:
        return q

    def difference(self, _q0: Array, _q1: Array) -> Array:
        return np.zeros(0)

    def carried(self, dv: Array) -> Array:
        return np.eye(len(dv))

    def step_jacobian(self, dv: Array) -> Array:
        return np.eye(len(dv))

    inverse_step_jacobian = step_jacobian

    def neutral(self) -> Array:
        return np.zeros(0)

    def random(self, _rng: np.random.Generator, _lower: Array, _upper: Array, count: int) -> Array:
        return np.zeros((count, 0))


class Spherical(Primitive):
    drawn = "spherical"
    nq, nv = 4, 3
    S = np.vstack([np.zeros((3, 3)), np.eye(3)])

    def pose(self, q: Array) -> Pose:
        return Pose(rotation.from_quaternion(q), np.zeros(3))

    def integrate(self, q: Array, dv: Array) -> Array:
        turned = rotation.multiply_quaternions(q, rotation.exp_quaternion(dv))
        return np.asarray(turned / sqrt(turned @ turned))

    def difference(self, q0: Array, q1: Array) -> Array:
        conjugate = q0 * np.array([-1.0, -1.0, -1.0, 1.0])
        return rotation.log_quaternion(rotation.multiply_quaternions(conjugate, q1))

    def carried(self, dv: Array) -> Array:
        return rotation.from_quaternion(rotation.exp_quaternion(dv)).T

    def step_jacobian(self, dv: Array) -> Array:
        return rotation.left_jacobian(-dv)

    def inverse_step_jacobian(self, dv: Array) -> Array:
        return rotation.inverse_left_jacobian(-dv)

    def neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0])

    def random(self, rng: np.random.Generator, _lower: Array, _upper: Array, count: int) -> Array:
        q = rng.standard_normal((count, 4))
        return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))


class Free(Primitive):
    drawn = "free"
    nq, nv = 7, 6
    S = np.eye(6)
    _turn = Spherical()

    def pose(self, q: Array) -> Pose:
        return Pose(rotation.from_quaternion(q[3:]), q[:3])

    def integrate(self, q: Array, dv: Array) -> Array:
        moved = rotation.from_quaternion(q[3:]) @ (rotation.left_jacobian(dv[3:]) @ dv[:3])
        return np.concatenate([q[:3] + moved, self._turn.integrate(q[3:], dv[3:])])

    def difference(self, q0: Array, q1: Array) -> Array:
        phi = self._turn.difference(q0[3:], q1[3:])
        moved = rotation.from_quaternion(q0[3:]).T @ (q1[:3] - q0[:3])
        return np.concatenate([rotation.inverse_left_jacobian(phi) @ moved, phi])

    def carried(self, dv: Array) -> Array:
        moved = rotation.left_jacobian(dv[3:]) @ dv[:3]
        return Pose(self._turn.carried(dv[3:]).T, moved).inverse().Ad()

    def step_jacobian(self, dv: Array) -> Array:
        turned, coupled = self._turn.step_jacobian(dv[3:]), self._coupling(dv)
        return np.block([[turned, coupled], [np.zeros((3, 3)), turned]])

    def inverse_step_jacobian(self, dv: Array) -> Array:
        inverse = self._turn.inverse_step_jacobian(dv[3:])
        return np.block([[inverse, -inverse @ self._coupling(dv) @ inverse], [np.zeros((3, 3)), inverse]])

    def _coupling(self, dv: Array) -> Array:
        """How a change of the rotation displaces the origin, in the moved frame."""
        return np.asarray(self._turn.carried(dv[3:]) @ rotation.left_jacobian_derivative(dv[3:], dv[:3]))

    def neutral(self) -> Array:
        return np.concatenate([np.zeros(3), self._turn.neutral()])

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        return np.hstack([rng.uniform(-1.0, 1.0, (count, 3)), self._turn.random(rng, lower, upper, count)])


@dataclass(frozen=True, eq=False)
class Stage:
    """One primitive of a joint: its motion, and what its coordinate is called beside the joint's name."""

    motion: Primitive
    suffix: str


def plane_axes(normal: Array) -> Array:
    """The rotation whose z is the normal, turned from the frame's own z by the shortest way (about x for −z)."""
    x, y, z = normal
    if isinstance(z, float) and z < -1.0 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    # 1 / (1 + z), without the cancellation where z is near −1
    k = (1.0 - z) / (x * x + y * y) if isinstance(z, float) and z < 0.0 else 1.0 / (1.0 + z)
    return np.array([[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, z]])


def _planar(axis: Array) -> list[Stage]:
    E = plane_axes(axis)
    return [Stage(Prismatic(E[:, 0]), ".x"), Stage(Prismatic(E[:, 1]), ".y"), Stage(Revolute(axis), ".angle")]


@dataclass(frozen=True)
class JointType:
    """``fields`` are those of a joint of a file on which its motion depends, and the arguments of ``stages``."""

    degrees: int
    fields: tuple[str, ...]
    stages: Callable[..., list[Stage]]


JOINT_TYPES = {
    "fixed": JointType(0, (), list),
    "revolute": JointType(1, ("axis",), lambda axis: [Stage(Revolute(axis), "")]),
    "continuous": JointType(1, ("axis",), lambda axis: [Stage(Revolute(axis), "")]),
    "prismatic": JointType(1, ("axis",), lambda axis: [Stage(Prismatic(axis), "")]),
    "helical": JointType(1, ("axis", "pitch"), lambda axis, pitch: [Stage(Helical(axis, pitch), "")]),
    "cylindrical": JointType(2, ("axis",), lambda axis: [Stage(Prismatic(axis), ".distance"), Stage(Revolute(axis), ".angle")]),
    "universal": JointType(
        2, ("axis", "axis2"), lambda axis, axis2: [Stage(Revolute(axis), ".1"), Stage(Revolute(axis2), ".2")]
    ),
    "planar": JointType(3, ("axis",), _planar),
    "spherical": JointType(3, (), lambda: [Stage(Spherical(), "")]),
    "free": JointType(6, (), lambda: [Stage(Free(), "")]),
}
OF_SOME_TYPES = ("axis2", "pitch")  # fields that other types do not use
USES_AXIS = frozenset(name for name, kind in JOINT_TYPES.items() if "axis" in kind.fields)


def check_fields(joint: str, kind: str, given: Collection[str]) -> None:
    """Raise an `InputError` for given fields of a joint that its type does not use, and for a helical joint without pitch."""
    if not isinstance(kind, str) or kind not in JOINT_TYPES:
        return  # found when the robot is built
    used = JOINT_TYPES[kind].fields
    for field in OF_SOME_TYPES:
        if field in given and field not in used:
            others = ", ".join(name for name, one in JOINT_TYPES.items() if field in one.fields)
            raise InputError(
                f"{field}= has no effect on joint {printable(joint)}, which is {kind}; types that use it: {others}"
            )
    if "pitch" in used and "pitch" not in given:
        cure = "give pitch=, the lead of the thread divided by 2π, in metres per radian, or make the joint revolute"
        raise InputError(f"the {kind} joint {printable(joint)} has no pitch: {cure}")


def stages(kind: str, **fields: Any) -> list[Stage]:
    """The primitives a joint of this type is made of, in order from its parent; fields it does not use are ignored."""
    return JOINT_TYPES[kind].stages(*(fields[name] for name in JOINT_TYPES[kind].fields))
