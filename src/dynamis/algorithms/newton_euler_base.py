"""The recursive Newton–Euler algorithm with every vector in the base frame, as in the lecture.

[Rocco, "Algoritmo ricorsivo"], [Siciliano 2009, §7.5]: the notation is that of the slides. It shares no spatial
algebra with `newton_euler`, only the poses of the bodies, and serves as an independent check. Differences from the slides:
trees instead of chains; the link frame is the moved joint frame, so the arm r_{i-1,i} precedes the joint; every joint type, by
its motion subspace instead of case distinctions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.algorithms.newton_euler import BodyWrenches
from dynamis.model.model import Model
from dynamis.spatial.rotation import cross

Array = npt.NDArray[Any]


def rnea_base_frame(model: Model, q: Array, v: Array, a: Array, wrenches: BodyWrenches | None = None) -> Array:
    """τ = RNEA(q, v, v̇)."""
    X_W = world_poses(model, relative_poses(model, q))
    R, p = [X.R for X in X_W], [X.p for X in X_W]
    zero = np.zeros(3)
    w, w_dot, p_ddot = [zero], [zero], [-model.gravity]

    # forward: velocities and accelerations of the links
    for i, body in model.moving:
        k, dof = body.parent, list(body.dof)
        r = p[i] - p[k]
        slide, turn = R[i] @ body.S[:3], R[i] @ body.S[3:]  # ṗ and ω that unit rates add, in base axes
        d_dot, d_ddot = slide @ v[dof], slide @ a[dof]
        th_dot, th_ddot = turn @ v[dof], turn @ a[dof]
        # the carrier's point under the link's origin, then the joint's own motion on top of it
        carried = p_ddot[k] + cross(w_dot[k], r) + cross(w[k], cross(w[k], r))
        w.append(w[k] + th_dot)
        w_dot.append(w_dot[k] + th_ddot + cross(w[k], th_dot))
        # slide axes are fixed in the moved link, so they turn with it: d/dt (R s) = ω_i × R s, and once more ω_k ×
        p_ddot.append(carried + d_ddot + cross(w[i], d_dot) + cross(w[k], d_dot))

    # backward: forces and moments the links exert on each other
    f, mu = [zero] * len(X_W), [zero] * len(X_W)
    tau = model.zeros(model.n, q, v, a, *(wrenches or {}).values())
    for i, body in reversed(model.moving):
        m, c = body.inertia.mass, R[i] @ body.inertia.first_moment  # c = m r_{i,Ci}
        I = R[i] @ body.inertia.tensor @ R[i].T  # about the link's origin
        f[i] = f[i] + m * p_ddot[i] + cross(w_dot[i], c) + cross(w[i], cross(w[i], c))
        mu[i] = mu[i] + I @ w_dot[i] + cross(w[i], I @ w[i]) + cross(c, p_ddot[i])
        if wrenches and i in wrenches:
            f[i] = f[i] - R[i] @ wrenches[i][:3]
            mu[i] = mu[i] - R[i] @ wrenches[i][3:]
        slide, turn = R[i] @ body.S[:3], R[i] @ body.S[3:]
        tau[list(body.dof)] += slide.T @ f[i] + turn.T @ mu[i]
        k = body.parent
        mu[k] = mu[k] + mu[i] + cross(p[i] - p[k], f[i])
        f[k] = f[k] + f[i]
    return tau
