"""Spoiled logs of simulated arms: the cause is named or repaired, and clean logs are not accused."""

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from scipy.signal import lfilter
from spoiled_logs import ARMS, GAINS, KINDS, accused, answer, motion, rightly_answered, simulated, spoil

import dynamis as dy
from dynamis.identification import LinearModel, Log, Transmission, prepare
from dynamis.identification.logs import examine_torques
from dynamis.model.description import Limits


# a zero and an order are also named in the tests that follow
@pytest.mark.parametrize("kind", few_of(["zero", "order", "currents", "duplicated"], ["currents", "duplicated"]))
def test_a_spoiled_log_is_repaired_or_its_cause_is_named(kind):
    robot, log, words = spoil(kind, "ur5e", 7)
    assert rightly_answered(kind, words, *answer(robot, log))


@pytest.mark.parametrize("name", few_of(["puma560", "kuka_iiwa14", "xarm7"], ["puma560"]))
def test_exchanged_wrist_joints_dominated_by_friction_are_named_after_a_refit(name):
    robot, log, words = spoil("order", name, 7)
    grade, said, _ = answer(robot, log)
    assert re.search(words, said)
    assert re.search(r"in order, the residuals on held-out motion are \S+ times lower", said)
    assert grade == "doubtful"


def test_joints_that_only_seem_to_be_exchanged_in_a_part_of_the_log_are_not_accused():
    assert not accused(answer(*simulated("puma560", 2))[1])  # more likely if exchanged, but the refit is worse


def test_gravity_that_is_missing_along_a_vertical_prismatic_axis_is_named():
    robot, log = simulated("scara", 1)
    net = log.tau - dy.control.perturbed(robot, 0.1, seed=1).gravity(log.q)

    def examined(robot, tau):
        return [f.text for f in examine_torques(prepare(replace(log, tau=tau), robot).samples, robot) if f.code == "no gravity"]

    (text,) = examined(robot, net)
    assert "'tau.joint3' contains its inertia and friction, but not the 98.1 N with which gravity acts" in text
    assert not examined(robot.replace(gravity=(0, 0, 0)), net)
    assert not examined(robot, log.tau)
    assert not examined(robot, log.tau / GAINS[:4])


def test_an_unknown_gripper_is_no_other_scale_of_the_torques():
    """Of a gantry, only one joint of the wrist shows masses apart from friction and rotors."""
    description = dy.Description("gantry").add_link("base")
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "tilt": (0, 1, 0), "roll": (0, 0, 1)}
    for parent, (name, axis), mass in zip(["base", *axes], axes.items(), (30, 15, 8, 1.5, 0.8), strict=False):
        kind = "revolute" if name in ("tilt", "roll") else "prismatic"
        description.add_link(
            name, parent, kind, joint_name=name, axis=axis, limits=Limits(-1.0, 1.0, 1.5, 2000.0),
            inertia=dy.solids.cylinder(0.05, 0.25, mass=mass).seen_from(dy.Pose.translation([0.02, 0.01, -0.08])),
        )  # fmt: skip
    robot, t = dy.Robot(description), np.arange(2400) / 200.0
    q, v, a = motion(robot, t, 12.0, np.random.default_rng(0))
    real = dy.control.perturbed(robot, 0.15, seed=0)
    gripped = real.replace(payload=dy.Inertia.about_com(4.0, [0.02, 0.0, -0.1], 0.02 * np.eye(3)))
    noise = np.random.default_rng(1).normal(size=q.shape)
    size = real.inverse_dynamics(q, v, a).std(axis=0)
    for arm, factor, code in ((gripped, 1.0, "load"), (real, 3.5, "wrong scale")):
        tau = factor * (arm.inverse_dynamics(q, v, a) + size * (0.2 * np.tanh(v / 0.003) + 0.01 * noise))
        (found,) = examine_torques(prepare(Log(t, q, tau), robot).samples, robot)
        assert (found.code, "currents" in found.text) == (code, code == "wrong scale")


def test_a_clean_log_with_a_poor_prior_is_not_accused():
    grade, said, error = answer(*simulated("ur5e", 1))
    assert not accused(said)
    assert grade != "refused"
    assert error < 1.0


