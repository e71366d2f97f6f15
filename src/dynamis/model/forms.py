"""Denavit–Hartenberg parameters and screws as joints.

A joint is origin · motion · tail (see `description.Joint`):

    standard     Rz(θ) Tz(d) · Tx(a) Rx(α)       the link's frame is beyond the link, its joint turns about z_{i−1}
    modified     Rx(α) Tx(a) · Rz(θ) Tz(d)       (Craig) the link's frame is on its own joint's axis z_i
    exponential  g(0) exp(X q)                   any home pose g(0), the screw X in the link's own frame
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import ConversionError, InputError, printable
from dynamis.model.build import snap, snap_pose, trial_lengths, unit
from dynamis.model.description import Joint
from dynamis.scalar import Node
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import about_axis
from dynamis.tolerances import FEW_ROUNDINGS, SUM_ROUNDING

Array = npt.NDArray[Any]


X_AXIS, Z_AXIS = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
X_AXIS.setflags(write=False)
Z_AXIS.setflags(write=False)


def _rx(angle: Any) -> Pose:
    return Pose(snap(about_axis(X_AXIS, angle)), np.zeros(3))


def _rz(angle: Any) -> Pose:
    return Pose(snap(about_axis(Z_AXIS, angle)), np.zeros(3))


def _tx(a: Any) -> Pose:
    return Pose.translation([a, 0.0, 0.0])


def _tz(d: Any) -> Pose:
    return Pose.translation([0.0, 0.0, d])


def joint_from_dh(kind: str, a: Any, alpha: Any, d: Any, theta: Any) -> tuple[Pose, Pose]:
    """(origin, tail) of a joint in standard form; θ (or d, where the joint slides) is the offset added to q."""
    if kind == "prismatic":
        return _rz(theta) @ _tz(d), _tx(a) @ _rx(alpha)
    return _rz(theta), _tz(d) @ _tx(a) @ _rx(alpha)


def joint_from_modified_dh(_kind: str, a: Any, alpha: Any, d: Any, theta: Any) -> tuple[Pose, Pose]:
    """(origin, tail) of a joint in modified form, turning or sliding alike; a and α are those written a_{i−1}, α_{i−1}."""
    return _rx(alpha) @ _tx(a) @ _rz(theta) @ _tz(d), Pose.identity()


def joint_from_screw(home: Pose, screw: Array, stated_type: str | None = None) -> tuple[str, Pose, Array, Any, Pose]:
    """(type, origin, axis, pitch, tail) of the joint home · exp(X q), X = (v, ω) in the link's frame.

    ``stated_type`` is the type a file gives beside the screw; it must be what the screw is.
    """
    if stated_type == "fixed":
        return "fixed", home, Z_AXIS.copy(), 0.0, Pose.identity()
    v, w = screw[:3], screw[3:]
    if not _any_nonzero(w):
        if not _any_nonzero(v):
            raise InputError("the screw is zero; give (vx, vy, vz, wx, wy, wz)")
        _require_unit(v, "linear part of a sliding screw")
        _require_type(stated_type, ("prismatic",))
        return "prismatic", home, unit(v), 0.0, Pose.identity()
    _require_unit(w, "angular part of a screw")
    pitch = np.dot(w, v)
    point = np.array([w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2], w[0] * v[1] - w[1] * v[0]])  # ω × v
    # ω · v of a pure rotation is rounding noise of |v|
    size = max([1.0, *(abs(x) for x in v if not isinstance(x, Node))])
    plain = not isinstance(pitch, Node) and abs(pitch) <= SUM_ROUNDING * size
    _require_type(stated_type, ("revolute", "continuous", "helical") if plain else ("helical",))
    name = (stated_type or "revolute") if plain else "helical"
    if name != "helical" or (plain and abs(pitch) <= FEW_ROUNDINGS * max(abs(x) for x in v)):
        pitch = 0.0
    return name, home @ Pose.translation(point), unit(w), pitch, Pose.translation(-point)


def _any_nonzero(values: Array) -> bool:
    return any(isinstance(x, Node) or x != 0.0 for x in values)


def _require_type(stated_type: str | None, allowed: tuple[str, ...]) -> None:
    if stated_type is not None and stated_type not in allowed:
        raise InputError(f"the screw is a {allowed[0]} joint's, but the type says {stated_type}; correct one of them")


def _require_unit(direction: Array, what: str) -> None:
    """Refuse a direction whose length is not 1, with symbols in it at any of some values of these."""
    symbols, lengths = trial_lengths(direction)
    if not (np.abs(lengths - 1.0) <= 1e-6).all():
        depends = f"a length that depends on {', '.join(map(str, symbols))}"
        raise InputError(f"the {what} has {depends if np.ptp(lengths) > 1e-6 else f'length {lengths[0]:g}'}, it must be 1")


def screw_of(joint: Joint) -> tuple[Pose, Array]:
    """(g(0), X) of a joint with one degree of freedom: the exponential form."""
    if joint.type not in ("revolute", "continuous", "prismatic", "helical"):
        raise ConversionError(
            f"joint {printable(joint.name)} is {joint.type}: a product of exponentials holds joints with one degree of freedom"
        )
    axis = unit(joint.axis)
    zero = np.zeros(3)
    twist = {
        "prismatic": np.concatenate([axis, zero]),
        "helical": np.concatenate([joint.pitch * axis, axis]),
    }.get(joint.type, np.concatenate([zero, axis]))
    return snap_pose(joint.origin @ joint.tail), _with_pitch(joint.tail.twist_inward(twist), joint)


def _with_pitch(screw: Array, joint: Joint) -> Array:
    """The screw with ω · v the pitch: far from the axis rounding adds to it, and a rotation would be read as helical."""
    if joint.type == "prismatic" or screw.dtype == object:
        return screw
    pitch, w = joint.pitch if joint.type == "helical" else 0.0, screw[3:]
    return np.concatenate([screw[:3] + (pitch - np.dot(w, screw[:3])) * w, w])
