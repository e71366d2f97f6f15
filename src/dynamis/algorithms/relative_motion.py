"""Pose, velocity, acceleration, Jacobian and its rate of a frame, in chosen axes, seen from the world or from another frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import kinematics
from dynamis.algorithms.jacobian import jacobian as geometric_jacobian
from dynamis.algorithms.jacobian import jacobian_dot as geometric_jacobian_dot
from dynamis.algorithms.kinematics import chain_pose
from dynamis.model.model import Frame, Model
from dynamis.spatial import Pose, cross, skew

Array = npt.NDArray[Any]


def pose(model: Model, q: Array, *, frame: Frame, relative_to: Frame | None = None) -> Array:
    """The 4 × 4 pose of a frame in the world, or X_AB of frame B in frame A."""
    if relative_to is None:
        return kinematics.pose(model, q, frame)
    return (_pose(model, q, relative_to).inverse() @ _pose(model, q, frame)).matrix()


def velocity(model: Model, q: Array, v: Array, *, frame: Frame, axes: str = "world", relative_to: Frame | None = None) -> Array:
    """(ṗ, ω) of a frame, or of frame B seen from frame A: the rates of p_AB and R_AB."""
    V = kinematics.velocity(model, q, v, frame)
    return _seen(model, q, frame, axes, relative_to, V, lambda a: kinematics.velocity(model, q, v, a))


def acceleration(
    model: Model, q: Array, v: Array, a: Array, *, frame: Frame, axes: str = "world", relative_to: Frame | None = None
) -> Array:
    """(p̈, ω̇) of a frame, or of frame B seen from frame A: the rates of the relative velocity in the axes of A.

    Less the acceleration of a point fixed to A, and the centrifugal and Coriolis terms:
    p̈_B − p̈_A − ω̇_A × r − ω_A × (ω_A × r) − 2 ω_A × u, with u the relative velocity; ω̇_B − ω̇_A − ω_A × (ω_B − ω_A).
    """
    A = kinematics.acceleration(model, q, v, a, frame)
    if relative_to is not None:
        V_A, V_B = (kinematics.velocity(model, q, v, x) for x in (relative_to, frame))
        w = V_A[3:]
        r = _pose(model, q, frame).p - _pose(model, q, relative_to).p
        u = V_B[:3] - V_A[:3] - cross(w, r)
        A = A - np.concatenate([cross(w, cross(w, r)) + 2.0 * cross(w, u), cross(w, V_B[3:] - w)])
    return _seen(model, q, frame, axes, relative_to, A, lambda x: kinematics.acceleration(model, q, v, a, x))


def jacobian(model: Model, q: Array, *, frame: Frame, axes: str = "world", relative_to: Frame | None = None) -> Array:
    """J (6 × n) of the velocity."""
    J = geometric_jacobian(model, q, frame)
    return _seen(model, q, frame, axes, relative_to, J, lambda a: geometric_jacobian(model, q, a))


def jacobian_dot(
    model: Model, q: Array, v: Array, *, frame: Frame, axes: str = "world", relative_to: Frame | None = None
) -> Array:
    """J̇ (6 × n) with the acceleration J v̇ + J̇ v: the rate of J in world axes, or seen from frame A in its axes.

    With r from A to B, the rate of J_B − J_A + S(r) J_A,O in world axes, less ω_A × of it for the turning axes of A.
    """
    rate = geometric_jacobian_dot(model, q, v, frame)
    if relative_to is not None:
        V_A, V_B = (kinematics.velocity(model, q, v, x) for x in (relative_to, frame))
        J_A, J_B = (geometric_jacobian(model, q, x) for x in (relative_to, frame))
        w = skew(V_A[3:])
        r = _pose(model, q, frame).p - _pose(model, q, relative_to).p
        linear = J_B[:3] - J_A[:3] + skew(r) @ J_A[3:]
        turning = skew(V_B[:3] - V_A[:3]) @ J_A[3:] - w @ linear
        rate = rate + np.concatenate([turning, -w @ (J_B[3:] - J_A[3:])])
    return _seen(model, q, frame, axes, relative_to, rate, lambda a: geometric_jacobian_dot(model, q, v, a))


def _pose(model: Model, q: Array, frame: Frame) -> Pose:
    return chain_pose(model, q, frame.body) @ frame.pose


def _seen(model: Model, q: Array, B: Frame, axes: str, A: Frame | None, V: Array, of_frame: Any) -> Array:
    """V of frame B, in world axes, as seen from frame A, in the axes of A (of the world without A) or of B."""
    if axes == "world" and A is None:
        return V
    X_B = _pose(model, q, B)
    linear, angular, R = V[:3], V[3:], X_B.R
    if A is not None:
        X_A, V_A = _pose(model, q, A), of_frame(A)
        # less the velocity that B would have if it were fixed to A
        linear = linear - V_A[:3] + skew(X_B.p - X_A.p) @ V_A[3:]
        angular = angular - V_A[3:]
        R = R if axes == "local" else X_A.R
    return np.concatenate([R.T @ linear, R.T @ angular])
