"""dynamis pose and dynamis ik: what the methods give, both ways, and targets that are not understood."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli

Q = [0.4, -1.2, 1.6, -0.9, -1.3, 0.2]
NEAR = "0.4,-1.2,1.6,-0.9,-1.3,0.2"


def run(*arguments):
    result = CliRunner().invoke(cli, [str(x) for x in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def listed(values):
    return ",".join(repr(float(x)) for x in values)


def test_pose_and_jacobian_are_those_of_the_methods():
    robot = dy.load("ur5e")
    found = json.loads(run("pose", "ur5e", "--q", NEAR, "--json").output)
    assert np.array_equal(found["matrix"], robot.pose(Q))
    assert np.array_equal(found["jacobian"], robot.jacobian(Q))
    assert np.abs(dy.Pose.from_rpy(found["rpy"], found["position"]).matrix() - robot.pose(Q)).max() < 1e-14
    text = run("pose", "ur5e", "--q", NEAR, "--frame", "forearm_link").output
    assert "pose of forearm_link" in text
    assert "about z" in text


def test_poses_of_all_frames():
    robot = dy.load("go2")
    found = json.loads(run("pose", "go2", "--all", "--json").output)["frames"]
    assert list(found) == list(robot.link_names)
    assert max(np.abs(x["matrix"] - robot.pose(robot.home(), name)).max() for name, x in found.items()) < 1e-14
    assert "FL_foot" in run("pose", "go2", "--all").output


@pytest.mark.parametrize("kind", ["rpy", "degrees", "quaternion"])
def test_a_pose_is_found_again(kind):
    """However its orientation is given, from a start nearby."""
    pose = json.loads(run("pose", "ur5e", "--q", NEAR, "--json").output)
    x, angles = ["--position", listed(pose["position"])], np.array(pose["rpy"])
    turned = {"rpy": ["--rpy", listed(angles)], "degrees": ["--rpy", ",".join(f"{a!r}deg" for a in np.rad2deg(angles).tolist())],
              "quaternion": ["--quaternion", listed(1.01 * np.array(pose["quaternion"]))]}  # fmt: skip
    result = run("ik", "ur5e", *x, *turned[kind], "--q0", NEAR, "--json")
    assert result.exit_code == 0
    assert np.abs(np.array(json.loads(result.output)["q"]) - Q).max() < 1e-6


def test_an_orientation_or_a_position_alone():
    only = json.loads(run("ik", "panda", "--position", "0.4,0,0.5", "--json").output)
    assert np.abs(np.array(only["reached"]["position"]) - [0.4, 0.0, 0.5]).max() < 1e-8
    turned = json.loads(run("ik", "panda", "--rpy", "180,0,0", "--degrees", "--json").output)
    assert np.abs(np.array(turned["reached"]["matrix"])[:3, :3] - np.diag([1.0, -1.0, -1.0])).max() < 1e-8


def test_a_position_out_of_reach_ends_with_status_one():
    result = run("ik", "ur5e", "--position", "3,0,0")
    assert result.exit_code == 1
    assert "out of reach by 2.04 m" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        ([], "give a target: --position"),
        (["--position", "1,2"], "--position takes 3 numbers"),
        (["--rpy", "90,0,0"], "add --degrees"),
        (["--rpy", "1m,0,0"], "three angles"),
        (["--rpy", "0,0"], "three angles"),
        (["--rpy", "0,0,0", "--quaternion", "0,0,0,1"], "omit one"),
        (["--quaternion", "0,0,0,0"], "--quaternion has length 0"),
        (["--quaternion", "0,0,0,2"], "--quaternion has length 2, but that of an orientation has length 1"),
        (["--position", "0,0,1", "--frame", "hand"], "no frame named 'hand'"),
    ],
)
def test_targets_that_are_not_understood(options, cure):
    result = run("ik", "ur5e", *options)
    assert result.exit_code == 2
    assert cure in " ".join(result.output.split())


def test_all_frames_and_one_frame():
    assert run("pose", "ur5e", "--all", "--frame", "tool0").exit_code == 2


def test_kinematics_of_symbolic_arms_need_no_masses():
    lengths = ["--set", "a_1=0.5", "--set", "a_2=0.4"]
    found = json.loads(run("pose", "planar_2r", "--q", "0.3,0.7", *lengths, "--json").output)
    robot = dy.load(
        "planar_2r", parameters=dict.fromkeys(("g", "l_1", "l_2", "m_1", "m_2", "I_1", "I_2"), 1.0) | {"a_1": 0.5, "a_2": 0.4}
    )
    assert np.abs(found["matrix"] - robot.pose([0.3, 0.7])).max() < 1e-15
    assert np.abs(found["jacobian"] - robot.jacobian([0.3, 0.7])).max() < 1e-15
    back = json.loads(
        run("ik", "planar_2r", "--position", listed(found["position"]), "--q0", "0.2,0.5", *lengths, "--json").output
    )
    assert back["q"] == pytest.approx([0.3, 0.7], abs=1e-6)
    result = run("pose", "planar_2r", "--q", "0,0", *lengths[:2])
    assert result.exit_code == 2
    assert "without values: a_2. Give each a number, in SI units: --set a_2=1\n" in result.output
    assert "without values: I_1, I_2, g," in run("statics", "planar_2r", "--q", "0,0", *lengths).output


def test_advice_on_directions_that_the_robot_lacks_is_for_the_command_line():
    result = run("ik", "scara", "--position", "0.4,0.2,0.3", "--rpy", "0,0.5,0")
    assert result.exit_code == 1
    text = " ".join(result.output.split())
    assert "in 4 of the 6 independent directions of the task; omit --rpy or --quaternion joint positions" in text
    assert "roll, pitch, yaw [deg] 0 0 0 –" in text
    data = json.loads(run("ik", "planar_2r_melchiorri", "--position", "0.4,0.2,0.3", "--json").output)
    assert data["status"].endswith("in 2 of the 3 independent directions of the task")
