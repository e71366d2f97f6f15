r"""Spelling: the many ways to write one name, what a word splits into, and what cannot be read at all."""

import re

import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.classroom.answers import Vocabulary, parse_answer
from dynamis.cli.commands import cli
from dynamis.scalar import cos, sin, symbol

NAMES = ("m_1", "m_2", "a_1", "a_2", "l_1", "l_2", "I_1", "I_2", "g")
ALIASES = {"a_C1": "l_1", r"\tilde{I}_1": "I_1"}


def vocabulary(n=2, revolute=None, parameters=NAMES, aliases=None):
    q, v, a = ([symbol(f"{letter}{k + 1}") for k in range(n)] for letter in "qva")
    return Vocabulary(q, v, a, revolute or (True,) * n, {name: symbol(name) for name in parameters}, aliases or {})


def value(text, names=None):
    """The one expression of a text."""
    return parse_answer(f"x = {text}", names or vocabulary(aliases=ALIASES)).definitions["x"].node


SPELLINGS = {
    "m_1": ["m_1", "m_{1}", "m1", "m_{ 1 }", "{m}_1", r"\mathbf{m}_1", r"\mathrm{m}_{1}", "m _ 1", r"m_{\mathrm{1}}", r"{\boldsymbol{m}}_{1}"],
    "l_1": ["a_{C1}", "a_C1", "a_{C_1}", "aC1", r"a_{\text{C}1}", r"a_{\mathrm{C}_{1}}", "l_1"],
    "I_1": [r"\tilde{I}_1", r"\tilde I_1", r"\tilde{I_1}", r"\widetilde{I}_{1}", "I\u0303_1", "I~_1", "Ĩ_1".replace("Ĩ", "I\u0303")],
    "q1": ["q_1", "q1", r"\theta_1", r"\vartheta_1", "θ_1", "ϑ1", "th_1", "theta_1", "theta1", r"{\theta}_{1}", r"\mathbf{q}_1", r"\boldsymbol{\theta}_1", r"\theta1"],
    "v1": [r"\dot{q}_1", r"\dot q_1", r"\dot{q_1}", "qd1", "dq1", "q1'", "q_1'", r"\dot{\theta}_1", r"\dot\theta_1", "v_1", "q̇_1", "θ̇_1", "qdot1", "q_dot_1", "q1dot",
           "dtheta_1", "thetad1", r"\dot{\mathbf{q}}_1", "q_1’", "qd_1", r"\dot{{\theta}}_{1}"],
    "a1": [r"\ddot{q}_1", r"\ddot{\theta_1}", "qdd1", "ddq1", "q1''", r"\dot{\dot{q}}_1", "q̈_1", "qddot1", "q_1″"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "spelling"), [(name, s) for name, all_ in SPELLINGS.items() for s in all_])
def test_every_spelling_is_the_same_symbol(name, spelling):
    assert value(spelling) is symbol(name)


def test_without_an_index_where_there_is_one_joint():
    names = vocabulary(1, parameters=("m", "g", "L", "d"))
    assert value(r"\theta", names) is symbol("q1")
    assert value(r"\dot\theta", names) is value("qd", names) is value("q'", names) is symbol("v1")
    assert value(r"\ddot{\vartheta}", names) is symbol("a1")
    assert value("mgL", names) is value(r"m g\,L", names)
    assert value(r"d\dot{\theta}", names) is symbol("d") * symbol("v1")


def test_d_is_the_variable_of_a_joint_that_slides_and_of_no_other():
    names = vocabulary(2, (False, True))
    assert value("d_1", names) is symbol("q1")
    assert value(r"\ddot{d}_1", names) is symbol("a1")
    with pytest.raises(dy.FormatError, match="joint 2 is revolute, its variable is q_2"):
        value("d_2", names)
    assert value("d_1", vocabulary(2, (False, True), (*NAMES, "d_1"))) is symbol("d_1")


