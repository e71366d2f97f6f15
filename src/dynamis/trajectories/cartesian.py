"""Cartesian motions of a frame: straight lines, arcs, screws.

All three are one curve. A point that starts at p₀ with the rate v₀, which turns at θ about the unit axis u per unit of s, is at

    p(s) = p₀ + (s uuᵀ + sin(θs)/θ (1 − uuᵀ) + (1 − cos θs)/θ S(u)) v₀,    p' = Rot(u, θs) v₀,    p'' = θ u × p'.

With θ = 0 that is a line, with v₀ across the axis a circle, and otherwise a helix [Murray, Li & Sastry 1994, §2.3]. Meanwhile
the orientation turns at a constant rate about one axis of the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError
from dynamis.kinematics.targets import as_point, as_pose, rotation_vectors
from dynamis.scalar import Node, cos, maximum, minimum, sin
from dynamis.spatial import Pose, skew
from dynamis.tolerances import RECURSION_ROUNDING
from dynamis.trajectories.motion import Motion, Polynomials, State
from dynamis.trajectories.profiles import polynomial
from dynamis.trajectories.validate import positive

Array = npt.NDArray[Any]
X_AXIS = np.array([1.0, 0.0, 0.0])  # about which nothing turns, where nothing turns


@dataclass(frozen=True, eq=False, repr=False)
class CartesianMotion:
    """A path of poses from s = 0 to s = 1 with the time law s(t): ``at(t)`` is (pose, twist, acceleration).

    Poses are 4 × 4, twists (ṗ, ω) and accelerations (p̈, ω̇) in world axes at the frame's origin.
    """

    clock: Polynomials
    start: Pose
    rate: Array  # dp/ds at the start
    bend: Array  # θ u: how the direction of travel turns, for each unit of s
    turn: Array  # how the orientation turns, for each unit of s

    @property
    def duration(self) -> float:
        return self.clock.duration

    @property
    def length(self) -> float:
        """Path length of the frame origin, in m."""
        return float(np.linalg.norm(self.rate))

    @property
    def angle(self) -> float:
        """Rotation angle of the frame, in rad."""
        return float(np.linalg.norm(self.turn))

    def at(self, t: Any) -> State:
        """(pose (…, 4, 4), twist (…, 6), acceleration (…, 6)) at a time, at times (…), or at a symbolic time.

        Before the start and after the end the frame is at rest.
        """
        s, s1, s2 = self.clock.at(t)
        X, V, A = self.along(minimum(maximum(s, 0.0), 1.0))
        s1, s2 = (x[..., None] if isinstance(x, np.ndarray) else x for x in (s1, s2))
        return X, V * s1, V * s2 + A * (s1 * s1)

    def along(self, s: Any) -> State:
        """The pose at s with its first and second derivative by s, as twist and acceleration."""
        theta, u = _angle_and_axis(self.bend)
        W, along = skew(u), np.outer(u, u)
        sine, versine = sin(theta * s), 2.0 * sin(0.5 * theta * s) * sin(0.5 * theta * s)
        if theta > RECURSION_ROUNDING:
            p = _times(s, along @ self.rate) + _times(sine / theta, self.rate - along @ self.rate)
            p = p + _times(versine / theta, W @ self.rate)
        else:
            p = _times(s, self.rate)
        angle, axis = _angle_and_axis(self.turn)
        p1 = _turned(theta * s, u, self.rate)
        X = _poses(_rotation(angle * s, axis, self.start.R), self.start.p + p)
        p2 = _turned(theta * s, u, theta * (W @ self.rate))
        return X, _spatial(p1, self.turn), _spatial(p2, 0.0 * self.turn)

    def __repr__(self) -> str:
        return f"<CartesianMotion: {self.length:.4g} m, {self.angle:.4g} rad, {self.duration:.4g} s>"

    _repr_html_ = as_table


def line(pose0: Any, pose1: Any, profile: Polynomials | float) -> CartesianMotion:
    """Straight line from pose to pose, with the shortest rotation about a fixed axis.

    ``profile`` goes from 0 to 1 (`polynomial`, `trapezoidal`, `double_s`), or is a duration.

    >>> import numpy as np
    >>> there = np.eye(4)
    >>> there[:3, 3] = 0.3, 0.0, 0.4
    >>> motion = line(np.eye(4), there, 2.0)
    >>> motion.length, motion.at(1.0)[0][:3, 3]
    (0.5, array([0.15, 0.  , 0.2 ]))
    """
    X0, X1 = as_pose(pose0, "pose0"), as_pose(pose1, "pose1")
    return CartesianMotion(_clock(profile), X0, X1.p - X0.p, np.zeros(3), _turn(X0.R, X1.R))


def screw(pose0: Any, pose1: Any, profile: Polynomials | float) -> CartesianMotion:
    """The screw motion from pose to pose, exp([ξ] s) X₀: rotation about one axis with translation along it.

    >>> import numpy as np
    >>> turned = np.diag([-1.0, -1.0, 1.0, 1.0])  # half a turn about z …
    >>> turned[0, 3] = 2.0  # … about an axis through (1, 0, 0)
    >>> screw(np.eye(4), turned, 1.0).at(0.5)[0][:3, 3].round(12) + 0.0
    array([ 1., -1.,  0.])
    """
    X0, X1 = as_pose(pose0, "pose0"), as_pose(pose1, "pose1")
    turn = _turn(X0.R, X1.R)
    theta, u = _angle_and_axis(turn)
    rate = X1.p - X0.p
    if theta > RECURSION_ROUNDING:
        along = np.outer(u, u)
        over = along + np.sin(theta) / theta * (np.eye(3) - along) + 2.0 * np.sin(theta / 2.0) ** 2 / theta * skew(u)
        rate = np.linalg.solve(over, rate)
    return CartesianMotion(_clock(profile), X0, rate, turn, turn)


def arc(pose0: Any, via: Any, pose1: Any, profile: Polynomials | float) -> CartesianMotion:
    """Circular arc from pose to pose through an intermediate point, with the shortest rotation.

    >>> import numpy as np
    >>> end = np.eye(4)
    >>> end[0, 3] = 2.0
    >>> round(arc(np.eye(4), [1.0, 1.0, 0.0], end, 1.0).length, 6)
    3.141593
    """
    X0, X1, between = as_pose(pose0, "pose0"), as_pose(pose1, "pose1"), as_point(via, "via")
    a, b = between - X0.p, X1.p - X0.p
    normal = np.cross(a, b)
    size = float(np.linalg.norm(normal))
    if size <= 1e-9 * max(float(a @ a), float(b @ b)):
        raise InputError("the three points of the arc are collinear or coincide: use line, or change the intermediate point")
    u = normal / size
    centre = (float(b @ b) * np.cross(a, normal) - float(a @ a) * np.cross(b, normal)) / (-2.0 * size * size)
    # from the start through the point between to the end, the positive way about the normal
    spoke, last = -centre, b - centre
    theta = float(np.arctan2(u @ np.cross(spoke, last), spoke @ last)) % (2.0 * np.pi)
    return CartesianMotion(_clock(profile), X0, np.cross(theta * u, spoke), theta * u, _turn(X0.R, X1.R))


def _clock(profile: Polynomials | float) -> Polynomials:
    if not isinstance(profile, Motion):
        return polynomial(0.0, 1.0, positive(profile, "the duration"))
    if isinstance(profile, Polynomials) and profile.shape == ():
        ends = profile.inside(np.array([0.0, profile.duration]))[0]
        if np.abs(ends - [0.0, 1.0]).max() < 1e-9:
            return profile
    raise InputError("a profile along a path must go from 0 to 1, such as trapezoidal(0, 1, velocity=…, acceleration=…)")


def _turn(R0: Array, R1: Array) -> Array:
    return rotation_vectors(R1 @ R0.T)


def _angle_and_axis(phi: Array) -> tuple[float, Array]:
    angle = float(np.linalg.norm(phi))
    return angle, phi / angle if angle > 0.0 else X_AXIS


def _times(factor: Any, x: Array) -> Any:
    """The product of a number, many numbers (…) or a node with an array: (…, *shape)."""
    return factor * x if isinstance(factor, Node) else np.multiply.outer(factor, x)


def _rotation(angle: Any, axis: Array, R: Array) -> Any:
    """Rot(axis, angle) R (…, 3, 3)."""
    along = np.outer(axis, axis)
    return along @ R + _times(cos(angle), (np.eye(3) - along) @ R) + _times(sin(angle), skew(axis) @ R)


def _turned(angle: Any, axis: Array, x: Array) -> Any:
    """Rot(axis, angle) x (…, 3)."""
    return _rotation(angle, axis, x[:, None])[..., 0]


def _poses(R: Any, p: Any) -> Any:
    X = np.zeros((*p.shape[:-1], 4, 4), dtype=object if object in (R.dtype, p.dtype) else float)
    X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = R, p, 1.0
    return X


def _spatial(linear: Any, angular: Array) -> Any:
    return np.concatenate([linear, np.broadcast_to(angular, linear.shape)], axis=-1)
