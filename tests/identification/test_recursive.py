"""On-line least squares: the same as off-line where nothing is forgotten, alert where something is, calm at rest."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.estimators.estimator import LeastSquares
from dynamis.identification.estimators.recursive import RecursiveLeastSquares
from dynamis.identification.payload_fit import payload_regressor


def test_without_forgetting_it_is_least_squares_of_the_whole_log():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12)) * 10.0 ** rng.uniform(-3, 3, 12)
    y = X @ rng.normal(size=12) + rng.normal(size=600)
    whole = LeastSquares(per_joint=False).fit(X, y)
    online = RecursiveLeastSquares()
    for k in range(0, 600, 6):
        online.partial_fit(X[k : k + 6], y[k : k + 6], joint=np.arange(6))
    for fit in (online, RecursiveLeastSquares().fit(X, y)):
        assert np.allclose(fit.coef_, whole.coef_, rtol=1e-10, atol=0.0)
        assert np.allclose(fit.covariance_, whole.covariance_, rtol=1e-9, atol=0.0)
        assert fit.dof_ == whole.dof_
    assert online.noise_.shape == (6,)


def test_a_million_fold_condition_is_no_obstacle():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 5)) @ np.diag([1, 1, 1, 1, 1e-6]) + 1e-9 * rng.normal(size=(3000, 5))
    X[:, 4] += X[:, 0]
    beta = np.arange(1.0, 6.0)
    online = RecursiveLeastSquares()
    for x, t in zip(X, X @ beta, strict=True):
        online.partial_fit(x, t)
    assert np.allclose(online.coef_, np.linalg.lstsq(X, X @ beta, rcond=None)[0], rtol=1e-7)


def test_it_notices_a_load_that_is_picked_up():
    arm, rng = dy.load("ur5e"), np.random.default_rng(2)
    box = dy.solids.box(0.1, 0.1, 0.2, mass=2.0)
    q, v, a = rng.normal(size=(3, 800, 6))
    Y = payload_regressor(arm, q, v, a)
    tau = Y @ box.parameters * (np.arange(800) >= 400)[:, None] + 0.05 * rng.normal(size=(800, 6))
    online, deaf = RecursiveLeastSquares(forgetting=0.95), RecursiveLeastSquares()
    mass = []
    for X, y in zip(Y, tau, strict=True):
        online.partial_fit(X, y)
        mass.append(float(online.coef_[0]) if online.determined_ else np.nan)
        deaf.partial_fit(X, y)
    assert abs(mass[390]) < 0.1
    assert mass[799] == pytest.approx(2.0, abs=0.1)
    assert deaf.coef_[0] == pytest.approx(1.0, abs=0.3)  # half of the log had it


@pytest.mark.parametrize("rest", ["nothing", "noise", "one direction"])
def test_at_rest_the_covariance_does_not_wind_up(rest):
    rng = np.random.default_rng(3)
    beta = np.array([1.0, -2.0, 0.5])
    calm, windy = RecursiveLeastSquares(forgetting=0.98), RecursiveLeastSquares(forgetting=0.98, directional=False)
    for _ in range(300):
        x = rng.normal(size=(1, 3))
        for fit in (calm, windy):
            fit.partial_fit(x, x @ beta + 0.1 * rng.normal(size=1))
    known = np.linalg.inv(calm._factor[:, :-1])
    for _ in range(1000):
        x = {
            "nothing": np.zeros((1, 3)),
            "noise": 1e-6 * rng.normal(size=(1, 3)),
            "one direction": np.array([[1.0, 1.0, 0.0]]),
        }[rest]
        for fit in (calm, windy):
            fit.partial_fit(x, x @ beta + 0.1 * rng.normal(size=1))
    now, lost = (np.linalg.inv(fit._factor[:, :-1]) for fit in (calm, windy))
    assert np.trace(now @ now.T) < 1.5 * np.trace(known @ known.T)
    assert np.trace(lost @ lost.T) > 1e6 * np.trace(known @ known.T)
    assert np.allclose(calm.coef_, beta, atol=0.1)


def test_memory_is_as_long_as_said():
    rng = np.random.default_rng(4)
    fit = RecursiveLeastSquares(forgetting=0.99)
    for _ in range(3000):
        fit.partial_fit(rng.normal(size=(1, 1)), [0.0])
    assert 50.0 < float(fit._factor[0, 0] ** 2) < 200.0  # some hundred rows of one unit each


def test_a_belief_to_start_with():
    fit = RecursiveLeastSquares(prior=[1.0, 2.0], prior_scale=[1.0, 1.0]).partial_fit([1.0, 0.0], [3.0])
    assert np.allclose(fit.coef_, [2.0, 2.0])
    bare = RecursiveLeastSquares().partial_fit([1.0, 0.0], [3.0])
    assert not bare.determined_
    with pytest.raises(InputError, match="is not fitted"):
        bare.predict([[1.0, 1.0]])


def test_wrong_settings_and_rows_are_refused():
    with pytest.raises(InputError, match="forgetting"):
        RecursiveLeastSquares(forgetting=0.0).partial_fit([1.0], [1.0])
    with pytest.raises(InputError, match="prior_scale"):
        RecursiveLeastSquares(prior=[1.0]).partial_fit([1.0], [1.0])
    fit = RecursiveLeastSquares().partial_fit([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="previously X had 2"):
        fit.partial_fit([1.0], [1.0])
    with pytest.raises(InputError, match="finite"):
        fit.partial_fit([np.nan, 1.0], [1.0])
    with pytest.raises(InputError, match="indistinguishable"):
        RecursiveLeastSquares().fit(np.ones((10, 2)), np.ones(10), names=["a", "b"])


@pytest.mark.parametrize("noise", [0.0, -1.0, [1.0, 0.0], [1.0], np.nan])
def test_a_noise_that_is_not_positive_or_not_of_every_joint_is_refused(noise):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match="noise= takes a standard deviation above zero"):
        RecursiveLeastSquares(noise=noise).partial_fit(X, X @ [1.0, 2.0], joint=np.arange(20) % 2)


def test_the_noise_of_a_whole_log_is_that_of_the_residuals_of_each_joint():
    rng = np.random.default_rng(1)
    X, joint = rng.normal(size=(200, 3)), np.arange(200) % 2
    y = X @ [1.0, 2.0, 3.0] + np.array([0.1, 1.0])[joint] * rng.normal(size=200)
    fit = RecursiveLeastSquares().fit(X, y, joint=joint)
    squares = np.bincount(joint, (y - X @ fit.coef_) ** 2) / 100
    assert np.allclose(fit.noise_, np.sqrt(squares * 200 / 197), rtol=1e-12)
