"""Configurations on the command line: a number for each joint, angles in radians or degrees, compared with the limits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.console import echo
from dynamis.cli.options import number, words_of
from dynamis.display import counted
from dynamis.errors import InputError, printable

if TYPE_CHECKING:
    from dynamis.model.model import Coordinate
    from dynamis.robot import Robot

MAX_JOINTS_LISTED = 5  # in a message
UNITS = {"deg": math.pi / 180.0, "°": math.pi / 180.0, "rad": 1.0, "m": 1.0, "": 1.0}
ENTRY = re.compile(r"(?P<value>.*?)(?P<unit>deg|°|rad|m)?", re.DOTALL)


def degrees_option(*options: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--degrees and --radians, for the options that take joint positions."""
    return click.option(
        "--degrees/--radians", "degrees", default=None,
        help=f"Unit of the angles in {' and '.join(options)}. Radians by default; --radians also accepts angles that look like "
             "degrees. A unit can follow each number instead: 90deg, 1.57rad, pi/2.",
    )  # fmt: skip


def _with_quaternions(robot: Robot) -> str:
    """The joints whose positions contain a quaternion, and what it is."""
    kinds = {joint.type for joint in robot.description.joints}
    texts = ["a free base are x,y,z and a unit quaternion, as 0,0,0,0,0,0,1"] if "free" in kinds else []
    texts += ["a ball joint are a unit quaternion, as 0,0,0,1"] if "spherical" in kinds else []
    return ", those of ".join(texts)


def configuration(robot: Robot, text: str, option: str, degrees: bool | None, *, within_limits: bool = True) -> Any:
    """The joint positions (nq,) of an option, in rad and m; one number stands for all joints.

    Angles that look like degrees are refused unless their unit is stated; positions outside the limits are reported in a
    warning where ``within_limits``.
    """
    import numpy as np

    entries = entries_of(text, option)
    if len(entries) == 1 and robot.nq == robot.n:
        entries *= robot.nq
    if len(entries) != robot.nq:
        names = ", ".join(robot.coordinate_names[:8]) + (", …" if robot.n > 8 else "")
        # of other robots q has quaternions, and coordinates are velocities
        listed = f" ({names}), or one for all" if robot.nq == robot.n else f"; those of {_with_quaternions(robot)}"
        raise InputError(
            f"{option} takes {counted(robot.nq, 'number')} for {printable(robot.name)}{listed}; got {len(entries)}"
        )
    q = np.array([value for value, _ in entries])
    if np.isnan(q).any():
        raise InputError(f"{option}: every entry must be a finite number, got {text!r}")
    doubtful = []
    for c in robot.model.coordinates:
        if c.q_index is None:
            continue
        value, unit = entries[c.q_index]
        if (unit in ("deg", "°", "rad")) > c.revolute or (unit == "m") > (not c.revolute):
            kind, expected = ("revolute", "rad or deg") if c.revolute else ("prismatic", "m")
            raise InputError(f"{option}: joint {printable(c.name)} is {kind} and takes {expected}, got {unit}")
        if c.revolute:
            q[c.q_index] = value * UNITS[unit or ("deg" if degrees else "rad")]
            if degrees is None and not unit and c.looks_like_degrees(value):
                doubtful.append(c)
    if doubtful:
        _refuse_degrees(option, doubtful, q)
    if within_limits:
        _warn_outside(robot, option, q)
    return q


def entries_of(text: str, option: str) -> list[tuple[float, str]]:
    """(value, unit) of numbers separated by commas or spaces."""
    found = []
    for word in words_of(text):
        match = ENTRY.fullmatch(word)
        assert match is not None
        try:
            found.append((number(match["value"]), match["unit"] or ""))
        except ValueError:
            raise InputError(
                f"{option} takes numbers separated by commas, such as {option} 0.5,-1.2, {option} pi/2,0 or "
                f"{option} 30deg,-70deg; got {text!r}"
            ) from None
    return found


def _refuse_degrees(option: str, joints: list[Coordinate], q: Any) -> None:
    first = joints[0]
    value = f"{q[first.q_index]:g}"
    turns = abs(q[first.q_index]) / (2.0 * math.pi)
    others = f" (and {len(joints) - 1} more)" if len(joints) > 1 else ""
    has_option = any("--degrees" in x.opts for x in click.get_current_context().command.params)
    add, otherwise = ("add --degrees or ", "add --radians") if has_option else ("", f"write {value}rad")
    raise InputError(
        f"{option} takes radians, and {value} rad for joint {printable(first.name)}{others} is {turns:.3g} turns. "
        f"If the angles are in degrees, {add}write {value}deg; if {value} rad is meant, {otherwise}."
    )


def angles_of_rows(robot: Robot, q: Any, unstated: list[bool], label: str, degrees: bool | None) -> Any:
    """Joint positions of the rows of a file: angles whose columns state no unit are read as ``degrees`` says."""
    revolute = {c.q_index: c for c in robot.model.coordinates if c.q_index is not None and c.revolute}
    columns = [k for k in revolute if unstated[k]]
    if degrees:
        q[:, columns] *= UNITS["deg"]
    elif degrees is None:
        for k in columns:
            row = next((row for row, value in enumerate(q[:, k]) if revolute[k].looks_like_degrees(float(value))), None)
            if row is not None:
                raise InputError(
                    f"{label}: angles are read in radians, and {q[row, k]:g} rad for joint {printable(revolute[k].name)} in "
                    f"data row {row + 1} is {abs(q[row, k]) / (2.0 * math.pi):.3g} turns. If the angles are in degrees, add "
                    "--degrees; if radians are meant, add --radians."
                )
    return q


def warn_fast(robot: Robot, option: str, v: Any) -> None:
    """Report velocities beyond the limits."""
    fast = [
        (c, x, most) for c, x, most in zip(robot.model.coordinates, v, robot.limits["velocity"], strict=True) if abs(x) > most
    ]
    if fast:
        exceeded = [
            f"{c.name} = {x:.4g}, limit {most:.4g} {'rad/s' if c.revolute else 'm/s'}"
            for c, x, most in fast[:MAX_JOINTS_LISTED]
        ]
        more = f"; and {len(fast) - MAX_JOINTS_LISTED} more" if len(fast) > MAX_JOINTS_LISTED else ""
        echo(
            (f"dynamis: warning: {option} exceeds the velocity limits: {'; '.join(exceeded)}{more}", {"fg": "yellow"}), err=True
        )


def outside_limits(robot: Robot, q: Any) -> list[Coordinate]:
    """The coordinates of a configuration that are outside their limits."""
    return [c for c in robot.model.coordinates if c.q_index is not None and not c.allows(float(q[c.q_index]))]


def _warn_outside(robot: Robot, option: str, q: Any) -> None:
    if not all(map(math.isfinite, q)):  # refused later, for that reason
        return
    outside = outside_limits(robot, q)
    if not outside:
        return
    exceeded = [
        f"{c.name} = {q[c.q_index]:.4g}, limits {c.lower:.4g} … {c.upper:.4g} {'rad' if c.revolute else 'm'}"
        for c in outside[:MAX_JOINTS_LISTED]
    ]
    more = f"; and {len(outside) - MAX_JOINTS_LISTED} more" if len(outside) > MAX_JOINTS_LISTED else ""
    echo((f"dynamis: warning: {option} is outside the joint limits: {'; '.join(exceeded)}{more}", {"fg": "yellow"}), err=True)
