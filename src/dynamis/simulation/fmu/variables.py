"""The variables of a Functional Mock-up Unit: time, states, inputs, parameters, rates of the states, outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from dynamis.model.actuators import DCMotor
from dynamis.robot import Robot
from dynamis.simulation.files import COMPONENTS
from dynamis.simulation.motion import EquationsOfMotion

AXES = "xyz"
STEP = "internal_step"


@dataclass(frozen=True)
class Variable:
    """One real number. Its value reference is its place in the list; ``knowns`` are those of what it depends on."""

    name: str
    causality: str
    unit: str | None
    about: str
    start: float | None = None
    state: int | None = None
    knowns: tuple[int, ...] | None = None


def variables_of(
    robot: Robot, motion: EquationsOfMotion, frame: str | None, wrench: str | None, gravity: bool, step: float
) -> list[Variable]:
    """In the order of the C code; the last states are those of friction and drives."""
    names, q0 = robot.coordinate_names, robot.home()
    turns = [c.revolute for c in robot.model.coordinates]
    q_names, q_turns = _positions(robot)
    z = motion.start_inside(q0, np.zeros(robot.n))
    z_names = _inner_names(motion, names)
    found = [Variable("time", "independent", "s", "time")]
    for name, turn, x in zip(q_names, q_turns, q0, strict=True):
        unit = None if turn is None else _unit(turn, "rad", "m")
        found.append(Variable(f"q.{name}", "output", unit, "position", float(x)))
    for name, turn in zip(names, turns, strict=True):
        found.append(Variable(f"v.{name}", "output", _unit(turn, "rad/s", "m/s"), "velocity", 0.0))
    found += [Variable(name, "local", None, "state of friction or drive", float(x)) for name, x in zip(z_names, z, strict=True)]
    found[1:] = states = [replace(x, knowns=(k,)) for k, x in enumerate(found[1:], 1)]
    for k, (name, turn) in enumerate(zip(names, turns, strict=True)):
        volts = isinstance(motion.actuators.get(k), DCMotor)
        unit, about = ("V", "voltage of the motor") if volts else (_unit(turn, "N.m", "N"), "command of the joint")
        found.append(Variable(f"tau.{name}", "input", unit, about, 0.0))
    if wrench is not None:
        about = f"wrench on {wrench} in world axes"
        found += [Variable(f"wrench.{c}", "input", "N" if c[0] == "f" else "N.m", about, 0.0) for c in COMPONENTS]
    found.append(Variable(STEP, "parameter", "s", "longest step of the integration in co-simulation", step))
    if gravity:
        about, values = "acceleration of gravity in world axes", robot.model.gravity
        found += [Variable(f"gravity.{c}", "parameter", "m/s2", about, float(x)) for c, x in zip(AXES, values, strict=True)]
    found += _rates(robot, states, turns)
    if frame is not None:
        on_q = tuple(range(1, 1 + robot.nq))
        about = f"pose of {frame} in the world"
        found += [Variable(f"position.{c}", "output", "m", about, knowns=on_q) for c in AXES]
        found += [Variable(f"rotation.{r}{c}", "output", None, about, knowns=on_q) for r in AXES for c in AXES]
    return found


def _rates(robot: Robot, states: Sequence[Variable], turns: Sequence[bool]) -> list[Variable]:
    """The accelerations are outputs; the others are named as derivatives."""
    nq, n = robot.nq, robot.n
    rates = []
    for k, x in enumerate(states):
        if nq <= k < nq + n:
            unit = _unit(turns[k - nq], "rad/s2", "m/s2")
            rates.append(Variable(f"a.{robot.coordinate_names[k - nq]}", "output", unit, "acceleration", state=1 + k))
        else:
            per_second = f"{x.unit}/s" if x.unit else None
            own = (1 + nq + k,) if nq == n and k < nq else None
            rates.append(Variable(f"der({x.name})", "local", per_second, f"rate of {x.name}", state=1 + k, knowns=own))
    return rates


def _positions(robot: Robot) -> tuple[list[str], list[bool | None]]:
    """Names of the entries of q, and whether each is an angle (None: a component of a quaternion)."""
    names, turns = [""] * robot.nq, cast("list[bool | None]", [None] * robot.nq)
    for c in robot.model.coordinates:
        if c.q_index is not None:
            names[c.q_index], turns[c.q_index] = c.name, c.revolute
    for _, body in robot.model.moving:
        if body.motion.nq == body.motion.nv:
            continue
        joint = robot.model.coordinates[body.dof[0]].joint
        labels = [*AXES[: body.motion.nq - 4], "qx", "qy", "qz", "qw"]
        for k, label in zip(range(body.q_index.start, body.q_index.stop), labels, strict=True):
            names[k], turns[k] = f"{joint}.{label}", False if len(label) == 1 else None
    return names, turns


def _inner_names(motion: EquationsOfMotion, names: Sequence[str]) -> list[str]:
    found = [f"bristle.{names[k]}" for k in motion.bristles]
    for k, actuator in motion.actuators.items():
        found += [f"actuator.{names[k]}[{place}]" for place in range(1, 1 + actuator.size)]
    return found


def _unit(turns: bool, angular: str, linear: str) -> str:
    return angular if turns else linear
