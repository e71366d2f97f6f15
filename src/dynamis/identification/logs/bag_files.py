"""The messages in files of ROS 2 bags: SQLite (.db3) and MCAP, with or without the metadata.yaml beside them."""

from __future__ import annotations

import re
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from dynamis.errors import InputError, MissingExtraError, printable

KIND = "sensor_msgs/msg/JointState"
NEEDS = "ROS 2 bags need rosbags and mcap: pip install 'dynamis[logs]'"
SUFFIXES = (".db3", ".mcap")
Message = tuple[int, bytes]  # when it was received, in ns, and what it says


def files_of(path: Path) -> list[Path]:
    """The files of a bag in the order they were written: the file itself, or those in a folder."""
    if not path.is_dir():
        return [path]
    files = [file for file in path.iterdir() if file.suffix in SUFFIXES]
    if not files:
        packed = [file.name for file in path.iterdir() if file.suffix == ".zstd"]
        hint = f"; {printable(packed[0])} is compressed as a whole: ros2 bag convert unpacks it" if packed else ""
        raise InputError(f"{printable(str(path), 400)} is a folder without .db3 or .mcap files{hint}")
    # run_2 was written before run_10
    return sorted(files, key=lambda file: [(int(x) if x.isdigit() else 0, x) for x in re.split(r"(\d+)", file.stem)])


def topics_of(path: Path) -> list[str]:
    """The topics with joint states in a file of a bag."""
    return _Sqlite(path).topics() if path.suffix == ".db3" else _Mcap(path).topics()


def messages_of(path: Path, topic: str) -> Iterator[Message]:
    """The messages of a topic in a file of a bag, as they were received."""
    return _Sqlite(path).messages(topic) if path.suffix == ".db3" else _Mcap(path).messages(topic)


def _damaged(path: Path, error: object, cure: str) -> InputError:
    return InputError(f"{printable(str(path), 400)}: it is damaged, or no ROS 2 bag ({error}); {cure}")


class _Sqlite:
    CURE = "record it again, or repair it with: ros2 bag reindex"

    def __init__(self, path: Path) -> None:
        self.path = path

    def _open(self) -> sqlite3.Connection:
        # immutable: nothing is written beside a bag, not even a journal
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)

    def topics(self) -> list[str]:
        try:
            with closing(self._open()) as bag:
                found = bag.execute("SELECT name, serialization_format FROM topics WHERE type = ?", (KIND,)).fetchall()
        except (sqlite3.Error, ValueError) as error:
            raise _damaged(self.path, error, self.CURE) from None
        for name, form in found:
            if form != "cdr":
                raise InputError(
                    f"{printable(str(self.path), 400)}: {printable(name)} is serialised as {form!r}; only 'cdr' is read"
                )
        return [name for name, _ in found]

    def messages(self, topic: str) -> Iterator[Message]:
        query = (
            "SELECT messages.timestamp, messages.data FROM messages JOIN topics ON messages.topic_id = topics.id "
            "WHERE topics.name = ? ORDER BY messages.timestamp, messages.id"
        )
        try:
            with closing(self._open()) as bag:
                yield from bag.execute(query, (topic,))
        except (sqlite3.Error, ValueError) as error:
            raise _damaged(self.path, error, self.CURE) from None


class _Mcap:
    CURE = "repair it with: mcap recover"

    def __init__(self, path: Path) -> None:
        try:
            from mcap import exceptions, reader
        except ImportError:
            raise MissingExtraError(NEEDS) from None
        self.path, self.reader = path, reader
        self.refused = (
            exceptions.McapError,
            ValueError,
            EOFError,
            RuntimeError,
            OSError,
            OverflowError,
            MemoryError,
            struct.error,
        )

    def topics(self) -> list[str]:
        try:
            with self.path.open("rb") as file:
                summary = self.reader.make_reader(file).get_summary()
                if summary is None or not summary.channels:
                    return self._topics_found(file)
                kinds = {key: schema.name for key, schema in summary.schemas.items()}
                channels = [c for c in summary.channels.values() if kinds.get(c.schema_id) == KIND]
        except self.refused as error:
            raise _damaged(self.path, error or type(error).__name__, self.CURE) from None
        for c in channels:
            if c.message_encoding != "cdr":
                what = f"{printable(c.topic)} is serialised as {c.message_encoding!r}"
                raise InputError(f"{printable(str(self.path), 400)}: {what}; only 'cdr' is read")
        return list(dict.fromkeys(c.topic for c in channels))

    def _topics_found(self, file: Any) -> list[str]:
        """The topics of a file without a summary: all its messages are looked at."""
        file.seek(0)
        every = self.reader.NonSeekingReader(file, validate_crcs=True).iter_messages(log_time_order=False)
        return list(dict.fromkeys(c.topic for schema, c, _ in every if schema is not None and schema.name == KIND))

    def messages(self, topic: str) -> Iterator[Message]:
        try:
            with self.path.open("rb") as file:
                # in the order of the file: sorting by time would keep all of them in memory
                for _, _, message in self.reader.NonSeekingReader(file, validate_crcs=True).iter_messages(
                    topics=[topic], log_time_order=False
                ):
                    yield message.log_time, message.data
        except self.refused as error:
            raise _damaged(self.path, error or type(error).__name__, self.CURE) from None
