"""Checks of vectors, rotations and poses that users give."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.scalar import Node
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]


def finite(value: Any, shape: tuple[int, ...], name: str, batch: bool = False) -> Array:
    """An array of finite numbers of this shape; ``batch``: also with leading axes."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        expected = f"an array of numbers of shape {shape}" if shape else "a number"
        raise InputError(f"{name} must be {expected}, got {type(value).__name__}") from None
    _check_shape(array, shape, name, batch)
    if not np.isfinite(array).all():
        raise InputError(f"{name} contains {array[~np.isfinite(array)].flat[0]}; every entry must be a finite number")
    return array


def finite_or_symbolic(value: Any, shape: tuple[int, ...], name: str, batch: bool = False) -> Array:
    """The same, also of symbols: then only the shape is checked."""
    if is_symbolic(value):
        array = np.array(value)
        _check_shape(array, shape, name, batch)
        return array
    return finite(value, shape, name, batch)


def is_symbolic(value: Any) -> bool:
    """Whether an array, or what becomes one, contains symbols."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return False
    if not shape_of(value):
        return False
    array = np.asarray(value)
    return array.dtype == object and any(isinstance(x, Node) for x in array.flat)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a value as an array; of what is no array, ()."""
    if isinstance(value, np.ndarray):
        return value.shape
    try:
        return np.shape(value)
    except ValueError:  # ragged
        return ()


def not_rotations(R: Array) -> Array:
    """Which of the matrices (…, 3, 3) are not orthonormal to `FILE_PRECISION`, or are reflections."""
    wrong = np.abs(excess(R)) > FILE_PRECISION * (1.0 + np.eye(3))  # on the diagonal are squares of lengths
    return np.asarray(wrong.any(axis=(-2, -1)) | (_determinants(R) < 0.0))


def excess(R: Array) -> Array:
    """RᵀR − 1."""
    return np.asarray(np.swapaxes(R, -1, -2) @ R - np.eye(3))


def checked_rotation(value: Any, name: str, *, batch: bool = False) -> Array:
    """A 3 × 3 matrix that is a rotation to `FILE_PRECISION`, or one with symbols; ``batch``: or several, (…, 3, 3)."""
    R = finite_or_symbolic(value, (3, 3), name, batch)
    if R.dtype != object and (wrong := not_rotations(R)).any():
        raise InputError(f"{name} is not a pose: {_fault(R[wrong][0])}")
    return R


def _fault(R: Array) -> str:
    """What distinguishes a matrix from a rotation."""
    E = excess(R)
    lengths = np.sqrt(1.0 + np.diagonal(E))
    worst = int(np.abs(lengths - 1.0).argmax())
    if abs(lengths[worst] - 1.0) > FILE_PRECISION:
        return f"column {worst} of its rotation has length {lengths[worst]:.6g}, not 1; without a rotation: Pose.translation(p)"
    i, j = np.unravel_index(int(np.abs(E).argmax()), (3, 3))
    if abs(E[i, j]) > FILE_PRECISION:
        return f"columns {i} and {j} of its rotation are not orthogonal"
    return "its rotation is a reflection (determinant −1); change the sign of one column"


def _determinants(R: Array) -> Array:
    (a, b, c), (d, e, f), (g, h, i) = R.tolist() if R.ndim == 2 else np.moveaxis(R, (-2, -1), (0, 1))
    return np.asarray(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))


def _check_shape(array: Array, shape: tuple[int, ...], name: str, batch: bool) -> None:
    if (array.shape[-len(shape) :] if batch else array.shape) != shape:
        raise InputError(f"{name} has shape {array.shape}; it must be {shape}" + (" or a batch of these" if batch else ""))
