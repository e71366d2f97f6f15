"""Tables of arrays in .npz, HDF5 and MATLAB files, one row or column per sample, and in Parquet files; read in slices."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import struct
import zipfile
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import MissingExtraError, printable
from dynamis.files.limits import ArrayHeader, array_header, check_size
from dynamis.identification.logs.table import NUMBERS, Block, LogTable

Array = npt.NDArray[Any]
Reader = tuple[Callable[[int, int], Array], int]  # of the rows (N, k) from one to another, and the bytes of a row
TIMES = ("t", "time", "timestamp")
MOST_COLUMNS = 10_000  # per array; larger ones are not tables of signals
BLOCK_BYTES = 1 << 27  # per array, read at a time
LARGEST_NOTE = 1 << 22  # bytes
SUMMED = 1 << 26  # bytes: for larger arrays, verifying the checksum would dominate the run time
LOCAL_HEADER = struct.Struct("<26xHH")  # of a member: the lengths of its name and its extra field
HDF5 = b"MATLAB 7.3"
DEEPEST = 8  # nested structures


class ArrayTable(LogTable):
    """Arrays (N,) and (N, k) of a file; columns are those with as many rows as the time, or as most of them.

    Arrays (k, N), where N is the number of times and k is not, are transposed.
    """

    @abstractmethod
    def _readers(self, stack: contextlib.ExitStack, names: Sequence[str]) -> dict[str, Reader]:
        """Return a reader of each array, for consecutive slices; open files are closed by the stack."""

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        places = [self._places[x] for x in names]
        with contextlib.ExitStack() as stack:
            with self.reading("it cannot be read"):
                readers = self._readers(stack, list(dict(places)))
            # fewer rows at a time if they are long
            size = max(1, min(size, BLOCK_BYTES // max([1, *(width for _, width in readers.values())])))
            for start in range(0, self._count, size):
                stop = min(start + size, self._count)
                with self.reading(f"its rows from {start} on cannot be read"):
                    read = {name: rows(start, stop) for name, (rows, _) in readers.items()}
                yield Block([read[name][:, k] for name, k in places], np.arange(start, stop))

    def _choose(self, shapes: Mapping[str, tuple[int, ...]], word: str, cure: str = "") -> None:
        """Choose among arrays of these shapes, called ``word`` in messages; `_places` then maps columns to arrays."""
        times = [max(s) for name, s in shapes.items() if name.split("/")[-1].lower() in TIMES and max(s) == math.prod(s)]
        self._transposed = [name for name, s in shapes.items() if len(s) == 2 and s[0] not in times[:1] and s[1] in times[:1]]
        shapes = {name: s if name not in self._transposed else s[::-1] if s[0] > 1 else s[1:] for name, s in shapes.items()}
        wide = [f"{printable(name)} {s}" for name, s in shapes.items() if len(s) == 2 and s[1] > MOST_COLUMNS]
        shapes = {name: s for name, s in shapes.items() if len(s) == 1 or s[1] <= MOST_COLUMNS}
        lengths = Counter(s[0] for s in shapes.values())
        self._count = times[0] if times else lengths.most_common(1)[0][0] if lengths else 0
        self._places = {
            column: (name, k)
            for name, s in shapes.items()
            if s[0] == self._count
            for k, column in enumerate([name] if len(s) == 1 else [f"{name}[{k}]" for k in range(s[1])])
        }
        others = [f"{printable(name)} {s}" for name, s in shapes.items() if s[0] != self._count]
        reasons = [f"{word} whose length is not {self._count} are ignored: {', '.join(others[:12])}"] if others else []
        reasons += [f"{word} with more than {MOST_COLUMNS} columns are ignored: {', '.join(wide[:12])}"] if wide else []
        self._left_out = "; ".join(reasons)
        if not self._places:
            raise self.wrong(f"the file has no {word} with one row per sample{cure}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    @property
    def count(self) -> int:
        return self._count

    @property
    def left_out(self) -> str:
        return self._left_out

    @property
    def notes(self) -> tuple[str, ...]:
        names = ", ".join(map(printable, self._transposed[:12]))
        return (f"{self.label}: arrays with one column per sample are transposed: {names}",) if names else ()


class NpzTable(ArrayTable):
    """The arrays of an .npz archive, streamed: they are never loaded whole, and objects never unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file, self.reading("it is corrupt or not an .npz archive"), zipfile.ZipFile(file) as archive:
            named = {info.filename.removesuffix(".npy"): self._member(archive, info) for info in archive.infolist()}
            true_names = self._names_in_note(archive, named)
        self._arrays = {true_names.get(name, name): m for name, m in named.items() if m is not None and len(m.shape) in (1, 2)}
        self._choose({name: m.shape for name, m in self._arrays.items()}, "arrays", "; save t, q and tau with numpy.savez")
        for name in self._transposed:
            m = self._arrays[name]
            self._arrays[name] = replace(m, shape=m.shape[::-1], fortran=not m.fortran)

    def _member(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> ArrayHeader | None:
        """Return the description of an array from its header; None if it is not numeric."""
        if not info.filename.endswith(".npy"):
            return None
        header = array_header(archive, info)
        if header.dtype.hasobject:
            what = f"array {printable(header.name)} contains Python objects, which could execute code when read"
            raise self.wrong(f"{what}; save it as numbers: np.asarray(x, float)")
        if not header.fits:
            what = (
                f"array {printable(header.name)} has shape {header.shape}, which does not match its "
                f"{counted(info.file_size, 'byte')}"
            )
            raise self.wrong(f"{what}: the file is corrupt; write it again")
        return header if header.dtype.kind in NUMBERS + "M" else None

    @staticmethod
    def _names_in_note(archive: zipfile.ZipFile, named: dict[str, ArrayHeader | None]) -> dict[str, str]:
        """Return the column names of a simulated motion, since archive members cannot contain slashes."""
        if "note" not in named or archive.getinfo("note.npy").file_size > LARGEST_NOTE:
            return {}
        from dynamis.simulation.files import npz_names

        with archive.open("note.npy") as file, contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            columns = json.loads(str(np.lib.format.read_array(file, allow_pickle=False)))["columns"]
            if all(isinstance(name, str) for name in columns):
                return dict(zip(npz_names(columns), columns, strict=True))
        return {}

    def _readers(self, stack: contextlib.ExitStack, names: Sequence[str]) -> dict[str, Reader]:
        archive = stack.enter_context(zipfile.ZipFile(self.path))
        streams = {name: _Streams(stack, archive, self._arrays[name]) for name in names}
        return {name: (stream.rows, stream.row_bytes) for name, stream in streams.items()}


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

    def rows(self, start: int, stop: int) -> Array:
        """Return the next rows (stop − start, k)."""
        count = stop - start
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


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("HDF5 logs need h5py: pip install 'dynamis[logs]'") from None
    return h5py


class Hdf5Table(ArrayTable):
    """The datasets of an HDF5 file; "run/q[0]" is a column."""

    def __init__(self, path: Path, transposed: bool = False) -> None:
        h5py = _h5py()
        self.path, self.transposed = path, transposed  # matrices are stored as (k, N), and vectors as (1, N)
        shapes: dict[str, tuple[int, ...]] = {}

        def visit(name: str, item: Any) -> None:
            # external links and unreadable names are skipped
            if not isinstance(name, str) or not isinstance(item, h5py.Dataset) or item.external or item.is_virtual:
                return
            if item.dtype.kind in NUMBERS and item.ndim in (1, 2):
                if item.chunks is not None:  # the library decompresses whole chunks
                    bytes_of_chunk = math.prod(item.chunks) * item.dtype.itemsize
                    check_size(f"a chunk of {printable(name)} in {self.label}", bytes_of_chunk, path.stat().st_size)
                shapes[name] = _upright(item.shape) if self.transposed else item.shape

        path.open("rb").close()  # an unreadable file is not a corrupt one
        with self.reading("it is corrupt or not an HDF5 file"), h5py.File(path, "r") as file:
            file.visititems(visit)
        self._choose(shapes, "numeric datasets")

    def _readers(self, stack: contextlib.ExitStack, names: Sequence[str]) -> dict[str, Reader]:
        file = stack.enter_context(_h5py().File(self.path, "r"))

        def rows(item: Any, start: int, stop: int) -> Any:
            by_columns = self.transposed and item.shape[-1] != 1
            if item.ndim == 2 and by_columns != (item.name.lstrip("/") in self._transposed):
                return item[:, start:stop].T
            return item[start:stop].reshape(stop - start, -1)

        items = {name: file[name] for name in names}
        return {
            name: (functools.partial(rows, item), item.dtype.itemsize * item.size // max(1, self._count))
            for name, item in items.items()
        }


def _upright(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a MATLAB matrix; a row or a column is a vector.

    >>> _upright((6, 500)), _upright((1, 500)), _upright((500, 1))
    ((500, 6), (500,), (500,))
    """
    return shape if len(shape) == 1 else (max(shape),) if min(shape) == 1 else shape[::-1]


def mat_table(path: Path) -> ArrayTable:
    """Open a MATLAB file of any version; since 7.3 it is an HDF5 file, in which MATLAB stores a matrix by columns."""
    with path.open("rb") as file:
        newest = file.read(len(HDF5)) == HDF5
    return Hdf5Table(path, transposed=True) if newest else MatTable(path)


class MatTable(ArrayTable):
    """The variables of a MATLAB file, and the fields "run/q" of its structures."""

    def __init__(self, path: Path) -> None:
        from scipy.io import loadmat, whosmat

        self.path = path
        with self.reading("it is corrupt or not a MATLAB file"):
            wanted = sum(8 * int(np.prod(shape, dtype=float)) for _, shape, _ in whosmat(path))
            check_size(f"{self.label} declares variables that", wanted, path.stat().st_size)
            contents = loadmat(path, simplify_cells=True, verify_compressed_data_integrity=True)
        self._arrays = dict(_numeric("", contents, DEEPEST))
        self._choose({name: x.shape for name, x in self._arrays.items()}, "numeric variables", "; save t, q and tau")
        self._arrays.update({name: self._arrays[name].T for name in self._transposed})

    def _readers(self, _stack: contextlib.ExitStack, names: Sequence[str]) -> dict[str, Reader]:
        def rows(name: str, start: int, stop: int) -> Array:
            return self._arrays[name].reshape(self._count, -1)[start:stop]

        return {name: (functools.partial(rows, name), 1) for name in names}


def _numeric(folder: str, contents: Mapping[str, Any], levels: int) -> Iterator[tuple[str, Array]]:
    for name, value in contents.items():
        if name.startswith("__"):
            continue
        if isinstance(value, dict) and levels:
            yield from _numeric(f"{folder}{name}/", value, levels - 1)
        elif isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS and value.ndim in (1, 2):
            yield f"{folder}{name}", value


class ParquetTable(LogTable):
    """The numeric columns of a Parquet file; missing values become NaN."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise MissingExtraError("Parquet logs need pyarrow: pip install 'dynamis[logs]'") from None
        self.path = path
        path.open("rb").close()  # an unreadable file is not a corrupt one
        with self.reading("it is corrupt or not a Parquet file"), parquet.ParquetFile(path) as file:
            schema, self._count = file.schema_arrow, file.metadata.num_rows
            for k in range(file.num_row_groups):  # pages of a group are decompressed as a whole
                unpacked = file.metadata.row_group(k).total_byte_size
                check_size(f"row group {k} of {self.label}", unpacked, path.stat().st_size)
        kinds = pyarrow.types
        tests = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_timestamp)
        self._names = tuple(f.name for f in schema if any(test(f.type) for test in tests))
        others = [f.name for f in schema if f.name not in self._names]
        self._left_out = f"non-numeric columns are ignored: {', '.join(map(printable, others[:12]))}" if others else ""

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def count(self) -> int:
        return int(self._count)

    @property
    def left_out(self) -> str:
        return self._left_out

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        from pyarrow import parquet

        start = 0
        with self.reading("its rows are corrupt"), parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches(batch_size=size, columns=list(dict.fromkeys(names)), use_threads=False):
                arrays = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}
                arrays = {k: x if x.dtype.kind in NUMBERS + "M" else x.astype(float) for k, x in arrays.items()}
                yield Block([arrays[name] for name in names], start + np.arange(batch.num_rows))
                start += batch.num_rows
