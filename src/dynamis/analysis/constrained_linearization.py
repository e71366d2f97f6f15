"""Linear model of a robot with rigid contacts and closed loops, in independent coordinates z.

Displacements and velocities that satisfy J v = 0 are δq = T δz and v = T ż, and the velocities change by

    δv = T δż + V δz,    J V = −∂(J v)/∂q T,    with zeros in the rows of z,

so that the rows of z of the derivatives of v̇(q, v, τ), which include those of the constraint forces, are the linear model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.simulation.loops.constrain import check_closed
from dynamis.simulation.loops.constrained_derivatives import row_derivatives

if TYPE_CHECKING:
    from dynamis.simulation.loops.constrained_robot import ConstrainedRobot

Array = npt.NDArray[Any]


def reduce(
    robot: ConstrainedRobot, q: Array, v: Array, tau: Array | None, actuated: Sequence[int], independent: Any
) -> tuple[tuple[str, ...], Array, Array, Array]:
    """(names of z, T, V, τ): without ``tau``, the smallest torques that come nearest to zero acceleration."""
    check_closed(robot, q)
    z = robot.reduced_dynamics(q, v, np.zeros(robot.n) if tau is None else tau, independent=independent)
    if tau is None:
        tau = np.zeros(robot.n)
        tau[list(actuated)] = np.linalg.lstsq(z.B[list(actuated)].T, z.bias, rcond=None)[0]
    return z.coordinates, z.B, _change_of_map(robot, q, v, z.B, z.coordinates), tau


def _change_of_map(robot: ConstrainedRobot, q: Array, v: Array, T: Array, names: Sequence[str]) -> Array:
    """V, the derivative of v = T(q) ż by z."""
    V = np.zeros_like(T)
    if v.any():
        rest, rows = np.zeros(robot.n), robot.rows
        slopes = row_derivatives(robot.robot, robot.contacts).jacobian(q, v, rest, np.zeros(rows), v)
        others = [k for k, name in enumerate(robot.robot.coordinate_names) if name not in names]
        change = np.asarray(slopes)[robot.n + rows :, : robot.n]  # of J v by q
        V[others] = np.linalg.lstsq(robot.jacobian(q)[:, others], -change @ T, rcond=None)[0]
    return V
