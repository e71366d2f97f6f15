"""Expressions: arithmetic with each other, with numbers and with arrays; derivatives; and safe names for SymPy."""

import builtins
import keyword
import operator
from fractions import Fraction

import numpy as np
import pytest
from closed_forms import arm, at, in_numbers

import dynamis as dy
from dynamis.scalar import evaluate, symbol
from dynamis.symbolic.closed_form import closed_form
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.notation import NOTATIONS, SymbolPrinter
from dynamis.symbolic.ring import Ring

x, y, a, b = (symbol(name) for name in "xyab")
AT = {x: 0.7, y: -1.1, a: 1.3, b: 0.4}


def algebra_of(*nodes):
    return Algebra(Ring.of(nodes), SymbolPrinter(NOTATIONS["dynamis"], {}, (True, True)))


ALGEBRA = algebra_of(np.sin(x), np.cos(y), a, b, np.sin(a * x))
E1, E2 = ALGEBRA.of_node(a * np.sin(x) + b), ALGEBRA.of_node(np.cos(y) - a * b)
N1, N2 = float(evaluate(a * np.sin(x) + b, AT)), float(evaluate(np.cos(y) - a * b, AT))


def number(expression):
    return float(evaluate(expression.node(), AT))


@pytest.mark.parametrize(
    "operation",
    [
        lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q, lambda p, q: -p + 2 * q,
        lambda p, q: 1 / p, lambda p, q: 2.5 - p, lambda p, q: p / 4 + q / 0.5, lambda p, q: p**3, lambda p, q: p**0 + q,
        lambda p, q: p**-2, lambda p, q: (p / q) ** 2 - q / p, lambda p, q: p**2.0, lambda p, q: Fraction(1, 3) * p,
        lambda p, q: np.float64(2.0) * p, lambda p, q: p * np.int64(3), lambda p, q: np.float64(1.5) - p / q,
    ],
)  # fmt: skip
def test_arithmetic_is_that_of_numbers(operation):
    assert number(operation(E1, E2)) == pytest.approx(float(operation(N1, N2)), rel=1e-13)


def test_arithmetic_with_nodes_is_exact():
    assert E1 + x * 0.0 + a == ALGEBRA.of_node(a * np.sin(x) + b + a)
    assert a * np.sin(x) + b == E1
    assert a * np.sin(x) != E1
    assert E1 - E1 == 0
    assert ALGEBRA.of_node(a - a + 2.0) == 2
    assert ALGEBRA.of_node(0.25 * a) * 4 / a == 1


@pytest.mark.parametrize("power", [0.5, "2", None])
def test_powers_that_are_not_whole_are_refused(power):
    with pytest.raises(dy.InputError, match="must be an integer"):
        E1**power


def test_what_is_no_number_is_refused():
    with pytest.raises(dy.InputError, match="nan"):
        E1 * float("nan")
    with pytest.raises(TypeError):
        E1 + "a"
    assert E1 != "a"
    assert E1 != None  # noqa: E711 - the comparison itself is under test


def test_arrays_take_part_element_by_element():
    numbers = np.array([1.0, 2.0, -3.0])
    for result, reference in (
        (E1 * numbers, N1 * numbers), (numbers * E1, N1 * numbers), (numbers - E1, numbers - N1), (E1 - numbers, N1 - numbers),
        (numbers / E1, numbers / N1), (numbers + E1, numbers + N1),
    ):  # fmt: skip
        assert [number(entry) for entry in result] == pytest.approx(list(reference))


def test_matrices_of_expressions_multiply():
    form = in_numbers("planar_3r").form
    x = in_numbers("planar_3r")
    product = form.M @ form.C
    assert isinstance(product, Formulas)
    assert np.allclose(x.of(product), x.of(form.M) @ x.of(form.C), rtol=1e-12)
    numbers = np.arange(9.0).reshape(3, 3)
    assert np.allclose(x.of((numbers @ form.M).view(Formulas)), numbers @ x.of(form.M), rtol=1e-12)
    assert np.allclose(x.of((2.0 * form.M - numbers * form.M).view(Formulas)), 2.0 * x.of(form.M) - numbers * x.of(form.M))


def test_matrices_are_equal_or_not():
    form = in_numbers("planar_2r").form
    for other, same in ((form.M.T, True), (form.C, False), (form.g, False)):
        assert bool(operator.eq(form.M, other)) is same
        assert bool(operator.ne(form.M, other)) is not same


def test_sum_over_two_robots_means_the_symbols_of_each():
    x, two = in_numbers("planar_3r"), dy.load("planar_2r").closed_form()
    total = Formulas.of([x.form.M[2, 2] + two.M[1, 1], x.form.M[0, 0] * two.M[1, 1] - x.form.M[0, 0]], (2,))
    m, l, I = (x.values[symbol(f"{letter}_2")] for letter in "mlI")
    M = x.of(x.form.M)
    expected = np.stack([M[:, 2, 2] + m * l**2 + I, M[:, 0, 0] * (m * l**2 + I - 1)], -1)
    assert np.allclose(x.of(total), expected)