def test_a_parameter_goes_before_a_joint_variable_and_an_alias_before_a_parameter():
    assert value("v_1", vocabulary(parameters=("v_1",))) is symbol("v_1")
    assert value("c_1", vocabulary(parameters=("c_1",))) is symbol("c_1")
    assert value("l_1", vocabulary(aliases={"l_1": "a_1", "l_c1": "l_1"})) is symbol("a_1")
    assert value("l_{c1}", vocabulary(aliases={"l_1": "a_1", "l_c1": "l_1"})) is symbol("l_1")


ANGLES = {
    "1": ["1", "{1}"],
    "12": ["12", "{12}", "{21}", "{1 2}", "{1,2}", "{1+2}"],
    "13": ["{13}", "{1,3}"],
}  # fmt: skip


@pytest.mark.parametrize("letter", ["s", "S", "c", "C"])
@pytest.mark.parametrize("joints", ANGLES)
def test_short_sines_and_cosines_are_of_the_sum_of_the_angles(letter, joints):
    q = [symbol(f"q{k}") for k in joints]
    function = sin if letter in "sS" else cos
    for index in ANGLES[joints]:
        assert value(f"{letter}_{index}", vocabulary(3)) is function(sum(q[1:], q[0]))


def test_an_index_can_subtract_angles_and_hold_joints_beyond_nine():
    q = [symbol(f"q{k + 1}") for k in range(12)]
    assert value("c_{1-2}") is value("c[1-2]") is cos(q[0] - q[1])
    assert value("s_{-12}") is sin(q[1] - q[0])
    assert value("c_{1,10}", vocabulary(12)) is cos(q[0] + q[9])
    assert value("c_{10}", vocabulary(12)) is cos(q[9])
    assert value("s12", vocabulary(12)) is sin(q[11])
    assert value("s_{1,2}", vocabulary(12)) is sin(q[0] + q[1])


