"""How laws are called, what they know, and what they refuse."""

import numpy as np
import pytest
from floating import floating
from small_machines import ball_joint

import dynamis as dy
from dynamis import control
from dynamis.control.gains import max_diagonal_inertia
from dynamis.control.reference import reference_of

ARM = dy.load("planar_2r_melchiorri")
LAW = control.PDGravity([0.1, 0.2], stiffness=4000.0, damping=900.0)


def test_a_law_with_a_model_computes_with_it_whatever_robot_is_passed():
    other = control.perturbed(ARM, 0.2, seed=1)
    q, v = np.array([0.3, 0.4]), np.zeros(2)
    assert np.array_equal(LAW.with_model(other)(ARM, 0.0, q, v), LAW(other, 0.0, q, v))
    assert np.array_equal(LAW.with_model(other).with_model(ARM)(other, 0.0, q, v), LAW(ARM, 0.0, q, v))
    assert np.abs(LAW(other, 0.0, q, v) - LAW(ARM, 0.0, q, v)).max() > 1.0


def test_a_law_with_a_model_is_compiled_with_fixed_steps():
    motion = dy.simulate(ARM, 0.1, controller=LAW.with_model(ARM), method="rk4", step=1e-3, points=3)
    assert motion.statistics["compiled"]


def test_a_batch_of_starts_is_one_compiled_loop():
    starts = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 2))
    made = dy.rollouts(ARM, 1.0, starts, controller=LAW, every=1000)
    assert made.note == ""
    assert np.abs(made.q[-1] - [0.1, 0.2]).max() < 0.05


def test_the_model_must_have_the_same_joints():
    with pytest.raises(dy.InputError, match="with 6 joints, but the robot"):
        LAW.with_model(dy.load("ur5e"))(ARM, 0.0, np.zeros(2), np.zeros(2))
    with pytest.raises(dy.InputError, match="must be a robot"):
        LAW.with_model("ur5e")


def test_joints_with_quaternions_are_refused():
    flying = floating("ur5e")
    with pytest.raises(dy.InputError, match="spherical or free joint"):
        LAW(flying, 0.0, flying.neutral(), np.zeros(flying.n))


@pytest.mark.parametrize(("given", "sentence"), [
    ("here", "must be a goal"),
    ([[0.0, 1.0], [1.0, 2.0]], "must be a goal"),
    ([np.nan, 0.0], "must be a goal"),
])  # fmt: skip
def test_a_reference_that_is_none_is_refused(given, sentence):
    with pytest.raises(dy.InputError, match=sentence):
        reference_of(given)


def test_a_function_of_time_gives_three_vectors():
    with pytest.raises(dy.InputError, match=r"must return \(q, v, a\)"):
        reference_of(lambda t: t)(0.0)
    with pytest.raises(dy.InputError, match="must be one vector"):
        reference_of(lambda t: (np.zeros(2), np.zeros(3), np.zeros(2)))(0.0)
    with pytest.raises(dy.InputError, match="holds 3 numbers, the robot requires 2"):
        control.ComputedTorque.designed([0.0, 0.0, 0.0], bandwidth=5.0)(ARM, 0.0, np.zeros(2), np.zeros(2))


def test_gains_are_checked():
    for bad in (-1.0, 0.0, np.nan, "fast", [[1.0]]):
        with pytest.raises(dy.InputError, match="bandwidth must be positive"):
            control.gains(bad)
    with pytest.raises(dy.InputError, match="has 3 numbers; give one, or 2"):
        control.OperationalSpace([0.0, 0.0], [1.0, 2.0, 3.0], 1.0, dy.task_space.Position(rows=(0, 1)))
    with pytest.raises(dy.InputError, match="gravity='there'"):
        control.PDGravity([0.0], 1.0, 1.0, "there")


def test_pd_gains_have_the_bandwidth_where_a_joint_sees_the_most():
    kp, kd = control.gains(6.0, 0.8, ARM)
    seen = max_diagonal_inertia(ARM)
    assert np.allclose(kp / seen, 36.0)
    assert np.allclose(kd / (2.0 * np.sqrt(kp * seen)), 0.8)
    assert np.allclose(seen, np.diagonal(ARM.mass_matrix([0.0, 0.0])))  # stretched out


def test_perturbed_robots_are_sound_seeded_and_off_by_the_share_at_most():
    robot = dy.load("puma560")
    off = control.perturbed(robot, 0.05, seed=2)
    assert np.array_equal(off.parameters, control.perturbed(robot, 0.05, seed=2).parameters)
    assert not np.array_equal(off.parameters, control.perturbed(robot, 0.05, seed=3).parameters)
    pairs = list(zip(robot.description.links, off.description.links, strict=True))
    moved = [(a.mass_properties, b.mass_properties) for a, b in pairs if a.mass_properties is not None]
    for before, after in moved:
        assert abs(after.mass - before.mass) <= 0.05 * before.mass
        assert (np.abs(after.com - before.com) <= 0.05 * np.abs(before.com) + 1e-15).all()
        assert np.abs(after.tensor - before.tensor).max() <= 0.05 * np.abs(before.tensor).max()
    assert np.array_equal(control.perturbed(robot, 0.0).parameters, robot.parameters)
    with pytest.raises(dy.InputError, match="from 0 to 1"):
        control.perturbed(robot, 5)


def test_a_payload_is_carried_as_if_it_were_part_of_the_robot():
    robot = dy.load("kuka_iiwa14")
    load = dy.Inertia.about_com(3.0, [0.02, -0.03, 0.1], 0.01 * np.eye(3))
    law = control.GravityCompensation(load, damping=2.0)
    q, v = robot.random(4), np.full(7, 0.1)
    assert np.allclose(law(robot, 0.0, q, v), robot.replace(payload=load).gravity(q) - 0.2, atol=1e-12)
    elbow = control.GravityCompensation(load, frame="link4")
    there = robot.replace(payload=load, payload_frame="link4")
    assert np.allclose(elbow(robot, 0.0, q, v), there.gravity(q), atol=1e-12)
    with pytest.raises(dy.InputError, match=r"must be a dynamis\.Inertia"):
        control.GravityCompensation(3.0)


