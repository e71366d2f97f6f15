"""Kinetic and potential energy, per body and in total."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import REST, MovingBase, relative_poses, twists, world_poses
from dynamis.model.model import Model

Array = npt.NDArray[Any]


def kinetic_energies(model: Model, q: Array, v: Array, base: MovingBase = REST) -> Array:
    """T_i = ½ V_iᵀ M_i V_i of each moving body, rotors not included (König's theorem) [Melchiorri, slide 16]."""
    V = twists(model, relative_poses(model, q), v, base)
    return np.array([0.5 * np.dot(V[i], body.inertia.apply(V[i])) for i, body in model.moving])


def kinetic_energy(model: Model, q: Array, v: Array, base: MovingBase = REST) -> Any:
    """T = Σ T_i + ½ Σ (reflected rotor inertia) v²; with the base at rest, ½ vᵀ M(q) v."""
    return np.sum(kinetic_energies(model, q, v, base)) + 0.5 * np.dot(v, model.rotor * v)


def potential_energies(model: Model, q: Array, base: MovingBase = REST) -> Array:
    """U_i = −m_i g₀ᵀ p_Ci of each moving body, zero at the height of the world's origin [Rocco, slide 3]."""
    X_W = world_poses(model, relative_poses(model, q), base)
    return np.array(
        [
            -np.dot(model.gravity, X_W[i].R @ body.inertia.first_moment + body.inertia.mass * X_W[i].p)
            for i, body in model.moving
        ]
    )


def spring_energy(model: Model, q: Array) -> Any:
    """½ Σ k (q − rest)²."""
    energy: Any = 0.0
    for c, k, rest in zip(model.coordinates, model.stiffness, model.rest, strict=True):
        if c.q_index is not None:
            stretch = q[c.q_index] - rest
            energy = energy + 0.5 * k * stretch * stretch
    return energy


def potential_energy(model: Model, q: Array, base: MovingBase = REST) -> Any:
    """U = Σ U_i + spring energy, up to a constant with mimic joints; its gradient is g(q) plus the spring torques."""
    return np.sum(potential_energies(model, q, base)) + spring_energy(model, q)
