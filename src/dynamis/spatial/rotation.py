"""Rotations: matrices, axis and angle, roll-pitch-yaw, unit quaternions (x, y, z, w).

A rotation matrix R maps coordinates of the turned frame to those of the fixed one: ``p_fixed = R @ p_turned``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar import atan2, cos, sin, sqrt, where
from dynamis.tolerances import SERIES_ONE_TERM, SERIES_THREE_TERMS

Array = npt.NDArray[Any]
IDENTITY = np.eye(3)
IDENTITY.setflags(write=False)


def skew(u: Array) -> Array:
    """The matrix S(u) with S(u) w = u × w.

    >>> skew(np.array([1.0, 2.0, 3.0])) @ np.array([1.0, 2.0, 3.0])
    array([0., 0., 0.])
    """
    x, y, z = u
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross(u: Array, w: Array) -> Array:
    """u × w, for vectors of any scalar; for matrices, column by column."""
    u, w = np.asarray(u), np.asarray(w)
    a, b, c = u.tolist() if u.ndim == 1 else u  # Python's numbers: quicker than NumPy's
    x, y, z = w.tolist() if w.ndim == 1 else w
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def blocks(A: Array, B: Array, C: Array, D: Array) -> Array:
    """The matrix [[A, B], [C, D]]: ``np.block`` takes several times as long for small ones."""
    return np.concatenate([np.concatenate([A, B], axis=1), np.concatenate([C, D], axis=1)])


def about_axis(axis: Array, angle: Any) -> Array:
    """The rotation by an angle about a unit axis.

    Rodrigues' formula written as a aᵀ + cos (1 − a aᵀ) + sin S(a): for a coordinate axis each entry is then a plain
    0, 1, sine or cosine, with nothing left to simplify.
    """
    along = np.outer(axis, axis)
    return along + cos(angle) * (IDENTITY - along) + sin(angle) * skew(axis)


def from_rpy(rpy: Any) -> Array:
    """Roll about x, then pitch about y, then yaw about z, all about fixed axes: Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = rpy
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def to_rpy(R: Array) -> Array:
    """Roll, pitch and yaw of a rotation; at pitch ±π/2, where only their sum is defined, roll is 0."""
    sp = -R[2, 0]
    cp = np.hypot(R[0, 0], R[1, 0])
    if cp > 1e-9:
        return np.array([np.arctan2(R[2, 1], R[2, 2]), np.arctan2(sp, cp), np.arctan2(R[1, 0], R[0, 0])])
    return np.array([0.0, np.arctan2(sp, cp), np.arctan2(-R[0, 1], R[1, 1])])


def from_quaternion(quaternion: Array) -> Array:
    """The rotation of a unit quaternion (x, y, z, w)."""
    x, y, z, w = quaternion
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def to_quaternion(R: Array) -> Array:
    """The unit quaternion (x, y, z, w) of a rotation, with w ≥ 0; the largest component is found first, for accuracy."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    square = np.array([1.0 + 2.0 * R[0, 0] - trace, 1.0 + 2.0 * R[1, 1] - trace, 1.0 + 2.0 * R[2, 2] - trace, 1.0 + trace])
    k = int(np.argmax(square))
    big = np.sqrt(square[k]) / 2.0
    off = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    q = np.empty(4)
    q[k] = big
    if k == 3:
        q[:3] = off / (4.0 * big)
    else:
        i, j = (k + 1) % 3, (k + 2) % 3
        q[i], q[j], q[3] = (R[k, i] + R[i, k]) / (4.0 * big), (R[k, j] + R[j, k]) / (4.0 * big), off[k] / (4.0 * big)
    return q / np.linalg.norm(q) if q[3] >= 0.0 else -q / np.linalg.norm(q)


def multiply_quaternions(a: Array, b: Array) -> Array:
    """The quaternion of the rotation b followed, in fixed axes, by a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def exp_quaternion(phi: Array) -> Array:
    """The quaternion of the rotation by |φ| about φ."""
    square = phi @ phi
    is_turned = square > SERIES_THREE_TERMS
    angle = sqrt(where(is_turned, square, 1.0))  # without the root of zero, which has no derivative
    cosine = where(is_turned, cos(0.5 * angle), 1.0 + square * (-0.125 + square / 384.0))
    return np.append(_half_sine(square) * phi, cosine)


