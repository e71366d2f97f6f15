"""Gross errors: what they do to least squares, and not to this."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.equations import equations
from dynamis.identification.estimators.least_squares import LeastSquares
from dynamis.identification.estimators.robust import RobustLeastSquares
from dynamis.identification.samples import Samples


def log(seed, share):
    """The rows of a UR5e, with a share of the torques wrong by hundreds of N·m."""
    arm, rng = dy.load("ur5e"), np.random.default_rng(seed)
    base = base_parameters(arm)
    q, v, a = rng.normal(size=(3, 800, 6))
    noise = np.array([1.0, 1.0, 0.5, 0.1, 0.1, 0.05])
    tau = arm.inverse_dynamics(q, v, a) + noise * rng.normal(size=q.shape)
    wrong = rng.random(tau.shape) < share
    tau = tau + wrong * rng.uniform(100.0, 300.0, tau.shape)
    return base, equations(base, Samples.of(q, v, a, tau)), noise, wrong.reshape(-1)


def test_a_tenth_of_gross_errors_ruins_least_squares_and_not_this():
    base, rows, noise, wrong = log(0, 0.1)
    plain = LeastSquares().fit(rows.X, rows.y, joint=rows.joint)
    fit = RobustLeastSquares().fit(rows.X, rows.y, joint=rows.joint, names=rows.names)
    lost, kept = (np.linalg.norm(rows.X @ (f.coef_ - base.prior)) / np.sqrt(len(rows)) for f in (plain, fit))
    assert lost > 5.0
    assert kept < 0.1
    assert np.all(np.abs(fit.coef_ - base.prior) < 4.5 * fit.standard_errors_)
    assert np.allclose(fit.noise_, noise, rtol=0.3)
    assert fit.weights_[wrong].max() == 0.0
    assert np.median(fit.weights_[~wrong]) > 0.9


@pytest.mark.parametrize("loss", ["huber", "bisquare"])
def test_clean_logs_cost_little(loss):
    rng = np.random.default_rng(1)
    X, beta = rng.normal(size=(400, 5)), np.arange(5.0)
    y = X @ beta + rng.normal(size=(200, 400))
    fits = [RobustLeastSquares(loss).fit(X, one) for one in y]
    spread = np.std([fit.coef_ for fit in fits], axis=0)
    best = np.sqrt(np.diag(np.linalg.inv(X.T @ X)))
    assert np.all(spread < 1.2 * best)
    claimed = np.mean([fit.standard_errors_ for fit in fits], axis=0)
    assert np.all(np.abs(spread / claimed - 1.0) < 0.2)


def test_the_covariance_holds_for_errors_with_heavy_tails():
    rng = np.random.default_rng(2)
    X, beta = rng.normal(size=(400, 3)), np.arange(3.0)
    fits = [RobustLeastSquares("huber").fit(X, X @ beta + rng.standard_t(2, size=400)) for _ in range(200)]
    spread = np.std([fit.coef_ for fit in fits], axis=0)
    claimed = np.mean([fit.standard_errors_ for fit in fits], axis=0)
    assert np.all(np.abs(spread / claimed - 1.0) < 0.2)


def test_exact_rows_are_fitted_exactly():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3))
    fit = RobustLeastSquares().fit(X, X @ [1.0, 2.0, 3.0])
    assert np.allclose(fit.coef_, [1.0, 2.0, 3.0], atol=1e-10)


def test_wrong_settings_and_rows_are_refused():
    X = np.ones((10, 2))
    with pytest.raises(InputError, match="'huber' or 'bisquare'"):
        RobustLeastSquares("cauchy").fit(X, X[:, 0])
    with pytest.raises(InputError, match=r"'mass' and 'length'|'length' and 'mass'"):
        RobustLeastSquares().fit(X, X[:, 0], names=["mass", "length"])


def test_scikit_learn_can_use_it():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=120)
    copy = clone(RobustLeastSquares("huber", tuning=2.0))
    assert copy.get_params()["tuning"] == 2.0
    assert cross_val_score(copy, X, y, cv=3).min() > 0.98
    search = GridSearchCV(RobustLeastSquares(), {"loss": ["huber", "bisquare"]}, cv=3)
    search.fit(X, y, joint=np.arange(120) % 2)
    assert search.best_estimator_.noise_.shape == (2,)
    pipe = Pipeline([("scaled", StandardScaler(with_mean=False)), ("fit", RobustLeastSquares())]).fit(X, y)
    assert pipe.score(X, y) > 0.98
