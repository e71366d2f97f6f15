"""Checks of the robot that a function is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynamis.errors import InputError, printable
from dynamis.robot.robot import Robot
from dynamis.scalar import Node


def check_numeric(robot: Any, parameters: Sequence[Node] = ()) -> None:
    """Refuse what is no robot, and robots with symbols without values, other than these parameters; the message names them."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a Robot, such as dynamis.load('ur5e'), got {type(robot).__name__}")
    if robot.model.symbolic:
        known = {str(x) for x in parameters}
        names = ", ".join(x for x in robot.description.symbol_names() if x not in known)
        if names:
            raise InputError(
                f"robot {printable(robot.name)} has symbolic parameters without values ({names}); "
                "give them: dynamis.load(…, parameters={'name': value}), on the command line --set NAME=VALUE"
            )
