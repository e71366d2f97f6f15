"""Mapping from columns to signals, a small TOML file for logs with ambiguous column names, its template, and units."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, literal, printable, reason_of, unknown_name
from dynamis.identification.logs.log import SIDES
from dynamis.robot import Robot

Array = npt.NDArray[Any]
SIGNALS = ("position", "velocity", "acceleration", "torque", "current")
LARGEST_FILE = 1_000_000  # bytes; a larger file is not a mapping
SECTIONS = ("rate", "time", *SIGNALS, "joints", "transmission", "ros")
SIGNAL_KEYS = ("file", "columns", "pattern", "unit", "units", "side", "signs")
TURN = 2.0 * math.pi
TIMES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2}
DEGREES = dict.fromkeys(("deg", "°", "degree", "degrees"), math.pi / 180.0)
ANGLES = {"rad": 1.0, "radians": 1.0, "mrad": 1e-3, **DEGREES, "rev": TURN}
POSITIONS = ANGLES | LENGTHS
VELOCITIES = {f"{unit}/s": x for unit, x in POSITIONS.items()} | {"rpm": TURN / 60.0}
ACCELERATIONS = {f"{unit}/s^2": x for unit, x in POSITIONS.items()} | {f"{unit}/s²": x for unit, x in POSITIONS.items()}
NEWTON_METRES = dict.fromkeys(("N·m", "Nm", "N*m", "N.m", "N m", "N-m"), 1.0)
NEWTON_MILLIMETRES = dict.fromkeys(("N·mm", "Nmm", "N*mm", "N.mm", "N mm", "N-mm"), 1e-3)
TORQUES = NEWTON_METRES | NEWTON_MILLIMETRES | {"mN·m": 1e-3, "mNm": 1e-3, "kN·m": 1e3, "kNm": 1e3, "N": 1.0, "kN": 1e3}
CURRENTS = {"A": 1.0, "mA": 1e-3}
UNITS = {
    "time": TIMES,
    "position": POSITIONS,
    "velocity": VELOCITIES,
    "acceleration": ACCELERATIONS,
    "torque": TORQUES,
    "current": CURRENTS,
}
SI = {"time": "s", "position": "rad", "velocity": "rad/s", "acceleration": "rad/s^2", "torque": "N·m", "current": "A"}
SHOWN = 40  # columns listed
WIDTH = 79  # columns of a terminal: longer lines would be broken, and a broken comment is no TOML


@dataclass(frozen=True)
class TimeColumn:
    """The time column, its unit, and its file if it is not the main one."""

    column: str
    unit: str = "s"
    file: str | None = None


@dataclass(frozen=True)
class Signal:
    """The columns of a signal: ``columns`` in order, or a ``pattern`` with {n} from 1, {i} from 0 or {name} of the joint.

    By default the columns are recognised by their names, in the order of the robot's coordinates.

    ``units`` is one unit or one per column; ``signs`` ±1 per column; ``gains`` of currents in N·m/A.
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
        return MappingParser(source).mapping(table)

    @staticmethod
    def skeleton(columns: Sequence[str], robot: Robot) -> str:
        """Return a template of a mapping with every section, to be completed and saved as a .toml file; its lines fit a
        terminal. ``columns`` are those of a file."""
        blank, place = (_array("columns", ["…"] * count) for count in (robot.n, robot.nq))
        lines = [
            *_listed(columns),
            "# rate = 1000            # Hz, instead of [time] if there is no time column",
            "[time]",
            'column = "…"',
            'unit = "s"               # s, ms, us, ns',
            "[position]",
            *place,
            'unit = "rad"             # rad, deg, rev, m, mm',
            'side = "joint"           # or "motor"',
            "[torque]",
            *blank,
            'unit = "N·m"',
            "# [velocity], [acceleration], [current]: likewise, if measured",
            "[joints]",
            *_array("order", robot.coordinate_names),
        ]
        return "\n".join(lines) + "\n"

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
            what = f"[transmission] ratios has {len(ratios)} numbers, but the robot has {robot.n} joints"
            raise InputError(f"{printable(self.source)}: {what}; expected one per joint")
        return {"ratios": ratios[at], "R": R[np.ix_(at, at)], "zero": zero[at]}

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True)
class MappingParser:
    """Parser of a TOML table; every error names the file and the key."""

    source: str

    def mapping(self, table: dict[str, Any]) -> Mapping:
        self.known(table, SECTIONS, "")
        sections = {name: self.section(table, name) for name in SECTIONS if name in table and name != "rate"}
        signals = {name: self.signal(name, sections[name]) for name in SIGNALS if name in sections}
        order = self.names(sections["joints"], "order", "[joints]") if "joints" in sections else ()
        if "joints" in sections:
            self.known(sections["joints"], ("order",), "[joints]")
        return Mapping(
            rate=self.rate(table), time=self.time(sections.get("time")), signals=signals, order=order,
            transmission=self.transmission(sections.get("transmission"), order), topic=self.topic(sections.get("ros")),
            source=self.source,
        )  # fmt: skip

    def wrong(self, key: str, why: str) -> InputError:
        return InputError(f"{printable(self.source)}: {key}: {why}")

    def known(self, table: dict[str, Any], keys: Sequence[str], where: str) -> None:
        for key in table:
            if key not in keys:
                raise InputError(f"{printable(self.source)}: {where + ' ' if where else ''}{unknown_name('key', key, keys)}")

    def section(self, table: dict[str, Any], name: str) -> dict[str, Any]:
        if not isinstance(table[name], dict):
            raise self.wrong(
                f"[{name}]", f"must be a section, got {type(table[name]).__name__}; write [{name}] and its keys below"
            )
        return dict(table[name])

    def rate(self, table: dict[str, Any]) -> float | None:
        if "rate" not in table:
            return None
        rate = _finite(table["rate"])
        if rate is None or rate <= 0.0:
            raise self.wrong("rate", f"must be a sampling rate in Hz above zero, got {literal(table['rate'])}")
        return rate

    def time(self, table: dict[str, Any] | None) -> TimeColumn | None:
        if table is None:
            return None
        self.known(table, ("column", "unit", "file"), "[time]")
        column, unit = self.text(table, "column", "[time]"), self.text(table, "unit", "[time]") or "s"
        if column is None:
            raise self.wrong("[time]", "has no column; name one, or set rate in Hz and omit [time]")
        self.checked_unit("time", unit)
        return TimeColumn(column, unit, self.text(table, "file", "[time]"))

    def signal(self, name: str, table: dict[str, Any]) -> Signal:
        where = f"[{name}]"
        self.known(table, (*SIGNAL_KEYS, "gains") if name == "current" else SIGNAL_KEYS, where)
        columns, pattern = self.names(table, "columns", where), self.text(table, "pattern", where)
        says = {"unit", "units", "signs", "gains"} & set(table)
        if bool(columns) == (pattern is not None) and (columns or not says):
            raise self.wrong(where, 'takes either columns = ["…", …] or pattern = "…{n}", not both; or only unit and signs')
        if pattern is not None and not any(mark in pattern for mark in ("{n}", "{i}", "{name}")):
            raise self.wrong(
                f"{where} pattern", "must contain {n} (from 1), {i} (from 0) or {name} for the part that differs by column"
            )
        units = self.names(table, "units", where) or self.names(table, "unit", where)
        for unit in units:
            self.checked_unit(name, unit)
        signs = self.numbers(table, "signs", where)
        if any(abs(x) != 1.0 for x in signs):
            raise self.wrong(f"{where} signs", f"must be 1 or -1 for each column, got {list(signs)}")
        side = self.text(table, "side", where)
        if side is not None and side not in SIDES:
            raise self.wrong(f"{where} side", f"must be 'joint' or 'motor', got {printable(side)}")
        gains = self.numbers(table, "gains", where)
        return Signal(columns, pattern, units, signs, gains, side, self.text(table, "file", where))

    def checked_unit(self, signal: str, unit: str) -> None:
        try:
            factor(signal, unit)
        except InputError as error:
            raise self.wrong(f"[{signal}]", f"{error} (SI: {SI[signal]})") from None

    def transmission(self, table: dict[str, Any] | None, order: tuple[str, ...]) -> dict[str, Array] | None:
        if table is None:
            return None
        where = "[transmission]"
        self.known(table, ("ratios", "coupling", "zero"), where)
        ratios = np.array(self.numbers(table, "ratios", where))
        if not len(ratios) or not ratios.all():
            raise self.wrong(f"{where} ratios", "must be one non-zero number per motor: its turns per turn of the joint")
        zero = np.array(self.numbers(table, "zero", where) or [0.0] * len(ratios))
        if len(zero) != len(ratios):
            raise self.wrong(f"{where} zero", f"has {len(zero)} numbers for {len(ratios)} ratios; expected one per joint")
        R = np.diag(ratios)
        couplings = table.get("coupling", [])
        if not isinstance(couplings, list):
            raise self.wrong(f"{where} coupling", "must be a list of [motor, joint, value]")
        for entry in couplings:
            if not isinstance(entry, list) or len(entry) != 3:
                raise self.wrong(f"{where} coupling", f"must be [motor, joint, value], got {literal(entry)}")
            row, column = (self.joint(x, order, len(ratios)) for x in entry[:2])
            if row == column:
                raise self.wrong(f"{where} coupling", f"{literal(entry)} joins a motor to its own joint; set ratios instead")
            R[row, column] = self.number(entry[2], f"{where} coupling")
        return {"ratios": ratios, "R": R, "zero": zero}

    def joint(self, given: Any, order: tuple[str, ...], count: int) -> int:
        if isinstance(given, str) and given in order:
            return order.index(given)
        if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= count:
            return given - 1
        names = " or a name of [joints] order" if order else ""
        raise self.wrong("[transmission] coupling", f"{literal(given)} is not a joint: use a number from 1 to {count}{names}")

    def topic(self, table: dict[str, Any] | None) -> str | None:
        if table is None:
            return None
        self.known(table, ("topic",), "[ros]")
        return self.text(table, "topic", "[ros]")

    def text(self, table: dict[str, Any], key: str, where: str) -> str | None:
        value = table.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(f"{where} {key}", f"must be a quoted string, got {type(value).__name__}")
        return value

    def names(self, table: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = table.get(key, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            raise self.wrong(f"{where} {key}", 'must be a list of strings, such as ["a", "b"]')
        return tuple(value)

    def numbers(self, table: dict[str, Any], key: str, where: str) -> tuple[float, ...]:
        value = table.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(f"{where} {key}", "must be a list of numbers, one per joint")
        return tuple(self.number(x, f"{where} {key}") for x in value)

    def number(self, value: Any, where: str) -> float:
        number = _finite(value)
        if number is None:
            raise self.wrong(where, f"must be a finite number, got {literal(value)}")
        return number


def _finite(value: Any) -> float | None:
    """Return a TOML number as a finite float, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the range of floats
        return None
    return number if math.isfinite(number) else None


def factor(signal: str, unit: str) -> float:
    """Return the SI value of a unit.

    >>> round(factor("position", "deg"), 6)
    0.017453
    """
    known = UNITS[signal]
    if unit not in known:
        why = str(unknown_name(f"unit of {signal}", unit, known))
        raise InputError(f"{why}; supported are {', '.join(map(printable, known))}")
    return known[unit]


def _listed(columns: Sequence[str]) -> list[str]:
    """Comment lines with the columns of the file."""
    more = [f"and {len(columns) - SHOWN} more"] if len(columns) > SHOWN else []
    return _filled("# columns of the file: ", "#   ", [*(_quoted(name) for name in columns[:SHOWN]), *more])


def _array(key: str, names: Sequence[str]) -> list[str]:
    """A TOML array, on several lines where one is too long."""
    quoted = [_quoted(name) for name in names]
    line = f"{key} = [{', '.join(quoted)}]"
    return [line] if len(line) <= WIDTH else [f"{key} = [", *_filled("    ", "    ", quoted), "]"]


def _filled(first: str, further: str, words: Sequence[str]) -> list[str]:
    """Words separated by commas, on lines of at most ``WIDTH`` characters where the words permit."""
    lines = [first]
    for k, word in enumerate(words):
        piece = word + (", " if k < len(words) - 1 else "")
        if len(lines[-1]) + len(piece.rstrip()) > WIDTH and lines[-1] not in (first, further):
            lines.append(further)
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
