"""Motions read back: every number exactly, what happened, what going on needs; and other files refused by name."""

import errno
import io
import json
import os
import zipfile
from importlib.util import find_spec

import numpy as np
import pytest
from small_machines import ball_joint, block, pendulum, turning

import dynamis as dy

ARM = dy.load("planar_2r_melchiorri")
TIP = ARM.link_names[-1]
NO_PYARROW = pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed: pip install 'dynamis[parquet]'")
SUFFIXES = ["npz", "csv", pytest.param("parquet", marks=NO_PYARROW)]


def law(_t, q, v):
    return -40.0 * (q - 0.5) - 8.0 * v


def pushed():
    return dy.simulate(ARM, 0.3, [0.3, 0.2], torque=[1.0, 2.0], wrenches={TIP: WRENCH}, points=7)


WRENCH = [1.0, 2.0, 0.0, 0.0, 0.0, 0.5]
MOTIONS = {
    "wrenches": (ARM, pushed),
    "sticking": (pendulum(coulomb=0.7), lambda: dy.simulate(pendulum(coulomb=0.7), 3.0, [1.2], points=31)),
    "quaternions": (ball_joint(), lambda: dy.simulate(ball_joint(), 0.3, points=7)),
    "odd names": (pendulum(name='left/"elbow", θ'), lambda: dy.simulate(pendulum(name='left/"elbow", θ'), 0.3, [0.5], points=7)),
    "a spring": (turning(rotor_inertia=0.3), lambda: dy.simulate(turning(rotor_inertia=0.3), 0.3, torque=[1.0], points=7,
                                                                 actuators={"axle": dy.Elastic(50.0)})),
    "stops": (dy.load("panda"), lambda: dy.simulate(dy.load("panda"), 0.5, [0, 0, 0, -1.5, 0, 1.5, 0], stops=dy.HardStops(), points=13)),
    "fixed steps": (ARM, lambda: dy.simulate(ARM, 0.1, friction="none", method="rk4", step=1e-2, points=7)),
}  # fmt: skip


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("case", MOTIONS)
def test_what_is_read_is_what_was_written(tmp_path, suffix, case):
    robot, make = MOTIONS[case]
    motion = make()
    read = dy.Trajectory.load(motion.save(tmp_path / f"motion.{suffix}"), robot)
    for name in ("t", "q", "v", "tau", "friction", "work"):
        assert np.array_equal(getattr(read, name), getattr(motion, name))
    assert read.wrenches.keys() == motion.wrenches.keys()
    assert read.actuator_states.keys() == motion.actuator_states.keys()
    for mapping in ("wrenches", "actuator_states"):
        for name, values in getattr(motion, mapping).items():
            assert np.array_equal(getattr(read, mapping)[name], values)
    assert (read.stop_torque is None) == (motion.stop_torque is None)
    if motion.stop_torque is not None:
        assert np.array_equal(read.stop_torque, motion.stop_torque)
    assert np.array_equal(read.energy_error, motion.energy_error)
    assert np.array_equal(read.acceleration, motion.acceleration)
    if suffix == "csv":
        assert "does not contain the final status" in read.status
    else:
        assert (read.status, read.events) == (motion.status, motion.events)
        assert dict(read.statistics) == dict(motion.statistics)


RESUMED = {
    "sticking": (pendulum(coulomb=0.7), {"q0": [1.2]}, 2.0),
    "bristles": (block(slope=0.1), {"v0": [0.3], "friction": {"slide": dy.LuGre(6.0, 8.0, 0.05, 2e3, 20.0)}}, 0.5),
    "a spring": (turning(rotor_inertia=0.3), {"torque": [1.0], "actuators": {"axle": dy.Elastic(50.0)}}, 1.0),
    "samples": (turning(), {"q0": [1.0], "controller": dy.Sampled(law, 20.0, 0.03, 1e-3, "differences")}, 1.0),
    "quaternions": (ball_joint(), {}, 0.5),
    "fixed steps": (ARM, {"q0": [0.3, 0.2], "friction": "none", "method": "rk4", "step": 1e-3}, 0.5),
}


