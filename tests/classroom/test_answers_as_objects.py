"""Answers that are no text: derivations in SymPy, formulas of a closed form, lists of numbers; all else is refused with advice."""

import numpy as np
import pytest
import sympy

import dynamis as dy

QUANTITIES = {"mass-matrix": "M", "gravity": "g", "equations": "torque", "kinetic-energy": "kinetic_energy",
              "christoffel": "christoffel"}  # fmt: skip


@pytest.fixture(scope="module")
def numeric():
    return dy.load("planar_2r_melchiorri").closed_form()


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_formulas_of_a_closed_form_and_of_sympy_are_right(arm, cart_pole, numeric, quantity):
    for form in (arm, cart_pole, numeric):
        formulas = getattr(form, QUANTITIES[quantity])
        for answer in (formulas, formulas.sympy()):
            verdict = dy.check_answer(form, quantity, answer)
            assert verdict.correct, verdict.report()
            assert verdict.complete


def test_own_symbols_of_sympy_are_read_by_their_names(arm):
    theta1, theta2, m2, g, l2 = sympy.symbols("theta1 theta_2 m2 g l_2")
    g2 = m2 * g * l2 * sympy.cos(theta1 + theta2)
    assert dy.check_answer(arm, "gravity", sympy.Eq(sympy.Symbol("g_2"), g2)).correct
    assert [x.right for x in dy.check_answer(arm, "gravity", [0, g2]).findings] == [False, True]
    assert dy.check_answer(arm, "gravity", np.array([arm.g[0], g2], dtype=object)).correct


def test_derivatives_of_functions_of_time_are_rates(arm):
    t = sympy.Symbol("t")
    q1, q2 = (sympy.Function(f"q{k}")(t) for k in (1, 2))
    m2, a1, l2 = sympy.symbols("m_2 a_1 l_2")
    h = -m2 * a1 * l2 * sympy.sin(q2)
    c = sympy.Matrix([h * (2 * q1.diff(t) * q2.diff(t) + q2.diff(t) ** 2), -h * q1.diff(t) ** 2])
    assert dy.check_answer(arm, "coriolis-vector", c).correct


def test_equations_of_motion_as_printed_are_right(arm):
    assert dy.check_answer(arm, "equations", arm.equations).correct
    assert dy.check_answer(arm, "equations", list(map(str, arm.equations))).correct


def test_matrices_of_numbers_are_compared(numeric):
    M = numeric.M.node({id(numeric.q[1]): 0.0})
    given = dy.check_answer(numeric, "mass-matrix", np.array(M, dtype=float))
    assert [x.right for x in given.findings] == [False, False, False, True]


@pytest.mark.parametrize(
    "answer", [None, True, b"g", {"g_2": 1}, object(), [[1, 2], [3]], [None, 1], []], ids=lambda x: type(x).__name__
)
def test_other_objects_are_refused_with_what_to_pass(arm, answer):
    with pytest.raises(dy.InputError, match="an answer is a text in LaTeX or plain formulas, an expression, matrix"):
        dy.check_answer(arm, "gravity", answer)


def test_an_expression_that_is_not_real_is_refused():
    """The imaginary unit of SymPy is called I, as parameters are."""
    sympy = pytest.importorskip("sympy", reason="SymPy is not installed")
    form = dy.load("pendulum_from_horizontal").closed_form()
    assert dy.check_answer(form, "mass-matrix", sympy.Symbol("I")).correct
    for wrong in (sympy.I, sympy.Matrix([[sympy.I]]), sympy.Eq(sympy.Symbol("M"), sympy.I), sympy.zoo, sympy.nan):
        with pytest.raises(dy.InputError, match=r"is not real; for a parameter I write sympy.Symbol\('I'\)"):
            dy.check_answer(form, "mass-matrix", wrong)
    with pytest.raises(dy.InputError, match="SymPy has decided an equation"):
        dy.check_answer(form, "mass-matrix", sympy.Eq(1, 2))


def test_a_list_of_residuals_is_one_of_equations(arm):
    torques = [x.sympy() for x in arm.torque]
    taus = sympy.symbols("tau_1 tau_2")
    residuals = [x - tau for x, tau in zip(torques, taus, strict=True)]
    for answer in (residuals, sympy.Matrix(residuals), [-x for x in residuals], torques):
        verdict = dy.check_answer(arm, "equations", answer)
        assert verdict.correct, verdict.report()
        assert verdict.complete
    assert not dy.check_answer(arm, "equations", [torques[0] + taus[0], residuals[1]]).correct
