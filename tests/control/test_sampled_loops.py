"""The verdict on a sampled law is that of its sampled loop: small errors of the simulated loop decay or grow as it says."""

import numpy as np
import pytest

import dynamis as dy
from dynamis import control

ARM = dy.load("planar_2r_melchiorri")
GOAL = np.array([0.5, -0.5])
TASK = dy.task_space.Position(rows=(0, 1))
ONE_JOINT = """
[robot]
name = "one"
gravity = [0, 0, -9.81]
[[link]]
link = "p"
joint = "j"
axis = {axis}
mass = 1.0
com = [0, 0, 0.025]
inertia = {{ xx = {inertia}, yy = {inertia}, zz = {inertia} }}
viscous = {viscous}
"""
INVERTED = dy.load(ONE_JOINT.format(axis="[0, 1, 0]", inertia=1e-7, viscous=0.0))
GEARBOX = dy.load(ONE_JOINT.format(axis="[0, 0, 1]", inertia=0.01, viscous=5.0))
SLOW, FAST = 16.0, 200.0
LAWS = {
    "pd": control.PDGravity.designed(ARM, GOAL, bandwidth=10.0),
    "pd goal": control.PDGravity.designed(ARM, GOAL, bandwidth=10.0, gravity="goal"),
    "feedforward": control.FeedforwardPD.designed(ARM, GOAL, bandwidth=10.0),
    "computed torque": control.ComputedTorque.designed(GOAL, bandwidth=20.0),
    "bounded": control.RobustPD.designed(ARM, GOAL, bandwidth=5.0, constants="found", torque_limits=np.inf, seconds=0.2),
}


def decay(report):
    return next(c for c in report.conditions if c.what.startswith("decay rate of the sampled loop"))


def held(law, rate, seconds, q0, robot=ARM):
    """The positions at the samples."""
    count = round(seconds * rate)
    times, step = np.arange(count + 1) / rate, 1.0 / (rate * max(4, int(400.0 / rate)))
    return dy.simulate(robot, times, q0, controller=dy.Sampled(law, rate), method="rk4", step=step).q


@pytest.mark.parametrize("rate", [SLOW, FAST])
@pytest.mark.parametrize("name", LAWS)
def test_a_sampled_loop_is_stable_where_its_small_errors_decay(name, rate):
    law = LAWS[name]
    assert law.check(ARM).stable
    report = law.check(ARM, rate=rate)
    errors = np.abs(held(law, rate, 12.0 / rate, GOAL + np.array([1e-7, 0.0])) - GOAL).max(axis=1)
    assert report.stable is (rate == FAST)
    assert (errors[-1] > 2.0 * errors[0]) == (rate == SLOW)
    assert ("small errors decay" in decay(report).why) is report.stable
    assert {c.basis for c in report.conditions} <= {"proven for small errors", "of the continuous law", "rule of thumb"}


@pytest.mark.parametrize("name", ["pd", "computed torque"])
def test_the_decay_rate_is_that_of_the_simulated_map_over_a_period(name):
    law, rate, h = LAWS[name], 25.0, 1e-5

    def after(z):
        made = dy.simulate(ARM, 1.0 / rate, z[:2], z[2:], controller=dy.Sampled(law, rate), method="rk4", step=1e-3)
        return np.concatenate([made.q[-1], made.v[-1]])

    rest = np.concatenate([GOAL, np.zeros(2)])
    G = np.column_stack([(after(rest + h * d) - after(rest - h * d)) / (2.0 * h) for d in np.eye(4)])
    expected = -rate * np.log(np.abs(np.linalg.eigvals(G)).max())
    assert decay(law.check(ARM, rate=rate)).found == pytest.approx(expected, rel=1e-5)


def test_gravity_and_friction_between_samples_are_part_of_the_loop():
    """Jury's conditions of the double integrator, k_d T < 2 and k_p T / (2 k_d) < 1, are wrong in both directions."""
    falling = control.ComputedTorque.designed([0.0], bandwidth=2.0)  # k_d T = 0.2
    assert falling.check(INVERTED, rate=20.0).stable is False
    assert np.abs(held(falling, 20.0, 2.0, [1e-3], INVERTED)[-1]).max() > 0.05
    viscous = control.ComputedTorque.designed([0.5], bandwidth=30.0)  # k_d T = 2.4
    assert viscous.check(GEARBOX, rate=25.0).stable is True
    assert abs(held(viscous, 25.0, 4.0, [0.0], GEARBOX)[-1, 0] - 0.5) < 1e-2


def test_conditions_of_the_continuous_law_do_not_decide_but_fail():
    soft = control.PDGravity(GOAL, 500.0, 200.0, gravity="goal").check(ARM, rate=1000.0)
    assert soft.stable is False
    notes = LAWS["pd"].check(ARM, rate=FAST).notes
    assert "continuous law: if all conditions hold, the goal is globally asymptotically stable" in notes
    assert "proven for small errors" in LAWS["pd"].check(ARM, rate=FAST).verdict


