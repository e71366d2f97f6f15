"""Compiled functions: what the interpreter says, for every operation, precision, stride, batch and tier."""

import functools
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import random_robot, random_states, relative_error

import dynamis as dy
from dynamis.algorithms import coriolis, dynamics, mass_matrix, regressor
from dynamis.compiler import cache, direct, jit, llvm_body, llvm_text
from dynamis.compiler.gufunc import Gufunc
from dynamis.compiler.kernel import Kernel, wait_for_compiler
from dynamis.compiler.lowering import trace
from dynamis.model.regroup import regroup
from dynamis.scalar import Program, symbol

EPS = {"double": 1e-14, "float": 2e-5}
DTYPE = {"double": np.float64, "float": np.float32}


def everything(x):
    """Every operation at least once, on four numbers."""
    a, b, c, d = x
    return np.array(
        [
            a + b * c - d, -(a - b) / (c * c + 1.0), np.sqrt(a * a + b * b), np.sin(a) * np.cos(b), np.arcsin(a / 10.0),
            np.arccos(b / 10.0), np.arctan2(a, b), np.exp(c / 5.0), np.log(d * d + 1.0), np.tanh(a), abs(a), np.sign(b), np.floor(c),
            np.minimum(a, b), np.maximum(c, d), np.where(a < b, c, d), (a <= b) + 0.0, np.where(a * 0.0 < 1.0, 2.0, b),
            a / (b * b + 2.0), c / (b * b + 2.0), 3.5, a, -b, b - a * c, a * c - b, np.sin(a * b + np.cos(c)),
        ]
    )  # fmt: skip


def compiled(function, arguments, precision, level=0):
    code = trace(function, arguments, "test")
    loaded = jit.Loaded(jit.assemble(llvm_text.render(code, jit.host_target(precision)), level))
    gufunc = Gufunc(code, precision, loaded.address)
    gufunc.keep = loaded
    return gufunc


def reference(function, arguments, *arrays):
    nodes = [np.array([symbol(f"{n}[{k}]") for k in range(s)], dtype=object) for n, s in arguments]
    program = Program([x for v in nodes for x in v], function(*nodes))
    return program(*(a[..., k] for a in arrays for k in range(a.shape[-1])))


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("precision", ["double", "float"])
def test_every_operation_means_what_the_interpreter_says(precision, level):
    arguments = [("x", 4)]
    f = compiled(everything, arguments, precision, level)
    x = np.random.default_rng(0).uniform(-3, 3, (501, 4)).astype(DTYPE[precision])
    expected = reference(everything, arguments, x.astype(float))
    assert np.abs(f.function(x) - expected).max() < EPS[precision] * 10


def test_both_tiers_round_alike():
    x = np.random.default_rng(1).uniform(-3, 3, (300, 4))
    quick, good = (compiled(everything, [("x", 4)], "double", level) for level in (0, 2))
    assert np.array_equal(quick.function(x), good.function(x))


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 9, 17, 1000])
def test_a_state_gives_the_same_bits_in_any_batch(precision, count):
    f = compiled(everything, [("x", 4)], precision)
    x = np.random.default_rng(2).uniform(-3, 3, (1000, 4)).astype(DTYPE[precision])
    whole = f.function(x)
    assert np.array_equal(f.function(x[:count]), whole[:count])
    if count:
        assert np.array_equal(f.function(x[count - 1]), whole[count - 1])


@pytest.mark.parametrize("precision", ["double", "float"])
def test_any_strides_in_and_out(precision):
    two = [("x", 3), ("y", 5)]

    def function(x, y):
        return np.outer(x, y[:4]) + np.sum(y)

    f = compiled(function, two, precision)
    rng = np.random.default_rng(3)
    dtype = DTYPE[precision]
    x, y = rng.uniform(-1, 1, (11, 6)).astype(dtype), rng.uniform(-1, 1, (5, 22)).astype(dtype)
    xs, ys = x[::-1, ::2], y.T[::2]  # negative, gapped and transposed
    plain = f.function(np.ascontiguousarray(xs), np.ascontiguousarray(ys))
    assert np.array_equal(f.function(xs, ys), plain)
    holder = np.zeros((4, 3, 22), dtype=dtype)
    out = holder.transpose(2, 1, 0)[::2]
    f.function(xs, ys, out=out)
    assert np.array_equal(out, plain)
    assert not holder[:, :, 1::2].any()  # nothing written between
    assert np.array_equal(f.function(xs[:, None], ys[None, :3])[4, 2], f.function(xs[4], ys[2]))
    assert np.array_equal(f.function(xs[0], ys), f.function(np.broadcast_to(xs[0], xs.shape), ys))


