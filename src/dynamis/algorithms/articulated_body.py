"""The articulated-body algorithm: accelerations from torques on a kinematic tree, in O(n).

[Pisa notes, "ABA: Articulated Body Algorithm"], in their notation: M̂ articulated inertia, b̂ articulated bias, m̂ = Xᵀ M̂ X,
M̄ and b̄ the same after propagation across the joint. Here the joint's screws X are the columns of S, so that m̂ is a matrix
for joints with several degrees of freedom; a wrench may act on a leaf too; gravity is an acceleration of the base; a reflected
rotor inertia adds to m̂.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import REST, MovingBase, relative_poses, twists
from dynamis.algorithms.newton_euler import BodyWrenches
from dynamis.algorithms.singularity import inertia_scale
from dynamis.display import as_table, counted
from dynamis.errors import InputError, printable
from dynamis.model.model import Model
from dynamis.scalar import solve_positive
from dynamis.spatial import Pose, force_cross, motion_cross

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Articulated:
    """The inward pass, for inspection: per body M̂ (6 × 6), b̂ (6), m̂, M̄ and b̄; index 0 is the base."""

    M_hat: list[Array]
    b_hat: list[Array]
    m_hat: list[Array]
    M_bar: list[Array]
    b_bar: list[Array]

    def __repr__(self) -> str:
        return f"<Articulated: M̂, b̂, m̂, M̄ and b̄ of {counted(len(self.M_hat), 'body', 'bodies')}, the base first>"

    _repr_html_ = as_table


def articulated_inertias(
    model: Model, q: Array, v: Array, tau: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST
) -> Articulated:
    """Pass 2: articulated inertia and bias of each subtree."""
    X = relative_poses(model, q)
    return _inward(model, X, twists(model, X, v, base), v, tau, wrenches or {})


def aba(model: Model, q: Array, v: Array, tau: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST) -> Array:
    """v̇ = ABA(q, v, τ)."""
    X = relative_poses(model, q)
    V = twists(model, X, v, base)
    art = _inward(model, X, V, v, tau, wrenches or {})
    scale = inertia_scale(model)
    g = np.concatenate([base.pose.R.T @ model.gravity, np.zeros(3)])
    V_dot = [base.acceleration - g]
    a = model.zeros(model.n, q, v, tau, *(wrenches or {}).values(), base.twist, base.acceleration)
    for i, body in model.moving:
        dof = list(body.dof)
        carried = X[i].twist_inward(V_dot[body.parent]) + motion_cross(V[i], body.S @ v[dof])
        own = tau[dof] - body.S.T @ (art.M_hat[i] @ carried + art.b_hat[i])
        a[dof] = solve_positive(art.m_hat[i], own, None if scale is None else scale[dof])
        V_dot.append(carried + body.S @ a[dof])
    return a


def _inward(model: Model, X: list[Pose], V: list[Array], v: Array, tau: Array, wrenches: BodyWrenches) -> Articulated:
    if model.coupled:
        raise InputError(
            f"robot {printable(model.name)} has mimic joints or rotors mounted on links, which couple branches; the "
            f"articulated-body recursion requires independent joints: use forward_dynamics"
        )
    inertias = [model.base] + [body.inertia for _, body in model.moving]
    M_hat = [inertia.matrix() for inertia in inertias]
    b_hat = [force_cross(V[i], inertia.apply(V[i])) for i, inertia in enumerate(inertias)]
    for i, W in wrenches.items():
        b_hat[i] = b_hat[i] - W
    scale = inertia_scale(model)
    m_hat, M_bar, b_bar = [np.zeros((0, 0))] * len(V), list(M_hat), list(b_hat)
    for i, body in reversed(model.moving):
        dof = list(body.dof)
        U = M_hat[i] @ body.S
        m_hat[i] = body.S.T @ U + np.diag(model.rotor[dof])
        # what passes through the joint: M̄ = M̂ − M̂ X m̂⁻¹ Xᵀ M̂
        share = solve_positive(m_hat[i], U.T, None if scale is None else scale[dof]).T
        M_bar[i] = M_hat[i] - share @ U.T
        b_bar[i] = b_hat[i] - share @ (body.S.T @ b_hat[i])
        c = motion_cross(V[i], body.S @ v[dof])
        to_parent = X[i].inverse().Ad()
        k = body.parent
        M_hat[k] = M_hat[k] + to_parent.T @ M_bar[i] @ to_parent
        b_hat[k] = b_hat[k] + X[i].wrench_outward(b_bar[i] + M_bar[i] @ c + share @ tau[dof])
    return Articulated(M_hat, b_hat, m_hat, M_bar, b_bar)
