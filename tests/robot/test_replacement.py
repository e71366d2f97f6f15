"""`Robot.replace`: what it changes, what it keeps, what it refuses."""

import numpy as np
import pytest

import dynamis as dy


@pytest.mark.parametrize(
    ("changes", "cure"),
    [
        ({"effort": 0.0}, r"robot\.replace\(actuators=\{'elbow_joint': dynamis\.Saturated\(effort=0\.0\)\}\)"),
        ({"velocity": 0}, r"robot\.reduced\(\{'elbow_joint': 0\.0\}\)"),
        ({"lower": 0.0, "upper": 0.0}, r"robot\.reduced\(\{'elbow_joint': 0\.0\}\)"),
    ],
)
def test_a_limit_of_zero_is_refused_where_it_stands_for_no_limit(changes, cure):
    with pytest.raises(dy.InputError, match=f"limit.* of joint 'elbow_joint' cannot .*0, .*not known: {cure}"):
        dy.load("ur5e").replace(limits={"elbow_joint": changes})


def test_limits_of_one_position_and_of_one_side_at_zero_are_kept():
    robot = dy.load("ur5e").replace(limits={"elbow_joint": {"lower": 0.5, "upper": 0.5}, "wrist_1_joint": {"lower": 0.0}})
    assert (robot.limits["lower"][2], robot.limits["upper"][2], robot.limits["lower"][3]) == (0.5, 0.5, 0.0)
    assert (robot.random(0, 50)[:, 2] == 0.5).all()


def test_limits_that_a_file_gives_as_zero_can_be_replaced_one_by_one():
    d = dy.load("ur5e").description
    d.joint("elbow_joint").limits = type(d.joint("elbow_joint").limits)(0.0, 0.0, 0.0, 0.0)
    limits = dy.Robot(d).replace(limits={"elbow_joint": {"velocity": 2.0}}).limits
    assert (limits["velocity"][2], limits["effort"][2], limits["upper"][2]) == (2.0, np.inf, np.inf)


def test_a_continuous_joint_with_new_position_limits_has_them(tmp_path):
    robot = dy.Robot(
        dy.Description("wheel").add_link("base").add_link("disc", "base", "continuous", inertia=dy.solids.disc(0.2, mass=1.0))
    )
    limited = robot.replace(limits={"disc_joint": {"lower": -1.0, "upper": 2.0}})
    for suffix in (".urdf", ".sdf", ".toml", ".mjcf"):
        limited.write(tmp_path / f"limited{suffix}")
        for wheel in (limited, dy.load(tmp_path / f"limited{suffix}")):
            assert (wheel.limits["lower"].item(), wheel.limits["upper"].item()) == pytest.approx((-1.0, 2.0))
    robot.write(tmp_path / "free.urdf")
    dy.load(tmp_path / "free.urdf").replace(limits={"disc_joint": {"lower": -1.0, "upper": 2.0}}).write(tmp_path / "again.urdf")
    assert dy.load(tmp_path / "again.urdf").limits["upper"].item() == 2.0


def test_examples_of_messages_name_joints_of_the_robot():
    robot = dy.load("ur5e")
    for wrong in ({"friction": 2.0}, {"friction": {"elbow_joint": 2.0}}, {"limits": 3.0}, {"limits": {"elbow_joint": 3.0}}):
        with pytest.raises(dy.InputError, match="mapping such as {'shoulder_pan_joint': {"):
            robot.replace(**wrong)
