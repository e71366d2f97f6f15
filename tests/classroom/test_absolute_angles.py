"""Answers in absolute link angles φ_k = q_1 + … + q_k are told as such, and no others."""

import pytest

import dynamis as dy

SAID = "written in absolute link angles φ_1 = q_1, φ_2 = q_1 + q_2, while the robot's q_2 is relative to the link before"
ABSOLUTE = {
    "an entry of M": ("mass-matrix", "M_12 = m2 a1 l2 cos(q1-q2)"),
    "M": ("mass-matrix", "M = [m1 l1^2 + I1 + m2 a1^2, m2 a1 l2 cos(q1-q2); m2 a1 l2 cos(q1-q2), m2 l2^2 + I2]"),
    "a torque": ("gravity", "g_2 = m2 g l2 cos q2"),
    "torques of the joints": ("gravity", "g = [(m1 l1 + m2 a1) g cos q1 + m2 g l2 cos q2; m2 g l2 cos q2]"),
    "torques of the absolute angles": ("gravity", "g = [(m1 l1 + m2 a1) g cos q1; m2 g l2 cos q2]"),
    "potential energy": ("potential-energy", "U = (m1 l1 + m2 a1) g sin q1 + m2 g l2 sin q2"),
    "kinetic energy": ("kinetic-energy", r"T = 1/2 (m1 l1^2 + I1 + m2 a1^2) \dot q_1^2 + 1/2 (m2 l2^2 + I2) \dot q_2^2 "
                       r"+ m2 a1 l2 cos(q1-q2) \dot q_1 \dot q_2"),
    "equation": ("equations", "tau_2 = (m2 l2^2 + I2) ddq2 + m2 a1 l2 cos(q1-q2) ddq1 - m2 a1 l2 sin(q1-q2) dq1^2 + m2 g l2 cos q2"),
    "Coriolis vector": ("coriolis-vector", "c = [m2 a1 l2 sin(q1-q2) dq2^2; -m2 a1 l2 sin(q1-q2) dq1^2]"),
}  # fmt: skip


@pytest.mark.parametrize(("quantity", "text"), ABSOLUTE.values(), ids=ABSOLUTE)
def test_absolute_link_angles_are_the_cause(arm, quantity, text):
    verdict = dy.check_answer(arm, quantity, text)
    assert {x.cause for x in verdict.wrong} == {x.hint for x in verdict.wrong} == {SAID}


def test_absolute_angles_of_longer_chains_are_sums_of_all_angles_before():
    form = dy.load("planar_3r").closed_form()
    (finding,) = dy.check_answer(form, "gravity", "g_3 = m_3 g l_3 cos q_3").wrong
    assert "φ_3 = q_1 + q_2 + q_3, while the robot's q_2, q_3 are relative" in finding.cause


@pytest.mark.parametrize(
    ("quantity", "text"),
    [("gravity", "g = [(m1 l1 + m2 a1) g cos q1 + m2 g l2 cos(q1+q2); m2 g l2 cos q2]"), ("gravity", "g_2 = m2 g l2 sin q2"),
     ("mass-matrix", "M_12 = m2 a1 l2 cos(q1-q2) + I2"), ("mass-matrix", "M_11 = m1 l1^2 + I1 + m2 a1^2")],
)  # fmt: skip
def test_other_errors_are_no_absolute_angles(arm, quantity, text):
    assert all("absolute" not in x.cause for x in dy.check_answer(arm, quantity, text).wrong)


def test_robots_without_parallel_axes_have_no_absolute_angles(cart_pole):
    assert "absolute" not in dy.check_answer(cart_pole, "gravity", r"g_2 = -m g l \sin(\theta + x)").report()
