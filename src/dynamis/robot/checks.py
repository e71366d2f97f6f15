"""Checks of the robot that a function is given."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, ModelWarning, printable
from dynamis.model.actuators import Actuator, Saturated
from dynamis.robot.robot import Robot
from dynamis.scalar import Node


def check_is_robot(robot: Any) -> None:
    """Refuse what is no robot."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a Robot, such as dynamis.load('ur5e'), got {type(robot).__name__}")


def check_numeric(robot: Any, parameters: Sequence[Node] = ()) -> None:
    """Refuse what is no robot, and robots with symbols without values, other than these parameters; the message names them."""
    check_is_robot(robot)
    if robot.model.symbolic:
        known = {str(x) for x in parameters}
        names = ", ".join(x for x in robot.description.symbol_names() if x not in known)
        if names:
            raise InputError(
                f"robot {printable(robot.name)} has symbolic parameters without values ({names}); "
                "give them: dynamis.load(…, parameters={'name': value}), on the command line --set NAME=VALUE"
            )


def torque_limits(robot: Robot) -> npt.NDArray[Any]:
    """Effort limits of the coordinates (n,), also those of actuators that limit torques and nothing else."""
    limits = np.array(robot.limits["effort"], float)
    for name, actuator in robot.actuators.items():
        if isinstance(actuator, Saturated) and _only_limits(actuator):
            k = robot.coordinate_names.index(name)
            limits[k] = min(limits[k], actuator.effort)
    return limits


def warn_of_actuators(robot: Robot, where: str, *, limited: bool = False, stacklevel: int = 3) -> None:
    """Warn that actuators are ignored; with ``limited``, not of those that limit torques and nothing else."""
    names = [printable(name) for name, actuator in robot.actuators.items() if not (limited and _only_limits(actuator))]
    if names:
        text = f"the actuators of {', '.join(names)} are not part of {where}, whose inputs are joint torques"
        warnings.warn(text, ModelWarning, stacklevel=stacklevel)


def _only_limits(actuator: Actuator) -> bool:
    return isinstance(actuator, Saturated) and actuator == Saturated(effort=actuator.effort)
