"""Noise in the columns: least squares is biased by it, total least squares is not."""

from __future__ import annotations

import numpy as np
import pytest

from dynamis.errors import InputError
from dynamis.identification.estimators.least_squares import LeastSquares
from dynamis.identification.estimators.total import TotalLeastSquares

BETA = np.array([1.0, -2.0, 0.5, 3.0])
NOISE = np.array([0.0, 0.3, 0.1, 0.0])  # of the columns; two are exact


def log(rng, count=2000, noise=0.2):
    exact = rng.normal(size=(count, 4))
    return exact + NOISE * rng.normal(size=(count, 4)), exact @ BETA + noise * rng.normal(size=count)


def test_least_squares_is_biased_and_this_is_not():
    rng = np.random.default_rng(0)
    fits = {"total": [], "least": []}
    for _ in range(100):
        X, y = log(rng)
        fits["total"].append(TotalLeastSquares(NOISE, 0.2).fit(X, y).coef_)
        fits["least"].append(LeastSquares().fit(X, y).coef_)
    error = {name: np.mean(values, axis=0) - BETA for name, values in fits.items()}
    assert abs(error["least"][1]) > 0.1
    assert np.abs(error["total"]).max() < 0.01


def test_standard_errors_are_the_spread_of_repeated_logs():
    rng = np.random.default_rng(1)
    fits = [TotalLeastSquares(NOISE, 0.2).fit(*log(rng)) for _ in range(200)]
    spread = np.std([fit.coef_ for fit in fits], axis=0)
    claimed = np.mean([fit.standard_errors_ for fit in fits], axis=0)
    assert np.all(np.abs(spread / claimed - 1.0) < 0.2)
    assert np.mean([fit.noise_ for fit in fits]) == pytest.approx(0.2, rel=0.05)
    assert np.allclose(np.mean([fit.column_noise_ for fit in fits], axis=0), NOISE, rtol=0.05)


def test_only_ratios_of_noise_count():
    X, y = log(np.random.default_rng(2))
    one, other = TotalLeastSquares(NOISE, 0.2).fit(X, y), TotalLeastSquares(10 * NOISE, 2.0).fit(X, y)
    assert np.allclose(one.coef_, other.coef_)
    assert np.allclose(one.covariance_, other.covariance_)


def test_exact_columns_make_it_least_squares():
    X, y = log(np.random.default_rng(3))
    fit, plain = TotalLeastSquares(np.zeros(4)).fit(X, y), LeastSquares(per_joint=False).fit(X, y)
    assert np.allclose(fit.coef_, plain.coef_)
    assert np.allclose(fit.covariance_, plain.covariance_)


def test_it_is_the_textbook_solution_where_all_columns_are_noisy():
    X, y = log(np.random.default_rng(4), count=50)
    last = np.linalg.svd(np.column_stack([X, y]))[2][-1]
    assert np.allclose(TotalLeastSquares().fit(X, y).coef_, -last[:-1] / last[-1])


def test_joints_with_other_noise_count_in_its_unit():
    rng = np.random.default_rng(5)
    size = np.array([0.1, 1.0])
    joint = np.arange(4000) % 2
    exact = rng.normal(size=(4000, 2)) * size[joint][:, None]
    X = exact + 0.3 * size[joint][:, None] * rng.normal(size=exact.shape)
    y = exact @ [1.0, 2.0] + 0.3 * size[joint] * rng.normal(size=4000)
    fit = TotalLeastSquares(np.full(2, 0.3 * np.sqrt(np.mean(size**2))), 0.3 * size).fit(X, y, joint=joint)
    assert np.allclose(fit.coef_, [1.0, 2.0], atol=0.05)
    assert np.allclose(fit.noise_, 0.3 * size, rtol=0.05)


def test_a_problem_that_is_not_generic_is_refused_by_name():
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.normal(size=200), 1e-3 * rng.normal(size=200)])
    y = 100.0 * rng.normal(size=200)
    # y is orthogonal to the columns, and the second column is less than its noise
    y = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    with pytest.raises(InputError, match="'b'"):
        TotalLeastSquares().fit(X, y, names=["a", "b"])


def test_wrong_settings_are_refused():
    X, y = log(np.random.default_rng(7), count=20)
    with pytest.raises(InputError, match="column_noise="):
        TotalLeastSquares([1.0]).fit(X, y)
    with pytest.raises(InputError, match="noise="):
        TotalLeastSquares(NOISE, 0.0).fit(X, y)
    with pytest.raises(InputError, match="indistinguishable"):
        TotalLeastSquares(NOISE).fit(np.ones((20, 4)), y)


def test_a_large_coefficient_is_found_and_one_beyond_the_digits_is_refused():
    x = np.linspace(-1.0, 1.0, 50)[:, None]
    assert TotalLeastSquares().fit(x, 1e6 * x[:, 0]).coef_ == pytest.approx([1e6], rel=1e-6)
    with pytest.raises(InputError, match="no solution"):
        TotalLeastSquares().fit(x, 1e8 * x[:, 0])


def test_a_torque_hardly_smaller_than_a_column_without_relation_to_it_has_a_solution():
    """With X ⊥ y the singular values are |X| and |y|; equal ones leave the direction of the smallest undetermined."""
    X, y = np.zeros((8, 1)), np.zeros(8)
    X[0], y[1] = 1.0, 1.0 - 1e-7
    assert TotalLeastSquares().fit(X, y).coef_ == pytest.approx([0.0], abs=1e-12)
    y[1] = 1.0 - 1e-9
    with pytest.raises(InputError, match="no solution"):
        TotalLeastSquares().fit(X, y)
