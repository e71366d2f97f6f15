"""The adaptive law: its regressor, its energy, what it learns."""

import numpy as np
import pytest

import dynamis as dy
from dynamis import control
from dynamis.control.adapted_parameters import adapted_parameters
from dynamis.control.slotine_li_regressor import slotine_li_regressor

ARM = dy.load("planar_2r_melchiorri")


def rotor_robot():
    return dy.load("puma560").replace(rotors="riding")


@pytest.mark.parametrize("robot", [ARM, dy.load("kuka_iiwa14"), dy.load("scara"), dy.load("nine_body_tree"), rotor_robot()],
                         ids=["planar", "iiwa", "scara", "tree", "rotors"])  # fmt: skip
def test_the_regressor_is_linear_in_the_parameters_and_uses_christoffels_c(robot):
    rng = np.random.default_rng(0)
    for q in robot.random(rng, 4):
        v, v_r, a_r = rng.uniform(-1.0, 1.0, (3, robot.n))
        Y = slotine_li_regressor(robot.model, q, v, v_r, a_r, slip=1e-9)
        M, C, g = robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.gravity(q)
        m = robot.model
        joints = m.viscous * v_r + m.coulomb * np.sign(v_r) + m.coulomb_bias + m.stiffness * (q - m.rest)
        expected = M @ a_r + C @ v_r + g + joints
        assert np.abs(Y @ robot.parameters - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())


def test_it_is_the_polarisation_of_the_regressor_of_inverse_dynamics():
    robot = dy.load("kuka_iiwa14")
    rng = np.random.default_rng(1)
    q, (v, v_r, a_r) = robot.random(rng), rng.uniform(-1.0, 1.0, (3, 7))
    inertial = slice(0, 70)
    quadratic = 0.25 * (robot.regressor(q, v + v_r, a_r) - robot.regressor(q, v - v_r, a_r))[:, inertial]
    rest = robot.regressor(q, 0.0 * v, a_r)[:, inertial]
    found = slotine_li_regressor(robot.model, q, v, v_r, a_r)[:, inertial]
    assert np.abs(found - quadratic - rest).max() < 1e-12


def test_with_one_velocity_it_is_the_regressor_of_inverse_dynamics():
    robot = rotor_robot()
    rng = np.random.default_rng(2)
    q, (v, a) = robot.random(rng), rng.uniform(0.5, 1.0, (2, 6))
    assert np.abs(slotine_li_regressor(robot.model, q, v, v, a, 1e-9) - robot.regressor(q, v, a)).max() < 1e-12


def test_base_parameters_describe_all_torques():
    robot = dy.load("kuka_iiwa14")
    base = adapted_parameters(robot)
    assert len(base.columns) < 70
    theta, rng = base.values(robot), np.random.default_rng(3)
    for q in robot.random(rng, 5):
        v, v_r, a_r = rng.uniform(-1.0, 1.0, (3, 7))
        Y = slotine_li_regressor(robot.model, q, v, v_r, a_r)
        assert np.abs(Y[:, list(base.columns)] @ theta - Y @ robot.parameters).max() < 1e-8


def test_what_to_adapt_is_chosen_by_name():
    assert adapted_parameters(ARM, "link2").names == ("link2.m", "link2.mx", "link2.my", "link2.Izz")
    assert adapted_parameters(ARM, ["link2.m", "link1.Izz"]).names == ("link1.Izz", "link2.m")
    with pytest.raises(dy.DynamisError, match="did you mean 'link2'"):
        adapted_parameters(ARM, "lnk2")
    with pytest.raises(dy.InputError, match="affects the torques"):
        adapted_parameters(ARM, ["link2.mz"])


def exciting(t):
    """Three tones for each joint: enough for the six parameters."""
    q = v = a = np.zeros(2)
    for amplitude, w, phase in (([0.5, 0.4], 1.7, 0.0), ([0.2, 0.5], 3.1, 0.7), ([0.15, -0.2], 5.3, 1.9)):
        A = np.array(amplitude)
        q, v, a = q + A * np.sin(w * t + phase), v + A * w * np.cos(w * t + phase), a - A * w * w * np.sin(w * t + phase)
    return q, v, a


MODEL = control.perturbed(ARM, 0.05, seed=7)


@pytest.fixture(scope="module")
def learning():
    law = control.SlotineLi.designed(MODEL, exciting, bandwidth=10.0, learning=20.0, duration=6.0)
    q0, v0, _ = exciting(0.0)
    motion = dy.simulate(ARM, 40.0, q0, v0, controller=law.with_model(MODEL), method="rk4", step=2e-3, points=801)
    return law, motion


def test_the_energy_of_errors_falls(learning):
    law, motion = learning
    states = zip(motion.t, motion.q, motion.v, motion.actuator_states["controller"], strict=True)
    V = np.array([law.lyapunov(ARM, MODEL, float(t), q, v, x) for t, q, v, x in states])
    assert (np.diff(V) < 1e-9 * V[0]).all()
    assert V[-1] < 1e-3 * V[0]


def test_the_error_vanishes_and_the_parameters_become_true(learning):
    law, motion = learning
    track = control.tracking(motion, exciting)
    first, last = (np.abs(track.error[part]).max() for part in (motion.t < 4.0, motion.t > 36.0))
    assert last < 0.05 * first
    x = motion.actuator_states["controller"]
    truth = law.adapted.values(ARM) - law.adapted.values(MODEL)
    assert np.abs(x).max() < 10.0 * np.abs(truth).max()  # bounded all the way
    # the torque of what was learnt, along the reference
    missed = []
    for t in np.linspace(36.0, 40.0, 50):
        q, v, a = exciting(t)
        learnt = law(MODEL, t, q, v, x[-1])
        missed.append(np.abs(learnt - ARM.inverse_dynamics(q, v, a)) / np.abs(ARM.gravity(np.zeros(2))).max())
    assert np.max(missed) < 2e-3


def test_a_payload_is_learnt_by_the_last_link_alone():
    load = dy.solids.sphere(0.05, mass=6.0)
    heavy = ARM.replace(payload=load, payload_frame="link2")
    q0, v0, _ = exciting(0.0)
    peaks = {}
    for rate in (0.0, 20.0):
        law = control.SlotineLi.designed(ARM, exciting, bandwidth=10.0, adapt="link2", learning=rate, duration=6.0)
        motion = dy.simulate(heavy, 12.0, q0, v0, controller=law.with_model(ARM), method="rk4", step=2e-3, points=241)
        peaks[rate] = np.abs(control.tracking(motion, exciting).error[motion.t > 9.0]).max()
    assert peaks[20.0] < 0.1 * peaks[0.0]


def test_the_report_says_what_is_learnt():
    law = control.SlotineLi.designed(ARM, [0.0, 0.0], bandwidth=5.0)
    report = law.check(ARM)
    assert report.proven
    assert "of which 6 are adapted" in str(report)
