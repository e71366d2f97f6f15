"""Centre of mass and centroidal momentum of the moving bodies, or of those beyond a link [Orin, Goswami & Lee 2013].

All results are in world axes, or by `in_axes` in those of a link. A base that is fixed to the world is not counted. Reflected
rotor inertias have no momentum in space; rotors that ride on links turn with it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import accelerations, chain_pose, relative_poses, twists, world_poses
from dynamis.errors import InputError, printable
from dynamis.model.model import Body, Frame, Model
from dynamis.spatial import Inertia, Pose, ad, cross, force_cross, motion_cross
from dynamis.spatial.inertia import seen_from

Array = npt.NDArray[Any]


def bodies_of(model: Model, link: Frame | None) -> list[tuple[int, Body]]:
    """The body that carries the link and all bodies it carries in turn; without a link, all moving bodies."""
    if link is None or link.body == 0:
        chosen = list(model.moving)
    else:
        chosen = [(i, body) for i, body in model.moving if link.body in model.ancestors(i)]
    mass = sum(body.inertia.mass for _, body in chosen)
    if isinstance(mass, int | float) and mass <= 0.0:
        if link is not None:
            raise InputError(f"link {printable(link.name)} and what it carries have no mass, and therefore no centre of mass")
        raise InputError(f"robot {printable(model.name)} has no moving mass, and therefore no centre of mass that moves")
    return chosen


def total_mass(chosen: list[tuple[int, Body]]) -> Any:
    return sum(body.inertia.mass for _, body in chosen)


def center_of_mass(model: Model, q: Array, *, link: Frame | None = None) -> Array:
    """c = Σ m_i c_i / m."""
    chosen, X_W = bodies_of(model, link), world_poses(model, relative_poses(model, q))
    return _center(chosen, X_W)


def _center(chosen: list[tuple[int, Body]], X_W: list[Pose]) -> Array:
    moments = [X_W[i].R @ body.inertia.first_moment + body.inertia.mass * X_W[i].p for i, body in chosen]
    return sum(moments, start=np.zeros(3)) / total_mass(chosen)


def center_of_mass_velocity(model: Model, q: Array, v: Array, *, link: Frame | None = None) -> Array:
    """ċ: the linear momentum divided by the mass."""
    chosen, X = bodies_of(model, link), relative_poses(model, q)
    X_W, V = world_poses(model, X), twists(model, X, v)
    momenta = [X_W[i].R @ body.inertia.apply(V[i])[:3] for i, body in chosen]
    return sum(momenta, start=np.zeros(3)) / total_mass(chosen)


def center_of_mass_acceleration(model: Model, q: Array, v: Array, a: Array, *, link: Frame | None = None) -> Array:
    """c̈, without gravity: the sum of the inertial forces divided by the mass."""
    chosen, X = bodies_of(model, link), relative_poses(model, q)
    X_W, V = world_poses(model, X), twists(model, X, v)
    A = accelerations(model, X, V, v, a)
    forces = []
    for i, body in chosen:
        I = body.inertia
        forces.append(X_W[i].R @ (I.apply(A[i]) + force_cross(V[i], I.apply(V[i])))[:3])
    return sum(forces, start=np.zeros(3)) / total_mass(chosen)


def center_of_mass_jacobian(model: Model, q: Array, *, link: Frame | None = None) -> Array:
    """J_c (3 × n) with ċ = J_c v."""
    chosen = bodies_of(model, link)
    return _momentum_matrix(model, chosen, q)[0][:3] / total_mass(chosen)


def centroidal_momentum(model: Model, q: Array, v: Array, *, link: Frame | None = None) -> Array:
    """(P, L): linear momentum, and angular momentum about the centre of mass."""
    chosen, X = bodies_of(model, link), relative_poses(model, q)
    X_W, V = world_poses(model, X), twists(model, X, v)
    momentum = sum((X_W[i].wrench_outward(body.inertia.apply(V[i])) for i, body in chosen), start=np.zeros(6))
    P, about_origin = momentum[:3], momentum[3:]
    return np.concatenate([P, about_origin - cross(_center(chosen, X_W), P)])


def centroidal_matrix(model: Model, q: Array, *, link: Frame | None = None) -> Array:
    """A_g (6 × n) with (P, L) = A_g v."""
    A, c, _ = _momentum_matrix(model, bodies_of(model, link), q)
    return np.concatenate([A[:3], A[3:] - np.column_stack([cross(c, column) for column in A[:3].T])]) if model.n else A


def _momentum_matrix(model: Model, chosen: list[tuple[int, Body]], q: Array) -> tuple[Array, Array, list[Pose]]:
    """(A, c, X_W): momentum about the world's origin per unit velocity, from composite inertias; the centre of mass."""
    X = relative_poses(model, q)
    X_W = world_poses(model, X)
    composite = _composite(model, chosen, X)
    A = model.zeros((6, model.n), q)
    for i, body in model.moving:
        if composite[i] is not None:
            columns = X_W[i].wrench_outward(composite[i].apply(body.S))
            for k, column in zip(body.dof, columns.T, strict=True):  # followers add to the column of their leader
                A[:, k] += column
    return A, _center(chosen, X_W), X_W


