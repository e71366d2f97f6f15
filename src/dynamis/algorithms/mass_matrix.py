"""The inertia matrix M(q), by three methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.jacobian import com_jacobian
from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.algorithms.newton_euler import rnea
from dynamis.algorithms.subtree import Beyond, add_block
from dynamis.model.model import Model
from dynamis.spatial.inertia import seen_from

Array = npt.NDArray[Any]


def crba(model: Model, q: Array) -> Array:
    """M(q) by the composite-rigid-body algorithm, reflected rotor inertias on the diagonal [Featherstone 2008, Table 6.2].

    The column of a joint is the wrench for a unit acceleration of it, with all distal joints fixed; the wrenches of all joints
    distal to body i are propagated together, as the columns of F, towards the base.
    """
    X = relative_poses(model, q)
    composite = [model.base] + [body.inertia for _, body in model.moving]
    beyond = Beyond(model)
    M = model.zeros((model.n, model.n), q)
    for i, body in reversed(model.moving):
        dofs, F = beyond.at(i)
        own = composite[i].apply(body.S)
        add_block(M, body.dof, body.dof, body.S.T @ own)
        if dofs:
            block = body.S.T @ F
            add_block(M, body.dof, dofs, block)
            add_block(M, dofs, body.dof, block.T)
            own = np.hstack([own, F])
        composite[body.parent] = composite[body.parent] + seen_from(composite[i], X[i])
        beyond.pass_on(body.parent, (*body.dof, *dofs), X[i].wrench_outward(own))
    return M + np.diag(model.rotor)


def mass_matrix_from_jacobians(model: Model, q: Array) -> Array:
    """M = Σ m_i J_Pᵀ J_P + J_Oᵀ R_i I_i R_iᵀ J_O, with I_i about the centre of mass [Rocco, "Matrice di inerzia"]."""
    X_W = world_poses(model, relative_poses(model, q))
    M = model.zeros((model.n, model.n), q)
    for i, body in model.moving:
        J_P, J_O = com_jacobian(model, X_W, i)
        I = X_W[i].R @ body.inertia.tensor_about_com @ X_W[i].R.T
        M = M + body.inertia.mass * (J_P.T @ J_P) + J_O.T @ I @ J_O
    return M + np.diag(model.rotor)


def mass_matrix_from_rnea(model: Model, q: Array) -> Array:
    """M column by column: n runs of Newton–Euler with unit accelerations, at rest and without gravity.

    [Rocco, "Calcolo della dinamica diretta ed inversa"]; gravity is removed by subtracting the run without acceleration.
    """
    rest = np.zeros(model.n)
    weight = rnea(model, q, rest, rest)
    columns = [rnea(model, q, rest, unit) - weight for unit in np.eye(model.n)]
    return (np.column_stack(columns) if columns else np.zeros((0, 0))) + np.diag(model.rotor)
