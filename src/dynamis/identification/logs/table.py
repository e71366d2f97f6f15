"""A log file as a table: named numeric columns, read in blocks of rows, for any format."""

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
MOST_COLUMNS = 10_000  # per array; larger ones are not tables of signals
BLOCK_BYTES = 1 << 27  # per array, read at a time


@dataclass(frozen=True)
class Block:
    """Consecutive rows: one array per requested column, and the number of each row in the file."""

    columns: list[Array]
    rows: Array

    def __len__(self) -> int:
        return len(self.rows)

    def cut(self, start: int, stop: int) -> Block:
        return Block([x[start:stop] for x in self.columns], self.rows[start:stop])


class LogTable(ABC):
    """Named numeric columns in a file. The columns of a matrix ``q`` are "q[0]", "q[1]", …"""

    path: Path
    row_word = "row"

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The column names."""

    @abstractmethod
    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        """Yield the rows in order, in blocks of about ``size`` rows, with the requested columns; never the whole file."""

    @property
    def count(self) -> int | None:
        """The number of rows, if known in advance."""
        return None

    @property
    def left_out(self) -> str:
        """Other contents of the file, in words, for messages."""
        return ""

    @property
    def time_column(self) -> tuple[str, str] | None:
        """The time column and its unit, if fixed by the format."""
        return None

    def expanded(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return columns by name, with a matrix expanded to all its columns; unknown names are an error."""
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
        """Convert any exception of a library on corrupt data to an `InputError` with ``why``; Dynamis errors pass."""
        try:
            yield
        except DynamisError:
            raise
        except Exception as error:  # libraries raise arbitrary exceptions on corrupt data
            raise self.wrong(f"{why} ({reason_of(error)}); write it again") from None


class ArrayTable(LogTable):
    """Arrays (N,) and (N, k) of a file; columns are those with as many rows as the time, or as most of them."""

    def _choose(self, shapes: Mapping[str, tuple[int, ...]], word: str) -> None:
        """Choose among arrays of these shapes, called ``word`` in messages; `_places` then maps columns to arrays."""
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
        reasons = [f"{word} whose length is not {self._count} are ignored: {', '.join(others[:12])}"] if others else []
        reasons += [f"{word} with more than {MOST_COLUMNS} columns are ignored: {', '.join(wide[:12])}"] if wide else []
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
    """Return the number of rows read at a time: ``size``, or fewer if rows are long."""
    return max(1, min(size, BLOCK_BYTES // max(1, row_bytes)))


def regrouped(blocks: Iterator[Block], size: int) -> Iterator[Block]:
    """Yield the same rows in blocks of exactly ``size``, the last one shorter."""
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
    """Concatenate consecutive blocks."""
    if len(blocks) == 1:
        return blocks[0]
    columns = [np.concatenate(parts) for parts in zip(*(b.columns for b in blocks), strict=True)]
    return Block(columns, np.concatenate([b.rows for b in blocks]))


def matrix_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """Return the column names of an array (N,) or (N, k)."""
    return [name] if len(shape) == 1 else [f"{name}[{k}]" for k in range(shape[1])]
