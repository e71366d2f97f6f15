"""Products of rows, matrices and columns in a scalar, in the spellings of plain text; transposes."""

import pytest

import dynamis as dy

ENERGIES = {
    "commas": "T = 1/2 [q1dot, q2dot] [[A, B], [B, D]] [q1dot; q2dot]",
    "blanks": "T = 1/2 [q1dot q2dot] [[A, B], [B, D]] [q1dot; q2dot]",
    "blanks in the matrix": "T = 1/2 [q1dot q2dot] [A B; B D] [q1dot; q2dot]",
    "blanks and signs of multiplication": "T = 1/2 * [q1dot q2dot] * [A B; B D] * [q1dot; q2dot]",
    "transposed column": "T = 1/2 [q1dot; q2dot]^T [A B; B D] [q1dot; q2dot]",
    "transposed row": "T = 1/2 [q1dot q2dot] [A B; B D] [q1dot q2dot]ᵀ",
    "matrix by name": "T = 1/2 [q1dot q2dot] M [q1dot; q2dot]\nM = [A, B; B, D]",
    "other quantities in blanks": "T = 1/2 [q1dot q2dot] [A q1dot + B q2dot; B q1dot + D q2dot]",
}  # fmt: skip
ENTRIES = """
A = m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2 a_1 l_2 c_2) + I_2
B = m_2 (l_2^2 + a_1 l_2 c_2) + I_2
D = m_2 l_2^2 + I_2
"""


@pytest.mark.parametrize("energy", ENERGIES.values(), ids=ENERGIES)
def test_an_energy_may_be_a_product_of_row_matrix_and_column(arm, energy):
    assert dy.check_answer(arm, "kinetic-energy", energy + ENTRIES).correct


def test_brackets_with_one_product_stay_products(arm):
    text = "T = 1/2 [m_1 l_1^2 + I_1] q1dot^2 + 1/2 [m_2 a_1] [a_1] q1dot^2"
    same = text.replace("[", "(").replace("]", ")")
    assert dy.check_answer(arm, "kinetic-energy", text).report() == dy.check_answer(arm, "kinetic-energy", same).report()


@pytest.mark.parametrize("text", ["T = [I_1, 0; 0, I_2]", "T = 1/2 [q1dot; q2dot] I_2"])
def test_a_matrix_where_a_scalar_is_asked_is_named(arm, text):
    with pytest.raises(dy.InputError, match=r"kinetic-energy is a single expression, but T is a .*: write the product out"):
        dy.check_answer(arm, "kinetic-energy", text)


@pytest.mark.parametrize("transposed", ["^T", "^{T}", r"^\top", "ᵀ", "⊤"])
def test_a_row_may_be_transposed(arm, transposed):
    text = f"G(q) = [ (m₁l₁ + m₂a₁)·g·cos(q₁) + m₂·g·l₂·cos(q₁+q₂), m₂·g·l₂·cos(q₁+q₂) ]{transposed}"
    verdict = dy.check_answer(arm, "gravity", text)
    assert verdict.correct
    assert verdict.complete


