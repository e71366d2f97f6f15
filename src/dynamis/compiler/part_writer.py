"""Parts of a code: what they read and write, how often they are run, and the writing of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from dynamis.compiler.code import Code, Instruction, Operand

Array = npt.NDArray[Any]

RING = 4  # rows of an array for values that only the next turns of the same loop use; a power of two


@dataclass(frozen=True)
class Place:
    """Where a part finds or puts a value: in an array, at row first + step · turn; of a ring modulo RING."""

    array: str
    first: int
    step: int = 0
    column: int = 0

    @property
    def in_ring(self) -> bool:
        return self.array.startswith("ring")


@dataclass(frozen=True)
class Part:
    """Code that is run ``turns`` times; its inputs are read from places, its results are written to places."""

    turns: int
    code: Code
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]
    ordered: bool = False  # its instructions stay in their order


@dataclass(frozen=True)
class Parts:
    """Parts in their order, the (rows, columns) of each array, and tables of constants that differ from turn to turn."""

    parts: tuple[Part, ...]
    arrays: dict[str, tuple[int, int]]
    tables: dict[str, Array]


class Local(NamedTuple):
    """A value of a part: what it reads, or what it computes."""

    read: bool
    number: int


class Writer:
    """A part in the making."""

    def __init__(self, code: Code) -> None:
        self.name = code.name
        self.reads: dict[Place, int] = {}
        self.made: list[tuple[str, list[Local | float]]] = []
        self.writes: list[tuple[Place, Local | float]] = []
        self.checks: list[Local] = []

    def read(self, place: Place) -> Local:
        return Local(True, self.reads.setdefault(place, len(self.reads)))

    def emit(self, op: str, args: list[Local | float], checked: bool) -> Local:
        self.made.append((op, args))
        value = Local(False, len(self.made) - 1)
        if checked:
            self.checks.append(value)
        return value

    def write(self, place: Place, value: Local | float) -> None:
        self.writes.append((place, value))

    def part(self, turns: int, ordered: bool = False) -> Part:
        def operand(x: Local | float) -> Operand:
            return x if not isinstance(x, Local) else x.number if x.read else len(self.reads) + x.number

        instructions = tuple([Instruction(op, tuple([operand(x) for x in args])) for op, args in self.made])
        outputs = (tuple(operand(x) for _, x in self.writes),)
        checks = tuple(len(self.reads) + x.number for x in self.checks)
        results = (("written", (len(self.writes),)),)
        code = Code(self.name, (("read", len(self.reads)),), results, instructions, outputs, checks)
        return Part(turns, code, tuple(self.reads), tuple(place for place, _ in self.writes), ordered)
