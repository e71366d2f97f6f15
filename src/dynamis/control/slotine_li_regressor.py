"""The regressor of passivity-based control: Y(q, v, v_r, a_r) π = M a_r + C(q, v) v_r + g + friction along v_r.

Velocities enter the equations of motion as a quadratic form h(v) = C(q, v) v. Its polarisation B(v, v_r) = ¼ (h(v + v_r) −
h(v − v_r)) is bilinear and symmetric, as is C(q, v) v_r with the Christoffel form of C: both are equal. Here every product of
velocities in the recursion of `algorithms.regressor` is polarised in place, so that one pass suffices [Slotine & Li
1987], [Niemeyer & Slotine 1991]. Joints with quaternions have nonsymmetric coefficients and are rejected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses, twists
from dynamis.algorithms.registry import Algorithm
from dynamis.algorithms.regressor import JOINT_PARAMETERS, disc, link_columns, links, rotors, tensor_map, without_rotors
from dynamis.algorithms.subtree import Beyond, add_block
from dynamis.model.model import Model
from dynamis.robot import Robot
from dynamis.scalar import tanh
from dynamis.spatial import motion_cross, skew

Array = npt.NDArray[Any]


def slotine_li_regressor(model: Model, q: Array, v: Array, v_r: Array, a_r: Array, slip: float = 0.05) -> Array:
    """Y (n × p), the columns as in `robot.parameters`; dry friction is smoothed below the velocity ``slip``."""
    X = relative_poses(model, q)
    V, V_r = twists(model, X, v), twists(model, X, v_r)
    A = _accelerations(model, X, V, V_r, v, v_r, a_r)
    start = 10 * len(links(model))
    last = start + len(JOINT_PARAMETERS) * model.n
    Y = model.zeros((model.n, last + len(rotors(model))), q, v, v_r, a_r)
    beyond = Beyond(model)
    for number, (i, body) in enumerate(rotors(model), last):
        # what a turning rotor needs, and what it adds to the needs of a link that has it locked
        unit, parent = disc(body.motion.axis).parameters, body.parent
        F = (_body(V[i], V_r[i], A[i]) @ unit)[:, None]
        locked = _body(*(X[i].twist_inward(x[parent]) for x in (V, V_r, A))) @ unit
        add_block(Y, body.dof, (number,), body.S.T @ F)
        beyond.pass_on(parent, (number,), X[i].wrench_outward(F - locked[:, None]))
    own = link_columns(model)
    for i, body in reversed(without_rotors(model)):
        columns, F = beyond.at(i)
        if i in own:
            columns, F = (*own[i], *columns), np.hstack([_body(V[i], V_r[i], A[i]), F])
        add_block(Y, body.dof, columns, body.S.T @ F)
        beyond.pass_on(body.parent, columns, X[i].wrench_outward(F))
    s = tanh(v_r / slip)
    for k, (c, rest) in enumerate(zip(model.coordinates, model.rest, strict=True)):
        stretch = 0.0 if c.q_index is None else q[c.q_index] - rest
        Y[k, start + 5 * k : start + 5 * k + 5] = np.array([v_r[k], s[k], s[k] * s[k], a_r[k], stretch])
    return Y


ALGORITHM = Algorithm(
    "slotine_li_regressor", slotine_li_regressor, ("q", "v", "v_r", "a_r"), "Y", "polarised recursion for unit parameters",
    options=("slip",),
)  # fmt: skip


def regressor_along(robot: Robot, q: Array, v: Array, v_r: Array, a_r: Array, slip: float = 0.05) -> Array:
    """Y (…, n, p) of a robot for states and reference velocities with any leading axes, compiled as its methods are."""
    return robot.evaluate(ALGORITHM, q, v, v_r, a_r, slip=slip)


def _accelerations(
    model: Model, X: list[Any], V: list[Array], V_r: list[Array], v: Array, v_r: Array, a_r: Array
) -> list[Array]:
    """V̇_i = Ad⁻¹ V̇_λ(i) + S_i a_r + ½ (ad(V) S v_r + ad(V_r) S v), gravity as an upward acceleration of the base."""
    A = [np.concatenate([-model.gravity, np.zeros(3)])]
    for i, body in model.moving:
        dof = list(body.dof)
        mixed = motion_cross(V[i], body.S @ v_r[dof]) + motion_cross(V_r[i], body.S @ v[dof])
        A.append(X[i].twist_inward(A[body.parent]) + body.S @ a_r[dof] + 0.5 * mixed)
    return A


def _body(V: Array, V_r: Array, A: Array) -> Array:
    """The 6 × 10 matrix of one body, its products of velocities polarised."""
    (v, w), (v_r, w_r), w_dot = (V[:3], V[3:]), (V_r[:3], V_r[3:]), A[3:]
    W, W_r = skew(w), skew(w_r)
    acceleration = A[:3] + 0.5 * (W @ v_r + W_r @ v)
    turning = skew(w_dot) + 0.5 * (W @ W_r + W_r @ W)
    spin = tensor_map(w_dot) + 0.5 * (W @ tensor_map(w_r) + W_r @ tensor_map(w))
    force = np.column_stack([acceleration, turning, np.zeros((3, 6))])
    moment = np.column_stack([np.zeros(3), -skew(acceleration), spin])
    return np.concatenate([force, moment])
