"""Loop closures of robot files, and those that a caller gives."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

from dynamis.errors import InputError
from dynamis.kinematics.closures import Closure, Coupled, Distance, InPlane, Pin, Point, Weld
from dynamis.model.closures import LoopClosure
from dynamis.robot import Robot
from dynamis.robot.checks import check_is_robot, check_numeric


def closures(robot: Robot) -> tuple[Closure, ...]:
    """The closures that the file of a robot describes, such as equality constraints of MJCF and second joints of links of SDF.

    >>> import dynamis as dy
    >>> dy.loops.closures(dy.load("ur5e"))
    ()
    """
    check_is_robot(robot)
    found = _of_files.get(robot)
    if found is None:
        found = tuple(map(_of_description, robot.description.closures))
        for closure in found:
            closure.check(robot)
        _of_files[robot] = found
    return found


_of_files: weakref.WeakKeyDictionary[Robot, tuple[Closure, ...]] = weakref.WeakKeyDictionary()


def _of_description(x: LoopClosure) -> Closure:
    match x.kind:
        case "coupled":
            return Coupled(x.first, x.second or None, x.ratio, x.offset, x.higher)
        case "pin":
            return Pin(x.first, x.second, x.axis, x.second_axis)
        case "plane":
            return InPlane(x.first, x.second, x.axis, x.axis_of or None)
        case "distance":
            return Distance(x.first, x.second, x.length)
        case _:
            return (Point if x.kind == "point" else Weld)(x.first, x.second)


def described(closure: Closure) -> LoopClosure:
    """The closure as files have it."""
    match closure:
        case Coupled():
            return LoopClosure("coupled", closure.joint_a, closure.joint_b or "", closure.ratio, closure.offset, closure.higher)
        case Pin():
            return LoopClosure("pin", closure.frame_a, closure.frame_b, axis=closure.axis, second_axis=closure.axis_b)
        case InPlane():
            normal_of = closure.normal_frame or ""
            return LoopClosure("plane", closure.frame_a, closure.frame_b, axis=closure.normal, axis_of=normal_of)
        case Distance():
            return LoopClosure("distance", closure.frame_a, closure.frame_b, length=closure.length)
        case Point() | Weld():
            return LoopClosure("point" if isinstance(closure, Point) else "weld", closure.frame_a, closure.frame_b)
    raise InputError(
        f"no file format has a closure of the kind {type(closure).__name__}: use a Weld or a Point to a frame of the base"
    )


def given_closures(robot: Robot, wanted: Closure | Sequence[Closure] | None) -> tuple[Closure, ...]:
    """The closures as a tuple, each checked against the robot; None stands for those of its file."""
    check_numeric(robot)
    if wanted is None:
        return closures(robot)
    given = (wanted,) if isinstance(wanted, Closure) else tuple(wanted)
    for closure in given:
        if not isinstance(closure, Closure):
            raise InputError(
                f"a closure is a Point, InPlane, Pin, Weld, Anchor, Distance or Coupled, got {type(closure).__name__}"
            )
        closure.check(robot)
    return given
