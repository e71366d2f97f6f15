"""Actuators: what reaches the joint of a command, and what the drive itself does meanwhile."""

import numpy as np
import pytest
from small_machines import turning

import dynamis as dy
from dynamis.simulation.actuators import actuators_of


def test_a_command_beyond_the_effort_is_cut():
    robot = turning()
    motion = dy.simulate(robot, 1.0, torque=[100.0], actuators={"axle": dy.Saturated(effort=4.0)})
    np.testing.assert_allclose(motion.tau, 4.0)
    np.testing.assert_allclose(motion.q[-1], [0.5 * 4.0 / 2.0], rtol=1e-7)


def test_a_dead_zone_swallows_small_commands():
    robot = turning()
    drive = {"axle": dy.Saturated(dead_zone=1.0)}
    assert np.all(dy.simulate(robot, 0.5, torque=[0.9], actuators=drive).q == 0.0)
    np.testing.assert_allclose(dy.simulate(robot, 0.5, torque=[-3.0], actuators=drive).tau, -2.0)


def test_no_torque_is_given_beyond_the_speed():
    robot = turning()
    motion = dy.simulate(robot, 20.0, torque=[10.0], actuators={"axle": dy.Saturated(effort=10.0, speed=3.0)})
    assert 2.9 < motion.v[-1, 0] <= 3.0 + 1e-6
    braking = dy.simulate(robot, 0.1, v0=[5.0], torque=[-10.0], actuators={"axle": dy.Saturated(effort=10.0, speed=3.0)})
    np.testing.assert_allclose(braking.tau, -10.0)


def test_a_motor_runs_up_to_the_speed_where_its_back_emf_is_the_supply():
    robot = turning(inertia=0.05)
    motor = dy.DCMotor(resistance=1.0, constant=0.1, ratio=10.0, inductance=1e-3, supply=24.0)
    motion = dy.simulate(robot, 2.0, torque=[1000.0], actuators={"axle": motor})
    np.testing.assert_allclose(motion.v[-1], [24.0 / (0.1 * 10.0)], rtol=1e-6)
    np.testing.assert_allclose(motion.actuator_states["axle"][-1], [0.0], atol=1e-4)


@pytest.mark.filterwarnings("ignore:.*a moment of")
def test_current_of_a_blocked_motor_rises_with_its_time_constant():
    robot = turning(inertia=1e9)
    R, L = 2.0, 0.1
    motion = dy.simulate(robot, 0.2, torque=[12.0], actuators={"axle": dy.DCMotor(R, 0.1, inductance=L)})
    current = motion.actuator_states["axle"][:, 0]
    np.testing.assert_allclose(current, 12.0 / R * (1.0 - np.exp(-motion.t * R / L)), atol=1e-6)


def test_a_motor_without_inductance_follows_at_once():
    robot = turning()
    slow, fast = (dy.DCMotor(1.0, 0.5, inductance=L) for L in (1e-6, 0.0))
    made = [dy.simulate(robot, 0.5, torque=[5.0], actuators={"axle": m}, method="Radau") for m in (slow, fast)]
    np.testing.assert_allclose(made[0].q[-1], made[1].q[-1], rtol=1e-4)


def test_a_gear_loses_what_its_efficiency_says():
    robot = turning()
    motor = dy.DCMotor(1.0, 1.0, efficiency=0.5)
    assert motor.torque(np.zeros(0), 10.0, 0.0, 0.0) == 5.0
    assert motor.torque(np.zeros(0), -10.0, 0.0, 1e-9) == pytest.approx(-20.0)
    assert robot.n == 1


def test_an_elastic_joint_swings_at_its_frequency():
    robot = turning(inertia=2.0)
    B, K = 0.5, 800.0
    drive = {"axle": dy.Elastic(K, inertia=B)}
    motion = dy.simulate(robot, 1.0, v0=[0.0], torque=[1.0], actuators=drive, rtol=1e-10, atol=1e-12)
    w = np.sqrt(K * (1 / B + 1 / 2.0))
    stretch = motion.actuator_states["axle"][:, 0] - motion.q[:, 0]
    np.testing.assert_allclose(stretch, 1.0 / (B * w**2) * (1.0 - np.cos(w * motion.t)), atol=1e-9)


def test_a_very_stiff_joint_is_the_rigid_robot_with_its_rotor():
    rigid = turning(rotor_inertia=0.5)
    soft = dy.simulate(rigid, 0.2, torque=[3.0], actuators={"axle": dy.Elastic(1e5)}, method="Radau", rtol=1e-7)
    plain = dy.simulate(rigid, 0.2, torque=[3.0])
    np.testing.assert_allclose(soft.q[-1], plain.q[-1], rtol=1e-3)


