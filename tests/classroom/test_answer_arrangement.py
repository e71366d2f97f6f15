"""Matrices and vectors in every arrangement, definitions in any order, and answers that are refused with a cure."""

import numpy as np
import pytest
from answer_entries import nodes, vocabulary
from seed_formulas import NAMES, close, number

import dynamis as dy
from dynamis.classroom.answers import parse_answer
from dynamis.scalar import sin, symbol
from dynamis.scalar.graph import show

LAYOUTS = [
    r"M = \begin{bmatrix} m_1 & m_2 \\ a_1 & 0 \end{bmatrix}", r"M = \begin{pmatrix} m_1 & m_2 \\ a_1 & 0 \\ \end{pmatrix}", "M = [m_1, m_2; a_1, 0]", "M = [[m_1, m_2], [a_1, 0]]", "M(q) = [m_1, m_2\n a_1, 0]",
    "M = [[m_1, m_2],\n     [a_1, 0]]", "M =\n[m_1, m_2;\n a_1, 0];", r"\mathbf{M}(\mathbf{q}) = \left[\begin{array}{cc} m_1 & m_2 \\[2pt] a_1 & 0 \end{array}\right]", r"\[ M = \left(\begin{matrix} m_1 & m_2 \\ a_1 & 0 \end{matrix}\right) \]",
    r"M = \begin{vmatrix} m_1 & m_2 \\ a_1 & 0 \end{vmatrix}", "M_{11} = m_1\nM_{12} = m_2\nM_{21} = a_1\nM_{22} = 0", "M11 = m1, M12 = m2, M21 = a1, M22 = 0", "M(1,1) = m_1; M(1,2) = m_2; M(2,1) = a_1; M(2,2) = 0", "M_{1,1} = m_1\nM_{1,2} = m_2 # remark\nM_{2,1} = a_1\nM_{2,2} = 0",
    r"\begin{align} M_{11} &= m_1 \\ M_{12} &= m_2 \\ M_{21} &= a_1 \\ M_{22} &= 0 \end{align}", r"\begin{cases} M_{11} = m_1 \\ M_{12} = m_2 \\ M_{21} = a_1 \\ M_{22} = 0 \end{cases}", "$M_{11} = m_1$ $M_{12} = m_2$\n$M_{21} = a_1$, $M_{22} = 0$.",
    r"$$M_{11} = m_1 \quad M_{12} = m_2 \qquad M_{21} = a_1, \; M_{22} = 0$$", "M = [m_1 \\quad m_2; a_1 \\quad 0]", "M = 2*[m_1/2, m_2/2; a_1/2, 0]", "M = [m_1, a_1; m_2, 0]^T", "M_{11}(q_2) = m_1\nM_{12}(q) = m_2\nM_{21} = M_{12} a_1/m_2 \nM_{22} = 0",
    "\\documentclass{article}\\begin{document}\nThe matrix, of size 2, is:\n\\begin{equation*}\nM = \\begin{bmatrix} m_1 & m_2 \\\\\n a_1 & 0 \\end{bmatrix}\n\\end{equation*}\nas was to be shown.\\end{document}",
]  # fmt: skip


@pytest.mark.parametrize("text", LAYOUTS)
def test_every_layout_gives_the_same_matrix(text):
    answer = parse_answer(text, vocabulary())
    values = {name: 1.0 + k for k, name in enumerate(NAMES)}
    assert answer.letter == "M"
    assert set(answer.of("M")) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    close(number(nodes(answer.of("M"), (2, 2)), values), [[values["m_1"], values["m_2"]], [values["a_1"], 0]])


@pytest.mark.parametrize(
    "text",
    [
        r"g = \begin{bmatrix} m_1 \\ m_2 \end{bmatrix}",
        "g = [m_1; m_2]",
        "g = [m_1, m_2]",
        "g = [m_1, m_2]^T",
        r"g = [m_1 \quad m_2]^{T}",
        "g_1 = m_1\ng_2 = m_2",
    ],
)
def test_every_layout_gives_the_same_vector(text):
    entries = parse_answer(text, vocabulary()).of("g")
    assert {k: x.node for k, x in entries.items()} == {(0,): symbol("m_1"), (1,): symbol("m_2")}


def test_a_line_that_ends_or_begins_with_an_operator_goes_on():
    text = "M_{11} = m_1 +\n  m_2\n  + l_1 *\n\n a_1\nM_{12} =\n m_2\nM_{13} = (m_1\n + a_1)"
    entries = parse_answer(text, vocabulary()).of("M")
    assert entries[0, 0].node is symbol("m_1") + symbol("m_2") + symbol("l_1") * symbol("a_1")
    assert entries[0, 1].node is symbol("m_2")
    assert (entries[0, 1].line, entries[0, 2].line) == (6, 8)
    assert entries[0, 2].text == "M_{13} = (m_1 + a_1)"