J_1, J_2 = "[-l_1 s_1, 0; l_1 c_1, 0]", "[-a_1 s_1 - l_2 s_{12}, -l_2 s_{12}; a_1 c_1 + l_2 c_{12}, l_2 c_{12}]"
JACOBIANS = rf"J_1 = {J_1} \\ J_2 = {J_2}"
INERTIAS = "[I_1 + I_2, I_2; I_2, I_2]"
RATES = r"w = [\dot q_1; \dot q_2]"
ROTATION = r"\frac12 I_2 (\dot q_1 + \dot q_2)^2"
DEFINED = {  # quantity, a right answer, and a replacement that makes it wrong
    "the matrix first": ("mass-matrix", rf"M = m_1 J_1^T J_1 + m_2 J_2^T J_2 + {INERTIAS} \\ {JACOBIANS}", ("J_2^T J_2", "J_1^T J_1")),
    "the matrix last": ("mass-matrix", rf"{JACOBIANS} \\ M = m_1 J_1^TJ_1 + m_2 J_2^{{T}}J_2 + {INERTIAS}", ("m_2 J", "m_1 J")),
    "no table in the sum": ("mass-matrix", rf"M = m_1 J_1^T J_1 + m_2 J_2^T J_2 + A, A = {INERTIAS} \\ {JACOBIANS}", ("+ A,", "- A,")),
    "another name": (
        "mass-matrix",
        rf"J_{{P1}} = {J_1} \\ J_{{P2}} = {J_2} \\ J_1 = J_{{P1}} \\ J_2 = J_{{P2}} \\ M = m_1 J_1^T J_1 + m_2 J_2^T J_2 + {INERTIAS}",
        ("J_2 = J_{P2}", "J_2 = J_{P1}"),
    ),
    "vectors of forces": (
        "gravity",
        rf"g = -J_1^T f_1 - J_2^T f_2 \\ f_1 = [0; -m_1 g] \\ f_2 = [0; -m_2 g] \\ {JACOBIANS}",
        ("[0; -m_2 g]", "[0; m_2 g]"),
    ),
    "a velocity": (
        "kinetic-energy-of-link",
        rf"T_2 = \frac12 m_2 \|v_2\|^2 + {ROTATION}, v_2 = [-a_1 s_1 \dot q_1 - l_2 s_{{12}} (\dot q_1 + \dot q_2); a_1 c_1 \dot q_1 + l_2 c_{{12}} (\dot q_1 + \dot q_2)]",
        ("(\\dot q_1 + \\dot q_2);", "\\dot q_2;"),
    ),
    "a velocity by a product": (
        "kinetic-energy-of-link",
        rf"T_2 = \frac12 m_2 v_2^Tv_2 + {ROTATION} \\ v_2 = J_2 w \\ J_2 = {J_2} \\ {RATES}",
        (r"[\dot q_1; \dot q_2]", r"[\dot q_2; \dot q_1]"),
    ),
}  # fmt: skip


def test_an_incomplete_sum_of_products_is_compared_itself(arm):
    verdict = dy.check_answer(arm, "mass-matrix", rf"M = m_1 J_1^T J_1, J_1 = {J_1}")
    assert [f.entry for f in verdict.wrong] == ["M_11", "M_12", "M_21", "M_22"]
    assert verdict.wrong[0].difference.startswith("-I_1 - ")


def test_a_sign_before_the_letter_of_a_matrix_is_refused(arm):
    with pytest.raises(dy.FormatError, match=r"a sign before the letter of a matrix. To repair: write it before the matrix"):
        dy.check_answer(arm, "mass-matrix", "-M = [m_1, 0; 0, m_2]")


