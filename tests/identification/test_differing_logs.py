"""Logs given together that contradict each other: a payload in one of them is named after a refit, others by their parameters."""

import numpy as np
import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis.identification import Samples

ARMS = ("ur5e", "panda", "kuka_iiwa14")


def logs(name, second, seeds=(0, 1)):
    """(robot as believed, two logs of the real one, changed as given before the second)."""
    robot = dy.load(name)
    joints = {joint: {"viscous": 2.0, "coulomb": 1.5} for joint in robot.joint_names}
    real = dy.control.perturbed(robot, 0.1, seed=4).replace(friction=joints)
    return robot, [sampled(real if k == 0 else real.replace(**second), seed) for k, seed in enumerate(seeds)]


def sampled(robot, seed):
    rng, t = np.random.default_rng(seed), np.arange(0.0, 15.0, 0.01)[:, None]
    w = 2.0 * np.pi * np.array([0.1, 0.25, 0.45])[:, None, None]
    phase, size = rng.uniform(0.0, 6.0, (3, 1, robot.n)), rng.uniform(0.2, 0.5, (3, 1, robot.n))
    x = w * t + phase
    q, v, a = (np.sum(y, axis=0) for y in (size * np.sin(x), size * w * np.cos(x), -size * w**2 * np.sin(x)))
    q += np.clip((robot.limits["lower"] + robot.limits["upper"]) / 2.0, -1.5, 1.5)
    return Samples.of(q, v, a, robot.inverse_dynamics(q, v, a) + 0.1 * rng.normal(size=q.shape), period=0.01)


@pytest.mark.parametrize("name", few_of(ARMS, ["ur5e"]))
def test_a_payload_in_one_of_two_logs_is_named_after_a_refit(name):
    robot, both = logs(name, {"payload": dy.Inertia.about_com(2.0, [0.0, 0.0, 0.1], 0.01 * np.eye(3))})
    found = dy.identify(robot, both, compare=())
    (finding,) = found.log_findings
    assert finding.code == "differing logs"
    assert f"the load on '{robot.model.bodies[-1].name}' differs between the logs run 1 and run 2" in finding.text
    assert "identify_payload" in finding.cure
    assert found.verdict.grade == "doubtful"


def test_logs_between_which_friction_changed_are_named_without_a_payload():
    joint = {"elbow_joint": {"viscous": 12.0, "coulomb": 16.0}, "shoulder_pan_joint": {"viscous": 12.0, "coulomb": 16.0}}
    robot, both = logs("ur5e", {"friction": joint})
    (finding,) = dy.identify(robot, both, compare=()).log_findings
    assert "the parameters of run 2 differ from those of run 1" in finding.text
    assert "elbow_joint." in finding.text
    assert "identified separately, the residual on held-out motion is" in finding.text
    assert "load" not in finding.text


@pytest.mark.parametrize("name", few_of(ARMS, ["ur5e"]))
def test_two_logs_of_one_robot_do_not_differ(name):
    robot, both = logs(name, {})
    assert dy.identify(robot, both, compare=()).log_findings == ()
