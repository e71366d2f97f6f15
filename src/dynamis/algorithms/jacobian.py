"""Jacobians: geometric, their rates, and analytic ones for several coordinates of orientation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses, twists, world_poses
from dynamis.errors import InputError
from dynamis.model.model import Frame, Model
from dynamis.scalar import atan2, cos, sin, sqrt, where
from dynamis.spatial import Pose, about_axis, cross, skew
from dynamis.tolerances import ARCTAN_SERIES_THREE_TERMS, RANK_TOLERANCE, SERIES_TWO_TERMS

Array = npt.NDArray[Any]


def _columns(model: Model, X_W: list[Pose], body: int) -> Any:
    """(degree of freedom, body j, r, z) of each column J = (r + z × (p − p_j), z) of a point p on a body."""
    for j in model.ancestors(body):
        carrier = model.bodies[j]
        assert carrier is not None
        for k, column in zip(carrier.dof, carrier.S.T, strict=True):
            yield k, j, X_W[j].R @ column[:3], X_W[j].R @ column[3:]


def jacobian(model: Model, q: Array, frame: Frame) -> Array:
    """The geometric Jacobian (6 × n): (ṗ, ω) = J v, at the frame's origin, in world axes [Siciliano 2009, §3.1.3]."""
    X_W = world_poses(model, relative_poses(model, q))
    p = (X_W[frame.body] @ frame.pose).p
    J = model.zeros((6, model.n), q)
    for k, j, r, z in _columns(model, X_W, frame.body):
        J[:3, k] += r + cross(z, p - X_W[j].p)
        J[3:, k] += z
    return J


def joint_twists(model: Model, q: Array) -> Array:
    """The twist (v, ω) about the world's origin, in world axes, that each column of each body's joint gives (columns, 6).

    The Jacobian of a point p on body i has the columns v + ω × p of body i and its ancestors.
    """
    X_W = world_poses(model, relative_poses(model, q))
    rows = []
    for i, body in model.moving:
        for column in body.S.T:
            z = X_W[i].R @ column[3:]
            rows.append(np.concatenate([X_W[i].R @ column[:3] + cross(X_W[i].p, z), z]))
    return np.array(rows).reshape(-1, 6)


def jacobian_dot(model: Model, q: Array, v: Array, frame: Frame) -> Array:
    """dJ/dt (6 × n): each axis rotates with its body, each lever arm changes with its end points."""
    X = relative_poses(model, q)
    X_W = world_poses(model, X)
    V = [_in_world(P, twist) for P, twist in zip(X_W, twists(model, X, v), strict=True)]
    p = (X_W[frame.body] @ frame.pose).p
    p_dot = V[frame.body][0] + cross(V[frame.body][1], p - X_W[frame.body].p)
    J = model.zeros((6, model.n), q, v)
    for k, j, r, z in _columns(model, X_W, frame.body):
        velocity, w = V[j]
        r_dot, z_dot = cross(w, r), cross(w, z)
        J[:3, k] += r_dot + cross(z_dot, p - X_W[j].p) + cross(z, p_dot - velocity)
        J[3:, k] += z_dot
    return J


def _in_world(X_W: Pose, V: Array) -> tuple[Array, Array]:
    return X_W.R @ V[:3], X_W.R @ V[3:]


def com_jacobian(model: Model, X_W: list[Pose], i: int) -> tuple[Array, Array]:
    """(J_P, J_O) of body i's centre of mass, for the energies [Rocco, slide "Somma dei contributi"]."""
    body = model.bodies[i]
    assert body is not None
    p = X_W[i].R @ body.inertia.com + X_W[i].p
    J = model.zeros((6, model.n), X_W[i].R)
    for k, j, r, z in _columns(model, X_W, i):
        J[:3, k] += r + cross(z, p - X_W[j].p)
        J[3:, k] += z
    return J[:3], J[3:]


# angular velocity in world axes as a function of the rates of the orientation's coordinates: ω = T(φ) φ̇
def _euler_map(axes: str, angles: Array) -> Array:
    """T for rotations about moving axes in this order, such as "zyz" or "xyz"."""
    basis = {"x": np.array([1.0, 0.0, 0.0]), "y": np.array([0.0, 1.0, 0.0]), "z": np.array([0.0, 0.0, 1.0])}
    R: Array = np.eye(3)
    columns = []
    for letter, angle in zip(axes, angles, strict=True):
        columns.append(R @ basis[letter])
        R = R @ about_axis(basis[letter], angle)
    return np.column_stack(columns)