def test_an_entry_of_a_matrix_knows_its_own_line_and_column():
    entry = parse_answer("M = [m_1, m_2;\n     a_1, l_1 + l_2]", vocabulary()).of("M")[1, 1]
    assert (entry.line, entry.column, entry.text) == (2, 11, "l_1 + l_2")


def test_definitions_can_come_before_or_after_and_hold_one_another():
    answer = parse_answer("M_{11} = h k_a\nh = 2 k_a\nk_a = m_1 s_2\nh(q_2) = 2 k_a", vocabulary())
    k = symbol("m_1") * sin(symbol("q2"))
    assert answer.definitions["ka"].node is k
    assert answer.definitions["h"].node is 2.0 * k
    assert answer.of("h")[()].node is 2.0 * k
    close(number(answer.of("M")[0, 0].node, {"m_1": 1.5, "q2": 0.3}), 2 * (1.5 * np.sin(0.3)) ** 2)


def test_what_is_said_twice_is_kept_to_be_compared():
    entry = parse_answer("M = [m_1, 0; 0, m_2]\nM_{11} = m_2\nM_{11} = m_1", vocabulary()).of("M")[0, 0]
    assert entry.node is symbol("m_1")
    assert entry.also == (symbol("m_2"),)
    assert entry.line == 1


def test_general_equations_and_steps_are_skipped_by_name():
    text = r"""B(q)\ddot{q} + C(q,\dot{q})\dot{q} + g(q) = \tau
    \frac{d}{dt} \frac{\partial L}{\partial \dot{q}_1} = m_1
    \tau = Y(q, \dot{q}, \ddot{q}) \pi
    h_{ijk} = \frac{\partial b_{ij}}{\partial q_k} - \frac{1}{2} \sum_{i=1}^n b_{jk}
    M_{11} = m_1"""
    answer = parse_answer(text, vocabulary())
    assert answer.letters == ("M",)
    assert [step.line for step in answer.skipped] == [1, 2, 3, 4]
    assert answer.skipped[2].text == r"\tau = Y(q, \dot{q}, \ddot{q}) \pi"


def test_an_answer_without_a_letter_is_found_under_the_empty_one():
    assert parse_answer("m_1 + m_2", vocabulary()).of("")[()].node is symbol("m_1") + symbol("m_2")
    assert parse_answer("[m_1, 0; 0, m_2]", vocabulary()).of("")[1, 1].node is symbol("m_2")


def test_an_unknown_letter_lists_those_there_are():
    with pytest.raises(dy.NameLookupError, match="no letter named 'B'; there are: 'M', 'h'"):
        parse_answer("M_{11} = h\nh = m_1", vocabulary()).of("B")


