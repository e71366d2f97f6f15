"""The actuators of a simulation: those of the robot model, or those given instead (see `model.actuators`)."""

from __future__ import annotations

from collections.abc import Mapping

from dynamis.errors import InputError, unknown_name
from dynamis.model.actuators import Actuator, Elastic
from dynamis.robot import Robot

__all__ = ["Actuator", "actuators_of"]


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
