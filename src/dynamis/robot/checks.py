"""Checks of the robot that a function is given."""

from __future__ import annotations

from typing import Any

from dynamis.errors import InputError, printable
from dynamis.robot.robot import Robot
from dynamis.scalar import Node, topological


def check_numeric(robot: Any) -> None:
    """Refuse what is no robot, and robots with parameters without values, whose names the message has."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a Robot, such as dynamis.load('ur5e'), got {type(robot).__name__}")
    if robot.model.symbolic:
        raise InputError(
            f"robot {printable(robot.name)} has symbolic parameters without values ({', '.join(free_symbols(robot))}); "
            "give them: dynamis.load(…, parameters={'name': value}), on the command line --set NAME=VALUE"
        )


def free_symbols(robot: Robot) -> list[str]:
    """The names of the symbols among a robot's parameters."""
    model = robot.model
    numbers = [*robot.parameters, *model.gravity, *model.rotor, *model.stiffness, *model.rest]
    for _, body in model.moving:
        numbers += [*body.placement.R.flat, *body.placement.p, *body.S.flat]
    return sorted({str(x) for x in topological([y for y in numbers if isinstance(y, Node)]) if x.op == "symbol"})
