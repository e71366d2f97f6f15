"""Free numbers for a body: always consistent, invertible, with the exact derivative."""

from __future__ import annotations

import numpy as np
import pytest

from dynamis.errors import InputError
from dynamis.identification import log_cholesky
from dynamis.identification.pseudo_inertia import is_consistent


def test_every_theta_is_a_body():
    theta = np.random.default_rng(0).normal(size=(500, 10))
    assert all(is_consistent(pi) for pi in log_cholesky.from_log_cholesky(theta))


def test_every_body_has_one_theta():
    theta = np.random.default_rng(1).normal(size=(100, 10))
    np.testing.assert_allclose(log_cholesky.to_log_cholesky(log_cholesky.from_log_cholesky(theta)), theta, atol=1e-8)


def test_mass_and_centre_of_mass_are_read_off():
    theta = np.random.default_rng(2).normal(size=10)
    pi = log_cholesky.from_log_cholesky(theta)
    assert pi[0] == pytest.approx(np.exp(2.0 * theta[0]))
    np.testing.assert_allclose(pi[1:4] / pi[0], theta[7:])


def test_the_jacobian_is_the_derivative():
    theta, h = np.random.default_rng(3).normal(size=10), 1e-6
    steps = h * np.eye(10)
    rise = log_cholesky.from_log_cholesky(theta + steps) - log_cholesky.from_log_cholesky(theta - steps)
    np.testing.assert_allclose(log_cholesky.jacobian(theta), rise.T / (2 * h), rtol=1e-7, atol=1e-7)


def test_the_derivative_of_the_factor_and_of_a_batch():
    theta, h = np.random.default_rng(4).normal(size=(3, 10)), 1e-6
    dU = log_cholesky.factor_derivative(theta)
    for k in range(10):
        step = h * np.eye(10)[k]
        slope = (log_cholesky.factor(theta + step) - log_cholesky.factor(theta - step)) / (2 * h)
        np.testing.assert_allclose(dU[:, k], slope, atol=1e-7, rtol=1e-7)
    np.testing.assert_allclose(log_cholesky.jacobian(theta)[1], log_cholesky.jacobian(theta[1]))


def test_a_flat_body_has_no_theta():
    with pytest.raises(InputError, match="not positive definite"):
        log_cholesky.to_log_cholesky([1.0, 0, 0, 0, 1.0, 0, 1.0, 0, 0, 0.0])
