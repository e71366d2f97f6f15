"""Drawn to a prior: closer to the truth where the log is poor, out of the way where it is rich."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.equations import equations
from dynamis.identification.estimators.estimator import LeastSquares, WeightedLeastSquares
from dynamis.identification.estimators.regularised import Ridge
from dynamis.identification.full_parameters import full_parameters
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.samples import Samples


def poor_log(rng, count=60, noise=1.0):
    """A UR5e that moves little: base parameters, their truth 10 % away from the prior, and the rows."""
    arm = dy.load("ur5e")
    base = base_parameters(arm)
    q, v, a = 0.3 * rng.normal(size=(3, count, 6))
    truth = base.prior * (1.0 + 0.1 * rng.normal(size=base.rank))
    tau = base.regressor(q, v, a) @ truth + noise * rng.normal(size=q.shape)
    return base, truth, equations(base, Samples.of(q, v, a, tau, period=0.01))


def test_a_poor_log_and_a_prior_are_better_than_either():
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 200, 6))
    off = {"ridge": [], "log": [], "prior": []}
    for _ in range(10):
        base, truth, rows = poor_log(rng)
        fresh = base.regressor(q, v, a).reshape(-1, base.rank)  # motions beyond those of the log
        fit = Ridge(base.prior, 0.1).fit(rows.X, rows.y, joint=rows.joint, names=rows.names, blocks=rows.blocks(0.1))
        plain = LeastSquares().fit(rows.X, rows.y, joint=rows.joint)
        for name, beta in (("ridge", fit.coef_), ("log", plain.coef_), ("prior", base.prior)):
            off[name].append(np.linalg.norm(fresh @ (beta - truth)))
    mean = {name: np.mean(values) for name, values in off.items()}
    assert mean["ridge"] < 0.5 * mean["log"]
    assert mean["ridge"] < 0.9 * mean["prior"]


def test_a_rich_log_outweighs_a_wrong_prior():
    rng = np.random.default_rng(1)
    X, beta = rng.normal(size=(2000, 4)), np.array([1.0, -2.0, 3.0, 0.5])
    y = X @ beta + 0.01 * rng.normal(size=2000)
    fit = Ridge(np.zeros(4), np.ones(4)).fit(X, y, blocks=np.arange(2000) // 100)
    assert np.allclose(fit.coef_, WeightedLeastSquares().fit(X, y).coef_, atol=1e-4)
    assert fit.effective_ == pytest.approx(4.0, abs=1e-2)
    assert fit.shown_.min() > 0.99


def test_it_is_the_mean_of_the_posterior():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    prior, scale, noise = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]), 0.5
    fit = Ridge(prior, scale, strength=1.0, noise=noise).fit(X, y)
    information = X.T @ X / noise**2 + np.diag(scale**-2.0)
    assert np.allclose(fit.covariance_, np.linalg.inv(information))
    assert np.allclose(fit.coef_, np.linalg.solve(information, X.T @ y / noise**2 + prior / scale**2))


def test_slowly_varying_errors_do_not_make_the_prior_look_wrong():
    """An error that lasts 50 samples looks like a parameter to rows counted as independent; held-out blocks see that it is
    not: the prior, which is right, keeps its weight."""
    rng = np.random.default_rng(8)
    strong = []
    for _ in range(6):
        t = np.arange(600)
        X = np.stack([np.sin(0.003 * k * t + k) for k in range(1, 9)], axis=1)
        drift = np.convolve(rng.normal(size=700), np.ones(50) / 50**0.5, "valid")[:600]
        fit = Ridge(np.ones(8), np.ones(8)).fit(X, X @ np.ones(8) + drift)
        strong.append(fit.effective_)
    assert np.median(strong) < 4.0  # of 8 parameters; evidence and generalised cross-validation leave 8


def test_its_covariance_is_the_spread_of_the_truth_about_it():
    rng = np.random.default_rng(3)
    X, scale = rng.normal(size=(60, 4)) @ np.diag([1.0, 1.0, 0.1, 0.01]), np.array([0.5, 1.0, 2.0, 1.0])
    scores = []
    for _ in range(300):
        beta = 1.0 + scale * rng.normal(size=4)
        fit = Ridge(np.ones(4), scale, strength=1.0).fit(X, X @ beta + 0.3 * rng.normal(size=60))
        scores.append((fit.coef_ - beta) / np.sqrt(np.diag(fit.covariance_)))
    assert np.all(np.abs(np.std(scores, axis=0) - 1.0) < 0.15)


def test_columns_that_say_nothing_keep_the_prior():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=100), np.zeros(100)])
    fit = Ridge([0.0, 7.0], [1.0, 1.0], strength=1.0).fit(X, 3.0 * X[:, 0] + 0.01 * rng.normal(size=100))
    assert fit.coef_[1] == pytest.approx(7.0)
    assert fit.shown_[1] == pytest.approx(0.0, abs=1e-12)


def test_a_relative_scale_does_not_depend_on_units():
    rng = np.random.default_rng(5)
    units = np.array([1.0, 1e3, 1e-3])
    X, prior = rng.normal(size=(50, 3)), np.array([1.0, 2.0, 0.0])
    y = X @ [1.1, 1.9, 0.3] + 0.1 * rng.normal(size=50)
    one = Ridge(prior, 0.2).fit(X, y)
    other = Ridge(prior / units, 0.2).fit(X * units, y)
    assert np.allclose(one.coef_, other.coef_ * units, rtol=1e-5)


def test_wrong_settings_are_refused():
    X, y = np.eye(5)[:, :2] + 1.0, np.arange(5.0)
    for settings, message in [
        ({"strength": "luck"}, "'blocks'"),
        ({"strength": "evidence"}, "'blocks'"),
        ({"strength": 0.0}, "above zero"),
        ({"prior": [1.0]}, "2 finite numbers"),
        ({"prior_scale": 0.2}, "which is zero"),
        ({"prior": [1.0, 1.0], "prior_scale": [1.0, 0.0]}, "'b' is 0"),
        ({"noise": 0.0}, "noise="),
    ]:
        with pytest.raises(InputError, match=message):
            Ridge(**settings).fit(X, y, names=["a", "b"])
    for blocks in ([0, 0, 1, 1, 1], [0, 1, 2, 3]):  # two values for all rows; four values for five rows
        with pytest.raises(InputError, match="one label for each of the 5 rows, with at least three"):
            Ridge(strength="blocks").fit(X, y, blocks=blocks)


def test_scikit_learn_can_use_it():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(6)
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=120)
    copy = clone(Ridge(prior=np.ones(3), prior_scale=[1.0, 1.0, 1.0]))
    assert np.array_equal(copy.prior, np.ones(3))
    assert cross_val_score(copy, X, y, cv=4).min() > 0.98
    search = GridSearchCV(Ridge(), {"strength": [1e-3, 1.0, 1e3]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.98
    pipe = Pipeline([("scaled", StandardScaler(with_mean=False)), ("fit", Ridge())]).fit(X, y)
    assert pipe.score(X, y) > 0.98


@pytest.mark.parametrize("seed", range(4))
def test_the_robot_of_an_estimate_near_the_file_is_near_the_file(seed):
    """Also where Coulomb friction comes out negative, which no robot has, with standard errors far below the prior's."""
    robot = dy.load("scara")
    base = base_parameters(LinearModel(robot))
    rng = np.random.default_rng(seed)
    X = base.regressor(*rng.normal(size=(3, 1200, 4))).reshape(4800, -1)
    fit = Ridge(base.prior).fit(X, X @ base.prior + rng.normal(scale=0.05, size=4800), joint=np.tile(np.arange(4), 1200))
    full = full_parameters(base, fit.coef_, infeasible="nearest", covariance=fit.covariance_)
    assert np.abs(full - base.model.prior).max() < 0.5
    assert full[base.model.index("wrist.m")] >= 0.0
