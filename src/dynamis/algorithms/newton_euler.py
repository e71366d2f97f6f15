"""The recursive Newton–Euler algorithm in link frames: torques from the motion, in O(n).

[Rocco, "Algoritmo ricorsivo" and "Sistemi di riferimento locali"], [Siciliano 2009, §7.5.2], in their notation: ω, ω̇ and the
acceleration p̈ of each link's origin are computed outward from the base, forces f and moments μ inward from the tips, all in
the link frame. No linear velocity is needed. Here for trees and every joint type (by its motion subspace S), with a wrench on
any body and a moving base. Friction, rotors and springs are in `joint_physics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import REST, MovingBase, relative_poses
from dynamis.model.model import Model
from dynamis.spatial import Inertia, cross, skew

Array = npt.NDArray[Any]
BodyWrenches = Mapping[int, Array]  # body number -> wrench on it, in its frame, at its origin


def rnea(model: Model, q: Array, v: Array, a: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST) -> Array:
    """τ = RNEA(q, v, v̇), the generalised forces that produce the acceleration against gravity and the wrenches."""
    return joint_wrenches(model, q, v, a, wrenches, base)[0]


def joint_wrenches(
    model: Model, q: Array, v: Array, a: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST
) -> tuple[Array, list[Array]]:
    """(τ, F), with the wrench F_i = (f, μ) that each joint transmits to its body; F_0 is the reaction at the base."""
    X = relative_poses(model, q)
    # gravity acts like an upward acceleration of the base: p̈_0 − g_0
    v0, w0 = base.twist[:3], base.twist[3:]
    w, w_dot = [w0], [base.acceleration[3:]]
    p_ddot = [base.acceleration[:3] + cross(w0, v0) - base.pose.R.T @ model.gravity]
    turning = [_turning(w[0], w_dot[0])]
    for i, body in model.moving:
        R, p, k, dof = *X[i], body.parent, list(body.dof)
        slide, turn = body.S[:3], body.S[3:]
        th_dot, d_dot = turn @ v[dof], slide @ v[dof]
        w_k = R.T @ w[k]
        w.append(w_k + th_dot)
        w_dot.append(R.T @ w_dot[k] + turn @ a[dof] + cross(w_k, th_dot))
        # the carrier's acceleration at the link's origin, then the joint's own and its Coriolis part
        carried = R.T @ (p_ddot[k] + turning[k] @ p)
        p_ddot.append(carried + slide @ a[dof] + cross(2.0 * w_k + th_dot, d_dot))
        turning.append(_turning(w[i], w_dot[i]))

    inertias = [model.base] + [body.inertia for _, body in model.moving]
    f, mu = map(list, zip(*(_newton_euler(*x) for x in zip(inertias, w, w_dot, p_ddot, turning, strict=True)), strict=True))
    for i, W in (wrenches or {}).items():
        f[i], mu[i] = f[i] - W[:3], mu[i] - W[3:]
    tau = model.zeros(model.n, q, v, a, *(wrenches or {}).values(), base.twist, base.acceleration)
    for i, body in reversed(model.moving):
        R, p, k = *X[i], body.parent
        tau[list(body.dof)] += body.S[:3].T @ f[i] + body.S[3:].T @ mu[i]
        force = R @ f[i]
        f[k], mu[k] = f[k] + force, mu[k] + R @ mu[i] + cross(p, force)
    return tau, [np.concatenate(pair) for pair in zip(f, mu, strict=True)]


def _turning(w: Array, w_dot: Array) -> Array:
    """S(ω̇) + S(ω)²: the acceleration of a point relative to the origin, per unit distance."""
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return skew(w_dot) + np.array([[-(yy + zz), xy, xz], [xy, -(xx + zz), yz], [xz, yz, -(xx + yy)]])


def _newton_euler(inertia: Inertia, w: Array, w_dot: Array, p_ddot: Array, turning: Array) -> tuple[Array, Array]:
    """Inertial force and moment of one link, at its origin."""
    h = inertia.first_moment
    force = inertia.mass * p_ddot + turning @ h
    return force, inertia.tensor @ w_dot + cross(w, inertia.tensor @ w) + cross(h, p_ddot)