def test_expressions_of_two_robots_are_compared_by_their_symbols():
    def pendulum(name):
        # both rings have as many generators, which mean other things
        inertia = dy.Inertia.about_com(symbol(name), np.array([1.0, 0.0, 0.0]), np.zeros((3, 3)))
        d = dy.Description(name, gravity=(0, -10, 0)).add_link("link0").add_link("link1", "link0", "revolute", inertia=inertia)
        return dy.Robot(d).closed_form()

    assert pendulum("m_a").M[0, 0] != pendulum("m_b").M[0, 0]
    assert pendulum("m_a").M[0, 0] == pendulum("m_a").M[0, 0]
    assert pendulum("m_a").M == pendulum("m_a").M
    with pytest.raises(dy.InputError, match="m_b"):
        pendulum("m_a").M[0, 0] + pendulum("m_b").M[0, 0]


def test_symbols_that_do_not_occur_are_refused_by_name():
    with pytest.raises(dy.InputError, match="foreign"):
        E1 + symbol("foreign")


@pytest.mark.parametrize("variable", [x, y, a, b], ids=str)
@pytest.mark.parametrize("make", [lambda: E1, lambda: E1 * E2, lambda: E1 / E2, lambda: (E1 / E2) ** 2 + E2, lambda: ALGEBRA.of_node(np.sin(a * x) * b)])  # fmt: skip
def test_derivative_is_the_limit_of_differences(make, variable):
    expression, h = make(), 1e-6
    high, low = (float(evaluate(expression.node(), {**AT, variable: AT[variable] + e})) for e in (h, -h))
    assert number(expression.diff(variable)) == pytest.approx((high - low) / (2 * h), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("name", ["planar_3r", "stanford", "puma560"])
def test_slopes_of_the_mass_matrix_are_limits_of_differences(name):
    x = in_numbers(name)
    h = 1e-6
    for k in range(x.form.n):
        slope = Formulas.of((entry.diff(x.form.q[k]) for entry in x.form.M.flat), x.form.M.shape)
        step = h * np.eye(x.form.n)[k]
        reference = (x.numeric.mass_matrix(x.q + step) - x.numeric.mass_matrix(x.q - step)) / (2 * h)
        assert np.abs(x.of(slope) - reference).max() < 1e-7 * np.abs(x.numeric.mass_matrix(x.q)).max()


def test_derivative_by_a_symbol_that_does_not_occur_is_zero():
    assert E1.diff(symbol("other")) == 0


# SymPy


NASTY = [
    "__import__('os')", r"\input{x}", "$x$", "m_1}", "lambda", "ä", "α", "m" * 300, "sin", "cos", "q", "p_q", "p_q1",
    "p_tau1", "qd1", "E", "p_E", "I", "pi", "oo", "eval", "array", "x^2", "~x", "_", "__a", "a b", "1a", "m_1", "M_1", "a-b", "x\ny",
    "None", "True", "Symbol", "print", "%", "#", "{", "p", "import_os", "S", "N", "diff", "beta",
]  # fmt: skip


def nasty_form(names=NASTY):
    """A robot whose parameters have names that no formula should ever execute or break on."""
    d = dy.Description("nasty", gravity=(0, -10, 0)).add_link("link0")
    for k, name in enumerate(names, 1):
        inertia = dy.Inertia.about_com(symbol(name), np.array([0.5, 0.0, 0.0]), np.diag([0.0, 0.0, 0.01]))
        d.add_link(f"link{k}", f"link{min(k - 1, 1)}", "revolute", origin=at(1.0 if k > 1 else 0.0), inertia=inertia)
    return dy.Robot(d).closed_form()


@pytest.fixture(scope="module")
def nasty():
    return nasty_form()


def test_names_for_sympy_are_identifiers_without_another_meaning(nasty):
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    symbols = nasty.M[0, 0].sympy().free_symbols | nasty.g[0].sympy().free_symbols
    for s in symbols:
        assert s.name.isascii()
        assert s.name.isidentifier()
        assert len(s.name) <= 80
        assert not keyword.iskeyword(s.name)
        assert not hasattr(builtins, s.name)
        assert not hasattr(sympy, s.name)
        assert "__import__" not in s.name


def test_distinct_symbols_stay_distinct_in_sympy(nasty):
    pytest.importorskip("sympy", reason="sympy is not installed")
    names = nasty.algebra.sympy_form.names
    assert len(set(names.values())) == len(names)
    masses = [symbol(name) for name in NASTY]
    assert len({names[id(m)] for m in masses}) == len(NASTY)
    assert len(nasty.M[0, 0].sympy().free_symbols) >= len(NASTY)


def test_names_do_not_change_the_function_in_sympy(nasty):
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    rng = np.random.default_rng(5)
    state = {s: float(rng.uniform(0.5, 1.5)) for s in (*nasty.q, *(symbol(name) for name in NASTY))}
    names = nasty.algebra.sympy_form.names
    expression = nasty.g[0].sympy()
    inputs = [sympy.Symbol(names[id(s)], real=True) for s in state]
    reference = float(evaluate(nasty.g[0].node(), state))
    for modules in ("math", "numpy", "mpmath"):
        function = sympy.lambdify(inputs, expression, modules)
        assert float(function(*state.values())) == pytest.approx(reference, rel=1e-12)
    again = sympy.sympify(str(expression), locals={s.name: s for s in inputs})
    assert sympy.expand(again - expression) == 0
    plain = sympy.sympify(str(expression))  # without being told what is a symbol
    assert {s.name for s in plain.free_symbols} == {s.name for s in expression.free_symbols}


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r", "scara", "planar_prp", "motor_with_load"])
def test_sympy_matrix_is_the_same_function(name):
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    x = in_numbers(name)
    names = x.form.algebra.sympy_form.names
    for formulas in (x.form.M, x.form.C, x.form.torque):
        inputs = [*x.form.q, *x.form.v, *x.form.a, *x.values]
        function = sympy.lambdify([sympy.Symbol(names[id(s)], real=True) for s in inputs], formulas.sympy(), "numpy")
        result = np.array(function(*x.q[0], *x.v[0], *x.a[0], *x.values.values()), dtype=float)
        assert np.allclose(result.reshape(formulas.shape), x.of(formulas)[0], rtol=1e-12, atol=1e-14)


def test_sympy_proves_skew_symmetry_itself():
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    N = in_numbers("planar_3r").form.N.sympy()
    assert sympy.expand(N + N.T) == sympy.zeros(3, 3)


def test_numbers_for_sympy_are_exact():
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    robot = arm([(0, 0, 1)])
    assert not in_numbers("planar_2r").form.kinetic_energy.sympy().atoms(sympy.Float)
    assert robot.closed_form().kinetic_energy.sympy().has(sympy.Rational(1, 2))


def test_functions_other_than_sines_reach_sympy_as_themselves():
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    nodes = [
        np.sqrt(a),
        np.sign(x) * np.exp(y),
        np.maximum(a, b) * np.tanh(x),
        np.sin(a * x),
        np.where(a < b, a, b),
        np.arctan2(x, y),
    ]
    algebra = algebra_of(*nodes)
    for node in nodes:
        given = {sympy.Symbol(name, real=True): value for name, value in (("x", 0.7), ("y", -1.1), ("a", 1.3), ("b", 0.4))}
        assert float(algebra.of_node(node).sympy().subs(given)) == pytest.approx(float(evaluate(node, AT)))


def test_factored_expressions_reach_sympy_too():
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    full, factored = dy.load("planar_2r").closed_form(), dy.load("planar_2r").closed_form(seconds=0)
    assert not factored.expanded
    assert sympy.simplify(factored.M.sympy() - full.M.sympy()) == sympy.zeros(2, 2)


def test_named_factors_reach_sympy_with_names_of_their_own():
    pytest.importorskip("sympy", reason="sympy is not installed")
    form = closed_form(arm([(0, 0, 1)] * 3).model)
    names = {s.name for s in form.compact.C.sympy().free_symbols if s.name.startswith("h")}
    assert len(names) == len(form.compact.names) > 1


def test_quotients_are_printed_as_fractions():
    expression = ALGEBRA.of_node(a / (b + np.cos(x)))
    assert expression.latex().startswith(r"\frac{")
    assert str(expression).count("/") == 1
    assert str(Expression(ALGEBRA, ALGEBRA.ring.zero)) == "0"


def test_factored_print_names_shared_parts_before_it_uses_them():
    form = dy.load("planar_3r").closed_form()
    lines = form.M.factored()
    names = [name for name, _ in lines if name.startswith("x_")]
    assert names == [f"x_{{{k + 1}}}" for k in range(len(names))]
    assert len(names) > 0
    assert [name for name, _ in lines[len(names) :]] == [f"_{{{i}{j}}}" for i in (1, 2, 3) for j in (1, 2, 3)]
    for k, (_, formula) in enumerate(lines):
        for name in names[k:] if k < len(names) else []:
            assert name not in formula


def test_quotients_have_whole_coefficients_without_a_common_divisor():
    form = dy.load("planar_2r").closed_form()
    half = form.M[1, 1] * 0.5
    assert str(1 / half) == "(2)/(m_2*l_2^2 + I_2)"
    assert 1 / half * half == 1


def test_expressions_are_compared_and_so_not_hashed():
    with pytest.raises(TypeError, match="unhashable"):
        hash(dy.load("planar_2r").closed_form().M[0, 0])
