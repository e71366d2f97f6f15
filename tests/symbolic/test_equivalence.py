"""Equality is decided: what is equal by construction is found equal, what differs by one term is found different."""

import math

import mpmath
import numpy as np
import pytest

import dynamis as dy
from dynamis.scalar import symbol, topological
from dynamis.symbolic.equivalence import equivalent

x, y, z, a, b, c = (symbol(name) for name in "xyzabc")
SYMBOLS = (x, y, z, a, b, c)


def random_polynomial(rng, size=4):
    """A sum of products of symbols, sines and cosines of sums."""
    total = float(rng.integers(-3, 4))
    for _ in range(size):
        term = float(rng.integers(1, 6)) * (-1.0) ** int(rng.integers(2))
        for _ in range(int(rng.integers(1, 4))):
            term = term * random_factor(rng)
        total = total + term
    return total


def random_factor(rng):
    kind = rng.integers(3)
    if kind == 0:
        return SYMBOLS[rng.integers(6)]
    angle = sum(
        (float(rng.choice([-1.0, 1.0, 2.0, 0.5])) * SYMBOLS[k] for k in rng.choice(3, int(rng.integers(1, 4)), replace=False)),
        0.0,
    )
    return np.sin(angle) if kind == 1 else np.cos(angle)


def rewritten(node, rng):
    """The same function in other words: addition theorems, double and half angles, products multiplied out, quotients."""
    made = {}
    for n in topological([node]):
        args = [made.get(id(x), x) for x in n.args]
        if n.op == "symbol":
            made[id(n)] = n
        elif n.op in ("sin", "cos"):
            made[id(n)] = other_words(n.op, n.args[0], rng)
        elif n.op == "mul":
            made[id(n)] = multiplied_out(args[0], args[1]) if rng.random() < 0.7 else args[1] * args[0]
        elif n.op == "add":
            made[id(n)] = args[1] + args[0]
        elif n.op == "sub":
            made[id(n)] = -1.0 * (args[1] - args[0])
        elif n.op == "neg":
            made[id(n)] = (1.0 - 2.0) * args[0]
        else:
            made[id(n)] = args[0] / args[1]
    unit = (a * a + 1.0) / (1.0 + a * a) if rng.random() < 0.5 else np.sin(z) ** 2 + np.cos(z) ** 2
    return made[id(node)] * unit


def other_words(op, angle, rng):
    if rng.random() < 0.5 and getattr(angle, "op", "") in ("add", "sub"):
        left, right = angle.args
        sign = 1.0 if angle.op == "add" else -1.0
        if op == "sin":
            return np.sin(left) * np.cos(right) + sign * np.cos(left) * np.sin(right)
        return np.cos(left) * np.cos(right) - sign * np.sin(left) * np.sin(right)
    if rng.random() < 0.5:
        return 2.0 * np.sin(angle / 2.0) * np.cos(angle / 2.0) if op == "sin" else 1.0 - 2.0 * np.sin(0.5 * angle) ** 2
    return np.sin(angle) if op == "sin" else np.cos(angle)


def multiplied_out(p, q):
    for one, other in ((p, q), (q, p)):
        if getattr(one, "op", "") in ("add", "sub"):
            left, right = one.args[0] * other, one.args[1] * other
            return left + right if one.op == "add" else left - right
    return q * p


def value(node, at):
    """The value with forty digits."""
    with mpmath.workdps(40):
        made = {}
        operations = {
            "add": lambda p, q: p + q, "sub": lambda p, q: p - q, "mul": lambda p, q: p * q, "div": lambda p, q: p / q,
            "neg": lambda p: -p, "sin": mpmath.sin, "cos": mpmath.cos,
        }  # fmt: skip
        for n in topological([node]):
            args = [made[id(w)] if hasattr(w, "op") else mpmath.mpf(w) for w in n.args] if n.op != "symbol" else []
            made[id(n)] = at[id(n)] if n.op == "symbol" else operations[n.op](*args)
        return made[id(node)] if hasattr(node, "op") else mpmath.mpf(node)


