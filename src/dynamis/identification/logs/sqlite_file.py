"""Reader of plain tables in SQLite files, without the SQLite library.

A corrupt database can crash a process inside the library, and a view or a virtual table can run for ever. This reader follows
the documented format [SQLite, "Database File Format"]: a tree of pages, each checked when read. Any inconsistency raises
`SqliteError`. Nothing in the file is executed; indices, views and triggers are ignored.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

MAGIC = b"SQLite format 3\x00"
ENCODINGS = {0: "utf-8", 1: "utf-8", 2: "utf-16-le", 3: "utf-16-be"}
INTERIOR, LEAF = 5, 13  # kinds of pages of a table
DEEPEST = 32  # levels of a tree: more than in the largest database
KEPT = 64  # pages in memory
LARGEST_VALUE = 1 << 30  # bytes: SQLite's default limit
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of each serial type
NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|([^\s"(,`\[]+))')
CONSTRAINTS = ("constraint", "primary", "unique", "check", "foreign")


class SqliteError(Exception):
    """The file is not a SQLite database, is corrupt, or contains something other than plain tables."""


class Cell(NamedTuple):
    """A row: its rowid, its page, and its offset in the page."""

    rowid: int
    page: int
    at: int


class SqliteFile:
    """A SQLite database, read page by page; a context manager."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("rb")
        try:
            self._read_header(path)
        except BaseException:
            self._file.close()
            raise

    def _read_header(self, path: Path) -> None:
        head = self._file.read(100)
        if len(head) < 100 or not head.startswith(MAGIC):
            raise SqliteError("file is not a database")
        size = int.from_bytes(head[16:18], "big")
        self.page_size = 65536 if size == 1 else size
        self.usable = self.page_size - head[20]
        if self.page_size < 512 or self.page_size & (self.page_size - 1) or self.usable < 480:
            raise SqliteError(f"invalid page size: {self.page_size} bytes, {self.usable} usable")
        encoding = int.from_bytes(head[56:60], "big")
        if encoding not in ENCODINGS:
            raise SqliteError(f"unknown text encoding {encoding}")
        self.encoding = ENCODINGS[encoding]
        self.pages = path.stat().st_size // self.page_size
        self.page = functools.lru_cache(KEPT)(self._page)  # the bytes of a page, numbered from 1
        self._followed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def table(self, name: str) -> SqliteTable:
        """Return the plain table with this name."""
        schema = SqliteTable(self, "sqlite_schema", 1, ("type", "name", "tbl_name", "rootpage", "sql"), None)
        for row in schema.rows(("type", "name", "rootpage", "sql")):
            kind, found, root, sql = row
            if not isinstance(found, str) or found.lower() != name.lower():
                continue
            if kind != "table" or not isinstance(root, int) or not root or not isinstance(sql, str):
                raise SqliteError(f"{name} is not a plain table")
            return SqliteTable(self, name, root, *_columns(sql))
        raise SqliteError(f"no such table: {name}")

    def _page(self, number: int) -> bytes:
        if not 1 <= number <= self.pages:
            raise SqliteError(f"page {number} does not exist; the file has {self.pages}")
        self._file.seek((number - 1) * self.page_size)
        data = self._file.read(self.page_size)
        if len(data) != self.page_size:
            raise SqliteError(f"page {number} is incomplete")
        return data

    def overflow_page(self, number: int) -> bytes:
        """Return an overflow page of a row. Each belongs to one row, so more of them than pages mean a cycle."""
        self._followed += 1
        if self._followed > self.pages:
            raise SqliteError("overflow pages form a cycle")
        return self.page(number)


