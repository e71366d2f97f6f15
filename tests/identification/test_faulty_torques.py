"""Torques that saturate, drift, or are late in one joint: the cause is named, and no other."""

from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from examined_logs import measured
from scipy.signal import lfilter
from spoiled_logs import simulated

import dynamis as dy
from dynamis.identification import Log, prepare
from dynamis.identification.logs import examine_torques

JOINT = 1
FRICTION = (8.0, 8.0, 6.0, 1.5, 1.5, 1.2)
ROBOT = dy.load("ur5e")
T = np.arange(0.0, 10.0, 0.004)


def torques(seed=1):
    """Positions and torques of an arm with friction and masses that are off by up to 15 %, and the noise of the torques."""
    w = 3.0 * np.pi * np.array([0.11, 0.17, 0.23, 0.31, 0.37, 0.43])
    k = np.arange(1, 7)
    q = np.array([1.0, 0.6, 0.8, 1.0, 1.0, 1.2]) * np.sin(np.outer(T, w)) + 0.3 * np.sin(np.outer(T, 1.9 * w) + k)
    q += [0.0, -1.3, 1.2, -0.5, 0.8, 0.0]
    v = np.gradient(q, T, axis=0)
    friction = {name: {"viscous": f, "coulomb": f} for name, f in zip(ROBOT.joint_names, FRICTION, strict=True)}
    real = dy.control.perturbed(ROBOT, 0.15, seed=4).replace(friction=friction)
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=q.shape) * [0.6, 0.6, 0.45, 0.09, 0.09, 0.075]
    return q + 2e-5 * rng.normal(size=q.shape), real.inverse_dynamics(q, v, np.gradient(v, T, axis=0)), noise


Q, CLEAN, NOISE = torques()
MEASURED = CLEAN + NOISE


def log_of(tau, q=Q):
    return Log(T, q, tau, names=ROBOT.coordinate_names, source="run.csv")


def identified(tau):
    return dy.identify(ROBOT, log_of(tau), compare=())


def test_links_without_inertia_about_a_joint_leave_no_room_for_its_rotor():
    """Fits to torques at a limit may have such links, whose friction depends on the load."""
    (run,) = prepare(log_of(np.clip(MEASURED, -45.0, 45.0)), ROBOT)
    friction = ("viscous", "coulomb", "shoulder_lift_joint.load")
    found = dy.identify(dy.identification.LinearModel(ROBOT, friction=friction, offset=True), run, compare=())
    assert np.isfinite(found.base.model.load_rotors).all()
    assert np.isfinite(found.validation.held_out)


@pytest.mark.parametrize(("limit", "grade"), [(60.0, "usable"), (20.0, "doubtful")])
def test_saturated_torques_limit_the_grade_and_not_the_parameters(limit, grade):
    tau = MEASURED.copy()
    tau[:, JOINT] = np.clip(tau[:, JOINT], -limit, limit)
    found = identified(tau)
    share = 100.0 * np.mean(np.abs(tau[:, JOINT]) == limit)
    assert found.verdict.grade == grade
    (reason,) = found.verdict.reasons
    assert f"clipped at -{limit:g}" in reason
    assert f"in {share:.2g} % of its rows" in reason
    assert any("torques of shoulder_lift_joint at a limit of the drive, not used" in note for note in found.notes)
    assert found.parameters["shoulder_lift_joint.viscous"] == pytest.approx(FRICTION[JOINT], abs=0.15)
    assert found.validation.held_out < 1.0


RAMP = (T / T[-1])[:, None] * np.array([10.0, 10.0, 8.0, 2.0, 2.0, 2.0])


ONE_JOINT = pytest.param((0, 0, 0, -1, 0, 0), marks=pytest.mark.campaign)  # the test that follows has one, too


@pytest.mark.parametrize("signs", [(1, 1, 1, 1, 1, 1), ONE_JOINT])
def test_torques_that_drift_are_named_with_their_size_and_as_the_cause_of_what_they_look_like(signs):
    found = identified(MEASURED + RAMP * signs)
    (finding,) = found.log_findings
    assert finding.code == "drift"
    assert np.array(finding.drift) * T[-1] == pytest.approx(RAMP[-1] * signs, abs=0.05)
    assert f"by {RAMP[-1][np.flatnonzero(signs)[0]] * 0.96 * signs[3]:.2g} N m" in finding.text
    assert "over the log (temperature, gravity compensation, sensor offset)" in finding.text
    assert "delay" not in str(found.verdict)
    assert "overfits" not in str(found.verdict)
    assert found.verdict.grade == "doubtful"
    assert not any("friction" in note for note in found.notes), "chosen without the drift"


