"""Redundancy resolution: laws named after the cost they minimise.

All minimise ½ (τ − τ₀)ᵀ W (τ − τ₀) subject to J q̈ = ẍ − J̇ q̇, which in torques is A τ = b with A = J M⁻¹ and
b = ẍ − J̇ q̇ + J M⁻¹ n, so that τ = X G⁻¹ (b − A τ₀) + τ₀ with X = W⁻¹ Aᵀ and G = A X. The preferred torque τ₀ is thus
projected by 1 − X G⁻¹ A, the null-space projector for W.

Written for one state, for numbers and symbols, with a fixed damping: G⁻¹ is (G + λ² 1)⁻¹. Equation numbers are those of the
exam "Robotica II", 10 June 2009, whose B is our M.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, unknown_name
from dynamis.kinematics.tasks import Task
from dynamis.robot import Robot
from dynamis.scalar import solve_positive
from dynamis.task_space.task_state import TaskState, of_task, solved

Array = npt.NDArray[Any]
Weight = Any  # (n × n), its diagonal (n), or a function of (robot, q, v) that returns one
Law = Callable[..., Array]


def least_cost_torque(
    robot: Robot, q: Any, v: Any, task: Task, acceleration: Any, law: str = "driven-acceleration", *, weight: Weight = None,
    damping: Any = 0.0, preferred: Any = None, actuated: Any = "all",
) -> Array:  # fmt: skip
    """τ that realises ẍ with minimal cost ½ (τ − τ₀)ᵀ W (τ − τ₀), for numbers and symbols, with a fixed damping λ of G.

    - "driven-acceleration": W = M⁻², the squared acceleration M⁻¹ τ due to τ; τ = M J^# (ẍ − J̇ q̇ + J M⁻¹ n) for τ₀ = 0
    - "acceleration-energy": W = M⁻¹, the dynamically consistent law τ = Jᵀ Λ (ẍ − J̇ q̇ + J M⁻¹ n) [Khatib 1987]
    - "torque": W = 1, τ = (J M⁻¹)^# (ẍ − J̇ q̇ + J M⁻¹ n); can be unstable over long motions [Hollerbach, Suh 1987]

    ``weight`` gives a user-defined symmetric positive definite W instead; ``preferred`` is τ₀. `resolve` also treats
    singularities and reports rank and task error.

    >>> import dynamis as dy, numpy as np
    >>> robot, task = dy.load("panda"), dy.task_space.Position()
    >>> q, v = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]), np.zeros(7)
    >>> tau = dy.task_space.least_cost_torque(robot, q, v, task, [0.0, 0.0, 1.0], "torque")
    >>> (task.jacobian(robot, q) @ robot.forward_dynamics(q, v, tau)).round(6) + 0.0
    array([0., 0., 1.])
    """
    at = TaskState.of(robot, q, v, task, actuated)
    if weight is not None:
        X = solve_positive(weight_matrix(weight, robot, q, v, len(at.M)), at.A_T)
        return _minimised(at, X, at.A_T.T @ X, acceleration, damping, preferred)
    match law:
        case "driven-acceleration":
            return _minimised(at, at.M @ at.J.T, at.J @ at.J.T, acceleration, damping, preferred)
        case "acceleration-energy":
            return _minimised(at, at.J.T, at.mobility, acceleration, damping, preferred)
        case "torque":
            return _minimised(at, at.A_T, at.A_T.T @ at.A_T, acceleration, damping, preferred)
    raise unknown_name("law", law, LAWS)


def _minimised(at: TaskState, X: Array, G: Array, acceleration: Any, damping: Any, preferred: Any) -> Array:
    b = of_task(acceleration, len(at.J)) + at.beta
    if preferred is None:
        return X @ solved(G, b, damping)
    tau_0 = np.asarray(preferred)
    return tau_0 + X @ solved(G, b - at.J @ solve_positive(at.M, tau_0), damping)


def weight_matrix(weight: Weight, robot: Robot, q: Any, v: Any, size: int) -> Array:
    """W (n × n) from a matrix, a diagonal, or a function of the state."""
    W = np.asarray(weight(robot, q, v) if callable(weight) else weight)
    W = np.diag(W) if W.ndim == 1 else W
    if W.shape != (size, size):
        raise InputError(f"weight= has shape {W.shape}; it must be ({size}, {size}), or ({size},) for a diagonal")
    if W.dtype != object:
        if not np.isfinite(W).all() or not np.allclose(W, W.T) or np.linalg.eigvalsh(W)[0] <= 0.0:
            raise InputError("weight= must be symmetric and positive definite")
        W = W.astype(float)
    return W


MINIMISED = {
    "driven-acceleration": "½ τᵀ M⁻² τ, the squared acceleration M⁻¹ τ",
    "acceleration-energy": "½ τᵀ M⁻¹ τ, dynamically consistent",
    "torque": "½ τᵀ τ",
}
LAWS = tuple(MINIMISED)


def law_named(law: Any) -> Law:
    """A law by name, or a user-defined function with the same arguments."""
    if callable(law):
        return law
    if law not in LAWS:
        raise unknown_name("law", law, LAWS)
    return functools.partial(least_cost_torque, law=law)


def law_weight(name: str, M: Array) -> Array:
    """W of a law by its name, for numbers."""
    match name:
        case "driven-acceleration":
            M_inverse = np.linalg.inv(M)
            return M_inverse @ M_inverse
        case "acceleration-energy":
            return np.linalg.inv(M)
        case "torque":
            return np.eye(len(M))
    raise unknown_name("law", name, LAWS)
