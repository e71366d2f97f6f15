"""The balance of power holds at every point, with everything that can push."""

import numpy as np
import pytest
from campaign_params import few_of
from joint_zoo import NAMES, zoo_robot
from small_machines import pendulum

import dynamis as dy

ARM = dy.load("planar_2r_melchiorri")


# every joint type with the friction of the model, and a robot with each other treatment of friction
OFTEN = [*((name, "model") for name in NAMES), ("wrists", "smooth"), ("flyer", "none")]
CASES = few_of([(name, friction) for name in NAMES for friction in ("model", "smooth", "none")], OFTEN)


@pytest.mark.parametrize(("name", "friction"), CASES)
def test_what_is_stored_is_what_goes_in_up_to_rounding(name, friction):
    robot = zoo_robot(name)
    motion = dy.simulate(robot, 0.2, robot.random(2), np.linspace(-1, 1, robot.n), friction=friction, points=21,
                         torque=np.linspace(-1, 1, robot.n), disturbance=dy.Noise(1.0, 0.05),
                         wrenches={"tool": dy.Push([1.0, 2.0, -2.0, 0.1, 0.2, 0.3], "local", (0.1, 0.2, 0.3))})  # fmt: skip
    power = motion.power
    assert np.abs(power.residual).max() < 1e-10 * np.abs(power.stored).max()
    assert np.abs(power.wrenches).max() > 1e-3
    assert np.abs(power.torques).max() > 1e-3
    assert np.array_equal(power.input, power.torques + power.friction + power.viscous + power.wrenches + power.stops)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_is_the_slope_of_the_energy(name):
    robot = zoo_robot(name)
    motion = dy.simulate(robot, 0.1, robot.random(2), torque=np.linspace(-1, 1, robot.n), friction="none", points=1001,
                         rtol=1e-12, atol=1e-13)  # fmt: skip
    slope = (motion.energy[2:] - motion.energy[:-2]) / (motion.t[2:] - motion.t[:-2])
    assert np.abs(slope - motion.power.stored[1:-1]).max() < 1e-5 * max(1.0, np.abs(slope).max())


def test_friction_takes_and_never_gives():
    power = dy.simulate(pendulum(coulomb=0.3, viscous=0.2), 3.0, [1.2]).power
    assert np.all(power.friction <= 0.0)
    assert np.all(power.viscous <= 0.0)
    assert power.friction.min() < -0.1
    assert not power.torques.any()


def test_the_work_is_the_integral_of_the_power():
    motion = dy.simulate(ARM, 1.0, [0.3, 0.2], controller=lambda t, q, v: -200.0 * q - 20.0 * v, points=2001)
    integral = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(motion.t) * (motion.power.input[1:] + motion.power.input[:-1]))])
    assert np.abs(integral - motion.work).max() < 1e-4 * np.abs(motion.work).max()


def test_joints_that_rest_at_their_stops_are_balanced_too():
    robot = dy.load("panda")
    motion = dy.simulate(robot, 0.5, [0, 0, 0, -1.5, 0, 1.5, 0], stops=dy.HardStops(), points=101)
    assert np.any(motion.stop_torque)
    assert np.abs(motion.power.residual).max() < 1e-9 * max(1.0, np.abs(motion.power.stored).max())
    assert np.abs(motion.power.stops).max() < 1e-9
