"""Derivatives of the accelerations and forces of a robot with rigid contacts and loops.

Both equations of the motion are differentiated at given v̇ and λ,

    M v̇ + c(q, v) − Jᵀ λ = τ,    J v̇ + J̇ v = a*,

so that the derivatives by x = q, v, τ solve the same linear equations with other right-hand sides:

    M ∂v̇ − Jᵀ ∂λ = −∂(M v̇ + c − Jᵀ λ − τ),    J ∂v̇ = −∂(J v̇ + J̇ v)        (at constant v̇ and λ)

Where rows are redundant, λ has least norm, so that it is and stays in the range of J: λ = J y with y = J⁺ λ, and
(1 − J J⁺) ∂λ = (1 − J J⁺) ∂(J y) at constant y.

They are solved with M + w JᵀJ in place of M and w Jᵀ ∂(J v̇ + J̇ v) added to the first, so that M may be singular.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.robot import Robot
from dynamis.robot.differentiation import Derivatives
from dynamis.simulation.contact_equations import Contacts, constraint_rows
from dynamis.tolerances import LOOP_RANK_TOLERANCE

Array = npt.NDArray[Any]


def row_derivatives(robot: Robot, contacts: Contacts) -> Derivatives:
    """Derivatives of (Jᵀ λ, J v̇ + J̇ v, J y) by q and v."""

    def products(robot: Robot, q: Array, v: Array, a: Array, force: Array, y: Array) -> Array:
        J, drift = constraint_rows(robot, contacts, q, v)
        return np.concatenate([J.T @ force, J @ a + drift, J @ y])

    return robot.differentiate(products, ("q", "v"), a=robot.n, force=len(contacts.labels), y=robot.n)


def constrained_derivatives(
    M: Array, J: Array, torques: Array, force: Array, products: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """(∂v̇, ∂λ), (…, 3, n, n) and (…, 3, rows, n), from M, J, the derivatives (…, 3, n, n) of the torques, and λ.

    ``products`` maps y to the Jacobian of `row_derivatives`.
    """
    rows, n = J.shape[-2:]
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    kept = s > LOOP_RANK_TOLERANCE * s[..., :1]
    inverse = np.divide(1.0, s, out=np.zeros_like(s), where=kept)
    basis = U * kept[..., None, :]  # of the forces: orthonormal columns, or zero
    found = products(((Vt.mT * inverse[..., None, :]) @ (U.mT @ force[..., None]))[..., 0])
    slopes = np.stack([found[..., :n], found[..., n:], np.zeros_like(found[..., :n])], axis=-3)  # by q, v and τ
    torque = torques - slopes[..., :n, :]
    torque[..., 2, :, :] = -np.eye(n)
    # M + w JᵀJ, which is regular where the constraints leave no motion without mass
    w = (np.trace(M, axis1=-2, axis2=-1) / np.square(J).sum(axis=(-2, -1)))[..., None, None]
    minv = np.linalg.inv(M + w * (J.mT @ J))
    free = -minv[..., None, :, :] @ (torque + (w * J.mT)[..., None, :, :] @ slopes[..., n : n + rows, :])
    D = basis.mT @ J @ minv @ J.mT @ basis + np.eye(s.shape[-1]) * ~kept[..., None, :]
    basis, J = basis[..., None, :, :], J[..., None, :, :]
    forces = basis @ np.linalg.solve(D[..., None, :, :], basis.mT @ (-slopes[..., n : n + rows, :] - J @ free))
    accelerations = free + minv[..., None, :, :] @ (J.mT @ forces)
    turned = slopes[..., n + rows :, :]
    return accelerations, forces + turned - basis @ (basis.mT @ turned)
