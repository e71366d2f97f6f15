"""Opening of files by their kind, and assignment of columns to signals by a mapping or by their names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.identification.logs.array_tables import Hdf5Table, NpzTable, ParquetTable, mat_table
from dynamis.identification.logs.bag_table import SUFFIXES as BAGS
from dynamis.identification.logs.bag_table import BagTable
from dynamis.identification.logs.column_names import (
    Found,
    locking,
    nearly_found,
    partly_found,
    signal_found,
    time_found,
)
from dynamis.identification.logs.csv_table import CsvTable
from dynamis.identification.logs.log import SIGNALS as LOGGED
from dynamis.identification.logs.mapping import SIGNALS, Mapping, Signal
from dynamis.identification.logs.table import LogTable
from dynamis.identification.logs.units import ABOVE, LENGTHS, OF_RATED, PERCENT, SI, barest, contradiction, factor
from dynamis.robot import Robot
from dynamis.scalar import is_number

Array = npt.NDArray[Any]
PathLike = str | os.PathLike[str]
Assigned = tuple[LogTable, tuple[str, ...], Array]  # the table of a signal, its columns, and their factors and offsets (2, n)
LETTERS = {signal: letter for letter, signal in LOGGED.items()}
CURES = {
    ".npy": "save it with numpy.savez under names: t=…, q=…, tau=…",
    ".bag": "it is a ROS 1 bag: convert it to ROS 2 with rosbags-convert",
    ".zstd": "decompress it first, with zstd -d or ros2 bag convert",
    ".gz": "decompress it first, with gunzip",
    ".toml": "it is a mapping: pass it as the mapping, or alone",
}


class Plan:
    """Which columns of which files are read for a robot, and what they mean.

    ``columns`` are those to read from each of the ``tables``; ``signals`` holds the table, the columns and the SI factors of
    each signal; ``time`` is (table, column, unit), None with a ``rate``; ``gains`` convert currents to torques; ``about`` are
    the other fields of the `Log`.
    """

    def __init__(
        self, path: PathLike, robot: Robot, mapping: Mapping | PathLike | None = None, period: float | None = None
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a Robot, got {type(robot).__name__}; load one with dynamis.load")
        self.main: Path | None = Path(path)  # None if a mapping names all files
        self.folder = self.main if self.main.is_dir() else self.main.parent
        if self.main.suffix == ".toml" and mapping is None:
            self.main, mapping = None, path
        self.mapping = mapping if isinstance(mapping, Mapping) else Mapping() if mapping is None else Mapping.read(mapping)
        self.robot, self.opened = robot, dict[Path, LogTable]()
        self.whose = f"{printable(self.mapping.source)}: " if self.mapping.source else ""
        found = {name: self._mapped(name, s) for name, s in self.mapping.signals.items()} or self._by_names()
        if any(not s.columns and s.pattern is None for s in self.mapping.signals.values()):
            # a mapping with only units or signs leaves the columns to their names
            found = {**self._by_names(), **found}
        self.rate, self.gains = self.mapping.rate, self._gains(found)
        if period is not None and not (is_number(period) and 0.0 < period < np.inf):
            raise InputError(f"period={period!r} must be a time in s above zero")
        for name in ("position", "torque"):
            if name not in found and not (name == "torque" and self.gains is not None):
                raise self._unclear(f"no columns of {name} were recognised{self._nearly_found(name)}")
        first = found["position"][0]
        time = None if self.rate is not None and self.mapping.time is None else self._time(first)
        if time is None and self.rate is None:
            if period is None:
                raise self._unclear("no time column was recognised, and no rate is given; with its period in s, set period=…")
            self.rate = 1.0 / period
        wanted: dict[LogTable, list[str]] = {first: []}  # first the table of the positions: its rows are used in messages
        for table, columns, _ in found.values():
            wanted.setdefault(table, []).extend(columns)
        if time is not None:
            wanted.setdefault(time[0], []).append(time[1])
        self.tables, self.columns = list(wanted), [tuple(dict.fromkeys(names)) for names in wanted.values()]

        def place(table: LogTable, columns: Sequence[str]) -> tuple[int, list[int]]:
            k = self.tables.index(table)
            return k, [self.columns[k].index(c) for c in columns]

        self.signals = {name: (*place(table, columns), scale) for name, (table, columns, scale) in found.items()}
        self.time = None if time is None else (*place(time[0], [time[1]]), time[2])
        transmission = self.mapping.transmission_of(robot)
        sides, said = self._sides(found, geared=transmission is not None)
        self.source = ", ".join(table.path.name for table in self.tables)
        self.about: dict[str, Any] = {
            "names": robot.coordinate_names, "side": sides["q"], "sides": sides, "transmission": transmission,
            "source": self.source,
            "notes": (*(note for table in self.tables for note in table.notes), *said, *_remarks(found)),
            "columns": {LETTERS[name]: columns for name, (_, columns, _) in found.items()},
        }  # fmt: skip

    def _sides(self, found: dict[str, Assigned], *, geared: bool) -> tuple[dict[str, str], list[str]]:
        """Return the side of the positions ("joint" if not given) and of signals with a side of their own, and notes.

        With a transmission, torques of joints and of motors differ by its ratios, so that their side must be given.
        """
        sides = {LETTERS[name]: s.side for name, s in self.mapping.signals.items() if s.side is not None}
        if "current" in sides and "torque" not in found:
            sides.setdefault("tau", sides["current"])
        positions = sides.setdefault("q", "joint")
        if not geared or "tau" in sides:
            return sides, []
        section = "torque" if "torque" in found else "current"
        if positions == "joint":
            why = "there is a [transmission], and torques of joints and of motors differ by its ratios"
            raise InputError(f'{self.whose}[{section}] has no side; set side = "motor" or side = "joint" there: {why}')
        return sides, [f"{self.whose}[{section}] has no side: it is taken as that of the positions, {positions}"]

    def _table(self, file: str | None) -> LogTable:
        """Return the table of a file named in the mapping, or of the main one; each is opened once."""
        path = self.main if file is None else self.folder / file
        if path is None:
            raise InputError('the mapping does not name the file of its columns; add file = "…", or pass the log as the path')
        if path not in self.opened:
            self.opened[path] = open_table(path, self.mapping.topic, self.robot.coordinate_names)
        return self.opened[path]

    def _by_names(self) -> dict[str, Assigned]:
        table = self._table(None)
        found = {}
        for name in SIGNALS:
            signal = self._recognised(name, table)
            if signal is not None:
                units = [unit or SI[name] for _, unit in signal]
                self._check_units(name, units, "rename the column with its true unit")
                found[name] = table, tuple(column for column, _ in signal), _si(name, units)
        return found

    def _nearly_found(self, name: str) -> str:
        columns = [column for table in self.opened.values() for column in table.names]
        count = self.robot.nq if name == "position" else self.robot.n
        if not (found := nearly_found(name, columns, self.robot.coordinate_names, count)):
            return ""
        own = partly_found(name, columns, self.robot)
        lacks = [joint for joint, column in zip(self.robot.coordinate_names, own, strict=False) if column is None]
        cure = f"lacks some joints; {locking(lacks)}" if lacks else "has more joints than the robot"
        return f": {found}; it is a log of another robot, or {cure}"

    def _mapped(self, name: str, signal: Signal) -> Assigned:
        table = self._table(signal.file)
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
        if name == "temperature" and len(columns) == 1:
            columns *= count  # one for all joints
        if len(columns) != count:
            lacks = [joint for joint in self.robot.coordinate_names if joint not in joints]
            names = ", ".join(map(printable, self.robot.coordinate_names[:8])) + (", …" if self.robot.n > 8 else "")
            raise InputError(
                f"{self.whose}[{name}] has {counted(len(columns), 'column')}, but the robot needs {count} "
                f"({names}); name one for each{f', or {locking(lacks)}' if lacks else ''}"
            )
        given = [unit or SI[name] for unit in signal.units or (barest(c, name)[1] for c in columns)]
        units = self._each(np.array(given), count, f"[{name}] unit")
        for column, unit in zip(columns, map(str, units), strict=True):
            self._check_name(name, unit, column)
        signs = self._each(np.array(signal.signs or [1.0]), count, f"[{name}] signs")
        scale = _si(name, [str(unit) for unit in units]) * signs
        if count != self.robot.n:
            return table, columns, scale
        at = self.mapping.joint_columns(self.robot)
        positions = self.mapping.signals.get("position")
        if (signal.side or (positions and positions.side)) != "motor":  # motors of prismatic joints turn
            self._check_units(name, units[at])
        return table, tuple(columns[i] for i in at), scale[:, at]

    def _check_name(self, section: str, unit: str, column: str) -> None:
        """Refuse a unit other than that in the name of the column."""
        if own := contradiction(section, unit, column):
            what = f"[{section}] has the unit {printable(unit)}, but the column is named {printable(column)}"
            if own in PERCENT:
                raise InputError(f"{self.whose}{what}; of a rated torque: {OF_RATED}")
            raise InputError(f'{self.whose}{what}; set unit = "{own}", or rename the column if its name is wrong')

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
            if name == "temperature":  # not needed
                return None
            raise self._unclear(str(error)) from None

    def _check_units(self, name: str, units: Sequence[str] | Array, cure: str = "set units = […], one per column") -> None:
        """Check that angular units are not used for prismatic joints, nor linear ones for revolute joints."""
        if name not in ("position", "velocity", "acceleration") or len(units) != self.robot.n:
            return
        for c, unit in zip(self.robot.model.coordinates, units, strict=True):
            head = str(unit).split("/")[0]
            # the default, rad, stands for SI
            if head != "rad" and c.revolute == (head in LENGTHS):
                kind = "revolute" if c.revolute else "prismatic"
                what = f"{printable(str(unit))} is not a unit of the {kind} joint {printable(c.name)}"
                raise InputError(f"{self.whose}[{name}] unit: {what}; {cure}")

    def _each(self, values: Array, count: int, key: str) -> Array:
        if len(values) not in (1, count):
            raise InputError(
                f"{self.whose}{key} has {counted(len(values), 'entry', 'entries')} for "
                f"{counted(count, 'column')}; expected 1, or one per column"
            )
        return np.broadcast_to(values, count)

    def _gains(self, found: dict[str, Assigned]) -> Array | None:
        """Return N m/A of the robot's joints, if there are currents and no torques."""
        if "current" not in found or "torque" in found:
            return None
        signal = self.mapping.signals.get("current")
        if signal is None or not signal.gains:
            cure = "set the drive gains in N m/A in a mapping: gains = […] under [current]"
            raise self._unclear(f"there are currents but no torques; {cure}")
        return self._each(np.array(signal.gains), self.robot.n, "[current] gains")[self.mapping.joint_columns(self.robot)]

    def _time(self, of_positions: LogTable) -> tuple[LogTable, str, str] | None:
        known = self.mapping.time
        if known is not None:
            table = of_positions if known.file is None and self.main is None else self._table(known.file)
            (column,) = table.expanded([known.column])[:1]
            fixed = table.time_column is not None and column in ("stamp", "received")
            unit = known.unit or barest(column, "time")[1] or "s"
            if not fixed:
                self._check_name("time", unit, column)
            return table, column, "ns" if fixed else unit
        for table in dict.fromkeys([of_positions, *self.opened.values()]):
            found = table.time_column or time_found(table.names)
            if found is not None:
                return table, *found
        return None

    def _unclear(self, why: str) -> InputError:
        tables = self.opened.values()
        columns = [name for table in tables for name in table.names]
        left_out = "".join(f"; {table.left_out}" for table in tables if table.left_out)
        names = ", ".join(table.label for table in tables)
        text = f"{self.whose}{names}: {why}{left_out}. Describe the columns in a mapping, a .toml file such as:\n"
        found = {name: partly_found(name, columns, self.robot) for name in ("position", "torque", "current")}
        template = Mapping.skeleton(columns, self.robot, found, time_found(columns))
        return InputError(text + template).with_template(template)


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


def _si(signal: str, units: Sequence[str]) -> Array:
    """Return the factors and the offsets (2, n) of columns with these units."""
    return np.array([[factor(signal, unit) for unit in units], [ABOVE.get(unit, 0.0) for unit in units]])


def _remarks(found: dict[str, Assigned]) -> Iterator[str]:
    """Yield what a user should know about the columns that were taken."""
    if len(set(columns := found["temperature"][1] if "temperature" in found else ())) == 1 and len(columns) > 1:
        yield f"the temperature {printable(columns[0])} is used for all joints"
