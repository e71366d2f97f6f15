"""Of several mistakes whose correction would explain the torques, the one with which the inertias of the file are likely too."""

import pytest
from recorded_motions import changed, sampled, turned

import dynamis as dy
from dynamis.identification.logs import examine_torques


@pytest.mark.parametrize("joint", [1, 2])
def test_a_reversed_position_is_no_reversed_torque(joint):
    robot = dy.load("puma560")
    run, sign = sampled(robot, friction=1.5, noise=0.03), turned(robot.n, joint)
    (found,) = examine_torques(changed(run, q=run.q * sign, v=run.v * sign, a=run.a * sign), robot)
    assert (found.code, found.column) == ("wrong sign", f"q.{robot.coordinate_names[joint]}")


def test_placeholder_friction_of_the_file_is_no_wrong_scale():
    robot = dy.load("xarm7")
    friction = {name: {"viscous": 10.0, "coulomb": 5.0} for name in robot.joint_names}
    run = sampled(robot.replace(friction=0), friction=0.1)
    assert examine_torques(run, robot.replace(friction=friction)) == []
