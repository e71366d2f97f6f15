"""Checks of targets: poses, points and orientations, one or a batch of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.spatial.checks import checked_rotation, excess, finite, shape_of
from dynamis.spatial.pose import Pose, checked_pose
from dynamis.spatial.rotation import log_quaternion, to_quaternion
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]


def as_pose(value: Any, name: str = "target", *, batch: bool = False) -> Pose:
    """A `Pose` or a 4 × 4 matrix as a pose, with an orthonormalised rotation; ``batch``: or several, (…, 4, 4)."""
    X = checked_pose(value, name, batch=batch)
    return Pose(_orthonormalised(X.R), X.p)


def as_rotation(value: Any, name: str = "target", *, batch: bool = False) -> Array:
    """The rotation nearest to a 3 × 3 matrix that is orthonormal to `FILE_PRECISION`."""
    return _orthonormalised(checked_rotation(value, name, batch=batch))


def _orthonormalised(R: Array) -> Array:
    # R (RᵀR)^-½: the error of R (1 − E/2), E = RᵀR − 1, is that of R squared, below rounding
    return np.asarray(R - 0.5 * R @ excess(R))


def as_point(value: Any, name: str = "target", *, batch: bool = False) -> Array:
    """A point, given as three numbers or as the position of a pose."""
    if is_pose(value):
        return as_pose(value, name, batch=batch).p
    return finite(value, (3,), name, batch)


def as_orientation(value: Any, name: str = "target", *, batch: bool = False) -> Array:
    """A rotation, given as 3 × 3 or as that of a pose."""
    if is_pose(value):
        return as_pose(value, name, batch=batch).R
    return as_rotation(value, name, batch=batch)


def is_pose(value: Any) -> bool:
    """Whether a value has the form of a pose, or of several."""
    return isinstance(value, Pose) or shape_of(value)[-2:] == (4, 4)


def angles_in_range(target: Array, coordinates: str, rows: tuple[int, ...], names: tuple[str, ...]) -> Array:
    """Euler angles (…, size) with the second one in the range that orientations have: [−π/2, π/2], or [0, π] of equal axes.

    Three angles become those of the same orientation; the second alone has no other value.
    """
    if 1 not in rows:
        return target
    low, high = (-np.pi / 2.0, np.pi / 2.0) if len(set(coordinates)) == 3 else (0.0, np.pi)
    k = rows.index(1)
    second = target[..., k]
    outside = (second < low - FILE_PRECISION) | (second > high + FILE_PRECISION)
    if outside.any() and len(rows) < 3:
        worst = float(np.ravel(second[outside])[0])
        raise InputError(
            f"the target of {names[k]} is {worst:.6g} rad, and this angle is between {low:.4g} and {high:.4g} rad; give all "
            "three angles of the orientation, or one in this range"
        )
    # (a, b, c) is the orientation (a + π, π − b, c + π), of equal first and third axes (a + π, −b, c + π)
    other = target + np.pi
    other[..., k] = (np.pi if low < 0.0 else 0.0) - second
    turn = np.cos(second) < 0.0 if low < 0.0 else np.sin(second) < 0.0
    angles = np.where(turn[..., None], other, target)
    return np.where(outside[..., None], np.arctan2(np.sin(angles), np.cos(angles)), target)


def rotation_vectors(R: Array) -> Array:
    """φ (…, 3), |φ| ≤ π, of rotations (…, 3, 3): the axis times the angle."""
    w = 0.5 * np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    sine = np.linalg.norm(w, axis=-1)
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=-2, axis2=-1) - 1.0))
    phi = w * (angle / np.where(sine > 1e-150, sine, 1.0) + (sine <= 1e-150))[..., None]
    for place in np.argwhere(angle > 3.0):  # rad: nearer to π the antisymmetric part of R determines the axis badly
        phi[tuple(place)] = log_quaternion(to_quaternion(R[tuple(place)]))
    return np.asarray(phi)
