"""Partial derivatives of expressions: by symbols and their names; nothing else is taken for a symbol."""

import pytest

import dynamis as dy


@pytest.fixture(scope="module")
def form():
    return dy.load("planar_2r").closed_form()


def test_symbols_have_names(form):
    slope = form.M[0, 0].diff("q_2")
    assert slope == form.M[0, 0].diff(form.q[1])
    assert str(slope) == "-2*m_2*a_1*l_2*s2"
    assert str(form.M[0, 0].diff("l_1")) == str(form.M[0, 0].diff(dy.symbol("l_1"))) == "2*m_1*l_1"
    assert form.M[0, 0].diff("q[2]") == slope
    assert form.M[0, 0].diff("a_2").is_zero  # a parameter, not the acceleration a[2]


def test_a_symbol_that_does_not_occur_gives_zero(form):
    assert form.M[0, 0].diff(form.v[0]).is_zero
    assert form.M[0, 0].diff(dy.symbol("elsewhere")).is_zero


@pytest.mark.parametrize("wrong", [None, 3, dy.symbol("q_2"), dy.symbol("l_1") * 2.0])
def test_what_is_no_variable_of_the_form_is_refused(form, wrong):
    with pytest.raises(dy.InputError, match="symbol"):
        form.M[0, 0].diff(wrong)


def test_unknown_names_are_refused(form):
    with pytest.raises(dy.NameLookupError, match="no symbol named 'foo'"):
        form.M[0, 0].diff("foo")
