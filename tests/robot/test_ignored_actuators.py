"""Functions that are without actuators say so; actuators that only limit torques are limits of torques there."""

import numpy as np
import pytest

import dynamis as dy

ARM = dy.load("planar_2r_melchiorri")
ELASTIC = ARM.replace(actuators={"joint2": dy.Elastic(800.0, inertia=0.1, damping=2.0)})
LIMITED = ARM.replace(actuators={name: dy.Saturated(effort=300.0) for name in ARM.joint_names})


@pytest.mark.parametrize(
    "function",
    [
        lambda robot: dy.linearize(robot, [0.1, 0.2]),
        lambda robot: dy.optimize.Step(robot, 0.01),
        lambda robot: dy.optimize.trajectory(robot, [-1.5, 0.0], [-1.4, 0.0], 0.5, nodes=10),
        lambda robot: dy.trajectories.time_optimal(robot, [[-1.5, 0.0], [-1.4, 0.0]], torque=500.0),
    ],
    ids=["linearize", "Step", "trajectory", "time_optimal"],
)
def test_actuators_that_are_not_part_of_a_function_are_named(function):
    with pytest.warns(dy.ModelWarning, match="the actuators of 'joint2' are not part of .*, whose inputs are joint torques"):
        function(ELASTIC)


def test_torques_are_limited_as_actuators_limit_them():
    best = dy.optimize.trajectory(LIMITED, [-np.pi / 2, 0.0], [-1.2, 0.0], 1.5, nodes=60)
    assert best.converged
    assert np.abs(best.tau).max() <= 300.0
    free = dy.optimize.trajectory(ARM, [-np.pi / 2, 0.0], [0.0, 0.0], 1.5, nodes=60)
    assert np.abs(free.tau).max() > 300.0
    motion = dy.trajectories.time_optimal(LIMITED, [[-np.pi / 2, 0.0], [-1.3, 0.0]])
    t = np.linspace(0.0, motion.duration, 200)
    assert np.abs(ARM.inverse_dynamics(*motion.at(t))).max() < 301.0


def test_an_actuator_without_torque_is_refused():
    with pytest.raises(dy.InputError, match="the torque limit of joint1 is zero: it cannot be actuated"):
        dy.optimize.trajectory(ARM.replace(actuators={"joint1": dy.Saturated(effort=0.0)}), [-1.5, 0.0], [-1.4, 0.0], 1.0)


def test_no_theorem_of_a_law_is_proven_for_a_robot_with_actuators():
    law = dy.control.PDGravity([0.5, -0.5], stiffness=5000.0, damping=1500.0)
    assert law.check(ARM).proven
    for robot in (ELASTIC, LIMITED):
        for one in (law, law.with_model(ARM)):
            found = one.check(robot, rate=1000.0)
            assert found.verdict == "not proven: no theorem was checked"
            assert sum("are not part of it; simulate the loop" in note for note in found.notes) == 1


def test_what_a_model_of_mujoco_cannot_hold_is_named():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[mujoco]'")
    with pytest.warns(dy.ModelWarning, match="the MjModel does not hold all of robot .*: actuators: 1 element, 'joint2'"):
        ELASTIC.to_mujoco()
    with pytest.warns(dy.ModelWarning, match="direction-dependent Coulomb friction"):
        ARM.replace(friction={"joint1": {"coulomb": 2.0, "coulomb_bias": -1.0}}).to_mujoco()
