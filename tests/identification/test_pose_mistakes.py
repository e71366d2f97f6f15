"""Measured poses with mistakes in their columns: named and not calibrated; poses without are not doubted."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.identification import Poses, calibrate

ZERO = np.array([0.0, 0.02, -0.01, 0.015, 0.0, 0.0])
HEAD = "q1,q2,q3,q4,q5,q6,x,y,z"


@pytest.fixture(scope="module")
def tracked():
    robot = dy.load("ur5e")
    q = robot.random(0, size=40)
    return robot, q, robot.pose(q + ZERO)[:, :3, 3] + 1e-4 * np.random.default_rng(1).normal(size=(40, 3))


@pytest.mark.parametrize(
    ("q_of", "x_of", "text"),
    [
        (lambda q: q * [1, 1, -1, 1, 1, 1], lambda x: x, "of 'elbow_joint' seem to have the wrong sign"),
        (lambda q: q[:, [0, 2, 1, 3, 4, 5]], lambda x: x, "of 'shoulder_lift_joint' and 'elbow_joint' seem to be exchanged"),
        (lambda q: np.degrees(q / 30.0), lambda x: x, None),
        (lambda q: q, lambda x: x[:, [1, 0, 2]], "seem to be mirrored"),
        (lambda q: np.random.default_rng(3).permutation(q), lambda x: x, "does not explain the poses"),
    ],
)
def test_mistakes_are_named_with_the_error_after_their_correction(tracked, q_of, x_of, text):
    robot, q, x = tracked
    if text is None:  # a small motion
        x, text = robot.pose(q / 30.0 + ZERO)[:, :3, 3], "all joint angles seem to be in degrees"
    found = calibrate(robot, Poses.of(q_of(q), x_of(x)), ["base", "tool", "zero"], folds=2)
    assert text in found.doubt
    assert str(found).endswith(f"doubtful: {found.doubt}")


def test_poses_without_mistakes_are_not_doubted_with_an_outlier_and_with_few_unknowns(tracked):
    robot, q, x = tracked
    for position in (x, x + 0.3 * np.eye(40)[7][:, None]):
        for kinds in (["base", "tool", "zero"], ["base"]):
            assert not calibrate(robot, Poses.of(q, position), kinds, folds=2).doubt


def test_an_inverted_orientation_is_doubted_where_positions_agree(tracked):
    robot, q, _ = tracked
    pose = robot.pose(q + ZERO)
    q = q * [1, 1, 1, 1, 1, -1]
    assert "of 'wrist_3_joint' seem to have the wrong sign" in calibrate(robot, Poses.of(q, pose), ["zero"], folds=2).doubt


def test_a_robot_of_mistaken_poses_is_not_written(tracked, tmp_path):
    _, q, x = tracked
    rows, out = np.column_stack([q * [1, 1, -1, 1, 1, 1], x]), tmp_path / "out.urdf"
    np.savetxt(tmp_path / "poses.csv", rows, delimiter=",", header=HEAD, comments="")
    call = ["calibrate", "ur5e", str(tmp_path / "poses.csv"), "--folds", "2", "--out", str(out)]
    result = CliRunner().invoke(cli, call)
    words = " ".join(result.output.split())
    assert result.exit_code == 1, words
    assert "'elbow_joint' seem to have the wrong sign" in words
    assert "no file is written" in words
    assert not out.exists()
    machine = CliRunner().invoke(cli, [*call, "--json"])
    assert machine.exit_code == 1
    assert "wrong sign" in json.loads(machine.stdout)["doubt"]
