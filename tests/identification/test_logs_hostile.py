"""Files that are damaged, foreign or meant to harm are refused by name, with what to do."""

import io
import pickle
import zipfile

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.logs import log_chunks, read_log

ARM = dy.load("planar_2r_melchiorri")
HEAD = "t,q1,q2,tau1,tau2\n"
ROW = "0,1,2,3,4\n"


def refused(path, match):
    for read in (read_log, lambda path, robot: list(log_chunks(path, robot, size=3))):
        with pytest.raises(InputError, match=match):
            read(path, ARM)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no line of numbers"),
        ("# nothing but words\n\n", "no line of numbers"),
        (HEAD, "has no samples"),
        (HEAD + ROW * 4 + "ERROR\n", "line 6 has 1 cell for 5 columns"),
        (HEAD + ROW * 4 + "4,1,2\n", "line 6 has 3 cells for 5 columns"),
        (HEAD + ROW * 9 + "4,1,2,3,4,5\n" + ROW, "line 11 has 6 cells for 5 columns"),
        (HEAD + ROW * 2 + "2,x,2,3,4\n", "line 4, column 'q1' contains 'x', which is not a number"),
        ("t;q1;q2;tau1;tau2\n0.5;1,5;2;3;4\n", r"line 2, column 'q1' has a decimal comma, '1,5'; use decimal points, '1\.5'"),
        ("0.5;1,5;2;3;4\n", "line 1 has a decimal comma"),
        (HEAD + "0,0,1,5,2,5,3,5,4,5\n", "twice as many numbers as there are columns, typical of decimal commas"),
        ("t,q1,q1,tau1,tau2\n" + ROW, "repeats the column name 'q1'"),
        ("t," + "x" * (1 << 20) + "\n", "line 1 is longer than"),
        (HEAD + "0," + "1" * (1 << 21), "line 2"),
        ("a,b\n0,1\n", r"(?s)no columns of position.*\[time\]"),
        ("q1,q2,tau1,tau2\n1,2,3,4\n", "no time column was recognised, and no rate"),
        ("t,q1,q2,pos1,pos2,tau1,tau2\n0,1,2,3,4,5,6\n", "the position is ambiguous: 'q1', 'q2' or 'pos1', 'pos2'"),
        ("t,q1,q2,current1,current2\n0,1,2,3,4\n", "drive gains in N m/A"),
        ("t,q1,q2,q3,tau1,tau2\n0,1,2,3,4,5\n", "no columns of position"),
    ],
)
def test_text_that_is_no_log_is_refused_by_line_and_column(tmp_path, text, match):
    (tmp_path / "run.csv").write_text(text)
    refused(tmp_path / "run.csv", match)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"t,q1,q2,tau1,t\x81u\n", "line 1 is not UTF-8"),
        (b"t,q1,q2,tau1,t\xe4u\x07\n", "line 1 is not UTF-8"),
        ((HEAD + ROW).encode() + b"1,\xff,2,3,4\n", "line 3, column 'q1' contains 'ÿ', which is not a number"),
        ((HEAD + ROW).encode("utf-16-le"), "line 1 contains zero bytes"),
        (bytes(range(256)) * 40, "line 1 contains zero bytes"),
    ],
)
def test_text_in_other_encodings_is_refused(tmp_path, data, match):
    (tmp_path / "run.csv").write_bytes(data)
    refused(tmp_path / "run.csv", match)


def archive(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            out.writestr(f"{name}.npy", data)


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def claiming(shape):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(800)


def good():
    return {"t": npy(np.arange(100.0)), "q": npy(np.zeros((100, 2))), "tau": npy(np.ones((100, 2)))}


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"q": npy(np.array([Bomb()] * 100, object))}, "array 'q' contains Python objects"),
        ({"extra": pickle.dumps(Bomb())}, "corrupt or not an .npz archive"),
        ({"q": claiming((10**12, 2))}, r"has shape \(1000000000000, 2\)"),
        ({"q": claiming((-1, 2))}, r"has shape \(-1, 2\)"),
        ({"q": npy(np.zeros((2, 99)))}, r"(?s)no columns of position.*'q' \(2, 99\)"),
        ({"q": npy(np.zeros((100, 2)))[:-9]}, "has shape"),
        ({"q": b"\x93NUMPY\x01\x00\xff\xff{" + b"9" * 65534}, "corrupt"),
        ({"q": npy(np.array(["a"] * 100))}, "no columns of position"),
        ({"q": npy(np.zeros((100, 2), complex))}, "no columns of position"),
    ],
)
def test_archives_that_lie_or_hold_objects_are_refused(tmp_path, changed, match):
    archive(tmp_path / "run.npz", **(good() | changed))
    refused(tmp_path / "run.npz", match)


