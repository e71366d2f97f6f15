"""How a load and the weight change the torques as the robot gives way: ∂(Jᵀ w)/∂q and ∂g/∂q, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import dynamics
from dynamis.errors import InputError, printable
from dynamis.model.model import Model
from dynamis.robot import Robot
from dynamis.scalar import evaluate, jacobian, symbol

Array = npt.NDArray[Any]


def load_stiffness(robot: Robot, q: Any, wrench: Any, frame: str | None = None) -> Array:
    """K_G = ∂(Jᵀ w)/∂q (n × n) of a wrench w that keeps its components in world axes and acts at the frame's origin.

    J̇ is linear in the velocity, so column k is J̇ᵀ w along the k-th unit velocity. Symmetric for a force; a moment that
    keeps its direction in space has no potential, and its part is not.
    """
    slopes = robot.jacobian_dot(np.asarray(q, dtype=float), np.eye(robot.n), frame)  # (k, 6, n)
    return np.asarray(np.einsum("kij,i->jk", slopes, np.asarray(wrench, dtype=float)))


def weight_stiffness(robot: Robot, q: Any) -> Array:
    """∂g/∂q (n × n): how the torques that hold the weight change."""

    def slope(model: Model, q: Array) -> Array:
        if q.dtype == object:
            return jacobian(dynamics.gravity(model, q), list(q))[..., order]
        x = np.array([symbol(f"q[{k}]") for k in range(model.nq)], dtype=object)
        return evaluate(jacobian(dynamics.gravity(model, x), list(x)), dict(zip(x, q, strict=True)))[..., order]

    order = np.array([c.q_index for c in robot.model.coordinates], dtype=int)
    return robot._evaluator.evaluate(("weight stiffness", ()), slope, q=(q, robot.nq))


def check_coordinates(robot: Robot) -> None:
    """Springs belong to joints whose position is a number."""
    for c in robot.model.coordinates:
        if c.q_index is None:
            raise InputError(
                f"joint {printable(c.joint)} of robot {printable(robot.name)} has an orientation; joint stiffness goes with "
                "joints that have one coordinate for each degree of freedom, on a fixed base"
            )
