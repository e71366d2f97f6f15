"""Interval operations hold every result of the exact operations."""

from fractions import Fraction

import numpy as np
import pytest
from numpy import cos, sin, sqrt

from dynamis import symbol
from dynamis.analysis import intervals
from dynamis.analysis.intervals import Interval, IntervalProgram
from dynamis.errors import InputError
from dynamis.scalar import Program, evaluate

COUNT = 400


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def random_intervals(rng, scale=3.0):
    ends = np.sort(rng.normal(0.0, scale, (2, COUNT)) * rng.choice([1e-8, 1e-2, 1.0, 1e3], COUNT), axis=0)
    ends[1, ::7] = ends[0, ::7]  # some without width
    return Interval(*ends)


def points(rng, a):
    """Points of each interval, its ends among them."""
    inside = a.lower + rng.random((20, COUNT)) * (a.upper - a.lower)
    return np.clip(np.vstack([a.lower, a.upper, inside]), a.lower, a.upper)


BINARY = {
    "add": (intervals.add, np.add),
    "sub": (intervals.subtract, np.subtract),
    "mul": (intervals.multiply, np.multiply),
    "min": (intervals.smaller, np.minimum),
    "max": (intervals.larger, np.maximum),
}
UNARY = {
    "neg": (intervals.negate, np.negative),
    "abs": (intervals.absolute, np.abs),
    "square": (intervals.square, np.square),
    "sin": (intervals.sine, np.sin),
    "cos": (intervals.cosine, np.cos),
}


@pytest.mark.parametrize("name", BINARY)
def test_results_of_points_lie_in_the_result_of_intervals(name, rng):
    of_intervals, of_numbers = BINARY[name]
    a, b = random_intervals(rng), random_intervals(rng)
    result = of_intervals(a, b)
    values = of_numbers(points(rng, a), points(rng, b)[::-1])
    assert (result.lower <= values).all()
    assert (values <= result.upper).all()


@pytest.mark.parametrize("name", UNARY)
def test_values_at_points_lie_in_the_value_of_the_interval(name, rng):
    of_intervals, of_numbers = UNARY[name]
    a = random_intervals(rng)
    result, values = of_intervals(a), of_numbers(points(rng, a))
    assert (result.lower <= values).all()
    assert (values <= result.upper).all()


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_rounding_is_outward_against_exact_fractions(name, rng):
    exact = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y}[name]
    for x, y in rng.normal(0.0, 1.0, (200, 2)) * 10.0 ** rng.integers(-12, 12, (200, 2)):
        result = BINARY[name][0](Interval(np.float64(x), np.float64(x)), Interval(np.float64(y), np.float64(y)))
        true = exact(Fraction(float(x)), Fraction(float(y)))
        assert Fraction(float(result.lower)) < true < Fraction(float(result.upper))


def test_a_number_times_an_interval_is_the_product_of_its_ends(rng):
    a = random_intervals(rng)
    for factor in (-2.5, 0.0, 0.3):
        result = intervals.multiply(Interval(factor, factor), a)
        assert (result.lower <= np.minimum(factor * a.lower, factor * a.upper)).all()
        assert (result.upper >= np.maximum(factor * a.lower, factor * a.upper)).all()


@pytest.mark.parametrize("turns", [-1000, -2, 0, 3, 10**4])
def test_sines_across_crests_and_troughs_reach_one(turns):
    whole = 2.0 * np.pi * turns
    assert intervals.cosine(Interval(whole - 0.1, whole + 0.2)).upper == 1.0
    assert intervals.cosine(Interval(whole + 3.0, whole + 3.3)).lower == -1.0
    assert intervals.sine(Interval(whole + 1.5, whole + 1.6)).upper == 1.0
    assert intervals.sine(Interval(whole - 1.6, whole - 1.5)).lower == -1.0
    between = intervals.sine(Interval(whole + 0.1, whole + 0.2))
    assert between.lower == pytest.approx(np.sin(0.1), abs=1e-10)
    assert between.upper == pytest.approx(np.sin(0.2), abs=1e-10)


def test_sines_of_a_turn_or_of_everything_are_all_values():
    for a in (Interval(0.3, 7.0), Interval(-np.inf, np.inf), Interval(np.nan, 1.0)):
        assert tuple(intervals.sine(a)) == (-1.0, 1.0)


def test_division_holds_the_quotients_and_is_everything_where_the_divisor_holds_zero(rng):
    a, b = random_intervals(rng), random_intervals(rng)
    result = intervals.divide(a, b)
    zero = (b.lower <= 0.0) & (b.upper >= 0.0)
    assert zero.any()
    assert np.isneginf(result.lower[zero]).all()
    assert np.isposinf(result.upper[zero]).all()
    quotients = points(rng, a)[:, ~zero] / points(rng, b)[:, ~zero]
    assert (result.lower[~zero] <= quotients).all()
    assert (quotients <= result.upper[~zero]).all()


def test_square_is_narrower_than_the_product():
    a = Interval(np.array([-1.0]), np.array([2.0]))
    assert intervals.square(a).lower[0] == 0.0
    assert intervals.multiply(a, a).lower[0] <= -2.0


def test_root_of_a_partly_negative_interval_starts_at_zero():
    lower, upper = intervals.root(Interval(-1.0, 4.0))
    assert lower == 0.0
    assert 2.0 <= upper <= 2.0 + 1e-12


def expression(x, y):
    return [sin(x) * cos(y) + x * x / 4.0 - y, abs(x - y) * sqrt(y * y + 1.0), -(x * 3.0), 7.0]


def test_expressions_over_boxes_hold_their_values_at_points(rng):
    x, y = symbol("x"), symbol("y")
    program, plain = IntervalProgram([x, y], expression(x, y)), Program([x, y], np.array(expression(x, y), dtype=object))
    lower = rng.normal(0.0, 2.0, (50, 2))
    upper = lower + rng.random((50, 2))
    result = program(lower, upper)
    for _ in range(50):
        values = plain(*(lower + rng.random((50, 2)) * (upper - lower)).T)
        assert (result.lower <= values).all()
        assert (values <= result.upper).all()


def test_bound_of_rounding_covers_the_difference_to_high_precision(rng):
    mpmath = pytest.importorskip("mpmath", reason="mpmath is not installed")
    x, y = symbol("x"), symbol("y")
    f = sin(x) * cos(y) * 3.7 + x * y / 3.0 - sin(x + 0.1) * sin(x + 0.1)
    size, error = IntervalProgram([x, y], [f]).rounding(np.array([-3.0, -2.0]), np.array([3.0, 2.0]))
    assert 0.0 < error[0] < 1e-13
    with mpmath.workdps(40):
        for a, b in rng.uniform(-1, 1, (100, 2)) * [3.0, 2.0]:
            p, r = mpmath.mpf(float(a)), mpmath.mpf(float(b))
            s = mpmath.sin(p + mpmath.mpf(0.1))
            exact = mpmath.sin(p) * mpmath.cos(r) * mpmath.mpf(3.7) + p * r / 3 - s * s
            assert abs(mpmath.mpf(float(evaluate(f, {x: a, y: b}))) - exact) <= error[0]
            assert abs(exact) <= size[0]


def test_an_operation_without_intervals_is_refused_by_name():
    x = symbol("x")
    with pytest.raises(InputError, match="tanh"):
        IntervalProgram([x], [x.tanh()])