def difference(p, q, rng):
    at = {id(s): mpmath.mpf(int(rng.integers(100, 900))) / 313 for s in SYMBOLS}
    return abs(value(p, at) - value(q, at))


@pytest.mark.parametrize("seed", range(40))
def test_same_function_in_other_words_is_equal(seed):
    rng = np.random.default_rng(seed)
    p = random_polynomial(rng)
    q = rewritten(p, rng)
    assert difference(p, q, rng) < 1e-30  # the rewriting is right
    assert equivalent(p, q)


@pytest.mark.parametrize("seed", range(40))
def test_one_more_term_makes_a_difference(seed):
    rng = np.random.default_rng(1000 + seed)
    p = random_polynomial(rng)
    q = rewritten(p, rng) + random_factor(rng) * random_factor(rng) / 1000.0
    assert difference(p, q, rng) > 1e-12
    assert not equivalent(p, q)


@pytest.mark.parametrize("seed", range(15))
def test_quotients_are_compared_by_cross_multiplication(seed):
    rng = np.random.default_rng(2000 + seed)
    p, q, r = (random_polynomial(rng, 2) + a * b * 7.0 for _ in range(3))
    assert equivalent(p / q + r, (p + q * r) / q)
    assert equivalent((p * r) / (q * r), p / q)
    assert equivalent(1.0 / (1.0 / p), p)
    assert not equivalent(p / q, q / p)
    assert not equivalent(p / q + r, (p + r) / q)


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_are_those_of_sympy(seed):
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    rng = np.random.default_rng(3000 + seed)
    p = random_polynomial(rng, 2)
    q = rewritten(p, rng)
    if seed % 2:
        q = q + np.sin(x) * b
    names = {str(s): sympy.Symbol(str(s), real=True) for s in SYMBOLS}
    left, right = (sympy.sympify(str(w), locals=names) for w in (p, q))
    exactly = sympy.nsimplify(sympy.expand(sympy.expand_trig(sympy.nsimplify(left - right).rewrite(sympy.exp))), rational=True)
    zero = sympy.simplify(exactly) == 0
    assert equivalent(p, q) == zero == (seed % 2 == 0)


IDENTITIES = [
    (np.sin(x) ** 2 + np.cos(x) ** 2, 1.0),
    (np.sin(x + y), np.sin(x) * np.cos(y) + np.cos(x) * np.sin(y)),
    (np.cos(x - y + z), np.cos(x - y) * np.cos(z) - np.sin(x - y) * np.sin(z)),
    (np.sin(2.0 * x), 2.0 * np.sin(x) * np.cos(x)),
    (np.cos(x), 2.0 * np.cos(x / 2.0) ** 2 - 1.0),
    (np.sin(3.0 * x), 3.0 * np.sin(x) - 4.0 * np.sin(x) ** 3),
    (np.cos(x / 3.0) ** 3 * 4.0 - 3.0 * np.cos(x / 3.0), np.cos(x)),
    (np.sin(x / 3.0 + x / 2.0), np.sin(5.0 * x / 6.0)),
    (np.sin(-x), -np.sin(x)),
    (np.sin(x + math.pi / 2), np.cos(x)),
    (np.cos(x + math.pi), -np.cos(x)),
    (np.sin(x) / (1.0 - np.cos(x)), (1.0 + np.cos(x)) / np.sin(x)),
    ((x * x - y * y) / (x - y), x + y),
    (np.sin(a * (x + y)), np.sin(a * x + a * y)),
    (np.sin((a * b) * c), np.sin(c * (b * a))),
    (np.cos(a * x) ** 2, 1.0 - np.sin(x * a) ** 2),
    (np.sin(1.2345 * x) ** 2 + np.cos(1.2345 * x) ** 2, 1.0),
    (np.sin(2.469 * x), 2.0 * np.sin(1.2345 * x) * np.cos(1.2345 * x)),
    (np.sin(0.123456789 * x + y), np.sin(0.123456789 * x) * np.cos(y) + np.sin(y) * np.cos(0.123456789 * x)),
    (np.sin(x + 0.3) ** 2 + np.cos(x + 0.3) ** 2, 1.0),
    (np.sin(x + 0.3), np.sin(x) * math.cos(0.3) + np.cos(x) * math.sin(0.3)),
    (np.sin(x + 0.1) * math.cos(0.2) + np.cos(x + 0.1) * math.sin(0.2), np.sin(x + 0.3)),
    ((0.1 + 0.2) * x, 0.3 * x),
    ((1.0 / 3.0) * x, x / 3.0),
    (np.sqrt(x * x + 2.0 * x * y + y * y), np.sqrt((x + y) ** 2)),
    (np.sqrt(np.sin(x) / (1.0 - np.cos(x))), np.sqrt((1.0 + np.cos(x)) / np.sin(x))),
    (np.maximum(np.sin(x) ** 2, y), np.maximum(y, 1.0 - np.cos(x) ** 2)),
    (np.sign(x + y) * np.exp(y + x), np.exp(x + y) * np.sign(y + x)),
    ((x + y) ** -2, 1.0 / (x * x + 2.0 * x * y + y * y)),
]


