"""Opening of files by their kind, and assignment of columns to signals by a mapping or by their names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.logs.array_tables import Hdf5Table, NpzTable, ParquetTable, mat_table
from dynamis.identification.logs.bag_table import SUFFIXES as BAGS
from dynamis.identification.logs.bag_table import BagTable
from dynamis.identification.logs.mapping import LENGTHS, SI, SIGNALS, UNITS, Mapping, Signal, factor
from dynamis.identification.logs.table import CsvTable, LogTable
from dynamis.robot import Robot

Array = npt.NDArray[Any]
PathLike = str | os.PathLike[str]
Found = list[tuple[str, str]]  # the columns of a signal in the order of the joints, and the unit in each name
Assigned = tuple[int, tuple[str, ...], Array]  # the table of a signal, its columns and their SI factors
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
LETTERS = {"position": "q", "velocity": "v", "acceleration": "a", "torque": "tau", "current": "current"}
CURES = {
    ".npy": "save it with numpy.savez under names: t=…, q=…, tau=…",
    ".bag": "it is a ROS 1 bag: convert it to ROS 2 with rosbags-convert",
    ".zstd": "decompress it first, with zstd -d or ros2 bag convert",
    ".gz": "decompress it first, with gunzip",
    ".toml": "it is a mapping: pass it as the mapping, or alone",
}


@dataclass(frozen=True)
class Plan:
    """``signals`` holds the table, the columns and the SI factors of each signal.

    ``columns`` are those to read from each of the ``tables``; ``time`` is (table, column, unit).
    """

    tables: list[LogTable]
    columns: list[tuple[str, ...]]
    signals: dict[str, tuple[int, list[int], Array]]
    time: tuple[int, int, str] | None
    rate: float | None
    gains: Array | None
    names: tuple[str, ...]
    side: str
    sides: dict[str, str]
    transmission: dict[str, Array] | None
    column_names: dict[str, tuple[str, ...]]

    @property
    def source(self) -> str:
        return ", ".join(table.path.name for table in self.tables)


def planned(path: PathLike, robot: Robot, mapping: Mapping | PathLike | None) -> Plan:
    """Return the plan for a robot, from a file or a mapping."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a Robot, got {type(robot).__name__}; load one with dynamis.load")
    main: Path | None = Path(path)
    if Path(path).suffix == ".toml" and mapping is None:
        main, mapping = None, path
    known = mapping if isinstance(mapping, Mapping) else Mapping() if mapping is None else Mapping.read(mapping)
    return _Planner(robot, known, Tables(Path(path), main, known.topic, robot.coordinate_names)).plan()


