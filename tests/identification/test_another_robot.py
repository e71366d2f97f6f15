"""A log of another robot is named as such: no sign, scale or zero is accused whose correction does not explain it."""

import pytest
from campaign_params import few_of
from spoiled_logs import answer, simulated

import dynamis as dy
from dynamis.identification import prepare
from dynamis.identification.logs import examine_torques

ACCUSED = ("wrong sign", "swapped", "degrees")


PAIRS = [("stanford", "ur5e"), ("ur5e", "puma560"), ("xarm7", "kuka_iiwa14"), ("xarm7", "panda")]


@pytest.mark.parametrize(("own", "other"), few_of(PAIRS, PAIRS[:2]))
def test_columns_of_a_log_of_another_robot_are_not_accused(own, other):
    robot, log = dy.load(own), simulated(other, 7)[1]
    findings = examine_torques(prepare(log, robot).samples, robot)
    assert not [f for f in findings if f.code in ACCUSED]


@pytest.mark.parametrize("seed", few_of([7, 8], [7]))
def test_a_log_that_the_model_does_not_explain_is_named_as_one_of_another_robot(seed):
    grade, said, _ = answer(dy.load("ur5e"), simulated("puma560", seed)[1])
    assert grade == "refused"
    assert "no single mistake does: this seems to be a log of another robot than 'UR5e', or the wrong file" in said
    assert "inverted" not in said
