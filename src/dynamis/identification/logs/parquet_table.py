"""Parquet tables, read by row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dynamis.errors import MissingExtraError, printable
from dynamis.files.limits import check_size
from dynamis.identification.logs.table import NUMBERS, Block, LogTable


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
