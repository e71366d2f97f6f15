"""HDF5 tables: every dataset with one row per sample, by its path, read in slices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.errors import MissingExtraError, printable
from dynamis.files.limits import check_size
from dynamis.identification.logs.table import NUMBERS, ArrayTable, Block, rows_at_once


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
