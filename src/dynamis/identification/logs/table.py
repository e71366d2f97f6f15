"""A log file as a table: named numeric columns, read in blocks of rows, for any format; and text tables."""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import DynamisError, InputError, printable, reason_of, unknown_name
from dynamis.identification.logs.units import UNIT, UNITS

Array = npt.NDArray[Any]
NUMBERS = "biuf"  # kinds of arrays that are numbers
TAIL = 1 << 16  # bytes at the end of a file in which a last line without its end is looked for
LONGEST_LINE = 1 << 20  # bytes; longer lines are rejected
BLOCK = 1 << 22  # bytes read at a time
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
ALL_UNITS = {unit for known in UNITS.values() for unit in known}
NO_UNIT = ("", "-")  # in a line of units below the column names
COMMENT = b"#"
MARK = b"\xef\xbb\xbf"  # UTF-8 byte order mark


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


class CsvTable(LogTable):
    """A .csv or similar file with commas, semicolons, tabs or spaces between the columns. Lines starting with # are comments;
    the last one before the numbers may contain the column names. A line below the names may contain the units. Where columns
    are not separated by commas, numbers may have decimal commas. Dates and times of day become seconds. A last line
    that was not written to its end is left out.

    Blocks of whole lines are parsed by NumPy; only a block that fails is parsed cell by cell, to read empty cells as missing
    values or to name the line and the column of an error.
    """

    row_word = "line"

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._read_head(file)
            self._end = self._find_end(file)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def _read_head(self, file: BinaryIO) -> None:
        comment, lines = b"", 0
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise self.wrong("the file is UTF-16 text; save it as UTF-8")
        file.seek(0)
        file.seek(len(MARK) if file.read(len(MARK)) == MARK else 0)
        while True:
            start, line = file.tell(), file.readline(LONGEST_LINE + 1)
            if not line:
                raise self.wrong("the file has no line of numbers; write the column names, then one line per sample")
            if len(line) > LONGEST_LINE:
                raise self.wrong(f"line {lines + 1} is longer than {LONGEST_LINE} bytes: not a table of numbers")
            lines += 1
            text = line.strip()
            if text.startswith(COMMENT):
                comment = text.lstrip(COMMENT)
            elif text:
                break
        head = self._decoded(text, lines)
        self.delimiter = delimiter_of(head)
        cells = cells_of(head, self.delimiter)
        numbers = [x.replace(",", ".") for x in cells] if self.delimiter != "," and "." not in head else cells
        if all(map(_is_number, numbers)):
            # no header line: a comment may contain the names
            named = cells_of(self._decoded(comment, lines), self.delimiter)
            self._names = tuple(named if len(named) == len(cells) else (f"column_{k + 1}" for k in range(len(cells))))
            self._data_at, self._lines_before = start, lines - 1
        else:
            if any(DECIMAL_COMMA.fullmatch(x) for x in cells) and self.delimiter != ",":
                raise self.wrong(f"line {lines} has {self._decimal_comma(cells)}")
            self._names = tuple(cells)
            self._data_at, self._lines_before = file.tell(), lines
            below = cells_of(file.readline(LONGEST_LINE).strip().decode("utf-8", "replace"), self.delimiter)
            units = [x.strip("[]()") for x in below]
            if len(units) == len(cells) and set(units) & ALL_UNITS and set(units) <= ALL_UNITS.union(NO_UNIT):
                self._names = tuple(self._with_unit(*pair, lines + 1) for pair in zip(cells, units, strict=True))
                self._data_at, self._lines_before = file.tell(), lines + 1
        twice = [name for name, times in Counter(self._names).items() if times > 1]
        if twice:
            which = ", ".join(map(printable, twice[:6]))
            raise self.wrong(f"line {lines} repeats the column name {which}; column names must be unique")

    def _with_unit(self, name: str, unit: str, line: int) -> str:
        own = match["unit"] if (match := UNIT.match(name)) and match["unit"] in ALL_UNITS else ""
        if own and unit not in (own, *NO_UNIT):
            raise self.wrong(f"line {line} gives column {printable(name)} the unit {printable(unit)}; remove one of the two")
        return name if own or unit in NO_UNIT else f"{name} [{unit}]"

    def _find_end(self, file: BinaryIO) -> int:
        """Return where the data end: at the end of the file, or before a last line that has too few cells and no end."""
        size = file.seek(0, io.SEEK_END)
        start = max(self._data_at, size - TAIL)
        file.seek(start)
        whole, _, last = file.read().rpartition(b"\n")
        cells = cells_of(last.strip(b" \r").decode("utf-8", "replace"), self.delimiter)
        cut = bool(whole and last.strip()) and not last.startswith(COMMENT) and len(cells) < len(self._names)
        self._notes = (f"the last line ends after {counted(len(cells), 'cell')} and is left out",) if cut else ()
        return size - len(last) if cut else size

    def _decoded(self, line: bytes, number: int) -> str:
        try:
            if b"\0" in line:
                raise self.wrong(f"line {number} contains zero bytes: not a text file; use the suffix of its format")
            return line.decode("utf-8")
        except UnicodeDecodeError:
            raise self.wrong(f"line {number} is not UTF-8 text; save the file as UTF-8") from None

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        chosen = [self._names.index(name) for name in names]
        step = min(BLOCK, max(1 << 14, size * 12 * len(self._names)))
        with self.path.open("rb") as file:
            file.seek(self._data_at)
            before, rest = self._lines_before, b""
            while True:
                read = file.read(min(step, self._end - file.tell()))
                text, cut = rest + read, len(rest) + len(read)
                if read:
                    cut = text.rfind(b"\n") + 1
                    if not cut and len(text) > LONGEST_LINE:
                        raise self.wrong(f"line {before + 1} is longer than {LONGEST_LINE} bytes: not a table of numbers")
                text, rest = text[:cut], text[cut:]
                if text:
                    values, rows = self._parsed(text, before, chosen)
                    before += text.count(b"\n")
                    if len(values):
                        yield Block([values[:, k] for k in chosen], rows)
                if not read:
                    return

    def _parsed(self, text: bytes, before: int, chosen: Sequence[int]) -> tuple[Array, Array]:
        """Return the numbers of whole lines, and the line of each row; ``before`` lines precede them in the file.

        Columns that are not ``chosen`` may have any content.
        """
        lines = text.count(b"\n") + (not text.endswith(b"\n"))
        if self.delimiter != "," and b"." not in text:  # decimal commas; with points, a comma may mean anything
            text = text.replace(b",", b".")
        separator = None if self.delimiter == " " else self.delimiter
        if text.strip():
            try:
                values = np.loadtxt(io.BytesIO(text), delimiter=separator, comments=None, ndmin=2, encoding="utf-8")
            except ValueError:
                return self._cell_by_cell(text, before, chosen)
            if values.shape == (lines, len(self._names)):
                return values, before + 1 + np.arange(lines)
        return self._cell_by_cell(text, before, chosen)

    def _cell_by_cell(self, text: bytes, before: int, chosen: Sequence[int]) -> tuple[Array, Array]:
        values, rows = [], []
        wanted = dict.fromkeys(chosen)
        for number, line in enumerate(text.split(b"\n"), before + 1):
            stripped = line.strip(b" \r" if self.delimiter == "\t" else None)
            if not stripped or stripped.startswith(COMMENT):
                continue
            cells = cells_of(self._decoded(stripped, number), self.delimiter)
            if len(cells) != len(self._names):
                raise self._ragged(cells, number)
            if any(cells[k] for k in wanted) and not any(_is_number(cells[k]) for k in wanted if cells[k]):
                raise self._wordy(cells, number)
            values.append([self._number(cell, number, k) if k in wanted else np.nan for k, cell in enumerate(cells)])
            rows.append(number)
        return np.array(values, float).reshape(len(rows), len(self._names)), np.array(rows, int)

    def _ragged(self, cells: list[str], number: int) -> InputError:
        why = f"line {number} has {counted(len(cells), 'cell')} for {counted(len(self._names), 'column')}"
        if len(cells) == len(self._names) + 1 and not cells[-1]:
            return self.wrong(f"{why}: it ends with {printable(self.delimiter)}; add one after the column names as well")
        if self.delimiter == "," and 1.5 * len(self._names) < len(cells) <= 2 * len(self._names):
            why = f"line {number} has about twice as many numbers as there are columns, typical of decimal commas"
            return self.wrong(f"{why}; write 1.5 for 1,5")
        return self.wrong(f"{why}: the file is truncated or edited there; remove the line if it is the last one")

    def _wordy(self, cells: list[str], number: int) -> InputError:
        if any(DECIMAL_COMMA.fullmatch(x) for x in cells):
            return self.wrong(f"line {number} has {self._decimal_comma(cells)}")
        words = ", ".join(printable(cell) for cell in cells[:4])
        return self.wrong(f"line {number} has text ({words}) but no numbers; remove it, or comment it out with #")

    def _number(self, cell: str, line: int, column: int) -> float:
        try:
            return float(cell) if cell else np.nan
        except ValueError:
            if DECIMAL_COMMA.fullmatch(cell):
                raise self.wrong(
                    f"line {line}, column {printable(self._names[column])} has {self._decimal_comma([cell])}"
                ) from None
            what = f"line {line}, column {printable(self._names[column])} contains {printable(cell)}, which is not a number"
            if (seconds := seconds_of(cell)) is not None:
                return seconds
            raise self.wrong(f"{what}; leave the cell empty for missing values") from None

    @staticmethod
    def _decimal_comma(cells: list[str]) -> str:
        found = next(x for x in cells if DECIMAL_COMMA.fullmatch(x))
        return f"a decimal comma, {printable(found)}; use decimal points, {printable(found.replace(',', '.'))}"


def seconds_of(cell: str) -> float | None:
    """Return the seconds of a date, since 1970, or of a time of day, since midnight; None for other text. Dates without a time
    zone are in UTC.

    >>> seconds_of("1970-01-02 00:00:01.5"), seconds_of("00:01:00.25"), seconds_of("soon")
    (86401.5, 60.25, None)
    """
    try:
        if DATE.match(cell):
            moment = datetime.fromisoformat(cell)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        clock = time.fromisoformat(cell)
    except ValueError:
        return None
    return 3600.0 * clock.hour + 60.0 * clock.minute + clock.second + 1e-6 * clock.microsecond


def delimiter_of(line: str) -> str:
    """Return the delimiter of a line: the first of ; tab , and space that occurs outside quotes.

    >>> delimiter_of('"a,b";c'), delimiter_of("t q1 q2")
    (';', ' ')
    """
    bare = re.sub(r'"[^"]*"', "", line)
    return next((mark for mark in (";", "\t", ",") if mark in bare), " ")


def cells_of(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line, without surrounding quotes and spaces."""
    try:
        cells = next(csv.reader([line.strip() if delimiter == " " else line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        cells = line.split(delimiter)
    return [cell.strip() for cell in cells if cell or delimiter != " "]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