def test_archives_cut_short_are_refused_wherever_they_were_cut(tmp_path):
    archive(tmp_path / "whole.npz", **good())
    data = (tmp_path / "whole.npz").read_bytes()
    for end in (0, 10, len(data) // 2, len(data) - 5):
        (tmp_path / "run.npz").write_bytes(data[:end])
        refused(tmp_path / "run.npz", "corrupt or not an .npz archive")


def test_flipped_bits_in_an_archive_are_noticed(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "run.npz", t=np.arange(100.0), q=rng.normal(size=(100, 2)), tau=rng.normal(size=(100, 2)))
    data = bytearray((tmp_path / "run.npz").read_bytes())
    at = data.index(b"q.npy") + 600
    data[at] ^= 0xFF
    (tmp_path / "run.npz").write_bytes(data)
    refused(tmp_path / "run.npz", "corrupt")


def test_a_log_that_memory_cannot_hold_is_read_in_stretches_only(tmp_path, monkeypatch):
    import os

    archive(tmp_path / "run.npz", **good())
    monkeypatch.setattr(os, "sysconf", lambda name: 50)
    with pytest.raises(InputError, match=r"declares 100 rows.*log_chunks"):
        read_log(tmp_path / "run.npz", ARM)
    assert sum(map(len, log_chunks(tmp_path / "run.npz", ARM))) == 100


def test_hdf5_that_claims_what_it_does_not_hold_is_refused_before_it_is_tried(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(tmp_path / "run.h5", "w") as file:
        for name, shape in (("t", (10**11,)), ("q", (10**11, 2)), ("tau", (10**11, 2))):
            file.create_dataset(name, shape, float, chunks=True)
    with pytest.raises(InputError, match="declares 100000000000 rows"):
        read_log(tmp_path / "run.h5", ARM)


@pytest.mark.parametrize("suffix", ["parquet", "h5", "db3", "mcap", "npz"])
@pytest.mark.parametrize(
    "data", [b"", b"\x00" * 4096, b"PAR1nothingPAR1", b"SQLite format 3\x00" + b"\x01" * 2000, b"\x89MCAP0\r\n\x03\xff"]
)
def test_foreign_bytes_are_refused_in_every_format(tmp_path, suffix, data):
    pytest.importorskip({"h5": "h5py", "parquet": "pyarrow", "npz": "numpy"}.get(suffix, "rosbags"))
    pytest.importorskip("mcap")
    (tmp_path / f"run.{suffix}").write_bytes(data)
    refused(tmp_path / f"run.{suffix}", "corrupt or not|topics of sensor_msgs")


def test_cut_and_changed_bags_are_refused(tmp_path):
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    pytest.importorskip("mcap", reason="mcap is not installed")
    import sqlite3

    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    State, Header, Time = (
        store.types[x] for x in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )

    def write(folder, plugin, names=lambda k: list(ARM.coordinate_names)):
        with Writer(folder, version=9, storage_plugin=plugin) as writer:
            connection = writer.add_connection("/joint_states", State.__msgtype__, typestore=store)
            for k in range(400):
                two = np.full(len(names(k)), float(k))
                message = State(
                    header=Header(stamp=Time(sec=k, nanosec=1), frame_id=""),
                    name=names(k),
                    position=two,
                    velocity=two,
                    effort=two,
                )
                writer.write(connection, k, store.serialize_cdr(message, State.__msgtype__))
        return next(file for file in folder.iterdir() if file.suffix in (".db3", ".mcap"))

    mcap = write(tmp_path / "one", StoragePlugin.MCAP)
    whole = mcap.read_bytes()
    mcap.write_bytes(whole[: len(whole) // 2])
    refused(mcap, "corrupt.*mcap recover")
    db3 = write(tmp_path / "two", StoragePlugin.SQLITE3)
    with sqlite3.connect(db3) as bag:
        bag.execute("UPDATE messages SET data = ? WHERE id = 7", (b"\x00\x01\x00\x00\xff\xff\xff\xff",))
    bag.close()
    refused(db3, "message 6 is corrupt")
    some = write(tmp_path / "three", StoragePlugin.SQLITE3, lambda k: list(ARM.coordinate_names)[: 1 if k == 350 else 2])
    refused(some, "message 350 lacks 'joint2'")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"folder without \.db3 or \.mcap")


def test_files_that_are_not_there_or_not_read_are_named(tmp_path):
    for name, match in (("no.csv", "cannot be read: No such file"), ("no.db3", "cannot be read"), ("a.npy", "numpy.savez"),
                        ("a.bag", "rosbags-convert"), ("a.xyz", "supported are .csv")):  # fmt: skip
        with pytest.raises(InputError, match=match):
            read_log(tmp_path / name, ARM)
    with pytest.raises(InputError, match=r"load one with dynamis\.load"):
        read_log(tmp_path / "a.csv", "ur5e")
    with pytest.raises(InputError, match="size=0"):
        log_chunks(tmp_path / "a.csv", ARM, size=0)
