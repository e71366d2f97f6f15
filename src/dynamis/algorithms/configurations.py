"""Steps on the configuration manifold: quaternions stay of unit norm, all other coordinates are added and subtracted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.model import Body, Model

Array = npt.NDArray[Any]


def integrate(model: Model, q: Array, dv: Array) -> Array:
    """The configuration reached from q with the constant velocity dv in unit time."""
    result = np.array(q, dtype=model.zeros(0, q, dv).dtype)
    for body in independent_bodies(model):
        result[body.q_index] = body.motion.integrate(q[body.q_index], dv[list(body.dof)])
    return result


def difference(model: Model, q0: Array, q1: Array) -> Array:
    """The velocity dv with integrate(q0, dv) = q1."""
    result = model.zeros(model.n, q0, q1)
    for body in independent_bodies(model):
        result[list(body.dof)] = body.motion.difference(q0[body.q_index], q1[body.q_index])
    return result


def interpolate(model: Model, q0: Array, q1: Array, s: Array) -> Array:
    """integrate(q0, s · difference(q0, q1)): the shortest way from q0 (s = 0) to q1 (s = 1)."""
    return integrate(model, q0, s[0] * difference(model, q0, q1))


def integrate_derivatives(model: Model, q: Array, dv: Array) -> Array:
    """(∂q1/∂q, ∂q1/∂dv) (2, n, n) of q1 = integrate(q, dv), along the directions of v before and after the step."""
    result = model.zeros((2, model.n, model.n), q, dv)
    for body in independent_bodies(model):
        dof = list(body.dof)
        result[0][np.ix_(dof, dof)] = body.motion.carried(dv[dof])
        result[1][np.ix_(dof, dof)] = body.motion.step_jacobian(dv[dof])
    return result


def difference_derivatives(model: Model, q0: Array, q1: Array) -> Array:
    """(∂dv/∂q0, ∂dv/∂q1) (2, n, n) of dv = difference(q0, q1), along the directions of v at q0 and at q1."""
    result, dv = model.zeros((2, model.n, model.n), q0, q1), difference(model, q0, q1)
    for body in independent_bodies(model):
        dof = list(body.dof)
        J = body.motion.inverse_step_jacobian(dv[dof])
        result[0][np.ix_(dof, dof)] = -J @ body.motion.carried(dv[dof])
        result[1][np.ix_(dof, dof)] = J
    return result


def dexp_inverse(model: Model, u: Array, v: Array) -> Array:
    """u̇ of a configuration integrate(q0, u) that moves with the velocity v: v + ½ [u, v] + 1/12 [u, [u, v]] (…, n).

    The terms that are left out are of fourth order in u; only those of quaternions are not zero.
    """
    bracket = lie_bracket(model, u, v)
    return v + 0.5 * bracket + lie_bracket(model, u, bracket) / 12.0


def lie_bracket(model: Model, u: Array, v: Array) -> Array:
    """[u, v] of small motions of each joint, zero for those with one coordinate (…, n)."""
    result = np.zeros(np.broadcast_shapes(u.shape, v.shape), dtype=object if object in (u.dtype, v.dtype) else float)
    for body in independent_bodies(model):
        dof = list(body.dof)
        if body.motion.nv >= 3:
            turn = dof[-3:]
            result[..., turn] = _cross(u[..., turn], v[..., turn])
            if body.motion.nv == 6:
                move = dof[:3]
                result[..., move] = _cross(u[..., turn], v[..., move]) + _cross(u[..., move], v[..., turn])
    return result


def _cross(a: Array, b: Array) -> Array:
    (a1, a2, a3), (b1, b2, b3) = (np.moveaxis(x, -1, 0) for x in (a, b))
    return np.stack([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1], axis=-1)


def independent_bodies(model: Model) -> Iterator[Body]:
    """The moving bodies whose coordinates no other joint prescribes."""
    return (b for _, b in model.moving if b.ratio == 1.0 and b.offset == 0.0 and not b.is_rotor)
