"""Signals of a log recognised by their column names, if unambiguous."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dynamis.errors import InputError, printable
from dynamis.identification.logs.mapping import UNITS
from dynamis.robot import Robot

WORDS = {
    "position": ("q", "pos", "position", "positions", "angle", "angles", "joint_position", "joint_positions", "joint_pos",
                 "joint_angle", "joint_angles", "q_meas", "q_measured", "actual_q", "actual_joint_positions"),
    "velocity": ("v", "qd", "dq", "vel", "velocity", "velocities", "qdot", "q_dot", "speed", "joint_velocity",
                 "joint_velocities", "joint_vel", "qd_meas", "dq_meas", "actual_qd", "actual_joint_velocities"),
    "acceleration": ("a", "qdd", "ddq", "acc", "accel", "acceleration", "accelerations", "qddot", "q_ddot",
                     "joint_acceleration"),
    "torque": ("tau", "torque", "torques", "effort", "efforts", "e", "joint_torque", "joint_torques", "joint_effort", "tau_j",
               "tau_meas", "tau_measured", "eff", "actual_current_as_torque", "actual_torque", "actual_torques"),
    "current": ("i", "current", "currents", "motor_current", "motor_currents", "actual_current"),
}  # fmt: skip
TIME_WORDS = ("t", "time", "timestamp", "times", "stamp", "__time")
SEPARATORS = ".", "_", "/", " ", "-", ":"
UNIT = re.compile(r"^(?P<name>.*?)\s*[\[(](?P<unit>[^\[\]()]+)[\])]$")
NUMBERED = re.compile(r"^(?P<word>.*?)[._ :/-]?\[?(?P<number>\d+)\]?$")


@dataclass(frozen=True)
class Found:
    """The columns of a signal in the order of the joints, and the unit in each name."""

    columns: tuple[str, ...]
    units: tuple[str, ...] = ()


def bare(column: str, signal: str) -> tuple[str, str]:
    """Return a column name without its unit, and the unit, as in "q1 [deg]"; "" without a unit.

    >>> bare("q1 [deg]", "position"), bare("q[0]", "position")
    (('q1', 'deg'), ('q[0]', ''))
    """
    match = UNIT.match(column)
    if match and match["unit"] in UNITS[signal]:
        return match["name"], match["unit"]
    return column, ""


def time_found(columns: Sequence[str]) -> tuple[str, str] | None:
    """Return the time column and its unit, or None if there is none or more than one."""
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
    """Return the columns of a signal, or None if there are none; ambiguous names are an error."""
    names = robot.coordinate_names
    if signal == "position" and robot.nq != robot.n:
        names = tuple(f"q[{k}]" for k in range(robot.nq))
    ways: dict[tuple[str, ...], Found] = {}
    for word in WORDS[signal]:
        for found in (*_by_joint(signal, word, columns, names), *_by_number(signal, word, columns, len(names))):
            ways[found.columns] = found
    if len(ways) > 1:
        listed = " or ".join(", ".join(map(printable, way[:3])) + (", …" if len(way) > 3 else "") for way in ways)
        raise InputError(f"the {signal} is ambiguous: {listed}")
    return next(iter(ways.values()), None)


def nearly_found(signal: str, columns: Sequence[str], joints: Sequence[str], count: int) -> str:
    """Return why similar columns do not match a signal: missing joints or a different number; "" if there are none."""
    for word in WORDS[signal]:
        for plain, wanted in _wanted(signal, word, columns, joints):
            missing = [joint for joint, x in zip(joints, wanted, strict=True) if x not in plain]
            if 2 * len(missing) < len(joints):
                return f"there is no column for {', '.join(map(printable, missing))}"
        for numbered in _numbered(signal, word, columns).values():
            if len(numbered) > 1 and sorted(numbered) in ([*range(len(numbered))], [*range(1, len(numbered) + 1)]):
                first, last = (printable(numbered[k][0]) for k in (min(numbered), max(numbered)))
                return f"{first} to {last} are {len(numbered)} columns, but the robot needs {count}"
    return ""


def _by_joint(signal: str, word: str, columns: Sequence[str], joints: Sequence[str]) -> Iterator[Found]:
    """Return columns such as "q.elbow", "elbow_pos", "run/effort.elbow" or "/joint_states/elbow/position", by folder."""
    for plain, wanted in _wanted(signal, word, columns, joints):
        if wanted and all(x in plain for x in wanted):
            found = [plain[x] for x in wanted]
            yield Found(tuple(c for c, _ in found), tuple(u for _, u in found))


def _wanted(
    signal: str, word: str, columns: Sequence[str], joints: Sequence[str]
) -> Iterator[tuple[dict[str, tuple[str, str]], list[str]]]:
    """Return the columns of each folder by their names in it, with units, and the names expected for the joints."""
    folders: dict[str, dict[str, tuple[str, str]]] = {}
    for column in columns:
        name, unit = bare(column, signal)
        parts = name.lower().split("/")
        for k in range(len(parts)):
            folders.setdefault("/".join(parts[:k]), {})["/".join(parts[k:])] = (column, unit)
    for plain in folders.values():
        for mark in SEPARATORS:
            for shape in ("{word}{mark}{joint}", "{joint}{mark}{word}"):
                yield plain, [shape.format(word=word, mark=mark, joint=joint.lower()) for joint in joints]


def _by_number(signal: str, word: str, columns: Sequence[str], count: int) -> Iterator[Found]:
    """Return columns such as "q1", "q_1", "q[0]", "run/q[0]", by folder; a robot with one joint may have just "q"."""
    groups = _numbered(signal, word, columns)
    if count == 1:
        for column in columns:
            name, unit = bare(column, signal)
            folder, _, last = name.rpartition("/")
            if last.lower() == word:
                groups.setdefault(folder, {})[1] = (column, unit)
    for numbered in groups.values():
        for first in (0, 1):
            if sorted(numbered) == list(range(first, first + count)):
                found = [numbered[k] for k in sorted(numbered)]
                yield Found(tuple(c for c, _ in found), tuple(u for _, u in found))


def _numbered(signal: str, word: str, columns: Sequence[str]) -> dict[str, dict[int, tuple[str, str]]]:
    """Return, for each folder, the columns named by the word and a number, with their units."""
    groups: dict[str, dict[int, tuple[str, str]]] = {}
    for column in columns:
        name, unit = bare(column, signal)
        match = NUMBERED.match(name)
        if match is None:
            continue
        folder, _, last = match["word"].rpartition("/")
        if last.lower() == word:
            groups.setdefault(folder, {})[int(match["number"])] = (column, unit)
    return groups
