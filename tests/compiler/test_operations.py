"""Every operation alone, compiled, against the interpreter that defines it: ordinary numbers, zeros, infinities, NaN, limits."""

import numpy as np
import pytest
from operations import OPERANDS, build

from dynamis.compiler.kernel import Kernel
from dynamis.scalar import node
from dynamis.scalar.program import MEANING

PRECISIONS = [np.float64, np.float32]
# right to a few units in the last place
FROM_THE_C_LIBRARY = {"asin", "acos", "atan2", "pow", "exp", "log", "tanh", "sin", "cos"}

_kernels = {}


def compiled(op):
    if op not in _kernels:
        _kernels[op] = Kernel([lambda x: np.array([build(op, *x)])], [("x", OPERANDS[op])], op)
    return _kernels[op]


def numbers(dtype):
    """Numbers where implementations differ."""
    info = np.finfo(dtype)
    positive = [0.0, info.smallest_subnormal, info.tiny, 1e-3, 0.5, 1.0, 1.5, 2.0, 3.0, 1e3 + 0.5, float(info.max), np.inf]
    return np.array([*positive, *(-x for x in positive), np.nan], dtype=dtype)


def every_combination(dtype, count):
    grid = np.meshgrid(*[numbers(dtype)] * count, indexing="ij")
    return np.stack([g.ravel() for g in grid], axis=-1)


def meaning(op, x):
    with np.errstate(all="ignore"):
        return np.asarray(MEANING[op](*(x[:, k] for k in range(x.shape[1])))).astype(x.dtype)


def first_difference(op, x, found, expected, same):
    if same.all():
        return ""
    k = int(np.flatnonzero(~same)[0])
    return f"{op}{tuple(x[k].tolist())} is {expected[k]}, compiled {found[k]} ({int((~same).sum())} of {len(same)} differ)"


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("op", MEANING)
def test_an_operation_means_what_the_interpreter_says_for_every_number(op, dtype):
    x = every_combination(dtype, OPERANDS[op])
    found, expected = compiled(op)(x)[:, 0], meaning(op, x)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    if op in FROM_THE_C_LIBRARY:
        with np.errstate(invalid="ignore", over="ignore"):
            same |= np.abs(found - expected) <= 4 * np.spacing(np.abs(expected))
    if op in ("sin", "cos"):  # beyond the reduction they are right relative to one
        same |= (np.abs(x[:, 0]) > 1e5) & (np.abs(found - expected) <= 4 * np.finfo(dtype).eps)
    assert same.all(), first_difference(op, x, found, expected, same)


SIGNED_ZEROS = ["add", "sub", "mul", "div", "neg", "abs", "sign", "sqrt", "floor", "where", "asin", "tanh", "atan2"]


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("op", SIGNED_ZEROS)
def test_a_zero_has_the_sign_the_interpreter_gives_it(op, dtype):
    """Seen by whoever divides by it or takes its angle."""
    x = every_combination(dtype, OPERANDS[op])
    found, expected = compiled(op)(x)[:, 0], meaning(op, x)
    zero = (found == 0.0) & (expected == 0.0)
    assert zero.any()
    same = np.signbit(found) == np.signbit(expected)
    assert same[zero].all(), first_difference(op, x[zero], found[zero], expected[zero], same[zero])


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_constants_keep_their_value(dtype):
    """Very small and very large ones, infinities, and what single precision cannot hold: as results and as operands."""
    constants = [0.0, 5e-324, 1e-310, 1e-40, 1e-30, 0.1, 1e30, 1e39, 1e300, 1.7e308, np.inf, -np.inf, -0.1, -1e300, -1e-320]
    f = Kernel([lambda x: np.array([*constants, *(node.binary("max", x[0], c) for c in constants)])], [("x", 1)], "f")
    found = f(np.full((3, 1), -np.inf, dtype=dtype))
    with np.errstate(over="ignore"):
        expected = np.array([*constants, *constants]).astype(dtype)
    assert np.array_equal(found, np.stack([expected] * 3))


def same_quotients(found, expected, units):
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= units * np.spacing(np.abs(expected))
    return near | (found == expected) | (np.isnan(found) & np.isnan(expected))


@pytest.mark.parametrize(
    ("dtype", "divisor"),
    [
        *((np.float64, d) for d in (3.0, -7.0, 1e-310, 1e-300, 1e300, 1.7e308)),
        *((np.float32, d) for d in (3.0, -7.0, 1e-40, 1e-30, 3e38)),
    ],
)
def test_division_by_a_constant_is_division(dtype, divisor):
    """Also by one whose reciprocal is no number of full quality."""
    x, rounded = numbers(dtype), dtype(divisor)
    with np.errstate(all="ignore"):
        expected = x / rounded
    found = Kernel([lambda x: np.array([x[0] / divisor])], [("x", 1)], "f")(x[:, None])[:, 0]
    same = same_quotients(found, expected, 2)
    assert same.all(), first_difference("div", np.stack([x, np.full_like(x, rounded)], axis=1), found, expected, same)


def test_a_value_and_its_negative_share_a_division():
    kernel = Kernel([lambda x: np.array([x[0] / x[2], x[1] / x[2], x[0] / -x[2], x[1] / -x[2]])], [("x", 3)], "f")
    assert kernel.code.cost()["div"] == 1
    assert kernel(np.array([1.0, 2.0, 4.0])).tolist() == [0.25, 0.5, -0.25, -0.5]


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_several_divisions_by_one_value_are_divisions(dtype):
    """They share a reciprocal, which is right wherever that is a number of full quality."""
    f = Kernel([lambda x: np.array([x[0] / x[2], x[1] / x[2], 1.0 / x[2]])], [("x", 3)], "f")
    x = every_combination(dtype, 3)
    size = np.abs(x[:, 2])
    x = x[(size == 0) | ((size >= np.finfo(dtype).tiny) & (size < np.finfo(dtype).max)) | ~np.isfinite(size)]
    found = f(x)
    with np.errstate(all="ignore"):
        expected = np.stack([x[:, 0] / x[:, 2], x[:, 1] / x[:, 2], 1 / x[:, 2]], axis=1)
    same = same_quotients(found, expected, 3).all(axis=1)
    assert same.all(), first_difference("div", x, found, expected, same)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_condition_that_is_no_number_holds(dtype):
    """As in NumPy, where NaN is not zero."""
    f = Kernel(
        [lambda x: np.array([np.where(x[0], 1.0, 2.0), np.where(x[0] < 1.0, 1.0, 2.0), np.where(x[0] == x[1], 1.0, 2.0)])],
        [("x", 2)],
        "f",
    )
    assert f(np.array([np.nan, np.nan], dtype=dtype)).tolist() == [1.0, 2.0, 2.0]
    assert f(np.array([-0.0, 0.0], dtype=dtype)).tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("op", MEANING)
def test_lanes_do_not_mix(op, dtype):
    """Every number beside every other in one vector: the result is that of the number alone."""
    x = every_combination(dtype, OPERANDS[op])
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(x))[:400]
    alone = np.concatenate([compiled(op)(x[k : k + 1]) for k in rows])
    together = compiled(op)(x[rows])
    assert np.array_equal(alone, together, equal_nan=True)
