"""The recursive Newton–Euler algorithm in link frames: torques from the motion, in O(n).

[Featherstone 2008, Table 5.1], [Rocco, "Sistemi di riferimento locali"]; here on trees, for every joint type, with a
wrench on any body and a moving base. Only the bodies: friction, rotors and springs are in `joint_physics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import REST, MovingBase, accelerations, relative_poses, twists
from dynamis.model.model import Model
from dynamis.spatial import force_cross

Array = npt.NDArray[Any]
BodyWrenches = Mapping[int, Array]  # body number -> wrench on it, in its frame, at its origin


def rnea(model: Model, q: Array, v: Array, a: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST) -> Array:
    """τ = RNEA(q, v, v̇), the generalised forces that produce the acceleration against gravity and the wrenches."""
    return joint_wrenches(model, q, v, a, wrenches, base)[0]


def joint_wrenches(
    model: Model, q: Array, v: Array, a: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST
) -> tuple[Array, list[Array]]:
    """(τ, F): also the whole wrench F_i that each joint transmits to its body; F_0 is what holds the base."""
    X = relative_poses(model, q)
    # gravity is felt as an upward acceleration of the base: V̇_0 − g_0
    g = np.concatenate([base.pose.R.T @ model.gravity, np.zeros(3)])
    V = twists(model, X, v, base)
    A = accelerations(model, X, V, v, a, MovingBase(base.pose, base.twist, base.acceleration - g))
    F = [_inertial_wrench(model.base, V[0], A[0])]
    for i, body in model.moving:
        F.append(_inertial_wrench(body.inertia, V[i], A[i]))
    for i, W in (wrenches or {}).items():
        F[i] = F[i] - W
    tau = model.zeros(model.n, q, v, a, *(wrenches or {}).values(), base.twist, base.acceleration)
    for i, body in reversed(model.moving):
        tau[list(body.dof)] += body.S.T @ F[i]
        F[body.parent] = F[body.parent] + X[i].wrench_outward(F[i])
    return tau, F


def _inertial_wrench(inertia: Any, V: Array, A: Array) -> Array:
    """M V̇ + ad*(V) M V: Newton's and Euler's equations of one body."""
    return np.asarray(inertia.apply(A) + force_cross(V, inertia.apply(V)))
