"""Logs whose clock has another rate: the scale of the times is found, verified by a refit, and corrected by an option."""

import re
from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from recorded_motions import changed, sampled
from spoiled_logs import ARMS, accused, answer, simulated

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.cli.hints import for_command_line
from dynamis.identification import Log, base_parameters, prepare
from dynamis.identification.logs import examine_torques
from dynamis.identification.logs.clock_fit import clock_scale
from dynamis.identification.logs.free_fit import WEIGHT, FreeFit
from dynamis.identification.logs.motion_summary import summary

WITHIN = 0.03  # relative error of the scale
ARM = "planar_2r_melchiorri"


@pytest.mark.parametrize(
    ("name", "scale"),
    few_of([(name, scale) for name in (*ARMS, "three joints") for scale in (0.5, 0.7, 1.15, 1.5, 2.0)
            if (name, scale) != ("puma560", 1.15)],  # its log has a standard error of up to 10 %
           [("three joints", 2.0), ("three joints", 0.5)]),
)  # fmt: skip
def test_times_of_another_rate_are_named_with_the_option_that_corrects_them(name, scale):
    robot, log = simulated(name, 7)
    log = replace(log, t=scale * log.t)
    grade, said, spoiled = answer(robot, log)
    found, factor = (float(re.search(words, said)[1]) for words in (r"times seem to be (\S+) ± ", r"time_scale=(\d+\.?\d*)"))
    assert abs(found / scale - 1.0) < WITHIN
    assert abs(factor * scale - 1.0) < WITHIN
    assert re.search(r"corrected, the residual on held-out motion is \S+ % instead of", said)
    assert grade == "doubtful"
    assert not [word for word in accused(said) if word != "seem"]
    assert not re.search(r"gravity: |as if they were|another robot", said)
    again = dy.identify(robot, log, compare=(), estimator="weighted", signals={"time_scale": factor})
    assert again.log_findings == ()
    assert again.validation.held_out < spoiled


@pytest.mark.parametrize(("name", "seed"), few_of([(n, s) for n in (*ARMS, "three joints") for s in range(4)],
                                                  [("ur5e", 0), ("puma560", 1), ("three joints", 2)]))  # fmt: skip
@pytest.mark.parametrize("error", [0.1, 0.3])
def test_a_file_that_is_off_is_not_taken_for_a_clock(name, seed, error):
    robot, log = simulated(name, seed, error=error, coloured=0.03)
    base = base_parameters(robot)
    motion, _ = summary(prepare(log, robot).samples)
    assert clock_scale(FreeFit(base), FreeFit(base, WEIGHT), motion) is None


def test_weaker_gravity_is_no_clock():
    robot = dy.load("ur5e")
    found = examine_torques(sampled(robot.replace(gravity=[0.0, 0.0, -3.7])), robot)
    assert [f.code for f in found] == ["wrong scale"]


def test_a_clock_is_no_missing_gravity_although_torques_fit_better_without():
    """Times doubled: with a quarter of the accelerations, none of the torques of a vertical joint depends on gravity."""
    robot, log = simulated("three joints", 3)
    (found,) = examine_torques(prepare(replace(log, t=2.0 * log.t), robot).samples, robot)
    assert found.code == "clock scale"


MOUNTED = [(9.81, 0.0, 0.0), pytest.param((2.9, 0.0, -9.37), marks=pytest.mark.campaign), None]


@pytest.mark.parametrize("gravity", MOUNTED)
def test_a_joint_that_gravity_acts_on_is_the_witness_of_the_mounting(gravity):
    robot = dy.load("ur5e")
    real = dy.control.perturbed(robot, 0.2, seed=7) if gravity is None else robot.replace(gravity=gravity)
    samples = sampled(real, friction=0.2)
    wrong = changed(samples, tau=samples.tau - real.gravity(samples.q)) if gravity is None else samples
    (found,) = examine_torques(wrong, robot)
    joint, now, before = re.search(
        r"the torque of '(\w+)' has an unexplained variance of (\S+) % instead of (\S+) %", found.text
    ).groups()
    assert float(now) < 0.71 * float(before)
    if gravity is None:
        assert joint != "shoulder_pan_joint"  # vertical


def test_times_are_scaled_before_derivatives_are_taken():
    robot, t = dy.load(ARM), np.arange(2000) * 0.002
    q = np.sin(np.outer(t, [2.0, 3.0]))
    right = prepare(Log(t, q, np.zeros_like(q)), robot, cutoff=20.0)
    scaled = prepare(Log(3.0 * t, q, np.zeros_like(q)), robot, cutoff=20.0, time_scale=1.0 / 3.0)
    assert np.allclose(scaled[0].v, right[0].v)
    assert np.allclose(scaled[0].a, right[0].a)
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(dy.InputError, match="time_scale="):
            prepare(Log(t, q, np.zeros_like(q)), robot, time_scale=wrong)


def test_the_command_has_the_option():
    assert (
        for_command_line("correct them with time_scale=0.5", cli.commands["identify"]) == "correct them with --time-scale 0.5"
    )
    assert for_command_line("inertia (set rotor=True, or", cli.commands["identify"]) == "inertia (leave out --no-rotor, or"