def test_torques_of_coupled_motors_are_named_after_a_refit():
    """The motor of the last wrist joint turns with the one before, too; a model with its coupling is not accused."""
    robot, t = dy.load("ur5e"), np.arange(5000) / 250.0
    q, v, a = motion(robot, t, 20.0, np.random.default_rng(3))
    gears = Transmission.of(np.ones(6), couplings=[(5, 4, 1.0)])
    speed = gears.motor_velocity(v)
    drives = (
        gears.motor_torque(dy.control.perturbed(robot, 0.1, seed=4).inverse_dynamics(q, v, a))
        + 2.0 * speed
        + 1.5 * np.sign(speed)
    )
    drives += np.random.default_rng(1).normal(scale=0.1, size=q.shape)
    names = robot.coordinate_names
    at_motors, at_joints = (Log(t, q, tau, names=names, source="run.csv") for tau in (drives, gears.torque(drives)))
    grade, said, _ = answer(robot, at_motors)
    assert "the torques to be those of the motors: that of 'wrist_3_joint' acts on 'wrist_2_joint', too" in said
    assert "coupling = [[6, 5, 1]]" in said
    assert grade == "doubtful"
    plain = LinearModel(robot, friction=("viscous", "coulomb"))
    found = dy.identify(plain, at_joints, compare=(), estimator="weighted")
    assert any("add couplings=[('wrist_2_joint', 'wrist_3_joint')]" in x.cure and x.caps == 1 for x in found.log_findings)
    coupled = LinearModel(robot, couplings=[("wrist_2_joint", "wrist_3_joint")])
    assert dy.identify(coupled, at_joints, compare=(), estimator="weighted").log_findings == ()


@pytest.mark.parametrize(("angle", "coloured"), [(0.15, 0.0), (-0.3, 0.03)])
def test_a_zero_that_the_masses_absorb_almost_completely_is_found_with_its_interval(angle, coloured):
    log = simulated("three joints", 2, error=0.15, zero=np.array([0.0, angle, 0.0]), coloured=coloured)
    grade, said, _ = answer(*log, estimator="consistent")
    value, interval = re.search(r"zero of joint 'joint1' is off \((\S+) ± (\S+) rad", said).groups()
    assert grade == "doubtful"
    assert abs(float(value) - angle) < 2.0 * float(interval) < 0.15


@pytest.mark.parametrize("seed", range(3))
def test_slow_noise_is_not_taken_for_a_joint_zero(seed):
    assert not accused(answer(*simulated("three joints", seed, error=0.15, coloured=0.03), estimator="consistent")[1])


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["three joints", "ur5e", "panda", "kuka_iiwa14"])
def test_small_zeros_in_slow_noise_are_found_and_no_others(name, capsys):
    """Zeros of 0.15 to 0.3 rad of a middle joint, and clean logs, with the default estimator."""
    found, wrong = 0, 0
    for seed in range(10):
        n = simulated(name, seed)[0].n
        rng = np.random.default_rng(seed)
        joint, angle = int(rng.integers(1, max(n - 2, 2))), float(rng.choice([-1, 1]) * rng.uniform(0.15, 0.3))
        zero = np.where(np.arange(n) == joint, angle, 0.0)
        robot, log = simulated(name, seed, error=0.15, zero=zero, coloured=0.03)
        said = answer(robot, log, estimator="consistent")[1]
        found += f"zero of joint {robot.coordinate_names[joint]!r}" in said
        wrong += bool(accused(answer(*simulated(name, seed, error=0.15, coloured=0.03), estimator="consistent")[1]))
    with capsys.disabled():
        print(f"\n{name}: {found} of 10 zeros found, {wrong} of 10 clean logs accused")  # noqa: T201 the numbers are the result
    assert found >= 8
    assert wrong == 0


@pytest.mark.campaign
def test_twelve_mistakes_on_five_arms(capsys):
    right = 0
    with capsys.disabled():
        print(f"\n{'':12}" + "".join(f"{name:>13}" for name in ARMS))  # noqa: T201 the table is the result
        for kind in KINDS:
            line = ""
            for name in ARMS:
                robot, log, words = spoil(kind, name, 7)
                told = answer(robot, log)
                good = rightly_answered(kind, words, *told)
                right += good
                line += f"{told[0] if good else 'WRONG':>13}"
            print(f"{kind:12}{line}")  # noqa: T201
        print(f"{right} of {len(KINDS) * len(ARMS)}")  # noqa: T201
    assert right >= 58


@pytest.mark.campaign
@pytest.mark.parametrize("name", ARMS)
def test_fifty_clean_logs_are_not_accused(name):
    for seed in range(10):
        assert not accused(answer(*simulated(name, seed))[1]), seed


@pytest.mark.campaign
def test_clean_logs_keep_their_grade_with_the_default_estimator(capsys):
    """Twenty logs of five arms, half of them with torques in noise of first order, x(k) = 0.9 x(k − 1) + e(k)."""
    for name in ARMS:
        for seed in range(100, 104):
            robot, log = simulated(name, seed)
            if seed % 2:
                slow = lfilter([1.0], [1.0, -0.9], np.random.default_rng(seed).normal(size=log.tau.shape), axis=0)
                log = replace(log, tau=log.tau + 0.05 * log.tau.std(axis=0) * slow / slow.std(axis=0))
            start = time.perf_counter()
            found = dy.identify(robot, log, compare=())
            seconds, error = time.perf_counter() - start, found.validation.held_out
            with capsys.disabled():
                print(f"{name:12} {seed} {found.verdict.grade:8} {error:6.3f} % {seconds:5.1f} s")  # noqa: T201 the table is the result
            assert found.log_findings == ()
            assert not accused("\n".join([*found.notes, *found.verdict.sentences]))
            assert found.verdict.grade in ("good", "usable")