def test_a_robot_with_its_payload_carried_stays_where_it_is_put():
    robot = dy.load("kuka_iiwa14")
    load = dy.solids.sphere(0.05, mass=4.0)
    q0 = np.array([0.2, 0.6, 0.1, -1.3, 0.2, 0.9, 0.1])
    held = dy.simulate(robot.replace(payload=load), 1.0, q0, controller=control.GravityCompensation(load).with_model(robot),
                       method="rk4", step=1e-3, points=3)  # fmt: skip
    assert np.abs(held.q[-1] - q0).max() < 1e-9


def test_dry_friction_is_fed_forward_along_the_reference_and_never_by_the_measured_sign():
    robot = dy.load("puma560")
    law = control.ComputedTorque.designed(lambda t: (np.zeros(6), np.full(6, 0.5), np.zeros(6)), bandwidth=5.0)
    q = np.zeros(6)
    step = law(robot, 0.0, q, np.full(6, 1e-9)) - law(robot, 0.0, q, np.full(6, -1e-9))
    assert np.abs(step).max() < 1e-6
    without = control.ComputedTorque(law.reference, law.kp, law.kd, None)
    extra = law(robot, 0.0, q, np.zeros(6)) - without(robot, 0.0, q, np.zeros(6))
    assert np.allclose(extra, robot.model.coulomb + robot.model.coulomb_bias, rtol=1e-3)


TASK = dy.task_space.Position(rows=(0, 1))
LAWS = {
    "gravity": control.GravityCompensation(damping=1.0),
    "pd": LAW,
    "bounded": control.RobustPD.designed(ARM, [0.1, 0.2], bandwidth=5.0, constants="found", seconds=0.2),
    "feedforward": control.FeedforwardPD.designed(ARM, [0.1, 0.2], bandwidth=5.0),
    "computed torque": control.ComputedTorque.designed([0.1, 0.2], bandwidth=5.0),
    "adaptive": control.SlotineLi.designed(ARM, [0.1, 0.2], bandwidth=5.0),
    "operational space": control.OperationalSpace.designed([1.0, 1.0], TASK, bandwidth=5.0),
    "impedance": control.Impedance([1.0, 1.0], 400.0, TASK),
    "hybrid": control.HybridForcePosition.designed(
        [1.0, 1.0], 10.0, [1.0, 0.0], TASK, bandwidth=5.0, wrench=lambda t, q, v: np.zeros(6)
    ),
}


def refusal(function):
    with pytest.raises(dy.InputError) as caught:
        function()
    return str(caught.value)


def called(law, robot):
    law(robot, 0.0, robot.neutral(), np.zeros(robot.n), *([np.zeros(law.size)] if law.size else []))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_check_refuses_what_the_law_refuses_in_the_same_words(law):
    flying = floating("planar_2r_melchiorri")
    for one in (law, law.with_model(flying), control.MomentumObserver(law, flying.n)):
        words = refusal(lambda one=one: one.check(flying))
        assert "free joint" in words
        assert words == refusal(lambda one=one: called(one, flying))


@pytest.mark.parametrize(("law", "sentence"), [
    (control.PDGravity([0.1, 0.2, 0.3], 100.0, 10.0), "the reference holds 3 numbers, the robot requires 2"),
    (control.PDGravity([0.1, 0.2], [100.0] * 3, 10.0), "stiffness has 3 numbers, the robot 'planar 2R (Melchiorri)' has 2 joints"),
    (control.ComputedTorque([0.1, 0.2], 100.0, [10.0] * 3), "kd has 3 numbers"),
    (control.GravityCompensation(damping=[1.0] * 3), "damping has 3 numbers"),
    (control.Impedance([1.0, 0.9, 0.0], 800.0, TASK), r"the reference of the task (x, y) holds 3 numbers"),
    (control.SlotineLi.designed(dy.load("ur5e"), np.zeros(6), bandwidth=5.0), "the reference holds 6 numbers, the robot requires 2"),
    (control.MomentumObserver(LAW, 7), "the observer is one of 7 joints, the robot 'planar 2R (Melchiorri)' has 2"),
])  # fmt: skip
def test_a_law_for_another_number_of_joints_is_refused_by_check_and_call(law, sentence):
    words = refusal(lambda: law.check(ARM))
    assert sentence in words
    assert words == refusal(lambda: called(law, ARM))


def test_a_ball_joint_has_motors_that_gravity_compensation_commands():
    top = ball_joint()
    assert control.GravityCompensation(damping=1.0).check(top).proven
    assert "spherical or free joint" in refusal(lambda: control.PDGravity(np.zeros(3), 1.0, 1.0).check(top))


def test_robots_without_plain_joints_are_refused_before_gains_are_designed():
    flying = floating("planar_2r_melchiorri")
    assert "free joint" in refusal(lambda: control.SlotineLi.designed(flying, flying.neutral(), bandwidth=5.0))
    law = control.FeedforwardPD.designed(flying, flying.neutral(), bandwidth=5.0)
    assert "free joint" in refusal(lambda: law.check(flying))


def test_a_robot_with_constraints_is_refused_by_name():
    words = refusal(lambda: control.PDGravity(np.zeros(3), 100.0, 10.0).check(dy.loops.four_bar()))
    assert "robot must be a Robot" in words
    assert "got ConstrainedRobot; its attribute robot is the tree" in words
