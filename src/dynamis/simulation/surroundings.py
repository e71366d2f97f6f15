"""The world around the robot: surfaces that push back, and stops at the ends of the joints' ranges.

Each is a plain function of (t, q, v), to be given to `simulate` as a wrench on a frame or as `stops`; the forces are smooth
enough to integrate and written so that they can be traced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.scalar import maximum, sqrt, tanh

Array = npt.NDArray[Any]
SMALL = 1e-12  # m/s, under the root: the direction of slip where there is none does not matter


@dataclass(frozen=True, repr=False)
class Plane:
    """A compliant half-space through ``point``, solid on the side away from ``normal``."""

    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def nearest(self, p: Array) -> tuple[Any, Array]:
        """Distance above the surface, and the outward direction."""
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

    def nearest(self, p: Array) -> tuple[Any, Array]:
        away = p - np.asarray(self.centre)
        distance = sqrt(np.dot(away, away))
        return distance - self.radius, away / distance

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
) -> Callable[[Any, Array, Array], Array]:
    """The wrench of a surface on a sphere fixed to a frame, at the frame's origin: for ``simulate(…, wrenches={frame: …})``.

    The sphere has its centre at ``point``, in the frame's own axes. At penetration ``x``: N = k x (1 + c ẋ), never pulling
    [Hunt & Crossley 1975], with stiffness k [N/m] and damping c [s/m]; friction μ N against the slip, smoothed below the
    velocity ``slip``.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> floor = Plane((0, -1, 0), (0, 1, 0))
    >>> push = contact(arm, None, floor, stiffness=1e4)
    >>> push(0.0, np.array([-np.pi / 4, 0.0]), np.zeros(2)).round(3)[:2]
    array([   0.   , 4142.136])
    """
    if not (stiffness > 0 and damping >= 0 and friction >= 0 and radius >= 0 and slip > 0):
        raise InputError("a contact needs stiffness > 0, damping, friction and radius ≥ 0, slip > 0")
    name = robot.model.frame(frame).name
    centre = np.array(point, dtype=float)
    if centre.shape != (3,) or not np.isfinite(centre).all():
        raise InputError(f"the point of a contact is three finite coordinates in the frame's axes, got {point!r}")

    def push(_t: Any, q: Array, v: Array) -> Array:
        pose = robot.pose(q, name)
        moving = robot.velocity(q, v, name)
        to_centre = pose[:3, :3] @ centre if centre.any() else centre
        above, n = surface.nearest(pose[:3, 3] + to_centre)
        depth = maximum(radius - above, 0.0)
        arm = to_centre - radius * n  # from the frame's origin to where the sphere touches
        away = bool(centre.any() or radius)
        velocity = moving[:3] + np.cross(moving[3:], arm) if away else moving[:3]
        closing = -np.dot(n, velocity)
        normal = stiffness * depth * maximum(1.0 + damping * closing, 0.0)
        sliding = velocity + closing * n
        speed = sqrt(np.dot(sliding, sliding) + SMALL * SMALL)
        force = normal * n - (friction * normal * tanh(speed / slip) / speed) * sliding
        moment = np.cross(arm, force) if away else np.zeros(3)
        return np.concatenate([force, moment])

    push.traceable = True  # type: ignore[attr-defined]
    return push


def joint_stops(robot: Robot, *, stiffness: float, damping: float = 0.0) -> Callable[[Any, Array, Array], Array]:
    """Torques of compliant stops beyond the limits of the joints: k x (1 + c ẋ), never pulling."""
    limits = robot.limits
    numbers = [(k, c.q_index) for k, c in enumerate(robot.model.coordinates) if c.q_index is not None]
    bounded = [(k, j) for k, j in numbers if np.isfinite(limits["lower"][k]) or np.isfinite(limits["upper"][k])]
    if not (stiffness > 0 and damping >= 0):
        raise InputError("stops need stiffness > 0 and damping ≥ 0")
    if not bounded:
        raise InputError(f"robot {robot.name!r} has no joint with limits: there is nothing to stop at")

    def push(_t: Any, q: Array, v: Array) -> Array:
        torque = np.zeros(robot.n, dtype=object if object in (np.asarray(q).dtype, np.asarray(v).dtype) else float)
        for k, j in bounded:
            over = maximum(q[j] - limits["upper"][k], 0.0) if np.isfinite(limits["upper"][k]) else 0.0
            under = maximum(limits["lower"][k] - q[j], 0.0) if np.isfinite(limits["lower"][k]) else 0.0
            torque[k] = stiffness * (under * maximum(1.0 - damping * v[k], 0.0) - over * maximum(1.0 + damping * v[k], 0.0))
        return torque

    push.traceable = True  # type: ignore[attr-defined]
    return push
