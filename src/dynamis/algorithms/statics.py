"""Static forces of joints and links, by recursion.

Wrenches are exerted by the environment on the robot; the static torques are τ = g(q) + springs − Σ Jᵀ w.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.joint_physics import spring_torque
from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.algorithms.newton_euler import BodyWrenches
from dynamis.model.model import Model
from dynamis.spatial.rotation import cross

Array = npt.NDArray[Any]


def static_forces(model: Model, q: Array, wrenches: BodyWrenches | None = None) -> tuple[Array, Array, Array]:
    """(τ, f, N): static torques, and force and moment each joint exerts on its body, in world axes at the body's origin.

    f_{i−1,i} = f_{i,i+1} − m_i g and N_{i−1,i} = N_{i,i+1} + r × f, from the tips to the base [Tzafestas, slide 3].
    Row 0 is the reaction of the ground on the moving bodies at the base's origin.
    """
    X_W = world_poses(model, relative_poses(model, q))
    f = [np.zeros(3) for _ in X_W]
    N = [np.zeros(3) for _ in X_W]
    tau = model.zeros(model.n, q, *(wrenches or {}).values()) + spring_torque(model, q)
    for i, body in reversed(model.moving):
        R = X_W[i].R
        f[i] = f[i] - body.inertia.mass * model.gravity
        N[i] = N[i] - cross(R @ body.inertia.first_moment, model.gravity)
        if wrenches and i in wrenches:
            f[i] = f[i] - R @ wrenches[i][:3]
            N[i] = N[i] - R @ wrenches[i][3:]
        tau[list(body.dof)] += body.S.T @ np.concatenate([R.T @ f[i], R.T @ N[i]])
        k = body.parent
        f[k] = f[k] + f[i]
        N[k] = N[k] + N[i] + cross(X_W[i].p - X_W[k].p, f[i])
    return tau, np.array(f), np.array(N)
