"""Positions of one joint in another scale, as of a wrong gear ratio or encoder, are named with their value after a refit."""

import re
from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from spoiled_logs import accused, answer, simulated

import dynamis as dy
from dynamis.identification import PhysicallyConsistent
from dynamis.identification.corrections import verified
from dynamis.identification.logs import LogFinding
from dynamis.identification.validation.held_out import Folds

CASES = [("panda", 3, 1.25, True), ("panda", 3, 0.8, False), ("panda", 5, 2.0, True), ("ur5e", 4, 0.5, True),
         ("ur5e", 2, 1.25, False), ("kuka_iiwa14", 3, 0.8, True), ("xarm7", 2, 1.1, False)]  # fmt: skip


def scaled(log, joint, factor, torques):
    """The log with positions of a joint in another scale; those of a wrong gear ratio divide its torques by the same factor."""
    own = np.where(np.arange(log.n) == joint, factor, 1.0)
    return replace(log, q=log.q * own, tau=log.tau / own if torques else log.tau)


@pytest.mark.parametrize(("name", "joint", "factor", "torques"), few_of(CASES, CASES[3:5]))
def test_the_scale_of_the_positions_of_a_joint_is_named_and_corrected_by_its_ratio(name, joint, factor, torques):
    robot, log = simulated(name, 7)
    spoiled = scaled(log, joint, factor, torques)
    found = dy.identify(robot, spoiled, compare=(), estimator="weighted")
    (finding,) = found.log_findings
    own = robot.coordinate_names[joint]
    assert finding.code == "position scale"
    assert f"column 'q.{own}' is" in finding.text
    assert ("and its torque 1/" in finding.text) == torques
    assert finding.positions[joint] == pytest.approx(factor, rel=0.02)
    assert found.verdict.grade == "doubtful"
    old, new = map(float, re.search(r"held-out motion is (\S+) % instead of (\S+) %", finding.text).groups()[::-1])
    assert new < 0.4 * old
    ratios = np.array([float(x) for x in re.search(r"ratios = \[(.*?)\]", finding.cure).group(1).split(",")])
    transmission = {"ratios": ratios, "R": np.diag(ratios), "zero": np.zeros(robot.n)}
    sides = {"q": "motor", "tau": "motor" if torques else "joint"}
    corrected = replace(spoiled, transmission=transmission, sides=sides)
    assert not accused(answer(robot, corrected)[1])


def test_a_scale_about_another_angle_than_zero_is_named_with_its_zero():
    robot, log = simulated("ur5e", 7)
    q = log.q.copy()
    q[:, 2] = 1.0 + 0.8 * (q[:, 2] - 1.0)
    (finding,) = dy.identify(robot, replace(log, q=q), compare=(), estimator="weighted").log_findings
    assert finding.positions[2] == pytest.approx(0.8, abs=0.01)
    assert finding.zero == pytest.approx((0.0, 0.0, -0.25, 0.0, 0.0, 0.0), abs=0.01)
    assert "its zero is off, too" in finding.text
    assert finding.cure.endswith(f"and zero=(0,0,{finding.zero[2]:.4g},0,0,0)")


@pytest.mark.parametrize(("name", "joint"), few_of([("three joints", 2), ("panda", 3)], [("three joints", 2)]))
def test_scales_of_two_joints_are_not_taken_for_one_of_another_value(name, joint):
    robot, log = simulated(name, 7)
    both = scaled(scaled(log, joint, 1.25, torques=False), 1, 0.9, torques=False)
    found = dy.identify(robot, both, compare=(), estimator="weighted")
    assert found.log_findings == ()
    assert found.verdict.grade == "doubtful"


def test_a_zero_that_leaves_most_of_the_residual_is_not_stated_as_its_cause():
    """The zero with which torques of a wrong encoder fit best lowers their residual, from 5.1 to 4.2 %."""
    robot, log = simulated("panda", 7)
    found = dy.identify(robot, scaled(log, 3, 1.25, torques=False), compare=(), examined=False)
    zero = LogFinding(
        "warning", "joint zero", None, None, "the zero is off", "correct it", caps=2, zero=(0, 0, 0, 0.3473, 0, 0, 0)
    )
    folds = Folds(found.equations)
    assert verified(zero, folds, found.samples, PhysicallyConsistent(found.base)) is None
    scale = LogFinding(
        "warning", "position scale", None, None, "the scale is off", "correct it", caps=2, positions=(1, 1, 1, 1.25, 1, 1, 1)
    )
    assert "instead of" in verified(scale, folds, found.samples, PhysicallyConsistent(found.base)).text


@pytest.mark.parametrize("name", few_of(["ur5e", "kuka_iiwa14"], ["ur5e"]))
def test_no_scale_is_found_in_a_clean_log(name):
    assert not accused(answer(*simulated(name, 11))[1])
