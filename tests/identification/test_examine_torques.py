"""Torques against the known model: each mistake is named with its column and row; clean logs, however poor, are not accused."""

import itertools
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from campaign_params import few_of
from recorded_motions import RATE, changed, exchanged, sampled, turned
from spoiled_logs import simulated

import dynamis as dy
from dynamis.identification import Samples, prepare
from dynamis.identification.logs import examine_torques
from dynamis.identification.logs.motion_summary import summary

ROBOTS = {name: dy.load(name) for name in ("ur5e", "panda", "puma560", "stanford", "planar_2r_melchiorri")}


TILT = 0.05  # error of the direction of gravity, in rad


def only(findings, code, column):
    (found,) = findings
    assert (found.severity, found.code, found.column) == ("error", code, column)
    assert isinstance(found.row, int)
    assert column in found.text
    assert f"at t = {found.row / RATE:.6g} s " in found.text
    assert re.search(r"\d (N m|N) was measured, [^ ]* \1 expected", found.text)
    return found


CLEAN = {
    "usual": {}, "ideal": {"friction": 0.0, "noise": 0.0, "seed": 5}, "friction rules": {"friction": 3.0, "noise": 0.05, "seed": 6},
    "hardly moving": {"noise": 0.3, "reach": 0.05, "seed": 7}, "small": {"noise": 0.05, "reach": 0.1, "seed": 8},
    "short": {"seconds": 2.0, "seed": 9},
}  # fmt: skip
EVERY_CLEAN = list(itertools.product(CLEAN, ROBOTS))


@pytest.mark.parametrize(("options", "name"), few_of(EVERY_CLEAN, [*EVERY_CLEAN[:5], *EVERY_CLEAN[6::6]]))
def test_clean_samples_are_not_accused(options, name):
    assert examine_torques(sampled(ROBOTS[name], **CLEAN[options]), ROBOTS[name]) == []


def test_a_model_that_is_far_off_is_not_held_against_the_log():
    robot = ROBOTS["ur5e"]
    assert examine_torques(sampled(robot.replace(payload=dy.solids.sphere(0.1, mass=4.0))), robot) == []
    (found,) = examine_torques(sampled(robot.replace(gravity=[0.0, 0.0, -3.7])), robot)
    assert (found.severity, found.code, found.caps) == ("warning", "wrong scale", 2)


def test_halved_torques_zeros_delays_and_a_ceiling_are_named_with_their_correction():
    robot = ROBOTS["ur5e"]
    samples = sampled(robot)
    (found,) = examine_torques(changed(samples, tau=samples.tau / 2), robot)
    assert (found.code, found.caps) == ("wrong scale", 2)
    assert "0.5 times those of the model" in re.sub(r"0\.[45]\d*", "0.5", found.text)
    smooth = sampled(robot, friction=0.0)
    (found,) = examine_torques(changed(smooth, q=smooth.q - np.array([0, 0, 0.3, 0, 0, 0])), robot)
    assert (found.code, found.column, found.caps) == ("joint zero", "q.elbow_joint", 2)
    angle = float(re.search(r"zero=\(0,0,([\d.]+),0,0,0\)", found.cure)[1])
    assert abs(angle - 0.3) < 0.02
    late = changed(samples, tau=np.concatenate([samples.tau[:1], samples.tau[:-1]]))  # 20 ms
    (found,) = examine_torques(late, robot)
    assert (found.code, found.caps) == ("delay", 2)
    assert abs(float(found.cure.split("delay=")[1]) - 0.02) < 0.003
    (found,) = examine_torques(sampled(robot.replace(gravity=[0.0, 0.0, 9.81])), robot)
    assert (found.severity, found.code) == ("error", "mounting")
    assert "hung from the ceiling" in found.text


