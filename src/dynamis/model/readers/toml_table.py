"""One table of a robot file: its entries as numbers, vectors, names and poses, each complaint with its place."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import DynamisError, InputError, near_names, printable, unknown_name
from dynamis.model.diagnostics import Report
from dynamis.model.readers.expressions import NotAnAngleError, UndeclaredParameterError, parse_expression
from dynamis.model.readers.numbers import advice
from dynamis.model.values import MAX_MAGNITUDE, shown, warn_degrees
from dynamis.scalar import Node
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY, from_rpy

NUMBER = 'a finite number, or an expression such as "pi/2"'

LENGTHS = {"a", "b", "c", "com", "d", "from", "inner", "length", "outer", "radius", "size", "to", "x", "xyz", "y", "z"}
NO_ANGLES: Set[str] = LENGTHS | {"density", "gravity", "mass"}


def brief(value: Any) -> str:
    """A value as a message shows it: short whatever it is."""
    return shown(value, 60)


def _degrees_cure(value: Any) -> str:
    return f'if the angle is in degrees, write "{value:g}deg"' if not isinstance(value, Node) else ""


class TomlTable:
    """A table of the file with its place and the names its expressions may use; ``text`` are the lines of the file."""

    def __init__(
        self,
        entries: dict[str, Any],
        where: str,
        line: int | None,
        names: Mapping[str, Any],
        report: Report,
        text: Sequence[str] = (),
    ) -> None:
        self.entries, self.where, self.line, self.names, self.report = entries, where, line, names, report
        self.lines = text
        self.no_angles = NO_ANGLES

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def wrong(self, code: str, found: str, allowed: str, repair: str = "", key: str | None = None) -> None:
        """Report an error; ``key`` is the entry it is in, whose line is named where it can be found."""
        self.report.error(code, self.where, found, allowed, repair or f"write {allowed}", self.line_of(key))

    def line_of(self, key: str | None) -> int | None:
        """The line of a key of this table: the first between the table's header and the next one that begins with it."""
        if key is None or self.line is None:
            return self.line
        entry = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
        for number, line in enumerate(self.lines[self.line :], self.line + 1):
            if line.lstrip().startswith("["):
                break
            if entry.match(line):
                return number
        return self.line

    def only(self, known: set[str], required: Sequence[str] = ()) -> None:
        """Report unknown keys; the suggestion is taken first from the ``required`` keys that are missing."""
        for key in self.entries:
            if key not in known:
                missing = near_names(key, [name for name in required if name not in self.entries])
                hint = f"no key {printable(key)}"
                if len(self.report) < 50:
                    hint = str(unknown_name("key", key, missing or sorted(known)))
                self.wrong("unknown-key", hint, ", ".join(sorted(known)), "correct or remove the key", key)

    def text(self, key: str, default: str) -> str:
        value = self.entries.get(key, default)
        if not isinstance(value, str):
            self.wrong("text", f"{key} = {brief(value)}", "text in quotes", key=key)
            return default
        return value

    def number(self, key: str, default: Any = 0.0, *, largest: float = MAX_MAGNITUDE) -> Any:
        return self.scalar(self.entries.get(key, default), key, largest=largest)

    def real(self, key: str, default: float, *, largest: float = MAX_MAGNITUDE) -> float:
        """A number that must not be a symbol."""
        value = self.number(key, default, largest=largest)
        if isinstance(value, Node):
            self.wrong("number", f"{key} is the symbol {brief(value)}", "a number here, not a symbol", "give a number", key)
            return default
        return float(value)

    def angle(self, key: str) -> Any:
        """An angle in radians; a value of more than a turn is reported."""
        value = self.number(key)
        warn_degrees(self.report, self.where, key, [value], self.line_of(key), _degrees_cure(value))
        return value

    def rotation(self, key: str = "rpy") -> npt.NDArray[Any]:
        """The rotation matrix of roll, pitch and yaw."""
        if key not in self:
            return IDENTITY
        angles = self.vector(key)
        largest = max((x for x in angles if not isinstance(x, Node)), key=abs, default=0.0)
        warn_degrees(self.report, self.where, key, list(angles), self.line_of(key), _degrees_cure(largest))
        return from_rpy(angles)

    def vector(self, key: str, count: int = 3, default: Any = None) -> npt.NDArray[Any]:
        value = self.entries.get(key)
        if value is None:
            return np.array(default if default is not None else [0.0] * count)
        if not isinstance(value, list) or len(value) != count:
            found = f"{key} = {brief(value)}"
            if isinstance(value, list):
                found += f": {key} needs {counted(count, 'number')}, got {len(value) or 'none'}"
            self.wrong("numbers", found, f"a list of {counted(count, 'number')}", key=key)
            return np.zeros(count)
        return np.array([self.scalar(x, key) for x in value])

    def reals(self, key: str, count: int, default: list[float]) -> tuple[float, ...]:
        values = self.vector(key, count, default)
        if values.dtype == object:
            self.wrong("numbers", f"{key} contains a symbol", "numbers here, not symbols", "give numbers", key)
            return tuple(default)
        return tuple(float(x) for x in values)

    def scalar(self, value: Any, what: str, *, largest: float = MAX_MAGNITUDE) -> Any:
        """The value of an entry: a number up to ``largest``, or a node."""
        number = self.plain_scalar(value, what)
        if isinstance(number, float) and abs(number) > largest:
            allowed = f"finite numbers up to {largest:g}"
            self.wrong("number", f"{what} = {brief(value)}", allowed, "give the value in SI units (rad, m, kg)", what)
            return 1.0
        return number

    def plain_scalar(self, value: Any, what: str) -> Any:
        if isinstance(value, Node):
            return value
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if math.isfinite(number):
                return number
        elif isinstance(value, str):
            try:
                return parse_expression(value, self.names, hints=len(self.report) < 50, angle=what not in self.no_angles)
            except InputError as error:
                repair = advice(value, 1)
                if isinstance(error, UndeclaredParameterError):
                    repair = f'declare {error.name} under [parameters], as a number or "symbol"'
                elif isinstance(error, NotAnAngleError):
                    repair = "give the length in m" if what in LENGTHS else "give the value in SI units"
                elif " instead of " not in repair:
                    repair = ""
                self.wrong("expression", f"{what}: {error}", NUMBER, repair, what)
                return 1.0
        self.wrong("number", f"{what} = {brief(value)}", NUMBER, key=what)
        return 1.0

    def table(self, key: str, known: set[str], required: Sequence[str] = ()) -> TomlTable:
        """The table under a key, empty where there is none; ``required`` are the keys it must have."""
        value = self.entries.get(key, {})
        if not isinstance(value, dict):
            self.wrong("table", f"{key} = {brief(value)}", f"{key} = {{ {', '.join(sorted(known))} }}", key=key)
            value = {}
        inner = TomlTable(value, f"{self.where} {key}", self.line_of(key), self.names, self.report)
        inner.only(known, required)
        inner.entries = {k: v for k, v in value.items() if k in known}
        return inner

    def tables(self, key: str, known: set[str]) -> list[TomlTable]:
        """The list of tables under a key."""
        value = self.entries.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.wrong("table", f"{key} = {brief(value)}", f"{key} = [{{ … }}, …]", key=key)
            return []
        line = self.line_of(key) if value else None
        inner = [TomlTable(item, f"{self.where} {key}", line, self.names, self.report) for item in value]
        for item in inner:
            item.only(known)
        return inner

    def pose(self) -> Pose:
        """``xyz`` and ``rpy``."""
        return Pose(self.rotation(), self.vector("xyz"))

    def attempt(
        self, code: str, make: Any, allowed: str, repair: str = "give physically possible values", key: str | None = None
    ) -> Any:
        """What ``make`` returns; an error it raises is reported."""
        try:
            return make()
        except DynamisError as error:
            self.wrong(code, str(error), allowed, repair, key)
            return None
