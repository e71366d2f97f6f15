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