@pytest.mark.parametrize(
    ("name", "seconds"),
    few_of(itertools.product(["ur5e", "puma560"], [-0.06, 0.16, 0.3]), [("ur5e", -0.06), ("ur5e", 0.16), ("puma560", 0.3)]),
)
def test_long_delays_are_named(name, seconds):
    robot = ROBOTS[name]
    samples = sampled(robot, friction=0.1, rate=250.0, seconds=20.0)
    tau = np.stack([np.interp(samples.t - seconds, samples.t, x) for x in samples.tau.T], axis=1)
    late = Samples.of(samples.q, samples.v, samples.a, tau, period=1.0 / 250.0, parallel=5.0, every=10)
    (found,) = examine_torques(late, robot)
    assert found.code == "delay"
    assert f"{1e3 * abs(found.delay):.0f} ms {'late' if seconds > 0 else 'early'}" in found.text
    assert abs(found.delay - seconds) < 0.03 * abs(seconds)


@pytest.mark.parametrize("name", few_of(ROBOTS, ["stanford"]))
def test_the_wrong_sign_of_any_torque_is_named(name):
    robot = ROBOTS[name]
    samples = sampled(robot)
    for joint in range(robot.n) if name == "ur5e" else {0, 1, robot.n - 1}:
        coordinate = robot.coordinate_names[joint]
        found = examine_torques(changed(samples, tau=samples.tau * turned(robot.n, joint)), robot)
        assert "signs = " in only(found, "wrong sign", f"tau.{coordinate}").cure


def test_two_wrong_signs_are_both_named():
    robot = ROBOTS["panda"]
    samples = sampled(robot)
    found = examine_torques(changed(samples, tau=samples.tau * turned(7, 1) * turned(7, 5)), robot)
    assert {(f.code, f.column) for f in found} == {("wrong sign", "tau.panda_joint2"), ("wrong sign", "tau.panda_joint6")}


@pytest.mark.parametrize("name", few_of(["ur5e", "panda", "stanford"], ["ur5e"]))
def test_the_wrong_sign_of_a_position_is_told_from_that_of_a_torque(name):
    robot = ROBOTS[name]
    samples = sampled(robot)
    s = turned(robot.n, 1)
    found = examine_torques(changed(samples, q=samples.q * s, v=samples.v * s, a=samples.a * s), robot)
    only(found, "wrong sign", f"q.{robot.coordinate_names[1]}")


@pytest.mark.parametrize("name", few_of(ROBOTS, ["stanford"]))
def test_swapped_columns_are_named(name):
    robot = ROBOTS[name]
    samples, names = sampled(robot), robot.coordinate_names
    for i, j in {(0, 1), (robot.n - 2, robot.n - 1)}:
        order = exchanged(robot.n, i, j)
        found = only(examine_torques(changed(samples, tau=samples.tau[:, order]), robot), "swapped", f"tau.{names[i]}")
        assert f"'tau.{names[j]}'" in found.text
    order = exchanged(robot.n, 0, 1)
    found = examine_torques(changed(samples, q=samples.q[:, order], v=samples.v[:, order], a=samples.a[:, order]), robot)
    assert f"'q.{names[1]}'" in only(found, "swapped", f"q.{names[0]}").text


@pytest.mark.parametrize("name", few_of(ROBOTS, ["stanford"]))
def test_degrees_and_other_units_are_named(name):
    robot = ROBOTS[name]
    samples = sampled(robot)
    found = examine_torques(changed(samples, q=np.degrees(samples.q), v=np.degrees(samples.v), a=np.degrees(samples.a)), robot)
    assert [(f.severity, f.code) for f in found] == [("error", "degrees")]
    (found,) = examine_torques(changed(samples, tau=samples.tau * 1000), robot)
    assert (found.severity, found.code) == ("error", "wrong unit")
    assert "mN m" in found.text
    (found,) = examine_torques(changed(samples, tau=samples.tau / 100), robot)
    assert (found.severity, found.code) == ("warning", "wrong scale")


OTHERS = [("ur5e", "stanford", "error"), ("stanford", "ur5e", "error"), ("puma560", "stanford", "warning"),
          ("ur5e", "puma560", "error"), ("puma560", "ur5e", "error")]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "severity"), few_of(OTHERS, OTHERS[:3]))
