"""The two sign conventions of a wrench, by name, and checks of arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.robot.checks import check_is_robot, check_numeric, warn_of_open_loops
from dynamis.spatial.checks import shape_of

Array = npt.NDArray[Any]

SIDES = {"environment": 1.0, "robot": -1.0}
STATICS_OF_LOOPS = (
    "with the loops closed, static torques are those of dynamis.constrained(robot).inverse_dynamics(q, v, a, {frame: wrench}, "
    "actuated=…) with v = a = 0, and stiffness takes dynamis.constrained(robot); the other statics are not available"
)  # for robots whose file closes loops


def side(by: str) -> float:
    """+1 where the environment exerts a wrench on the robot (τ + Jᵀ w), −1 where the robot exerts it (τ = Jᵀ F)."""
    if not isinstance(by, str) or by not in SIDES:
        raise InputError(
            f"by={by!r} is unknown; choose 'environment' (the wrench it exerts on the robot, the default) or 'robot' "
            "(the wrench the robot exerts on the environment, F in τ = Jᵀ F)"
        )
    return SIDES[by]


def on_robot(robot: Robot, wrench: Any, by: str) -> Array:
    """The wrench (…, 6) that the environment exerts on the robot; three numbers are a force without a moment."""
    check_is_robot(robot)
    sign = side(by)
    if wrench is None:
        return np.zeros(6)
    if shape_of(wrench)[-1:] == (3,) and (given := np.asarray(wrench)).dtype.kind in "biuf":
        wrench = np.concatenate([given, np.zeros_like(given)], axis=-1)
    return sign * robot.inputs.vector(wrench, 6, "wrench", "(f, μ), or the 3 of a force alone")


def one_wrench(robot: Robot, wrench: Any, by: str) -> Array:
    """One wrench (6) that the environment exerts on the robot."""
    w = on_robot(robot, wrench, by)
    if w.ndim != 1:
        raise InputError(f"wrench has shape {w.shape}; one wrench of 6 numbers (f, μ) or a force of 3 numbers is required")
    return w.astype(float)


def one_state(robot: Any, q: Any) -> Array:
    """One configuration of a robot whose parameters are numbers."""
    check_numeric(robot)
    warn_of_open_loops(robot, "its statics", instead=STATICS_OF_LOOPS, stacklevel=4)
    state: Array = robot.inputs.one_state(q, robot.nq, "q")
    return state


def torques_at_rest(robot: Robot, q: Array, gravity: bool = True) -> Array:
    """Torques (…, n) of gravity and of the springs of the model, or of the springs alone."""
    total = robot.static_torque(q)
    return total if gravity else total - robot.gravity(q)
