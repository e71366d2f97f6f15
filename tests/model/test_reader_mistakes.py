"""Objects of other libraries, unlimited joints, followers: what is said of them."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.description import Mimic

LIMITED = """<robot name="r"><link name="base"/><link name="a"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1.2" iyz="0" izz="1.1"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="{0}" upper="{1}" effort="10" velocity="2"/></joint></robot>"""


def test_models_of_other_libraries_are_led_to_their_functions():
    pin = pytest.importorskip("pinocchio", reason="pinocchio is not installed: pip install pin")
    with pytest.raises(dy.InputError, match=r"dynamis\.from_pinocchio takes it"):
        dy.load(pin.Model())


def test_infinite_limits_have_a_cure():
    with pytest.raises(dy.ModelError, match="leave it out where there is no limit, or make the joint continuous"):
        dy.load(LIMITED.format("-inf", "inf"))
    with pytest.warns(dy.ModelWarning, match=r"a limit of 1e\+16 rad.*leave it out"):
        dy.load(LIMITED.format("-1e16", "1e16"))


def test_a_robot_can_be_checked():
    assert dy.check(dy.load("ur5e")).ok


def test_followers_are_named_with_their_leaders():
    description = dy.load("planar_2r_melchiorri").description
    description.joints[1].mimic = Mimic(description.joints[0].name, -1.0)
    robot = dy.Robot(description)
    for call in (
        lambda: robot.reduced({"joint2": 0.1}), lambda: robot.q({"joint2": 0.1}), lambda: robot.indices(["joint2"]),
        lambda: robot.replace(actuators={"joint2": dy.Saturated(effort=1.0)}),
    ):  # fmt: skip
        with pytest.raises(dy.InputError, match="joint 'joint2' follows 'joint1'"):
            call()


def test_an_event_returns_one_number_and_a_duration_is_one():
    arm = dy.load("planar_2r_melchiorri")
    motion = dy.simulate(arm, 0.1, events={"a": lambda t, q, v: np.sum(q)})
    assert motion.status == "completed"
    with pytest.raises(dy.DynamisError, match="event 'a' raised InputError: it returned 2 numbers instead of one"):
        dy.simulate(arm, 0.1, events={"a": lambda t, q, v: q})
    with pytest.raises(dy.InputError, match="t must be a duration"):
        dy.simulate(arm, "1")


def test_a_frame_that_does_not_move_is_named():
    arm = dy.load("panda")
    found = dy.inverse_kinematics(arm, np.diag([1.0, 1.0, 1.0, 1.0]) + np.eye(4, k=3), frame=arm.link_names[0])
    assert not found.found
    assert "cannot move the frame at all; choose another frame=" in found.status
