"""Tables in HDF5 files: every dataset with one row for each instant, by its path, read in slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.errors import MissingExtraError, printable
from dynamis.identification.logs.table import NUMBERS, Block, Table, matrix_names


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("HDF5 logs need h5py: pip install 'dynamis[logs]'") from None
    return h5py


class Hdf5Table(Table):
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
        times = [
            s[0] for name, s in shapes.items() if name.split("/")[-1].lower() in ("t", "time", "timestamp") and len(s) == 1
        ]
        lengths = Counter(s[0] for s in shapes.values())
        self._count = times[0] if times else lengths.most_common(1)[0][0] if lengths else 0
        self._columns = {
            column: (name, k if len(s) == 2 else None)
            for name, s in shapes.items()
            if s[0] == self._count
            for k, column in enumerate(matrix_names(name, s))
        }
        others = [f"{printable(name)} {s}" for name, s in shapes.items() if s[0] != self._count]
        self._left_out = (
            f"datasets of other lengths than {self._count} rows are left out: {', '.join(others[:12])}" if others else ""
        )
        if not self._columns:
            raise self.wrong("it holds no datasets of numbers with one row for each instant")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    @property
    def count(self) -> int:
        return self._count

    @property
    def left_out(self) -> str:
        return self._left_out

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        start = 0
        try:
            with _h5py().File(self.path, "r") as file:
                for start in range(0, self._count, size):
                    stop = min(start + size, self._count)
                    read = {name: file[name][start:stop] for name in dict.fromkeys(self._columns[x][0] for x in names)}
                    columns = [read[name] if k is None else read[name][:, k] for name, k in (self._columns[x] for x in names)]
                    yield Block(columns, np.arange(start, stop))
        except (OSError, RuntimeError, KeyError, ValueError) as error:
            raise self.wrong(f"its rows from {start} on cannot be read ({error}); write it again") from None
