"""The rows of loop closures: kinematics of frames, separations and angles between them, with two derivatives.

Each function gives values h, rows H with ḣ = H v, and the bias Ḣ v, for one state of numbers or symbols.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.robot import Robot
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


def place(robot: Robot, q: Array, v: Array, frame: str) -> Place:
    X, J = robot.pose(q, frame), robot.jacobian(q, frame)
    V, A = robot.velocity(q, v, frame), robot.acceleration(q, v, np.zeros(robot.n), frame)
    return Place(X[:3, 3], X[:3, :3], J[:3], J[3:], V[:3], V[3:], A[:3], A[3:])


def direction(value: Any, name: str) -> Vector:
    array = np.array(value, dtype=float)
    length = np.linalg.norm(array)
    if array.shape != (3,) or not np.isfinite(length) or length == 0.0:
        raise InputError(f"{name}= must be a direction of three numbers, got {value!r}")
    x, y, z = (float(c) for c in array / length)
    return x, y, z


def across(axis: Vector) -> tuple[Array, Array]:
    """Two directions orthogonal to an axis and to each other, from the coordinate axes farthest from it."""
    first, second = np.delete(WORLD, int(np.argmax(np.abs(axis))), axis=0)
    one = first - np.dot(first, axis) * np.array(axis)
    one /= np.linalg.norm(one)
    two = second - np.dot(second, axis) * np.array(axis) - np.dot(second, one) * one
    return one, two / np.linalg.norm(two)


def carrier(robot: Robot, q: Array, v: Array, first: str, second: str) -> Place | None:
    """The last body that moves both frames, or None if none does."""
    model = robot.model
    shared = set.intersection(*(set(model.ancestors(model.frame(name).body)) for name in (first, second)))
    if not shared:
        return None
    return place(robot, q, v, next(frame.name for frame in model.frames.values() if frame.body == max(shared)))


def separation(a: Place, b: Place, c: Place | None = None) -> Rows:
    """d = p_a − p_b in world axes, and its rates as seen from a body c that moves both: ḋ − ω_c × d, equal to ḋ if d = 0.

    The motion of c does not change them. With ḋ itself a planar loop that is open by d would resist turns of c: the row across
    its plane, which the joints of the loop do not change, would depend on these alone.
    """
    d, H, bias = a.p - b.p, a.J - b.J, a.a - b.a
    if c is not None:
        H = H - np.array([cross(w, d) for w in c.J_w.T]).T
        bias = bias - cross(c.w_dot, d) - 2.0 * cross(c.w, a.v - b.v) + cross(c.w, cross(c.w, d))
    return list(d), list(H), list(bias)


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


def cosine(a: Place, b: Place, u: Array, w: Array) -> Angle:
    """u · w of directions u fixed to frame a and w fixed to frame b: its rate is (u × w) · (ω_a − ω_b)."""
    c, relative = cross(u, w), a.w - b.w
    c_dot = cross(cross(a.w, u), w) + cross(u, cross(b.w, w))
    bias = np.dot(c, a.w_dot - b.w_dot) + np.dot(c_dot, relative)
    return Angle(np.dot(u, w), c @ (a.J_w - b.J_w), np.dot(c, relative), bias)


def half_angles(sines: list[Angle], cosine: Angle) -> Rows:
    """2 sin(φ/2) = sin φ / cos(φ/2) for each sine: unlike sin φ it vanishes only for equal orientations, not at half a turn."""
    k = 1.0 / (1.0 + cosine.value)
    g = sqrt(2.0 * k)  # 1 / cos(φ/2)
    g_dot = -0.5 * g * k * cosine.rate
    g_ddot = -0.5 * k * (g_dot * cosine.rate + g * cosine.bias - g * k * cosine.rate * cosine.rate)
    h = [g * s.value for s in sines]
    H = [g * s.row - (0.5 * g * k * s.value) * cosine.row for s in sines]
    bias = [g * s.bias + 2.0 * g_dot * s.rate + g_ddot * s.value for s in sines]
    return h, H, bias


def joined(*parts: Rows) -> Rows:
    h, H, bias = ([row for part in parts for row in part[k]] for k in range(3))
    return h, H, bias


def coincidence(a: Place, b: Place, c: Place | None = None) -> Rows:
    """The separation as seen from c, then 2 sin(φ/2) times the axis of the rotation R_bᵀ R_a, about the axes of b."""
    # R_bᵀ R_a: its skew part is axis · sin φ, its trace 1 + 2 cos φ
    pairs = ((1, 2), (2, 0), (0, 1))
    sines = [cosine(a, b, a.R[:, i], b.R[:, j]).plus(cosine(a, b, a.R[:, j], b.R[:, i]), -1.0).times(0.5) for i, j in pairs]
    x, y, z = (cosine(a, b, a.R[:, i], b.R[:, i]) for i in range(3))
    trace = x.plus(y).plus(z).times(0.5)
    return joined(separation(a, b, c), half_angles(sines, trace._replace(value=trace.value - 0.5)))
