"""Closures of a motion as values that JSON can hold, and back."""

from __future__ import annotations

import dataclasses
from typing import Any

from dynamis.errors import InputError
from dynamis.kinematics.closures import Anchor, Closure, Coupled, Distance, InPlane, Pin, Point, Weld
from dynamis.robot import Robot
from dynamis.simulation.loops.constrained_robot import ConstrainedRobot
from dynamis.simulation.loops.constraints import alike, evaluate, held_at, refuse_open
from dynamis.simulation.loops.loop_trajectory import LoopTrajectory
from dynamis.simulation.trajectory import Trajectory

KINDS = {kind.__name__: kind for kind in (Point, InPlane, Pin, Weld, Anchor, Distance, Coupled)}


def stored(motion: LoopTrajectory) -> dict[str, Any]:
    """The loops of a motion; those of types that users define are left out, with all others."""
    if any(type(x) not in KINDS.values() for x in motion.closures):
        return {}
    closures = [{"kind": type(x).__name__, **dataclasses.asdict(x)} for x in motion.closures]  # type: ignore[call-overload]
    return {
        "closures": closures,
        "stabilisation": motion.stabilisation,
        "gains": motion.gains,
        "released": dict(motion.released),
    }


def with_loops(motion: Trajectory, note: Any, constrained: ConstrainedRobot | None) -> Trajectory:
    """The motion with the loops of its file; a table without them has those of the robot, closed from the first point on."""
    given = {} if note is None else note
    if "closures" in given:
        closures = tuple(_closure(motion.robot, x) for x in given["closures"])
        if constrained is not None:
            held = held_at(constrained.robot, constrained.contacts, motion.q[0])
            if not alike(closures, held, len(held) - len(constrained.closures)):
                raise InputError("it has other loops: give the constrained robot that was simulated")
        gains = tuple(float(x) for x in given["gains"])
        released = {str(name): float(t) for name, t in given["released"].items()}
        details: dict[str, Any] = {"stabilisation": str(given["stabilisation"]), "gains": gains, "released": released}
    elif constrained is not None:
        closures, details = held_at(constrained.robot, constrained.contacts, motion.q[0]), {}
        c = evaluate(motion.robot, closures, motion.q[0], motion.v[0])
        refuse_open(constrained.labels, c.h, c.H @ motion.v[0], motion.v[0])
    else:
        return motion
    fields = {f.name: getattr(motion, f.name) for f in dataclasses.fields(Trajectory)}
    return LoopTrajectory(**fields, closures=closures, **details)


def _closure(robot: Robot, values: dict[str, Any]) -> Closure:
    """The closure of these values, which are not rounded again."""
    given = {name: _tuples(x) for name, x in values.items() if name != "kind"}
    closure = KINDS[values["kind"]](**given)
    for name, value in given.items():
        object.__setattr__(closure, name, value)
    closure.check(robot)
    return closure


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