def test_numpys_own_errors_and_casting():
    kept = compiled(everything, [("x", 4)], "double")
    f = kept.function
    with pytest.raises(ValueError, match="dimension"):
        f(np.zeros((3, 5)))
    assert f(np.zeros((2, 4), dtype=np.float32)).dtype == np.float64
    assert f(np.zeros((2, 4), dtype=int)).shape == (2, 26)


def test_large_functions_are_cut_and_still_right(monkeypatch):
    monkeypatch.setattr(llvm_body, "SEGMENT", 40)
    robot = dy.load("ur5e")
    arguments = [("q", 6), ("v", 6), ("a", 6)]

    def function(q, v, a):
        return dynamics.inverse_dynamics(robot.model, q, v, a)

    f = compiled(function, arguments, "double")
    q, v, a = random_states(np.random.default_rng(0), robot, 9)
    expected = np.array([function(*s) for s in zip(q, v, a, strict=True)])
    assert relative_error(f.function(q, v, a), expected) < 1e-13


@pytest.mark.parametrize("precision", ["double", "float"])
def test_sines_and_cosines_are_right_to_two_units_in_the_last_place(precision):
    mpmath = pytest.importorskip("mpmath", reason="the reference needs more digits than a float has: pip install mpmath")
    f = compiled(lambda x: np.concatenate([np.sin(x), np.cos(x)]), [("x", 1)], precision)
    rng = np.random.default_rng(4)
    multiples = np.arange(0, 63600, 97) * np.pi / 2  # where cancellation is worst
    x = np.concatenate([rng.uniform(-1e5, 1e5, 500), rng.uniform(-4, 4, 500), multiples, [0.0, 1e-30, -1e-8]])
    x = x.astype(DTYPE[precision])
    found = f.function(x[:, None])
    with mpmath.workprec(200):
        for value, row in zip(x, found, strict=True):
            for reference_, y in zip((mpmath.sin, mpmath.cos), row, strict=True):
                true = reference_(mpmath.mpf(float(value)))
                unit = float(np.spacing(DTYPE[precision](abs(float(true)))))
                assert abs(float(mpmath.mpf(float(y)) - true)) <= 2.0 * unit, value


@pytest.mark.parametrize("precision", ["double", "float"])
def test_angles_beyond_the_reduction_are_right_and_do_not_disturb_their_neighbours(precision):
    f = compiled(lambda x: np.concatenate([np.sin(x), np.cos(x)]), [("x", 3)], precision)
    x = np.array([[0.3, 1e6, -2.0], [1e15, 0.1, 3e20], [0.5, 0.6, 0.7]], dtype=DTYPE[precision])
    expected = np.concatenate([np.sin(x.astype(float)), np.cos(x.astype(float))], axis=-1)
    with np.errstate(over="ignore"):  # the check for large angles squares them
        assert np.abs(f.function(x) - expected).max() < (3e-16 if precision == "double" else 2e-7)


ALGORITHMS = {
    "inverse dynamics": (dynamics.inverse_dynamics, 3),
    "through the mass matrix": (dynamics.forward_dynamics_through_mass_matrix, 3),
    "mass matrix": (mass_matrix.crba, 1),
    "Coriolis matrix": (coriolis.coriolis_matrix, 2),
    "regressor": (regressor.regressor, 3),
}


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_every_algorithm_compiled_is_the_algorithm_on_all_joint_types(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=4)
    if robot.n == 0:
        pytest.skip("this seed made a robot of fixed joints only")
    sizes = [("q", robot.nq), ("v", robot.n), ("a", robot.n)]
    states = random_states(rng, robot, 5)
    for name, (algorithm, count) in ALGORITHMS.items():
        f = compiled(lambda *x, g=algorithm: g(robot.model, *x), sizes[:count], "double")
        expected = np.array([algorithm(robot.model, *s) for s in zip(*states[:count], strict=True)])
        found = f.function(*states[:count])
        assert relative_error(found, expected) < (1e-8 if "through" in name else 1e-12), name


