"""Opening of files by their kind, and assignment of columns to signals, before any data is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.logs.bag_table import SUFFIXES as BAGS
from dynamis.identification.logs.bag_table import BagTable
from dynamis.identification.logs.columns import Found, bare, nearly_found, signal_found, time_found
from dynamis.identification.logs.csv_table import CsvTable
from dynamis.identification.logs.hdf5_table import Hdf5Table, ParquetTable, mat_table
from dynamis.identification.logs.mapping import LENGTHS, SI, SIGNALS, Mapping, Signal, factor
from dynamis.identification.logs.npz_table import NpzTable
from dynamis.identification.logs.table import LogTable
from dynamis.robot import Robot

Array = npt.NDArray[Any]
PathLike = str | os.PathLike[str]
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

    def _by_names(self) -> dict[str, tuple[int, tuple[str, ...], Array]]:
        table = self.tables.of(None)
        found = {}
        for name in SIGNALS:
            signal = self._recognised(name, self.tables.opened[table])
            if signal is not None:
                found[name] = (table, signal.columns, np.array([factor(name, unit or SI[name]) for unit in signal.units]))
        return found

    def _nearly_found(self, name: str) -> str:
        columns = [column for table in self.tables.opened for column in table.names]
        count = self.robot.nq if name == "position" else self.robot.n
        found = nearly_found(name, columns, self.robot.coordinate_names, count)
        return f": {found}; it is a log of another robot, or lacks some joints" if found else ""

    def _mapped(self, name: str, signal: Signal) -> tuple[int, tuple[str, ...], Array]:
        k = self.tables.of(signal.file)
        table = self.tables.opened[k]
        count = self.robot.nq if name == "position" else self.robot.n
        joints = self.mapping.order or self.robot.coordinate_names
        if signal.pattern is not None:
            named = joints if count == len(joints) else [f"q[{i}]" for i in range(count)]
            marks = [{"{n}": str(i + 1), "{i}": str(i), "{name}": x} for i, x in enumerate(named)]
            columns = table.expanded([_filled(signal.pattern, mark) for mark in marks])
        elif signal.columns:
            columns = table.expanded(signal.columns)
        else:
            columns = self._named(name, table)
        if len(columns) != count:
            names = ", ".join(map(printable, self.robot.coordinate_names[:8])) + (", …" if self.robot.n > 8 else "")
            raise InputError(
                f"{self.whose}[{name}] has {len(columns)} columns, but the robot needs {count} ({names}); name one for each"
            )
        units = [bare(c, name)[1] for c in columns] if not signal.units else list(signal.units)
        scale = np.array([factor(name, unit or SI[name]) for unit in units]) * np.ones(1)
        scale = self._each(scale, count, f"[{name}] unit") * self._each(
            np.array(signal.signs or [1.0]), count, f"[{name}] signs"
        )
        if count != self.robot.n:
            return k, columns, scale
        self._check_units(name, self._each(np.array([unit or SI[name] for unit in units]), count, f"[{name}] unit"))
        at = self.mapping.joint_columns(self.robot)
        return k, tuple(columns[i] for i in at), scale[at]

    def _named(self, name: str, table: LogTable) -> tuple[str, ...]:
        """Return the columns of a section that lists none, by their names."""
        if self.mapping.order:
            raise InputError(f"{self.whose}[{name}] lists no columns for [joints] order to apply to; add columns = […]")
        found = self._recognised(name, table)
        if found is None:
            raise self._unclear(f"no columns of {name} were recognised{self._nearly_found(name)}")
        return found.columns

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

    def _gains(self, found: dict[str, tuple[int, tuple[str, ...], Array]]) -> Array | None:
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


def _filled(pattern: str, marks: dict[str, str]) -> str:
    for mark, text in marks.items():
        pattern = pattern.replace(mark, text)
    return pattern


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
