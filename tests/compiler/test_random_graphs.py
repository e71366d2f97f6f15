"""Random expressions of every operation: compiled in both precisions and by both codes, against the interpreter."""

import importlib
import pkgutil

import numpy as np
import pytest
from random_graphs import RandomGraph

import dynamis.compiler
from dynamis.compiler import jit, llvm_text
from dynamis.compiler.gufunc import Gufunc
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.lowering import trace
from dynamis.scalar import Node, Program, node, symbol, topological
from dynamis.scalar.program import MEANING

MODULES = [f"dynamis.compiler.{m.name}" for m in pkgutil.iter_modules(dynamis.compiler.__path__)]
PRECISIONS = {"double": np.float64, "float": np.float32}
UNITS = 2.0  # of rounding an operation may have; the worst seen is 0.85
ROWS = 201
# the module that cuts long functions into pieces
CUTTING = next(m for m in map(importlib.import_module, MODULES) if hasattr(m, "SEGMENT"))


def compiled(graph, precision, level):
    code = trace(graph.function, [("x", len(graph.inputs))], "graph")
    loaded = jit.Loaded(jit.assemble(llvm_text.render(code, jit.host_target(precision)), level))
    gufunc = Gufunc(code, precision, loaded.address)
    return gufunc, loaded  # the code must live as long as it is called


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("seed", range(20))
def test_a_random_graph_is_what_the_interpreter_says(seed, precision):
    graph = RandomGraph(np.random.default_rng(seed))
    x = graph.values(ROWS, PRECISIONS[precision])
    found = Kernel([graph.function], [("x", len(graph.inputs))], "graph")(x)
    expected = graph.reference(x)
    assert np.isfinite(expected).all()
    count = len(graph.exact_outputs)
    assert np.array_equal(found[:, :count], expected[:, :count])  # no operation of these rounds
    eps = float(np.finfo(PRECISIONS[precision]).eps)
    allowed = UNITS * eps * graph.uncertainty(x)[:, count:] + eps * np.abs(expected[:, count:])
    excess = np.abs(found[:, count:] - expected[:, count:]) - allowed
    assert excess.max() <= 0.0, f"{found[:, count:].flat[excess.argmax()]} for {expected[:, count:].flat[excess.argmax()]}"


def test_the_random_graphs_have_every_operation():
    seen = set()
    for seed in range(20):
        seen |= {n.op for n in topological(RandomGraph(np.random.default_rng(seed)).outputs)}
    assert seen - {"symbol"} == set(MEANING)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("seed", range(100, 106))
def test_both_codes_round_a_random_graph_alike(seed, precision):
    graph = RandomGraph(np.random.default_rng(seed))
    x = graph.values(ROWS, PRECISIONS[precision])
    (quick, _a), (good, _b) = (compiled(graph, precision, level) for level in (0, 2))
    assert np.array_equal(quick.function(x), good.function(x))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("pieces", [3, 17])
def test_cutting_a_function_does_not_change_a_bit(monkeypatch, pieces, precision):
    """Values cross from piece to piece through memory; sines, signs and results of any piece must survive."""
    graph = RandomGraph(np.random.default_rng(7), operations=120)
    x = graph.values(ROWS, PRECISIONS[precision])
    whole, _a = compiled(graph, precision, 0)
    expected = whole.function(x)
    monkeypatch.setattr(CUTTING, "SEGMENT", pieces)
    cut, _b = compiled(graph, precision, 0)
    assert np.array_equal(cut.function(x), expected)


def special_graph(rng, operations):
    """Operations whose results are exact for zeros, infinities, NaN and small whole numbers."""
    pool = [symbol(f"x[{k}]") for k in range(4)]
    while len(pool) < 60:
        a, b, c = (pool[int(rng.integers(max(0, len(pool) - 20), len(pool)))] for _ in range(3))
        match rng.choice(operations):
            case "lt":
                new = a < b
            case "le":
                new = a <= b
            case "eq":
                new = a == b
            case "not":
                new = node.unary("not", a)
            case "where":
                new = np.where(a, b, c)
            case "neg":
                new = -a
            case "abs":
                new = abs(a)
            case "floor":
                new = np.floor(a)
            case "add":
                new = np.where(a < 10.0, a, 1.0) + np.where(b > -10.0, b, 1.0)
            case op:
                new = node.unary("sign", a) if op == "sign" else node.binary(op, a, b)
        if isinstance(new, Node):
            pool.append(new)
    return pool[:4], np.array(pool[-20:], dtype=object)


USUAL = ["lt", "le", "eq", "not", "where", "neg", "abs", "floor", "add", "where"]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "operations", [USUAL, [*USUAL, "min", "max", "and", "or", "sign"]], ids=["without min and max", "with min and max"]
)
@pytest.mark.parametrize("seed", range(4))
def test_graphs_of_decisions_on_infinities_and_missing_numbers(seed, operations, precision):
    inputs, outputs = special_graph(np.random.default_rng(seed), operations)
    few = np.array([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan], dtype=PRECISIONS[precision])
    x = np.stack([g.ravel() for g in np.meshgrid(few, few, few, few)], axis=-1)[::5]
    found = Kernel([lambda x: outputs], [("x", 4)], "special")(x)
    expected = Program(inputs, outputs)(*x.T)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    wrong = [str(outputs[k])[:300] for k in np.flatnonzero(~same.all(axis=0))]
    assert not wrong, f"{len(wrong)} of {len(outputs)} expressions differ, such as {min(wrong, key=len)}"


def test_a_function_of_many_thousand_operations():
    """Longer than one piece of machine code, without any help from the test."""
    rng = np.random.default_rng(3)
    x = np.array([symbol(f"x[{k}]") for k in range(5)], dtype=object)
    weights = rng.uniform(-0.4, 0.4, (40, 12, 12))

    def network(x):
        y = np.concatenate([x, np.sin(x), x[:2]])
        for w in weights:
            y = w @ y + 0.1
            y = np.concatenate([np.tanh(y[:1]), y[1:]])
        return y

    kernel = Kernel([network], [("x", 5)], "network")
    assert len(kernel.code.instructions) > 1.5 * CUTTING.SEGMENT
    values = rng.uniform(-1, 1, (11, 5))
    expected = Program(list(x), network(x))(*values.T)
    assert np.abs(kernel(values) - expected).max() <= 1e-13 * np.abs(expected).max()
