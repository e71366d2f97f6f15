"""What the columns of a log hold, by their names alone; only what can be read in one way is believed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dynamis.errors import InputError, printable
from dynamis.identification.logs.units import UNITS
from dynamis.robot import Robot

WORDS = {
    "position": ("q", "pos", "position", "positions", "angle", "angles", "joint_position", "joint_positions", "joint_pos",
                 "joint_angle", "joint_angles", "q_meas", "q_measured", "actual_q"),
    "velocity": ("v", "qd", "dq", "vel", "velocity", "velocities", "qdot", "q_dot", "speed", "joint_velocity",
                 "joint_velocities", "joint_vel", "qd_meas", "dq_meas", "actual_qd"),
    "acceleration": ("a", "qdd", "ddq", "acc", "accel", "acceleration", "accelerations", "qddot", "q_ddot",
                     "joint_acceleration"),
    "torque": ("tau", "torque", "torques", "effort", "efforts", "e", "joint_torque", "joint_torques", "joint_effort", "tau_j",
               "tau_meas", "tau_measured"),
    "current": ("i", "current", "currents", "motor_current", "motor_currents", "actual_current"),
}  # fmt: skip
TIME_WORDS = ("t", "time", "timestamp", "times", "stamp")
SEPARATORS = ".", "_", "/", " ", "-", ":"
UNIT = re.compile(r"^(?P<name>.*?)\s*[\[(](?P<unit>[^\[\]()]+)[\])]$")
NUMBERED = re.compile(r"^(?P<word>.*?)[._ :/-]?\[?(?P<number>\d+)\]?$")


@dataclass(frozen=True)
class Found:
    """The columns of a signal in the order of the joints, and the unit each names itself."""

    columns: tuple[str, ...]
    units: tuple[str, ...] = ()


def bare(column: str, signal: str) -> tuple[str, str]:
    """A column's name without its unit, and the unit, as in "q1 [deg]"; no unit is "".

    >>> bare("q1 [deg]", "position"), bare("q[0]", "position")
    (('q1', 'deg'), ('q[0]', ''))
    """
    match = UNIT.match(column)
    if match and match["unit"] in UNITS[signal]:
        return match["name"], match["unit"]
    return column, ""


def time_found(columns: Sequence[str]) -> tuple[str, str] | None:
    """The one column of times and its unit, or None where there is none or more than one."""
    found = []
    for column in columns:
        name, unit = bare(column, "time")
        plain = name.lower().split("/")[-1]
        for suffix in ("_s", "_ms", "_us", "_ns"):
            if plain.endswith(suffix) and plain.removesuffix(suffix) in TIME_WORDS:
                plain, unit = plain.removesuffix(suffix), unit or suffix[1:]
        if plain in TIME_WORDS:
            found.append((column, unit or "s"))
    return found[0] if len(found) == 1 else None


def signal_found(signal: str, columns: Sequence[str], robot: Robot) -> Found | None:
    """The columns of a signal, or None where there are none; several ways to read them are an error."""
    names = robot.coordinate_names
    if signal == "position" and robot.nq != robot.n:
        names = tuple(f"q[{k}]" for k in range(robot.nq))
    ways: dict[tuple[str, ...], Found] = {}
    for word in WORDS[signal]:
        for found in (_by_joint(signal, word, columns, names), _by_number(signal, word, columns, len(names))):
            if found is not None:
                ways[found.columns] = found
    if len(ways) > 1:
        listed = " or ".join(", ".join(map(printable, way[:3])) + (", …" if len(way) > 3 else "") for way in ways)
        raise InputError(f"the {signal} could be {listed}")
    return next(iter(ways.values()), None)


def _by_joint(signal: str, word: str, columns: Sequence[str], joints: Sequence[str]) -> Found | None:
    """Columns such as "q.elbow", "elbow_pos" or "run/effort.elbow"."""
    plain = {}
    for column in columns:
        name, unit = bare(column, signal)
        plain[name.lower()] = (column, unit)
        plain.setdefault(name.lower().split("/", 1)[-1], (column, unit))
    for mark in SEPARATORS:
        for shape in ("{word}{mark}{joint}", "{joint}{mark}{word}"):
            wanted = [shape.format(word=word, mark=mark, joint=joint.lower()) for joint in joints]
            if wanted and all(x in plain for x in wanted):
                found = [plain[x] for x in wanted]
                return Found(tuple(c for c, _ in found), tuple(u for _, u in found))
    return None


def _by_number(signal: str, word: str, columns: Sequence[str], count: int) -> Found | None:
    """Columns such as "q1", "q_1", "q[0]", "run/q[0]"; a robot of one joint may have just "q"."""
    groups: dict[str, dict[int, tuple[str, str]]] = {}
    for column in columns:
        name, unit = bare(column, signal)
        match = NUMBERED.match(name)
        head, number = (match["word"], int(match["number"])) if match else (name, None)
        folder, _, last = head.rpartition("/")
        if number is not None and last.lower() == word:
            groups.setdefault(folder, {})[number] = (column, unit)
        elif count == 1 and name.lower().rpartition("/")[2] == word:
            groups.setdefault(folder, {})[1] = (column, unit)
    for numbered in groups.values():
        for first in (0, 1):
            if sorted(numbered) == list(range(first, first + count)):
                found = [numbered[k] for k in sorted(numbered)]
                return Found(tuple(c for c, _ in found), tuple(u for _, u in found))
    return None
