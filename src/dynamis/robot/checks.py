"""Checks of the robot that a function is given."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, ModelWarning, printable
from dynamis.model.actuators import Actuator, Saturated
from dynamis.robot.base import RobotBase
from dynamis.robot.robot import Robot
from dynamis.scalar import Node
from dynamis.tolerances import MAX_COUNT


def check_is_robot(robot: Any) -> None:
    """Refuse what is no robot."""
    if not isinstance(robot, Robot):
        tree = "; its attribute robot is the tree, without the constraints" if isinstance(robot, RobotBase) else ""
        raise InputError(f"robot must be a Robot, such as dynamis.load('ur5e'), got {type(robot).__name__}{tree}")


def check_count(name: str, value: Any, least: int) -> None:
    """Refuse what is no number of points, and more of them than fit into memory."""
    if not (isinstance(value, int | np.integer) and value >= least):
        raise InputError(f"{name} must be an integer of at least {least}, got {value!r}")
    if value > MAX_COUNT:
        raise InputError(f"{name}={value} is more than fits into memory: at most {MAX_COUNT}")


def check_numeric(robot: Any, parameters: Sequence[Node] = ()) -> None:
    """Refuse what is no robot, and robots with symbols without values, other than these parameters; the message names them."""
    check_is_robot(robot)
    if robot.model.symbolic:
        known = {str(x) for x in parameters}
        names = [x for x in robot.description.symbol_names() if x not in known]
        if names:
            raise InputError(
                f"robot {printable(robot.name)} has symbolic parameters without values ({', '.join(names)}); "
                f"give them: robot.replace(parameters={{{names[0]!r}: value}}), on the command line --set NAME=VALUE"
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


_warned: weakref.WeakKeyDictionary[Robot, set[str]] = weakref.WeakKeyDictionary()


def closed_loops(robot: Robot) -> str:
    """The loops that the file of a robot closes, as the beginning of a sentence; empty without loops."""
    loops = [f"{x.kind} of {' and '.join(printable(y) for y in (x.first, x.second) if y)}" for x in robot.description.closures]
    if not loops:
        return ""
    more = f" and {len(loops) - 1} more" if len(loops) > 1 else ""
    return f"the file of robot {printable(robot.name)} closes loops ({loops[0]}{more})"


def open_loops(robot: Robot) -> str:
    """The same with the remark that they are open."""
    return f"{loops}, which are open" if (loops := closed_loops(robot)) else ""


def warn_of_open_loops(
    robot: Robot, where: str, *, closed: str = "dynamis.constrained(robot)", instead: str = "", stacklevel: int = 3
) -> None:
    """Warn, once for each robot and function, that the loops of its file are open in it.

    ``closed`` closes them; where nothing does, ``instead`` says what can be used.
    """
    told = _warned.setdefault(robot, set())
    if where in told or not (loops := open_loops(robot)):
        return
    told.add(where)
    warnings.warn(f"{loops} in {where}: {instead or f'{closed} closes them'}", ModelWarning, stacklevel=stacklevel)


def refuse_loops(robot: Robot, why: str, cure: str) -> None:
    """Refuse a robot whose file closes loops, for what would be wrong of the mechanism; ``why`` follows "…, which"."""
    if loops := closed_loops(robot):
        raise InputError(
            f"{loops}, which {why}: {cure}. For a machine whose loops are open: "
            "d = robot.description; d.closures.clear(); robot = dynamis.Robot(d)"
        )


def _only_limits(actuator: Actuator) -> bool:
    return isinstance(actuator, Saturated) and actuator == Saturated(effort=actuator.effort)
