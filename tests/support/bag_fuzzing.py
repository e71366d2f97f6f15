"""Damaged bytes, and damaged ROS 2 bags of the joints of an arm."""

from __future__ import annotations

import functools
import io
import sqlite3
import struct
from contextlib import closing

import numpy as np

import dynamis as dy

ROWS = 24
KIND = "sensor_msgs/msg/JointState"


@functools.cache
def arm():
    return dy.load("planar_2r_melchiorri")


# -- bytes -------------------------------------------------------------------------------------------------------------------


def damaged(data, r):
    """Bytes with some flipped, cut, repeated, moved or replaced by extreme numbers."""
    data = bytearray(data)
    for _ in range(r.choice([1, 1, 1, 2, 4, 16])):
        at, size = r.randrange(len(data) + 1), r.choice([1, 1, 2, 4, 8, 64])
        match r.randrange(8):
            case 0:
                data[at : at + 1] = bytes([r.randrange(256)])
            case 1:
                data[at : at + 1] = bytes([data[at] ^ 1 << r.randrange(8)]) if at < len(data) else b""
            case 2:
                del data[r.randrange(len(data) + 1) :]
            case 3:
                del data[at : at + size]
            case 4:
                data[at:at] = data[at : at + size]
            case 5:
                data[at:at] = r.randbytes(size)
            case 6:
                number = r.choice([0, -1, 2**31 - 1, -(2**31), r.randrange(-(2**31), 2**31)])
                data[at : at + 4] = struct.pack(r.choice("<>") + "i", number)
            case 7:
                other = r.randrange(len(data) + 1)
                data[at : at + size] = data[other : other + size]
        data = data or bytearray(b"\0")
    return bytes(data)


@functools.cache
def joint_states():
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    return store, *(store.types[x] for x in (KIND, "std_msgs/msg/Header", "builtin_interfaces/msg/Time"))


def message(k, r):
    store, State, Header, Time = joint_states()
    names = list(arm().coordinate_names)
    if r.random() < 0.02:
        names = r.choice([names[:1], ["\x1b[2J", "x"], names[::-1], names * 2, []])
    x = np.full(len(names), float(k))
    effort = x if r.random() < 0.98 else x[:1]
    state = State(header=Header(stamp=Time(sec=k, nanosec=7), frame_id=""), name=names, position=x, velocity=x, effort=effort)
    data = bytes(store.serialize_cdr(state, KIND))
    return damaged(data, r) if r.random() < 0.01 else data


def db3(r, rng):
    with closing(sqlite3.connect(":memory:")) as bag:
        bag.execute(f"PRAGMA page_size = {r.choice([512, 1024, 4096])}")
        bag.execute(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL)"
        )
        bag.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL)"
        )
        odd = [b"\xff\x00", 7, 1.5, "", "\x1b[2J", "9" * 3000, "/other"]
        name, form = ("/joint_states", "cdr") if r.random() < 0.8 else (r.choice(odd), r.choice([*odd, "cdr"]))
        bag.execute("INSERT INTO topics VALUES (1, ?, ?, ?)", (name, KIND, form))
        rows = [[k + 1, 1, 10**9 * k, message(k, r)] for k in range(ROWS)]
        if r.random() < 0.3:
            rows[r.randrange(ROWS)][r.randrange(1, 4)] = r.choice(odd)
        bag.executemany("INSERT INTO messages VALUES (?, ?, ?, ?)", rows)
        if r.random() < 0.1:
            bag.execute("ALTER TABLE messages RENAME TO hidden")
            loop = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, 1 AS topic_id, x AS timestamp, x AS data FROM c"
            bag.execute(r.choice([f"CREATE VIEW messages AS {loop}", "CREATE VIEW messages AS SELECT * FROM hidden, hidden"]))
        bag.commit()
        return ".db3", bag.serialize()


def mcap(r, rng):
    from mcap.writer import CompressionType, Writer

    stream = io.BytesIO()
    writer = Writer(stream, chunk_size=r.choice([300, 100_000]), compression=r.choice(list(CompressionType)), use_chunking=r.random() < 0.8,
                    use_summary_offsets=r.random() < 0.8, repeat_schemas=r.random() < 0.7, repeat_channels=r.random() < 0.7)  # fmt: skip
    writer.start()
    schema = writer.register_schema(name=KIND, encoding="ros2msg", data=b"")
    channel = writer.register_channel(
        topic=r.choice(["/joint_states"] * 8 + ["\x1b[2J"]),
        message_encoding=r.choice(["cdr"] * 8 + ["x\x1b"]),
        schema_id=schema,
    )
    for k in range(ROWS):
        writer.add_message(channel, log_time=10**9 * k, publish_time=0, data=message(k, r))
    writer.finish()
    return ".mcap", stream.getvalue()
