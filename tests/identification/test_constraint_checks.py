"""Constraints that the torques contradict are named with their value; neither the log nor the drives are blamed for them."""

import pytest
from spoiled_logs import accused, simulated

import dynamis as dy

ROBOT, LOG = simulated("three joints", 3)


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ({"total_mass": 3.0}, "the constraint total_mass=3.0 kg"),
        (
            {"masses": {"link2": (10.0, 12.0), "link0": (0.1, 8.0)}},
            "the constraint masses of 'link2' = (10.0, 12.0) kg",
        ),
    ],
)
def test_a_constraint_that_the_torques_contradict_is_the_first_reason(constraints, words):
    found = dy.identify(ROBOT, LOG, compare=(), constraints=constraints)
    (finding,) = found.log_findings
    assert words in finding.text
    assert f"residual on held-out motion is {found.validation.held_out:.3g} %, without" in finding.text
    assert finding.text[1:] in found.verdict.reasons[0]
    assert "contradict each other" not in str(found.verdict)
    assert not accused(str(found.verdict))


def test_a_constraint_with_which_the_torques_agree_is_not_accused():
    constraints = {"masses": {"link2": (1.7, 2.3)}, "total_mass": 11.0}
    assert dy.identify(ROBOT, LOG, compare=(), constraints=constraints).log_findings == ()
