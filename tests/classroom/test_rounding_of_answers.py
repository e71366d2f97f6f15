"""Numbers computed in floating point and numbers written in an answer are equal up to rounding; wrong digits stay wrong."""

import numpy as np
import pytest

import dynamis as dy

SYMBOLS = ("m_1", "m_2", "l_1", "l_2", "a_1", "a_2", "I_1", "I_2")
ORDINARY = (0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1.2, 1.5, 2.4, 3.1, 5.0, 10.0)
HEAVY_FOREARM = {"m_1": 0.2, "m_2": 10.0, "l_1": 0.1, "l_2": 1.2, "a_1": 0.2, "a_2": 0.5, "I_1": 1.0, "I_2": 0.7, "g": 9.81}


@pytest.fixture(scope="module")
def forearm():
    return dy.load("planar_2r", parameters=HEAVY_FOREARM).closed_form()


def random_arm(seed):
    """A planar 2R arm with ordinary numbers, and these."""
    rng = np.random.default_rng(seed)
    numbers = {name: float(rng.choice(ORDINARY)) for name in SYMBOLS} | {"g": 9.81}
    return dy.load("planar_2r", parameters=numbers).closed_form(), numbers


def written_by_hand(p):
    """τ_1, τ_2 and C of the planar 2R arm as text, with the numbers of the robot multiplied out by the reader."""
    h = f"({p['m_2']}*{p['a_1']}*{p['l_2']})"
    M22 = f"({p['I_2']} + {p['m_2']}*{p['l_2']}^2)"
    M12 = f"({M22} + {h} c2)"
    M11 = f"({p['I_1']} + {p['m_1']}*{p['l_1']}^2 + {M22} + {p['m_2']}*{p['a_1']}^2 + 2 {h} c2)"
    g2 = f"{p['g']}*{p['m_2']}*{p['l_2']} c12"
    g1 = f"{p['g']}*({p['m_1']}*{p['l_1']} + {p['m_2']}*{p['a_1']}) c1 + {g2}"
    tau = (
        f"{M11} q_1'' + {M12} q_2'' - 2 {h} s2 q_1' q_2' - {h} s2 q_2'^2 + {g1}",
        f"{M12} q_1'' + {M22} q_2'' + {h} s2 q_1'^2 + {g2}",
    )
    eliminated = (
        f"({M11} - {M12}^2/{M22}) q_1'' - 2 {h} s2 q_1' q_2' - {h} s2 q_2'^2 + {g1} - {M12}/{M22} ({h} s2 q_1'^2 + {g2})"
    )
    return tau, eliminated, h


@pytest.mark.parametrize("number", ["-98.1", "-98.10", "-981/10", "-10*9.81"])
def test_every_form_of_a_number_is_right(number):
    assert dy.check_answer(dy.load("scara").closed_form(), "gravity", f"g_3 = {number}").correct


@pytest.mark.parametrize("seed", range(8))
def test_the_text_and_the_latex_of_random_arms_are_right(seed):
    form, _ = random_arm(seed)
    for quantity, letter, value in (("mass-matrix", "M", form.M), ("coriolis", "C", form.C), ("gravity", "g", form.g)):
        assert dy.check_answer(form, quantity, f"{letter} = {value.latex()}").correct
        for index, entry in np.ndenumerate(value):
            name = letter + "_" + "".join(str(k + 1) for k in index)
            verdict = dy.check_answer(form, quantity, f"{name} = {entry}")
            assert verdict.correct, verdict


@pytest.mark.parametrize("seed", range(6))
def test_equations_of_random_arms_written_by_hand_are_right(seed):
    form, numbers = random_arm(seed)
    (first, second), eliminated, _ = written_by_hand(numbers)
    for text in (
        f"tau_1 = {first}\ntau_2 = {second}",
        f"tau_1 + tau_2 = {first} + {second}\ntau_1 - tau_2 = {first} - ({second})",
        f"{first} = tau_1\n{second} = 0",
        f"{eliminated} = tau_1\n{second} = 0",
    ):
        verdict = dy.check_answer(form, "equations", text)
        assert verdict.correct, verdict


@pytest.mark.parametrize("seed", range(4))
def test_another_factorisation_is_recognised_in_numbers(seed):
    form, numbers = random_arm(seed)
    _, _, h = written_by_hand(numbers)
    verdict = dy.check_answer(form, "coriolis", f"C_11 = -2 {h} s2 q_2', C_12 = -{h} s2 q_2'\nC_21 = {h} s2 q_1', C_22 = 0")
    assert verdict.remark.startswith("C q̇ is right")


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        ("2.41", "a coefficient: 2.41*s2*q_1' should be 2.4*s2*q_1'"),
        ("-2.4", "sign error: every term has the opposite sign"),
        ("4.8", "a factor 2: 4.8*s2*q_1' should be 2.4*s2*q_1'"),
    ],
)
def test_wrong_digits_signs_and_factors_are_named(forearm, number, cause):
    assert dy.check_answer(forearm, "coriolis", "C_21 = 2.4 s2 q_1'").correct
    (finding,) = dy.check_answer(forearm, "coriolis", f"C_21 = {number} s2 q_1'").findings
    assert not finding.right
    assert finding.cause == cause


