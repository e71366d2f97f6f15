"""The regressor: τ = Y(q, v, v̇) π, linear in the parameters.

π holds, link by link, the ten inertial parameters (`PARAMETER_NAMES`, the tensor about the body frame's origin), then
per degree of freedom viscous friction, Coulomb friction, its direction-dependent part, reflected rotor inertia and
spring stiffness (geometry, gravity and rest positions are known). Last, the inertia of each rotor mounted on a
link: one number, for a disc about a known axis. The ten parameters of the link include the locked rotor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import REST, MovingBase, accelerations, relative_poses, twists, world_poses
from dynamis.algorithms.subtree import Beyond, add_block
from dynamis.model.model import Model
from dynamis.scalar import sign
from dynamis.spatial import PARAMETER_NAMES, Inertia, cross, skew

Array = npt.NDArray[Any]

JOINT_PARAMETERS = ("viscous", "coulomb", "coulomb_bias", "rotor", "stiffness")


def parameters(model: Model) -> Array:
    """π of the model."""
    inertial = [model.with_locked_rotors(i).parameters for i, _ in links(model)]
    joint = [getattr(model, name) for name in JOINT_PARAMETERS]
    per_joint = np.array(joint).T.reshape(-1) if model.n else np.zeros(0)
    riding = [np.array([np.dot(body.motion.axis, body.inertia.tensor @ body.motion.axis)]) for _, body in rotors(model)]
    return np.concatenate([*inertial, per_joint, *riding])


def links(model: Model) -> list[tuple[int, Any]]:
    """(i, body i) of the bodies that are links of the file."""
    return list(model.links)


def rotors(model: Model) -> list[tuple[int, Any]]:
    """(i, body i) of the rotors mounted on links."""
    return [(i, body) for i, body in model.moving if body.is_rotor]


def without_rotors(model: Model) -> list[tuple[int, Any]]:
    """(i, body i) of the links and of the massless bodies between the axes of one joint."""
    return [(i, body) for i, body in model.moving if not body.is_rotor]


def link_columns(model: Model) -> dict[int, range]:
    """{i: the places of the ten parameters of link i in π}."""
    return {i: range(10 * k, 10 * k + 10) for k, (i, _) in enumerate(links(model))}


def disc(axis: Array) -> Inertia:
    """A massless rotor of unit inertia about this axis."""
    return Inertia(0.0, np.zeros(3), 0.5 * (np.eye(3) + np.outer(axis, axis)))


def parameter_names(model: Model) -> list[str]:
    """The name of each entry of π, such as ``forearm.mx`` or ``elbow.viscous``."""
    inertial = [f"{body.name}.{name}" for _, body in links(model) for name in PARAMETER_NAMES]
    joint = [f"{c.name}.{name}" for c in model.coordinates for name in JOINT_PARAMETERS]
    return inertial + joint + [f"{body.name}.inertia" for _, body in rotors(model)]


def regressor(model: Model, q: Array, v: Array, a: Array) -> Array:
    """Y (n × p) with Y π = inverse_dynamics(q, v, v̇) without wrenches."""
    X = relative_poses(model, q)
    g = np.concatenate([model.gravity, np.zeros(3)])
    V = twists(model, X, v)
    A = accelerations(model, X, V, v, a, MovingBase(REST.pose, REST.twist, -g))
    start = 10 * len(links(model))
    last = start + len(JOINT_PARAMETERS) * model.n
    Y = model.zeros((model.n, last + len(rotors(model))), q, v, a)
    beyond = Beyond(model)
    for number, (i, body) in enumerate(rotors(model), last):
        # what a turning rotor needs, and what it adds to the needs of a link that has it locked
        unit, parent = disc(body.motion.axis).parameters, body.parent
        F = (body_regressor(V[i], A[i]) @ unit)[:, None]
        locked = body_regressor(X[i].twist_inward(V[parent]), X[i].twist_inward(A[parent])) @ unit
        add_block(Y, body.dof, (number,), body.S.T @ F)
        beyond.pass_on(parent, (number,), X[i].wrench_outward(F - locked[:, None]))
    own = link_columns(model)
    for i, body in reversed(without_rotors(model)):
        # each link's wrench as a matrix acting on its ten parameters, passed on to the base
        columns, F = beyond.at(i)
        if i in own:
            columns, F = (*own[i], *columns), np.hstack([body_regressor(V[i], A[i]), F])
        add_block(Y, body.dof, columns, body.S.T @ F)
        beyond.pass_on(body.parent, columns, X[i].wrench_outward(F))
    s = sign(v)
    for k, (c, rest) in enumerate(zip(model.coordinates, model.rest, strict=True)):
        stretch = 0.0 if c.q_index is None else q[c.q_index] - rest
        Y[k, start + 5 * k : start + 5 * k + 5] = np.array([v[k], s[k], s[k] * s[k], a[k], stretch])
    return Y


def kinetic_energy_regressor(model: Model, q: Array, v: Array) -> Array:
    """y (p) with y π = T: per link ½ m |v|² + (v × ω) · h + ½ ωᵀ I ω, per degree of freedom ½ v² of its rotor."""
    X = relative_poses(model, q)
    V = twists(model, X, v)
    per_joint = [x for k in range(model.n) for x in (0.0, 0.0, 0.0, 0.5 * v[k] * v[k], 0.0)]
    turning = []
    for i, body in rotors(model):
        unit = disc(body.motion.axis).parameters
        turning.append(np.dot(_kinetic(V[i]) - _kinetic(X[i].twist_inward(V[body.parent])), unit))
    return np.concatenate([*(_kinetic(V[i]) for i, _ in links(model)), np.array(per_joint), np.array(turning)])


def potential_energy_regressor(model: Model, q: Array) -> Array:
    """y (p) with y π = U: per link −g₀ · (m p + R h), per degree of freedom ½ (q − rest)² of its spring."""
    X_W = world_poses(model, relative_poses(model, q))
    g = model.gravity
    per_link = [np.array([-np.dot(g, X_W[i].p), *(-(X_W[i].R.T @ g)), *np.zeros(6)]) for i, _ in links(model)]
    per_joint: list[Any] = []
    for c, rest in zip(model.coordinates, model.rest, strict=True):
        stretch = 0.0 if c.q_index is None else q[c.q_index] - rest
        per_joint += [0.0, 0.0, 0.0, 0.0, 0.5 * stretch * stretch]
    return np.concatenate([*per_link, np.array(per_joint), np.zeros(len(rotors(model)))])


def _kinetic(V: Array) -> Array:
    """The ten coefficients of ½ Vᵀ M V."""
    v, w = V[:3], V[3:]
    x, y, z = w
    squares = np.array([0.5 * x * x, x * y, 0.5 * y * y, x * z, y * z, 0.5 * z * z])
    return np.concatenate([np.array([0.5 * np.dot(v, v)]), cross(v, w), squares])


def body_regressor(V: Array, A: Array) -> Array:
    """The 6 × 10 matrix with M V̇ + ad*(V) M V = matrix · π of one body."""
    v, w, w_dot = V[:3], V[3:], A[3:]
    W = skew(w)
    acceleration = A[:3] + W @ v  # of the origin, in body axes
    turning = skew(w_dot) + W @ W
    spin = tensor_map(w_dot) + W @ tensor_map(w)
    force = np.column_stack([acceleration, turning, np.zeros((3, 6))])
    moment = np.column_stack([np.zeros(3), -skew(acceleration), spin])
    return np.concatenate([force, moment])


def tensor_map(w: Array) -> Array:
    """The 3 × 6 matrix with I w = matrix · (Ixx, Ixy, Iyy, Ixz, Iyz, Izz)."""
    x, y, z = w
    return np.array([[x, y, 0.0, z, 0.0, 0.0], [0.0, x, y, 0.0, z, 0.0], [0.0, 0.0, 0.0, x, y, z]])
