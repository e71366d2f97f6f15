"""Mapping from columns to signals, a small TOML file for logs with ambiguous column names, its template, and units."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Mapping as TableMapping
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError, literal, printable, reason_of, unknown_name
from dynamis.identification.logs.log import SIDES
from dynamis.identification.logs.template import template
from dynamis.identification.logs.units import SI, factor
from dynamis.robot import Robot

Array = npt.NDArray[Any]
SIGNALS = ("position", "velocity", "acceleration", "torque", "current", "temperature")
LARGEST_FILE = 1_000_000  # bytes; a larger file is not a mapping
SIGNAL_KEYS = ("file", "columns", "pattern", "unit", "units", "side", "signs")
KEYS = {
    "rate": (), "time": ("column", "unit", "file"), **dict.fromkeys(SIGNALS, SIGNAL_KEYS), "current": (*SIGNAL_KEYS, "gains"),
    "joints": ("order",), "transmission": ("ratios", "coupling", "zero"), "ros": ("topic",),
}  # fmt: skip


@dataclass(frozen=True)
class TimeColumn:
    """The time column, its unit if not that in its name, and its file if it is not the main one."""

    column: str
    unit: str | None = None
    file: str | None = None


@dataclass(frozen=True)
class Signal:
    """The columns of a signal: ``columns`` in order, or a ``pattern`` with {n} from 1, {i} from 0 or {name} of the joint.

    By default the columns are recognised by their names, in the order of the robot's coordinates.

    ``units`` is one unit or one per column; ``signs`` ±1 per column; ``gains`` of currents in N m/A.
    """

    columns: tuple[str, ...] = ()
    pattern: str | None = None
    units: tuple[str, ...] = ()
    signs: tuple[float, ...] = ()
    gains: tuple[float, ...] = ()
    side: str | None = None
    file: str | None = None


@dataclass(frozen=True, repr=False)
class Mapping:
    """Mapping from columns and files to signals; `Mapping.read` reads one, `Mapping.skeleton` returns a template.

    ``transmission`` has ``ratios`` (n,), ``R`` (n, n) and ``zero`` (n,): q = R⁻¹ q_motor + zero and τ = Rᵀ τ_motor, in the
    order of ``order`` if given, else in that of the robot's coordinates.
    """

    rate: float | None = None
    time: TimeColumn | None = None
    signals: dict[str, Signal] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    transmission: dict[str, Array] | None = None
    topic: str | None = None
    source: str = ""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Mapping:
        """Read a mapping from a TOML file."""
        file = Path(path)
        try:
            if file.stat().st_size > LARGEST_FILE:
                raise InputError(
                    f"{printable(str(file), 400)} is too large for a mapping; pass the .toml file that names the columns"
                )
            text = file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InputError(f"{printable(str(file), 400)} cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise InputError(f"{printable(str(file), 400)} is not UTF-8 text; save it as UTF-8") from None
        return cls.parse(text, file.name)

    @classmethod
    def parse(cls, text: str, source: str = "mapping") -> Mapping:
        """Parse a mapping from text.

        >>> m = Mapping.parse('rate = 100\\n[position]\\npattern = "q{n}"\\n[torque]\\ncolumns = ["e1", "e2"]')
        >>> m.rate, m.signals["torque"].columns
        (100.0, ('e1', 'e2'))
        """
        try:
            table = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # TOMLDecodeError, and integers with too many digits
            raise InputError(f"{printable(source)} is not TOML: {reason_of(error)}") from None
        return _mapping(table, source)

    @staticmethod
    def skeleton(
        columns: Sequence[str],
        robot: Robot,
        found: TableMapping[str, Sequence[str | None]] | None = None,
        time: tuple[str, str] | None = None,
    ) -> str:
        """Return a template of a mapping with every section, to be completed and saved as a .toml file; its lines fit a
        terminal. ``columns`` are those of a file; those ``found`` for the joints, and the time column and its unit, are filled
        in, and so are units in their names."""
        return template(columns, robot, found or {}, time)

    def joint_columns(self, robot: Robot) -> Array:
        """Return (n,): the column index of each coordinate of the robot."""
        names = robot.coordinate_names
        if not self.order:
            return np.arange(robot.n)
        for name in self.order:
            if name not in names:
                raise InputError(f"{printable(self.source)}: [joints] order: {unknown_name('joint', name, names)}")
        if sorted(self.order) != sorted(names):
            missing = ", ".join(printable(x) for x in names if x not in self.order)
            what = f"{missing} missing" if missing else "a joint is repeated"
            raise InputError(f"{printable(self.source)}: [joints] order must name every joint once; {what}")
        return np.array([self.order.index(name) for name in names])

    def transmission_of(self, robot: Robot) -> dict[str, Array] | None:
        """Return the transmission in the order of the robot's coordinates."""
        if self.transmission is None:
            return None
        at = self.joint_columns(robot)
        ratios, R, zero = (self.transmission[name] for name in ("ratios", "R", "zero"))
        if len(ratios) != robot.n:
            what = f"[transmission] ratios has {counted(len(ratios), 'number')}, but the robot has {counted(robot.n, 'joint')}"
            raise InputError(f"{printable(self.source)}: {what}; expected one per joint")
        return {"ratios": ratios[at], "R": R[np.ix_(at, at)], "zero": zero[at]}

    __repr__ = as_call
    _repr_html_ = as_table


