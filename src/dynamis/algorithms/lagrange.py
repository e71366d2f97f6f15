"""Lagrange's equations, obtained by differentiating the energies: d/dt ∂L/∂ẋ − ∂L/∂x = τ.

An independent formulation: no twist, no wrench, no cross product. A body is a 4 × 4 homogeneous matrix X(x) and its
4 × 4 pseudo-inertia P, so that its energies are

    T = ½ tr(Ẋ P Ẋᵀ),     U = −gᵀ (X P)₁₋₃,₄

and everything else is done by differentiation. The coordinates x are those of the tree near the state: q + x, or, for
a spherical or free joint, the moving frame turned and shifted by x. There ẋ = v and ẍ = v̇ at x = 0, so the equations
are the robot's own; as they contain no derivative of X beyond the second, the turn is needed only to second order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.model import Body, Model
from dynamis.scalar import Program, directional, gradient, symbol

Array = npt.NDArray[Any]


def lagrange(model: Model, q: Array, v: Array, a: Array) -> Array:
    """τ of the bodies, rotors and springs (no friction, no wrenches) at one state."""
    outputs, x, x_dot, x_ddot = _equations(model, q)
    values = {**dict(zip(x, np.zeros(model.n), strict=True)), **dict(zip(x_dot, v, strict=True)),
              **dict(zip(x_ddot, a, strict=True))}  # fmt: skip
    return Program(list(values), outputs)(*values.values())


def lagrange_program(model: Model) -> Any:
    """The same as a function of many states: f(q, v, a) with a leading axis each, differentiated only once."""
    q = np.array([symbol(f"q[{k}]") for k in range(model.nq)], dtype=object)
    outputs, x, x_dot, x_ddot = _equations(model, q)
    program = Program([*q, *x, *x_dot, *x_ddot], outputs)

    def run(q: Array, v: Array, a: Array) -> Array:
        return program(*q.T, *([0.0] * model.n), *v.T, *a.T)

    return run


def _equations(model: Model, q: Array) -> tuple[Array, list[Any], list[Any], list[Any]]:
    x, x_dot, x_ddot = ([symbol(f"{name}[{k}]") for k in range(model.n)] for name in ("x", "x'", "x''"))
    T, U = _energies(model, q, np.array(x, dtype=object), np.array(x_dot, dtype=object))
    momentum = gradient(T, x_dot)
    rate = directional(momentum, [*x, *x_dot], [*x_dot, *x_ddot])
    return rate - gradient(T - U, x), x, x_dot, x_ddot


def _energies(model: Model, q: Array, x: Array, x_dot: Array) -> tuple[Any, Any]:
    X: list[Array] = [np.eye(4)]
    T: Any = 0.0
    U: Any = 0.0
    for _, body in model.moving:
        pose = X[body.parent] @ _near(body, q, x[list(body.dof)])
        X.append(pose)
        P = body.inertia.pseudo_inertia
        X_dot = directional(pose, list(x), list(x_dot))
        T = T + 0.5 * np.sum((X_dot @ P) * X_dot)
        U = U - np.dot(model.gravity, (pose @ P)[:3, 3])
    for k, c in enumerate(model.coordinates):
        T = T + 0.5 * model.rotor[k] * x_dot[k] * x_dot[k]
        if c.q_index is not None:
            stretch = q[c.q_index] + x[k] - model.rest[k]
            U = U + 0.5 * model.stiffness[k] * stretch * stretch
    return T, U


def _near(body: Body, q: Array, x: Array) -> Array:
    """The body's matrix in its parent's frame at the configuration x away from q."""
    if body.motion.nv == 1:
        moved = q.astype(object)
        moved[body.q_index] = moved[body.q_index] + x
        return body.pose(moved).matrix()
    shift, turn = (x[:3], x[3:]) if body.motion.nv == 6 else (np.zeros(3), x)
    a, b, c = turn
    small = np.array([[0.0, -c, b, shift[0]], [c, 0.0, -a, shift[1]], [-b, a, 0.0, shift[2]], [0.0, 0.0, 0.0, 0.0]])
    return body.pose(q).matrix() @ (np.eye(4) + small + 0.5 * (small @ small))
