"""Orientation as task coordinates: errors in world axes, and the relation of coordinate rates to angular acceleration."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.jacobian import orientation_coordinates, orientation_rate_map
from dynamis.errors import InputError
from dynamis.scalar import cos, sin, sqrt, where
from dynamis.spatial import cross, skew
from dynamis.tolerances import RANK_TOLERANCE, SERIES_FIVE_TERMS

Array = npt.NDArray[Any]

EULER = ("rpy", "zyx", "xyz", "zyz", "zxz")
COORDINATES = ("geometric", "rotation_vector", *EULER)


def orientation_error(R_desired: Any, R: Any) -> Array:
    """e with R_d = exp(S(e)) R: the rotation vector in world axes that takes R to R_d, |e| ≤ π.

    >>> import numpy as np
    >>> orientation_error([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], np.eye(3)).round(6).tolist()
    [0.0, 0.0, 1.570796]
    """
    return orientation_coordinates(np.asarray(R_desired) @ np.asarray(R).T, "rotation_vector")


def rotation_of(phi: Array) -> Array:
    """exp(S(φ)), Rodrigues' formula, for numbers and symbols: 1 + (sin|φ|/|φ|) S + ((1 − cos|φ|)/|φ|²) S²."""
    a, b = _exponential_factors(np.dot(phi, phi))
    S = skew(phi)
    return np.eye(3) + (1.0 - np.dot(phi, phi) * b) * S + a * (S @ S)


def _exponential_factors(square: Any) -> tuple[Any, Any]:
    """a = (1 − cos θ)/θ² and b = (θ − sin θ)/θ³ as functions of θ²."""
    small = square < SERIES_FIVE_TERMS
    x = where(small, square, 0.0)
    y = where(small, 1.0, square)
    angle = sqrt(y)
    a = where(small, 1 / 2 - x * (1 / 24 - x * (1 / 720 - x * (1 / 40320 - x / 3628800))), (1.0 - cos(angle)) / y)
    b = where(small, 1 / 6 - x * (1 / 120 - x * (1 / 5040 - x * (1 / 362880 - x / 39916800))), (1.0 - sin(angle) / angle) / y)
    return a, b


def _slopes(square: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """da/dθ² and db/dθ², from sin θ/θ = 1 − θ² b and cos θ = 1 − θ² a."""
    small = square < SERIES_FIVE_TERMS
    x = where(small, square, 0.0)
    y = where(small, 1.0, square)
    da = where(small, -1 / 24 + x * (1 / 360 - x * (1 / 13440 - x / 907200)), (1.0 - y * b - 2.0 * a) / (2.0 * y))
    db = where(small, -1 / 120 + x * (1 / 2520 - x * (1 / 120960 - x / 9979200)), (a - 3.0 * b) / (2.0 * y))
    return da, db


def rate_map(R: Array, kind: str) -> Array:
    """T with ω = T φ̇ for the coordinates φ(R)."""
    return orientation_rate_map(R, kind)


def rate_map_drift(R: Array, kind: str, phi_dot: Array) -> Array:
    """Ṫ φ̇: the angular acceleration ω̇ = T φ̈ + Ṫ φ̇ for constant φ̇."""
    if kind == "rotation_vector":
        return _rotation_vector_drift(orientation_coordinates(R, kind), phi_dot)
    # each column of T is an axis that turns with the rotations before it
    T, order = rate_map(R, kind), (2, 1, 0) if kind == "rpy" else (0, 1, 2)
    drift, w = np.zeros(3), np.zeros(3)
    for k in order:
        spin = T[:, k] * phi_dot[k]
        drift, w = drift + cross(w, spin), w + spin
    return drift


def _rotation_vector_drift(phi: Array, phi_dot: Array) -> Array:
    """Ṫ φ̇ of T = 1 + a S + b S², S = S(φ): S(φ̇) φ̇ is zero, which leaves three terms."""
    square, along = np.dot(phi, phi), 2.0 * np.dot(phi, phi_dot)
    a, b = _exponential_factors(square)
    da, db = _slopes(square, a, b)
    turned = cross(phi, phi_dot)
    return (da * along) * turned + (db * along) * cross(phi, turned) + b * cross(phi_dot, turned)


def inverse_times(T: Array, columns: Array) -> Array:
    """T⁻¹ columns by cofactors, for numbers and symbols; infinite where the coordinates are singular."""
    cofactors = np.array([cross(T[:, 1], T[:, 2]), cross(T[:, 2], T[:, 0]), cross(T[:, 0], T[:, 1])])
    determinant = np.dot(T[:, 0], cofactors[0])
    # so near a singularity no digit of the rates is right: say infinite rather than 1e16
    determinant = where(determinant * determinant < RANK_TOLERANCE * RANK_TOLERANCE, 0.0, determinant)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((cofactors @ columns) / determinant)


def as_rotation(value: Any) -> Array:
    try:
        R = np.array(value, dtype=float)
    except (TypeError, ValueError):
        R = np.zeros(0)
    R = R[:3, :3] if R.shape == (4, 4) else R
    if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0.0:
        raise InputError("reference= must be a rotation matrix (3 × 3), such as robot.pose(q)[:3, :3]")
    return R
