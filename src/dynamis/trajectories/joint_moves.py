"""Synchronised point-to-point moves in joint space."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, ReachWarning, printable
from dynamis.robot import Robot
from dynamis.tolerances import RECURSION_ROUNDING
from dynamis.trajectories.collision_free import collision_free
from dynamis.trajectories.motion import PathMotion, Polynomials, standing
from dynamis.trajectories.profiles import double_s, polynomial, trapezoidal, with_duration
from dynamis.trajectories.validate import limits, numbers, positive

Array = npt.NDArray[Any]


def joint_move(
    q0: Any,
    q1: Any,
    *,
    robot: Robot | None = None,
    velocity: Any = None,
    acceleration: Any = None,
    jerk: Any = None,
    duration: float | None = None,
    collision: Any = None,
) -> PathMotion:
    """Synchronised move from q0 to q1 on a straight line in joint space, with one profile for all joints.

    Limits are one number for all joints or one per joint, infinite for none; velocity limits default to those of ``robot``.
    With a jerk limit the profile is a double S, without one trapezoidal, and with a duration alone a fifth-order polynomial.
    A duration longer than the minimum slows the motion uniformly. A move that collides in ``collision``, a
    `collision.Scene`, is refused, with the pair and the time.

    >>> move = joint_move([0.0, 0.0], [1.0, -2.0], velocity=1.0, acceleration=2.0)
    >>> move.duration, move.at(move.duration / 2)[1]
    (2.5, array([ 0.5, -1. ]))
    """
    start, end = numbers(q0, "q0", (1,)), numbers(q1, "q1", (1,))
    if start.shape != end.shape:
        raise InputError(f"q0 has {counted(len(start), 'number')}, q1 has {len(end)}: both must have one per joint")
    n = len(start)
    if robot is not None:
        check_plain(robot, n)
    for name, q in (("q0", start), ("q1", end)):
        _warn_degrees(robot, q, name)
        if robot is not None:
            robot.inputs.warn_limits(q, name, stacklevel=3)
    if robot is not None:
        velocity = robot.limits["velocity"] if velocity is None else velocity
    way = np.abs(end - start)
    path = Polynomials(np.array([0.0, 1.0]), np.array([[start, end - start]]))
    if not way.any():
        rest = 0.0 if duration is None else positive(duration, "duration")
        made = PathMotion(path, standing(np.array(0.0), rest), "start and end coincide")
        return collision_free(made, collision, robot, "choose another configuration")
    names = ("velocity", "acceleration", "jerk")
    bounds = {name: limits(x, n, name) for name, x in zip(names, (velocity, acceleration, jerk), strict=True) if x is not None}
    # the joint that would be last there sets the pace
    with np.errstate(divide="ignore"):
        paces = {name: bound / way for name, bound in bounds.items()}
    last = {name: int(np.argmin(x)) for name, x in paces.items() if np.isfinite(x).any()}
    pace = {name: float(paces[name][k]) for name, k in last.items()}
    if duration is not None and pace:
        slow = ", ".join(_limit_of(name, k, bounds[name][k], way[k], robot) for name, k in last.items())
        _check_duration(positive(duration, "duration"), pace, slow)
    made = PathMotion(path, _clock(pace, duration))
    return collision_free(made, collision, robot, "choose other configurations, or a spline through points around it")


def _warn_degrees(robot: Robot | None, q: Array, name: str) -> None:
    """Warn of positions that look like degrees: without a robot, whole numbers of which one is more than a turn."""
    if robot is not None:
        robot.inputs.warn_degrees(q, name, stacklevel=4)
    elif float(largest := np.abs(q).max(initial=0.0)) > 2.0 * np.pi and np.array_equal(q, np.round(q)):
        turns = f"{largest:g} rad is {largest / (2.0 * np.pi):.3g} turns"
        text = f"{name} is in radians, and {turns}; if these are degrees, give numpy.deg2rad({name})"
        warnings.warn(text, ReachWarning, stacklevel=3)


def _check_duration(T: float, pace: dict[str, float], slow: str) -> None:
    """Refuse a duration that the limits do not allow; ``slow`` says which they are."""
    alone = set(pace) == {"velocity"}  # reached at the end of ramps of any length
    least = 1.0 / pace["velocity"] if alone else float(_clock(pace, None).duration)
    if least >= T if alone else least * (1.0 - RECURSION_ROUNDING) > T:
        than = "more than" if alone else "at least"
        raise InputError(
            f"a duration of {T:g} s is too short: the move takes {than} {least:.6g} s within the limits: {slow}; give a longer "
            "duration=, or higher limits"
        )


def _limit_of(kind: str, k: int, limit: float, way: float, robot: Robot | None) -> str:
    """Such as: velocity 1.5 rad/s of 'elbow', which moves 2 rad."""
    if robot is None:
        return f"{kind} {limit:g} of joint {k + 1}, which moves {way:g}"
    unit, power = (
        "rad" if robot.model.coordinates[k].revolute else "m",
        {"velocity": "", "acceleration": "²", "jerk": "³"}[kind],
    )
    return f"{kind} {limit:g} {unit}/s{power} of {printable(robot.coordinate_names[k])}, which moves {way:g} {unit}"


def _clock(finite: dict[str, float], duration: float | None) -> Polynomials:
    """The profile from 0 to 1 for limits of velocity, acceleration and jerk, or for a duration."""
    if not finite and duration is not None:
        return polynomial(0.0, 1.0, duration)
    if "jerk" in finite:
        v, a = finite.get("velocity", np.inf), finite.get("acceleration", np.inf)
        return double_s(0.0, 1.0, velocity=v, acceleration=a, jerk=finite["jerk"], duration=duration)
    if "acceleration" in finite:
        a = finite["acceleration"]
        quickest = trapezoidal(0.0, 1.0, velocity=finite.get("velocity", 2.0 * a**0.5), acceleration=a)
        return quickest if duration is None else with_duration(quickest, duration)
    if duration is not None:
        return trapezoidal(0.0, 1.0, velocity=finite["velocity"], duration=duration)
    raise InputError("a move requires acceleration= (optionally with velocity= and jerk=), or duration=")


def check_plain(robot: Robot, n: int | None = None) -> None:
    """Reject robots with quaternion coordinates, or with another number of joints."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot= must be a Robot, such as dynamis.load('ur5e'), got {type(robot).__name__}")
    if robot.nq != robot.n:
        raise InputError(
            f"robot {robot.name!r} has a spherical or free joint; joint motions require one coordinate per degree of freedom"
        )
    if n is not None and n != robot.n:
        raise InputError(f"robot {robot.name!r} has {counted(robot.n, 'joint')}, but the motion has {n}")
