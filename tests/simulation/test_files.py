"""Trajectories written and read back: every number exactly, whatever the joints are called."""

import csv
import json

import numpy as np
import pytest
from small_machines import ball_joint, pendulum

import dynamis as dy
from dynamis.simulation.files import columns
from dynamis.simulation.simulate import simulate

ODD_NAMES = ["θ, the first", 'say "elbow"', "left/elbow", "plain"]


def motion_of(name):
    return simulate(pendulum(name=name, coulomb=0.1), 0.3, [0.7], points=17)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_csv_gives_back_every_number_exactly(tmp_path, name):
    motion = motion_of(name)
    path = motion.save(tmp_path / "fall.csv")
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(columns(motion))
    assert f"q.{name}" in header
    table = np.array(rows, dtype=float)
    for k, values in enumerate(columns(motion).values()):
        assert np.array_equal(table[:, k], values)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_npz_gives_back_every_number_exactly_and_what_happened(tmp_path, name):
    motion = motion_of(name)
    with np.load(motion.save(str(tmp_path / "fall.npz"))) as read:
        assert np.array_equal(read[f"q.{name}".replace("/", "_")], motion.q[:, 0])
        assert np.array_equal(read["t"], motion.t)
        note = json.loads(str(read["note"]))
    assert (note["robot"], note["status"]) == ("pendulum", "completed")
    assert note["events"] == [{"time": e.time, "kind": e.kind, "joint": e.joint} for e in motion.events]
    assert note["columns"] == list(columns(motion))


def test_npz_keeps_columns_apart_whose_names_differ_by_a_slash(tmp_path):
    d = dy.load("planar_2r_melchiorri").description
    for joint, name in zip([j for j in d.joints if j.type != "fixed"], ("a/b", "a_b"), strict=True):
        joint.name = name
    motion = simulate(dy.Robot(d), 0.3, [0.1, 0.2], [1.0, 2.0], points=5)
    with np.load(motion.save(tmp_path / "fall.npz")) as read:
        assert np.array_equal(read["q.a_b"], motion.q[:, 0])
        assert np.array_equal(read["q.a_b_2"], motion.q[:, 1])


@pytest.mark.parametrize("name", ODD_NAMES)
def test_parquet_gives_back_every_number_exactly_and_what_happened(tmp_path, name):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: pip install 'dynamis[parquet]'")
    motion = motion_of(name)
    read = parquet.read_table(motion.save(tmp_path / "fall.parquet"))
    assert read.column_names == list(columns(motion))
    for column, values in columns(motion).items():
        assert np.array_equal(read[column].to_numpy(), values)
    assert json.loads(read.schema.metadata[b"dynamis"])["robot"] == "pendulum"


def test_wrenches_and_states_of_drives_are_columns_too():
    motion = simulate(pendulum(), 0.1, points=3, wrenches={"bob": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]},
                      actuators={"hinge": dy.Elastic(50.0, inertia=0.1)})  # fmt: skip
    table = columns(motion)
    assert [table[f"wrench.bob.{c}"][-1] for c in ("fx", "fy", "fz", "mx", "my", "mz")] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    for k in (0, 1):
        assert np.array_equal(table[f"actuator.hinge.{k}"], motion.actuator_states["hinge"][:, k])


def test_a_quaternions_numbers_are_columns_of_their_own():
    table = columns(simulate(ball_joint(), 0.1, points=3))
    assert [name for name in table if name.startswith("q")] == ["q.q[0]", "q.q[1]", "q.q[2]", "q.q[3]"]
    assert sum(name.startswith("v.") for name in table) == 3


@pytest.mark.parametrize("name", ["fall.xls", "fall", "fall.npz.txt"])
def test_other_suffixes_are_refused_with_those_there_are(tmp_path, name):
    with pytest.raises(dy.InputError, match=r"\.npz, \.csv or \.parquet"):
        motion_of("plain").save(tmp_path / name)


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet", "json"])
def test_a_place_that_cannot_be_written_is_refused_by_its_name(tmp_path, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'dynamis[parquet]'")
    with pytest.raises(dy.InputError, match=r"nowher.* cannot be written: "):
        motion_of("plain").save(tmp_path / "nowhere" / f"fall.{suffix}")


def test_a_table_has_accelerations_so_that_it_can_be_the_states_of_inverse_dynamics(tmp_path):
    arm = dy.load("planar_2r_melchiorri")
    motion = dy.simulate(arm, 0.2, points=11)
    motion.save(tmp_path / "fall.csv")
    table = np.genfromtxt(tmp_path / "fall.csv", delimiter=",", names=True, deletechars="")
    a = np.stack([table[f"a.{name}"] for name in arm.coordinate_names], axis=-1)
    assert np.allclose(arm.inverse_dynamics(motion.q, motion.v, a), motion.tau, atol=1e-9)
