"""Validation of the TOML of a mapping: every error names the file, the key and the allowed values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, literal, printable, unknown_name
from dynamis.identification.logs.log import SIDES
from dynamis.identification.logs.mapping import SIGNALS, Mapping, Signal, TimeColumn
from dynamis.identification.logs.units import SI, factor

Array = npt.NDArray[Any]
SECTIONS = ("rate", "time", *SIGNALS, "joints", "transmission", "ros")
SIGNAL_KEYS = ("file", "columns", "pattern", "unit", "units", "side", "signs")


@dataclass(frozen=True)
class MappingParser:
    """Parser of a TOML table; every error names the file and the key."""

    source: str

    def mapping(self, table: dict[str, Any]) -> Mapping:
        self.known(table, SECTIONS, "")
        sections = {name: self.section(table, name) for name in SECTIONS if name in table and name != "rate"}
        signals = {name: self.signal(name, sections[name]) for name in SIGNALS if name in sections}
        sides = {s.side for s in signals.values() if s.side is not None}
        if len(sides) > 1:
            raise self.wrong("side", "some signals are on the joint side and some on the motor side; use one side for all")
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
