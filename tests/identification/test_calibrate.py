"""Calibration: unknowns of geometry and sensors from poses and torques, what is identifiable, and the file written."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from spoiled_logs import simulated, three_joints

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.errors import InputError
from dynamis.identification import Poses, Unknown, calibrate
from dynamis.identification.calibration_rows import Extended, PoseRows
from dynamis.identification.nonlinear import solve
from dynamis.spatial.rotation import from_rpy, to_quaternion, to_rpy
from dynamis.tolerances import RECURSION_ROUNDING

ZERO = np.array([0.03, -0.02, 0.015])


@pytest.fixture(scope="module")
def measured():
    """A robot as believed, the real one, its joint zeros, and 40 noisy poses in a frame of the tracker."""
    believed = three_joints()
    description = believed.description
    elbow = description.joint("joint2")
    elbow.origin = dy.Pose(elbow.origin.R, elbow.origin.p + np.array([0.0, 0.0, 0.004]))
    real = dy.Robot(description)
    base = dy.Pose(from_rpy([0.3, -1.0, 2.0]), np.array([1.0, 2.0, 0.5]))
    q = believed.random(0, size=40)
    poses = base.matrix() @ real.pose(q + ZERO)
    poses[:, :3, 3] += 1e-4 * np.random.default_rng(1).normal(size=(40, 3))
    return believed, real, base, q, poses


@pytest.fixture(scope="module")
def found(measured):
    believed, _, _, q, poses = measured
    return calibrate(believed, Poses.of(q, poses[:, :3, 3]))


def test_a_calibrated_file_predicts_poses_that_were_not_measured(measured, found, tmp_path):
    believed, real, base, *_ = measured
    written = found.write(tmp_path / "better.urdf")
    q = believed.random(7, size=50)
    apart = found.base.matrix() @ dy.load(written.path).pose(q) - base.matrix() @ real.pose(q + ZERO)
    assert written.difference < 1e-14
    assert np.abs(apart[:, :3, 3]).max() < 3e-4
    assert found.after[0] < 3e-4 < 0.005 < found.before[0]


def test_intervals_contain_the_truth_and_what_the_base_and_tool_absorb_keeps_its_value(found):
    truth = {"zero.joint1": ZERO[1], "length.joint2.z": 0.004}
    for name, value in truth.items():
        low, high = found.intervals[name]
        assert low - 0.5 * (high - low) < value < high + 0.5 * (high - low), name
        assert high - low < 2e-3
    # a turn of the first joint is one of the base, one of the last joint moves the tool; only the position was measured
    assert {"zero.joint0", "zero.joint2", "length.joint0.z", "tool.rz"} <= set(found.unidentifiable)
    assert found.values["zero.joint0"] == 0.0


def test_the_zero_of_the_first_joint_is_identifiable_if_the_base_is_known(measured):
    believed, real, _, q, _ = measured
    known = calibrate(believed, Poses.of(q, real.pose(q + ZERO)), ["zero", "length"])
    assert np.allclose([known.values[f"zero.joint{k}"] for k in range(3)], ZERO, atol=1e-9)
    assert known.values["length.joint2.z"] == pytest.approx(0.004, abs=1e-9)


def test_priors_bounds_and_frozen_unknowns_hold(measured):
    believed, real, _, q, _ = measured
    poses = Poses.of(q, real.pose(q + ZERO))
    unknowns = [
        Unknown("zero", "joint0", upper=0.01),
        Unknown("zero", "joint1", sigma=1e-9),
        Unknown("zero", "joint2", prior=0.001, frozen=True),
    ]
    values = calibrate(believed, poses, unknowns).values
    assert values["zero.joint0"] == 0.01
    assert values["zero.joint1"] == pytest.approx(0.0, abs=1e-4)
    assert values["zero.joint2"] == 0.001


def test_zeros_gains_and_delays_follow_from_torques_with_free_masses():
    zero = np.array([0.0, 0.2, 0.0])
    robot, log = simulated("three joints", 3, seconds=8.0, zero=zero)
    late = dy.identification.Log(log.t, log.q, np.roll(log.tau, 5, axis=0), names=log.names)  # 20 ms
    kinds = [Unknown("zero", "joint1"), Unknown("delay", upper=0.1, lower=-0.1), Unknown("zero", "joint2")]
    found = calibrate(robot, late, kinds, folds=2)
    assert found.values["zero.joint1"] == pytest.approx(0.2, abs=5 * found.errors["zero.joint1"])
    assert found.values["delay"] == pytest.approx(0.02, abs=0.002)
    assert found.unidentifiable == ("zero.joint2",)  # the last link's masses absorb it
    assert (found.after < found.before).all()
    assert np.allclose(found.robot.pose([0, 0, 0]), robot.pose([0, found.values["zero.joint1"], 0]))


def test_a_length_and_a_user_defined_unknown_follow_from_torques():
    robot, log = simulated("three joints", 4, seconds=8.0)
    description = robot.description
    description.joint("joint2").origin = dy.Pose.translation([0.0, 0.0, 0.3])  # 0.4 in truth
    wrong = dy.Robot(description)

    def stretched(motion, value):
        from dataclasses import replace

        return replace(motion, tau=motion.tau * np.array([1.0, 1.0, 1.0 + value]))

    found = calibrate(wrong, log, [Unknown("length", "joint2", "z"), Unknown("scale", change=stretched)], folds=2)
    assert found.values["length.joint2.z"] == pytest.approx(0.1, abs=0.02)
    assert abs(found.values["scale"]) < 0.05


def test_nonlinear_least_squares_agrees_with_scipy():
    from scipy.optimize import least_squares

    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 3.0, 60)
    y = 2.0 * np.exp(-0.7 * t) + 0.3 + 0.01 * rng.normal(size=60)

    def rows(theta):
        return np.column_stack([np.exp(-theta[0] * t), np.ones(60)]), y

    own = solve(rows, [Unknown("rate", prior=0.1)], group=np.zeros(60, int), block=np.arange(60))
    other = least_squares(lambda x: y - x[1] * np.exp(-x[0] * t) - x[2], [0.1, 1.0, 0.0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert np.allclose([own.values[0], *own.beta], other.x, atol=1e-6)
    covariance = np.linalg.inv(other.jac.T @ other.jac) * 2.0 * other.cost / 57
    assert own.errors[0] == pytest.approx(np.sqrt(covariance[0, 0]), rel=0.4)  # of blocks: noisier than that of white noise


def test_poses_are_read_from_a_table(measured, tmp_path):
    believed, _, _, q, poses = measured
    quaternions = np.array([to_quaternion(R) for R in poses[:, :3, :3]])
    table = np.column_stack([q, poses[:, :3, 3], quaternions])
    np.savetxt(tmp_path / "poses.csv", table, delimiter=",", header="q1,q2,q3,x,y,z,qx,qy,qz,qw", comments="")
    read = Poses.read(tmp_path / "poses.csv", believed)
    assert np.allclose(read.rotation, poses[:, :3, :3])
    assert np.allclose(read.position, poses[:, :3, 3])


@pytest.mark.parametrize(
    ("unknowns", "words"),
    [
        (["zeros"], "zeros"),
        ([Unknown("length", "joint1", "q")], "expected x, y, z"),
        ([Unknown("zero", "elbow")], "elbow"),
        (["gain"], "gain"),
        (["zero", Unknown("zero", "joint1")], "twice"),
        ([Unknown("mine", change=lambda m, x: m)], "torques"),
    ],
)
def test_invalid_unknowns_are_named(measured, unknowns, words):
    believed, _, _, q, poses = measured
    with pytest.raises((InputError, dy.DynamisError), match=words):
        calibrate(believed, Poses.of(q, poses), unknowns)


def test_invalid_poses_and_priors_are_named(measured):
    with pytest.raises(InputError, match=r"\(N, 3\), \(N, 7\) or \(N, 4, 4\)"):
        Poses.of(np.zeros((5, 3)), np.zeros((5, 4)))
    with pytest.raises(InputError, match="has 2 joints"):
        calibrate(measured[0], Poses.of(np.zeros((5, 2)), np.zeros((5, 3))))
    with pytest.raises(InputError, match="within its bounds"):
        Unknown("zero", "elbow", prior=1.0, upper=0.5)


def test_wrong_units_and_too_few_poses_are_refused(measured):
    believed, _, _, q, poses = measured
    with pytest.raises(InputError, match="are they in mm"):
        calibrate(believed, Poses.of(q, 1000.0 * poses[:, :3, 3]))
    with pytest.raises(InputError, match="are they in degrees"):
        calibrate(believed, Poses.of(np.rad2deg(q), poses[:, :3, 3]))
    with pytest.raises(InputError, match="too few for"):
        calibrate(believed, Poses.of(q[:5], poses[:5, :3, 3]))


def test_an_outlier_is_named_and_no_worse_file_is_written(measured, tmp_path):
    believed, _, _, q, poses = measured
    position = poses[:, :3, 3] + 0.3 * np.eye(40)[7][:, None]
    assert calibrate(believed, Poses.of(q, position)).pose_errors.argmax() == 7
    believed.write(tmp_path / "arm.toml")
    np.savetxt(tmp_path / "poses.csv", np.column_stack([q, position]), delimiter=",", header="q1,q2,q3,x,y,z", comments="")
    files = [str(tmp_path / name) for name in ("arm.toml", "poses.csv")]
    result = CliRunner().invoke(cli, ["calibrate", *files, "--unknowns", "base,tool", "--out", str(tmp_path / "out.urdf")])
    assert result.exit_code == 1
    assert "pose 8 has the largest error" in " ".join(result.output.split())
    assert not (tmp_path / "out.urdf").exists()


def test_the_command_prints_position_and_orientation_of_the_base(measured, found, tmp_path):
    believed, _, _, q, poses = measured
    believed.write(tmp_path / "arm.toml")
    np.savetxt(
        tmp_path / "poses.csv", np.column_stack([q, poses[:, :3, 3]]), delimiter=",", header="q1,q2,q3,x,y,z", comments=""
    )
    result = CliRunner().invoke(cli, ["calibrate", *(str(tmp_path / name) for name in ("arm.toml", "poses.csv"))])
    output = " ".join(result.output.split())
    assert "original file calibrated" in output
    names = ("x", "y", "z", "roll", "pitch", "yaw")
    printed = np.array([re.search(rf" base\.{name} (\S+) (\S+)", output).groups() for name in names], float)
    assert np.allclose(printed[:3, 0], found.base.p, rtol=1e-3)
    assert np.allclose(from_rpy(printed[3:, 0]), found.base.R, atol=1e-3)
    assert np.allclose(printed[:, 1], [0.5 * (high - low) for low, high in found.base_intervals.values()], rtol=0.1)
    assert "base.rx" not in output  # relative to a pose that is not shown
    assert f"base in the measuring frame [m, rad]: x {found.base.p[0]:.6g} ± " in str(found)
    assert "base.rx" not in str(found)
    machine = CliRunner().invoke(cli, ["calibrate", *(str(tmp_path / name) for name in ("arm.toml", "poses.csv")), "--json"])
    unknowns = {x["name"]: x for x in json.loads(machine.stdout)["unknowns"]}
    assert unknowns["base.yaw"]["value"] == pytest.approx(to_rpy(found.base.R)[2])
    assert unknowns["base.yaw"]["interval"] == pytest.approx(found.base_intervals["yaw"], rel=1e-6)


def test_intervals_of_the_base_contain_its_true_pose_as_often_as_they_say(measured):
    _, real, base, q, _ = measured
    rng, truth = np.random.default_rng(3), [*base.p, 0.3, -1.0, 2.0]
    inside = []
    for _ in range(30):
        X = base.matrix() @ real.pose(q + ZERO)
        X[:, :3, 3] += 1e-4 * rng.normal(size=(40, 3))
        spans = calibrate(real, Poses.of(q + ZERO, X[:, :3, 3]), ["base"], folds=2).base_intervals
        inside.append([low < x < high for x, (low, high) in zip(truth, spans.values(), strict=True)])
    assert 0.85 < np.mean(inside) <= 0.99


def test_an_error_of_the_base_that_the_poses_do_not_show_is_not_given(measured):
    """The tool takes precedence; a turn of the base about the first axis cannot be told from the zero of the first joint."""
    believed, real, _, q, _ = measured
    X = real.pose(q + ZERO)[:, :3, 3] + 1e-4 * np.random.default_rng(5).normal(size=(40, 3))
    found = calibrate(believed, Poses.of(q, X), ["zero", "base"])
    assert "base.rz" in found.unidentifiable
    assert np.isnan(found.base_intervals["yaw"]).all()
    assert np.isfinite(found.base_intervals["x"]).all()


def test_errors_below_rounding_are_not_printed_as_zero(measured, tmp_path):
    believed, real, _, q, _ = measured
    believed.write(tmp_path / "arm.toml")
    table = np.column_stack([q, real.pose(q + ZERO)[:, :3, 3]])
    np.savetxt(tmp_path / "poses.csv", table, delimiter=",", header="q1,q2,q3,x,y,z", comments="")
    files = [str(tmp_path / name) for name in ("arm.toml", "poses.csv")]
    output = " ".join(CliRunner().invoke(cli, ["calibrate", *files, "--unknowns", "zero,length"]).output.split())
    assert re.search(r"zero\.joint1 -0\.02 < 1e-12 ", output)


@pytest.mark.parametrize("names", [("joint0", "joint1"), ("q1", "q2")])
def test_the_column_that_lacks_is_named_and_its_joint_can_be_locked(measured, names, tmp_path):
    believed, real, _, q, _ = measured
    believed.write(tmp_path / "arm.toml")
    q = q.copy()
    q[:, 2] = 0.4
    table = np.column_stack([q[:, :2], real.pose(q)[:, :3, 3] + 1e-5 * np.random.default_rng(4).normal(size=(40, 3))])
    np.savetxt(tmp_path / "poses.csv", table, delimiter=",", header=",".join([*names, "x", "y", "z"]), comments="")
    files = [str(tmp_path / name) for name in ("arm.toml", "poses.csv")]
    with pytest.raises(InputError, match=rf"has no column '{names[0][:-1]}\d'; expected {names[0]}"):
        Poses.read(files[1], believed)
    result = CliRunner().invoke(cli, ["calibrate", *files, "--unknowns", "base"])
    assert result.exit_code == 2
    words = " ".join(result.output.split())
    assert f"has no column '{'joint2' if names[0] == 'joint0' else 'q3'}'" in words
    assert "--lock joint2=VALUE" in words
    out = ["--out", str(tmp_path / "out.toml")]
    locked = CliRunner().invoke(cli, ["calibrate", *files, "--unknowns", "base,tool", "--lock", "joint2=0.4", *out])
    assert locked.exit_code == 0, locked.output
    assert "fixed in the file at the positions of --lock: 'joint2'" in locked.output
    wrong = CliRunner().invoke(cli, ["calibrate", *files, "--lock", "joint2"])
    assert "--lock takes a joint and its position" in " ".join(wrong.output.split())


@pytest.mark.parametrize(
    ("moves", "message"), [(True, "are they the positions of the moving frame"), (False, "same joint positions")]
)
def test_poses_that_do_not_move_are_refused(moves, message):
    robot = dy.load("ur5e")
    q = robot.random(0, size=40) if moves else np.zeros((40, 6))
    with pytest.raises(InputError, match=message):
        calibrate(robot, Poses.of(q, np.zeros((40, 3))))


def test_one_pose_far_off_is_named_in_an_accepted_calibration_and_can_be_left_out(measured, tmp_path):
    believed, _, _, q, poses = measured
    position = poses[:, :3, 3] + 0.04 * np.eye(40)[7][:, None]
    found = calibrate(believed, Poses.of(q, position))
    assert found.outliers == (7,)
    believed.write(tmp_path / "arm.toml")
    np.savetxt(tmp_path / "poses.csv", np.column_stack([q, position]), delimiter=",", header="q1,q2,q3,x,y,z", comments="")
    call = ["calibrate", str(tmp_path / "arm.toml"), str(tmp_path / "poses.csv"), "--unknowns", "base,tool,zero"]
    result = CliRunner().invoke(cli, call)
    assert result.exit_code == 0
    assert "pose 8 by 0.0" in " ".join(result.output.split())
    assert "--leave-out 8" in " ".join(result.output.split())
    result = CliRunner().invoke(cli, [*call, "--leave-out", "8"])
    assert result.exit_code == 0
    assert "leave" not in result.output
    assert "from 1 to 40" in CliRunner().invoke(cli, [*call, "--leave-out", "41"]).stderr


def test_clean_poses_have_no_outliers(found):
    assert found.outliers == ()


def test_units_in_the_names_of_columns_are_read(measured, tmp_path):
    believed, _, _, q, poses = measured
    table = np.column_stack([np.degrees(q), 1e3 * poses[:, :3, 3]])
    head = "q1 [deg],q2 [deg],q3 [deg],x [mm],y [mm],z [mm]"
    np.savetxt(tmp_path / "poses.csv", table, delimiter=",", header=head, comments="")
    read = Poses.read(tmp_path / "poses.csv", believed)
    assert np.allclose(read.q, q)
    assert np.allclose(read.position, poses[:, :3, 3])
    np.savetxt(tmp_path / "poses.csv", table, delimiter=",", header=head.replace("x [mm]", "x [deg]"), comments="")
    with pytest.raises(InputError, match=r"'x \[deg\]' has a unit of angle"):
        Poses.read(tmp_path / "poses.csv", believed)


SOFT = np.array([0.0, 2e-4, 3e-4])  # rad/(N m)


def test_compliances_of_the_joints_are_found_from_poses_under_gravity():
    robot = three_joints()
    q = robot.random(3, size=60)
    rng = np.random.default_rng(4)
    real = q.copy()
    for _ in range(50):  # the links rest where the springs carry their weight
        real = q - SOFT * robot.gravity(real)
    tracked = robot.pose(real)
    tracked[:, :3, 3] += 2e-5 * rng.normal(size=(60, 3))
    found = calibrate(robot, Poses.of(q, tracked), ["zero", "compliance"])
    for k in (1, 2):
        low, high = found.intervals[f"compliance.joint{k}"]
        assert found.values[f"compliance.joint{k}"] == pytest.approx(SOFT[k], rel=0.05)
        assert high - low < 0.1 * SOFT[k]
    # no torque of gravity acts about the vertical
    assert "compliance.joint0" in found.unidentifiable
    assert found.after[0] < 5e-5 < 1e-3 < found.before[0]


def test_a_base_far_away_is_aligned_before_the_first_step():
    robot = three_joints()
    q, place = robot.random(5, size=20), dy.Pose(from_rpy([0.4, -1.1, 2.5]), [3.0, -2.0, 1.0])
    unknowns = [Unknown("base", axis=axis) for axis in ("x", "y", "z", "rx", "ry", "rz")]
    rows = PoseRows(Extended(robot, unknowns, None), Poses.of(q, place.matrix() @ robot.pose(q)), unknowns)
    assert np.abs(rows.aligned.matrix() - place.matrix()).max() < RECURSION_ROUNDING
    assert np.abs(rows(np.zeros(6))[1]).max() < RECURSION_ROUNDING
    known = [Unknown(u.kind, axis=u.axis, frozen=u.axis == "x") for u in unknowns]  # one of the six is given: none is aligned
    assert PoseRows(Extended(robot, known, None), Poses.of(q, robot.pose(q)), known).aligned == dy.Pose.identity()
