"""The same motion in frames that cost less: link frames slid along and turned about their own joint axes.

Where on its axis a revolute joint has its origin, and which way its link's frame is turned when the angle is zero, is the
file's choice and no matter of dynamics. Here origins slide until a placement has no component along the axis, and
constant turns about an axis become an offset of its angle; both leave zeros and ones where there were numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.joints import Fixed, Revolute
from dynamis.model.model import Body, Model
from dynamis.spatial.inertia import Inertia, seen_from
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY
from dynamis.tolerances import SUM_ROUNDING

Array = npt.NDArray[Any]


def reframe(model: Model, apart: bool) -> Model:
    """A model with the same q, v, torques and accelerations, whose link frames are elsewhere.

    ``apart`` gives oblique placements a body of their own: turning a tensor twice costs less than by the product of both
    turns, turning a few vectors does not.
    """
    bodies = list(model.bodies)
    for i, _ in model.moving:
        body = bodies[i]
        assert body is not None
        axis = _axis(body)
        if axis is None:
            continue
        body = _own_turn(body, axis)
        children = [(k, child) for k in model.children[i] if (child := bodies[k]) is not None]
        shift = Pose(_turn_for(axis, [child for _, child in children]), axis * _slide(body, axis))
        bodies[i] = _moved(body, axis, shift)
        for k, child in children:
            bodies[k] = replace(child, placement=_clean(shift.inverse() @ child.placement))
    return replace(model, bodies=tuple(_with_placement_bodies(bodies) if apart else bodies))


def _axis(body: Body) -> Array | None:
    """The axis of a revolute joint, if it is a coordinate axis."""
    return body.motion.axis if isinstance(body.motion, Revolute) and _is_aligned_axis(body.motion.axis) else None


def _with_placement_bodies(bodies: list[Body | None]) -> list[Body | None]:
    """Oblique placements as massless bodies before the joints."""
    result: list[Body | None] = []
    number: list[int] = []
    for body in bodies:
        own = body
        if body is not None:
            own = replace(body, parent=number[body.parent])
            if _axis(body) is not None and _is_turn_about_axis(body.placement.R):
                result.append(Body("", own.parent, body.placement, Fixed(), Fixed.S, Inertia.zero(), slice(0, 0), ()))
                own = replace(own, parent=len(result) - 1, placement=Pose.identity())
        number.append(len(result))
        result.append(own)
    return result


def _own_turn(body: Body, u: Array) -> Body:
    """A placement's turn about the joint's own axis, made part of the angle."""
    R = body.placement.R
    aligned = _aligned_with(R, u)
    if _is_aligned(R) or aligned is None:
        return body
    return replace(body, placement=Pose(aligned, body.placement.p), offset=body.offset + _angle(aligned.T @ R, u))


def _slide(body: Body, u: Array) -> Any:
    """How far along its axis the origin goes; symbols go with it."""
    direction = body.placement.R @ u
    return -np.dot(body.placement.p, direction) if _is_aligned_axis(direction) else 0.0


def _turn_for(u: Array, children: list[Body]) -> Array:
    """The turn about u after which a child's placement is aligned with the axes, if one of them needs it."""
    for child in children:
        R = child.placement.R
        aligned = _aligned_with(R.T, u)
        if not _is_aligned(R) and aligned is not None:
            return np.asarray(R @ aligned)
    return IDENTITY


def _moved(body: Body, u: Array, shift: Pose) -> Body:
    """The body with its frame moved by a turn about and a slide along its axis."""
    R, p = body.placement
    return replace(
        body,
        placement=_clean(Pose(R, p + R @ shift.p)),
        offset=body.offset + _angle(shift.R, u),
        inertia=seen_from(body.inertia, shift.inverse()),
    )


def _aligned_with(R: Array, u: Array) -> Array | None:
    """The rotation by right angles that agrees with R along u, if there is one."""
    direction = R @ u
    if not _is_aligned_axis(direction):
        return None
    a, b = int(np.argmax(np.abs(u))), int(np.argmax(np.abs(direction)))
    result = np.zeros((3, 3))
    result[b, a] = np.round(direction[b] * u[a])
    result[(b + 1) % 3, (a + 1) % 3] = 1.0
    result[(b + 2) % 3, (a + 2) % 3] = result[b, a]
    return result


def _angle(turn: Array, u: Array) -> float:
    """The angle of a turn about u."""
    S = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return float(np.arctan2(0.5 * np.dot(u, S), 0.5 * (np.trace(turn) - 1.0)))


def _is_aligned_axis(u: Array) -> bool:
    return u.dtype != object and int(np.sum(np.abs(u) > SUM_ROUNDING)) == 1


def _is_aligned(R: Array) -> bool:
    return R.dtype == object or int(np.sum(np.abs(R) > SUM_ROUNDING)) == 3


def _clean(pose: Pose) -> Pose:
    if object in (pose.R.dtype, pose.p.dtype):
        return pose
    R = np.where(np.abs(pose.R) <= SUM_ROUNDING, 0.0, pose.R)
    R = np.where(np.abs(np.abs(R) - 1.0) <= SUM_ROUNDING, np.round(R), R)
    return Pose(R, np.where(np.abs(pose.p) <= SUM_ROUNDING * np.abs(pose.p).max(initial=0.0), 0.0, pose.p))


def _is_turn_about_axis(R: Array) -> bool:
    return R.dtype != object and int(np.sum(np.abs(R) > SUM_ROUNDING)) == 5