WORDS = {
    "m2a1l2s2": "m_2 * a_1 * l_2 * s_2", "gc_1": "g * c_1", "m_2ga_{C1}C_{12}": "m_2 * g * l_1 * c_{12}", "2a_1l_2c_2": "2 * a_1 * l_2 * c_2",
    "a1cos(q2)": "a_1 * cos(q_2)", "m_1l^2_1": "m_1 * l_1^2", "a_{C1}^2": "l_1^2", "g s_{12}": "g * sin(q_1 + q_2)", "dq1dq2": r"\dot{q}_1 \dot{q}_2",
    "q1'q2'": "qd1 * qd2", "m_1θ̇_1²": "m_1 qd1^2", "½m_1": "0.5 m_1", "m_1·l_1×a_1": "m_1 l_1 a_1", "m_1 − m_2": "m_1 - m_2",
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_names_written_together_are_a_product(word):
    assert value(word) is value(WORDS[word])


def test_a_word_with_two_readings_is_refused():
    names = vocabulary(parameters=("a", "ab", "b", "bc", "c"))
    with pytest.raises(
        dy.FormatError, match=r"x:1:5: .*'abc' is ambiguous: more than one product is possible.*put \* or spaces"
    ):
        parse_answer("x = abc", names, "x")
    assert value("ab c", names) is symbol("ab") * symbol("c")


REFUSED = {
    "m_3": (5, "no quantity named 'm_3'; did you mean 'm_", "define it: m_3"),
    r"m_1 \dot{q}_3": (9, "no quantity", "there are joints 1 to 2"),
    "c_{13}": (5, "no quantity", "joints 1 to 2"),
    "m2a1l3s2": (9, "after 'm2a1' there is no quantity named 'l_3'; did you mean 'l_", "define it"),
    "__import__('os')": (5, "'_' is not a mathematical symbol", "delete"),
    "m_1 \x00": (9, "U+0000 is not printable", "delete it"),
    "m_1 \u202e m_2": (9, "U+202E is not printable", "delete it"),
    "m_1 \u200b": (9, "U+200B is not printable", "delete it"),
    "m_": (7, "an index is missing after _", "m_{12}"),
    "m_{}": (7, "this index is empty", "m_{1}"),
    "m_{1": (7, "this index is not closed", "close it"),
    "m_{1*2}": (9, "'*' is not allowed in an index", "letters, digits and commas"),
    r"\alhpa_1": (5, "no command of LaTeX named 'alhpa'; did you mean 'alpha'", "without it"),
    r"\dot{q_1 + q_2}": (5, "applies to more than one name", r"\dot{q}_1"),
    "9{,}81": (6, "a decimal comma", "9.81"),
    "9,81": (6, "a comma", "9.81"),
    "m_1 @ m_2": (9, "'@' is not a mathematical symbol", "%"),
    "g" * 81: (5, "a word of more than 80 letters", "spaces"),
    "\\": (5, "a backslash at the end", "delete"),
    r"\begin m_1": (5, "without a name", "bmatrix"),
    r"\begin{tabluar} m_1": (5, "no environment named 'tabluar'", "bmatrix"),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_read_is_pointed_at_with_a_cure(text):
    column, found, cure = REFUSED[text]
    with pytest.raises(dy.FormatError) as caught:
        parse_answer(f"M_{{11}} = 1\nx = {text}", vocabulary(), "answer.tex")
    message = str(caught.value)
    first, shown, caret = message.split("\n")
    assert first.startswith(f"answer.tex:2:{column}: error: ")
    assert found in first
    assert cure in first.partition("To repair: ")[2]
    assert shown.startswith("    x = ")
    assert caret == " " * (4 + column - 1) + "^"
    assert caught.value.problems[0].line == 2


def test_a_long_line_is_shown_where_the_mistake_is():
    with pytest.raises(dy.FormatError) as caught:
        parse_answer("x = " + "m_1 + " * 200 + "m_9 + " + "m_1 + " * 200 + "1", vocabulary(), "long")
    _, shown, caret = str(caught.value).split("\n")
    assert len(shown) < 120
    assert shown[caret.index("^") :].startswith("m_9")


@pytest.mark.parametrize("terms", [(0, 40), (3, 3), (12, 2), (20, 20), (40, 0)])
def test_a_quoted_line_fits_80_columns_and_the_caret_is_under_the_mistake(terms):
    before, after = ("m_1 l_1^2 + " * terms[0], " + m_1 l_1^2" * terms[1])
    answer = f"M_11 = {before}m_9{after}"
    result = CliRunner().invoke(
        cli, ["check-answer", "planar_2r", "--mass-matrix", "-"], input=answer, env={"COLUMNS": "80"}
    )  # fmt: skip
    assert result.exit_code == 2
    *_, shown, caret = result.stderr.rstrip("\n").split("\n")
    assert len(shown) <= 80
    assert shown[caret.index("^") :].startswith("m_9")
    quoted = shown[4:].removeprefix("…").removesuffix("…")
    assert quoted in answer
    assert shown[4:].startswith("…") == (not answer.startswith(quoted))
    assert shown.endswith("…") == (not answer.endswith(quoted))


def test_the_vocabulary_refuses_what_does_not_fit():
    q = [symbol("q1")]
    with pytest.raises(dy.InputError, match="one entry per joint"):
        Vocabulary(q, q, [], (True,), {})
    with pytest.raises(dy.NameLookupError, match="no parameter named 'm_l'; did you mean"):
        vocabulary(aliases={"M": "m_l"})
    with pytest.raises(dy.InputError, match=re.escape("'a+b' is not a valid name")):
        vocabulary(aliases={"a+b": "m_1"})
    with pytest.raises(dy.InputError, match="an answer must be a string"):
        parse_answer(b"x", vocabulary())  # type: ignore[arg-type]
