"""Laws whose torques act at some coordinates only: a free base and passive joints are moved by the others."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.task_space.redundancy import LAWS

ts = dy.task_space
TASK = ts.Position()


@pytest.fixture(scope="module")
def robot():
    return dy.load("panda", base="floating").replace(friction=0, gravity=0)


@pytest.fixture(scope="module")
def state(robot):
    rng = np.random.default_rng(4)
    return robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, 3)


def achieved(robot, q, v, tau, task=TASK):
    full = np.r_[np.zeros(6), tau] if len(tau) == 7 else tau
    return task.jacobian(robot, q) @ robot.forward_dynamics(q, v, full) + task.bias(robot, q, v)


@pytest.mark.parametrize("law", LAWS)
def test_feedback_leaves_the_base_alone_and_its_errors_decay_as_designed(robot, state, law):
    q, v, _ = state
    goal = TASK.value(robot, q) + np.array([0.1, 0.0, 0.1])
    options = {"K_P": 100.0, "null_space": ts.Damping(5.0)}
    feedback = ts.Feedback(robot, TASK, lambda _t: (goal, np.zeros(3), np.zeros(3)), law, actuated="joints", **options)
    tau = feedback(0.0, q, v)
    assert not tau[:6].any()
    wanted = 100.0 * (goal - TASK.value(robot, q)) - 20.0 * TASK.jacobian(robot, q) @ v
    np.testing.assert_allclose(achieved(robot, q, v, tau), wanted, atol=1e-7)
    found = ts.resolve(robot, q, v, TASK, wanted, law, null_space=ts.Damping(5.0), actuated="joints")
    np.testing.assert_allclose(tau[6:], found.tau, atol=1e-6)
    whole = ts.Feedback(robot, TASK, lambda _t: (goal, np.zeros(3), np.zeros(3)), law, **options)(0.0, q, v)
    assert np.abs(whole[:6]).max() > 1.0  # the base is actuated unless stated


def test_feedback_at_a_singular_state_leaves_the_other_coordinates_alone():
    arm = dy.load("planar_3r", parameters={f"{x}_{k}": 1.0 for x in "almI" for k in (1, 2, 3)} | {"g": 0.0})
    plane = ts.Position(rows=(0, 1))
    feedback = ts.Feedback(arm, plane, lambda _t: (np.ones(2), np.zeros(2), np.zeros(2)), actuated=arm.joint_names[:2])
    with pytest.warns(dy.SingularityWarning):
        tau = feedback(0.0, np.zeros(3), np.zeros(3))
    assert np.isfinite(tau).all()
    assert tau.shape == (3,)
    assert tau[2] == 0.0


def test_tasks_in_order_of_priority_are_executed_by_the_joints(robot, state):
    q, v, x_ddot = state
    levels = [(TASK, x_ddot), (ts.Orientation(), -x_ddot)]
    found = ts.prioritised(robot, q, v, levels, null_space=ts.Damping(2.0), actuated="joints")
    assert found.tau.shape == (7,)
    for task, wanted in levels:
        np.testing.assert_allclose(achieved(robot, q, v, found.tau, task), wanted, atol=1e-7)
    for level in found.levels:
        np.testing.assert_allclose(level.task_error, 0.0, atol=1e-7)
    assert found.acceleration.shape == (13,)


def test_torques_within_limits_are_those_of_the_joints(robot, state):
    pytest.importorskip("daqp", reason="DAQP is not installed: pip install 'dynamis[qp]'")
    q, v, x_ddot = state
    options = {"null_space": ts.Damping(2.0), "actuated": "joints"}
    free = ts.limited_torque(robot, q, v, TASK, x_ddot, torque_limits=None, **options)
    wanted = ts.resolve(robot, q, v, TASK, x_ddot, "torque", **options).tau
    np.testing.assert_allclose(free.tau, wanted, atol=1e-5 * np.abs(wanted).max())
    limit = 0.9 * np.abs(wanted).max()
    found = ts.limited_torque(robot, q, v, TASK, x_ddot, torque_limits=limit, **options)
    assert (np.abs(found.tau) <= limit).all()
    np.testing.assert_allclose(achieved(robot, q, v, found.tau), x_ddot - found.task_error, atol=1e-6)
    np.testing.assert_allclose(found.acceleration, robot.forward_dynamics(q, v, np.r_[np.zeros(6), found.tau]), atol=1e-9)
    assert set(found.active) <= set(robot.coordinate_names[6:])
    assert found.active
