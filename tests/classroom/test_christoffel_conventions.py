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


def test_an_answer_in_the_other_convention_is_told_so():
    form = dy.load("planar_2r").closed_form()
    last = form.in_letters(LAST).christoffel
    swapped = str(last).replace("a_C2", "l_2").replace("S2", "s2")
    verdict = dy.check_answer(form, "christoffel", swapped)
    assert not verdict.correct
    assert verdict.remark.startswith("these are the symbols with the index of the equation last (notation melchiorri)")
    assert dy.check_answer(form, "christoffel", swapped.replace("m_2", "m_1", 1)).remark == ""
    assert dy.check_answer(form, "christoffel", "c_122 = 0").remark == ""  # which is zero in the other one


def test_symbols_that_all_vanish_are_printed_in_one_line_that_is_right():
    form = dy.load("cartesian_2p").closed_form()
    verdict = dy.check_answer(form, "christoffel", form.christoffel.latex())
    assert verdict.correct
    assert verdict.complete
