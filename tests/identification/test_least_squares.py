"""Ordinary and weighted least squares: exact without noise, honest with it, and never silent about what is missing."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.identification import (
    LeastSquares,
    LinearModel,
    Samples,
    WeightedLeastSquares,
    base_parameters,
    equations,
)


def rows(robot, count=400, seed=1, **settings):
    rng = np.random.default_rng(seed)
    base = base_parameters(LinearModel(robot, **settings))
    q, v, a = robot.random(rng, size=count), *rng.normal(size=(2, count, robot.n)) * 2.0
    return base, equations(base, Samples.of(q, v, a, robot.inverse_dynamics(q, v, a), period=0.01))


@pytest.mark.parametrize("estimator", [LeastSquares(), WeightedLeastSquares()], ids=repr)
def test_parameters_come_back_without_noise(estimator):
    base, e = rows(dy.load("ur5e"))
    fit = estimator.fit(e.X, e.y, joint=e.joint, names=e.names)
    assert np.allclose(fit.coef_, base.prior, rtol=1e-9, atol=1e-10)
    assert fit.score(e.X, e.y) > 1.0 - 1e-12


def test_the_answer_is_that_of_numpy():
    _, e = rows(dy.load("stanford"))
    y = e.y + np.random.default_rng(0).normal(size=len(e.y))
    fit = LeastSquares(per_joint=False).fit(e.X, y)
    beta, rest, *_ = np.linalg.lstsq(e.X, y)
    assert np.allclose(fit.coef_, beta, rtol=1e-9)
    expected = rest[0] / (len(y) - e.X.shape[1]) * np.linalg.inv(e.X.T @ e.X)
    assert np.allclose(fit.covariance_, expected, rtol=1e-6)


@pytest.mark.parametrize("estimator", [LeastSquares(), WeightedLeastSquares()], ids=repr)
def test_ninety_five_per_cent_intervals_hold_that_often(estimator):
    base, e = rows(dy.load("ur5e"), count=150)
    noise = np.array([2.0, 1.5, 1.0, 0.2, 0.1, 0.05])
    rng = np.random.default_rng(3)
    inside, found = [], []
    for _ in range(50):
        fit = estimator.fit(e.X, e.y + noise[e.joint] * rng.normal(size=len(e.y)), joint=e.joint)
        inside.append(np.abs(fit.coef_ - base.prior) < 1.96 * fit.standard_errors_)
        found.append(fit.noise_)
    assert 0.91 < np.mean(inside) < 0.985
    # noise far below that of other joints is not seen by ordinary least squares, whose residuals mix them
    seen = slice(0, 4) if isinstance(estimator, LeastSquares) else slice(None)
    assert np.allclose(np.mean(found, axis=0)[seen], noise[seen], rtol=0.1)


def test_weighting_beats_ordinary_where_joints_differ():
    base, e = rows(dy.load("ur5e"), count=150)
    noise = np.array([5.0, 5.0, 5.0, 0.05, 0.05, 0.05])
    rng = np.random.default_rng(3)
    errors = {LeastSquares: 0.0, WeightedLeastSquares: 0.0}
    wrist = [k for k, name in enumerate(e.names) if name.startswith("wrist_2_link")]
    for _ in range(20):
        y = e.y + noise[e.joint] * rng.normal(size=len(e.y))
        for kind in errors:
            errors[kind] += np.linalg.norm(kind().fit(e.X, y, joint=e.joint).coef_[wrist] - base.prior[wrist])
    assert errors[WeightedLeastSquares] < 0.2 * errors[LeastSquares]


def test_rank_deficiency_names_the_parameters():
    robot = dy.load("ur5e")
    base = base_parameters(LinearModel(robot))
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 300, 6))
    v[:, 3] = a[:, 3] = 0.0  # a joint that never moves has no friction to be seen
    e = equations(base, Samples.of(q, v, a, robot.inverse_dynamics(q, v, a)))
    with pytest.raises(dy.InputError, match=r"does not excite 'wrist_1_joint.viscous', 'wrist_1_joint.coulomb' and"):
        LeastSquares().fit(e.X, e.y, joint=e.joint, names=e.names)
    q, v, a = np.tile(rng.normal(size=(3, 1, 6)), (1, 300, 1))
    v = v * rng.uniform(0.5, 1.0, (300, 1))
    e = equations(base, Samples.of(q, v, a, robot.inverse_dynamics(q, v, a)))
    with pytest.raises(dy.InputError, match=r"are indistinguishable: .* directions are unexcited"):
        WeightedLeastSquares().fit(e.X, e.y, joint=e.joint, names=e.names)


def test_columns_are_indistinguishable_only_within_rounding():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 200))
    for apart, refused in ((2e-9, False), (2e-11, True)):
        X = np.stack([a, a + apart * b], axis=1)
        y = X @ [1.0, 2.0]
        if refused:
            with pytest.raises(dy.InputError, match="indistinguishable"):
                LeastSquares().fit(X, y)
        else:
            assert LeastSquares().fit(X, y).coef_.sum() == pytest.approx(3.0)


def test_too_few_rows_and_numbers_that_are_none():
    with pytest.raises(dy.InputError, match="3 rows cannot determine 4 parameters"):
        LeastSquares().fit(np.eye(3, 4), np.zeros(3))
    X = np.ones((10, 2))
    X[4, 1] = np.nan
    with pytest.raises(dy.InputError, match=r"X\[4, 1\] is nan, column 'b'; 1 row is not finite"):
        LeastSquares().fit(X, np.zeros(10), names=["a", "b"])
    with pytest.raises(dy.InputError, match="call fit"):
        LeastSquares().predict(np.eye(2))


def test_scikit_learn_can_use_them():
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.model_selection import cross_val_score

    _, e = rows(dy.load("planar_2r_melchiorri"))
    copy = sklearn.base.clone(WeightedLeastSquares(iterations=3))
    assert repr(copy) == "WeightedLeastSquares(iterations=3)"
    assert cross_val_score(LeastSquares(), e.X, e.y, cv=3).min() > 0.999


def test_settings_can_be_changed_by_name():
    assert WeightedLeastSquares().set_params(iterations=2).get_params()["iterations"] == 2
    with pytest.raises(dy.InputError, match="has no setting 'iteration'"):
        WeightedLeastSquares().set_params(iteration=2)
