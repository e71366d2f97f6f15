"""Text tables: logs as columns separated by commas, semicolons, tabs or spaces."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.identification.logs.dates import MOMENT, day_comes_first, seconds_of
from dynamis.identification.logs.table import Block, LogTable
from dynamis.identification.logs.units import UNIT, UNITS

Array = npt.NDArray[Any]
TAIL = 1 << 16  # bytes at the end of a file in which a last line without its end is looked for
LONGEST_LINE = 1 << 20  # bytes; longer lines are rejected
BLOCK = 1 << 22  # bytes read at a time
BEGINNING = 100  # lines in which the column names are looked for
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
ALL_UNITS = {unit for known in UNITS.values() for unit in known}
NO_UNIT = ("", "-")  # in a line of units below the column names
COMMENT = b"#"
MARK = b"\xef\xbb\xbf"  # UTF-8 byte order mark
UTF_16 = b"\xff\xfe", b"\xfe\xff"
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


class Line(NamedTuple):
    """A line that is neither empty nor a comment, its number, where it starts and ends in the file, and the comment above."""

    text: str
    number: int
    start: int
    end: int
    comment: str


class CsvTable(LogTable):
    """A .csv or similar file with commas, semicolons, tabs or spaces between the columns. Lines starting with # are comments;
    the last one before the numbers may contain the column names. Other lines above the names are left out. A line below the
    names may contain the units. Where columns are not separated by commas, numbers may have decimal commas. Dates and times
    of day become seconds. A last line that was not written to its end is left out. Text is UTF-8, UTF-16 with a byte order
    mark, or else Windows-1252.

    Blocks of whole lines are parsed by NumPy; only a block that fails is parsed cell by cell, to read empty cells as missing
    values or to name the line and the column of an error.
    """

    row_word = "line"

    def __init__(self, path: Path) -> None:
        self.path, self._notes = path, list[str]()
        with self._open() as file:
            lines = self._beginning(file)
            self._read_head(lines)
            self._end, last = self._find_end(file)
        row = next((line.text for line in lines if line.start >= self._data_at), "")
        day_first = day_comes_first(self._cells(row), self._cells(last), usual=bool(self._decimal_commas(row)))
        if day_first is not None:
            self._notes.append(f"dates are read as {'day/month' if day_first else 'month/day'}/year")
        self._day_first = bool(day_first)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)

    def expanded(self, names: Sequence[str]) -> tuple[str, ...]:
        return super().expanded([self._with_units.get(name, name) for name in names])

    def _open(self) -> BinaryIO:
        """Open the file; UTF-16 text as UTF-8."""
        file = self.path.open("rb")
        if file.read(2) not in UTF_16:
            file.seek(0)
            return file
        file.seek(0)
        recoded = tempfile.SpooledTemporaryFile(max_size=BLOCK)  # noqa: SIM115  # the caller closes it
        with io.TextIOWrapper(file, encoding="utf-16", errors="replace", newline="") as text:
            while part := text.read(BLOCK):
                recoded.write(part.encode("utf-8"))
        recoded.seek(0)
        return cast("BinaryIO", recoded)

    def _beginning(self, file: BinaryIO) -> list[Line]:
        """Return the first lines that are neither empty nor comments."""
        file.seek(len(MARK) if file.read(len(MARK)) == MARK else 0)
        found, comment, number = list[Line](), "", 0
        while len(found) < BEGINNING:
            start, raw = file.tell(), file.readline(LONGEST_LINE + 1)
            number += 1
            if len(raw) > LONGEST_LINE:
                raise self.wrong(f"line {number} is longer than {LONGEST_LINE} bytes: not a table of numbers")
            if not raw:
                break
            if raw.strip().startswith(COMMENT):
                comment = self._decoded(raw.strip().lstrip(COMMENT), number)
            elif raw.strip():
                found.append(Line(self._decoded(raw.strip(), number), number, start, file.tell(), comment))
        if not found:
            raise self.wrong("the file has no line of numbers; write the column names, then one line per sample")
        return found

    def _read_head(self, lines: list[Line]) -> None:
        at = _line_of_names(lines)
        if at:
            self._notes.append(f"{counted(at, 'line')} above the column names, in line {lines[at].number}, are left out")
        head = lines[at]
        self.delimiter = delimiter_of(head.text)
        cells, self._with_units = self._cells(head.text), dict[str, str]()
        if all(map(_is_value, cells)) and not (self._decimal_commas(head.text) and self._points(head.text)):
            # no header line: a comment may contain the names
            named = self._cells(head.comment)
            self._names = tuple(named if len(named) == len(cells) else (f"column_{k + 1}" for k in range(len(cells))))
            self._data_at, self._lines_before = head.start, head.number - 1
        else:
            if commas := self._decimal_commas(head.text):
                raise self.wrong(f"line {head.number} has {_decimal_comma(commas[0])}")
            self._names, last = tuple(cells), head
            below = lines[at + 1] if at + 1 < len(lines) else None
            units = [x.strip("[]()") for x in self._cells(below.text)] if below else []
            if below and len(units) == len(cells) and set(units) & ALL_UNITS and not any(map(_is_value, units)):
                self._names = tuple(self._with_unit(*pair, below.number) for pair in zip(cells, units, strict=True))
                self._with_units, last = dict(zip(cells, self._names, strict=True)), below
            self._data_at, self._lines_before = last.end, last.number
        twice = [name for name, times in Counter(self._names).items() if times > 1]
        if twice:
            which = ", ".join(map(printable, twice[:6]))
            raise self.wrong(f"line {head.number} repeats the column name {which}; column names must be unique")

    def _with_unit(self, name: str, unit: str, line: int) -> str:
        own = match["unit"] if (match := UNIT.match(name)) and match["unit"] in ALL_UNITS else ""
        alike = own == unit or any(known.get(own, 0.0) == known.get(unit) for known in UNITS.values())
        if own and unit in ALL_UNITS and not alike:
            raise self.wrong(f"line {line} gives column {printable(name)} the unit {printable(unit)}; remove one of the two")
        return name if own or unit in NO_UNIT else f"{name} [{unit}]"

    def _find_end(self, file: BinaryIO) -> tuple[int, str]:
        """Return where the data end, at the end of the file, or before a last line that has too few cells and no end; and the
        last line of data."""
        size = file.seek(0, io.SEEK_END)
        start = max(self._data_at, size - TAIL)
        file.seek(start)
        whole, _, last = file.read().rpartition(b"\n")
        cells = self._cells(last.strip(b" \r").decode("utf-8", "replace"))
        cut = bool(whole and last.strip()) and not last.startswith(COMMENT) and len(cells) < len(self._names)
        if cut:
            self._notes.append(f"the last line ends after {counted(len(cells), 'cell')} and is left out")
        rows = whole.split(b"\n") if cut else [*whole.split(b"\n"), last]
        row = next((x for x in reversed(rows) if x.strip() and not x.startswith(COMMENT)), b"")
        return size - len(last) if cut else size, row.strip().decode("utf-8", "replace")

    def _decoded(self, line: bytes, number: int) -> str:
        """Return the text of a line that is UTF-8 or, if it is not, Windows-1252."""
        if b"\0" in line:
            raise self.wrong(f"line {number} contains zero bytes: not a text file; use the suffix of its format")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            try:
                text = line.decode("cp1252")
            except UnicodeDecodeError:
                text = ""
            if not text or CONTROL.search(line):
                raise self.wrong(f"line {number} is not UTF-8 text; save the file as UTF-8") from None
        note = "text that is not UTF-8 is read as Windows-1252"
        if note not in self._notes:
            self._notes.append(note)
        return text

    def _cells(self, line: str) -> list[str]:
        return cells_of(line, self.delimiter)

    def _decimal_commas(self, line: str) -> list[str]:
        """The cells of a line with a decimal comma."""
        return [x for x in self._cells(line) if DECIMAL_COMMA.fullmatch(x)] if self.delimiter != "," else []

    @cached_property
    def _point(self) -> re.Pattern[bytes]:
        """A cell that is a number with a decimal point."""
        cell = r'[^\s"]' if self.delimiter == " " else rf'[^{re.escape(self.delimiter)}\r\n"]'
        number = r"[-+]?([\d,]+\.\d*|\.\d+)([eE][-+]?\d+)?"
        return re.compile(rf"(?<!{cell}) {{0,9}}{number} {{0,9}}(?!{cell})".encode())

    def _points(self, line: str) -> bool:
        return self._point.search(line.encode()) is not None

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        chosen = [self._names.index(name) for name in names]
        step = min(BLOCK, max(1 << 14, size * 12 * len(self._names)))
        with self._open() as file:
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
        if self.delimiter != "," and not (b"." in text and self._point.search(text)):  # with points, a comma may mean anything
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
            cells = self._cells(self._decoded(stripped, number))
            if len(cells) != len(self._names):
                raise self._ragged(cells, number)
            if any(cells[k] for k in wanted) and not any(_is_value(cells[k]) for k in wanted if cells[k]):
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
        words = ", ".join(printable(cell) for cell in cells[:4])
        return self.wrong(f"line {number} has text ({words}) but no numbers; remove it, or comment it out with #")

    def _number(self, cell: str, line: int, column: int) -> float:
        try:
            return float(cell) if cell else np.nan
        except ValueError:
            where = f"line {line}, column {printable(self._names[column])}"
            if DECIMAL_COMMA.fullmatch(cell):
                raise self.wrong(f"{where} has {_decimal_comma(cell)}") from None
            if (seconds := seconds_of(cell, day_first=self._day_first)) is not None:
                return seconds
            what, cure = "a number", "leave the cell empty for missing values"
            if MOMENT.fullmatch(cell):
                what, cure = "a date or a time of day", "write dates as 2026-12-31 and times as 23:59:59.999"
            raise self.wrong(f"{where} contains {printable(cell)}, which is not {what}; {cure}") from None


def _decimal_comma(cell: str) -> str:
    return f"a decimal comma, {printable(cell)}; use decimal points, {printable(cell.replace(',', '.'))}"


def _line_of_names(lines: Sequence[Line]) -> int:
    """Return the index of the line of column names: the first one with three or more numbers alone in one of the two lines
    below, or else that with the most lines of as many cells, with numbers, below it. Only the first line may have numbers."""
    best, most = 0, 0
    for k, line in enumerate(lines):
        delimiter = delimiter_of(line.text)
        cells = cells_of(line.text, delimiter)
        if k and (len(cells) == 1 or any(map(_is_value, cells))):
            continue
        rows = [cells_of(below.text, delimiter) for below in lines[k + 1 :]]
        if not rows or len(rows[0]) != len(cells):
            continue
        if len(cells) > 2 and any(len(row) == len(cells) and all(map(_is_value, row)) for row in rows[:2]):
            return k
        alike = sum(len(row) == len(cells) and any(map(_is_value, row)) for row in rows)
        if alike > most:
            best, most = k, alike
    return best


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


def _is_value(cell: str) -> bool:
    """Return whether a cell is a number, also with a decimal comma, a date or a time of day."""
    try:
        float(cell)
    except ValueError:
        return DECIMAL_COMMA.fullmatch(cell) is not None or MOMENT.fullmatch(cell) is not None
    return True
