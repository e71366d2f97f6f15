"""The first states of a function are interpreted, with the bits that machine code gives."""

import pickle

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot, zoo_states
from random_graphs import RandomGraph

import dynamis as dy
from dynamis.compiler import cache, interpreter
from dynamis.compiler import kernel as kernels
from dynamis.compiler.interpreter import Interpreter, operations
from dynamis.compiler.kernel import Kernel

FUNCTIONS = {
    "forward dynamics": lambda r, q, v, a: r.forward_dynamics(q, v, a),
    "inverse dynamics": lambda r, q, v, a: r.inverse_dynamics(q, v, a, {"tool": np.ones(6)}),
    "energy": lambda r, q, v, a: r.kinetic_energy(q, v),
    "Jacobian": lambda r, q, v, a: r.jacobian(q, "tool"),
}
SPECIAL = [0.0, -0.0, 1.0, -2.5, 5e-324, 1e308, 3e5, -1e17, np.inf, -np.inf, np.nan]


@pytest.fixture(autouse=True)
def first_states_are_interpreted(monkeypatch, compiled_at_the_first_call):
    assert operations() is not None, "the C library of this system cannot be called"
    monkeypatch.setattr(kernels, "INTERPRETED_STATES", 10)
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_of_every_operation_have_the_bits_of_machine_code(seed):
    graph = RandomGraph(np.random.default_rng(seed))
    x = graph.values(30, float)
    kernel = Kernel([graph.function], [("x", len(graph.inputs))], "graph")
    assert np.array_equal(Interpreter(kernel.code)([x]), kernel(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a / b, lambda a, b: np.minimum(a, b), lambda a, b: np.maximum(a, b), lambda a, b: np.arctan2(a, b),
        lambda a, b: np.sin(a) + np.cos(b), lambda a, b: np.sqrt(a) * np.exp(b), lambda a, b: np.log(a) + np.tanh(b),
        lambda a, b: np.arcsin(a) - np.arccos(b), lambda a, b: np.floor(a) + np.sign(b), lambda a, b: np.where(a < b, a, b),
        lambda a, b: np.where(a == b, 1.0, 0.0) + abs(a), lambda a, b: a * b - a, lambda a, b: np.where(a <= b, b, -a),
    ],
)  # fmt: skip
def test_zeros_infinities_and_missing_numbers_are_those_of_machine_code(function):
    x = np.stack([g.ravel() for g in np.meshgrid(SPECIAL, SPECIAL)], axis=-1)
    kernel = Kernel([lambda x: np.array([function(*x)])], [("x", 2)], "special")
    np.testing.assert_array_equal(Interpreter(kernel.code)([x]), kernel(x))


@pytest.mark.parametrize("function", [np.minimum, np.maximum, lambda a, b: np.sign(a)])
def test_zeros_of_comparisons_have_the_sign_of_machine_code(function):
    x = np.stack([g.ravel() for g in np.meshgrid(SPECIAL[:4], SPECIAL[:4])], axis=-1)
    kernel = Kernel([lambda x: np.array([function(*x)])], [("x", 2)], "zeros")
    interpreted, compiled = Interpreter(kernel.code)([x]), kernel(x)  # more than ten states are compiled
    assert kernel.is_compiled
    np.testing.assert_array_equal(np.signbit(interpreted), np.signbit(compiled))


@pytest.mark.parametrize("name", NAMES)
def test_robots_of_all_joint_types_give_the_same_bits_before_and_after_compilation(name):
    robot = dy.Robot(zoo_robot(name).description)
    states = zoo_states(robot, 30)
    for call in FUNCTIONS.values():
        first = [call(robot, *(x[k] for x in states)) for k in range(3)]
        assert np.array_equal(first, call(robot, *states)[:3])


def test_a_function_is_compiled_after_ten_states_for_a_destination_and_in_single_precision():
    def fresh():
        return Kernel([lambda x: 2.0 * x], [("x", 2)], "double it")

    kernel = fresh()
    for _ in range(10):
        assert np.array_equal(kernel(np.array([1.0, 2.0])), [2.0, 4.0])
        assert not kernel.is_compiled
    assert np.array_equal(kernel([3, 4]), [6.0, 8.0])
    assert kernel.is_compiled
    kernel = fresh()
    assert np.array_equal(kernel(np.ones((2, 5, 2))), np.full((2, 5, 2), 2.0))
    assert not kernel.is_compiled
    kernel(np.ones((1, 2)))
    assert kernel.is_compiled
    for arguments in ({"out": np.empty(2)}, {}):
        kernel = fresh()
        kernel(np.ones(2, float if arguments else np.float32), **arguments)
        assert kernel.is_compiled


def test_code_on_disk_is_preferred_and_found_without_tracing(monkeypatch, tmp_path):
    monkeypatch.delenv("DYNAMIS_NO_CACHE")
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path))
    first = Kernel([lambda x: x * 3.0], [("x", 1)], "triple", identity="triple")
    assert first(np.ones((11, 1)))[0] == 3.0

    def not_to_be_traced(x):
        raise AssertionError

    second = Kernel([not_to_be_traced], [("x", 1)], "triple", identity="triple")
    assert second(np.ones(1)) == 3.0
    assert second.is_compiled


def test_what_is_used_again_is_compiled(monkeypatch, tmp_path):
    """One process interprets, a second compiles, a third finds the code."""
    monkeypatch.delenv("DYNAMIS_NO_CACHE")
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path))
    runs = [Kernel([lambda x: x * 3.0], [("x", 1)], "triple", identity="triple") for _ in range(3)]
    for kernel in runs:
        assert kernel(np.ones(1)) == 3.0
    assert [kernel.is_compiled for kernel in runs] == [False, True, True]


def test_a_kernel_is_not_pickled():
    with pytest.raises(dy.InputError, match="double it is machine code of this process and cannot be pickled"):
        pickle.dumps(Kernel([lambda x: 2.0 * x], [("x", 2)], "double it"))


def test_remembered_functions_are_forgotten_before_they_are_too_many(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "MAX_REMEMBERED", 20)
    monkeypatch.setattr(cache, "TIDIED_EVERY", 1)
    monkeypatch.delenv("DYNAMIS_NO_CACHE")
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path))
    assert not any(cache.is_wanted(f"{k:064x}") for k in range(50))
    assert len(list(tmp_path.iterdir())) <= 20


def test_where_the_c_library_cannot_be_called_functions_are_compiled_at_once(monkeypatch):
    monkeypatch.setattr(kernels, "operations", lambda: None)
    kernel = Kernel([lambda x: x + 1.0], [("x", 1)], "one more")
    assert kernel(np.ones(1)) == 2.0
    assert kernel.is_compiled
    interpreter.operations.cache_clear()
    monkeypatch.setattr(interpreter.ctypes, "CDLL", lambda _: (_ for _ in ()).throw(OSError))
    assert interpreter.operations() is None
    interpreter.operations.cache_clear()


def test_results_have_the_shapes_and_types_of_machine_code():
    kernel = Kernel([lambda q: (np.asarray(q[0]), np.array([[q[0], q[1]]]), np.zeros((0, 2)))], [("q", 2)], "shapes")
    first = kernel(np.array([1.0, 2.0]))
    after = kernel(np.tile([1.0, 2.0], (20, 1)))
    assert [type(a) for a in first] == [np.float64, np.ndarray, np.ndarray]
    for a, b in zip(first, after, strict=True):
        assert a.shape == b.shape[1:]
        assert np.array_equal(a, b[0])
