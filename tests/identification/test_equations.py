"""Equations of a log: their triangular factors give the fit of all rows, and the filter is applied to both sides."""

import importlib
from dataclasses import replace

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
from dynamis.identification.samples import Decimation

module = importlib.import_module("dynamis.identification.equations")  # the package has a function of the same name


@pytest.fixture(scope="module")
def base():
    return base_parameters(LinearModel(dy.load("ur5e"), presliding={"elbow_joint": 0.02}))


@pytest.fixture(scope="module")
def log(base):
    robot = base.model.robot
    rng = np.random.default_rng(0)
    t = np.arange(30_000) * 2e-3
    phase, size = rng.uniform(0, 2 * np.pi, (4, 6)), rng.uniform(0.2, 0.5, (4, 6))
    w = 2 * np.pi * np.array([0.17, 0.31, 0.47, 0.9])[:, None, None]
    q = np.sum(size[:, None] * np.sin(w * t[:, None] + phase[:, None]), axis=0)
    v = np.sum(w * size[:, None] * np.cos(w * t[:, None] + phase[:, None]), axis=0)
    a = np.sum(-(w**2) * size[:, None] * np.sin(w * t[:, None] + phase[:, None]), axis=0)
    tau = robot.inverse_dynamics(q, v, a) + 0.3 * rng.normal(size=q.shape)
    return Samples.of(q, v, a, tau, period=2e-3, use=np.abs(v) > 0.02)


def filtered(log, parallel, every, smooth_torque=False):
    return replace(log, parallel=parallel, every=every, smooth_torque=smooth_torque)


CASES = [(None, 1, False), (20.0, 10, False), (15.0, 7, False), (10.0, 1, True), (None, 5, False)]


@pytest.mark.parametrize(("parallel", "every", "smooth_torque"), CASES)
@pytest.mark.parametrize("estimator", [LeastSquares(), WeightedLeastSquares()], ids=repr)
def test_factors_give_the_fit_of_all_rows(base, log, parallel, every, smooth_torque, estimator):
    run = filtered(log, parallel, every, smooth_torque)
    e = equations(base, run)
    whole = estimator.fit(e.X, e.y, joint=e.joint, names=e.names)
    expected = whole.coef_.copy(), whole.noise_.copy(), whole.covariance_.copy()
    short = estimator.fit_factors(e.whole, e.names)
    assert short.dof_ == len(e) - base.rank
    assert np.allclose(short.coef_, expected[0], rtol=1e-8, atol=1e-9)
    assert np.allclose(short.noise_, expected[1], rtol=1e-8)
    assert np.allclose(short.covariance_, expected[2], rtol=1e-6, atol=1e-12)