class _Planner:
    def __init__(self, robot: Robot, mapping: Mapping, tables: Tables) -> None:
        self.robot, self.mapping, self.tables = robot, mapping, tables
        self.whose = f"{printable(mapping.source)}: " if mapping.source else ""

    def plan(self) -> Plan:
        found = {name: self._mapped(name, s) for name, s in self.mapping.signals.items()} or self._by_names()
        if any(not s.columns and s.pattern is None for s in self.mapping.signals.values()):
            # a mapping with only units or signs leaves the columns to their names
            found = {**self._by_names(), **found}
        gains = self._gains(found)
        for name in ("position", "torque"):
            if name not in found and not (name == "torque" and gains is not None):
                raise self._unclear(f"no columns of {name} were recognised{self._nearly_found(name)}")
        time = None if self.mapping.rate is not None and self.mapping.time is None else self._time(found["position"][0])
        wanted: dict[int, list[str]] = {}
        for table, columns, _ in found.values():
            wanted.setdefault(table, []).extend(columns)
        if time is not None:
            wanted.setdefault(time[0], []).append(time[1])
        # the table of the positions first: its rows are used in messages
        order = [found["position"][0], *(k for k in wanted if k != found["position"][0])]
        read = [tuple(dict.fromkeys(wanted[k])) for k in order]

        def place(table: int, columns: tuple[str, ...]) -> tuple[int, list[int]]:
            return order.index(table), [read[order.index(table)].index(c) for c in columns]

        sides = {LETTERS[name]: s.side for name, s in self.mapping.signals.items() if s.side is not None}
        if "current" in sides:
            sides.setdefault("tau", sides["current"])
        transmission = self.mapping.transmission_of(self.robot)
        return Plan(
            tables=[self.tables.opened[k] for k in order],
            columns=read,
            signals={name: (*place(table, columns), scale) for name, (table, columns, scale) in found.items()},
            time=None if time is None else (order.index(time[0]), read[order.index(time[0])].index(time[1]), time[2]),
            rate=self.mapping.rate,
            gains=gains,
            names=self.robot.coordinate_names,
            side=_common_side(sides, transmission is not None),
            sides=sides,
            transmission=transmission,
            column_names={LETTERS[name]: columns for name, (_, columns, _) in found.items()},
        )

    def _by_names(self) -> dict[str, Assigned]:
        table = self.tables.of(None)
        found = {}
        for name in SIGNALS:
            signal = self._recognised(name, self.tables.opened[table])
            if signal is not None:
                scale = np.array([factor(name, unit or SI[name]) for _, unit in signal])
                found[name] = (table, tuple(column for column, _ in signal), scale)
        return found

    def _nearly_found(self, name: str) -> str:
        columns = [column for table in self.tables.opened for column in table.names]
        count = self.robot.nq if name == "position" else self.robot.n
        found = nearly_found(name, columns, self.robot.coordinate_names, count)
        return f": {found}; it is a log of another robot, or lacks some joints" if found else ""

    def _mapped(self, name: str, signal: Signal) -> Assigned:
        k = self.tables.of(signal.file)
        table = self.tables.opened[k]
        count = self.robot.nq if name == "position" else self.robot.n
        joints = self.mapping.order or self.robot.coordinate_names
        if signal.pattern is not None:
            named = joints if count == len(joints) else [f"q[{i}]" for i in range(count)]
            marked = [signal.pattern.replace("{n}", str(i + 1)).replace("{i}", str(i)) for i in range(count)]
            columns = table.expanded([text.replace("{name}", x) for text, x in zip(marked, named, strict=True)])
        elif signal.columns:
            columns = table.expanded(signal.columns)
        else:
            columns = self._named(name, table)
        if len(columns) != count:
            names = ", ".join(map(printable, self.robot.coordinate_names[:8])) + (", …" if self.robot.n > 8 else "")
            raise InputError(
                f"{self.whose}[{name}] has {len(columns)} columns, but the robot needs {count} ({names}); name one for each"
            )
        given = [unit or SI[name] for unit in signal.units or (bare(c, name)[1] for c in columns)]
        units = self._each(np.array(given), count, f"[{name}] unit")
        signs = self._each(np.array(signal.signs or [1.0]), count, f"[{name}] signs")
        scale = np.array([factor(name, str(unit)) for unit in units]) * signs
        if count != self.robot.n:
            return k, columns, scale
        self._check_units(name, units)
        at = self.mapping.joint_columns(self.robot)
        return k, tuple(columns[i] for i in at), scale[at]

    def _named(self, name: str, table: LogTable) -> tuple[str, ...]:
        """Return the columns of a section that lists none, by their names."""
        if self.mapping.order:
            raise InputError(f"{self.whose}[{name}] lists no columns for [joints] order to apply to; add columns = […]")
        found = self._recognised(name, table)
        if found is None:
            raise self._unclear(f"no columns of {name} were recognised{self._nearly_found(name)}")
        return tuple(column for column, _ in found)

    def _recognised(self, name: str, table: LogTable) -> Found | None:
        try:
            return signal_found(name, table.names, self.robot)
        except InputError as error:
            raise self._unclear(str(error)) from None

    def _check_units(self, name: str, units: Array) -> None:
        """Check that angular units are not used for prismatic joints, nor linear ones for revolute joints."""
        if name not in ("position", "velocity", "acceleration"):
            return
        at = self.mapping.joint_columns(self.robot)
        for c, unit in zip(self.robot.model.coordinates, units[at], strict=True):
            head = str(unit).split("/")[0]
            # the default, rad, stands for SI
            if head != "rad" and c.revolute == (head in LENGTHS):
                kind = "revolute" if c.revolute else "prismatic"
                what = f"{printable(str(unit))} is not a unit of the {kind} joint {printable(c.name)}"
                raise InputError(f"{self.whose}[{name}] unit: {what}; set units = […], one per column")

    def _each(self, values: Array, count: int, key: str) -> Array:
        if len(values) not in (1, count):
            raise InputError(f"{self.whose}{key} has {len(values)} entries for {count} columns; expected 1, or one per column")
        return np.broadcast_to(values, count)

    def _gains(self, found: dict[str, Assigned]) -> Array | None:
        """Return N·m/A of the robot's joints, if there are currents and no torques."""
        if "current" not in found or "torque" in found:
            return None
        signal = self.mapping.signals.get("current")
        if signal is None or not signal.gains:
            cure = "set the drive gains in N·m/A in a mapping: gains = […] under [current]"
            raise self._unclear(f"there are currents but no torques; {cure}")
        return self._each(np.array(signal.gains), self.robot.n, "[current] gains")[self.mapping.joint_columns(self.robot)]

    def _time(self, of_positions: int) -> tuple[int, str, str]:
        if self.mapping.time is not None:
            known = self.mapping.time
            k = of_positions if known.file is None and self.tables.main is None else self.tables.of(known.file)
            (column,) = self.tables.opened[k].expanded([known.column])[:1]
            fixed = self.tables.opened[k].time_column
            return k, column, "ns" if fixed is not None and column in ("stamp", "received") else known.unit
        for k in dict.fromkeys([of_positions, *range(len(self.tables.opened))]):
            table = self.tables.opened[k]
            found = table.time_column or time_found(table.names)
            if found is not None:
                return k, *found
        raise self._unclear("no time column was recognised, and no rate is given")

    def _unclear(self, why: str) -> InputError:
        columns = [name for table in self.tables.opened for name in table.names]
        left_out = "".join(f"; {table.left_out}" for table in self.tables.opened if table.left_out)
        names = ", ".join(table.label for table in self.tables.opened)
        text = f"{self.whose}{names}: {why}{left_out}. Describe the columns in a mapping, a .toml file such as:\n"
        template = Mapping.skeleton(columns, self.robot)
        return InputError(text + template).with_template(template)


