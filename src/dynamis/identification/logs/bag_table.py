"""Joint states in ROS 2 bags as a table: one row per message, columns "stamp", "received", "position.NAME", …"""

from __future__ import annotations

import math
import re
import struct
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dynamis.display import counted
from dynamis.errors import DynamisError, InputError, MissingExtraError, printable, reason_of, unknown_name
from dynamis.files.limits import check_size
from dynamis.identification.logs.sqlite_file import Cell, SqliteError, SqliteFile, SqliteTable
from dynamis.identification.logs.table import Block, LogTable

FIELDS = ("position", "velocity", "effort")
LOOKED_AT = 200  # messages inspected for the publishers of the topic
KIND = "sensor_msgs/msg/JointState"
NEEDS = "ROS 2 bags need rosbags and mcap: pip install 'dynamis[logs]'"
SUFFIXES = (".db3", ".mcap")
Message = tuple[int, bytes]  # time of reception in ns, and serialized data
MAGIC, CHUNK = 8, 0x06  # bytes before the first record; opcode
HEADER = struct.Struct("<BQ")  # opcode and length of a record
SIZES = struct.Struct("<QQQII")  # of a chunk: first and last time, unpacked size, checksum, length of the compression's name
FRAME = 18  # bytes: the longest header of a Zstandard frame


class BagTable(LogTable):
    """The joint states of one topic. Of several publishers, the one with most of ``joints`` is used.

    Joints are matched by name in every message, in any order. Times are integers in ns: header stamps, or times of reception if
    the headers have none.
    """

    row_word = "message"

    def __init__(self, path: Path, topic: str | None = None, joints: Sequence[str] = ()) -> None:
        try:
            from rosbags.typesys import Stores, get_typestore
        except ImportError:
            raise MissingExtraError(NEEDS) from None
        self.path, self._files = path, files_of(path)
        self._types = get_typestore(Stores.ROS2_HUMBLE)
        self._topic = self._chosen_topic(topic)
        first = list(islice(self._states(), LOOKED_AT))
        if not first:
            raise self.wrong(f"topic {printable(self._topic)} has no messages")
        speakers = dict.fromkeys(tuple(state.name) for _, _, state in first)
        self._joints = max(speakers, key=lambda names: (len(set(names) & set(joints)), len(names)))
        ours = [state for _, _, state in first if tuple(state.name) == self._joints]
        if len(set(self._joints)) != len(self._joints):
            joints = ", ".join(map(printable, self._joints[:12]))
            raise self.wrong(f"topic {printable(self._topic)} repeats a joint in one message: {joints}")
        self._fields = [field for field in FIELDS if any(len(getattr(state, field)) == len(self._joints) for state in ours)]
        self._time = "stamp" if any(map(_nanoseconds, ours)) else "received"

    def _chosen_topic(self, wanted: str | None) -> str:
        topics = list(dict.fromkeys(topic for file in self._files for topic in opened(file).topics()))
        if wanted is not None:
            if wanted not in topics:
                raise self.wrong(f"{unknown_name(f'topic of {KIND}', wanted, topics)}")
            return wanted
        if len(topics) != 1:
            found = ", ".join(map(printable, topics)) or "none"
            cure = 'choose one in a mapping: [ros] topic = "…"' if topics else "record /joint_states"
            raise self.wrong(f"topics of {KIND}: {found}; {cure}")
        return topics[0]

    @property
    def names(self) -> tuple[str, ...]:
        return ("stamp", "received", *(f"{field}.{joint}" for field in self._fields for joint in self._joints))

    @property
    def left_out(self) -> str:
        return "" if "effort" in self._fields else "its messages have no effort, which the robot's driver must publish"

    @property
    def time_column(self) -> tuple[str, str]:
        return self._time, "ns"

    def _states(self) -> Iterator[tuple[int, int, Any]]:
        """Yield (number, time of reception, joint state) of every message of the topic."""
        number = 0
        for file in self._files:
            for received, data in opened(file).messages(self._topic):
                try:
                    state: Any = self._types.deserialize_cdr(data, KIND)
                except Exception as error:  # the library raises arbitrary exceptions on corrupt data
                    raise InputError(
                        f"{printable(str(file), 400)}: message {number} is corrupt ({type(error).__name__})"
                    ) from None
                yield number, received, state
                number += 1

    def blocks(self, names: Sequence[str], size: int) -> Iterator[Block]:
        states = self._heard()
        while batch := list(islice(states, size)):
            rows = np.array([number for number, _, _ in batch])
            yield Block([np.array(column) for column in zip(*(self._row(x, names) for x in batch), strict=True)], rows)

    def _heard(self) -> Iterator[tuple[int, int, Any]]:
        """Yield the messages with the required joints; others on the topic, such as a gripper's, are skipped."""
        ours = set(self._joints)
        for number, received, state in self._states():
            known = ours & set(state.name)
            if not known:
                continue
            if known != ours:
                missing = ", ".join(printable(x) for x in self._joints if x not in known)
                raise self.wrong(f"message {number} lacks {missing}, unlike others; record joint states with all joints")
            for field in self._fields:
                if len(getattr(state, field)) not in (0, len(state.name)):
                    what = (
                        f"message {number} has {counted(len(getattr(state, field)), 'value')} of {field} for "
                        f"{len(state.name)} joints"
                    )
                    raise self.wrong(f"{what}; others have one per joint")
            yield number, received, state

    def _row(self, message: tuple[int, int, Any], names: Sequence[str]) -> list[Any]:
        _, received, state = message
        at = {joint: k for k, joint in enumerate(state.name)}
        row: list[Any] = []
        for name in names:
            if name in ("stamp", "received"):
                row.append(_nanoseconds(state) if name == "stamp" else received)
            else:
                field, joint = name.split(".", 1)
                values = getattr(state, field)
                row.append(values[at[joint]] if len(values) else math.nan)  # drivers omit values that are not yet known
        return row


