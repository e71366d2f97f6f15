"""Rigid contacts and closed loops of a robot, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.kinematics.closures import Closure, named_frame
from dynamis.kinematics.file_closures import given_closures
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.simulation.contact_equations import Contacts
from dynamis.simulation.loops.constrained_robot import ConstrainedRobot
from dynamis.tolerances import SOLUTION_TOLERANCE


def constrained(
    robot: Robot,
    points: str | Sequence[str] = (),
    frames: str | Sequence[str] = (),
    closures: Closure | Sequence[Closure] | None = None,
    *,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> ConstrainedRobot:
    """A robot whose ``points`` and ``frames`` touch something rigid, and whose loops are closed by ``closures``.

    Points (origins of named frames) do not accelerate, frames do not turn either. ``closures`` are those of `dynamis.loops`, by
    default those that the file of the robot describes.
    ``alpha`` and ``beta`` (1/s) stabilise the constraints as Baumgarte does: J v̇ + J̇ v = −2α J v − β² h, with h = 0 for
    points and frames, which have no reference position.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("go2", base="floating")
    >>> stance = dy.constrained(robot, points=["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
    >>> q = robot.home()
    >>> a, forces = stance.forward_dynamics(q, np.zeros(18), np.zeros(18))
    >>> forces.shape, bool(abs(stance.jacobian(q) @ a).max() < 1e-9)
    ((12,), True)
    """
    check_numeric(robot)
    if not all(isinstance(x, str | Sequence) for x in (points, frames)):
        raise InputError("points= and frames= must be names of frames, such as points=['FL_foot', 'FR_foot']")
    at_points, at_frames = ((x,) if isinstance(x, str) else tuple(x) for x in (points, frames))
    for name in (*at_points, *at_frames):
        if named_frame(robot, name).body == 0:
            raise InputError(f"frame {printable(name)} is fixed to the base: a contact there constrains nothing")
    held = given_closures(robot, closures)
    if not (*at_points, *at_frames, *held):
        raise InputError("no contacts given: name points=, frames= or closures=; without any, use robot.forward_dynamics")
    for gain, value in (("alpha", alpha), ("beta", beta)):
        if not (isinstance(value, int | float) and np.isfinite(value) and value >= 0.0):
            raise InputError(f"{gain}= must be a non-negative number (1/s), got {value!r}")
    return ConstrainedRobot(robot, Contacts(at_points, at_frames, held, float(alpha), float(beta)))


def check_closed(robot: ConstrainedRobot, q: npt.NDArray[Any]) -> None:
    """Refuse a configuration with open loops, for what holds with them closed only."""
    if robot.closures and (opening := np.abs(robot.robot.difference(q, robot.assemble(q))).max()) > SOLUTION_TOLERANCE:
        raise InputError(
            f"q does not close the loops of {printable(robot.name)}: assemble(q) differs by {opening:.3g}; use its result"
        )