def test_the_rotor_moves_behind_the_spring_and_is_not_counted_twice():
    robot = turning(rotor_inertia=0.5)
    changed, drives = actuators_of(robot, {"axle": dy.Elastic(100.0)})
    assert changed.model.rotor[0] == 0.0
    assert drives[0].inertia == 0.5
    assert robot.model.rotor[0] == 0.5


def test_energy_of_an_elastic_joint_is_kept():
    robot = turning()
    spring = dy.Elastic(500.0, inertia=0.3)
    motion = dy.simulate(robot, 2.0, v0=[3.0], actuators={"axle": spring}, rtol=1e-11, atol=1e-13)
    inside = motion.actuator_states["axle"]
    total = motion.energy + np.array([spring.energy(x, q[0]) for x, q in zip(inside, motion.q, strict=True)])
    np.testing.assert_allclose(total, total[0], rtol=1e-9)
    assert np.abs(motion.energy_error).max() < 1e-7


def test_backlash_lets_the_joint_rattle_freely():
    robot = turning()
    loose = dy.Elastic(1e4, inertia=0.5, backlash=0.2)
    motion = dy.simulate(robot, 0.05, v0=[1.0], actuators={"axle": loose})
    assert np.all(motion.tau == 0.0)  # it starts in the middle of the play, at the rotor's own speed


@pytest.mark.parametrize(("actuators", "message"), [
    ({"elbow": dy.Saturated()}, "no coordinate named 'elbow'"),
    ({"axle": 3.0}, "must be a Saturated, DCMotor or Elastic"),
    ({"axle": dy.Elastic(100.0)}, "needs an inertia"),
])  # fmt: skip
def test_what_is_no_actuator_is_refused(actuators, message):
    with pytest.raises(dy.DynamisError, match=message):
        dy.simulate(turning(), 1.0, actuators=actuators)


def test_drives_with_states_go_with_steps_of_order_two_and_four_but_not_with_eulers():
    robot = turning()
    spring = {"axle": dy.Elastic(100.0, inertia=1.0)}
    with pytest.raises(dy.InputError, match="use method='rk4'"):
        dy.simulate(robot, 1.0, actuators=spring, method="euler", step=1e-3)
    exact = dy.simulate(robot, 1.0, torque=[5.0], actuators=spring, rtol=1e-11, atol=1e-12)
    for method, tolerance in (("rk4", 1e-9), ("midpoint", 1e-4)):
        stepped = dy.simulate(robot, 1.0, torque=[5.0], actuators=spring, method=method, step=1e-3)
        np.testing.assert_allclose(stepped.q, exact.q, atol=tolerance)
        np.testing.assert_allclose(stepped.actuator_states["axle"], exact.actuator_states["axle"], atol=20 * tolerance)
    drive = {"axle": dy.Saturated(effort=1.0)}
    cut = dy.simulate(robot, 1.0, torque=[5.0], actuators=drive, method="rk4", step=1e-3)
    np.testing.assert_allclose(cut.q[-1], [0.25], rtol=1e-9)


@pytest.mark.parametrize("method", [{}, {"method": "RK45"}, {"method": "Radau"}])
def test_a_gear_with_losses_that_holds_its_load_is_named(method):
    """η u < m g l < u / η: accelerations point to rest from both sides, and steps become ever shorter."""
    arm = dy.load('[robot]\nname = "lever"\n[[link]]\nlink = "arm"\njoint = "axle"\naxis = [0, -1, 0]\nmass = 2\n'
                  "com = [0.5, 0, 0]\ninertia = { xx = 0.01, yy = 0.05, zz = 0.05 }\n")  # fmt: skip
    drive = {"axle": dy.Saturated(efficiency=0.8)}
    motion = dy.simulate(arm, 1.0, [0.0], [0.3], torque=[9.5], actuators=drive, **method)
    assert not motion.complete
    assert "t = 0.0746" in motion.status
    assert "the gear of axle, with its efficiency, holds the joint at rest" in motion.status
    assert dy.simulate(arm, 1.0, [0.0], [0.3], torque=[9.5], actuators=drive, method="rk4", step=1e-3).complete


def test_a_motor_with_a_supply_gives_the_torque_of_its_voltage():
    motor = dy.DCMotor(resistance=2.0, constant=0.1, ratio=50.0, efficiency=0.9, supply=24.0)
    v = np.array([-2.0, 0.0, 2.0, 6.0])
    reached = [motor.torque(np.zeros(0), 24.0, 0.0, x) for x in v]
    assert motor.largest(v, 1.0) == pytest.approx(np.maximum(reached, 0.0))
    assert motor.largest(-v, -1.0) == pytest.approx(np.maximum(reached, 0.0))
    assert np.isinf(dy.Elastic(100.0, inertia=1.0).largest(v, 1.0)).all()
    assert dy.Saturated(speed=2.0).largest(np.array([1.0, 3.0]), 1.0).tolist() == [np.inf, 0.0]
