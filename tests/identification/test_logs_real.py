"""Logs of real robots: read as they were published, with nothing found wrong."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from campaign_params import few_of
from real_logs import TX40, TX40_MAPPING, UR10, needs

import dynamis as dy
from dynamis.identification.logs import Mapping, examine, examine_torques, log_chunks, read_log


@pytest.mark.filterwarnings("ignore::dynamis.errors.ModelWarning")
def test_tx40_is_read_from_two_files_through_a_mapping():
    needs(TX40)
    robot = dy.load(TX40 / "tx40_mdh_modified.urdf")
    mapping = Mapping.parse(TX40_MAPPING)
    log = read_log(TX40, robot, mapping)
    assert log.q.shape == log.tau.shape == (45000, 6)
    assert log.side == "motor"
    assert log.q[0].tolist() == [3.1958e-05, 50.265, -70.685, 0.0, 0.0, -0.00028762]
    assert log.tau[1, 1] == -0.84434
    assert np.isclose(log.t[-1], 44999 / 5000)
    assert np.array_equal(np.concatenate([part.tau for part in log_chunks(TX40, robot, mapping, size=10_000)]), log.tau)
    assert examine(log, robot) == []
    R, zero = log.transmission["R"], log.transmission["zero"]
    at_joints = replace(log, q=log.q @ np.linalg.inv(R).T + zero, tau=log.tau @ R, side="joint")
    assert examine(at_joints, robot) == []


@pytest.mark.filterwarnings("ignore::dynamis.errors.ModelWarning")
def test_ur10_is_the_same_from_its_bag_and_its_archive():
    needs(UR10)
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    robot = dy.load(UR10 / "ur10_robot.urdf")
    bag, archive = (read_log(UR10 / f"ur10_exciting_trajectory.{suffix}", robot) for suffix in ("db3", "npz"))
    assert len(bag) == 3441
    for name in ("q", "v", "tau"):
        assert np.array_equal(getattr(bag, name), getattr(archive, name))
    assert np.allclose(bag.t, archive.t, rtol=0, atol=1e-14)
    assert np.array_equal(
        np.concatenate([p.q for p in log_chunks(UR10 / "ur10_exciting_trajectory.db3", robot, size=500)]), bag.q
    )
    assert examine(bag, robot) == []


@pytest.mark.filterwarnings("ignore::dynamis.errors.ModelWarning")
def test_ur10_agrees_with_its_model_and_mistakes_in_it_are_named():
    needs(UR10)
    robot = dy.load(UR10 / "ur10_robot.urdf")
    log = read_log(UR10 / "ur10_exciting_trajectory.npz", robot)
    samples = SimpleNamespace(t=log.t, q=log.q, v=log.v, a=np.gradient(log.v, log.t, axis=0), tau=log.tau, source="ur10")
    assert examine_torques(samples, robot) == []
    for joint, name in ((1, "shoulder_lift_joint"), (5, "wrist_3_joint")):
        samples.tau = log.tau * np.where(np.arange(6) == joint, -1.0, 1.0)
        (found,) = examine_torques(samples, robot)
        assert (found.severity, found.code, found.column) == ("error", "wrong sign", f"tau.{name}")
    samples.tau = log.tau[:, [0, 2, 1, 3, 4, 5]]
    (found,) = examine_torques(samples, robot)
    assert (found.code, found.column) == ("swapped", "tau.shoulder_lift_joint")


@pytest.fixture(scope="module")
def ur10():
    needs(UR10)
    robot = dy.load(UR10 / "ur10_robot.urdf")
    return robot, replace(read_log(UR10 / "ur10_exciting_trajectory.npz", robot), v=None, source="")


@pytest.fixture(scope="module")
def identified(ur10):
    """What is found of the log as it is."""
    return dy.identify(*ur10, compare=())


def test_nothing_is_found_wrong_with_the_log_of_the_ur10(identified):
    assert identified.log_findings == ()
    assert identified.verdict.about("masses") == ()


@pytest.mark.parametrize("late", few_of([5, -4], [5]), ids="{} rows late".format)
def test_torques_of_the_ur10_that_are_late_or_early_are_reported_with_the_correction(ur10, late):
    robot, log = ur10
    row = np.clip(np.arange(len(log)) - late, 0, len(log) - 1)
    found = dy.identify(robot, replace(log, tau=log.tau[row]), compare=())
    (finding,) = found.log_findings
    assert (finding.code, finding.caps) == ("delay", 2)
    assert finding.delay == pytest.approx(0.008 * late + 0.002, abs=0.0015)  # the recorded torques are 1 to 3 ms late
    assert "the residual on held-out motion is" in finding.text
    assert found.verdict.grade == "doubtful"


@pytest.mark.parametrize(("joint", "angle"), few_of([(1, -0.2), (2, 0.1), (2, -0.3)], [(2, 0.1)]))
def test_a_joint_zero_that_the_inertias_absorb_is_found_by_those_of_the_file(ur10, joint, angle):
    robot, log = ur10
    found = dy.identify(robot, replace(log, q=log.q + angle * np.eye(6)[joint]), compare=())
    (finding,) = found.log_findings
    assert np.flatnonzero(finding.zero).tolist() == [joint]
    assert finding.zero[joint] == pytest.approx(-angle, abs=0.02)
    assert "mm from that of the file instead of" in finding.text
    assert found.validation.held_out < 2.8  # 2.11 with the correct zero
    assert found.verdict.grade == "doubtful"


def test_a_joint_zero_that_neither_torques_nor_file_determine_is_not_reported(ur10):
    robot, log = ur10
    found = dy.identify(robot, replace(log, q=log.q + 0.3 * np.eye(6)[4]), compare=())
    assert found.log_findings == ()


def test_a_torque_of_another_scale_is_named_by_those_of_the_other_joints(ur10):
    robot, log = ur10
    found = dy.identify(robot, replace(log, tau=log.tau * np.array([1.0, 1.0, 2.0, 1.0, 1.0, 1.0])), compare=())
    (finding,) = found.log_findings
    assert (finding.code, finding.column, finding.caps) == ("wrong scale", log.column("tau", 2), 2)
    assert finding.factors == pytest.approx((1.0, 1.0, 2.0, 1.0, 1.0, 1.0), rel=0.06)


DEAD = [(3, slice(2000, None), -1.0), (2, slice(1000, 2000), 0.0)]


@pytest.mark.parametrize(("joint", "rows", "value"), few_of(DEAD, DEAD[:1]))
def test_rows_with_a_dead_torque_are_dropped_and_named(ur10, joint, rows, value):
    robot, log = ur10
    tau = log.tau.copy()
    tau[rows, joint] = value
    found = dy.identify(robot, replace(log, tau=tau), compare=())
    assert found.validation.held_out < 4.5
    last = len(log) if rows.stop is None else rows.stop
    words = (
        f"the torque of {robot.coordinate_names[joint]} is {value:g} from row {rows.start} to {last - 1} while the joint moves"
    )
    assert any(words in note for note in found.notes)


def test_the_file_of_a_similar_robot_is_doubted(ur10):
    """Upper arm and forearm of a UR10 are 1.44 and 1.46 times as long as those of a UR5e, which looks like another clock."""
    found = dy.identify("ur5e", replace(ur10[1], names=(), columns={}), compare=())
    (item,) = found.log_findings
    assert "links with 1.4" in item.cure
    assert "times the lengths of the file look the same: check that the file is of this robot" in item.cure
    assert found.verdict.grade == "doubtful"