@pytest.mark.parametrize("seed", range(30))
def test_regrouped_inertias_give_the_same_torques_and_masses(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    sparse = regroup(robot.model)
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    assert relative_error(dynamics.inverse_dynamics(sparse, q, v, a), dynamics.inverse_dynamics(robot.model, q, v, a)) < 1e-12
    assert relative_error(mass_matrix.crba(sparse, q), mass_matrix.crba(robot.model, q)) < 1e-12
    assert relative_error(dynamics.gravity(sparse, q), dynamics.gravity(robot.model, q)) < 1e-12


def test_the_listing_does_not_depend_on_hash_seed_or_folder(tmp_path):
    code = "import dynamis as dy; r = dy.load('panda'); r.gravity(r.neutral()); print(r.evaluator.kernels['gravity',].code.digest())"
    digests = set()
    for seed in ("0", "1", "77"):
        home = str(Path(dy.__file__).parents[1])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONPATH": home}
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
        )
        digests.add(run.stdout)
    assert len(digests) == 1


def test_better_code_takes_over_without_changing_a_bit(monkeypatch, tmp_path):
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    monkeypatch.delenv("DYNAMIS_NO_CACHE", raising=False)
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path / "cache"))
    kernel = Kernel([everything], [("x", 4)], "everything")
    x = np.random.default_rng(5).uniform(-3, 3, (100, 4))
    before = kernel(x)
    assert wait_for_compiler(300.0)
    assert len(kernel.compiled("double").loaded) == 2
    assert np.array_equal(kernel(x), before)
    again = Kernel([everything], [("x", 4)], "everything")
    assert np.array_equal(again(x), before)
    assert len(again.compiled("double").loaded) == 1  # straight from disk
    one, other = (bool(k.compiled("double").single[0]) for k in (kernel, again))
    assert one == other  # with its version for single states, where the processor has one
    assert np.array_equal(again(x[0]), before[0])
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0


def test_a_damaged_or_foreign_cache_entry_is_never_loaded(monkeypatch, tmp_path):
    monkeypatch.delenv("DYNAMIS_NO_CACHE", raising=False)
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path / "cache"))
    cache.store("key", {"results": []}, b"\x7fELF" + bytes(range(256)) * 4)
    path = tmp_path / "cache" / "key.o"
    good = path.read_bytes()
    assert cache.load("key") is not None
    rng = np.random.default_rng(6)
    for _ in range(1000):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(bad))
        assert cache.load("key") is None
    for length in rng.integers(0, len(good), 200):
        path.write_bytes(good[:length])
        assert cache.load("key") is None
    path.write_bytes(good)
    assert cache.load("other") is None
    (tmp_path / "cache" / "other.o").write_bytes(good)
    assert cache.load("other") is None  # sealed for another key
    path.unlink()
    path.symlink_to(tmp_path / "cache" / "other.o")
    assert cache.load("key") is None
    path.unlink()
    path.mkdir()
    assert cache.load("key") is None
    (tmp_path / "cache").chmod(0o777)
    assert cache.folder() is None


