"""Checks of targets: poses, points and orientations, one or a batch of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.spatial import Pose
from dynamis.spatial.rotation import log_quaternion, to_quaternion
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]


def as_pose(value: Any, name: str = "target", *, batch: bool = False) -> Pose:
    """A `Pose` or a 4 × 4 matrix as a pose, with an orthonormalised rotation; ``batch``: or several, (…, 4, 4)."""
    if isinstance(value, Pose):
        R, p = finite(value.R, (3, 3), f"the rotation of {name}"), finite(value.p, (3,), f"the position of {name}")
        return Pose(as_rotation(R, name), p)
    X = finite(value, (4, 4), name, batch)
    if not (X[..., 3, :] == (0.0, 0.0, 0.0, 1.0)).all():
        row = X[..., 3, :].reshape(-1, 4)
        wrong = row[(row != (0.0, 0.0, 0.0, 1.0)).any(axis=1)][0]
        raise InputError(f"{name} is not a pose: its last row must be (0, 0, 0, 1), not {tuple(wrong.tolist())}")
    return Pose(as_rotation(X[..., :3, :3], name, batch=batch), X[..., :3, 3])


def as_rotation(value: Any, name: str = "target", *, batch: bool = False) -> Array:
    """The rotation nearest to a 3 × 3 matrix that is orthonormal to `FILE_PRECISION`."""
    R = finite(value, (3, 3), name, batch)
    excess = np.swapaxes(R, -1, -2) @ R - np.eye(3)
    wrong = np.abs(excess) > FILE_PRECISION * (1.0 + np.eye(3))  # on the diagonal are squares of lengths
    if wrong.any():
        _explain_no_rotation(excess[wrong.any(axis=(-2, -1))][0], name)
    volume = (np.cross(R[..., 0], R[..., 1]) * R[..., 2]).sum(axis=-1) if R.ndim > 2 else _determinant(*R.ravel().tolist())
    if np.any(volume < 0.0):
        raise InputError(f"{name} is not a pose: its rotation is a reflection (determinant −1); change the sign of one column")
    # R (RᵀR)^-½: the error of R (1 − E/2), E = RᵀR − 1, is that of R squared, below rounding
    return np.asarray(R - 0.5 * R @ excess)


def _determinant(a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float, i: float) -> float:
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def _explain_no_rotation(excess: Array, name: str) -> None:
    """RᵀR − 1 as a sentence."""
    lengths = np.sqrt(1.0 + np.diagonal(excess))
    if np.abs(lengths - 1.0).max() > FILE_PRECISION:
        worst = int(np.abs(lengths - 1.0).argmax())
        raise InputError(
            f"{name} is not a pose: column {worst} of its rotation has length {lengths[worst]:.6g}, not 1; "
            "positions are targets of kind='position'"
        )
    i, j = np.unravel_index(int(np.abs(excess).argmax()), (3, 3))
    raise InputError(f"{name} is not a pose: columns {i} and {j} of its rotation are not orthogonal")


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


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a value as an array; of what is no array, ()."""
    if isinstance(value, np.ndarray):
        return value.shape
    try:
        return np.shape(value)
    except ValueError:  # ragged
        return ()


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


def finite(value: Any, shape: tuple[int, ...], name: str, batch: bool = False) -> Array:
    """An array of finite numbers of this shape; ``batch``: also with leading axes."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers of shape {shape}, got {type(value).__name__}") from None
    if (array.shape[-len(shape) :] if batch else array.shape) != shape:
        raise InputError(f"{name} has shape {array.shape}; it must be {shape}" + (" or a batch of these" if batch else ""))
    if not np.isfinite(array).all():
        raise InputError(f"{name} contains {array[~np.isfinite(array)].flat[0]}; every entry must be a finite number")
    return array
