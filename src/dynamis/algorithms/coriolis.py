"""The Coriolis matrix by Christoffel symbols, the rate of the inertia matrix, and the symbols themselves.

C is the one factorisation with C_ij = Σ_k c_ijk v_k, c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i), for which
Ṁ − 2C is skew-symmetric. For joints whose velocity is not the rate of coordinates (spherical, free) the same symbols
are taken in the moving frame, which preserves the property. Computed without differentiating M, by the body-level
factorisation of [Echeandia & Wensing 2021]:

    B(I, V) = ½ (ad*(V) I + [I V]× − I ad(V)),     C_ij = Ψ_iᵀ (Σ I Ψ̇_j + B Ψ_j)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses, twists
from dynamis.algorithms.subtree import Beyond, add_block
from dynamis.model.model import Model
from dynamis.spatial import ad, skew
from dynamis.spatial.rotation import blocks

Array = npt.NDArray[Any]


def coriolis_matrix(model: Model, q: Array, v: Array) -> Array:
    """C(q, v) with C v the Coriolis and centrifugal torques."""
    X = relative_poses(model, q)
    V = twists(model, X, v)
    I = [np.zeros((6, 6))] + [body.inertia.matrix() for _, body in model.moving]
    B = [np.zeros((6, 6))] + [_body_factor(I[i], V[i]) for i, _ in model.moving]
    # for each joint beyond a body: its force F1 = I Ṡ + B S, its momentum F2 = I S, and F3 = Bᵀ S
    beyond = [Beyond(model) for _ in range(3)]
    C = model.zeros((model.n, model.n), q, v)
    for i, body in reversed(model.moving):
        S, S_dot = body.S, ad(V[i]) @ body.S
        own = [I[i] @ S_dot + B[i] @ S, I[i] @ S, B[i].T @ S]
        (dofs, F1), (_, F2), (_, F3) = (held.at(i) for held in beyond)
        add_block(C, body.dof, body.dof, S.T @ own[0])
        if dofs:
            add_block(C, body.dof, dofs, S.T @ F1)
            add_block(C, dofs, body.dof, (S_dot.T @ F2 + S.T @ F3).T)
        for held, mine, others in zip(beyond, own, (F1, F2, F3), strict=True):
            held.pass_on(body.parent, (*body.dof, *dofs), X[i].wrench_outward(np.hstack([mine, others])))
        if body.parent > 0:
            T = X[i].inverse().Ad()
            I[body.parent] = I[body.parent] + T.T @ I[i] @ T
            B[body.parent] = B[body.parent] + T.T @ B[i] @ T
    return C


def mass_matrix_dot(model: Model, q: Array, v: Array) -> Array:
    """Ṁ = C + Cᵀ."""
    C = coriolis_matrix(model, q, v)
    return C + C.T


def coriolis_transpose_product(model: Model, q: Array, v: Array) -> Array:
    """Cᵀ v, the term of the momentum observer: d/dt (M v) = τ + Cᵀ v − g − friction."""
    return coriolis_matrix(model, q, v).T @ v


def christoffel(model: Model, q: Array) -> Array:
    """c[i, j, k] = c_ijk: C is linear in v, so its k-th slice is C(q, e_k)."""
    slices = [coriolis_matrix(model, q, unit) for unit in np.eye(model.n)]
    return np.stack(slices, axis=-1) if slices else np.zeros((0, 0, 0))


def _body_factor(I: Array, V: Array) -> Array:
    momentum = I @ V
    f, m = skew(momentum[:3]), skew(momentum[3:])
    crossed = blocks(np.zeros((3, 3)), -f, -f, -m)  # ad*(U) (I V) as a matrix acting on U
    A = ad(V)
    return 0.5 * (-A.T @ I + crossed - I @ A)
