"""Right answers whose normal form is hidden by rounded phases, by sgn² or by their length."""

import pytest

import dynamis as dy

FRICTION_BY_DIRECTION = """
[robot]
gravity = [0, "-g", 0]
[parameters]
m = "symbol"
b = "symbol"
f_c = "symbol"
g = "symbol"
[[link]]
joint = "theta"
type = "revolute"
axis = [0, 0, 1]
mass = 0
[[link]]
joint = "s"
type = "prismatic"
axis = [1, 0, 0]
mass = "m"
viscous = "2*b"
coulomb = ["f_c", "2*f_c"]
"""


@pytest.fixture(scope="module")
def pendulum():
    return dy.load("pendulum_from_horizontal").closed_form()


@pytest.fixture(scope="module")
def slider():
    return dy.load(FRICTION_BY_DIRECTION).closed_form()


@pytest.mark.parametrize("phase", [r"\frac{\theta}{2}+\frac{\pi}{4}", r"\theta/2 + 45^\circ", r"\theta/2 - 3\pi/4"])
def test_another_datum_with_half_an_angle_and_a_phase_is_right(pendulum, phase):
    verdict = dy.check_answer(pendulum, "potential-energy", rf"U = 2 m g l \sin^2({phase})")
    assert verdict.correct
    assert verdict.findings[0].difference == "m*g*l"
    assert verdict.findings[0].note == "up to a constant (another datum)"


@pytest.mark.parametrize("factor", ["2.0001", "1.99999999"])
def test_a_wrong_coefficient_beside_a_phase_is_wrong(pendulum, factor):
    text = rf"U = {factor} m g l \sin^2(\frac{{\theta}}{{2}}+\frac{{\pi}}{{4}}) + 0.1 m g l \cos\theta"
    assert not dy.check_answer(pendulum, "potential-energy", text).correct


def test_another_datum_with_a_phase_of_one_link_is_right(arm):
    text = r"U = m_1 g l_1 2\cos^2(q_1/2-\pi/4)"
    assert dy.check_answer(arm, "potential-energy-of-link", text, body=1).correct
    text = r"U = m_1 g l_1 s_1 + m_2 g (2 a_1 \cos^2(q_1/2-\pi/4) + l_2 s_{12})"
    assert dy.check_answer(arm, "potential-energy", text).correct


EQUATION = (
    r"tau_2 = (m_2(l_2^2+a_1l_2\sin q_2/\tan q_2)+I_2)\ddot q_1+(m_2l_2^2+I_2)\ddot q_2"
    r"+m_2a_1l_2(2\sin^2(q_2/2+\pi/4)-1)\dot q_1^2+m_2gl_2c_{12}"
)


def test_a_quotient_beside_a_phase_is_right(arm):
    """2 sin²(q_2/2 + π/4) − 1 is sin q_2."""
    assert dy.check_answer(arm, "equations", EQUATION).correct


def test_the_terms_of_a_wrong_equation_with_a_quotient_and_a_phase_have_short_coefficients(arm):
    verdict = dy.check_answer(arm, "equations", EQUATION.replace("c_{12}", "s_{12}"))
    assert not verdict.correct
    assert "e+" not in str(verdict)


SLIDER = r"m\ddot s - m s\dot\theta^2+m g\sin\theta+2b\dot s + {} = F"


@pytest.mark.parametrize(
    "friction", ["1.5 f_c sgn(\\dot s) - 0.5 f_c", r"\frac12 f_c(3 sgn(\dot s) - sgn(\dot s)^2)", "f_c(1.5 sgn(\\dot s) - 1/2)"]
)
def test_friction_that_differs_at_rest_alone_is_right(slider, friction):
    assert dy.check_answer(slider, "equations", SLIDER.format(friction)).correct


def test_friction_that_differs_at_rest_alone_gets_a_note(slider):
    verdict = dy.check_answer(slider, "equations", SLIDER.format(r"1.5 f_c sgn(\dot s) - 0.5 f_c"))
    assert "except at rest" in verdict.findings[0].note


@pytest.mark.parametrize("friction", ["1.5 f_c sgn(\\dot s) + 0.5 f_c", "1.5 f_c sgn(\\dot s)", "f_c"])
def test_friction_that_differs_in_motion_is_wrong(slider, friction):
    assert not dy.check_answer(slider, "equations", SLIDER.format(friction)).correct


LONG = "(m_1 + m_2 + l_1 + l_2 + a_1 + I_1 + I_2 + g)^12"


@pytest.mark.parametrize(("factor", "right"), [("", True), ("1.0000001 ", False)])
def test_an_answer_too_long_to_expand_is_compared_by_its_values(arm, factor, right):
    text = (
        rf"g_2 = \frac{{{factor}m_2 g l_2 \cos(q_1+q_2) {LONG}}}{{{LONG.replace('12', '11')}(m_1+m_2+l_1+l_2+a_1+I_1+I_2+g)}}"
    )
    verdict = dy.check_answer(arm, "gravity", text)
    assert verdict.correct is right
    assert "random states" in verdict.findings[0].note if right else "too long" in verdict.findings[0].cause


def test_the_potential_energy_too_long_to_expand_is_right_up_to_a_constant(arm):
    sum_ = "(m_1+m_2+l_1+l_2+a_1+I_1+I_2+g)"
    text = rf"U = \frac{{g(m_1 l_1 (1 + s_1) + m_2 (a_1 s_1 + l_2 s_{{12}})) {LONG}}}{{{LONG.replace('12', '11')}{sum_}}}"
    assert dy.check_answer(arm, "potential-energy", text).correct


def test_a_torque_too_long_to_expand_is_compared_by_its_values(arm):
    text = EQUATION.replace(
        "m_2gl_2c_{12}", rf"\frac{{m_2gl_2c_{{12}}{LONG}}}{{{LONG.replace('12', '11')}(m_1+m_2+l_1+l_2+a_1+I_1+I_2+g)}}"
    )
    assert dy.check_answer(arm, "equations", text).correct
