"""Of several mistakes whose correction would explain the torques, the one with which the inertias of the file are likely too."""

from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from recorded_motions import changed, sampled, turned
from spoiled_logs import simulated

import dynamis as dy
from dynamis.identification import prepare
from dynamis.identification.logs import examine_torques


@pytest.mark.parametrize("joint", few_of([1, 2], [2]))
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


@pytest.mark.parametrize(("factor", "seed"), [(0.8, 5), (1.25, 3)])
def test_positions_of_another_scale_are_no_coupled_motor_and_no_drive_gain(factor, seed):
    robot, log = simulated("scara", seed, error=0.3)
    scaled = replace(log, q=log.q * [1.0, factor, 1.0, 1.0])
    (finding,) = examine_torques(prepare(scaled, robot).samples, robot)
    assert finding.code == "position scale"
    assert finding.positions == pytest.approx((1.0, factor, 1.0, 1.0), rel=0.02)


def test_a_reversed_slide_is_no_drive_gain():
    robot, t = gantry(), np.arange(3200) / 200.0
    friction = dict(
        zip(robot.joint_names, ({"viscous": x, "coulomb": 0.4 * x} for x in (60.0, 40.0, 30.0, 0.5, 0.4)), strict=True)
    )
    real = dy.control.perturbed(robot, 0.3, seed=31).replace(friction=friction)
    w, size = 2.0 * np.pi * np.array([0.13, 0.17, 0.23, 0.29, 0.37]), np.array([0.4, 0.3, 0.12, 1.3, 0.9])
    q = size * (np.sin(np.outer(t, w)) + 0.4 * np.sin(np.outer(t, 2.3 * w) + np.arange(5)))
    v = np.gradient(q, t, axis=0)
    tau = real.inverse_dynamics(q, v, np.gradient(v, t, axis=0))
    tau += 0.03 * tau.std(axis=0) * np.random.default_rng(1).normal(size=q.shape)
    sign = turned(5, 1)
    log = dy.identification.Log(t, q * sign, tau * sign, names=robot.coordinate_names)
    (finding,) = dy.identify(robot, log, compare=()).log_findings
    assert finding.code == "wrong sign"
    assert finding.signs == tuple(sign)


def gantry():
    """Three slides, x, y and z, and a wrist of two joints."""
    description = dy.Description("gantry").add_link("base")
    parts = [("x", "prismatic", (1, 0, 0), 40), ("y", "prismatic", (0, 1, 0), 20), ("z", "prismatic", (0, 0, 1), 12),
             ("w1", "revolute", (0, 0, 1), 4), ("w2", "revolute", (0, 1, 0), 3)]  # fmt: skip
    parent = "base"
    for name, kind, axis, mass in parts:
        body = dy.solids.box(0.2, 0.1, 0.15, mass=mass).seen_from(dy.Pose.translation([0.03, 0.02, -0.08]))
        at = dy.Pose.translation([0, 0, -0.2 if kind == "revolute" else 0.0])
        description.add_link(name, parent, kind, joint_name=name, axis=axis, origin=at, inertia=body)
        parent = name
    return dy.Robot(description)
