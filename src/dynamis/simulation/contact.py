"""Compliant contact with surfaces, and compliant joint stops.

Each is a plain, traceable function of (t, q, v), passed to `simulate` as a wrench on a frame or as `stops`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, literal
from dynamis.robot import Robot
from dynamis.robot.checks import check_is_robot
from dynamis.scalar import is_number, maximum, minimum, sqrt, tanh, where
from dynamis.spatial import Pose, cross, skew
from dynamis.tolerances import NORM_SMOOTHING

Array = npt.NDArray[Any]
STEP_RANGE = (2e-5, 1e-3)  # s: the shortest and the longest step that is chosen for contacts
NUMERICAL_DAMPING = 0.05  # of oscillations that a step does not resolve: the part of the step by which contacts act later


@dataclass(frozen=True, repr=False)
class Plane:
    """A compliant half-space through ``point``, solid on the side away from ``normal``."""

    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        _check_vector(self.point, "the point of a plane")
        _check_vector(self.normal, "the normal of a plane")
        if not np.any(self.normal):
            raise InputError("the normal of a plane must not be zero; (0, 0, 1) is that of a horizontal floor")

    def nearest(self, p: Array) -> tuple[Any, Array]:
        """Distance above the surface, and the outward normal."""
        n = np.asarray(self.normal, dtype=float)
        n = n / np.linalg.norm(n)
        return np.dot(n, p - np.asarray(self.point)), n

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Ball:
    """A compliant ball."""

    centre: tuple[float, float, float]
    radius: float

    def __post_init__(self) -> None:
        _check_vector(self.centre, "the centre of a ball")
        if not (is_number(self.radius) and 0.0 < self.radius < np.inf):
            raise InputError(f"the radius of a ball must be a finite number above zero, got {self.radius!r}")

    def nearest(self, p: Array) -> tuple[Any, Array]:
        away = p - np.asarray(self.centre)
        distance = sqrt(np.dot(away, away))
        return distance - self.radius, away / distance

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Contact:
    """The wrench of a surface on a frame, as a function of (t, q, v); created by `contact`."""

    robot: Robot
    frame: str
    surface: Plane | Ball
    stiffness: float
    damping: float
    friction: float
    radius: float
    slip: float
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)

    traceable = True

    def __call__(self, _t: Any, q: Array, v: Array) -> Array:
        return self.wrench_at(_pose(self, q), self.robot.velocity(q, v, self.frame))

    def wrench_at(self, X: Pose, twist: Array) -> Array:
        """The wrench at the frame's origin, for the frame's pose and its twist at the origin in world axes."""
        above, n, arm = self._nearest(X)
        depth = maximum(self.radius - above, 0.0)
        velocity = self._velocity(twist, arm)
        closing = -np.dot(n, velocity)
        normal = self.stiffness * depth * maximum(1.0 + self.damping * closing, 0.0)
        sliding = velocity + closing * n
        force = normal * n - self._resistance(normal, sliding) * sliding
        moment = cross(arm, force) if self._has_arm else np.zeros(3)
        return np.concatenate([force, moment])

    @property
    def _has_arm(self) -> bool:
        return bool(self.radius or any(self.point))

    def _nearest(self, X: Pose) -> tuple[Any, Array, Array]:
        """(distance of the sphere's centre, outward normal, vector from the frame's origin to the contact point)."""
        to_centre = X.R @ np.array(self.point) if any(self.point) else np.zeros(3)
        above, n = self.surface.nearest(X.p + to_centre)
        return above, n, to_centre - self.radius * n

    def _velocity(self, twist: Array, arm: Array) -> Array:
        """Of the contact point."""
        return twist[:3] + cross(twist[3:], arm) if self._has_arm else twist[:3]

    def linearised(self, X: Pose, twist: Array, start: Array, h: Any, middle: bool) -> tuple[Array, Array]:
        """(f, D): the mean wrench f − D V' at the frame's origin over a step of length h, for the frame's twist V' at its end.

        ``twist`` is that at the pose X, at the start or in the ``middle`` of the step, and ``start`` that at its start.
        """
        above, n, arm = self._nearest(X)
        normals = np.outer(n, n)
        now, before = (self._velocity(x, arm) for x in (twist, start))
        ahead = 2.0 * now - before
        depth, closing = self.radius - above, -np.dot(n, now)
        early, later, rate, share = -np.dot(n, before), depth + 0.25 * h * closing, 0.0, 1.0
        weight = (0.25 + 2.0 * NUMERICAL_DAMPING) * h
        if middle:
            # the mean of depth and rate over the step, where the prediction holds; damped where the body turns back
            then = -np.dot(n, ahead)
            steady = steadiness(early, then)
            later = depth - h * (0.25 * (closing + steady * (early - closing)) + NUMERICAL_DAMPING * steady * then)
            rate, share, weight = 0.5 * steady * early, 1.0 - 0.5 * steady, (0.25 + NUMERICAL_DAMPING) * h
        # a ball that leaves within the step, or faster than the surface follows, is no longer pushed
        least = minimum(minimum(depth, later + weight * closing), 1.0 + self.damping * closing)
        stiffness, damping = where(least > 0.0, self.stiffness, 0.0), self.damping * maximum(depth, 0.0)
        normal = stiffness * (maximum(later, 0.0) + damping * rate)
        slope = stiffness * (weight + damping * share)
        if middle:
            # one that leaves only by the push in the first half of a step that is too long: implicit in the depth at its end
            first = depth - 0.25 * h * (early + closing)
            lasts = minimum(minimum(first, first + (h + self.damping * first) * early), -least)
            normal = where(lasts > 0.0, self.stiffness * first, normal)
            slope = where(lasts > 0.0, self.stiffness * (h + self.damping * first), slope)
        # friction in slip that lasts is that in the middle; in slip that ends within the step it decelerates and never reverses
        tangents = np.eye(3) - normals
        slip, slip_ahead = tangents @ now, tangents @ ahead
        change = steadiness(tangents @ before, slip_ahead) * (slip - slip_ahead)
        across = self._resistance(maximum(normal - slope * np.dot(n, ahead), 0.0), slip_ahead + change)
        f, D = normal * n - across * change, slope * normals + across * tangents
        to_point = np.hstack([np.eye(3), -skew(arm)]) if self._has_arm else np.eye(3, 6)
        return to_point.T @ f, to_point.T @ D @ to_point

    def _resistance(self, normal: Any, sliding: Array) -> Any:
        """Friction force divided by slip velocity."""
        speed = sqrt(np.dot(sliding, sliding) + NORM_SMOOTHING * NORM_SMOOTHING)
        return self.friction * normal * tanh(speed / self.slip) / speed

    def mass(self, q: Array) -> float:
        """The effective mass along the contact normal, 1 / (n·J M⁻¹ Jᵀ n)."""
        _, n, arm = self._nearest(_pose(self, q))
        J = self.robot.jacobian(q, self.frame)
        row = n @ (J[:3] - skew(arm) @ J[3:])
        mobility = float(row @ np.linalg.solve(self.robot.mass_matrix(q), row))
        return 1.0 / mobility if mobility > 0.0 else np.inf

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class ContactGroup:
    """The wrench of several contacts of one frame, as ``simulate(…, wrenches={frame: [contact, …]})`` combines them."""

    contacts: Sequence[Contact]

    traceable = True

    def __post_init__(self) -> None:
        if len({(one.robot, one.frame) for one in self.contacts}) != 1:
            raise InputError("a contact group requires at least one contact, and all contacts on the same frame of one robot")

    @property
    def robot(self) -> Robot:
        return self.contacts[0].robot

    @property
    def frame(self) -> str:
        return self.contacts[0].frame

    @property
    def stiffness(self) -> float:
        return max(one.stiffness for one in self.contacts)

    def __call__(self, _t: Any, q: Array, v: Array) -> Array:
        return self.wrench_at(_pose(self, q), self.robot.velocity(q, v, self.frame))

    def wrench_at(self, X: Pose, twist: Array) -> Array:
        """The sum of the wrenches; see `Contact.wrench_at`."""
        return np.sum([one.wrench_at(X, twist) for one in self.contacts], axis=0)

    def linearised(self, X: Pose, twist: Array, start: Array, h: Any, middle: bool) -> tuple[Array, Array]:
        """(f, D) of all contacts together; see `Contact.linearised`."""
        parts = [one.linearised(X, twist, start, h, middle) for one in self.contacts]
        return np.sum([f for f, _ in parts], axis=0), np.sum([D for _, D in parts], axis=0)

    def mass(self, q: Array) -> float:
        """The smallest effective mass of the contacts."""
        return min(one.mass(q) for one in self.contacts)

    __repr__ = as_call
    _repr_html_ = as_table


def contact(
    robot: Robot,
    frame: str | None,
    surface: Plane | Ball,
    *,
    stiffness: float,
    damping: float = 0.0,
    friction: float = 0.0,
    radius: float = 0.0,
    slip: float = 1e-3,
    point: Any = (0.0, 0.0, 0.0),
) -> Contact:
    """The wrench of a surface on a sphere fixed to a frame, at the frame's origin: for ``simulate(…, wrenches={frame: …})``.

    The sphere has its centre at ``point``, in the frame's own axes. At penetration ``x``: N = k x (1 + c ẋ), never pulling
    [Hunt & Crossley 1975], with stiffness k [N/m] and damping c [s/m]; friction μ N tanh(s / ``slip``) opposite to the
    velocity s along the surface: under a load F < μ N it creeps at s = ``slip`` artanh(F / (μ N)).

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> floor = Plane((0, -1, 0), (0, 1, 0))
    >>> push = contact(arm, None, floor, stiffness=1e4)
    >>> push(0.0, np.array([-np.pi / 4, 0.0]), np.zeros(2)).round(3)[:2]
    array([   0.   , 4142.136])
    """
    check_is_robot(robot)
    if not isinstance(surface, Plane | Ball):
        raise InputError(f"the surface of a contact must be a dynamis.Plane or dynamis.Ball, got {literal(surface)}")
    numbers = {"stiffness": stiffness, "damping": damping, "friction": friction, "radius": radius, "slip": slip}
    for name, value in numbers.items():
        positive = name in ("stiffness", "slip")
        if not (is_number(value) and 0.0 <= value < np.inf) or (positive and value == 0.0):
            raise InputError(f"{name}= of a contact must be a finite number {'>' if positive else '≥'} 0, got {literal(value)}")
    _check_vector(point, "the point of a contact")
    x, y, z = map(float, point)
    return Contact(robot, robot.model.frame(frame).name, surface, stiffness, damping, friction, radius, slip, (x, y, z))


def _check_vector(values: Any, what: str) -> None:
    try:
        vector = np.array(values, dtype=float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"{what} must be three finite coordinates, got {values!r}")


def steadiness(start: Any, end: Any) -> Any:
    """From 1, for a velocity that lasts or grows over a step, to 0 for one that ends or turns back."""
    return minimum(maximum(np.dot(start, end) / (np.dot(start, start) + NORM_SMOOTHING * NORM_SMOOTHING), 0.0), 1.0)


def step_for(contacts: Sequence[Contact | ContactGroup], q: Array) -> float:
    """A step that resolves the oscillation of the effective masses on the contacts: √(m/k) / 10, within ``STEP_RANGE``."""
    shortest = min((0.1 * np.sqrt(c.mass(q) / c.stiffness) for c in contacts), default=STEP_RANGE[1])
    return float(np.clip(shortest, *STEP_RANGE))


def contacts_in(wrenches: Mapping[str, Any] | None) -> list[Contact | ContactGroup]:
    """The contacts among the wrenches of a simulation, by frame."""
    given = [(frame, grouped(w)) for frame, w in (wrenches or {}).items()]
    return [w for frame, w in given if isinstance(w, Contact | ContactGroup) and w.frame == frame]


def grouped(wrench: Any) -> Any:
    """A list of contacts as one wrench; other wrenches as they are."""
    several = isinstance(wrench, list | tuple) and len(wrench) > 0 and all(isinstance(x, Contact) for x in wrench)
    return ContactGroup(tuple(wrench)) if several else wrench


def _pose(contact: Contact | ContactGroup, q: Array) -> Pose:
    """The pose of the contact's frame."""
    matrix = contact.robot.pose(q, contact.frame)
    return Pose(matrix[:3, :3], matrix[:3, 3])