MELCHIORRI = "planar_2r_melchiorri"  # g_1 = 735.75 c1 + 245.25 c12, M_11 = 95 + 50 c2, M_22 = 22.5
LIGHT = {
    "m_1": 1.0,
    "m_2": 2.0,
    "l_1": 0.3,
    "l_2": 0.2,
    "a_1": 0.6,
    "I_1": 0.1,
    "I_2": 0.05,
    "g": 9.81,
}  # 14.715 c1 + 3.924 c12


@pytest.mark.parametrize(
    ("robot", "parameters", "quantity", "text", "right", "wrong"),
    [
        (MELCHIORRI, {}, "gravity", "g_1 = 735.8 c1 + {} c12", ("245.2", "245.250", "25.00*9.810"), ("245.0", "245.1", "245.4")),
        (MELCHIORRI, {}, "gravity", "g_2 = {} c12", ("245.2", "245.3", "2.500*98.10"), ("245.0", "245.1", "245.4", "245.5")),
        (MELCHIORRI, {}, "gravity", "g_1 = {} c1 + 245.3 c12", ("735.7", "75*9.810"), ("735.6", "736.0", "75*9.808")),
        (MELCHIORRI, {}, "mass-matrix", "M_22 = {}", ("22.50", "45/2"), ("22.49", "22.51")),
        (MELCHIORRI, {}, "mass-matrix", "M_11 = 95 + {} c_2", ("50.00", "3*16.67"), ("49.99", "50.01", "3*16.68")),
        ("planar_2r", LIGHT, "gravity", "g_1 = 14.72 c1 + {} c12", ("3.924", "0.4000*9.81"), ("3.914", "3.923", "3.925", "3.934")),
        ("planar_2r", {}, "mass-matrix", "M_22 = m_2 l_2^2/3 + {} I_2 + 0.6667 m_2 l_2^2", ("3*0.3333", "1.001/1.000"), ("0.9999",)),
    ],
)  # fmt: skip
def test_each_coefficient_is_right_to_half_a_unit_of_its_own_last_digit(robot, parameters, quantity, text, right, wrong):
    form = dy.load(robot, parameters=parameters).closed_form()
    for number in (*right, *wrong):
        verdict = dy.check_answer(form, quantity, text.format(number))
        assert verdict.correct == (number in right), (number, verdict)


RODS = """
[robot]
gravity = [0, "-g", 0]
[parameters]
m_1 = "symbol"
m_2 = "symbol"
L_1 = "symbol"
L_2 = "symbol"
g = "symbol"
[[link]]
joint = "q_1"
mass = "m_1"
com = ["L_1/2", 0, 0]
inertia = { zz = "m_1*L_1*L_1/12" }
[[link]]
joint = "q_2"
xyz = ["L_1", 0, 0]
mass = "m_2"
com = ["L_2/2", 0, 0]
inertia = { zz = "m_2*L_2*L_2/12" }
"""


def test_only_the_wrong_one_of_rounded_coefficients_is_named():
    form = dy.load(RODS).closed_form()
    assert dy.check_answer(form, "mass-matrix", "M_11 = 0.3333 m_1 L_1^2 + m_2 (L_1^2 + 0.3333 L_2^2 + L_1 L_2 c_2)").correct
    (wrong,) = dy.check_answer(form, "mass-matrix", "M_11 = 0.3334 m_1 L_1^2 + m_2 (L_1^2 + 0.3333 L_2^2 + L_1 L_2 c_2)").wrong
    assert wrong.cause == "a coefficient: 0.3334*m_1*L_1^2 should be 0.333333*m_1*L_1^2"


def test_fractions_of_symbols_are_compared_exactly():
    form = dy.load("planar_2r").closed_form()
    text = "g_2 = m_2 g l_2 c12 + (1/3 - 333333333/1000000000) m_1"
    assert not dy.check_answer(form, "gravity", text).correct


def test_equivalence_of_large_computed_numbers_is_up_to_rounding():
    x = dy.symbol("x")
    product = 98100000.0 / 0.7 * 0.7
    assert product != 98100000.0
    assert dy.equivalent(product * x, 98100000.0 * x)
    assert not dy.equivalent(98100000.0001 * x, 98100000.0 * x)
    assert not dy.equivalent(10**17 * x, (10**17 + 2**10) * x)
