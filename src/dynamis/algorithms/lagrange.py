"""Lagrange's equations, obtained by differentiating the energies: d/dt ∂L/∂ẋ − ∂L/∂x = τ.

An independent formulation: no twist, no wrench, no cross product. A body is a 4 × 4 homogeneous matrix X(x) and its
4 × 4 pseudo-inertia P, so that its energies are

    T = ½ tr(Ẋ P Ẋᵀ),     U = −gᵀ (X P)₁₋₃,₄

and everything else follows by differentiation. The coordinates x are those of the tree near the state: q + x, or, for
a spherical or free joint, the moving frame rotated and translated by x. There ẋ = v and ẍ = v̇ at x = 0, so the equations
are those of the robot; as they contain no derivative of X beyond the second, the rotation is needed to second order only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.joints import Spin
from dynamis.model.model import Body, Model
from dynamis.scalar import Program, directional, gradient, symbol

Array = npt.NDArray[Any]


def lagrange(model: Model, q: Array, v: Array, a: Array) -> Array:
    """τ of the bodies, rotors and springs (no friction, no wrenches) at one state."""
    return lagrange_program(model)(q, v, a)[0]


def lagrange_program(model: Model) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
    """f(q, v, a) → (τ, (dT/dt, dU/dt)) over leading axes: differentiated once, evaluated often."""
    q, x, x_dot, x_ddot = (
        np.array([symbol(f"{name}[{k}]") for k in range(count)], dtype=object)
        for name, count in (("q", model.nq), ("x", model.n), ("x'", model.n), ("x''", model.n))
    )
    T, U = _energies(model, q, x, x_dot)
    momentum = gradient(T, list(x_dot))
    rates = directional([*momentum, T, U], [*x, *x_dot], [*x_dot, *x_ddot])
    tau = rates[: model.n] - gradient(T - U, list(x))
    program = Program([*q, *x, *x_dot, *x_ddot], np.concatenate([tau, rates[model.n :]]))

    def run(q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        columns = [np.moveaxis(np.asarray(y), -1, 0) for y in (q, np.zeros_like(v), v, a)]
        result = program(*(column for y in columns for column in y))
        return result[..., : model.n], result[..., model.n :]

    return run


def _energies(model: Model, q: Array, x: Array, x_dot: Array) -> tuple[Any, Any]:
    X: list[Array] = [np.eye(4)]
    X_dot: list[Array] = [np.zeros((4, 4))]
    T: Any = 0.0
    U: Any = 0.0
    for _, body in model.moving:
        dof = list(body.dof)
        A = _near(body, q, x[dof])
        A_dot = directional(A, list(x[dof]), list(x_dot[dof]))
        X.append(X[body.parent] @ A)
        X_dot.append(X_dot[body.parent] @ A + X[body.parent] @ A_dot)
        P = body.inertia.pseudo_inertia
        T = T + 0.5 * np.sum((X_dot[-1] @ P) * X_dot[-1])
        U = U - np.dot(model.gravity, (X[-1] @ P)[:3, 3])
    for k, c in enumerate(model.coordinates):
        T = T + 0.5 * model.rotor[k] * x_dot[k] * x_dot[k]
        if c.q_index is not None:
            stretch = q[c.q_index] + x[k] - model.rest[k]
            U = U + 0.5 * model.stiffness[k] * stretch * stretch
    return T, U


def _near(body: Body, q: Array, x: Array) -> Array:
    """The matrix of the body in its parent's frame at the configuration q displaced by x."""
    if body.motion.nv == 1:
        moved = q.astype(object)
        moved[body.q_index] = moved[body.q_index] + x
        if isinstance(body.motion, Spin):  # what is differentiated has to turn
            return (body.placement @ body.motion.turning(body.ratio * moved[body.q_index] + body.offset)).matrix()
        return body.pose(moved).matrix()
    shift, turn = (x[:3], x[3:]) if body.motion.nv == 6 else (np.zeros(3), x)
    a, b, c = turn
    small = np.array([[0.0, -c, b, shift[0]], [c, 0.0, -a, shift[1]], [-b, a, 0.0, shift[2]], [0.0, 0.0, 0.0, 0.0]])
    return body.pose(q).matrix() @ (np.eye(4) + small + 0.5 * (small @ small))
