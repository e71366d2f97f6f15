"""Tables in HDF5 files: every dataset with one row for each instant, by its path, read in slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.errors import MissingExtraError
from dynamis.identification.logs.table import NUMBERS, ArrayTable, Block


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("HDF5 logs need h5py: pip install 'dynamis[logs]'") from None
    return h5py


class Hdf5Table(ArrayTable):
    """The datasets (N,) and (N, k) that have as many rows as the times, or as most of them; "run/q[0]" is a column."""

    def __init__(self, path: Path) -> None:
        h5py = _h5py()
        self.path = path
        shapes: dict[str, tuple[int, ...]] = {}

        def visit(name: str, item: Any) -> None:
            # what lies in another file is not read, nor what has no readable name
            if not isinstance(name, str) or not isinstance(item, h5py.Dataset) or item.external or item.is_virtual:
                return
            if item.dtype.kind in NUMBERS and item.ndim in (1, 2):
                shapes[name] = item.shape

        try:
            with h5py.File(path, "r") as file:
                file.visititems(visit)
        except (OSError, RuntimeError, KeyError, ValueError) as error:
            raise self.wrong(f"it is damaged, or no HDF5 file ({error}); write it again") from None
        self._choose(shapes, "datasets")
        if not self._places:
            raise self.wrong("it holds no datasets of numbers with one row for each instant")

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        start = 0
        try:
            with _h5py().File(self.path, "r") as file:
                for start in range(0, self._count, size):
                    stop = min(start + size, self._count)
                    places = [self._places[x] for x in names]
                    read = {name: file[name][start:stop].reshape(stop - start, -1) for name in dict(places)}
                    columns = [read[name][:, k] for name, k in places]
                    yield Block(columns, np.arange(start, stop))
        except (OSError, RuntimeError, KeyError, ValueError) as error:
            raise self.wrong(f"its rows from {start} on cannot be read ({error}); write it again") from None