def test_the_log_of_another_robot_is_named(one, other, severity):
    (found,) = examine_torques(sampled(ROBOTS[one]), ROBOTS[other])
    assert (found.severity, found.code) == (severity, "another robot")
    assert ROBOTS[other].name in found.text
    assert found.column in found.text
    assert f"at t = {found.row / RATE:.6g} s " in found.text
    assert re.search(r"\d (N m|N) was measured, [^ ]* \1 expected", found.text)


def test_too_few_samples_are_named():
    samples = sampled(ROBOTS["ur5e"], seconds=0.4)
    (found,) = examine_torques(samples, ROBOTS["ur5e"])
    assert (found.code, found.row) == ("few samples", 19)


def test_torques_that_are_all_inverted_are_named_before_the_mounting():
    robot = dy.load("ur5e")
    t = np.arange(600)[:, None] / 50
    w = np.linspace(1.0, 2.0, 6)
    q, v, a = np.sin(w * t) - 1, w * np.cos(w * t), -(w**2) * np.sin(w * t)
    tau = robot.inverse_dynamics(q, v, a) + 2.0 * np.tanh(v / 0.05)
    for wrong, code in ((-tau, "wrong sign"), (robot.replace(gravity=[0, 0, 9.81]).inverse_dynamics(q, v, a), "mounting")):
        (found,) = examine_torques(SimpleNamespace(t=t[:, 0], q=q, v=v, a=a, tau=wrong, source=""), robot)
        assert found.code == code
        assert "-0 %" not in found.text


def test_the_first_samples_of_several_runs_end_with_no_run_shorter_than_its_filter():
    t, x = np.arange(1000) * 0.01, np.ones((1000, 2))
    run = Samples.of(x, x, x, x, t=t, period=0.01, parallel=4.0, every=10)
    whole, _ = summary([run])
    motion, rows = summary([run, run], len(whole.t) + 3)
    assert len(motion.filters) == 1
    assert len(motion.torque) == len(whole.torque)
    assert len(rows) == len(motion.t) == len(whole.t)


def test_delayed_torques_may_be_interpolated_after_the_filter():
    t = 0.01 * np.arange(800)
    tau = np.sin(np.outer(t, [3.0, 5.0])) + np.cos(np.outer(t, [7.0, 2.0]))
    motion, _ = summary([Samples.of(tau, tau, tau, tau, t=t, period=0.01, parallel=4.0, every=10)])
    delays = np.array([-0.03, 0.0, 0.017])
    later = motion.later(delays)
    for k, delay in enumerate(delays):
        before = motion.filtered(motion.shifted(delay))
        assert np.abs(later[..., k] - before)[2:-2].max() < 1e-3
    assert np.allclose(later[..., 1], motion.torque, atol=1e-12)


def test_signs_and_orders_of_columns_may_be_changed_after_the_filter():
    t, rng = 0.01 * np.arange(800), np.random.default_rng(5)
    q, v, a, tau = (np.sin(np.outer(t, rng.uniform(1.0, 6.0, 3)) + rng.uniform(0.0, 6.0, 3)) for _ in range(4))
    motion, _ = summary([Samples.of(q, v, a, tau, t=t, period=0.01, parallel=4.0, every=10)])
    for change in (lambda x: x * [1.0, -1.0, 1.0], lambda x: x[:, [2, 1, 0]]):
        for moved, torque in ((True, False), (False, True), (True, True)):
            changed = motion.changed(change, motion=moved, torque=torque)
            anew = replace(changed)  # without what was filtered
            assert np.allclose(changed.torque, anew.torque, atol=1e-12)
            assert np.allclose(changed.friction, anew.friction, atol=1e-12)
            assert np.allclose(changed.torque, motion.torque) != torque
            assert np.allclose(changed.friction, motion.friction) != moved


MOUNTINGS = {
    "wall": (9.81, 0.0, 0.0), "other wall": (0.0, -9.81, 0.0), "ceiling": (0.0, 0.0, 9.81), "17 degrees": (2.9, 0.0, -9.37),
    "29 degrees": (0.0, 4.7, -8.61),
}  # fmt: skip
EVERY_MOUNTING = list(itertools.product(["ur5e", "puma560", "stanford"], MOUNTINGS))
USUAL_MOUNTINGS = zip(["ur5e", "puma560", "ur5e", "puma560", "stanford"], MOUNTINGS, strict=True)