REFUSED = {
    "x = y\ny = x": (2, 5, "'x' is defined by itself", "other names"),
    "M = [M_{11}, 0; 0, 1]": (1, 6, "'M11' has no value", "define it: M11"),
    "m_1 = 5": (1, 1, "'m_1' is a name of the robot", "remove the line"),
    "q_1 = m_1": (1, 1, "'q_1' is a name of the robot", "remove the line"),
    "M_{11} = m_1\nthe same m_2": (2, 1, "no quantity named 'the'", "define it"),
    "M_{11} = m_1\nm_1 m_2": (2, 1, "a line that is neither", "begin it with an operator"),
    "m_1 + m_2 = a_1 + l_1": (1, 1, "an equation that defines no entry", "alone on one side"),
    "g_1 = m_1 \\cos q": (1, 16, "no quantity named 'q'", "requires an index"),
    "M = [1, 2; 3, 4] = [1, 2]": (1, 1, "matrices of different sizes", "same size"),
    r"C_{12} = m_1" + "\n" + r"g_1 = m_2 C_{12}": (2, 11, "'C12' can be cos(q1 + q2) or the entry defined in line 1", "another letter"),
    "g_2 = m_1, where l_1 is a length": (1, 12, "text behind a formula", "text"),
    "M_{11} = m_1,5": (1, 13, "a comma inside a formula", "decimal point"),
    r"M = \begin{bmatrix} 1,5 \\ 2 \end{bmatrix}": (1, 22, "a comma inside a formula", "decimal point"),
    r"M = (\begin{align} a &= b \end{align})": (1, 6, "equations inside a bracket", "outside"),
    "": (1, 1, "no answer in this text", "M_{11} = …"),
    "% only a remark": (1, 1, "no answer in this text", "M_{11} = …"),
    "M_{11} =": (1, 8, "there is nothing after this =", "write the expression"),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_answer_is_refused_with_its_place_and_a_cure(text):
    line, column, found, cure = REFUSED[text]
    with pytest.raises(dy.FormatError) as caught:
        parse_answer(text, vocabulary(), "answer.tex")
    first = str(caught.value).split("\n", 1)[0]
    assert first.startswith(f"answer.tex:{line}:{column}: error: ")
    assert found in first
    assert cure in first.partition("To repair: ")[2]


@pytest.mark.parametrize(
    "text",
    [
        "diag(m_1, m_2)", r"\operatorname{diag}(m_1, m_2)", r"\mathrm{diag}\left(m_1,\, m_2\right)", r"\text{diag}\{m_1, m_2\}",
        "diag([m_1, m_2])", r"\diag(m_1, m_2)", "[m_1, 0; 0, 0] + diag(0, m_2)",
    ],
)  # fmt: skip
def test_a_diagonal_matrix_is_given_by_diag(text):
    found = parse_answer(f"M = {text}", vocabulary()).of("M")
    m_1, m_2 = symbol("m_1"), symbol("m_2")
    assert [found[0, 0].node, found[1, 1].node] == [m_1, m_2]
    assert found[0, 1].node == found[1, 0].node == 0


def test_diag_may_be_used_as_a_factor_of_a_vector():
    found = parse_answer(r"g = \operatorname{diag}(m_1, m_2) [l_1; l_2]", vocabulary()).of("g")
    assert [set(show(found[k].node).split("*")) for k in sorted(found)] == [{"m_1", "l_1"}, {"m_2", "l_2"}]


@pytest.mark.parametrize(
    "text",
    [
        "g_1 = m_1\n\n-(-m_2) = g_2",
        "g_1 = m_1\n-(-m_2) = g_2",
        "m_1 = g_1, -(-m_2) = g_2",
        "3 m_1/3 = g_1\n-2 m_2\n+ 3 m_2 = g_2",
        "3 m_1/3 = g_1.\n-2 m_2 +\n3 m_2 = g_2",
        "g_1 = 2 m_1\n- m_1\n-(-m_2) = g_2",
        "g_1 = 2 m_1\n% the second part\n- m_1\n= m_1\n\n+ m_2 = g_2",
        "2 m_1\n- m_1 = g_1\n+ m_2 = g_2",
        r"\begin{align} 3 m_1/3 &= g_1 \\ -2 m_2 & \\ + 3 m_2 &= g_2 \end{align}",
    ],
)
def test_an_equation_that_begins_with_a_sign_is_not_part_of_the_one_before(text):
    answer = parse_answer(text, vocabulary())
    values = {name: 1.0 + k for k, name in enumerate(NAMES)}
    for entry, name in zip((answer.of("g")[0,], answer.of("g")[1,]), ("m_1", "m_2"), strict=True):
        for node in (entry.node, *entry.also):
            close(number(node, values), values[name])


def test_the_equations_of_a_robot_are_read_as_they_are_printed():
    form = dy.load("scara").closed_form()
    for between in ("\n", "\n\n"):
        verdict = dy.check_answer(form, "equations", between.join(map(str, form.equations)))
        assert verdict.correct
        assert verdict.complete


DIAGONAL = r"m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2 a_1 l_2 \cos q_2) + I_2", r"m_2 l_2^2 + I_2"
COUPLING = r"m_2 (l_2^2 + a_1 l_2 \cos q_2) + I_2"


@pytest.mark.parametrize("space", [r"\; ", r"\ ", "~", r"\:", r" \;\; "])
def test_spaces_of_latex_separate_columns(arm, space):
    matrix = f"M = [{DIAGONAL[0]}{space}{COUPLING}; {COUPLING}{space}{DIAGONAL[1]}]"
    assert dy.check_answer(arm, "mass-matrix", matrix).complete
    row = rf"{arm.g[0].latex()}{space}{arm.g[1].latex()}"
    for text in (f"g = [{row}]", f"[{row}]", rf"g = \left[{row}\right]^T"):
        assert dy.check_answer(arm, "gravity", text).complete


@pytest.mark.parametrize("text", [r"g_2 = [m_2\; l_2] g c_12", r"g_2 = m_2\; g\ l_2\; c_12", r"g = [*, m_2\; g l_2 c_12]"])
def test_spaces_of_latex_between_factors_separate_nothing(arm, text):
    assert dy.check_answer(arm, "gravity", text).correct


def test_numbers_side_by_side_in_a_list_need_commas(arm):
    with pytest.raises(dy.FormatError, match="separate the entries of a list by commas"):
        dy.check_answer(arm, "gravity", r"g = [1\; 0\; 2]")