class _Section:
    """A table of a TOML file with known keys; every error names the file, the section and the key."""

    def __init__(self, source: str, table: Any, known: Sequence[str], name: str = "") -> None:
        self.source, self.name, self.where = source, name, f"[{name}]" if name else ""
        if not isinstance(table, dict):
            raise self.wrong("", f"must be a section, got {type(table).__name__}; write [{name}] and its keys below")
        self.table: dict[str, Any] = table
        for key in table:
            if key not in known:
                raise InputError(f"{printable(source)}: {self.where + ' ' if name else ''}{unknown_name('key', key, known)}")

    def wrong(self, key: str, why: str) -> InputError:
        return InputError(f"{printable(self.source)}: {' '.join(filter(None, (self.where, key)))}: {why}")

    def text(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, f"must be a quoted string, got {type(value).__name__}")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            raise self.wrong(key, 'must be a list of strings, such as ["a", "b"]')
        return tuple(value)

    def numbers(self, key: str) -> tuple[float, ...]:
        value = self.table.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "must be a list of numbers, one per joint")
        return tuple(self.number(x, key) for x in value)

    def number(self, value: Any, key: str) -> float:
        number = _finite(value)
        if number is None:
            raise self.wrong(key, f"must be a finite number, got {literal(value)}")
        return number

    def units(self, *keys: str) -> tuple[str, ...]:
        """Return the units under the first of these keys that is given, checked."""
        units = next(filter(None, map(self.names, keys)), ())
        for unit in units:
            try:
                factor(self.name, unit)
            except InputError as error:
                raise self.wrong("", f"{error} (SI: {SI[self.name]})") from None
        return units


def _mapping(table: dict[str, Any], source: str) -> Mapping:
    """Return the mapping of a parsed TOML file."""
    top = _Section(source, table, tuple(KEYS))
    sections = {name: _Section(source, table[name], KEYS[name], name) for name in KEYS if name in table and name != "rate"}
    rate = None if "rate" not in table else _finite(table["rate"])
    if "rate" in table and (rate is None or rate <= 0.0):
        raise top.wrong("rate", f"must be a sampling rate in Hz above zero, got {literal(table['rate'])}")
    signals = {name: _signal(sections[name]) for name in SIGNALS if name in sections}
    order = sections["joints"].names("order") if "joints" in sections else ()
    return Mapping(
        rate=rate,
        time=_time(sections["time"]) if "time" in sections else None,
        signals=signals,
        order=order,
        transmission=_transmission(sections["transmission"], order) if "transmission" in sections else None,
        topic=sections["ros"].text("topic") if "ros" in sections else None,
        source=source,
    )


def _time(s: _Section) -> TimeColumn:
    column = s.text("column")
    if column is None:
        raise s.wrong("", "has no column; name one, or set rate in Hz and omit [time]")
    s.text("unit")
    return TimeColumn(column, next(iter(s.units("unit")), None), s.text("file"))


def _signal(s: _Section) -> Signal:
    columns, pattern = s.names("columns"), s.text("pattern")
    says = {"unit", "units", "signs", "gains"} & set(s.table)
    if bool(columns) == (pattern is not None) and (columns or not says):
        raise s.wrong("", 'takes either columns = ["…", …] or pattern = "…{n}", not both; or only unit and signs')
    if pattern is not None and not any(mark in pattern for mark in ("{n}", "{i}", "{name}")):
        raise s.wrong("pattern", "must contain {n} (from 1), {i} (from 0) or {name} for the part that differs by column")
    units, signs, side = s.units("units", "unit"), s.numbers("signs"), s.text("side")
    if any(abs(x) != 1.0 for x in signs):
        raise s.wrong("signs", f"must be 1 or -1 for each column, got {list(signs)}")
    if side is not None and side not in SIDES:
        raise s.wrong("side", f"must be 'joint' or 'motor', got {printable(side)}")
    return Signal(columns, pattern, units, signs, s.numbers("gains"), side, s.text("file"))


def _transmission(s: _Section, order: tuple[str, ...]) -> dict[str, Array]:
    ratios = np.array(s.numbers("ratios"))
    if not len(ratios) or not ratios.all():
        raise s.wrong("ratios", "must be one non-zero number per motor: its turns per turn of the joint")
    zero = np.array(s.numbers("zero") or [0.0] * len(ratios))
    if len(zero) != len(ratios):
        raise s.wrong("zero", f"has {counted(len(zero), 'number')} for {counted(len(ratios), 'ratio')}; expected one per joint")
    R, couplings = np.diag(ratios), s.table.get("coupling", [])
    if not isinstance(couplings, list):
        raise s.wrong("coupling", "must be a list of [motor, joint, value]")

    def joint(given: Any) -> int:
        if isinstance(given, str) and given in order:
            return order.index(given)
        if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= len(ratios):
            return given - 1
        names = " or a name of [joints] order" if order else ""
        raise s.wrong("coupling", f"{literal(given)} is not a joint: use a number from 1 to {len(ratios)}{names}")

    for entry in couplings:
        if not isinstance(entry, list) or len(entry) != 3:
            raise s.wrong("coupling", f"must be [motor, joint, value], got {literal(entry)}")
        row, column = map(joint, entry[:2])
        if row == column:
            raise s.wrong("coupling", f"{literal(entry)} joins a motor to its own joint; set ratios instead")
        R[row, column] = s.number(entry[2], "coupling")
    return {"ratios": ratios, "R": R, "zero": zero}


def _finite(value: Any) -> float | None:
    """Return a TOML number as a finite float, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the range of floats
        return None
    return number if math.isfinite(number) else None