def test_a_moving_reference_is_not_proven_and_the_end_of_a_motion_is():
    def swing(t):
        s, c = np.sin(4.0 * t), np.cos(4.0 * t)
        return 0.5 * np.array([s, s]), 2.0 * np.array([c, c]), -8.0 * np.array([s, s])

    report = control.ComputedTorque.designed(swing, bandwidth=10.0).check(ARM, rate=FAST)
    assert report.stable is None
    assert "its reference does not come to rest" in str(report)
    assert decay(report).basis == "rule of thumb"
    move = dy.trajectories.joint_move([0.0, 0.0], GOAL, duration=1.0)
    ends = control.ComputedTorque.designed(move, bandwidth=10.0).check(ARM, rate=FAST)
    assert ends.stable is True
    at_goal = control.ComputedTorque.designed(GOAL, bandwidth=10.0).check(ARM, rate=FAST)
    assert decay(ends).found == pytest.approx(decay(at_goal).found)
    moving = dy.control.OperationalSpace.designed(
        lambda t: (np.array([1.0, t]), np.array([0.0, 1.0]), np.zeros(2)), TASK, bandwidth=5.0
    )
    assert moving.check(ARM, rate=FAST, q=[0.3, 1.2]).stable is None


def test_the_loop_of_a_wrong_model_is_linearised_where_the_robot_rests():
    model = control.perturbed(ARM, 0.05, seed=3)
    law = control.ComputedTorque.designed(GOAL, bandwidth=10.0)
    off = np.abs(held(law.with_model(model), FAST, 3.0, GOAL)[-1] - GOAL).max()
    for report in (law.check(ARM, rate=FAST, model=model), law.with_model(model).check(ARM, rate=FAST)):
        assert report.stable is True
        assert f"where the robot rests, up to {off:.3g} rad or m off the goal" in str(report)


def test_without_a_linear_model_a_sampled_loop_is_not_proven():
    dry = ARM.replace(friction={"joint1": {"coulomb": 5.0}})
    for law, robot, why in (
        (LAWS["pd"], dry, "at rest dry friction has no linear model"),
        (control.SlotineLi.designed(ARM, GOAL, bandwidth=5.0), ARM, "an eigenvalue of its linear model is on the unit circle"),
        (control.HybridForcePosition.designed([1.0, 1.0], 20.0, [0.0, 1.0], TASK, bandwidth=5.0), ARM, "the measured wrench"),
        (control.Impedance([1.0, 1.0], 400.0, TASK, inertia=5.0), ARM, "the measured wrench"),
    ):
        report = law.check(robot, rate=1000.0, **({"q": [0.3, 1.2]} if hasattr(law, "task") else {}))
        assert report.stable is None
        assert f"the sampled loop is not checked, simulate it: {why}" in str(report)
        assert law.check(robot, **({"q": [0.3, 1.2]} if hasattr(law, "task") else {})).stable


def test_an_adaptive_loop_that_grows_fails():
    assert control.SlotineLi.designed(ARM, GOAL, bandwidth=20.0).check(ARM, rate=10.0).stable is False


def test_where_every_position_is_one_of_rest_the_others_decide():
    law = control.GravityCompensation(damping=500.0)
    assert "small errors decay, up to 2 directions in which every position" in str(law.check(ARM, rate=FAST))
    assert law.check(ARM, rate=FAST).stable is True
    assert law.check(ARM, rate=10.0).stable is False
    assert control.GravityCompensation().check(ARM, rate=FAST).stable is not True  # not damped
    iiwa, q = dy.load("kuka_iiwa14"), np.array([0.2, 0.6, 0.1, -1.3, 0.2, 0.9, 0.1])
    redundant = control.Impedance(iiwa.pose(q)[:3, 3], 1000.0)
    assert "up to 4 directions" in str(redundant.check(iiwa, rate=FAST, q=q))
    assert redundant.check(iiwa, rate=FAST, q=q).stable is True
    assert redundant.check(iiwa, rate=20.0, q=q).stable is False


def test_a_wrong_model_makes_a_null_space_without_posture_drift():
    ur5e, q = dy.load("ur5e"), np.array([0.0, -1.27, 1.54, -1.3, -2.5, 0.1])
    goal, model = ur5e.pose(q)[:3, 3], control.perturbed(ur5e, 0.05)
    law = control.OperationalSpace.designed(goal, bandwidth=10.0)
    assert law.check(ur5e, rate=500.0, q=q).stable is True
    drifting = law.check(ur5e, rate=500.0, q=q, model=model)
    assert drifting.stable is None
    assert "the error of the model makes the null space drift" in str(drifting)
    held = control.OperationalSpace.designed(goal, bandwidth=10.0, posture=q)
    assert held.check(ur5e, rate=500.0, q=q, model=model).stable is True


def test_a_state_of_rest_far_from_q_decides_nothing():
    report = control.OperationalSpace.designed([-1.5, 0.5], TASK, bandwidth=5.0).check(ARM, rate=FAST, q=[0.3, 1.2])
    assert report.stable is None
    assert "no state of rest was found near q" in str(report)


def test_a_sampled_observer_needs_a_bandwidth_below_twice_the_rate():
    for bandwidth, stable in ((390.0, True), (410.0, False)):
        watched = control.MomentumObserver(LAWS["pd"], 2, bandwidth)
        assert watched.check(ARM).stable is True
        assert watched.check(ARM, rate=FAST).stable is stable
