"""Expressions: built once, folded while built, evaluated and differentiated exactly."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dynamis as dy
from dynamis.scalar import (
    Node,
    Program,
    directional,
    evaluate,
    gradient,
    jacobian,
    kept,
    pulled_back,
    solve_positive,
    symbol,
    topological,
)
from dynamis.scalar.graph import show
from dynamis.scalar.program import MEANING
from dynamis.scalar.substitution import substituted

x, y, z = symbol("x"), symbol("y"), symbol("z")


def test_equal_expressions_are_one_object():
    assert x * y + z is z + y * x
    assert np.sin(x) is np.sin(symbol("x"))


# the rewriting rules of the constructors, by name: what is written, and what it becomes
RULES = {
    "zero added": (lambda: 0 + x, lambda: x),
    "zero added on the right": (lambda: x + 0.0, lambda: x),
    "zero subtracted": (lambda: x - 0, lambda: x),
    "subtracted from zero": (lambda: 0.0 - x, lambda: -x),
    "difference of equals": (lambda: x - x, lambda: 0.0),
    "negative added": (lambda: x + (-y), lambda: x - y),
    "added to a negative": (lambda: (-x) + y, lambda: y - x),
    "negative subtracted": (lambda: x - (-y), lambda: x + y),
    "times zero": (lambda: 0.0 * x, lambda: 0.0),
    "times one": (lambda: x * 1, lambda: x),
    "times minus one": (lambda: -1.0 * x, lambda: -x),
    "product of negatives": (lambda: (-x) * (-y), lambda: x * y),
    "negative factor": (lambda: x * (-y), lambda: -(x * y)),
    "number times a negative": (lambda: 3.0 * (-x), lambda: -3.0 * x),
    "numbers of a product meet": (lambda: 2.0 * (3.0 * x), lambda: 6.0 * x),
    "the number of a product is outermost": (lambda: (2.0 * x) * (3.0 * y), lambda: 6.0 * (x * y)),
    "divided by one": (lambda: x / 1, lambda: x),
    "divided by minus one": (lambda: x / -1.0, lambda: -x),
    "quotient of equals": (lambda: x / x, lambda: 1.0),
    "zero divided": (lambda: 0 / x, lambda: 0.0),
    "negative numerator": (lambda: (-x) / y, lambda: -(x / y)),
    "double negation": (lambda: (-x).__neg__(), lambda: x),
    "negated difference": (lambda: -(x - y), lambda: y - x),
    "negated multiple": (lambda: -(2.0 * x), lambda: -2.0 * x),
    "square": (lambda: x**2, lambda: x * x),
    "power zero": (lambda: x**0, lambda: 1.0),
    "power one half": (lambda: x**0.5, lambda: np.sqrt(x)),
    "negative power": (lambda: x**-2, lambda: 1.0 / (x * x)),
    "even function": (lambda: np.cos(-x), lambda: np.cos(x)),
    "odd function": (lambda: np.sin(-x), lambda: -np.sin(x)),
    "absolute value of a negative": (lambda: abs(-x), lambda: abs(x)),
    "commuting operands": (lambda: y * x + z, lambda: z + x * y),
    "minimum of equals": (lambda: np.minimum(x, x), lambda: x),
    "equal to itself": (lambda: x == x, lambda: 1.0),
    "known condition": (lambda: np.where(1.0, x, y), lambda: x),
    "choice of equals": (lambda: np.where(x < y, z, z), lambda: z),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rewriting_rule_applies_while_the_graph_is_built(rule):
    written, becomes = (make() for make in RULES[rule])
    assert becomes is written or (not isinstance(becomes, Node) and not isinstance(written, Node) and becomes == written)


def test_substituted_numbers_are_folded_as_written_ones():
    """Comparisons included: a condition that becomes known chooses its branch."""
    chosen = substituted([np.where(x < y, x * z, z)], [x, y], [1.0, 2.0])[0]
    assert chosen is z
    for op, example in {"lt": x < y, "le": x <= y, "eq": x == y, "atan2": np.arctan2(x, y), "max": np.maximum(x, y)}.items():
        folded = substituted([example], [x, y], [1.0, 2.0])[0]
        assert isinstance(folded, float), op
        assert folded == MEANING[op](1.0, 2.0)


def test_branching_on_a_symbol_says_what_to_use_instead():
    with pytest.raises(dy.InputError, match="where"):
        bool(x < 1.0)
    with pytest.raises(dy.InputError, match="where"):
        if x == 0.0:
            pass


def test_a_symbol_has_no_number():
    with pytest.raises(dy.InputError, match="symbolic"):
        float(x)
    with pytest.raises(dy.InputError, match="no value"):
        evaluate(x + y, {x: 1.0})


def test_expressions_that_nobody_holds_are_forgotten():
    from dynamis.scalar import interning

    interning.release_nodes()
    gc.collect()
    before = len(interning.older)
    kept = [symbol("only here") * float(k) for k in range(2, 500)]
    interning.release_nodes()
    assert len(interning.older) >= before + 498
    del kept
    gc.collect()
    assert len(interning.older) <= before + 5


def test_expressions_in_use_stay_the_same_when_others_are_forgotten():
    from dynamis.scalar import interning

    product, total = symbol("in use") * 3.0, (symbol("in use") * 3.0 + y) * 2.0
    interning.release_nodes()
    assert not interning.newest
    assert symbol("in use") * 3.0 is product
    assert (product + y) * 2.0 is total


def test_only_so_many_expressions_are_kept_without_use(monkeypatch):
    from dynamis.scalar import interning

    monkeypatch.setattr(interning, "MOST_NEW", 100)
    interning.release_nodes()
    held = [symbol("held") * float(k) for k in range(2, 60)]
    for k in range(2, 1000):
        _ = symbol("not held") * float(k)
    assert len(interning.newest) <= 100
    assert all(symbol("held") * float(k) is held[k - 2] for k in range(2, 60))


def test_threads_that_make_the_same_expressions_get_the_same_nodes():
    def made(_):
        started.wait()
        return [symbol(f"thread {k}") * 2.0 + 1.0 for k in range(2000)]

    started = threading.Barrier(8)
    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(made, range(8))
    assert all(a is b for other in others for a, b in zip(first, other, strict=True))


def test_a_chain_of_thirty_thousand_operations_needs_no_recursion():
    value = x
    for k in range(15_000):
        value = value * 1.0000001 + float(k % 7)
    assert len(topological([value])) > 15_000
    assert np.isfinite(evaluate(value, {x: 1.0}))
    assert np.isfinite(float(evaluate(gradient(value, [x]), {x: 1.0})[0]))
    del value
    gc.collect()


REAL = {"asin": 0.3, "acos": 0.3, "log": 0.7, "sqrt": 0.7}


@pytest.mark.parametrize("op", [op for op in MEANING if op not in ("lt", "le", "eq", "not", "and", "or", "where")])
def test_derivatives_agree_with_differences(op):
    from dynamis.scalar import node

    one = op in node.FOLD or op == "neg"
    if op == "neg":
        f = -x
    elif one:
        f = node.unary(op, x)
    else:
        operators = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y}
        f = operators[op] if op in operators else node.binary(op, x, y)
    at = {x: REAL.get(op, 0.37), y: 1.3}
    h = 1e-6
    for s in (x, y):
        high, low = ({**at, s: at[s] + d} for d in (h, -h))
        difference = (evaluate(f, high) - evaluate(f, low)) / (2 * h)
        assert evaluate(gradient(f, [s])[0], at) == pytest.approx(float(difference), abs=1e-8)
        assert evaluate(directional(f, [s], [1.0]), at) == pytest.approx(float(difference), abs=1e-8)


def test_forward_and_backward_derivatives_are_the_same_number():
    f = np.sin(x * y) / (1.0 + z * z) + np.where(x < y, x * z, y) * np.exp(-z) + np.arctan2(x, y)
    at = {x: 0.3, y: 0.8, z: -0.4}
    assert evaluate(gradient(f, [x, y, z]), at) == pytest.approx(evaluate(jacobian(f, [x, y, z]), at), rel=1e-14)


@pytest.mark.parametrize("op", sorted(set(MEANING) - {"where"}))
def test_folding_numbers_means_what_the_interpreter_means(op):
    from dynamis.scalar import node

    for a, b in [(0.3, 0.7), (-0.4, 0.2), (0.0, 0.5), (1.0, 1.0)]:
        if op in node.FOLD:
            if op in ("sqrt", "log") and a <= 0:
                continue
            assert node.unary(op, a) == pytest.approx(float(MEANING[op](a)), rel=1e-15)
        elif op in ("atan2", "min", "max", "and", "or"):
            assert node.binary(op, a, b) == pytest.approx(float(MEANING[op](a, b)), rel=1e-15)


def test_programs_run_over_whole_arrays_and_keep_single_precision():
    program = Program([x, y], np.array([[x + y, x * y], [1.0, np.sin(x)]]))
    a, b = np.linspace(0, 1, 5), np.linspace(1, 2, 3)[:, None]
    result = program(a, b)
    assert result.shape == (3, 5, 2, 2)
    assert np.array_equal(result[1, 2], [[a[2] + b[1, 0], a[2] * b[1, 0]], [1.0, np.sin(a[2])]])
    assert program(np.float32(1), np.float32(2)).dtype == np.float32


def test_where_min_max_and_comparisons_evaluate():
    f = np.array([np.where(x < y, 1.0, 2.0), np.maximum(x, y), np.minimum(x, 0.5), (x >= y) + 0.0, np.sign(x), abs(x)])
    assert evaluate(f, {x: -2.0, y: 1.0}).tolist() == [1.0, 1.0, -2.0, 0.0, -1.0, 2.0]


def test_text_of_an_expression_reads_back_to_the_same_expression():
    from dynamis.model.readers.expressions import parse_expression

    f = (x - y) * (2.5e-17 - z) / (x / y) - (-x) * np.sqrt(y - (z - 0.1))
    assert parse_expression(show(f, limit=10_000, exact=True), {"x": x, "y": y, "z": z}) is f


def test_functions_outside_their_domain_are_refused_for_numbers():
    with pytest.raises(dy.InputError, match="not a real number"):
        from dynamis.scalar import node

        node.unary("log", -1.0)
    with pytest.raises(dy.InputError, match="zero"):
        x / 0.0


def test_the_symbolic_solve_is_exact():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 5))
    M = A @ A.T + np.eye(5)
    b = rng.standard_normal((5, 2))
    nodes = np.array([[symbol(f"M{min(i, j)}{max(i, j)}") for j in range(5)] for i in range(5)])
    solution = solve_positive(nodes, b)
    values = {nodes[i, j]: M[i, j] for i in range(5) for j in range(i + 1)}
    assert np.allclose(evaluate(solution, values), np.linalg.solve(M, b), rtol=1e-12)


def test_a_kept_value_is_the_value_with_its_sign():
    f = x - kept(-y * z)
    assert f.op == "sub"
    assert f.args[1].op == "keep"
    assert kept(2.0) == 2.0
    assert str(f) == "x - (-(y*z))"
    assert evaluate(f, {x: 1.0, y: 2.0, z: 3.0}) == 7.0
    assert [evaluate(d, {x: 1.0, y: 2.0, z: 3.0}) for d in gradient(f, [x, y, z])] == [1.0, 3.0, 2.0]
    assert substituted([f], [y], [2.0])[0] is x - kept(-2.0 * z)


def test_weights_of_outputs_are_not_differentiated():
    f = [x * y, x * y, y + 1.0, 3.0]
    found = pulled_back(f, [x, 1.0, z, z], [x, y])
    assert [evaluate(d, {x: 2.0, y: 3.0, z: 5.0}) for d in found] == [9.0, 11.0]


def test_symbols_need_names():
    for bad in ("", None, 3):
        with pytest.raises(dy.InputError, match="name"):
            symbol(bad)
