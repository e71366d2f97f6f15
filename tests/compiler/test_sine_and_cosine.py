"""Compiled sines and cosines: two units in the last place up to 1e5 rad, right beyond, and each lane for itself."""

import numpy as np
import pytest

from dynamis.compiler import sincos
from dynamis.compiler.kernel import Kernel

PRECISIONS = [np.float64, np.float32]
LARGEST = 1e5  # where the reduction ends and the C library takes over

# an angle as it is, an angle that is computed, and one whose sign is kept apart: three ways through the code
PLAIN = Kernel([lambda x: np.array([np.sin(x[0]), np.cos(x[0])])], [("x", 1)], "plain")
COMPUTED = Kernel([lambda x: np.array([np.sin(x[0] + x[1]), np.cos(x[0] + x[1])])], [("x", 2)], "computed")
NEGATED = Kernel([lambda x: np.array([np.sin(x[1] - 2.0 * x[0]), np.cos(-1.0 * (x[1] * x[0]))])], [("x", 2)], "negated")
THREE = Kernel([lambda x: np.concatenate([np.sin(x), np.cos(x)])], [("x", 3)], "three")


def near_multiples(dtype, rng, count):
    """Floats next to multiples of π/2, from one unit in the last place away to a thousandth."""
    k = rng.integers(-63_660, 63_661, count)
    x = (k * (np.pi / 2)).astype(dtype)
    steps = rng.integers(-3, 4, count)
    for _ in range(3):
        x = np.where(steps > 0, np.nextafter(x, dtype(np.inf)), np.where(steps < 0, np.nextafter(x, dtype(-np.inf)), x))
        steps = steps - np.sign(steps)
    away = (k * (np.pi / 2) + 10.0 ** rng.uniform(-16, -3, count)).astype(dtype)
    return np.concatenate([x, away])


def sample(dtype):
    rng = np.random.default_rng(0)
    tiny, smallest = np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal
    small = (10.0 ** rng.uniform(np.log10(float(tiny)) + 1, 0, 500)).astype(dtype)
    eighths = np.arange(1, 400) * np.pi / 8  # where the polynomials change over
    x = np.concatenate(
        [
            rng.uniform(-LARGEST, LARGEST, 9000), rng.uniform(-10, 10, 4000), near_multiples(dtype, rng, 4000), small, -small, eighths,
            [tiny, -tiny, smallest, -smallest, 7 * smallest, LARGEST, -LARGEST, np.pi, -np.pi, np.pi / 4, np.pi / 2, 1.0],
        ]
    ).astype(dtype)  # fmt: skip
    return x[np.abs(x) <= LARGEST]


def true_values(x):
    """Sine and cosine of floats, exact to far more digits than they have, as pairs (rounded, remainder)."""
    mpmath = pytest.importorskip("mpmath", reason="the reference needs more digits than a float has: pip install mpmath")
    pairs = []
    with mpmath.workprec(160):
        for angle in x:
            for value in mpmath.cos_sin(mpmath.mpf(float(angle)))[::-1]:
                head = float(value)
                pairs.append((head, float(value - head)))
    return np.array(pairs).reshape(len(x), 2, 2)