def _composite(model: Model, chosen: list[tuple[int, Body]], X: list[Pose]) -> list[Any]:
    """For each body, the inertia of the chosen bodies that it carries, itself included, in its frame; None if it has none."""
    composite: list[Inertia | None] = [None] * len(model.bodies)
    for i, body in chosen:
        composite[i] = body.inertia
    for i, body in reversed(model.moving):
        own, parent = composite[i], composite[body.parent]
        if own is not None:
            moved = seen_from(own, X[i])
            composite[body.parent] = moved if parent is None else parent + moved
    return composite


def centroidal_matrix_dot(model: Model, q: Array, v: Array, *, link: Frame | None = None) -> Array:
    """dA_g/dt (6 × n), so that the rate of (P, L) is A_g v̇ + Ȧ_g v.

    In world axes about the world's origin, the momentum I s of a unit velocity along s has the rate İ s + I ṡ with
    İ = Σ V_i ×* I_i − I_i V_i × over the bodies moved, and ṡ = V_i × s.
    """
    chosen, X = bodies_of(model, link), relative_poses(model, q)
    X_W = world_poses(model, X)
    V = [P.twist_outward(twist) for P, twist in zip(X_W, twists(model, X, v), strict=True)]
    inertia: list[Any] = [None] * len(model.bodies)
    rate: list[Any] = [None] * len(model.bodies)
    for i, body in chosen:
        I, W = seen_from(body.inertia, X_W[i]).matrix(), ad(V[i])
        inertia[i], rate[i] = I, -(W.T @ I) - I @ W
    for i, body in reversed(model.moving):
        if inertia[i] is not None and body.parent > 0:
            k = body.parent
            inertia[k] = inertia[i] if inertia[k] is None else inertia[k] + inertia[i]
            rate[k] = rate[i] if rate[k] is None else rate[k] + rate[i]
    A, A_dot = model.zeros((6, model.n), q, v), model.zeros((6, model.n), q, v)
    for i, body in model.moving:
        if inertia[i] is None:
            continue
        s = X_W[i].twist_outward(body.S)
        columns, rates = inertia[i] @ s, rate[i] @ s + inertia[i] @ motion_cross(V[i], s)
        for place, k in enumerate(body.dof):
            A[:, k] += columns[:, place]
            A_dot[:, k] += rates[:, place]
    c, c_dot = _center(chosen, X_W), (A[:3] @ v) / total_mass(chosen)
    for k in range(model.n):
        A_dot[3:, k] -= cross(c_dot, A[:3, k]) + cross(c, A_dot[:3, k])
    return A_dot


def centroidal_inertia(model: Model, q: Array, *, link: Frame | None = None) -> Array:
    """The inertia tensor (3 × 3) of the bodies about their centre of mass, with all joints held."""
    chosen, X_W = bodies_of(model, link), world_poses(model, relative_poses(model, q))
    whole = sum((seen_from(body.inertia, X_W[i]) for i, body in chosen), start=Inertia.zero())
    return whole.tensor_about_com


def in_axes(function: Callable[..., Array], *, tensor: bool = False) -> Callable[..., Array]:
    """The function with results in world axes or, with axes="local", in those of its link: vectors, or a tensor R T Rᵀ."""

    @functools.wraps(function)
    def chosen(model: Model, q: Array, *rates: Array, link: Frame | None = None, axes: str = "world") -> Array:
        result = function(model, q, *rates, link=link)
        if link is None or axes == "world":
            return result
        R_LW = (chain_pose(model, q, link.body) @ link.pose).R.T
        if tensor:
            return R_LW @ result @ R_LW.T
        return np.concatenate([R_LW @ vectors for vectors in np.split(result, len(result) // 3)])

    return chosen
