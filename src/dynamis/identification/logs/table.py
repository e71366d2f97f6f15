"""A log file as a table: named numeric columns, read in blocks of rows, for any format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import DynamisError, InputError, printable, reason_of, unknown_name

Array = npt.NDArray[Any]
NUMBERS = "biuf"  # kinds of arrays that are numbers


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
    def notes(self) -> tuple[str, ...]:
        """What was done to the contents of the file, in words, for users."""
        return ()

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
