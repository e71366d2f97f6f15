"""Mapping from columns to signals: a small TOML file for logs with ambiguous column names."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, printable, reason_of, unknown_name
from dynamis.robot import Robot

Array = npt.NDArray[Any]
SIGNALS = ("position", "velocity", "acceleration", "torque", "current")
LARGEST_FILE = 1_000_000  # bytes; a larger file is not a mapping


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
        from dynamis.identification.logs.mapping_parser import MappingParser

        return MappingParser(source).mapping(table)

    @staticmethod
    def skeleton(columns: Sequence[str], robot: Robot) -> str:
        """Return a template of a mapping as text, with the columns of a file."""
        from dynamis.identification.logs.skeleton import skeleton

        return skeleton(columns, robot)

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
