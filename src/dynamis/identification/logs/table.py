"""A file of a log as a table: named columns of numbers, read in blocks of rows, whatever the format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import DynamisError, InputError, printable, reason_of, unknown_name

Array = npt.NDArray[Any]
NUMBERS = "biuf"  # kinds of arrays that are numbers
TIMES = ("t", "time", "timestamp")
MOST_COLUMNS = 10_000  # of one array: what has more is no table of signals
BLOCK_BYTES = 1 << 27  # of one array, read at a time


@dataclass(frozen=True)
class Block:
    """Rows that follow each other: one array for each column asked for, and the number of each row in the file."""

    columns: list[Array]
    rows: Array

    def __len__(self) -> int:
        return len(self.rows)

    def cut(self, start: int, stop: int) -> Block:
        return Block([x[start:stop] for x in self.columns], self.rows[start:stop])


class Table(ABC):
    """Named columns of numbers in a file. A column of a matrix ``q`` is called "q[0]", "q[1]", …"""

    path: Path
    row_word = "row"

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""

    @abstractmethod
    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        """The rows in order, in blocks of about ``size`` rows, with the columns asked for; never the whole file at once."""

    @property
    def count(self) -> int | None:
        """How many rows there are, where the file says so beforehand."""
        return None

    @property
    def left_out(self) -> str:
        """What the file holds besides columns, in words, for messages."""
        return ""

    @property
    def time_column(self) -> tuple[str, str] | None:
        """The column of times and its unit, where the format fixes it."""
        return None

    def expanded(self, names: Sequence[str]) -> tuple[str, ...]:
        """Columns by name, a matrix by its name alone standing for all its columns; unknown names are refused."""
        known, found = self.names, []
        for name in names:
            if name in known:
                found.append(name)
                continue
            parts = [x for x in known if x.startswith(f"{name}[") and x[len(name) + 1 : -1].isdigit()]
            if not parts:
                also = f"; {self.left_out}" if self.left_out else ""
                raise InputError(f"{self.label}: {unknown_name('column', name, known)}{also}")
            found += parts
        return tuple(found)

    @property
    def label(self) -> str:
        return printable(self.path.name)

    def wrong(self, why: str) -> InputError:
        return InputError(f"{printable(str(self.path), 400)}: {why}")

    @contextmanager
    def reading(self, why: str) -> Iterator[None]:
        """Whatever a library raises on damaged bytes, as an `InputError` that says ``why``; errors of Dynamis pass."""
        try:
            yield
        except DynamisError:
            raise
        except Exception as error:  # libraries meet damaged bytes with whatever breaks first
            raise self.wrong(f"{why} ({reason_of(error)}); write it again") from None


class ArrayTable(Table):
    """Arrays (N,) and (N, k) of a file; those are columns that have as many rows as the times, or as most of them."""

    def _choose(self, shapes: Mapping[str, tuple[int, ...]], word: str) -> None:
        """Of arrays of these shapes, called ``word`` in messages; `_places` then says which column of which array is which."""
        wide = [f"{printable(name)} {s}" for name, s in shapes.items() if len(s) == 2 and s[1] > MOST_COLUMNS]
        shapes = {name: s for name, s in shapes.items() if len(s) == 1 or s[1] <= MOST_COLUMNS}
        times = [s[0] for name, s in shapes.items() if name.split("/")[-1].lower() in TIMES and len(s) == 1]
        lengths = Counter(s[0] for s in shapes.values())
        self._count = times[0] if times else lengths.most_common(1)[0][0] if lengths else 0
        self._places = {
            column: (name, k)
            for name, s in shapes.items()
            if s[0] == self._count
            for k, column in enumerate(matrix_names(name, s))
        }
        others = [f"{printable(name)} {s}" for name, s in shapes.items() if s[0] != self._count]
        reasons = [f"{word} of other lengths than {self._count} rows are left out: {', '.join(others[:12])}"] if others else []
        reasons += [f"{word} with more than {MOST_COLUMNS} columns are left out: {', '.join(wide[:12])}"] if wide else []
        self._left_out = "; ".join(reasons)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    @property
    def count(self) -> int:
        return self._count

    @property
    def left_out(self) -> str:
        return self._left_out


def rows_at_once(size: int, row_bytes: int) -> int:
    """How many rows are read at a time: ``size``, or fewer where rows are long."""
    return max(1, min(size, BLOCK_BYTES // max(1, row_bytes)))


def regrouped(blocks: Iterator[Block], size: int) -> Iterator[Block]:
    """The same rows in blocks of exactly ``size``, the last one shorter."""
    waiting: list[Block] = []
    have = 0
    for block in blocks:
        waiting.append(block)
        have += len(block)
        if have < size:
            continue
        whole = together(waiting)
        start = 0
        for start in range(0, have - size + 1, size):
            yield whole.cut(start, start + size)
        rest = whole.cut(start + size, have)
        waiting, have = [rest] if len(rest) else [], len(rest)
    if have:
        yield together(waiting)


def together(blocks: Sequence[Block]) -> Block:
    """Blocks that follow each other as one."""
    if len(blocks) == 1:
        return blocks[0]
    columns = [np.concatenate(parts) for parts in zip(*(b.columns for b in blocks), strict=True)]
    return Block(columns, np.concatenate([b.rows for b in blocks]))


def matrix_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """The columns of an array (N,) or (N, k)."""
    return [name] if len(shape) == 1 else [f"{name}[{k}]" for k in range(shape[1])]
