"""Geometric stiffness of a load and of gravity: ∂(Jᵀ w)/∂q and ∂g/∂q, exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import dynamics
from dynamis.algorithms.registry import Algorithm
from dynamis.errors import InputError, printable
from dynamis.model.model import Model
from dynamis.robot import Robot
from dynamis.scalar import evaluate, jacobian, symbol
from dynamis.tolerances import RANK_TOLERANCE, SUM_ROUNDING

Array = npt.NDArray[Any]


def load_stiffness(robot: Robot, q: Any, wrench: Any, frame: str | None = None) -> Array:
    """Geometric stiffness K_G = ∂(Jᵀ w)/∂q (n × n) of a wrench w at the frame's origin, constant in world axes.

    J̇ is linear in the velocity, so column k is J̇ᵀ w for the k-th unit velocity. The part of a force is symmetric; that of a
    moment of constant direction, which has no potential, is not.
    """
    slopes = robot.jacobian_dot(np.asarray(q, dtype=float), np.eye(robot.n), frame)  # (k, 6, n)
    return np.asarray(np.einsum("kij,i->jk", slopes, np.asarray(wrench, dtype=float)))


def spring_stiffness(robot: Robot) -> Array:
    """Stiffness (n × n) of the springs of the model, parallel to that of the joints."""
    return np.diag(robot.model.stiffness.astype(float))


def weight_stiffness(robot: Robot, q: Any) -> Array:
    """Gravity stiffness ∂g/∂q (n × n)."""
    return robot.evaluate(WEIGHT_STIFFNESS, q)


def _weight_stiffness(model: Model, q: Array) -> Array:
    order = np.array([c.q_index for c in model.coordinates], dtype=int)
    if q.dtype == object:
        return jacobian(dynamics.gravity(model, q), list(q))[..., order]
    x = np.array([symbol(f"q[{k}]") for k in range(model.nq)], dtype=object)
    return evaluate(jacobian(dynamics.gravity(model, x), list(x)), dict(zip(x, q, strict=True)))[..., order]


WEIGHT_STIFFNESS = Algorithm("weight_stiffness", _weight_stiffness, ("q",))


def largest_divergence(K: Array, G: Array) -> float:
    """The largest real eigenvalue μ of K⁻¹ G, or 0: K − λ G becomes singular at the factor λ = 1 / μ of a load.

    Of a symmetric G it is where K − λ G ceases to be positive definite; that of a moment of constant direction is not
    symmetric, and often triangular, without any such factor.
    """
    size = np.abs(G).max(initial=0.0)
    found = np.linalg.eigvals(np.linalg.solve(K, np.where(np.abs(G) > SUM_ROUNDING * size, G, 0.0)))
    real = found.real[np.abs(found.imag) <= RANK_TOLERANCE * np.abs(found).max(initial=0.0)]
    return float(real.max(initial=0.0))


def check_coordinates(robot: Robot) -> None:
    """Reject robots with quaternion coordinates."""
    for c in robot.model.coordinates:
        if c.q_index is None:
            raise InputError(
                f"joint {printable(c.joint)} of robot {printable(robot.name)} has a quaternion coordinate; joint stiffness "
                "is defined for joints with one coordinate per degree of freedom, on a fixed base"
            )