def _nanoseconds(state: Any) -> int:
    return int(state.header.stamp.sec) * 1_000_000_000 + int(state.header.stamp.nanosec)


def files_of(path: Path) -> list[Path]:
    """Return the files of a bag in the order they were written: the file itself, or those in a folder."""
    if not path.is_dir():
        return [path]
    files = [file for file in path.iterdir() if file.suffix in SUFFIXES]
    if not files:
        packed = [file.name for file in path.iterdir() if file.suffix == ".zstd"]
        hint = "; name the file of a log"
        if packed:
            hint = f"; {printable(packed[0])} is compressed: decompress it with ros2 bag convert"
        raise InputError(
            f"{printable(str(path), 400)} is a folder without .db3 or .mcap files{hint or '; name the file of a log'}"
        )
    # natural order: run_2 before run_10
    return sorted(files, key=lambda file: [(int(x) if x.isdigit() else 0, x) for x in re.split(r"(\d+)", file.stem)])


def opened(path: Path) -> _Sqlite | _Mcap:
    """Return a reader of a file of a bag."""
    return _Sqlite(path) if path.suffix == ".db3" else _Mcap(path)


def _damaged(path: Path, error: Exception, cure: str) -> InputError:
    if isinstance(error, FileNotFoundError | PermissionError):
        return InputError(f"{printable(str(path), 400)} cannot be read: {error.strerror}")
    return InputError(f"{printable(str(path), 400)} is corrupt or not a ROS 2 bag ({reason_of(error)}); {cure}")


def _check_encoding(path: Path, topic: str, encoding: Any) -> None:
    if encoding != "cdr":
        what = f"{printable(topic)} is serialised as {printable(encoding)}"
        raise InputError(f"{printable(str(path), 400)}: {what}; only 'cdr' is supported")


