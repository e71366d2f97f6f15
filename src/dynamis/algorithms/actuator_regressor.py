"""The motor equations of elastic joints, linear in their parameters: u = Y_m(q, v, θ, θ̇, θ̈) π_m.

π_m contains, for each elastic joint in the order of the coordinates, inertia I and viscous friction F of the rotor, damping D
and stiffness K of the transmission: I θ̈ + F θ̇ + D (θ̇ − q̇) + K (θ − q) = u. The backlash of a transmission is known
geometry: within it D and K have no effect, beyond it the deflection is measured from its edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.actuators import Elastic
from dynamis.model.model import Model

Array = npt.NDArray[Any]

MOTOR_PARAMETERS = ("inertia", "viscous", "damping", "stiffness")


def elastic_joints(model: Model) -> list[tuple[int, Elastic]]:
    """(degree of freedom, transmission) of each elastic joint."""
    return [(k, x) for k, x in enumerate(model.actuators) if isinstance(x, Elastic)]


def actuator_parameters(model: Model) -> Array:
    """π_m."""
    return np.array([getattr(x, name) for _, x in elastic_joints(model) for name in MOTOR_PARAMETERS])


def actuator_parameter_names(model: Model) -> list[str]:
    """The name of each entry of π_m, such as ``elbow.motor.stiffness``."""
    return [f"{model.coordinates[k].name}.motor.{name}" for k, _ in elastic_joints(model) for name in MOTOR_PARAMETERS]


def actuator_regressor(model: Model, q: Array, v: Array, theta: Array, theta_dot: Array, theta_ddot: Array) -> Array:
    """Y_m, one row and four columns per elastic joint."""
    joints = elastic_joints(model)
    width = len(MOTOR_PARAMETERS)
    Y = model.zeros((len(joints), width * len(joints)), q, v, theta, theta_dot, theta_ddot)
    for row, (k, x) in enumerate(joints):
        place = model.coordinates[k].q_index
        assert place is not None
        slip, stretch = x.slip(theta[row], theta_dot[row], q[place], v[k]), x.stretch(theta[row], q[place])
        Y[row, width * row : width * row + width] = [theta_ddot[row], theta_dot[row], slip, stretch]
    return Y
