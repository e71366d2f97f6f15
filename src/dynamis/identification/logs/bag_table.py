"""Joint states in ROS 2 bags as a table: one row per message, columns "stamp", "received", "position.NAME", …"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError, printable, unknown_name
from dynamis.identification.logs.bag_files import KIND, NEEDS, files_of, messages_of, topics_of
from dynamis.identification.logs.table import Block, LogTable

FIELDS = ("position", "velocity", "effort")
LOOKED_AT = 200  # messages inspected for the publishers of the topic


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
        topics = list(dict.fromkeys(topic for file in self._files for topic in topics_of(file)))
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
            for received, data in messages_of(file, self._topic):
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
                    what = f"message {number} has {len(getattr(state, field))} values of {field} for {len(state.name)} joints"
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
