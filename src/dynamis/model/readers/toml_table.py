"""One table of a robot file: its entries as numbers, vectors, names and poses, each complaint with its place."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import DynamisError, InputError, printable, unknown_name
from dynamis.model.diagnostics import Report
from dynamis.model.readers.expressions import parse_expression
from dynamis.model.values import LARGEST, shown
from dynamis.scalar import Node
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY, from_rpy

NUMBER = 'a finite number, or an expression such as "pi/2"'


def brief(value: Any) -> str:
    """A value as a message shows it: short whatever it is."""
    return shown(value, 60)


class Table:
    """A table of the file with the place to blame and the names its expressions may use."""

    def __init__(self, entries: dict[str, Any], where: str, line: int | None, names: Mapping[str, Any], report: Report) -> None:
        self.entries, self.where, self.line, self.names, self.report = entries, where, line, names, report

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def wrong(self, code: str, found: str, allowed: str, repair: str = "correct the value") -> None:
        self.report.error(code, self.where, found, allowed, repair, self.line)

    def only(self, known: set[str]) -> None:
        """Complain about keys that mean nothing here."""
        for key in self.entries:
            if key not in known:
                hint = str(unknown_name("key", key, sorted(known))) if len(self.report) < 50 else f"no key {printable(key)}"
                self.wrong("unknown-key", hint, ", ".join(sorted(known)), "correct or remove the key")

    def text(self, key: str, default: str) -> str:
        value = self.entries.get(key, default)
        if not isinstance(value, str):
            self.wrong("text", f"{key} = {brief(value)}", "text in quotes")
            return default
        return value

    def number(self, key: str, default: Any = 0.0) -> Any:
        return self.scalar(self.entries.get(key, default), key)

    def real(self, key: str, default: float) -> float:
        """A number that must not be a symbol."""
        value = self.number(key, default)
        if isinstance(value, Node):
            self.wrong("number", f"{key} is the symbol {brief(value)}", "a number here, not a symbol")
            return default
        return float(value)

    def vector(self, key: str, count: int = 3, default: Any = None) -> npt.NDArray[Any]:
        value = self.entries.get(key)
        if value is None:
            return np.array(default if default is not None else [0.0] * count)
        if not isinstance(value, list) or len(value) != count:
            self.wrong("numbers", f"{key} = {brief(value)}", f"a list of {count} numbers")
            return np.zeros(count)
        return np.array([self.scalar(x, key) for x in value])

    def reals(self, key: str, count: int, default: list[float]) -> tuple[float, ...]:
        values = self.vector(key, count, default)
        if values.dtype == object:
            self.wrong("numbers", f"{key} holds a symbol", "numbers here, not symbols")
            return tuple(default)
        return tuple(float(x) for x in values)

    def scalar(self, value: Any, what: str) -> Any:
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
                return parse_expression(value, self.names, hints=len(self.report) < 50)
            except InputError as error:
                self.wrong("expression", f"{what}: {error}", NUMBER)
                return 1.0
        self.wrong("number", f"{what} = {brief(value)}", NUMBER)
        return 1.0

    def table(self, key: str, known: set[str]) -> Table:
        """The table under a key, empty where there is none."""
        value = self.entries.get(key, {})
        if not isinstance(value, dict):
            self.wrong("table", f"{key} = {brief(value)}", f"{key} = {{ {', '.join(sorted(known))} }}")
            value = {}
        inner = Table(value, f"{self.where} {key}", self.line, self.names, self.report)
        inner.only(known)
        inner.entries = {k: v for k, v in value.items() if k in known}
        return inner

    def tables(self, key: str, known: set[str]) -> list[Table]:
        """The list of tables under a key."""
        value = self.entries.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.wrong("table", f"{key} = {brief(value)}", f"{key} = [{{ … }}, …]")
            return []
        inner = [Table(item, f"{self.where} {key}", self.line, self.names, self.report) for item in value]
        for item in inner:
            item.only(known)
        return inner

    def pose(self) -> Pose:
        """``xyz`` and ``rpy``."""
        R = from_rpy(self.vector("rpy")) if "rpy" in self else IDENTITY
        return Pose(R, self.vector("xyz"))

    def attempt(self, code: str, make: Any, allowed: str) -> Any:
        """What ``make`` returns; its complaint, if it has one, becomes ours."""
        try:
            return make()
        except DynamisError as error:
            self.wrong(code, str(error), allowed)
            return None
