"""Opening of files as tables, by suffix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dynamis.errors import InputError, printable
from dynamis.identification.logs.bag_files import SUFFIXES as BAGS
from dynamis.identification.logs.bag_table import BagTable
from dynamis.identification.logs.csv_table import CsvTable
from dynamis.identification.logs.hdf5_table import Hdf5Table
from dynamis.identification.logs.mat_table import mat_table
from dynamis.identification.logs.npz_table import NpzTable
from dynamis.identification.logs.parquet_table import ParquetTable
from dynamis.identification.logs.table import LogTable

READERS: dict[str, Callable[[Path], LogTable]] = {
    **dict.fromkeys((".csv", ".txt", ".tsv", ".dat"), CsvTable),
    ".npz": NpzTable,
    ".mat": mat_table,
    **dict.fromkeys((".parquet", ".pq"), ParquetTable),
    **dict.fromkeys((".h5", ".hdf5", ".hdf"), Hdf5Table),
}
CURES = {
    ".npy": "save it with numpy.savez under names: t=…, q=…, tau=…",
    ".bag": "it is a ROS 1 bag: convert it to ROS 2 with rosbags-convert",
    ".zstd": "decompress it first, with zstd -d or ros2 bag convert",
    ".gz": "decompress it first, with gunzip",
    ".toml": "it is a mapping: pass it as the mapping, or alone",
}


def open_table(path: Path, topic: str | None = None, joints: Sequence[str] = ()) -> LogTable:
    """Open a file as a table; for a bag, the joint states of a topic."""
    try:
        if path.is_dir() or path.suffix in BAGS:
            path.stat()
            return BagTable(path, topic, joints)
        suffix = path.suffix.lower()
        if suffix not in READERS:
            known = ", ".join((*READERS, *BAGS))
            cure = CURES.get(suffix, f"unsupported format; supported are {known} and folders of ROS 2 bags")
            raise InputError(f"{printable(str(path), 400)}: {cure}")
        return READERS[suffix](path)
    except OSError as error:
        raise InputError(f"{printable(str(path), 400)} cannot be read: {error.strerror or error}") from None


class Tables:
    """The tables of one log, each opened once. ``main`` is the given file, None if a mapping names all files."""

    def __init__(self, given: Path, main: Path | None, topic: str | None, joints: Sequence[str]) -> None:
        self.main, self.topic, self.joints = main, topic, joints
        self.folder = given if given.is_dir() else given.parent
        self.opened: list[LogTable] = []
        self._paths: list[Path] = []

    def of(self, file: str | None) -> int:
        """Return the index of the table of a file named in the mapping, or of the main one."""
        if file is None and self.main is None:
            raise InputError('the mapping does not name the file of its columns; add file = "…", or pass the log as the path')
        path = self.folder / file if file is not None else self.main
        assert path is not None
        if path not in self._paths:
            self.opened.append(open_table(path, self.topic, self.joints))
            self._paths.append(path)
        return self._paths.index(path)
