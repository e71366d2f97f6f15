"""The potential energy is given up to a constant: any letter that is not of the robot, in terms without joint variables."""

import pytest

import dynamis as dy

U = r"U = m_1 g l_1 s_1 + m_2 g (a_1 s_1 + l_2 s_{12})"
DATUM = "up to a constant (another datum)"


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


@pytest.mark.parametrize(
    ("constant", "named"),
    [("+ m_1 g h_0", "h_0"), ("+ m_1gh", "h"), ("+ C", "C"), ("- (m_1 + m_2) g h", "h"), (r"+ U_0 \\ U_0 = m_1 g a_1", ""),
     (r"\\ U_0 = m_1 g a_1", ""), (r"+ m_1 g h \\ h = a_1", ""), ("+ U_0", ""), (r"+ \text{const}", "")],
)  # fmt: skip
def test_a_constant_is_another_datum_and_the_verdict_names_it(arm, constant, named):
    verdict = dy.check_answer(arm, "potential-energy", f"{U} {constant}")
    assert verdict.correct, verdict.report()
    assert verdict.findings[0].note == (DATUM if constant[0] != "\\" else "")
    assert [x for x in verdict.notes if "datum" in x] == [
        f"not of the robot, taken as constant of the datum: {x}" for x in [named] if x
    ]


def test_a_height_inside_the_terms_of_all_links_is_a_datum(arm):
    text = r"U = m_1 g (h + l_1 s_1) + m_2 g (h + a_1 s_1 + l_2 s_{12})"
    assert dy.check_answer(arm, "potential-energy", text).findings[0].note == DATUM


@pytest.mark.parametrize("more", ["+ h s_1", "+ l c_1", "+ q_1 C", "+ foo"])
def test_an_unknown_name_beside_joint_variables_is_refused(arm, more):
    with pytest.raises(dy.FormatError, match="no quantity named"):
        dy.check_answer(arm, "potential-energy", f"{U} {more}")
    with pytest.raises(dy.FormatError, match="no quantity named"):
        dy.check_answer(arm, "gravity", "g_2 = m_2 g l_2 c_{12} + C")


def test_a_defined_datum_with_a_joint_variable_is_wrong(arm):
    (finding,) = dy.check_answer(arm, "potential-energy", rf"{U} + U_0 \\ U_0 = m_1 q_1").wrong
    assert finding.cause == "superfluous: m_1*q_1"


@pytest.mark.parametrize("text", [r"U = \text{const}", "U = const", "U = U_0"])
def test_a_constant_alone_lacks_all_terms(arm, text):
    (finding,) = dy.check_answer(arm, "potential-energy", text).wrong
    assert finding.cause == "missing terms: (m_1*l_1 + m_2*a_1)*g*s1 + m_2*g*l_2*s12"


def test_of_a_wrong_energy_the_constant_is_not_the_cause(arm):
    (finding,) = dy.check_answer(arm, "potential-energy", f"{U.replace('l_1 s_1', '2 l_1 s_1')} + C").wrong
    assert finding.cause == "a factor 2: 2*m_1*g*l_1*s1 should be m_1*g*l_1*s1"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("m_1 g l_1 (1 - s_1) + m_2 g (a_1 s_1 + l_2 s_{12})", "the sign of a product: -m_1*g*l_1*s1 should be m_1*g*l_1*s1"),
        ("m_1 g l_1 (1 - s_1) - m_2 g (a_1 s_1 + l_2 s_{12})", "sign error: every term has the opposite sign"),
    ],
)
def test_of_a_wrong_energy_a_constant_of_the_robot_is_not_superfluous(arm, text, cause):
    (finding,) = dy.check_answer(arm, "potential-energy", text).wrong
    assert finding.cause == cause


def test_a_large_constant_is_no_potential_energy(arm):
    """Compared numerically, the differences between states are small beside the constant."""
    assert not dy.check_answer(arm, "potential-energy", "U = (m_1 + m_2 + l_1 + l_2)^{50}").correct