def log_quaternion(q: Array) -> Array:
    """The rotation vector φ, |φ| ≤ π, of a unit quaternion."""
    shorter = where(q[3] < 0.0, -1.0, 1.0)
    w, square = shorter * q[3], q[:3] @ q[:3]
    is_turned = square > SERIES_ONE_TERM
    s = sqrt(where(is_turned, square, 1.0))
    return np.asarray(shorter * where(is_turned, 2.0 * atan2(s, w) / s, 2.0 / where(is_turned, 1.0, w)) * q[:3])


def left_jacobian(phi: Array) -> Array:
    """∫₀¹ exp(s S(φ)) ds: what a constant body twist makes of its linear part while it turns by φ."""
    S, square = skew(phi), phi @ phi
    is_turned = square > SERIES_THREE_TERMS
    x = where(is_turned, square, 1.0)
    angle = sqrt(x)
    b = where(is_turned, (angle - sin(angle)) / (angle * x), 1.0 / 6.0 + square * (-1.0 / 120.0 + square / 5040.0))
    return np.asarray(np.eye(3) + 2.0 * _half_sine(square) ** 2 * S + b * (S @ S))


def left_jacobian_derivative(phi: Array, rho: Array) -> Array:
    """∂(left_jacobian(φ) ρ)/∂φ, from left_jacobian(φ) ρ = ρ + a φ × ρ + b φ × (φ × ρ)."""
    square = phi @ phi
    is_turned = square > SERIES_THREE_TERMS
    x = where(is_turned, square, 1.0)
    angle = sqrt(x)
    s, c = sin(angle), cos(angle)
    a = 2.0 * _half_sine(square) ** 2
    b = where(is_turned, (angle - s) / (angle * x), 1.0 / 6.0 + square * (-1.0 / 120.0 + square / 5040.0))
    # their derivatives with respect to |φ|, over |φ|
    da = where(
        is_turned, (angle * s - 4.0 * sin(0.5 * angle) ** 2) / (x * x), -1.0 / 12.0 + square * (1.0 / 180.0 - square / 6720.0)
    )
    db = where(
        is_turned, (3.0 * s - angle * (c + 2.0)) / (angle * x * x), -1.0 / 60.0 + square * (1.0 / 1260.0 - square / 60480.0)
    )
    once = cross(phi, rho)
    twice = cross(phi, once)
    return np.asarray(np.outer(da * once + db * twice, phi) - a * skew(rho) - b * (skew(once) + skew(phi) @ skew(rho)))


def inverse_left_jacobian(phi: Array) -> Array:
    """The inverse of `left_jacobian`, for |φ| < 2π."""
    S, square = skew(phi), phi @ phi
    is_turned = square > SERIES_THREE_TERMS
    x = where(is_turned, square, 1.0)
    half = 0.5 * sqrt(x)
    b = where(is_turned, (1.0 - half * cos(half) / sin(half)) / x, 1.0 / 12.0 + square * (1.0 / 720.0 + square / 30240.0))
    return np.asarray(np.eye(3) - 0.5 * S + b * (S @ S))


def _half_sine(square: Any) -> Any:
    """sin(φ/2) / φ of an angle given by its square, finite at 0."""
    is_turned = square > SERIES_THREE_TERMS
    angle = sqrt(where(is_turned, square, 1.0))
    return where(is_turned, sin(0.5 * angle) / angle, 0.5 + square * (-1.0 / 48.0 + square / 3840.0))