def _common_side(sides: dict[str, str], transmission: bool) -> str:
    """Return the side of signals without a side of their own: that of the positions, or of the others if they agree."""
    if "q" in sides:
        return sides["q"]
    known = set(sides.values())
    return known.pop() if len(known) == 1 else "motor" if transmission else "joint"


READERS: dict[str, Callable[[Path], LogTable]] = {
    **dict.fromkeys((".csv", ".txt", ".tsv", ".dat"), CsvTable),
    ".npz": NpzTable,
    ".mat": mat_table,
    **dict.fromkeys((".parquet", ".pq"), ParquetTable),
    **dict.fromkeys((".h5", ".hdf5", ".hdf"), Hdf5Table),
}


def open_table(path: Path, topic: str | None = None, joints: Sequence[str] = ()) -> LogTable:
    """Open a file as a table; for a bag, the joint states of a topic."""
    try:
        if path.is_dir() or path.suffix in BAGS:
            path.stat()
            return BagTable(path, topic, joints)
        suffix = path.suffix.lower()
        if suffix not in READERS:
            known = ", ".join((*READERS, *BAGS))
            cure = CURES.get(suffix, f"unsupported format; supported are {known} and folders of ROS 2 bags")
            raise InputError(f"{printable(str(path), 400)}: {cure}")
        return READERS[suffix](path)
    except OSError as error:
        raise InputError(f"{printable(str(path), 400)} cannot be read: {error.strerror or error}") from None


class Tables:
    """The tables of one log, each opened once. ``main`` is the given file, None if a mapping names all files."""

    def __init__(self, given: Path, main: Path | None, topic: str | None, joints: Sequence[str]) -> None:
        self.main, self.topic, self.joints = main, topic, joints
        self.folder = given if given.is_dir() else given.parent
        self.opened: list[LogTable] = []
        self._paths: list[Path] = []

    def of(self, file: str | None) -> int:
        """Return the index of the table of a file named in the mapping, or of the main one."""
        if file is None and self.main is None:
            raise InputError('the mapping does not name the file of its columns; add file = "…", or pass the log as the path')
        path = self.folder / file if file is not None else self.main
        assert path is not None
        if path not in self._paths:
            self.opened.append(open_table(path, self.topic, self.joints))
            self._paths.append(path)
        return self._paths.index(path)


def bare(column: str, signal: str) -> tuple[str, str]:
    """Return a column name without its unit, and the unit, as in "q1 [deg]"; "" without a unit.

    >>> bare("q1 [deg]", "position"), bare("q[0]", "position")
    (('q1', 'deg'), ('q[0]', ''))
    """
    match = UNIT.match(column)
    return (match["name"], match["unit"]) if match and match["unit"] in UNITS[signal] else (column, "")


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
    """Return the columns of a signal and the unit in each name, or None if there are none; ambiguous names are an error."""
    names = robot.coordinate_names
    if signal == "position" and robot.nq != robot.n:
        names = tuple(f"q[{k}]" for k in range(robot.nq))
    ways: dict[tuple[str, ...], Found] = {}
    for word in WORDS[signal]:
        for found in (*_by_joint(signal, word, columns, names), *_by_number(signal, word, columns, len(names))):
            ways[tuple(column for column, _ in found)] = found
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
            yield [plain[x] for x in wanted]


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
                yield [numbered[k] for k in sorted(numbered)]


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