def test_threads_calling_one_robot_get_no_wrong_value():
    robot = dy.load("ur5e")
    q, v, a = random_states(np.random.default_rng(7), robot, 64)
    expected = robot.inverse_dynamics(q, v, a)
    wrong = []

    def call(k):
        for j in range(300):
            i = (7 * k + j) % 64
            if not np.array_equal(robot.inverse_dynamics(q[i], v[i], a[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(32)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_batch_split_over_threads_has_the_same_bits(monkeypatch):
    robot = dy.load("panda")
    q, v, a = random_states(np.random.default_rng(8), robot, 20_001)
    results = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("DYNAMIS_NUM_THREADS", count)
        results.append(robot.inverse_dynamics(q, v, a))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_a_users_own_law_is_compiled_and_agrees_with_itself():
    robot = dy.load("panda")

    def law(robot, q, v, goal, gain):
        push = gain[0] * (goal - q) - 2.0 * v
        return robot.gravity(q) + np.maximum(np.minimum(push, 50.0), -50.0) + np.sin(q)

    kernel = robot.compile(law, goal=7, gain=1)
    rng = np.random.default_rng(9)
    q, v, goal = robot.random(rng, 20), rng.uniform(-1, 1, (20, 7)), robot.random(rng)
    gains = np.linspace(1.0, 100.0, 20)[:, None]
    expected = np.array([law(robot, q[k], v[k], goal, gains[k]) for k in range(20)])
    assert relative_error(kernel(q, v, goal, gains), expected) < 1e-12


def test_a_function_that_needs_numbers_is_refused_with_its_line():
    robot = dy.load("panda")

    def law(robot, q):
        return q * float(q[0])

    with pytest.raises(dy.InputError, match=r"zeros_like.*in law, .*test_kernel\.py:\d+: return q \* float"):
        robot.compile(law)(np.zeros(7))
    with pytest.raises(dy.InputError, match="the length of the argument 'goal' is unknown"):
        robot.compile(lambda robot, q, goal: q)


def test_arguments_by_name_only_and_lengths_that_are_no_numbers_are_refused_when_compiling():
    robot = dy.load("scara")
    with pytest.raises(dy.InputError, match="'x' can only be given by name"):
        robot.compile(lambda robot, q, *, x: q * x, x=1)
    for size in (2.0, -1, (2, 3), "3", None, True):
        with pytest.raises(dy.InputError, match="x must be the number of entries of this argument, such as x=3, got"):
            robot.compile(lambda robot, q, x: q, x=size)
    with pytest.raises(dy.InputError, match=r"takes a function of \(robot, q, …\), not of \(\*arrays, …\)"):
        robot.compile(lambda *arrays: arrays[1])

    def scaled(robot, q, x, gain):
        return gain * x[0] * q

    for function in (functools.partial(scaled, gain=2.0), lambda robot, q, x, *, gain=2.0: scaled(robot, q, x, gain)):
        assert np.array_equal(robot.compile(function, x=np.int64(1))(np.ones(4), [3.0]), np.full(4, 6.0))


def test_forward_dynamics_costs_less_through_the_mass_matrix_on_small_arms():
    robot = dy.load("ur5e")
    recursion = trace(lambda q, v, t: dynamics.forward_dynamics(robot.model, q, v, t), [("q", 6), ("v", 6), ("tau", 6)])
    assert robot.cost("forward_dynamics")["total"] < len(recursion.instructions)
    with pytest.raises(dy.NameLookupError, match="forward_dynamics"):
        robot.cost("forward_dynamic")


@pytest.mark.skipif(sys.implementation.name != "cpython" or sys.maxsize < 2**32, reason="needs CPython on 64 bits")
def test_kernels_are_called_directly_on_this_interpreter():
    """Where they are not, everything works but slowly, and the tests of direct calls are skipped: this one is not."""
    assert direct.available()


@pytest.mark.parametrize("used_elsewhere", [False, True])
@pytest.mark.parametrize(
    "negated",
    [lambda x: x[0] * x[1], lambda x: x[0] + x[1], lambda x: x[0] * x[1] + x[2], lambda x: x[0]],
    ids=["mul", "add", "fma", "x"],
)
def test_a_negated_divisor_is_one_division(negated, used_elsewhere):
    """−b divides twice; b is a product or sum that a fused multiply-add may take in."""

    def quotients(x):
        d = -negated(x)
        return np.array([x[0] / d, x[1] / d, *([d + x[2], d] if used_elsewhere else [])])

    kernel = Kernel([quotients], [("x", 3)], "quotients")
    x = np.array([0.5, 0.25, -2.0])
    np.testing.assert_allclose(kernel(x), quotients(x), rtol=EPS["double"])
    assert sum(i.op == "div" for i in kernel.code.instructions) == 1