@pytest.mark.parametrize("size", [0.8, 1.5])
@pytest.mark.parametrize("name", ["puma560", "ur5e"])
def test_a_large_drift_of_one_torque_accuses_no_other_joint(name, size):
    robot, log = simulated(name, 7)
    ramp = np.linspace(0.0, 1.0, len(log.t))[:, None] * np.where(np.arange(robot.n) == JOINT, size, 0.0)
    drifts = replace(log, tau=log.tau + ramp * np.sqrt(np.mean(log.tau**2, axis=0)))
    (finding,) = examine_torques(prepare(drifts, robot).samples, robot)
    assert finding.code == "drift"
    assert np.flatnonzero(finding.drift).tolist() == [JOINT]


def test_a_drift_is_the_first_reason_even_if_the_residual_is_not_usable():
    found = identified(MEASURED + 6.0 * RAMP * [0, 1, 0, 0, 0, 0])
    assert found.verdict.grade == "not usable"
    assert "the torques of 'shoulder_lift_joint' drift by" in found.verdict.reasons[0]
    assert float(found.log_findings[0].text.partition("on held-out motion is ")[2].split(" ")[0]) < 3.0


def test_a_delay_of_one_joint_is_named_and_corrected_by_its_option():
    tau = CLEAN.copy()
    tau[:, JOINT] = np.interp(T - 0.04, T, CLEAN[:, JOINT])
    found = identified(tau + NOISE)
    (finding,) = found.log_findings
    assert finding.delays == pytest.approx((0.0, 0.04, 0.0, 0.0, 0.0, 0.0), abs=0.001)
    assert "the torque of 'shoulder_lift_joint' is 40 ms late, those of the other joints are not" in finding.text
    assert found.verdict.grade == "doubtful"
    assert not any("presliding" in note for note in found.notes)
    cure = tuple(map(float, finding.cure.partition("delay=(")[2].rstrip(")").split(",")))
    corrected = dy.identify(ROBOT, log_of(tau + NOISE), compare=(), signals={"delay": cure})
    assert corrected.log_findings == ()
    assert corrected.verdict.grade == "good"


def test_torques_that_wander_are_not_called_overfitted():
    found = identified(MEASURED + 8.0 * np.sin(1.2 * T)[:, None] * RAMP[-1] / 10.0)
    (item,) = found.verdict.about("overfit")
    assert "parts of the log contradict each other, as if torques drift or friction changes" in item.sentence
    assert "overfits" not in item.sentence


def test_clean_logs_have_no_findings():
    found = identified(MEASURED)
    assert found.log_findings == ()
    assert found.verdict.grade == "good"


@pytest.mark.parametrize(("joint", "size"), few_of([(1, 0.1), (2, 0.03), (2, 0.1)], [(2, 0.1)]))
def test_a_torque_of_another_scale_is_named_in_correlated_noise(joint, size):
    robot, log = simulated("kuka_iiwa14", 7)
    slow = lfilter([1.0], [1.0, -0.9], np.random.default_rng(106).normal(size=log.tau.shape), axis=0)
    tau = log.tau + size * log.tau.std(axis=0) * slow / slow.std(axis=0)
    tau[:, joint] *= 2.0
    found = dy.identify(robot, replace(log, tau=tau), compare=(), estimator="weighted")
    (finding,) = found.log_findings
    assert finding.code == "wrong scale"
    assert finding.factors[joint] == pytest.approx(2.0, rel=0.08)
    assert f"the residual of 'joint{joint + 1}' on held-out motion is" in finding.text
    assert found.verdict.grade == "doubtful"


def test_play_of_a_gear_is_no_clock_of_another_rate():
    """Positions of one joint jump by 20 mrad at each reversal: no clock makes the fit good."""
    jumps = 0.01 * np.sign(np.gradient(Q[:, JOINT], T))[:, None] * (np.arange(6) == JOINT)
    found = dy.identify(ROBOT, log_of(MEASURED, Q - jumps), compare=())
    assert found.log_findings == ()
    assert found.verdict.grade in ("doubtful", "not usable")


@pytest.mark.parametrize(("seed", "rate"), [(1, 25), (2, 25), (3, 10)])
def test_torques_that_are_held_between_updates_are_late_on_all_joints(seed, rate):
    log = measured(dy.load("ur5e"), seed)  # 200 Hz
    held = (np.arange(len(log.t)) // (200 // rate)) * (200 // rate)
    found = dy.identify("ur5e", replace(log, tau=log.tau[held]), compare=())
    late = [x for x in found.log_findings if x.code == "delay"]
    assert len(late) == 1
    assert not late[0].delays  # of single joints
    assert late[0].delay == pytest.approx(0.5 / rate, abs=0.3 / rate)
