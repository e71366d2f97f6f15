"""Checks of targets: poses, points and orientations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.spatial import Pose
from dynamis.spatial.rotation import log_quaternion, to_quaternion
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]


def as_pose(value: Any, name: str = "target") -> Pose:
    """A `Pose` or a 4 × 4 matrix as a pose, with an orthonormalised rotation."""
    if isinstance(value, Pose):
        R, p = _finite(value.R, (3, 3), f"the rotation of {name}"), _finite(value.p, (3,), f"the position of {name}")
        return Pose(as_rotation(R, name), p)
    X = _finite(value, (4, 4), name)
    if not np.array_equal(X[3], [0.0, 0.0, 0.0, 1.0]):
        raise InputError(f"{name} is not a pose: its last row must be (0, 0, 0, 1), not {tuple(X[3].tolist())}")
    return Pose(as_rotation(X[:3, :3], name), X[:3, 3])


def as_rotation(value: Any, name: str = "target") -> Array:
    """The rotation nearest to a 3 × 3 matrix that is orthonormal to `FILE_PRECISION`."""
    R = _finite(value, (3, 3), name)
    lengths = np.linalg.norm(R, axis=0)
    if np.abs(lengths - 1.0).max() > FILE_PRECISION:
        worst = int(np.abs(lengths - 1.0).argmax())
        raise InputError(f"{name} is not a pose: column {worst} of its rotation has length {lengths[worst]:.6g}, not 1")
    products = np.abs(R.T @ R - np.eye(3))
    if products.max() > FILE_PRECISION:
        i, j = np.unravel_index(int(products.argmax()), (3, 3))
        raise InputError(f"{name} is not a pose: columns {i} and {j} of its rotation are not orthogonal")
    if np.linalg.det(R) < 0.0:
        raise InputError(f"{name} is not a pose: its rotation is a reflection (determinant −1); change the sign of one column")
    U, _, Vt = np.linalg.svd(R)
    return np.asarray(U @ Vt)


def as_point(value: Any, name: str = "target") -> Array:
    """A point, given as three numbers or as the position of a pose."""
    if isinstance(value, Pose) or np.shape(value) == (4, 4):
        return as_pose(value, name).p
    return _finite(value, (3,), name)


def as_orientation(value: Any, name: str = "target") -> Array:
    """A rotation, given as 3 × 3 or as that of a pose."""
    if isinstance(value, Pose) or np.shape(value) == (4, 4):
        return as_pose(value, name).R
    return as_rotation(value, name)


def rotation_vectors(R: Array) -> Array:
    """φ (…, 3), |φ| ≤ π, of rotations (…, 3, 3): the axis times the angle."""
    w = 0.5 * np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    sine = np.linalg.norm(w, axis=-1)
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=-2, axis2=-1) - 1.0))
    phi = w * (angle / np.where(sine > 1e-150, sine, 1.0) + (sine <= 1e-150))[..., None]
    for place in np.argwhere(angle > 3.0):  # rad: nearer to π the antisymmetric part of R determines the axis badly
        phi[tuple(place)] = log_quaternion(to_quaternion(R[tuple(place)]))
    return np.asarray(phi)


def _finite(value: Any, shape: tuple[int, ...], name: str) -> Array:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers of shape {shape}, got {type(value).__name__}") from None
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; it must be {shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} contains {array[~np.isfinite(array)].flat[0]}; every entry must be a finite number")
    return array
