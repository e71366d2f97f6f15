"""Answers: every algebraic form of the right one is right; what is wrong is told by entry, difference, example and cause."""

import numpy as np
import pytest
import sympy

import dynamis as dy
from dynamis.symbolic.checking import names
from dynamis.symbolic.checking.quantities import quantity


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


@pytest.fixture(scope="module")
def prp():
    return dy.load("planar_prp").closed_form()


def as_text(expression):
    """SymPy's own text, with the names an answer uses."""
    return str(expression).replace("**", "^").replace("qdd", "ddq").replace("qd", "dq").replace("p_I", "I")


Q1 = sympy.Symbol("q1", real=True)
REWRITES = {
    "expanded": sympy.expand,
    "trigonometry expanded": sympy.expand_trig,
    "factored": sympy.factor,
    "collected otherwise": lambda x: sympy.collect(sympy.expand(x), sympy.Symbol("l_2", real=True)),
    "sine from a right angle": lambda x: x.replace(sympy.sin, lambda a: sympy.cos(a - sympy.pi / 2, evaluate=False)),
    "with a zero in disguise": lambda x: sympy.expand(x) + sympy.sin(Q1) ** 2 + sympy.cos(Q1) ** 2 - 1,
}


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
@pytest.mark.parametrize(
    ("quantity", "letter"), [("mass-matrix", "M"), ("gravity", "g"), ("coriolis", "C"), ("equations", "tau")]
)
def test_any_algebraic_form_of_the_right_answer_is_right(arm, rewrite, quantity, letter):
    values = {"mass-matrix": arm.M, "gravity": arm.g, "coriolis": arm.C, "equations": arm.torque}[quantity]
    lines = []
    for index, x in np.ndenumerate(values):
        number = "".join(str(k + 1) for k in index)
        lines.append(f"{letter}_{number} = {as_text(rewrite(x.sympy())).replace('pi', '3.141592653589793')}")
    verdict = arm.check_answer(quantity, "\n".join(lines))
    assert verdict.correct, verdict.report()


def test_our_own_print_is_right_in_every_notation(arm, prp):
    for form in (arm, prp):
        for letters in ("dynamis", "rocco", "melchiorri", "tzafestas", "deluca"):
            text = "M = " + form.M.latex(letters)
            assert form.check_answer("mass-matrix", text, notation=letters).correct, (letters, text)
            equations = "\n".join(e.latex(letters) for e in form.equations).replace("= f_", r"= \tau_")
            verdict = form.check_answer("equations", equations, notation=letters)
            assert verdict.correct, verdict.report()


def test_letters_are_found_out(arm):
    assert arm.check_answer("gravity", r"g_2 = m_2 g a_{C2} C_{12}").findings[0].right
    assert arm.check_answer("gravity", r"g_2 = m_2 g l_{c2} c_{12}").findings[0].right
    assert arm.check_answer("gravity", r"g_2 = m_2 g l_2 c_{12}").findings[0].right


SLIPS = {
    "sign": (r"g_2 = -m_2 g l_2 c_{12}", "sign of the whole"),
    "sign of one term": (r"g_1 = (m_1 l_1 - m_2 a_1) g c_1 + m_2 g l_2 c_{12}", "the sign of a product"),
    "sine for cosine": (r"g_2 = m_2 g l_2 s_{12}", "sine and cosine exchanged"),
    "angle": (r"g_2 = m_2 g l_2 c_2", "an angle: c2 should be c12"),
    "index": (r"g_2 = m_1 g l_2 c_{12}", "an index: m_1 should be m_2"),
    "symbol": (r"g_2 = m_2 g a_2 c_{12}", "a_2 should be l_2"),
    "factor": (r"g_2 = 2 m_2 g l_2 c_{12}", "a factor 2"),
    "number": (r"g_2 = 3 m_2 g l_2 c_{12}", "a coefficient"),
    "missing factor": (r"g_2 = m_2 l_2 c_{12}", "a missing factor: g"),
    "extra factor": (r"g_2 = m_2 g l_2 a_1 c_{12}", "a factor too many: a_1"),
    "missing term": (r"g_1 = m_1 g l_1 c_1 + m_2 g l_2 c_{12}", "missing: m_2*g*a_1*c1"),
    "extra term": (r"g_2 = m_2 g l_2 c_{12} + m_1", "too much: m_1"),
    "nothing": (r"g_2 = 0", "missing: m_2*g*l_2*c12"),
}


