"""Checks of the robot that a function is given."""

from __future__ import annotations

from typing import Any

from dynamis.errors import InputError, printable
from dynamis.robot.robot import Robot


def check_numeric(robot: Any) -> None:
    """Refuse what is no robot, and robots with parameters without values, whose names the message has."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a Robot, such as dynamis.load('ur5e'), got {type(robot).__name__}")
    if robot.model.symbolic:
        names = ", ".join(robot.description.symbol_names())
        raise InputError(
            f"robot {printable(robot.name)} has symbolic parameters without values ({names}); "
            "give them: dynamis.load(…, parameters={'name': value}), on the command line --set NAME=VALUE"
        )