def orientation_coordinates(R: Array, kind: str) -> Array:
    """φ(R): Euler angles about moving axes ("zyz", "zyx", "xyz", "zxz"), "rpy" (= zyx read backwards) or "rotation_vector"."""
    match kind:
        case "zyz":
            s = sqrt(R[0, 2] * R[0, 2] + R[1, 2] * R[1, 2])
            return np.array([atan2(R[1, 2], R[0, 2]), atan2(s, R[2, 2]), atan2(R[2, 1], -R[2, 0])])
        case "zxz":
            s = sqrt(R[0, 2] * R[0, 2] + R[1, 2] * R[1, 2])
            return np.array([atan2(R[0, 2], -R[1, 2]), atan2(s, R[2, 2]), atan2(R[2, 0], R[2, 1])])
        case "zyx":
            c = sqrt(R[2, 1] * R[2, 1] + R[2, 2] * R[2, 2])
            return np.array([atan2(R[1, 0], R[0, 0]), atan2(-R[2, 0], c), atan2(R[2, 1], R[2, 2])])
        case "xyz":
            c = sqrt(R[1, 2] * R[1, 2] + R[2, 2] * R[2, 2])
            return np.array([atan2(-R[1, 2], R[2, 2]), atan2(R[0, 2], c), atan2(-R[0, 1], R[0, 0])])
        case "rpy":
            return orientation_coordinates(R, "zyx")[::-1]
        case "rotation_vector":
            return _rotation_vector(R)
    raise InputError(f"orientation {str(kind)!r} is unknown; choose zyz, zxz, zyx, xyz, rpy or rotation_vector")


def _rotation_vector(R: Array) -> Array:
    """log R with |φ| ≤ π, from the quaternion; at half a turn the sign of the axis is arbitrary."""
    quaternion = _quaternion(R)
    w, u = quaternion[0], quaternion[1:]
    sign = where(w < 0.0, -1.0, 1.0)  # of the two quaternions of R, that of the shorter way
    w, u = w * sign, u * sign
    square = np.dot(u, u)
    small = square < ARCTAN_SERIES_THREE_TERMS * w * w
    x = where(small, square / where(small, w * w, 1.0), 0.0)
    s = sqrt(where(small, 1.0, square))
    return u * where(small, (2.0 - x * (2.0 / 3.0 - 0.4 * x)) / where(small, w, 1.0), 2.0 * atan2(s, w) / s)


def _quaternion(R: Array) -> Array:
    """A multiple of R's quaternion (w, x, y, z), from its largest component, for accuracy [Shepperd 1978]."""
    d, e, f = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    a, b, c = R[1, 2] + R[2, 1], R[0, 2] + R[2, 0], R[0, 1] + R[1, 0]
    r, s, t = R[0, 0], R[1, 1], R[2, 2]
    # 4 q q_k for each component q_k
    rows = [[1.0 + r + s + t, d, e, f], [d, 1.0 + r - s - t, c, b], [e, c, 1.0 - r + s - t, a], [f, b, a, 1.0 - r - s + t]]
    found, largest = np.array(rows[0]), rows[0][0]
    for k in (1, 2, 3):
        larger = rows[k][k] > largest
        found, largest = where(larger, np.array(rows[k]), found), where(larger, rows[k][k], largest)
    return found


def orientation_rate_map(R: Array, kind: str) -> Array:
    """T(φ) with ω = T(φ) φ̇; singular where the coordinates are."""
    phi = orientation_coordinates(R, kind)
    if kind == "rpy":
        return _euler_map("zyx", phi[::-1])[:, ::-1]
    if kind != "rotation_vector":
        return _euler_map(kind, phi)
    square = np.dot(phi, phi)
    small = square < SERIES_TWO_TERMS
    angle = sqrt(where(small, 1.0, square))
    a = where(small, 0.5 - square / 24.0, (1.0 - cos(angle)) / (angle * angle))
    b = where(small, 1.0 / 6.0 - square / 120.0, (angle - sin(angle)) / (angle * angle * angle))
    S = skew(phi)
    return np.eye(3) + a * S + b * (S @ S)


def analytic_jacobian(model: Model, q: Array, frame: Frame, orientation: str) -> Array:
    """J_A (6 × n) with d/dt (p, φ) = J_A v: the geometric Jacobian with ω replaced by the rates of φ."""
    X_W = world_poses(model, relative_poses(model, q))
    T = orientation_rate_map((X_W[frame.body] @ frame.pose).R, orientation)
    J = jacobian(model, q, frame)
    cofactors = np.array([cross(T[:, 1], T[:, 2]), cross(T[:, 2], T[:, 0]), cross(T[:, 0], T[:, 1])])
    determinant = np.dot(T[:, 0], cofactors[0])
    # so near a singularity no digit of the rates is right: say infinite rather than 1e16
    determinant = where(determinant * determinant < RANK_TOLERANCE * RANK_TOLERANCE, 0.0, determinant)
    return np.concatenate([J[:3], (cofactors / determinant) @ J[3:]])
