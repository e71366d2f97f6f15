"""Tables in HDF5, MATLAB and Parquet files: every array with one row per sample, read in slices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import MissingExtraError, printable
from dynamis.files.limits import check_size
from dynamis.identification.logs.table import NUMBERS, ArrayTable, Block, LogTable, rows_at_once

Array = npt.NDArray[Any]
HDF5 = b"MATLAB 7.3"
DEEPEST = 8  # nested structures


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("HDF5 logs need h5py: pip install 'dynamis[logs]'") from None
    return h5py


class Hdf5Table(ArrayTable):
    """The datasets (N,) and (N, k) with as many rows as the time, or as most of them; "run/q[0]" is a column."""

    transposed = False  # whether matrices are stored as (k, N), and vectors as (1, N)

    def __init__(self, path: Path) -> None:
        h5py = _h5py()
        self.path = path
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
        self._choose(shapes, "datasets")
        if not self._places:
            raise self.wrong("the file has no numeric datasets with one row per sample")

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        places = [self._places[x] for x in names]
        with self.reading("it cannot be read"), _h5py().File(self.path, "r") as file:
            widest = max(file[name].dtype.itemsize * file[name].size // max(1, self._count) for name in dict(places))
            size = rows_at_once(size, widest)
            for start in range(0, self._count, size):
                stop = min(start + size, self._count)
                with self.reading(f"its rows from {start} on cannot be read"):
                    read = {name: self._rows(file[name], start, stop) for name in dict(places)}
                columns = [read[name][:, k] for name, k in places]
                yield Block(columns, np.arange(start, stop))

    def _rows(self, item: Any, start: int, stop: int) -> Any:
        if self.transposed and item.ndim == 2:
            return item[start:stop] if item.shape[1] == 1 else item[:, start:stop].T
        return item[start:stop].reshape(stop - start, -1)


def _upright(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a MATLAB matrix; a row or a column is a vector.

    >>> _upright((6, 500)), _upright((1, 500)), _upright((500, 1))
    ((500, 6), (500,), (500,))
    """
    return shape if len(shape) == 1 else (max(shape),) if min(shape) == 1 else shape[::-1]


def mat_table(path: Path) -> ArrayTable:
    """Open a MATLAB file of any version."""
    with path.open("rb") as file:
        newest = file.read(len(HDF5)) == HDF5
    return _TransposedHdf5(path) if newest else MatTable(path)


class _TransposedHdf5(Hdf5Table):
    """Version 7.3: HDF5 datasets, in which MATLAB stores a matrix by columns."""

    transposed = True


class MatTable(ArrayTable):
    """The variables (N,), (N, k) and fields "run/q" with as many rows as the time, or as most of them."""

    def __init__(self, path: Path) -> None:
        from scipy.io import loadmat, whosmat

        self.path = path
        with self.reading("it is corrupt or not a MATLAB file"):
            wanted = sum(8 * int(np.prod(shape, dtype=float)) for _, shape, _ in whosmat(path))
            check_size(f"{self.label} declares variables that", wanted, path.stat().st_size)
            contents = loadmat(path, simplify_cells=True, verify_compressed_data_integrity=True)
        self._arrays = dict(_numeric("", contents, DEEPEST))
        self._choose({name: x.shape for name, x in self._arrays.items()}, "variables")
        if not self._places:
            raise self.wrong("the file has no numeric variables with one row per sample; save t, q and tau")

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        columns = [self._arrays[name].reshape(self._count, -1)[:, k] for name, k in (self._places[x] for x in names)]
        for start in range(0, self._count, size):
            stop = min(start + size, self._count)
            yield Block([x[start:stop] for x in columns], np.arange(start, stop))


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