@pytest.mark.parametrize(("name", "how"), few_of(EVERY_MOUNTING, USUAL_MOUNTINGS))
def test_any_mounting_is_named_with_its_gravity_although_the_file_is_inaccurate(name, how):
    robot, gravity = ROBOTS[name], MOUNTINGS[how]
    words = "from the ceiling" if how == "ceiling" else "mounted otherwise"
    real = dy.control.perturbed(robot, 0.2, seed=7)
    (found,) = examine_torques(sampled(real.replace(gravity=gravity), friction=0.2), robot)
    assert (found.severity, found.code) == ("error", "mounting")
    assert words in found.text
    assert re.search(r"was measured, \S+ N( m)? expected without the correction, \S+ N( m)? with it", found.text)
    named = np.array(re.search(r"gravity=\((.*)\)", found.cure)[1].split(","), float)
    assert np.linalg.norm(named - gravity) < TILT * 9.81


@pytest.mark.parametrize("name", few_of(["ur5e", "stanford"], ["ur5e"]))
def test_torques_without_gravity_are_named(name):
    robot, real = ROBOTS[name], dy.control.perturbed(ROBOTS[name], 0.2, seed=7)
    samples = sampled(real, friction=0.2)
    for weight, text, cure in (
        (real, "fit the file without gravity", "gravity=(0,0,0)"),
        (robot, "gravity", "log the whole torques, those of the gravity compensation included"),
    ):
        (found,) = examine_torques(changed(samples, tau=samples.tau - weight.gravity(samples.q)), robot)
        assert (found.severity, found.code) == ("error", "no gravity")
        assert text in found.text
        assert cure in found.cure


def test_gravity_along_all_axes_is_not_guessed():
    robot = ROBOTS["planar_2r_melchiorri"]  # gravity acts along -y
    (found,) = examine_torques(sampled(robot.replace(gravity=[3.0, 0.0, -9.34]), friction=0.1), robot)
    named = np.array(re.search(r"gravity=\((.*)\)", found.cure)[1].split(","), float)
    assert np.linalg.norm(named - [3.0, 0.0, 0.0]) < TILT * 9.81


FAR_OFF = [("ur5e", 1), ("stanford", 4), ("ur5e", 2), ("panda", 3), ("puma560", 5)]


@pytest.mark.parametrize(("name", "seed"), few_of(FAR_OFF, FAR_OFF[:2]))
def test_a_file_that_is_30_percent_off_is_no_other_mounting(name, seed):
    robot = ROBOTS[name]
    real = dy.control.perturbed(robot, 0.3, seed=seed)
    assert examine_torques(sampled(real, seed=20 + seed, friction=[0.3, 1.0][seed % 2]), robot) == []


def test_positions_in_revolutions_are_no_currents():
    robot, log = simulated("ur5e", 7)
    (finding,) = examine_torques(prepare(replace(log, q=log.q / (2.0 * np.pi)), robot).samples, robot)
    assert (finding.severity, finding.code) == ("error", "revolutions")
    assert "seem to be in revolutions" in finding.text
    assert 'unit = "rev"' in finding.cure


def test_an_inverted_torque_that_never_changes_its_sign_is_not_taken_for_one_without_sign():
    robot, log = simulated("ur5e", 7)
    inverted = replace(log, tau=log.tau * turned(6, 1))
    assert (inverted.tau[:, 1] > 0.0).all()
    (finding,) = examine_torques(prepare(inverted, robot).samples, robot)
    assert (finding.code, finding.column) == ("wrong sign", "tau.shoulder_lift_joint")


def test_a_torque_logged_without_its_sign_is_named():
    robot, log = simulated("ur5e", 7)
    spoiled = replace(log, tau=np.where(np.arange(6) == 0, np.abs(log.tau), log.tau))
    (finding,) = examine_torques(prepare(spoiled, robot).samples, robot)
    assert (finding.severity, finding.code, finding.column) == ("error", "magnitude", "tau.shoulder_pan_joint")
    assert "is never negative, as if logged without its sign" in finding.text