@pytest.mark.parametrize("pair", IDENTITIES, ids=lambda pair: str(pair[0])[:40])
def test_identity_holds(pair):
    assert equivalent(*pair)
    assert equivalent(pair[1], pair[0])


@pytest.mark.parametrize("pair", IDENTITIES, ids=lambda pair: str(pair[0])[:40])
def test_identity_with_a_slip_does_not_hold(pair):
    left, right = pair
    assert not equivalent(left, right * 1.000001)
    assert not equivalent(left + 1e-6 * a * np.sin(x), right)
    assert not equivalent(left, right + np.cos(y) / 1e6)


def test_different_functions_are_different():
    assert not equivalent(np.sin(x), np.sin(y))
    assert not equivalent(np.sin(x), np.cos(x))
    assert not equivalent(np.sqrt(x), np.sqrt(y))
    assert not equivalent(np.sqrt(x), np.exp(x))
    assert not equivalent(np.arctan2(x, y), np.arctan2(y, x))
    assert not equivalent(np.sin(1.2345 * x), np.sin(1.2346 * x))
    assert not equivalent(np.sin(0.1 * x), np.sin(0.1001 * x))
    assert not equivalent(x / y, y / x)
    assert not equivalent(symbol("m_1"), symbol("m1"))


def test_arrays_are_compared_entry_by_entry():
    assert equivalent([[x + y, 0.0]], np.array([[y + x, np.sin(x) ** 2 + np.cos(x) ** 2 - 1.0]], dtype=object))
    assert not equivalent([x, y], [x, x])
    assert equivalent([], [])
    with pytest.raises(dy.InputError, match="shapes"):
        equivalent([x, y], [x])


def test_what_is_no_expression_is_refused():
    with pytest.raises(dy.InputError, match="str"):
        equivalent("x", x)
    with pytest.raises(dy.InputError, match="division by zero"):
        equivalent(x / (np.sin(y) ** 2 + np.cos(y) ** 2 - 1.0), x)


def test_numbers_compare_as_numbers():
    assert equivalent(1, 1.0)
    assert equivalent(np.int64(2), 2.0)
    assert not equivalent(1.0, 1.0000001)


def test_expressions_of_robots_compare_with_nodes_and_with_each_other():
    one, other = (dy.load(name).closed_form() for name in ("planar_2r", "planar_3r"))
    assert equivalent(one.M, one.M.T)
    assert equivalent(one.M[1, 1], symbol("I_2") + symbol("m_2") * symbol("l_2") ** 2)
    assert equivalent(other.M[2, 2], symbol("I_3") + symbol("m_3") * symbol("l_3") ** 2)
    assert not equivalent(one.M[1, 1], other.M[1, 1])