@pytest.mark.parametrize(("text", "cause"), SLIPS.values(), ids=SLIPS)
def test_usual_slips_are_named(arm, text, cause):
    (finding,) = arm.check_answer("gravity", text).findings
    assert not finding.right
    assert cause in finding.cause


def test_the_example_shows_the_difference(arm):
    (finding,) = arm.check_answer("gravity", r"g_2 = m_2 g l_2 s_{12}").findings
    given, right = (float(x) for x in finding.example.rpartition(": ")[2].split(", not "))
    assert abs(given - right) > 1e-3


def test_what_is_not_given_is_not_called_right(arm):
    verdict = arm.check_answer("mass-matrix", r"M_{11} = " + arm.M[0, 0].latex())
    assert not verdict.wrong
    assert not verdict.correct
    assert verdict.absent == ("M_12", "M_22")


def test_half_of_a_symmetric_matrix_is_enough(arm):
    rows = [rf"M_{{{i + 1}{j + 1}}} = {arm.M[i, j].latex()}" for i, j in ((0, 0), (0, 1), (1, 1))]
    assert arm.check_answer("mass-matrix", "\n".join(rows)).correct


def test_an_entry_that_does_not_exist_is_wrong(arm):
    verdict = arm.check_answer("mass-matrix", r"M_{33} = m_2")
    assert "no such entry" in verdict.wrong[0].cause


def test_answers_in_decimals_are_compared_with_a_tolerance():
    form = dy.load("scara").closed_form()
    rounded = f"M = {form.M.latex(digits=5)}"
    assert form.check_answer("mass-matrix", rounded, tolerance=1e-4).correct
    assert not form.check_answer("mass-matrix", rounded.replace("+", "-", 1), tolerance=1e-4).correct


def test_every_quantity_accepts_itself(arm):
    for name in names():
        asked = quantity(arm, name, 2)
        letter = asked.letters[0]
        lines = [f"{letter}{'_{' + ''.join(str(k + 1) for k in i) + '}' if i else ''} = {x}" for i, x in asked.entries.items()]
        verdict = arm.check_answer(name, "\n".join(lines), body=2)
        assert verdict.correct, (name, verdict.report())


def test_unknown_quantities_and_links_are_refused(arm):
    with pytest.raises(dy.NameLookupError, match="mass-matrix"):
        arm.check_answer("mass-matrx", "M_11 = 1")
    with pytest.raises(dy.InputError, match="say which, from 1 to 2"):
        arm.check_answer("force", "f_1 = 1")
    with pytest.raises(dy.InputError, match="say which"):
        arm.check_answer("force", "f_1 = 1", body=3)


def test_an_unreadable_answer_says_where_and_what_to_do(arm):
    with pytest.raises(dy.FormatError, match=r"answer\.tex:2:7.*To repair") as caught:
        arm.check_answer("gravity", "g_1 = 0\ng_2 = zz_9 c_1", file="answer.tex")
    assert "zz_9 c_1" in str(caught.value)


def test_an_answer_without_the_quantity_says_what_to_write(arm):
    with pytest.raises(dy.InputError, match=r"write g_\{1\} = …; found"):
        arm.check_answer("gravity", "M_11 = m_1\nC_11 = 0")


def test_powers_of_powers_are_refused_at_once(arm):
    with pytest.raises(dy.DynamisError, match=r"degree|power"):
        arm.check_answer("gravity", "g_2 = ((((m_1 + m_2)^9)^9)^9)^9")
