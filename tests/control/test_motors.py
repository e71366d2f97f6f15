"""Laws on joints with DC motors: torques are converted to voltages, or a warning says that they are taken as voltages."""

import numpy as np
import pytest

import dynamis as dy
from dynamis import control

MOTOR = dy.DCMotor(resistance=0.5, constant=0.1, ratio=100.0, efficiency=0.8)
ARM = dy.load("planar_2r_melchiorri")
DRIVEN = ARM.replace(actuators={"joint2": MOTOR})
GOAL = [0.5, -0.5]
LAW = control.ComputedTorque.designed(GOAL, bandwidth=8.0)
Q, V = np.array([0.3, 0.4]), np.array([0.2, -0.7])
MESSAGE = (
    r"ComputedTorque returns torques, but the DC motor of 'joint2' takes a voltage: 1 N m is taken as 1 V; convert torques to "
    r"voltages, law.with_motors\(robot\), or remove the motor, robot.replace\(actuators=\{'joint2': None\}\)"
)


@pytest.mark.parametrize("torque", [-300.0, 0.0, 300.0])
@pytest.mark.parametrize("v", [-2.0, 0.0, 2.0])
def test_the_voltage_of_a_torque_gives_that_torque(torque, v):
    assert MOTOR.torque(np.zeros(0), MOTOR.voltage(torque, v), 0.0, v) == pytest.approx(torque, abs=1e-9)


def test_a_law_with_motors_has_the_torques_of_the_law():
    tau, u = LAW(DRIVEN, 0.0, Q, V), LAW.with_motors(DRIVEN)(DRIVEN, 0.0, Q, V)
    assert u[0] == tau[0]
    assert MOTOR.torque(np.zeros(0), u[1], Q[1], V[1]) == pytest.approx(tau[1])
    assert LAW.with_motors(ARM) is LAW


def test_torques_are_converted_once():
    law = LAW.with_motors(DRIVEN)
    np.testing.assert_array_equal(law.with_motors(DRIVEN)(DRIVEN, 0.0, Q, V), law(DRIVEN, 0.0, Q, V))


def test_the_robot_of_motors_must_be_one():
    with pytest.raises(dy.InputError, match="must be a Robot"):
        LAW.with_motors("ur5e")


@pytest.mark.parametrize("law", [
    LAW, LAW.with_model(ARM), control.MomentumObserver(LAW, 2), control.SlotineLi.designed(ARM, GOAL, bandwidth=5.0)
], ids=["law", "model", "observer", "adaptive"])  # fmt: skip
def test_motors_without_losses_of_time_move_as_torque_sources_do(law):
    options = {"method": "rk4", "step": 1e-3, "points": 5}
    ideal = dy.simulate(ARM, 1.0, Q, controller=law, **options)
    driven = dy.simulate(DRIVEN, 1.0, Q, controller=law.with_motors(DRIVEN), **options)
    assert np.abs(driven.q - ideal.q).max() < 1e-9
    batch = dy.rollouts(DRIVEN, 1.0, Q, controller=law.with_motors(DRIVEN), step=1e-3, every=250)
    assert batch.note == ""
    assert np.abs(batch.q - ideal.q).max() < 1e-9


@pytest.mark.parametrize("law", [LAW, LAW.with_model(ARM), dy.Sampled(LAW, 500.0)], ids=["law", "model", "sampled"])
def test_torques_that_a_motor_takes_as_volts_are_announced(law):
    for run in (lambda: dy.simulate(DRIVEN, 0.01, controller=law), lambda: dy.rollouts(DRIVEN, 0.01, np.zeros(2), controller=law),
                lambda: dy.simulate(ARM, 0.01, controller=law, actuators={"joint2": MOTOR})):  # fmt: skip
        with pytest.warns(dy.ModelWarning, match=MESSAGE):
            run()
    dy.simulate(DRIVEN, 0.01, controller=lambda t, q, v: np.zeros(2))  # a function of one's own knows its drives
    dy.simulate(DRIVEN, 0.01, controller=law, actuators={})


def test_the_c_of_a_law_with_motors_has_voltages_and_that_of_a_law_a_warning(tmp_path):
    with pytest.warns(dy.ModelWarning, match=MESSAGE):
        control.write_c(DRIVEN, LAW, tmp_path)
    converted = LAW.with_model(ARM).with_motors(DRIVEN)
    assert control.compile_law(DRIVEN, converted)(np.zeros(1), Q, V) == pytest.approx(converted(DRIVEN, 0.0, Q, V))
    assert (tmp_path / "control_computed_torque.c") in control.write_c(DRIVEN, converted, tmp_path)


def test_predicted_errors_are_those_of_ideal_drives():
    with pytest.warns(dy.ModelWarning, match="the actuators of 'joint2' are not part of the predicted errors"):
        bound = control.tracking_bound(LAW, DRIVEN, GOAL)
    assert np.array_equal(bound, control.tracking_bound(LAW, ARM, GOAL))
    with pytest.raises(dy.InputError, match="without with_motors"):
        control.tracking_bound(LAW.with_motors(DRIVEN), ARM, GOAL)


def test_an_observer_needs_torques():
    with pytest.raises(dy.InputError, match=r"MomentumObserver\(law, …\).with_motors"):
        control.MomentumObserver(LAW.with_motors(DRIVEN), 2)


def test_an_experiment_with_motors_converts_torques():
    run = control.compare_laws(DRIVEN, "computed-torque", GOAL)["computed-torque"]
    assert run.as_expected
    assert run.stability.stable is None
    assert np.abs(run.tracking.last).max() < 1e-6


def test_the_verdict_of_a_law_with_motors_is_that_of_the_law():
    assert LAW.with_motors(DRIVEN).check(DRIVEN).as_dict() == LAW.check(DRIVEN).as_dict()