@pytest.mark.parametrize("case", RESUMED)
def test_a_motion_from_npz_goes_on_as_if_it_had_stayed(tmp_path, case):
    robot, given, end = RESUMED[case]
    first = dy.simulate(robot, 0.37 * end, points=7, **given)
    read = dy.Trajectory.load(first.save(tmp_path / "motion.npz"), robot)
    later = {k: x for k, x in given.items() if k not in ("q0", "v0")}
    one, other = (dy.simulate(robot, end, resume=x, points=7, **later) for x in (first, read))
    for name in ("t", "q", "v", "tau", "work"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.events == other.events


def test_a_motion_from_csv_goes_on_where_nothing_is_hidden_and_says_so_elsewhere(tmp_path):
    robot = turning()
    first = dy.simulate(robot, 0.5, [1.0], controller=dy.Sampled(law, 20.0), points=7)
    read = dy.Trajectory.load(first.save(tmp_path / "motion.csv"), robot)
    with pytest.raises(dy.InputError, match=r"without the memory of a sampled controller.*\.npz"):
        dy.simulate(robot, 1.0, resume=read, controller=dy.Sampled(law, 20.0))
    with pytest.raises(dy.InputError, match=r"without the bristles"):
        dy.simulate(robot, 1.0, resume=read, friction={"axle": dy.LuGre(1, 1, 0.1, 1e3)})
    with pytest.raises(dy.InputError, match=r"no states of a drive at 'axle'"):
        dy.simulate(robot, 1.0, resume=read, actuators={"axle": dy.DCMotor(1.0, 1.0, inductance=1.0)})
    resumed = dy.simulate(robot, 1.0, resume=read, controller=law)
    assert resumed.t[-1] == 1.0


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_file_of_another_robot_is_refused(tmp_path, suffix):
    path = pushed().save(tmp_path / f"motion.{suffix}")
    others = [
        ARM.replace(gravity=(0, -1, 0)),
        ARM.replace(payload=dy.solids.sphere(0.1, mass=1.0)),
        pendulum(),
        dy.load("ur5e"),
    ]
    for other in others:
        with pytest.raises(dy.InputError, match=r"motion\.\w+' is not a motion of .*; give the"):
            dy.Trajectory.load(path, other)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_cut_and_foreign_files_are_refused_by_name(tmp_path, suffix):
    path = pushed().save(tmp_path / f"motion.{suffix}")
    whole = path.read_bytes()
    for damaged in (
        whole[: len(whole) // 2],
        b"",
        b"nothing of the kind",
        bytes(range(256)),
        whole[:40] + b"?" * 40 + whole[80:],
    ):
        path.write_bytes(damaged)
        with pytest.raises(dy.InputError, match=rf"motion\.{suffix}' is not a motion of 'planar"):
            dy.Trajectory.load(path, ARM)


def test_a_table_is_refused_for_what_is_missing_or_wrong_in_it(tmp_path):
    path = pushed().save(tmp_path / "motion.csv")
    header, *rows = path.read_text(encoding="utf-8").splitlines()

    def says(*lines):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with pytest.raises(dy.InputError) as refused:
            dy.Trajectory.load(path, ARM)
        return str(refused.value)

    assert "column 'q.joint1' is missing" in says(header.replace("q.joint1", "q.elbow"), *rows)
    assert "column 'work' is missing" in says(header.replace("work", "labour"), *rows)
    assert "row 3 has" in says(header, rows[0], rows[1][:20])
    assert "not a number" in says(header, rows[0].replace("0", "zero"))
    assert "not finite" in says(header, rows[0].replace(rows[0].split(",")[3], "nan", 1))
    assert "not increasing" in says(header, rows[1], rows[0])
    assert "equal length" in says(header)
    assert f"column 'wrench.{TIP}.mz' is missing" in says(header.replace(".mz", ".mw"), *rows)
    assert "the robot has no frame 'hook'" in says(header.replace(f"wrench.{TIP}", "wrench.hook"), *rows)


def _archive(path, **changes):
    """The same archive with other arrays in it; None leaves one out."""
    with np.load(path) as old:
        arrays = {**{k: old[k] for k in old.files}, **changes}
    np.savez(path, **{k: x for k, x in arrays.items() if x is not None})


def test_an_archive_is_refused_for_what_is_missing_or_wrong_in_it(tmp_path):
    motion = pushed()

    def refused(change):
        path = motion.save(tmp_path / "motion.npz")
        with np.load(path) as old:
            note = json.loads(str(old["note"]))
        _archive(path, **change(note))
        with pytest.raises(dy.InputError, match=r"motion\.npz' is not a motion of") as error:
            dy.Trajectory.load(path, ARM)
        return str(error.value)

    def noted(**changes):
        return lambda note: {"note": np.array(json.dumps({**note, **changes}))}

    assert "it has no 'note" in refused(lambda note: {"note": None})
    assert "it has no 'q.joint1" in refused(lambda note: {"q.joint1": None})
    assert "its format is not" in refused(noted(format="dynamis motion 99"))
    assert "those of another robot" in refused(noted(fingerprint="0"))
    assert "events cannot be read" in refused(noted(events=[{"when": 3}]))
    assert "its final state cannot be read" in refused(lambda note: {"at_stop.y": np.zeros(2)})
    assert "its final state cannot be read" in refused(lambda note: {"at_stop.y": None})
    assert "damaged" in refused(lambda note: {"note": np.array("{")})
    assert "damaged" in refused(noted(columns=3))
    assert "equal length" in refused(lambda note: {"t": np.zeros(3)})
    assert "equal length" in refused(lambda note: {"t": np.array(["a"] * 7)})


def test_nothing_in_an_archive_is_executed(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    path = pushed().save(tmp_path / "motion.npz")
    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("at_stop.trap.npy", stream.getvalue())
    with pytest.raises(dy.InputError, match="damaged or of another format"):
        dy.Trajectory.load(path, ARM)
    assert not (tmp_path / "sprung").exists()


def test_files_that_are_not_there_or_of_another_kind_are_refused(tmp_path):
    with pytest.raises(dy.InputError, match=r"nowhere.npz' cannot be read"):
        dy.Trajectory.load(tmp_path / "nowhere.npz", ARM)
    with pytest.raises(dy.InputError, match=r"must be \.npz, \.csv or \.parquet"):
        dy.Trajectory.load(tmp_path / "motion.json", ARM)
    with pytest.raises(dy.InputError, match="takes a file and its robot"):
        dy.Trajectory.load(tmp_path / "motion.npz", "panda")


@pytest.mark.parametrize("suffix", [*SUFFIXES, "json"])
def test_a_full_disk_leaves_the_old_file_and_no_half_one(tmp_path, monkeypatch, suffix):
    motion = pushed()
    path = motion.save(tmp_path / f"motion.{suffix}")
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(dy.InputError, match="cannot be written: No space left"):
        dy.simulate(ARM, 0.1).save(path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "motion.csv"
    try:
        link.symlink_to(tmp_path / "real" / "motion.csv")
    except OSError:
        pytest.skip("links cannot be made here")
    pushed().save(link)
    assert link.is_symlink()
    assert (tmp_path / "real" / "motion.csv").is_file()
