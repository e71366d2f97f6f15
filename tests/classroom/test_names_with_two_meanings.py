"""Robots whose parameters have the names of sines and cosines."""

import pytest

import dynamis as dy
from dynamis.errors import InputError

ROBOT = """
[robot]
gravity = [0, "-g", 0]
[parameters]
m_1 = "symbol"
m_2 = "symbol"
l_1 = "symbol"
h = "symbol"
s_2 = "symbol"
c_1 = "symbol"
c_2 = "symbol"
g = "symbol"
[[link]]
type = "revolute"
axis = [0, 0, 1]
mass = "m_1"
com = ["l_1", 0, 0]
viscous = "c_1"
[[link]]
type = "revolute"
axis = [0, 0, 1]
xyz = ["h", 0, 0]
mass = "m_2"
com = ["s_2", 0, 0]
viscous = "c_2"
"""
EQUATION = r"\tau_2 = m_2 s_2^2 (\ddot q_1 + \ddot q_2) + m_2 h s_2 (\cos q_2 \ddot q_1 + \sin q_2 \dot q_1^2) + {} + {}"


@pytest.fixture(scope="module")
def damped():
    return dy.load(ROBOT).closed_form()


def test_the_name_of_a_parameter_means_the_parameter(damped):
    text = EQUATION.format(r"c_2 \dot q_2", r"m_2 g s_2 \cos(q_1 + q_2)")
    verdict = dy.check_answer(damped, "equations", text)
    assert verdict.correct
    assert not verdict.notes


def test_a_cosine_with_the_name_of_a_parameter_is_accepted_with_a_note(damped):
    verdict = dy.check_answer(damped, "gravity", r"g_1 = (m_1 l_1 + m_2 h) g c_1 + m_2 g s_2 \cos(q_1+q_2)")
    assert verdict.correct
    assert verdict.notes == ("c_1 was read as cos(q_1), though the robot has a parameter of this name",)


def test_the_verdict_on_a_wrong_answer_says_how_the_name_was_read(damped):
    verdict = dy.check_answer(damped, "gravity", r"g_1 = (m_1 l_1 + m_2 h) g c_1 + m_2 g \cos(q_1+q_2)")
    assert not verdict.correct
    assert verdict.notes == ("c_1 was read as the robot's parameter, not as cos(q_1)",)


def test_a_cosine_in_place_of_a_parameter_is_wrong(damped):
    text = EQUATION.format(r"\cos q_2 \dot q_2", r"m_2 g s_2 \cos(q_1 + q_2)")
    assert not dy.check_answer(damped, "equations", text).correct


def test_the_printed_equations_of_a_robot_with_such_parameters_are_right(damped):
    for k, equation in enumerate(damped.equations):
        for text in (equation.latex(), str(equation)):
            (finding,) = dy.check_answer(damped, "equations", text).findings
            assert finding.text() == f"tau_{k + 1}: right"


@pytest.mark.parametrize("tolerance", [-1, float("nan"), float("inf"), "0.1"])
def test_a_tolerance_that_is_no_fraction_is_refused(damped, tolerance):
    with pytest.raises(InputError, match="tolerance must be a number from 0"):
        dy.check_answer(damped, "gravity", r"g_2 = m_2 g s_2 \cos(q_1+q_2)", tolerance=tolerance)
