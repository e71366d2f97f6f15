"""Factored graphs: what is printed, with its names, can be read back as the same function."""

import numpy as np
import pytest
from balanced_latex import is_balanced

from dynamis.classroom.answers import Vocabulary, parse_answer
from dynamis.scalar import evaluate, symbol
from dynamis.symbolic.factored import latex, replaced
from dynamis.symbolic.notation import NOTATIONS, SymbolPrinter

x, y, a, b = (symbol(name) for name in ("k_x", "k_y", "k_a", "k_b"))
LETTERS = SymbolPrinter(NOTATIONS["dynamis"], {}, (True, True))
AT = {x: 0.7, y: -1.1, a: 1.3, b: 0.4}


def read_back(outputs):
    """The outputs, from their printed definitions."""
    states = [symbol(f"{letter}[{k}]") for letter in "qva" for k in (1, 2)]
    names = Vocabulary(states[:2], states[2:4], states[4:], (True, True), {str(s): s for s in AT})
    lines = latex(outputs, LETTERS, "Z")
    text = "\n".join([f"{name} = {formula}" for name, formula in lines if name] + [f"Y_{{{k}}} = {formula}" for k, (_, formula) in enumerate((line for line in lines if not line[0]), 1)])  # fmt: skip
    assert is_balanced(text)
    answer = parse_answer(text, names)
    return [answer.entries["Y"][k,].node for k in range(len(outputs))]


def random_graph(rng):
    nodes = [x, y, a, b, np.sin(x - y), np.cos(y - x), np.cos(a), np.sin(b - a)]
    for _ in range(14):
        p, q = (nodes[k] for k in rng.integers(0, len(nodes), 2))
        r = float(rng.choice([-2.0, -1.0, 0.5, 3.0]))
        made = [p + q, p - q, p * q, r * p, -p, p / (q * q + 1.0), -p - r * q, r - p, (-p) * q + r, -p + q]
        node = made[rng.integers(len(made))]
        nodes += [node] if hasattr(node, "op") else []
    return nodes[-2:]


@pytest.mark.parametrize("seed", range(60))
def test_printed_graph_can_be_read_back(seed):
    outputs = random_graph(np.random.default_rng(seed))
    assert evaluate(read_back(outputs), AT) == pytest.approx(evaluate(outputs, AT), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("node", [-x - (-2.0 * y), -x - y, -(x - y) * a, x - (y - a), x - (y + a) - b, -x + (-2.0 * y), (-2.0 * x) - (-3.0 * y), x / y / a, x / (y / a), x - -2.0 * y, (x + y) * (x + y), -(x * y) * (a - b), np.cos(y - x), np.cos(-x - y), np.sin(y - x) * a], ids=str)  # fmt: skip
def test_signs_and_brackets_are_kept(node):
    assert float(evaluate(read_back([node])[0], AT)) == pytest.approx(float(evaluate(node, AT)), rel=1e-12)


def test_what_is_used_often_is_named_once():
    shared = (x + y) * a + b
    lines = latex([shared * shared + shared, shared - x], LETTERS)
    assert sum(formula.count("k_b") + formula.count("k_{b}") for _, formula in lines) == 1
    assert [name for name, _ in lines].count("") == 2


def test_symbols_are_replaced_everywhere():
    node = np.sin(x + y) * x - np.sqrt(a) / np.maximum(x, b)
    changed = replaced(node, {id(x): a, id(b): 2.0})
    assert float(evaluate(changed, AT)) == pytest.approx(
        float(evaluate(np.sin(a + y) * a - np.sqrt(a) / np.maximum(a, 2.0), AT))
    )
    assert replaced(node, {}) is node
    assert replaced(3.0, {id(x): a}) == 3.0