@dataclass(frozen=True)
class SqliteTable:
    """A table: the ``root`` of its tree of pages, its columns, and which of them is the rowid."""

    file: SqliteFile
    name: str
    root: int
    columns: tuple[str, ...]
    rowid: str | None

    def rows(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of these columns, row by row in the order of the rowids."""
        places = self.places(names)
        return (self.values(cell, places) for cell in self.cells())

    def places(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of these columns in a row; -1 is the rowid."""
        for name in names:
            if name not in self.columns:
                raise SqliteError(f"table {self.name} has no column {name}")
        return tuple(-1 if name == self.rowid else self.columns.index(name) for name in names)

    def cells(self) -> Iterator[Cell]:
        """Yield all rows, without their values."""
        left = [self.file.pages]  # each page occurs at most once in a tree
        return self._cells(self.root, DEEPEST, left)

    def _cells(self, number: int, levels: int, left: list[int]) -> Iterator[Cell]:
        left[0] -= 1
        if not levels or left[0] < 0:
            raise SqliteError(f"the pages of table {self.name} form a cycle")
        page, start = self.file.page(number), 100 if number == 1 else 0
        kind, count = page[start], int.from_bytes(page[start + 3 : start + 5], "big")
        if kind not in (INTERIOR, LEAF):
            raise SqliteError(f"page {number} is not a table page")
        first = start + (12 if kind == INTERIOR else 8)
        if first + 2 * count > self.file.page_size:
            raise SqliteError(f"page {number} declares {count} cells")
        for at in struct.unpack_from(f">{count}H", page, first):
            if kind == LEAF:
                _, place = _varint(page, at)
                rowid, _ = _varint(page, place)
                yield Cell(rowid - (1 << 64) if rowid >= 1 << 63 else rowid, number, at)
            else:
                yield from self._cells(_unsigned(page, at), levels - 1, left)
        if kind == INTERIOR:
            yield from self._cells(_unsigned(page, start + 8), levels - 1, left)

    def values(self, cell: Cell, places: Sequence[int]) -> tuple[Any, ...]:
        """Return the values of a row at these positions: int, float, str, bytes or None."""
        page = self.file.page(cell.page)
        length, at = _varint(page, cell.at)
        _, at = _varint(page, at)
        record, following = self._inside(page, at, length)
        types, ends = _layout(record, max(places))
        if ends[-1] > len(record) and following:
            record += self._overflow(following, length - len(record))
        return tuple(
            cell.rowid if k < 0 else self._value(types[k], record[ends[k] : ends[k + 1]]) if k < len(types) else None
            for k in places
        )

    def _inside(self, page: bytes, at: int, length: int) -> tuple[bytes, int]:
        """Return the part of a record in its own page, and the overflow page where it continues, or 0."""
        usable = self.file.usable
        if length > min(LARGEST_VALUE, self.file.pages * usable):
            raise SqliteError(f"a row of {length} bytes in a file of {self.file.pages} pages")
        inside = length
        if length > usable - 35:
            least = (usable - 12) * 32 // 255 - 23
            inside = least + (length - least) % (usable - 4)
            inside = inside if inside <= usable - 35 else least
        if at + inside + (4 if inside < length else 0) > usable:
            raise SqliteError("a row exceeds its page")
        return page[at : at + inside], _unsigned(page, at + inside) if inside < length else 0

    def _overflow(self, number: int, length: int) -> bytes:
        """Return the rest of a record, from a chain of overflow pages."""
        parts = []
        while length > 0:
            page = self.file.overflow_page(number)
            parts.append(page[4 : 4 + min(length, self.file.usable - 4)])
            length -= len(parts[-1])
            number = _unsigned(page, 0)
        return b"".join(parts)

    def _value(self, kind: int, data: bytes) -> Any:
        if len(data) != _size(kind):
            raise SqliteError("a value exceeds its row")
        if kind == 0:
            return None
        if kind in INTEGERS:
            return int.from_bytes(data, "big", signed=True)
        if kind == 7:
            return struct.unpack(">d", data)[0]
        if kind in (8, 9):
            return kind - 8
        if kind % 2 == 0:
            return data
        try:
            return data.decode(self.file.encoding)
        except UnicodeDecodeError:
            raise SqliteError("a text is not in the encoding of the database") from None


def _layout(record: bytes, last: int) -> tuple[list[int], list[int]]:
    """Return the types of the values of a record, up to the last one needed, with their start and end."""
    end, at = _varint(record, 0)
    if end > len(record):
        raise SqliteError("a row's header exceeds the row")
    types: list[int] = []
    ends = [end]
    while at < end and len(types) <= last:
        kind, at = _varint(record, at)
        if kind in (10, 11):
            raise SqliteError(f"reserved type {kind}")
        types.append(kind)
        ends.append(ends[-1] + _size(kind))
    return types, ends


def _size(kind: int) -> int:
    """Return the number of bytes of a value of a serial type."""
    if kind >= 12:
        return (kind - 12) // 2
    return INTEGERS.get(kind, 8 if kind == 7 else 0)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length integer of 1 to 9 bytes, and the offset after it."""
    value = 0
    try:
        for k in range(at, at + 8):
            byte = data[k]
            if byte < 0x80:
                return value << 7 | byte, k + 1
            value = value << 7 | byte & 0x7F
        return value << 8 | data[at + 8], at + 9
    except IndexError:
        raise SqliteError("a number exceeds its page") from None


def _unsigned(data: bytes, at: int) -> int:
    if at + 4 > len(data):
        raise SqliteError("a page number exceeds its page")
    return int.from_bytes(data[at : at + 4], "big")


def _columns(sql: str) -> tuple[tuple[str, ...], str | None]:
    """Return the columns in CREATE TABLE name (…), and the one declared INTEGER PRIMARY KEY, an alias of the rowid.

    >>> _columns('CREATE TABLE messages(id INTEGER PRIMARY KEY, "data" BLOB DEFAULT (1, 2), UNIQUE (id))')
    (('id', 'data'), 'id')
    """
    if re.match(r"\s*create\s+virtual", sql, re.IGNORECASE) or re.search(r"without\s+rowid[\s;]*$", sql, re.IGNORECASE):
        raise SqliteError("virtual tables and tables without rowid are not supported")
    names, rowid = [], None
    for definition in _definitions(sql):
        match = NAME.match(definition)
        name = next((part for part in match.groups() if part is not None), "") if match else ""
        if not match or (match[4] is not None and name.lower() in CONSTRAINTS):
            continue
        names.append(name)
        if re.match(r"\s+integer\s+primary\s+key\b", definition[match.end() :], re.IGNORECASE):
            rowid = name
    return tuple(names), rowid


def _definitions(sql: str) -> list[str]:
    """Return the parts between the commas of the outer parentheses."""
    parts, depth, quote, start = [], 0, "", -1
    for k, c in enumerate(sql):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'`[":
            quote = "]" if c == "[" else c
        elif c == "(":
            depth += 1
            if depth == 1:
                start = k + 1
        elif (c == "," and depth == 1) or c == ")":
            if depth == 1:
                parts.append(sql[start:k])
                start = k + 1
            depth -= c == ")"
    return parts
