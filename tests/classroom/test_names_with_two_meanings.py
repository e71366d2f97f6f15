"""Robots whose parameters have the names of sines and cosines."""

import pytest

import dynamis as dy
from dynamis.errors import FormatError, InputError

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


HEAD = '[robot]\ngravity = [0, "-g", 0]\n[parameters]\nm = "symbol"\nl = "symbol"\ng = "symbol"\n'
CART = '[[link]]\njoint = "x"\ntype = "prismatic"\naxis = [1, 0, 0]\nmass = "m"\n'
BY_NAME, BY_NUMBER = "read by the joints' names", "read by the joints' numbers"


def two_links(first, second, direction='"l", 0, 0', before=""):
    link = '[[link]]\njoint = "{}"\nxyz = [{}]\nmass = "m"\ncom = [{}]\n'
    links = link.format(first, "0, 0, 0", direction) + link.format(second, direction, direction)
    return dy.load(HEAD + before + links).closed_form()


@pytest.fixture(scope="module")
def from_zero():
    return two_links("q0", "q1")


@pytest.fixture(scope="module", params=["theta", "theta_", "q"])
def on_cart(request):
    return two_links(f"{request.param}1", f"{request.param}2", '0, "-l", 0', CART), request.param.rstrip("_")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gravity", r"g_1 = 2 m g l \cos q_0 + m g l \cos(q_0+q_1)"),
        ("gravity", "g_1 = 2 m g l c_0 + m g l c_{01}"),
        ("mass-matrix", r"M_{12} = m l^2 (1 + \cos q_1)"),
        ("coriolis", r"C_{12} = -m l^2 s_1 (\dot q_0 + \dot q_1)"),
        ("coriolis", "C_12 = -m*l^2*sin(q1)*(dq0 + q1d)"),
        ("equations", r"\tau_2 = m l^2 (\ddot q_0 (1 + c_1) + \ddot q_1 + s_1 \dot q_0^2) + m g l c_{01}"),
    ],
)
def test_the_name_of_a_joint_holds_before_its_number(from_zero, name, text):
    verdict = dy.check_answer(from_zero, name, text)
    assert verdict.correct, verdict.report()
    assert BY_NAME in verdict.report()


@pytest.mark.parametrize(
    "text", ["U = -2 m g l \\cos {0}_1 - m g l \\cos({0}_1 + {0}_2)", "-2*m*g*l*cos({0}1) - m*g*l*cos({0}1+{0}2)"]
)
def test_a_joint_behind_another_one_is_read_by_its_name(on_cart, text):
    form, letter = on_cart
    verdict = dy.check_answer(form, "potential-energy", text.format("\\" * ("\\" in text) * (letter != "q") + letter))
    assert verdict.correct, verdict.report()
    assert BY_NAME in verdict.report()


def test_names_with_other_numbers_do_not_hide_the_numbers(from_zero, on_cart):
    for form in (from_zero, on_cart[0]):
        for name in ("M", "C", "g"):
            verdict = dy.check_answer(form, name, getattr(form, name))
            assert verdict.correct, verdict.report()
    assert BY_NUMBER in dy.check_answer(from_zero, "gravity", from_zero.g).report()


def test_an_answer_with_names_and_numbers_is_refused(from_zero):
    with pytest.raises(FormatError, match=r"q_2.*the joints with this letter are called q_0, q_1"):
        dy.check_answer(from_zero, "potential-energy", r"U = 2 m g l \sin q_1 + m g l \sin(q_0+q_2)")


def test_names_with_the_numbers_of_their_joints_have_no_note(on_cart):
    form, letter = on_cart
    other = "q" if letter == "theta" else r"\theta"
    text = f"U = -2 m g l \\cos {other}_2 - m g l \\cos({other}_2 + {other}_3)"
    assert dy.check_answer(form, "potential-energy", text).report() == "U: right\npotential-energy: correct"
    agreeing = two_links("q1", "q2")
    text = r"U = 2 m g l \sin q_1 + m g l \sin(q_1 + q_2)"
    assert dy.check_answer(agreeing, "potential-energy", text).report() == "U: right\npotential-energy: correct"
