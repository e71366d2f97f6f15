"""Tables in NumPy .npz archives, streamed: arrays are never loaded whole, and objects never unpickled."""

from __future__ import annotations

import contextlib
import json
import struct
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.files.limits import ArrayHeader, array_header
from dynamis.identification.logs.table import NUMBERS, ArrayTable, Block, rows_at_once

Array = npt.NDArray[Any]
LARGEST_NOTE = 1 << 22  # bytes
SUMMED = 1 << 26  # bytes: for larger arrays, verifying the checksum would dominate the run time
LOCAL_HEADER = struct.Struct("<26xHH")  # of a member: the lengths of its name and its extra field


class NpzTable(ArrayTable):
    """The arrays (N,) and (N, k) of an archive with as many rows as its time, or as most of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file, self.reading("it is corrupt or not an .npz archive"), zipfile.ZipFile(file) as archive:
            named = {info.filename.removesuffix(".npy"): self._member(archive, info) for info in archive.infolist()}
            true_names = self._names_in_note(archive, named)
        arrays = {true_names.get(name, name): m for name, m in named.items() if m is not None and len(m.shape) in (1, 2)}
        self._choose({name: m.shape for name, m in arrays.items()}, "arrays")
        self._columns = {column: (arrays[name], k) for column, (name, k) in self._places.items()}
        if not self._columns:
            raise self.wrong("the file has no arrays with one row per sample; save t, q and tau with numpy.savez")

    def _member(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> ArrayHeader | None:
        """Return the description of an array from its header; None if it is not numeric."""
        if not info.filename.endswith(".npy"):
            return None
        header = array_header(archive, info)
        if header.dtype.hasobject:
            what = f"array {printable(header.name)} contains Python objects, which could execute code when read"
            raise self.wrong(f"{what}; save it as numbers: np.asarray(x, float)")
        if not header.fits:
            what = f"array {printable(header.name)} has shape {header.shape}, which does not match its {info.file_size} bytes"
            raise self.wrong(f"{what}: the file is corrupt; write it again")
        return header if header.dtype.kind in NUMBERS + "M" else None

    @staticmethod
    def _names_in_note(archive: zipfile.ZipFile, named: dict[str, ArrayHeader | None]) -> dict[str, str]:
        """Return the column names of a simulated motion, since archive members cannot contain slashes."""
        from dynamis.simulation.files import npz_names

        if "note" not in named or archive.getinfo("note.npy").file_size > LARGEST_NOTE:
            return {}
        with archive.open("note.npy") as file, contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            columns = json.loads(str(np.lib.format.read_array(file, allow_pickle=False)))["columns"]
            if all(isinstance(name, str) for name in columns):
                return dict(zip(npz_names(columns), columns, strict=True))
        return {}

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        with contextlib.ExitStack() as stack:
            with self.reading("it changed while being read"):
                archive = stack.enter_context(zipfile.ZipFile(self.path))
                streams = {m.file: _Streams(stack, archive, m) for m, _ in (self._columns[x] for x in names)}
            size = rows_at_once(size, max(stream.row_bytes for stream in streams.values()))
            for start in range(0, self._count, size):
                count = min(size, self._count - start)
                with self.reading(f"its rows from {start} on are corrupt"):
                    read = {file: stream.rows(count) for file, stream in streams.items()}
                columns = [read[m.file][:, k] for m, k in (self._columns[x] for x in names)]
                yield Block(columns, start + np.arange(count))


class _Streams:
    """Sequential reader of one array. Fortran-ordered columns are read in parallel, each by its own stream."""

    def __init__(self, stack: contextlib.ExitStack, archive: zipfile.ZipFile, member: ArrayHeader) -> None:
        self.member = member
        length = member.shape[0]
        self.width = member.shape[1] if len(member.shape) == 2 else 1
        self.row_bytes = self.width * member.dtype.itemsize
        self.apart = member.fortran and self.width > 1
        starts = [k * length for k in range(self.width)] if self.apart else [0]
        self.files: list[IO[bytes]] = []
        for start in starts:
            file, zero = _opened(stack, archive, archive.getinfo(member.file))
            file.seek(zero + member.offset + start * member.dtype.itemsize)
            self.files.append(file)

    def rows(self, count: int) -> Array:
        """Return the next rows (count, k)."""
        each = count if self.apart else count * self.width
        parts = [self._numbers(file, each) for file in self.files]
        return np.stack(parts, axis=1) if self.apart else parts[0].reshape(count, self.width)

    def _numbers(self, file: IO[bytes], count: int) -> Array:
        numbers = np.empty(count, self.member.dtype)
        wanted = memoryview(numbers.view(np.uint8))  # type: ignore[arg-type]
        while wanted:
            read = file.readinto(wanted)  # type: ignore[attr-defined]
            if not read:
                raise EOFError(f"{self.member.file} ends early")
            wanted = wanted[read:]
        return numbers


def _opened(stack: contextlib.ExitStack, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[IO[bytes], int]:
    """Return a file to read a member from, and the offset of the member: large uncompressed ones are read directly from the
    archive's file."""
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size < SUMMED or archive.filename is None:
        return stack.enter_context(archive.open(info)), 0
    archive.open(info).close()  # raises if headers are inconsistent
    file = stack.enter_context(Path(archive.filename).open("rb", buffering=0))  # noqa: SIM115 - the stack closes it
    file.seek(info.header_offset)
    name, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
    return file, info.header_offset + LOCAL_HEADER.size + name + extra