class _Sqlite:
    CURE = "record it again, or repair it with: ros2 bag reindex"

    def __init__(self, path: Path) -> None:
        self.path = path

    def topics(self) -> list[str]:
        with self._opened() as bag:
            rows = list(bag.table("topics").rows(("name", "type", "serialization_format")))
            found = [(name, form) for name, kind, form in rows if kind == KIND]
            for name, _ in found:
                if not isinstance(name, str):
                    raise SqliteError(f"the name of a topic is {printable(name)}, not text")
        for name, form in found:
            _check_encoding(self.path, name, form)
        return [name for name, _ in found]

    def messages(self, topic: str) -> Iterator[Message]:
        with self._opened() as bag:
            ids = {key for key, name in bag.table("topics").rows(("id", "name")) if name == topic}
            table = bag.table("messages")
            places = table.places(("timestamp", "data"))
            for cell in self._in_order(table, ids):
                received, data = table.values(cell, places)
                if not isinstance(data, bytes):
                    raise SqliteError(f"message {cell.rowid} contains {type(data).__name__}, not bytes")
                yield received, data

    @staticmethod
    def _in_order(table: SqliteTable, ids: set[Any]) -> Iterator[Cell]:
        """Yield the messages of these topics in order of reception."""
        keys, places = [array("q") for _ in range(4)], table.places(("topic_id", "timestamp"))
        for cell in table.cells():
            topic, received = table.values(cell, places)
            if topic not in ids:
                continue
            if not isinstance(received, int):
                raise SqliteError(f"the time of message {cell.rowid} is {printable(received)}, not an integer in nanoseconds")
            for key, number in zip(keys, (received, cell.rowid, cell.page, cell.at), strict=True):
                key.append(number)
        received, rowid, page, at = (np.frombuffer(key, dtype=np.int64) for key in keys)
        for k in np.lexsort((rowid, received)):
            yield Cell(int(rowid[k]), int(page[k]), int(at[k]))

    @contextmanager
    def _opened(self) -> Iterator[SqliteFile]:
        try:
            with SqliteFile(self.path) as bag:
                yield bag
        except (SqliteError, OSError) as error:
            raise _damaged(self.path, error, self.CURE) from None


class _Mcap:
    CURE = "repair it with: mcap recover"

    def __init__(self, path: Path) -> None:
        try:
            from mcap import reader
        except ImportError:
            raise MissingExtraError(NEEDS) from None
        self.path, self.reader = path, reader

    def topics(self) -> list[str]:
        with self._opened() as file:
            summary = self.reader.make_reader(file).get_summary()
            if summary is None or not summary.channels:
                return self._topics_found(file)
            kinds = {key: schema.name for key, schema in summary.schemas.items()}
            channels = [c for c in summary.channels.values() if kinds.get(c.schema_id) == KIND]
        for c in channels:
            _check_encoding(self.path, c.topic, c.message_encoding)
        return list(dict.fromkeys(c.topic for c in channels))

    def _topics_found(self, file: Any) -> list[str]:
        """Return the topics of a file without a summary, by scanning all messages."""
        file.seek(0)
        every = self.reader.NonSeekingReader(file, validate_crcs=True).iter_messages(log_time_order=False)
        return list(dict.fromkeys(c.topic for schema, c, _ in every if schema is not None and schema.name == KIND))

    def messages(self, topic: str) -> Iterator[Message]:
        with self._opened() as file:
            # in file order: sorting by time would hold all messages in memory
            reader = self.reader.NonSeekingReader(file, validate_crcs=True)
            for _, _, message in reader.iter_messages(topics=[topic], log_time_order=False):
                yield message.log_time, message.data

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with self.path.open("rb") as file:
                check_chunks(file, self.path.stat().st_size)
                yield file
        except DynamisError:
            raise
        except Exception as error:  # the library raises arbitrary exceptions on corrupt data
            raise _damaged(self.path, error, self.CURE) from None


def check_chunks(file: BinaryIO, size: int) -> None:
    """Raise `InputError` where a chunk would take more memory than a file of this size may, ValueError where it is cut off."""
    place = MAGIC
    while place + HEADER.size <= size - MAGIC:
        file.seek(place)
        opcode, length = HEADER.unpack(file.read(HEADER.size))
        if length > size - place - HEADER.size:
            raise ValueError(f"a record of {counted(length, 'byte')} at byte {place} ends beyond the file")
        if opcode == CHUNK and length > SIZES.size:
            *_, unpacked, _, name = SIZES.unpack(file.read(SIZES.size))
            compression = file.read(min(name, length)) if name else b""
            check_size(f"the chunk at byte {place}", max(unpacked, _frame_size(compression, file)), size)
        place += HEADER.size + length
    file.seek(0)


def _frame_size(compression: bytes, file: BinaryIO) -> int:
    """The size that a Zstandard frame itself declares, for which the library makes room; 0 where it declares none."""
    if compression != b"zstd":
        return 0
    import zstandard

    file.read(8)  # length of the packed records
    return max(0, zstandard.frame_content_size(file.read(FRAME)))