def test_logs_are_put_together(base, log):
    parts = [log[:9_000], log[9_000:17_000], log[17_000:]]
    together = equations(base, parts)
    single = [equations(base, part) for part in parts]
    assert len(together) == sum(map(len, single))
    for j, factor in enumerate(together.whole.R[0]):
        expected = sum(F.T @ F for F in (rows.whole.R[0][j] for rows in single))
        assert np.allclose(factor.T @ factor, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(("cutoff", "every"), [(20.0, 1), (20.0, 10), (5.0, 40), (60.0, 3)])
def test_the_low_pass_has_no_phase_and_the_stated_length(cutoff, every):
    filtered = Decimation(2e-3, cutoff, every)
    x = np.random.default_rng(0).normal(size=(1000, 3))
    rows = filtered.of(x)
    direct = np.array([filtered.taps @ x[k * every : k * every + len(filtered.taps)] for k in range(len(rows))])
    assert np.allclose(rows, direct, atol=1e-12)
    assert np.allclose(filtered.taps, filtered.taps[::-1])
    assert len(rows) == filtered.rows(1000) == len(filtered.centres(1000))
    t = np.arange(1000) * 2e-3
    slow = np.sin(2 * np.pi * 0.2 * cutoff * t)
    middle = t[filtered.half] - (0.0 if len(filtered.taps) % 2 else 1e-3)  # between two samples where the length is even
    times = middle + np.arange(len(rows)) * every * 2e-3
    assert np.allclose(filtered.of(slow[:, None])[:, 0], np.sin(2 * np.pi * 0.2 * cutoff * times), atol=0.06)
    fast = np.sin(2 * np.pi * 3.0 * cutoff * t)
    assert np.abs(filtered.of(fast[:, None])).max() < 0.05


def test_filters_that_cannot_be():
    with pytest.raises(dy.InputError, match="half the sampling rate, 250 Hz"):
        Decimation(2e-3, 300.0)
    with pytest.raises(dy.InputError, match="sampling period"):
        Decimation(None, 10.0)
    with pytest.raises(dy.InputError, match="every"):
        Decimation(2e-3, 10.0, 0)


def evaluated(base, run, monkeypatch):
    """X, and the number of samples at which the regressor was evaluated."""
    counts, entries = [], type(base).entries
    with monkeypatch.context() as patch:
        patch.setattr(type(base), "entries", lambda own, q, *state: counts.append(len(q)) or entries(own, q, *state))
        return equations(base, run).X, sum(counts)


TERMS = [
    {},
    {"couplings": [("shoulder_pan_joint", "elbow_joint")]},
    {"presliding": {"elbow_joint": 0.02}},
    {"friction": ("viscous", "coulomb", "stribeck", "power"), "stribeck_speed": 0.02},
    {"smooth": 0.02},
]


@pytest.mark.parametrize("parallel", [(3.0, 20), (4.5, 12)])
@pytest.mark.parametrize("terms", TERMS)
def test_means_from_few_samples_are_those_of_all(log, monkeypatch, terms, parallel):
    base = base_parameters(LinearModel(dy.load("ur5e"), **terms))
    run = filtered(log, *parallel)
    few, _ = evaluated(base, run, monkeypatch)
    monkeypatch.setattr(module, "SMOOTH", -1.0)  # no motion is smooth
    every, count = evaluated(base, run, monkeypatch)
    assert count == len(run)
    assert np.linalg.norm(few - every, axis=0) / np.linalg.norm(every, axis=0) == pytest.approx(0.0, abs=1e-5)


def test_smooth_motion_needs_few_samples_and_noisy_motion_all(log, monkeypatch):
    base = base_parameters(LinearModel(dy.load("ur5e")))
    assert evaluated(base, filtered(log, 4.5, 12), monkeypatch)[1] < 0.8 * len(log)
    noisy = replace(log, a=log.a + 1e-3 * np.random.default_rng(0).normal(size=log.a.shape))
    assert evaluated(base, filtered(noisy, 4.5, 12), monkeypatch)[1] > 0.99 * len(log)


@pytest.mark.parametrize("count", [10, 3 * 64 - 2, 3 * 64 - 1, 3 * 64, 500])
@pytest.mark.parametrize("every", [3, 7, 1001])
def test_rows_may_be_farther_apart_than_the_filter_is_long(monkeypatch, count, every):
    monkeypatch.setattr(module, "CHUNK", 64)
    monkeypatch.setattr(module, "FEWEST", 5)
    robot = dy.load("planar_2r_melchiorri")
    base = base_parameters(LinearModel(robot))
    q, v, a = np.random.default_rng(count).normal(size=(3, count, robot.n))
    samples = Samples.of(q, v, a, robot.inverse_dynamics(q, v, a), period=1e-3, every=every)
    rows = equations(base, samples)
    assert len(rows) == robot.n * len(range(0, count, every))
    X = base.regressor(q, v, a)[::every]
    for joint, factor in enumerate(rows.whole.R[0]):
        A = np.column_stack([X[:, joint], samples.tau[::every, joint]])
        assert np.allclose(factor.T @ factor, A.T @ A, rtol=1e-9, atol=1e-9 * np.abs(A.T @ A).max())


def test_a_slow_stribeck_speed_shows():
    base = base_parameters(LinearModel(dy.load("ur5e"), friction=("viscous", "coulomb", "stribeck"), stribeck_speed=1e-3))
    assert sum("stribeck" in name for name in base.names) == 6
    assert base.pattern.any(axis=0).all()


def test_a_model_of_ones_own_has_code_of_its_own():
    class Mine(LinearModel):
        pass

    robot = dy.load("planar_2r_melchiorri")
    assert LinearModel(robot).identity is not None
    assert Mine(robot).identity is None


@pytest.mark.parametrize("count", [100, 10_000])
def test_numbers_too_large_are_refused(count):
    robot = dy.load("planar_2r_melchiorri")
    q, v, a = np.random.default_rng(0).normal(size=(3, count, robot.n))
    with pytest.raises(dy.InputError, match="overflow"):
        _ = equations(base_parameters(LinearModel(robot)), Samples.of(q, 1e200 * v, a, v)).whole
