"""Logs: every format gives the numbers that were written, whole or in stretches."""

import sys

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError, MissingExtraError
from dynamis.identification.logs import Log, Mapping, log_chunks, read_log
from dynamis.identification.signals.prepare import prepare

ARM = dy.load("planar_2r_melchiorri")
UR = dy.load("ur5e")
SIGNALS = ("t", "q", "v", "a", "tau", "current")


def run(robot=ARM, count=257, rate=100.0, start=0.0):
    rng = np.random.default_rng(3)
    t = start + np.arange(count) / rate
    return t, rng.normal(size=(count, robot.nq)), rng.normal(size=(count, robot.n)), rng.normal(size=(count, robot.n))


def same(a, b):
    assert (a.source, a.names, a.side, a.first_row, a.row_word, a.epoch) == (
        b.source,
        b.names,
        b.side,
        b.first_row,
        b.row_word,
        b.epoch,
    )
    assert [a.where(k) for k in (0, len(a) // 2, -1)] == [b.where(k) for k in (0, len(b) // 2, -1)] or a.rows is None
    for name in SIGNALS:
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        assert x is None or np.array_equal(x, y, equal_nan=True)


def together(parts):
    from dynamis.identification.logs.log import joined

    return joined(list(parts))


def csv_text(t, q, v, tau, delimiter=",", names=ARM.coordinate_names):
    header = ["t", *(f"{s}_{k + 1}" for s in ("q", "qd", "tau") for k in range(len(names)))]
    rows = np.column_stack([t, q, v, tau])
    return delimiter.join(header) + "\n" + "\n".join(delimiter.join(f"{x:.17g}" for x in row) for row in rows) + "\n"


def write_csv(path, *arrays):
    path.write_text(csv_text(*arrays))


def write_npz(path, t, q, v, tau):
    np.savez(path, t=t, q=q, v=np.asfortranarray(v), e=tau)


def write_npz_compressed(path, t, q, v, tau):
    np.savez_compressed(path, time=t, pos=q, vel=np.asfortranarray(v), effort=tau)


def write_parquet(path, t, q, v, tau):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    columns = {"t": t} | {
        f"{s}.{name}": x[:, k] for s, x in (("q", q), ("v", v), ("tau", tau)) for k, name in enumerate(ARM.coordinate_names)
    }
    parquet.write_table(pyarrow.table(columns), path, row_group_size=50)


def write_hdf5(path, t, q, v, tau):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(path, "w") as file:
        file["run/time"], file["run/q"], file["run/velocity"], file["run/torque"] = t, q, v, tau
        file["notes"] = np.arange(3)


def write_bag(
    folder, t, q, v, tau, storage="sqlite3", names=ARM.coordinate_names, stamped=True, gripper=False, topics=("/joint_states",)
):
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    State, Header, Time = (
        store.types[f"{x}"] for x in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        for topic in topics:
            connection = writer.add_connection(topic, State.__msgtype__, typestore=store)
            for k in range(len(t)):
                ns = round(t[k] * 1e9)
                order = np.roll(np.arange(len(names)), k)  # a sender may name its joints in any order
                stamp = Time(sec=ns // 10**9, nanosec=ns % 10**9) if stamped else Time(sec=0, nanosec=0)
                fields = {"position": q[k, order], "velocity": v[k, order], "effort": tau[k, order]}
                message = State(header=Header(stamp=stamp, frame_id=""), name=[names[i] for i in order], **fields)
                writer.write(connection, ns + (0 if not stamped else 5), store.serialize_cdr(message, State.__msgtype__))
                if gripper and k % 3 == 0:
                    other = State(
                        header=Header(stamp=stamp, frame_id=""),
                        name=["finger"],
                        position=np.zeros(1),
                        velocity=np.zeros(1),
                        effort=np.zeros(1),
                    )
                    writer.write(connection, ns + 6, store.serialize_cdr(other, State.__msgtype__))
    return folder


def write_db3(path, *arrays):
    (found,) = write_bag(path.with_suffix(""), *arrays).glob("*.db3")
    found.rename(path)


def write_mcap(path, *arrays):
    pytest.importorskip("mcap", reason="mcap is not installed")
    (found,) = write_bag(path.with_suffix(""), *arrays, storage="mcap").glob("*.mcap")
    found.rename(path)


FORMATS = {"csv": write_csv, "npz": write_npz, "parquet": write_parquet, "h5": write_hdf5, "db3": write_db3, "mcap": write_mcap}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("size", [1, 64, 65536])
def test_what_is_read_is_what_was_written_whole_and_in_stretches(tmp_path, suffix, size):
    arrays = run()
    path = tmp_path / f"run.{suffix}"
    FORMATS[suffix](path, *arrays)
    log = read_log(path, ARM)
    for name, written in zip(("t", "q", "v", "tau"), arrays, strict=True):
        assert np.array_equal(getattr(log, name), written)
    parts = list(log_chunks(path, ARM, size=size))
    assert [len(p) for p in parts[:-1]] == [size] * (len(parts) - 1)
    same(together(parts), log)


def test_compressed_archives_and_columns_stored_one_after_another_are_streamed(tmp_path):
    arrays = run(UR)
    write_npz_compressed(tmp_path / "run.npz", *arrays)
    log = read_log(tmp_path / "run.npz", UR)
    assert np.array_equal(log.v, arrays[2])
    assert np.array_equal(log.tau, arrays[3])
    same(together(log_chunks(tmp_path / "run.npz", UR, size=10)), log)


@pytest.mark.parametrize("suffix", [".npz", ".h5", ".mat"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("row", [False, True])
def test_arrays_with_one_column_per_sample_are_transposed_with_a_note(tmp_path, suffix, order, row):
    t, q, v, tau = run()
    given = {"t": t[None] if row else t, "q": np.asarray(q.T, order=order), "qd": v, "tau": np.asarray(tau.T, order=order)}
    path = tmp_path / f"run{suffix}"
    if suffix == ".npz":
        np.savez(path, **given)
    elif suffix == ".mat":
        pytest.importorskip("scipy.io").savemat(path, given)
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            for name, x in given.items():
                file[f"run/{name}"] = x
    log = read_log(path, ARM)
    for read, written in ((log.t, t), (log.q, q), (log.v, v), (log.tau, tau)):
        assert np.array_equal(read, written)
    assert np.array_equal(together(log_chunks(path, ARM, size=50)).q, q)
    (note,) = log.notes
    assert "one column per sample are transposed" in note
    assert "'q'" in note.replace("run/", "")
    assert "qd" not in note
    assert note in prepare(log, ARM, cutoff=10.0).notes


def test_square_arrays_are_not_transposed(tmp_path):
    t, q, _, tau = run(count=2)
    np.savez(tmp_path / "run.npz", t=t, q=q, tau=tau)
    log = read_log(tmp_path / "run.npz", ARM)
    assert np.array_equal(log.q, q)
    assert not log.notes


def test_no_archive_is_read_whole(tmp_path, monkeypatch):
    count = 20_000
    np.savez_compressed(tmp_path / "run.npz", t=np.arange(count) / 1e3, q=np.zeros((count, 2)), tau=np.ones((count, 2)))
    import dynamis.identification.logs.array_tables as table

    largest = []
    numbers = table._Streams._numbers
    monkeypatch.setattr(table._Streams, "_numbers", lambda self, file, n: largest.append(n) or numbers(self, file, n))
    assert sum(map(len, log_chunks(tmp_path / "run.npz", ARM, size=100))) == count
    assert max(largest) == 200


@pytest.mark.parametrize("suffix", ["npz", "csv", "parquet"])
@pytest.mark.parametrize("robot", [ARM, dy.load("panda")], ids=["arm", "panda"])
def test_simulated_motions_are_read_without_a_mapping(tmp_path, suffix, robot):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    motion = dy.simulate(robot, 0.2, torque=np.linspace(1.0, 2.0, robot.n), points=41)
    path = motion.save(tmp_path / f"motion.{suffix}")
    log = read_log(path, robot)
    for name in ("t", "q", "v", "tau"):
        assert np.array_equal(getattr(log, name), getattr(motion, name))
    same(together(log_chunks(path, robot, size=7)), log)


def test_simulated_motions_with_odd_names_and_quaternions_are_read(tmp_path):
    from small_machines import ball_joint, pendulum

    for k, robot in enumerate((pendulum(name='left/"elbow", θ'), ball_joint())):
        motion = dy.simulate(robot, 0.3, points=7)
        for suffix in ("npz", "csv"):
            log = read_log(motion.save(tmp_path / f"{k}.{suffix}"), robot)
            assert np.array_equal(log.q, motion.q)
            assert np.array_equal(log.tau, motion.tau)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "  "])
def test_the_delimiter_is_found(tmp_path, delimiter):
    arrays = run(count=5)
    (tmp_path / "run.csv").write_text(csv_text(*arrays, delimiter=delimiter))
    assert np.array_equal(read_log(tmp_path / "run.csv", ARM).q, arrays[1])


def test_comments_blank_lines_marks_and_line_ends_of_text_do_not_matter(tmp_path):
    arrays = run(count=5)
    lines = csv_text(*arrays).splitlines()
    lines[3:3] = ["# paused", ""]
    text = "\ufeff# made by a logger\n\n" + "\n".join(lines)
    (tmp_path / "run.csv").write_bytes(text.replace("\n", "\r\n").encode())
    log = read_log(tmp_path / "run.csv", ARM)
    assert np.array_equal(log.tau, arrays[3])
    assert [log.where(k) for k in (0, 1, 2, 4)] == [f"'run.csv' line {k}" for k in (4, 5, 8, 10)]
    assert log[2:].where(0) == "'run.csv' line 8"
    same(together(log_chunks(tmp_path / "run.csv", ARM, size=1)), log)


def test_names_may_stand_in_a_comment_as_numpy_writes_them(tmp_path):
    arrays = run(count=4)
    np.savetxt(tmp_path / "run.txt", np.column_stack(arrays), header="t q1 q2 v1 v2 tau1 tau2", fmt="%.17g")
    assert np.array_equal(read_log(tmp_path / "run.txt", ARM).tau, arrays[3])


def test_numbers_without_names_are_mapped_by_their_place(tmp_path):
    arrays = run(count=4)
    np.savetxt(tmp_path / "run.txt", np.column_stack(arrays), fmt="%.17g")
    mapping = Mapping.parse(
        '[time]\ncolumn="column_1"\n[position]\ncolumns=["column_2","column_3"]\n[torque]\ncolumns=["column_6","column_7"]'
    )
    log = read_log(tmp_path / "run.txt", ARM, mapping)
    assert np.array_equal(log.tau, arrays[3])
    assert log.v is None


def test_empty_cells_are_missing_numbers(tmp_path):
    (tmp_path / "run.csv").write_text("t,q1,q2,tau1,tau2\n0,1,2,3,4\n1,,2,nan,4\n")
    log = read_log(tmp_path / "run.csv", ARM)
    assert np.isnan(log.q[1, 0])
    assert np.isnan(log.tau[1, 0])
    assert log.q[1, 1] == 2.0


def test_units_in_headers_are_heeded(tmp_path):
    (tmp_path / "run.csv").write_text("time [ms],q1 [deg],q2 [deg],tau1 [mNm],tau2 (Nm)\n0,180,90,1000,2\n10,180,90,1000,2\n")
    log = read_log(tmp_path / "run.csv", ARM)
    assert np.allclose(log.t, [0.0, 0.01])
    assert np.allclose(log.q[0], [np.pi, np.pi / 2])
    assert np.allclose(log.tau[0], [1.0, 2.0])


def test_calendar_times_keep_their_nanoseconds(tmp_path):
    start = 1_700_000_000_123_456_789
    t = start + np.arange(50) * 200_000  # ns
    np.savez(tmp_path / "run.npz", timestamp_ns=t, q=np.zeros((50, 2)), tau=np.zeros((50, 2)))
    log = read_log(tmp_path / "run.npz", ARM)
    assert log.epoch == 1_700_000_000
    assert np.allclose(np.diff(log.t), 2e-4, rtol=0, atol=1e-15)
    same(together(log_chunks(tmp_path / "run.npz", ARM, size=7)), log)


def test_text_as_calendar_times_in_parquet_is_a_clock(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    t = np.array("2024-05-01T12:00:00.5", "M8[us]") + np.arange(5) * np.timedelta64(1000, "us")
    parquet.write_table(
        pyarrow.table(
            {"time": t, "q1": np.zeros(5), "q2": np.zeros(5), "tau1": np.ones(5), "tau2": np.ones(5), "note": ["a"] * 5}
        ),
        tmp_path / "run.parquet",
    )
    log = read_log(tmp_path / "run.parquet", ARM)
    assert np.allclose(log.t, 0.5 + np.arange(5) / 1e3, rtol=0, atol=1e-12)


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_a_folder_of_a_bag_is_read_with_and_without_its_metadata(tmp_path, storage):
    if storage == "mcap":
        pytest.importorskip("mcap", reason="mcap is not installed")
    arrays = run(count=30, start=1.7e9)
    folder = write_bag(tmp_path / "bag", *arrays, storage=storage, gripper=True)
    log = read_log(folder, ARM)
    assert np.array_equal(log.tau, arrays[3])
    assert np.allclose(np.diff(log.t), 0.01, atol=1e-6)
    (folder / "metadata.yaml").unlink()
    same(read_log(folder, ARM), log)
    same(together(log_chunks(folder, ARM, size=4)), log)


def test_bags_without_stamps_take_the_times_of_reception_and_ask_which_topic(tmp_path):
    arrays = run(count=10, start=1.0)
    folder = write_bag(tmp_path / "bag", *arrays, stamped=False)
    assert np.array_equal(read_log(folder, ARM).t, arrays[0])
    two = write_bag(tmp_path / "two", *arrays, topics=("/left", "/right"))
    with pytest.raises(InputError, match=r"'/left', '/right'; choose one in a mapping"):
        read_log(two, ARM)
    assert len(read_log(two, ARM, Mapping.parse('[ros]\ntopic = "/left"'))) == 10
    with pytest.raises(InputError, match="did you mean '/left'"):
        read_log(two, ARM, Mapping.parse('[ros]\ntopic = "/lefd"'))


def test_joints_of_a_bag_that_the_robot_does_not_have_are_shown_with_a_mapping_to_fill_in(tmp_path):
    folder = write_bag(tmp_path / "bag", *run(count=10), names=("a", "b"))
    with pytest.raises(InputError, match=r"(?s)no columns of position.*position\.a.*order = \[\"joint1\""):
        read_log(folder, ARM)
    mapping = Mapping.parse(
        '[position]\npattern="position.{name}"\n[torque]\ncolumns=["effort.b", "effort.a"]\n'.replace("{name}", "{name}")
    )
    with pytest.raises(InputError, match=r"no column named 'position\.joint1'"):
        read_log(folder, ARM, mapping)


def test_a_split_bag_is_read_in_the_order_it_was_written(tmp_path):
    arrays = run(count=30)
    folder = tmp_path / "bag"
    folder.mkdir()
    for k, at in ((2, slice(0, 15)), (10, slice(15, 30))):
        write_db3(folder / f"run_{k}.db3", *(x[at] for x in arrays))
        next(folder.glob(f"run_{k}/*.yaml")).unlink()
        (folder / f"run_{k}").rmdir()
    assert np.array_equal(read_log(folder, ARM).q, arrays[1])


def test_a_log_knows_its_places_and_is_cut_by_slices():
    t, q, v, tau = run(count=20)
    log = Log(t, q, tau, v=v, names=ARM.coordinate_names, source="run.csv", first_row=2, row_word="line")
    part = log[5:15]
    assert len(part) == 10
    assert part.where(0) == "'run.csv' line 7"
    assert log[::2][1:].where(1) == "'run.csv' line 6"
    assert np.array_equal(part.v, v[5:15])
    assert repr(log) == "<Log 'run.csv': 20 samples of 2 joints, 0.19 s at 100 Hz; q, v, tau>"
    assert log.column("tau", 1) == "tau.joint2"
    with pytest.raises(InputError, match="slices"):
        log[3]
    with pytest.raises(InputError, match=r"v has shape \(3, 2\)"):
        Log(t, q, tau, v=v[:3])
    with pytest.raises(InputError, match="choose 'joint' or 'motor'"):
        Log(t, q, tau, side="left")


def test_an_empty_slice_is_an_empty_log():
    t, q, _, tau = run(count=20)
    assert len(Log(t, q, tau)[5:5]) == 0


def test_lists_are_taken_as_arrays():
    log = Log([0.0, 0.1], [[1], [2]], [[3], [4]], v=[[5], [6]])
    assert log.tau.dtype == float
    assert log.n == 1


@pytest.mark.parametrize(
    ("suffix", "library"), [("h5", "h5py"), ("parquet", "pyarrow"), ("db3", "rosbags.typesys"), ("mcap", "mcap")]
)
def test_what_is_not_installed_is_named_with_its_extra(tmp_path, monkeypatch, suffix, library):
    if suffix == "mcap":
        pytest.importorskip("rosbags", reason="rosbags is not installed")
    monkeypatch.setitem(sys.modules, library, None)
    (tmp_path / f"run.{suffix}").write_bytes(b"anything")
    with pytest.raises(MissingExtraError, match=r"pip install 'dynamis\[logs\]'"):
        read_log(tmp_path / f"run.{suffix}", ARM)


@pytest.mark.parametrize("period", [-1.0, 0.0, float("nan"), float("inf"), "x", True])
def test_the_period_of_a_log_is_a_time(period, tmp_path):
    (tmp_path / "run.csv").write_text("q1,q2,tau1,tau2\n0.1,0.2,5,1\n0.11,0.19,5,1\n")
    with pytest.raises(dy.InputError, match="must be a time in s above zero"):
        dy.identification.read_log(tmp_path / "run.csv", dy.load("planar_2r_melchiorri"), period=period)
