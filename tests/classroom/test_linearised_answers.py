"""A linearised equation is not the equation of motion; the verdict says that it is linearised, and where."""

import pytest
from textbook_robots import CART_POLE

import dynamis as dy

HANGING = "q_2 = π, the others 0"
LINEARISED = {
    "solved": ("equations", r"\ddot\theta \approx \frac{g}{l}\theta - \frac{\ddot x}{l}", "q = 0"),
    "as it is": ("equations", r"m l^2 \ddot\theta + m l \ddot x - m g l \theta = 0", "q = 0"),
    "of the cart": ("equations", r"(M + m) \ddot x + m l \ddot\theta = F", "q = 0"),
    "with the rate": ("equations", r"(M + m) \ddot x + m l \ddot\theta - m l \theta \dot\theta^2 = F", "q = 0"),
    "hanging": ("equations", r"l \ddot\theta - \ddot x + g \theta = 0", HANGING),
    "gravity": ("gravity", r"g_2 = -m g l \theta", "q = 0"),
    "gravity, hanging": ("gravity", r"g_2 = m g l \theta", HANGING),
}


@pytest.fixture(scope="module")
def cart_pole():
    return dy.load(CART_POLE).closed_form()


@pytest.mark.parametrize(("quantity", "text", "where"), LINEARISED.values(), ids=LINEARISED)
def test_the_configuration_of_a_linearised_answer_is_named(cart_pole, quantity, text, where):
    (finding,) = dy.check_answer(cart_pole, quantity, text).wrong
    assert finding.cause.startswith(f"linearised about {where}: ")


@pytest.mark.parametrize(
    ("quantity", "text"),
    [("equations", r"l \ddot\theta + \ddot x + g \theta = 0"), ("equations", r"(M + m) \ddot x + 2 m l \ddot\theta = F"),
     ("gravity", r"g_2 = 2 m g l \theta"), ("gravity", r"g_2 = -m g l \cos\theta")],
)  # fmt: skip
def test_a_wrong_equation_is_not_called_linearised(cart_pole, quantity, text):
    (finding,) = dy.check_answer(cart_pole, quantity, text).wrong
    assert "linearised" not in finding.cause


def test_a_missing_cosine_is_not_a_linearisation():
    arm = dy.load("planar_2r").closed_form()
    (finding,) = dy.check_answer(arm, "gravity", "g_2 = m_2 g l_2").wrong
    assert finding.cause.startswith("a missing cosine")
    (finding,) = dy.check_answer(arm, "gravity", "g_2 = m_2 g l_2 (q_1 + q_2)").wrong
    assert finding.cause.startswith("linearised about q_1 = -π/2, the others 0: ")


@pytest.mark.parametrize(("text", "where"), [
    ("U = m_1 g l_1 q_1 + m_2 g (a_1 q_1 + l_2 (q_1 + q_2))", "q = 0"),
    ("U = m_1 g l_1 (1 - q_1^2/2) + m_2 g (a_1 + l_2 - a_1 q_1^2/2 - l_2 (q_1 + q_2)^2/2)", "q_1 = π/2, the others 0"),
])  # fmt: skip
def test_a_potential_energy_of_small_angles_is_named(arm, text, where):
    (finding,) = dy.check_answer(arm, "potential-energy", text).wrong
    assert finding.cause == f"linearised about {where}: sines and cosines are replaced by the first terms of their series"
    for other in (text.replace("a_1", "l_1"), "U = m_1 g l_1", "U = (m_1 l_1 + m_2 a_1) g s_1 + m_2 g l_2 q_2"):
        assert "linearised" not in dy.check_answer(arm, "potential-energy", other).wrong[0].cause


def test_a_robot_without_sines_is_not_linearised():
    form = dy.load("cartesian_2p").closed_form()
    (wrong,) = dy.check_answer(form, "equations", r"\tau_1 = (m_1 + m_2)(g + \ddot q_1)/g").wrong
    assert wrong.cause == "a divisor too many in every term: g"
