"""The actuators of a simulation: those of the robot model, or those given instead (see `model.actuators`)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from dynamis.errors import InputError, ModelWarning, printable, unknown_name
from dynamis.model.actuators import Actuator, DCMotor, Elastic
from dynamis.robot import Robot

__all__ = ["Actuator", "actuators_of", "warn_of_voltages"]


def actuators_of(robot: Robot, given: Mapping[str, Actuator] | None) -> tuple[Robot, dict[int, Actuator]]:
    """The robot with the rotors of elastic actuators removed from its links, and the actuator of each degree of freedom.

    ``given`` maps coordinate names to actuators and replaces all actuators of the model.
    """
    if given is None:
        return robot, {k: x for k, x in enumerate(robot.model.actuators) if x is not None}
    names = list(robot.coordinate_names)
    for name, actuator in given.items():
        if name not in names:
            raise unknown_name("coordinate", name, names)
        if not isinstance(actuator, Actuator):
            raise InputError(f"the actuator of {name!r} must be a Saturated, DCMotor or Elastic, got {type(actuator).__name__}")
    # only a spring changes what moves
    springs = {name: x for name, x in given.items() if isinstance(x, Elastic)}
    changes = {**dict.fromkeys(robot.actuators), **springs}
    changed = robot.replace(actuators=changes) if changes else robot
    return changed, {names.index(name): changed.actuators.get(name, x) for name, x in given.items()}


def warn_of_voltages(
    controller: Any, robot: Robot, actuators: Mapping[int, Actuator] | None = None, stacklevel: int = 3
) -> None:
    """Warn of a controller that returns torques for joints whose DC motors take voltages; default: the robot's actuators."""
    if not getattr(controller, "torques", False):
        return
    drives = dict(enumerate(robot.model.actuators)) if actuators is None else actuators
    motors = [robot.coordinate_names[k] for k, drive in drives.items() if isinstance(drive, DCMotor)]
    if motors:
        law = controller
        while hasattr(law, "law"):
            law = law.law
        names, without = ", ".join(map(printable, motors)), ", ".join(f"{name!r}: None" for name in motors)
        text = (
            f"{type(law).__name__} returns torques, but the DC motor of {names} takes a voltage: 1 N m is taken as 1 V; "
            f"convert torques to voltages, law.with_motors(robot), or remove the motor, robot.replace(actuators={{{without}}})"
        )
        warnings.warn(text, ModelWarning, stacklevel=stacklevel)
