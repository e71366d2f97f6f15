"""Derivatives of random expressions, interpreted and compiled, against the complex step, which has no cancellation."""

import numpy as np
import pytest
from random_graphs import RandomGraph

from dynamis.compiler.kernel import Kernel
from dynamis.scalar import Program, directional, gradient, jacobian, symbol
from dynamis.scalar.program import MEANING

STEP = 1e-200  # f(x + i h) = f(x) + i h f'(x) + O(h²): the second term stands alone in the imaginary part
ROWS = 40


def of_real_part(function):
    return lambda *xs: function(*(np.real(x) for x in xs)) * (1.0 + 0.0j)


def _atan2(y, x):
    return 2.0 * np.arctan(y / (np.sqrt(x * x + y * y) + x))


# the operations that NumPy does not have for complex numbers, continued beside the real axis
COMPLEX = {
    "abs": lambda x: np.where(np.real(x) < 0.0, -x, x),
    "atan2": lambda y, x: np.where(np.real(x) > 0.0, _atan2(y, np.where(np.real(x) > 0.0, x, 1.0)),
                                   np.pi / 2 - _atan2(x, np.where(np.real(x) > 0.0, 1.0, y))),
    "min": lambda a, b: np.where(np.real(a) <= np.real(b), a, b),
    "max": lambda a, b: np.where(np.real(a) <= np.real(b), b, a),
    "where": lambda c, a, b: np.where(np.real(c) != 0.0, a, b),
    **{op: of_real_part(MEANING[op]) for op in ("sign", "floor", "lt", "le", "eq", "not", "and", "or")},
}  # fmt: skip


def complex_step(monkeypatch, graph, outputs, x):
    """∂ outputs / ∂ inputs at each row of x, (rows, outputs, inputs)."""
    with monkeypatch.context() as patch:
        for op, meaning in COMPLEX.items():
            patch.setitem(MEANING, op, meaning)
        program = Program(graph.inputs, outputs)
    columns = []
    for k in range(len(graph.inputs)):
        moved = x.astype(complex)
        moved[:, k] += 1j * STEP
        columns.append(np.imag(program(*moved.T)) / STEP)
    return np.stack(columns, axis=-1)


def close(found, expected, units=1e5):
    """To rounding of some hundred operations, relative to the largest derivative of the row."""
    assert np.isfinite(expected).all()
    scale = np.abs(expected).reshape(len(expected), -1).max(axis=1) + 1.0
    error = np.abs(found - expected).reshape(len(expected), -1).max(axis=1)
    assert (error / scale).max() <= units * np.finfo(float).eps


def graph_and_values(seed, kinks, operations=40):
    graph = RandomGraph(np.random.default_rng(seed), operations=operations, kinks=kinks)
    x = graph.values(ROWS, np.float64)
    half = len(graph.inputs) // 2
    x[:, :half] += 2.0**-7 * (1.0 + np.arange(half))  # away from zeros and ties, where decisions have no derivative
    return graph, x


@pytest.mark.parametrize("kinks", [False, True], ids=["smooth", "with decisions"])
@pytest.mark.parametrize("seed", range(12))
def test_backward_and_forward_derivatives_are_those_of_the_complex_step(monkeypatch, seed, kinks):
    graph, x = graph_and_values(seed, kinks)
    outputs = np.array(graph.smooth_outputs, dtype=object)
    expected = complex_step(monkeypatch, graph, outputs, x)
    backward = np.array([gradient(f, graph.inputs) for f in outputs])
    close(Program(graph.inputs, backward)(*x.T), expected)
    close(Program(graph.inputs, jacobian(outputs, graph.inputs))(*x.T), expected)
    direction = np.random.default_rng(seed).uniform(-1, 1, len(graph.inputs))
    along = Program(graph.inputs, directional(outputs, graph.inputs, list(direction)))(*x.T)
    close(along, expected @ direction)


@pytest.mark.parametrize("seed", range(50, 56))
def test_compiled_derivatives_are_those_of_the_complex_step(monkeypatch, seed):
    graph, x = graph_and_values(seed, kinks=True, operations=30)
    outputs = np.array(graph.smooth_outputs[-3:], dtype=object)
    expected = complex_step(monkeypatch, graph, outputs, x)
    kernel = Kernel([lambda x: np.array([gradient(f, graph.inputs) for f in outputs])], [("x", len(graph.inputs))], "gradient")
    close(kernel(x), expected)


@pytest.mark.parametrize("seed", range(70, 76))
def test_second_derivatives_are_those_of_the_complex_step(monkeypatch, seed):
    graph, x = graph_and_values(seed, kinks=False, operations=20)
    first = gradient(graph.smooth_outputs[-1], graph.inputs)
    expected = complex_step(monkeypatch, graph, first, x)
    hessian = Program(graph.inputs, np.array([gradient(f, graph.inputs) for f in first]))(*x.T)
    close(hessian, expected, units=1e6)
    close(np.swapaxes(hessian, 1, 2), hessian, units=1e6)


def test_a_direction_may_itself_be_symbols():
    """d/dt of f(q) along q̇ = v, with v symbolic, is linear in v."""
    graph, x = graph_and_values(3, kinks=False)
    v = [symbol(f"v[{k}]") for k in range(len(graph.inputs))]
    f = graph.smooth_outputs[-1]
    rates = np.random.default_rng(0).uniform(-1, 1, x.shape)
    along = Program([*graph.inputs, *v], directional(f, graph.inputs, v))(*x.T, *rates.T)
    slope = Program(graph.inputs, gradient(f, graph.inputs))(*x.T)
    close(along[:, None], (slope * rates).sum(axis=1)[:, None])
