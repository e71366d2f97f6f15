"""Nonlinear least squares: errors of correlated measurements, the likelihood, noise by group, and folds."""

import numpy as np
import pytest

from dynamis.errors import InputError
from dynamis.identification import Unknown
from dynamis.identification.nonlinear import Solution, held_out_residuals, noise_by_group, single_steps, solve

SLOPE = Unknown("slope")


def line(x, y):
    """Deviations from y = slope · x, without linear parameters."""
    return lambda theta: (np.zeros((len(x), 0)), y - theta[0] * x)


@pytest.mark.parametrize("count", [3, 12])
def test_errors_of_residuals_that_belong_together_are_those_of_blocks(count):
    """The variance of Liang and Zeger (1986): Σ (Σ x e)² / (Σ x²)² over blocks, with corrections for few of them."""
    rng = np.random.default_rng(0)
    block = np.repeat(np.arange(count), 8)
    x = rng.uniform(1.0, 2.0, len(block))
    y = 3.0 * x + np.repeat(rng.normal(size=count), 8)
    found = solve(line(x, y), [SLOPE], group=np.zeros(len(x), int), block=block)
    slope = x @ y / (x @ x)
    assert found.values[0] == pytest.approx(slope)
    e = y - slope * x
    scores = np.array([(x * e)[block == b].sum() for b in range(count)])
    variance = scores @ scores / (x @ x) ** 2 * count / (count - 1) * len(x) / (len(x) - 1)
    assert variance > 2.0 * (e @ e) / (len(x) - 1) / (x @ x)  # larger than that of independent residuals
    assert found.errors[0] == pytest.approx(np.sqrt(variance), rel=1e-6)
    steps, errors = single_steps(line(x, y), 1, group=np.zeros(len(x), int), block=block)
    assert (steps[0], errors[0]) == pytest.approx((slope, np.sqrt(variance)), rel=1e-6)


def test_two_blocks_have_the_errors_of_independent_residuals():
    rng = np.random.default_rng(1)
    x, block = rng.uniform(1.0, 2.0, 16), np.repeat([0, 1], 8)
    y = 3.0 * x + np.repeat([0.5, -0.5], 8)
    found = solve(line(x, y), [SLOPE], group=np.zeros(16, int), block=block)
    e = y - found.values[0] * x
    assert found.errors[0] == pytest.approx(np.sqrt((e @ e) / 15 / (x @ x)), rel=1e-6)


def test_a_prior_is_a_measurement_with_its_own_error():
    # four rows with unit noise, and one that does not depend on the slope
    x, y, group = np.array([1.0, 1.0, 1.0, 1.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0, 0.1]), np.array([-1, -1, -1, -1, 0])
    for sigma, expected in ((1e-9, 0.5), (1.0, (10.0 + 0.5) / 5.0), (np.inf, 2.5)):
        found = solve(line(x, y), [Unknown("slope", prior=0.5, sigma=sigma)], group=group, block=np.arange(5))
        assert found.values[0] == pytest.approx(expected)


def test_the_level_is_the_negative_logarithm_of_the_likelihood():
    residual, noise = np.array([1.0, -2.0, 3.0]), np.array([1.0, 2.0, 0.5])
    found = Solution(np.zeros(1), np.eye(1), np.zeros(0), residual, noise, ())
    density = np.exp(-0.5 * (residual / noise) ** 2) / noise  # up to 1 / √2π
    assert found.level == pytest.approx(-np.log(density).mean())


def test_noise_is_that_of_each_group_and_one_where_it_is_known():
    group = np.array([0, 0, 1, 1, -1])
    assert noise_by_group(np.array([3.0, -4.0, 0.5, 0.5, 7.0]), group) == pytest.approx([12.5**0.5] * 2 + [0.5] * 2 + [1.0])


@pytest.mark.parametrize("folds", [1, 0, 5])
def test_blocks_that_cannot_be_divided_are_refused(folds):
    given = {"group": np.zeros(8, int), "block": np.repeat(np.arange(4), 2)}
    with pytest.raises(InputError, match="use two or more folds, and measure more"):
        held_out_residuals(line(np.ones(8), np.ones(8)), [SLOPE], np.zeros(1), folds=folds, **given)


def test_held_out_residuals_are_those_of_fits_without_their_block():
    y, block = np.array([1.0, 2.0, 4.0, 8.0]), np.arange(4)
    before, after = held_out_residuals(line(np.ones(4), y), [SLOPE], np.zeros(1), group=np.zeros(4, int), block=block, folds=4)
    assert before == pytest.approx(y)
    assert after == pytest.approx([y[k] - np.delete(y, k).mean() for k in range(4)])