M = "M = [A, B; B, D]" + ENTRIES
C = r"C = [-h \dot q_2, -h (\dot q_1 + \dot q_2); h \dot q_1, 0], h = m_2 a_1 l_2 s_2"
S = r"S_1 = [0, -h; -h, -h] \\ S_2 = [h, 0; 0, 0] \\ h = m_2 a_1 l_2 s_2"
P = r"p = [a_1 c_1 + l_2 c_{12}; a_1 s_1 + l_2 s_{12}]"
OF_RATES = {  # the same
    "a number before a matrix": ("mass-matrix", rf"{JACOBIANS} \\ M = m_1J_1^T J_1 + m_2J_2^TJ_2 + {INERTIAS}", ("m_2J", "m_1J")),
    "a transpose in braces": ("mass-matrix", rf"{JACOBIANS} \\ M = m_1J_1^{{T}}J_1+m_2J_2^\top J_2+{INERTIAS}", ("m_2J", "m_1J")),
    "four matrices": (
        "mass-matrix",
        rf"{JACOBIANS} \\ J_{{O1}} = [1, 0] \\ J_{{O2}} = [1, 1] \\ "
        r"M = m_1J_1^TJ_1 + m_2J_2^TJ_2 + I_1J_{O1}^TJ_{O1} + I_2J_{O2}^TJ_{O2}",
        ("I_2J_{O2}^TJ_{O2}", "I_2J_{O1}^TJ_{O1}"),
    ),
    "energy by the inertia matrix": ("kinetic-energy", rf"T = \frac12 \dot q^T M \dot q \\ {M}", ("B, D]", "B, A]")),
    "without blanks": ("kinetic-energy", rf"T=\tfrac12\dot q^TM(q)\dot q \\ {M}", (r"\tfrac12", "2")),
    "rates defined": (
        "kinetic-energy",
        rf"\dot q = [\dot q_1; \dot q_2] \\ T = \frac12 \dot q^T M \dot q \\ {M}",
        (r"[\dot q_1; \dot q_2]", r"[\dot q_2; \dot q_1]"),
    ),
    "Coriolis vector by its matrix": ("coriolis-vector", rf"{C} \\ c = C \dot q", ("-h (", "h (")),
    "with arguments": ("coriolis-vector", rf"{C} \\ c(q, \dot q) = C(q, \dot q) \dot q", (r"c(q, \dot q) = C", r"c(q, \dot q) = 2 C")),
    "quadratic forms": ("coriolis-vector", rf"{S} \\ c_1 = \dot q^T S_1 \dot q, c_2=\dot q^TS_2\dot q", ("[h, 0", "[-h, 0")),
    "rate of a position": ("kinetic-energy-of-link", rf"{P} \\ T_2 = \frac12 m_2\dot p^T\dot p + {ROTATION}", ("a_1 s_1", "a_1 c_1")),
    "scalar product": ("kinetic-energy-of-link", rf"{P} \\ T_2 = \frac12 m_2 \dot p \cdot \dot p + {ROTATION}", (r"\frac12 m_2", "m_2")),
    "a velocity that is a rate": (
        "kinetic-energy-of-link", rf"{P} \\ v = \dot p, T_2 = \frac12 m_2v^Tv + {ROTATION}", (r"v = \dot p", "v = 2 p")
    ),
}  # fmt: skip


EVERY = {**DEFINED, **OF_RATES}


@pytest.mark.parametrize(("quantity", "text", "mistake"), EVERY.values(), ids=EVERY)
def test_vectors_and_matrices_of_an_answer_mean_what_it_defines_also_beside_whole_vectors_of_rates(
    arm, quantity, text, mistake
):
    body = 2 if quantity.endswith("link") else None
    verdict = dy.check_answer(arm, quantity, text, body=body)
    assert verdict.correct, verdict.report()
    assert verdict.complete
    assert text.replace(*mistake) != text
    assert not dy.check_answer(arm, quantity, text.replace(*mistake), body=body).correct


@pytest.mark.parametrize("sign", ["", r"\times", "*"])
def test_only_a_dot_between_two_columns_is_their_scalar_product(arm, sign):
    text = rf"{P} \\ T_2 = \frac12 m_2 \dot p {sign} \dot p + {ROTATION}"
    with pytest.raises(dy.FormatError, match="matrices of 2 × 1 and 2 × 1 cannot be multiplied"):
        dy.check_answer(arm, "kinetic-energy-of-link", text, body=2)


@pytest.mark.parametrize("text", [
    rf"{M} \\ T = \frac12 \dot q^T M \dot q",  # beside the inertia matrix that is asked
    rf"M = [A, *; B, D] {ENTRIES} \\ E = \frac12 \dot q^T M \dot q + U",  # U is not written out
    rf"{M} \\ {C} \\ \dot q^T (\dot M - 2 C) \dot q = 0",
])  # fmt: skip
def test_products_of_vectors_beside_the_answer_do_no_harm(arm, text):
    assert dy.check_answer(arm, "mass-matrix", text).correct


def test_a_matrix_named_like_a_sine_keeps_the_sines_of_its_own_entries(arm):
    text = r"S_1 = [0, -m_2 a_1 l_2 S_2; -m_2 a_1 l_2 S_2, -m_2 a_1 l_2 S_2] \\ c_1 = \dot q^T S_1 \dot q"
    assert dy.check_answer(arm, "coriolis-vector", text).correct
    assert dy.check_answer(arm, "gravity", r"g_2 = m_2 l_2 g C_{12}, S_1 = [S_1, 0]").correct
