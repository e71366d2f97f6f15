"""MATLAB files: numeric variables and fields of structures with one row per sample. Files of version 7.3 are HDF5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.files.limits import check_size
from dynamis.identification.logs.hdf5_table import Hdf5Table
from dynamis.identification.logs.table import NUMBERS, ArrayTable, Block

Array = npt.NDArray[Any]
HDF5 = b"MATLAB 7.3"
DEEPEST = 8  # nested structures


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