def errors_in_units(found, x):
    """|found − true| in units in the last place of the true value, at the precision of ``found``."""
    true = true_values(x)
    unit = np.spacing(np.abs(true[..., 0]).astype(found.dtype)).astype(float)
    return np.abs((found.astype(float) - true[..., 0]) - true[..., 1]) / unit


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_two_units_in_the_last_place_up_to_the_end_of_the_reduction(dtype):
    x = sample(dtype)
    assert len(x) > 20_000
    errors = errors_in_units(PLAIN(x[:, None]), x)
    worst = int(errors.max(axis=1).argmax())
    assert errors.max() <= 2.0, f"{errors[worst]} at {x[worst]!r}"


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_computed_angle_is_as_good_as_a_given_one(dtype):
    x = sample(dtype)[::7]
    zero = np.zeros_like(x)
    assert np.array_equal(COMPUTED(np.stack([x, zero], axis=1)), PLAIN(x[:, None]))
    halves = np.stack([x, x], axis=1)
    expected = np.stack([-PLAIN(x[:, None])[:, 0], PLAIN((x * x)[:, None])[:, 1]], axis=1)
    below = np.abs(x * x) <= LARGEST
    found = NEGATED(halves)
    assert np.array_equal(found[:, 0], expected[:, 0])
    assert np.array_equal(found[below, 1], expected[below, 1])


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_signs_of_quadrants_and_symmetries_are_exact(dtype):
    x = np.abs(sample(dtype))
    up, down = PLAIN(x[:, None]), PLAIN(-x[:, None])
    assert np.array_equal(up[:, 0], -down[:, 0])
    assert np.array_equal(up[:, 1], down[:, 1])
    assert np.abs(up).max() <= 1.0
    assert np.abs((up.astype(float) ** 2).sum(axis=1) - 1.0).max() <= 4 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_zero_of_either_sign_is_zero(dtype):
    assert np.array_equal(PLAIN(np.array([[0.0], [-0.0]], dtype=dtype)), [[0.0, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_angles_beyond_the_reduction_are_right_to_rounding(dtype):
    rng = np.random.default_rng(1)
    top = 300 if dtype == np.float64 else 38
    scattered = 10.0 ** np.concatenate([rng.uniform(5, top, 1000), rng.uniform(5, 10, 1000)]) * rng.choice([-1.0, 1.0], 2000)
    named = [
        1e6,
        1e15,
        1e22,
        -1e22,
        2.0**60,
        1e5 * np.pi,
        1e30,
        0.9 * np.finfo(dtype).max,
        np.nextafter(dtype(LARGEST), dtype(np.inf)),
    ]
    if dtype == np.float64:
        named += [1e300, -1e300, 5.319372648326541416707296656673541083813475031793921822105998164685e255]  # nearest to k π/2
    x = np.concatenate([scattered, named]).astype(dtype)
    x = x[np.argsort(np.abs(x))]  # neighbours of one size, so that none is saved by what happens to a larger one
    true = true_values(x)[..., 0]
    # relative to the scale of a sine, which is one
    assert np.abs(PLAIN(x[:, None]) - true).max() <= (1e-15 if dtype == np.float64 else 3e-7)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_no_number_in_no_number_out(dtype):
    strange = np.array([np.nan, np.inf, -np.inf, -np.nan], dtype=dtype)
    assert np.isnan(PLAIN(strange[:, None])).all()
    # beside an angle that is a number, in the same state and in the next
    for bad in strange:
        x = np.full((9, 3), 0.5, dtype=dtype)
        x[4, 1] = bad
        found = THREE(x)
        expected = THREE(np.full((9, 3), 0.5, dtype=dtype))
        wrong = np.zeros((9, 6), dtype=bool)
        wrong[4, [1, 4]] = True
        assert np.isnan(found[wrong]).all()
        assert np.allclose(found[~wrong], expected[~wrong], rtol=4 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_missing_number_does_not_hide_a_very_large_angle(dtype):
    x = np.array([[np.nan, 1e6, 0.5], [1e6, np.nan, 0.5]], dtype=dtype)
    found = THREE(x)
    assert np.abs(found[0, [1, 4]] - [np.sin(1e6), np.cos(1e6)]).max() <= 3e-7
    assert np.abs(found[1, [0, 3]] - [np.sin(1e6), np.cos(1e6)]).max() <= 3e-7


@pytest.mark.parametrize("huge", [1.5e5, 1e15, np.inf, np.nan])
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_very_large_angle_does_not_change_a_bit_of_its_neighbours_in_the_batch(dtype, huge):
    """A state must give the same bits whoever shares its vector."""
    x = sample(dtype)[::3]
    alone = PLAIN(x[:, None])
    for lane in range(2):
        crowd = np.full((2 * len(x), 1), huge, dtype=dtype)
        crowd[lane::2, 0] = x
        assert np.array_equal(PLAIN(crowd)[lane::2], alone)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_angles_beside_a_very_large_one_keep_two_units_in_the_last_place(dtype):
    """In the same state and in the same vector."""
    x = sample(dtype)[::5]
    states = np.stack([x, np.full_like(x, 1e7), x], axis=1)
    found = THREE(states)[:, [0, 3]]
    errors = errors_in_units(found, x)
    worst = int(errors.max(axis=1).argmax())
    assert errors.max() <= 2.0, f"{errors[worst]} at {x[worst]!r}"


@pytest.mark.parametrize(("coefficients", "unit"), [(sincos.DOUBLE, 2.0**-53), (sincos.SINGLE, 2.0**-24)])
def test_polynomials_and_parts_of_a_right_angle_are_more_accurate_than_rounding(coefficients, unit):
    """sin x = x + x³ S(x²), cos x = 1 − x²/2 + x⁴ C(x²) up to π/4, in more digits than they are used with."""
    mpmath = pytest.importorskip("mpmath", reason="mpmath is not installed")
    with mpmath.workdps(60):
        for x in map(mpmath.mpf, np.linspace(0.0, np.pi / 4, 33)[1:]):
            z = x * x
            sine = x + x * z * mpmath.polyval([mpmath.mpf(c) for c in coefficients.sine], z)
            cosine = 1 - z / 2 + z * z * mpmath.polyval([mpmath.mpf(c) for c in coefficients.cosine], z)
            assert abs(sine / mpmath.sin(x) - 1) < unit
            assert abs(cosine / mpmath.cos(x) - 1) < unit
        parts = [mpmath.mpf(part) for part in coefficients.half_pi]
        assert abs(sum(parts) - mpmath.pi / 2) <= 2.0 * unit * parts[-1]
        assert abs(coefficients.two_over_pi * mpmath.pi / 2 - 1) < 2.0 * unit
