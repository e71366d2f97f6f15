"""Stiffness of robots with closed loops and contacts, in independent coordinates z.

Displacements that keep the constraints are δq = T δz. With the forces λ of the constraints in equilibrium,

    τ₀ + Jᵀ w − springs − g + Hᵀ λ = 0    (τ₀ of the joints that have stiffness, zero at passive ones),

the forces that arise along T are −Tᵀ (K_q − K_G) T δz, where K_G = ∂(Jᵀ w − g + Hᵀ λ)/∂q at constant w and λ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, SingularError, printable, unknown_name
from dynamis.simulation.loops.constrain import check_closed
from dynamis.simulation.loops.constrained_derivatives import row_derivatives
from dynamis.statics.convention import torques_at_rest
from dynamis.statics.geometric_stiffness import load_stiffness, spring_stiffness
from dynamis.tolerances import RANK_TOLERANCE, SOLUTION_TOLERANCE

if TYPE_CHECKING:
    from dynamis.simulation.loops.constrained_robot import ConstrainedRobot

Array = npt.NDArray[Any]


def reduced_stiffness(
    robot: ConstrainedRobot, q: Array, joint_stiffness: Any, wrench: Array, frame: str, weight: bool
) -> tuple[Array, Array, Array]:
    """(Tᵀ K_q T, Tᵀ K_G T, T) of a robot at rest under a wrench at a frame, in world axes.

    K_G is that of wrench and weight, which a factor scales; that of the forces of preloaded springs is a part of K_q.
    """
    tree, n = robot.robot, robot.n
    check_closed(robot, q)
    k = _joint_springs(robot, joint_stiffness)
    T, rest = robot.reduced_dynamics(q, np.zeros(n), np.zeros(n)).B, np.zeros(n)
    K = np.diag(k) + spring_stiffness(tree)
    reduced = T.T @ K @ T
    values = np.linalg.eigvalsh(reduced)
    if values[0] <= RANK_TOLERANCE * values[-1]:
        raise SingularError(
            f"the joints with stiffness leave motions of {printable(robot.name)} free: it has {T.shape[1]} degrees of freedom"
        )
    preload, load = -torques_at_rest(tree, q, gravity=False), tree.jacobian(q, frame).T @ wrench
    if weight:
        load = load - tree.gravity(q)
    driven, rows = k > 0.0, row_derivatives(tree, robot.contacts)

    def of_forces(held: Array) -> Array:
        """∂(Hᵀ λ)/∂q of the constraint forces that hold a load."""
        return np.asarray(rows.jacobian(q, rest, rest, _constraint_forces(robot, q, held, driven), rest))[:n, :n]

    G = load_stiffness(tree, q, wrench, frame) + of_forces(load)
    if weight:
        G = G - (tree.inverse_dynamics_derivatives(q, rest, rest).dq - spring_stiffness(tree))
    if preload.any():
        reduced = reduced - T.T @ of_forces(preload) @ T
    return reduced, T.T @ G @ T, T


def _constraint_forces(robot: ConstrainedRobot, q: Array, load: Array, driven: Array) -> Array:
    """λ, which holds the load together with the torques of the joints that have stiffness; the smallest of several."""
    columns = np.hstack([np.eye(robot.n)[:, driven], robot.jacobian(q).T])
    found = np.linalg.lstsq(columns, -load, rcond=None)[0]
    left = np.abs(columns @ found + load).max()
    if left > SOLUTION_TOLERANCE * (1.0 + np.abs(load).max()):
        raise InputError(f"the joints with stiffness cannot hold this load: {left:.3g} N m or N are missing")
    return np.asarray(found[int(driven.sum()) :])


def _joint_springs(robot: ConstrainedRobot, joint_stiffness: Any) -> Array:
    """The stiffness of each coordinate, from a mapping of joints or one number per coordinate; 0 of passive ones."""
    names = robot.robot.coordinate_names
    example = f"a mapping of the joints that have stiffness, such as {{{names[0]!r}: 1e4}}"
    given = joint_stiffness
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise unknown_name("coordinate", name, names)
        given = [given.get(name, 0.0) for name in names]
    try:
        k = np.array(given, dtype=float)
    except (TypeError, ValueError):
        k = np.zeros(0)
    if k.shape != (robot.n,) or not np.isfinite(k).all() or (k < 0.0).any():
        raise InputError(f"joint stiffness of a robot with closed loops or contacts must be {example}, or one number for each")
    turning = [c.q_index is None for c in robot.model.coordinates]
    if (k[turning] > 0.0).any():
        raise InputError("joint stiffness is defined for joints with one coordinate: those of balls and free bases are 0")
    return k
