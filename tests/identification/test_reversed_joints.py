"""Joints that turn the other way in the log than in the file: positions and torques inverted together."""

from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from real_logs import UR10, needs
from recorded_motions import changed, sampled, turned
from spoiled_logs import answer, simulated

import dynamis as dy
from dynamis.identification import Log
from dynamis.identification.logs import examine_torques


def reversed_log(log, joint):
    s = turned(log.n, joint)
    return replace(log, q=s * log.q, tau=s * log.tau, v=None if log.v is None else s * log.v)


@pytest.mark.parametrize(("name", "joint"), few_of([("puma560", 3), ("puma560", 4), *(("xarm7", k) for k in (0, 2, 4, 5))],
                                                   [("puma560", 4)]))  # fmt: skip
def test_a_reversed_joint_that_the_inertias_absorb_is_named_after_a_refit(name, joint):
    robot, log = simulated(name, 21, error=0.3)
    own = robot.coordinate_names[joint]
    grade, said, _ = answer(robot, reversed_log(log, joint))
    assert f"columns 'q.{own}' and 'tau.{own}' seem to have the wrong sign" in said
    assert "inverted, the residuals on held-out motion are" in said
    signs = ", ".join("-1" if k == joint else "1" for k in range(robot.n))
    assert f"invert both: signs = [{signs}] of positions and torques in a mapping" in said
    assert grade == "doubtful"


def test_an_axis_of_the_file_that_is_reversed_is_the_same():
    robot, log = simulated("xarm7", 21)
    joint = robot.description.joint("joint6")
    description = robot.description
    description.joint("joint6").axis = -np.asarray(joint.axis)
    _, said, _ = answer(dy.Robot(description), log)
    assert "columns 'q.joint6' and 'tau.joint6' seem to have the wrong sign, or the file the opposite axis" in said


def test_both_columns_of_a_reversed_joint_are_named_in_the_plural():
    robot = dy.load("ur5e")
    samples = sampled(robot)
    s = turned(6, 1)
    (found,) = examine_torques(changed(samples, **{k: s * getattr(samples, k) for k in ("q", "v", "a", "tau")}), robot)
    assert (
        "columns 'q.shoulder_lift_joint' and 'tau.shoulder_lift_joint' seem to have the wrong sign: both inverted" in found.text
    )
    assert found.cure == "invert both: signs = [1, -1, 1, 1, 1, 1] of positions and torques in a mapping"


def test_a_reversed_wrist_of_a_real_arm_is_named():
    needs(UR10)
    robot, z = dy.load(UR10 / "ur10_robot.urdf"), np.load(UR10 / "ur10_exciting_trajectory.npz")
    log = Log(z["t"], z["q"], z["e"], v=z["v"], names=robot.coordinate_names)
    _, said, _ = answer(robot, reversed_log(log, 3))
    assert "olumns 'q.wrist_1_joint' and 'tau.wrist_1_joint' seem to have the wrong sign" in said
