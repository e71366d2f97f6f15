"""Signs and absolute values: |sgn x| = sgn² x and |x| sgn x = x are known, and no message shows equal values as different."""

import re

import pytest

import dynamis as dy

BLOCK = """
[robot]
name = "block"
gravity = [0, 0, -10]
[[link]]
joint = "x"
type = "prismatic"
axis = ["cos(30deg)", 0, "sin(30deg)"]
mass = 2
coulomb = [4, 3]
stiffness = 50
rest = 0.2
"""
FRICTION = {
    "absolute value of the sign": r"3.5 \operatorname{sgn}(\dot x) + 0.5 |\operatorname{sgn} \dot x|",
    "third power of the sign": r"3.5 \operatorname{sgn}(\dot x)^3 + 0.5 \operatorname{sgn}^2(\dot x)",
    "sign of the sign": r"3.5 \operatorname{sgn}(\operatorname{sgn}(\dot x)) + 0.5 |\operatorname{sgn} \dot x|",
}


@pytest.fixture(scope="module")
def block():
    return dy.load(BLOCK).closed_form()


@pytest.mark.parametrize("friction", FRICTION.values(), ids=FRICTION)
def test_identities_of_signs_are_exact(block, friction):
    (finding,) = dy.check_answer(block, "equations", rf"F = 2 \ddot x + 50 x + {friction}").findings
    assert finding.right
    assert not finding.note


def test_a_number_times_its_sign_is_its_absolute_value(block):
    text = r"F = 2 |\ddot x| \operatorname{sgn}(\ddot x) + 50 x + 3.5 \operatorname{sgn}(\dot x) + 0.5 \operatorname{sgn}^2(\dot x)"
    (finding,) = dy.check_answer(block, "equations", text).findings
    assert finding.right
    assert not finding.note


def test_the_sign_at_rest_is_told_where_it_matters(block):
    text = r"F = 2 \ddot x + 50 x + 3.5 \operatorname{sgn}(\dot x) + 0.5"
    (finding,) = dy.check_answer(block, "equations", text).findings
    assert finding.note == "except at rest, where sgn(0) = 0"


def test_opposite_forces_leave_no_rounding_error(block):
    assert "e-" not in str(block.torque[0])


def test_findings_show_the_letters_of_the_robot(block):
    text = r"F = 2 \ddot x + 50 x + 3.5 \operatorname{sgn}(2 \dot x + x) + 0.5 |\sin x|"
    said = dy.check_answer(block, "equations", text).report()
    assert not re.search(r"abs|sign\(|[qva]\[", said), said


def test_examples_show_different_values(arm):
    (finding,) = dy.check_answer(arm, "gravity", r"g_2 = 1.0000002 m_2 g l_2 c_{12}").findings
    given, correct = re.search(r"gives (\S+), the correct value is (\S+)", finding.example).groups()
    assert given != correct


def test_energies_of_opposite_forces_leave_no_rounding_error(block):
    assert str(block.potential_energy) == "25*q^2 + 1"
