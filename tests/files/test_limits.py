"""Small files that claim or unpack to much more are refused before memory is used, in every format; the limit can be raised."""

import io
import zipfile
from importlib.util import find_spec

import numpy as np
import pytest

import dynamis as dy
from dynamis import errors
from dynamis.files import limits
from dynamis.identification import read_log

ARM = dy.load("planar_2r_melchiorri")
ROWS = 20_000  # of zeros, which pack well
NEEDED = {"parquet": "pyarrow", "h5": "h5py"}


def packed_log(path):
    columns = {
        "t": np.arange(ROWS) / 100.0,
        "q1": np.zeros(ROWS),
        "q2": np.zeros(ROWS),
        "tau1": np.zeros(ROWS),
        "tau2": np.zeros(ROWS),
    }
    if path.suffix == ".npz":
        np.savez_compressed(path, **columns)
    elif path.suffix == ".parquet":
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(columns), path, compression="zstd")
    else:
        import h5py

        with h5py.File(path, "w") as file:
            for name, values in columns.items():
                file.create_dataset(name, data=values, compression="gzip", chunks=(ROWS,))
    return path


@pytest.mark.parametrize("suffix", ["npz", "parquet", "h5"])
def test_a_log_that_unpacks_to_more_than_the_limit_is_refused_unless_it_is_raised(tmp_path, monkeypatch, suffix):
    pytest.importorskip(NEEDED.get(suffix, "numpy"))
    path = packed_log(tmp_path / f"run.{suffix}")
    assert len(read_log(path, ARM)) == ROWS
    monkeypatch.setattr(limits, "MIN_COUNTED_BYTES", 1)
    monkeypatch.setattr(limits, "MAX_EXPANSION", 1)
    with pytest.raises(errors.InputError, match=r"in memory.*DYNAMIS_READ_LIMIT"):
        read_log(path, ARM)
    monkeypatch.setenv("DYNAMIS_READ_LIMIT", "1000000")
    assert len(read_log(path, ARM)) == ROWS
    monkeypatch.setenv("DYNAMIS_READ_LIMIT", "much")
    with pytest.raises(errors.InputError, match="is a number of bytes"):
        read_log(path, ARM)


@pytest.mark.parametrize(
    "suffix", ["npz", pytest.param("parquet", marks=pytest.mark.skipif(not find_spec("pyarrow"), reason="no pyarrow"))]
)
def test_a_motion_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch, suffix):
    path = dy.simulate(ARM, 0.2, [0.3, 0.2], points=200).save(tmp_path / f"motion.{suffix}")
    monkeypatch.setattr(limits, "MIN_COUNTED_BYTES", 1)
    monkeypatch.setattr(limits, "MAX_EXPANSION", 0.5)
    with pytest.raises(errors.InputError, match=r"motion\.\w+' takes .* in memory.*DYNAMIS_READ_LIMIT"):
        dy.Trajectory.load(path, ARM)


def test_an_array_of_a_motion_that_claims_a_larger_shape_is_refused_before_it_is_read(tmp_path):
    path = dy.simulate(ARM, 0.2, points=5).save(tmp_path / "motion.npz")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9,)})
    members["work.npy"] = header.getvalue() + bytes(40)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(errors.InputError, match="not have the number of bytes of its shape"):
        dy.Trajectory.load(path, ARM)


def test_a_chunk_of_hdf5_larger_than_the_limit_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file.create_dataset("t", (10,), "f8", maxshape=(None,), chunks=(10**8,))
    with pytest.raises(errors.InputError, match=r"a chunk of 't' .* takes 800 MB"):
        read_log(tmp_path / "run.h5", ARM)


def test_an_array_with_too_many_columns_is_left_out_and_named(tmp_path):
    np.savez(tmp_path / "run.npz", t=np.arange(4.0), q=np.zeros((4, 20_000)), tau=np.zeros((4, 2)))
    with pytest.raises(errors.InputError, match=r"more than 10000 columns are ignored: 'q' \(4, 20000\)"):
        read_log(tmp_path / "run.npz", ARM)


def test_what_is_quoted_from_a_file_cannot_act_on_a_terminal():
    assert errors.printable("q\x1b[2J\n\x9b") == r"'q\x1b[2J\n\x9b'"
    assert errors.printable(7) == "'7'"
    assert errors.printable(b"\xff\x00") == r"'b'\xff\x00''"
    assert str(errors.InputError("a \x1b]0;x\x07 b\nc \u202e")) == "a \\x1b]0;x\\x07 b\nc \\u202e"
    assert errors.reason_of(ValueError("one\ntwo\x1b")) == r"one two\x1b"
    assert errors.reason_of(EOFError()) == "EOFError"
    assert len(errors.reason_of(ValueError("x" * 10_000))) == 200
    assert str(errors.unknown_name("topic", "a", [b"\xff"])) == r"no topic named 'a'; there are: 'b'\xff''"


def recorded(compression):
    """An MCAP file of one chunk, and where its unpacked size stands."""
    writer_module = pytest.importorskip("mcap.writer", reason="writing MCAP files needs the mcap package")
    stream = io.BytesIO()
    writer = writer_module.Writer(stream, compression=getattr(writer_module.CompressionType, compression))
    writer.start()
    schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"")
    channel = writer.register_channel("/joint_states", "cdr", schema)
    for k in range(50):
        writer.add_message(channel, k, bytes(200), k)
    writer.finish()
    content = bytearray(stream.getvalue())
    place = 8
    while content[place] != 0x06:
        place += 9 + int.from_bytes(content[place + 1 : place + 9], "little")
    return content, place + 9 + 16


def refused(tmp_path, content, message):
    path = tmp_path / "run.mcap"
    path.write_bytes(content)
    with pytest.raises(errors.InputError, match=message):
        read_log(path, ARM)


@pytest.mark.parametrize("compression", ["NONE", "LZ4", "ZSTD"])
def test_a_chunk_of_a_bag_that_declares_gigabytes_is_refused(tmp_path, compression):
    content, at = recorded(compression)
    content[at : at + 8] = (8 * 10**9).to_bytes(8, "little")
    refused(tmp_path, content, r"the chunk at byte \d+ takes 8 GB in memory")


def test_a_frame_of_a_chunk_that_declares_gigabytes_is_refused(tmp_path):
    content, at = recorded("ZSTD")
    frame = content.index(b"\x28\xb5\x2f\xfd", at)
    # magic, descriptor with an 8-byte content size and no window, then that size
    content[frame + 4 : frame + 13] = bytes([0b11100000]) + (8 * 10**9).to_bytes(8, "little")
    refused(tmp_path, content, r"the chunk at byte \d+ takes 8 GB in memory")


def test_a_record_that_ends_beyond_the_file_is_damage(tmp_path):
    content, at = recorded("NONE")
    content[at - 24 : at - 16] = (2**62).to_bytes(8, "little")
    refused(tmp_path, content, r"ends beyond the file.*mcap recover")
