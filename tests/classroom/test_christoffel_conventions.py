"""Christoffel symbols have the index of the equation where the notation has it, in print and in answers."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.symbolic.notation import NOTATIONS

FIRST, LAST = "dynamis", "melchiorri"


@pytest.fixture(scope="module", params=["planar_2r", "planar_prp", "planar_3r", "scara"])
def robot(request):
    return dy.load(request.param)


@pytest.mark.parametrize("letters", NOTATIONS)
def test_printed_symbols_are_right_in_every_notation(robot, letters):
    form = robot.closed_form(letters)
    for text in (str(form.christoffel), form.christoffel.latex(digits=12)):
        assert dy.check_answer(form, "christoffel", text).correct
    assert dy.check_answer(robot.closed_form(), "christoffel", form.christoffel.latex(digits=12), notation=letters).correct


def test_the_index_of_the_equation_is_the_last_in_one_notation():
    form = dy.load("planar_2r").closed_form(LAST)
    assert form.christoffel[1, 0, 0] == dy.load("planar_2r").closed_form().christoffel[1, 0, 0]  # arrays have it first
    assert str(form.christoffel).splitlines()[0] == "c_112 = m_2*a_1*a_C2*S2"
    assert form.christoffel.latex().startswith(r"\begin{aligned} c_{112} &= m_2 a_1 a_{C2} S_2")
    assert str(form.compact.christoffel).splitlines()[0] == "c_112 = -h"


def test_the_symbols_multiply_the_rates_of_the_other_indices(robot):
    """(C q̇)_k = Σ c_ijk q̇_i q̇_j, with the printed subscripts."""
    form = robot.closed_form(LAST)
    rates = [form.algebra.of_node(v) for v in form.v]
    symbols = {NOTATIONS[LAST].christoffel_index(index): x for index, x in np.ndenumerate(np.asarray(form.christoffel))}
    for k in range(form.n):
        terms = [x * rates[i] * rates[j] for (i, j, equation), x in symbols.items() if equation == k]
        assert sum(terms[1:], terms[0]) == form.coriolis_vector[k]


SPONG = """
h = -m_2 a_1 l_2 s_2, c_{111} = 0, c_{121} = c_{211} = h, c_{221} = h, c_{112} = -h, c_{122} = c_{212} = 0, c_{222} = 0
"""


def test_all_symbols_with_the_index_of_the_equation_at_the_other_end_are_right_with_a_note():
    form = dy.load("planar_2r").closed_form()
    swapped = str(form.in_letters(LAST).christoffel).replace("a_C2", "l_2").replace("S2", "s2")
    for text in (swapped, SPONG):
        verdict = dy.check_answer(form, "christoffel", text)
        assert verdict.correct
        assert verdict.complete
        assert "read with the index of the equation last (notation melchiorri), not first" in verdict.report()


@pytest.mark.parametrize(
    ("mistake", "wrong"),
    [(("c_{112} = -h", "c_{112} = h"), ["c_112"]), (("c_{222} = 0", "c_{222} = h"), ["c_222"]),
     (("c_{221} = h", "c_{221} = 2 h"), ["c_221"])],
)  # fmt: skip
def test_only_the_wrong_symbols_are_counted_in_the_convention_of_the_answer(mistake, wrong):
    form = dy.load("planar_2r").closed_form()
    verdict = dy.check_answer(form, "christoffel", SPONG.replace(*mistake))
    assert [x.entry for x in verdict.wrong] == wrong
    assert "read with the index of the equation last" in verdict.remark


@pytest.mark.parametrize("text", ["c_{112} = -m_2 a_1 l_2 s_2", "c_{221} = -m_2 a_1 l_2 s_2", "c_{122} = 0"])
def test_a_few_symbols_are_compared_in_the_convention_of_the_notation(text):
    assert not dy.check_answer(dy.load("planar_2r").closed_form(), "christoffel", text.replace("112} = -", "112} = ")).correct


def test_a_convention_that_was_chosen_holds_and_the_other_one_is_named():
    form = dy.load("planar_2r").closed_form()
    verdict = dy.check_answer(form, "christoffel", SPONG, notation=FIRST)
    assert not verdict.correct
    assert verdict.remark.startswith("these are the symbols with the index of the equation last (notation melchiorri)")
    assert dy.check_answer(form, "christoffel", "c_122 = 0").remark == ""  # which is zero in the other one


def test_symbols_that_all_vanish_are_printed_in_one_line_that_is_right():
    form = dy.load("cartesian_2p").closed_form()
    verdict = dy.check_answer(form, "christoffel", form.christoffel.latex())
    assert verdict.correct
    assert verdict.complete