def joint_stops(robot: Robot, *, stiffness: float, damping: float = 0.0) -> Callable[[Any, Array, Array], Array]:
    """Compliant joint stops: torques k x (1 + c ẋ) beyond the joint limits, never pulling."""
    check_is_robot(getattr(robot, "robot", robot))  # that of a ConstrainedRobot
    limits = robot.limits
    numbers = [(k, c.q_index) for k, c in enumerate(robot.model.coordinates) if c.q_index is not None]
    bounded = [(k, j) for k, j in numbers if np.isfinite(limits["lower"][k]) or np.isfinite(limits["upper"][k])]
    if not (all(is_number(x) and 0.0 <= x < np.inf for x in (stiffness, damping)) and stiffness > 0):
        raise InputError(f"stops require finite numbers stiffness > 0 and damping ≥ 0, got {stiffness!r} and {damping!r}")
    if not bounded:
        raise InputError(f"robot {robot.name!r} has no joint with limits: stops have no effect")

    def push(_t: Any, q: Array, v: Array) -> Array:
        torque = np.zeros(robot.n, dtype=object if object in (np.asarray(q).dtype, np.asarray(v).dtype) else float)
        for k, j in bounded:
            over = maximum(q[j] - limits["upper"][k], 0.0) if np.isfinite(limits["upper"][k]) else 0.0
            under = maximum(limits["lower"][k] - q[j], 0.0) if np.isfinite(limits["lower"][k]) else 0.0
            torque[k] = stiffness * (under * maximum(1.0 - damping * v[k], 0.0) - over * maximum(1.0 + damping * v[k], 0.0))
        return torque

    push.traceable = True  # type: ignore[attr-defined]
    return push
