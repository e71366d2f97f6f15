"""C_{12} in an answer: an entry of its Coriolis matrix, or the cosine of q_1 + q_2."""

import pytest

import dynamis as dy
from dynamis.errors import FormatError

M = (
    r"M = \begin{bmatrix} m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2 a_1 l_2 \cos q_2) + I_2 & "
    r"m_2 (l_2^2 + a_1 l_2 \cos q_2) + I_2 \\ m_2 (l_2^2 + a_1 l_2 \cos q_2) + I_2 & m_2 l_2^2 + I_2 \end{bmatrix}"
)
H = r"h = m_2 a_1 l_2 \sin q_2"
MATRIX = rf"{H}" + "\n\n" + r"C = \begin{bmatrix} -h \dot q_2 & -h (\dot q_1 + \dot q_2) \\ h \dot q_1 & 0 \end{bmatrix}"
ENTRIES = rf"{H}, \quad C_{{11}} = -h \dot q_2, \quad C_{{12}} = -h (\dot q_1 + \dot q_2), \quad C_{{21}} = h \dot q_1"
G = r"g_1 = (m_1 l_1 + m_2 a_1) g \cos q_1 + m_2 g l_2 \cos(q_1 + q_2), \quad g_2 = m_2 g l_2 \cos(q_1 + q_2)"
EQUATIONS = (
    r"\tau_1 = M_{11} \ddot q_1 + M_{12} \ddot q_2 + C_{11} \dot q_1 + C_{12} \dot q_2 + g_1, \quad "
    r"\tau_2 = M_{21} \ddot q_1 + M_{22} \ddot q_2 + C_{21} \dot q_1 + g_2"
)


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


@pytest.mark.parametrize("coriolis", [MATRIX, ENTRIES], ids=["matrix", "entries"])
def test_entries_that_a_text_defines_are_read_beside_others_that_are_no_cosines(arm, coriolis):
    assert dy.check_answer(arm, "equations", "\n\n".join([M, coriolis, G, EQUATIONS])).correct
    wrong = dy.check_answer(arm, "equations", "\n\n".join([M, coriolis, G, EQUATIONS.replace("+ C_{12}", "- C_{12}")]))
    assert not wrong.correct
    assert [finding.entry for finding in wrong.wrong] == ["tau_1"]


def test_cosines_beside_a_matrix_are_cosines(arm):
    text = M.replace(r"\cos q_2", "C_2") + "\n\n" + MATRIX.replace(r"\sin q_2", "S_2") + "\n\n"
    text += r"g_1 = (m_1 l_1 + m_2 a_1) g C_1 + m_2 g l_2 C_{12}, \quad g_2 = m_2 g l_2 C_{12}"
    assert dy.check_answer(arm, "gravity", text).correct


def test_entries_beside_cosines_of_the_same_letter_are_refused_with_the_cure(arm):
    text = "\n\n".join([M.replace(r"\cos q_2", "C_2"), MATRIX, G, EQUATIONS])
    with pytest.raises(FormatError, match=r"'C12' can be cos.* or an entry of 'C'.*another letter for the latter"):
        dy.check_answer(arm, "equations", text)
