"""Standard errors, intervals, whiteness, excitation: what they promise, on data whose truth is known."""

import dataclasses
import sys

import numpy as np
import pytest
from campaign_params import few_of
from judged_fits import rows_of

import dynamis as dy
from dynamis.errors import NameLookupError
from dynamis.identification import equations
from dynamis.identification.estimators.estimator import LeastSquares, WeightedLeastSquares
from dynamis.identification.validation.distributions import chi_square_tail, t_quantile
from dynamis.identification.validation.residuals import autocorrelation, residuals_by_joint, scatter_of_scores, whiteness
from dynamis.identification.validation.statistics import essential_of, excitation_of, leverage_of, statistics

DEGREES = (1, 2, 3, 7, 20, 31)


def test_probabilities_are_those_of_scipy():
    from scipy.special import chdtrc, stdtrit

    for degrees in DEGREES:
        found = [chi_square_tail(degrees, x) for x in (0.0, 1e-3, 0.5, 4.0, 30.0, 200.0, 1e4)]
        assert found == pytest.approx(chdtrc(degrees, [0.0, 1e-3, 0.5, 4.0, 30.0, 200.0, 1e4]), rel=1e-12)
    for degrees in (*DEGREES, 1.5, 300.0, 1e5):
        for p in (0.6, 0.95, 0.975):
            assert t_quantile(degrees, p) == pytest.approx(stdtrit(degrees, p), rel=1e-8)


BETA = np.array([1.0, -2.0, 0.5, 3.0])


def two_joints(rng, memory, n=500):
    """Two joints whose noise differs tenfold, columns that move slowly, as those of robots do."""
    t = np.arange(n) * 0.01
    phase, speed = rng.uniform(0.0, 6.28, (2, 4)), rng.uniform(0.2, 2.0, (2, 4))
    columns = np.sin(2.0 * np.pi * speed[:, None, :] * t[None, :, None] + phase[:, None, :])
    columns[0, :, 3] = 0.0
    e = coloured(rng, memory, 2, n) * np.array([[1.0], [0.1]])
    X = columns.reshape(-1, 4)
    return X, X @ BETA + e.reshape(-1), np.repeat([0, 1], n), np.tile(t, 2)


def coloured(rng, memory, rows, n, before=150):
    from scipy.signal import lfilter

    white = rng.normal(size=(rows, n + before))
    return lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white, axis=1)[:, before:]


def coverage(estimator, memory, fits, **options):
    rng = np.random.default_rng(5)
    inside, inflation = [], []
    for _ in range(fits):
        X, y, joint, t = two_joints(rng, memory)
        fit = estimator().fit(X, y, joint=joint)
        run = np.zeros(len(y), int)
        s = statistics(rows_of(X, y, joint, t, run=run), fit.coef_, fit.covariance_, **options)
        inside.append((s.interval[:, 0] <= BETA) & (s.interval[:, 1] >= BETA))
        inflation.append(np.median(s.inflation))
    return np.mean(inside), np.median(inflation)


# 5 s of data: of coloured noise 55 samples' worth
NOISES = [
    (LeastSquares, 0.8, 2.0),
    (WeightedLeastSquares, 0.0, 1.0),
    (LeastSquares, 0.0, 1.0),
    (WeightedLeastSquares, 0.8, 2.0),
]


@pytest.mark.parametrize(("estimator", "memory", "larger"), few_of(NOISES, NOISES[:2]))
def test_intervals_cover_the_truth_with_white_and_with_coloured_noise(estimator, memory, larger):
    share, inflation = coverage(estimator, memory, 80)
    assert (0.91 if memory == 0.0 else 0.86) <= share <= 0.985
    assert 0.8 * larger < inflation < 2.0 * larger


def test_without_allowing_for_colour_intervals_are_far_too_narrow():
    share, inflation = coverage(LeastSquares, 0.8, 60, autocorrelated=False)
    assert share < 0.7
    assert inflation == 1.0


@pytest.mark.campaign
@pytest.mark.parametrize("estimator", [LeastSquares, WeightedLeastSquares])
def test_a_thousand_fits_cover_the_truth_in_ninety_five_of_a_hundred(estimator):
    for options in ({"autocorrelated": False}, {"autocorrelated": True}):
        assert 0.93 <= coverage(estimator, 0.0, 1000, **options)[0] <= 0.97
    assert 0.90 <= coverage(estimator, 0.8, 1000)[0] <= 0.97


def test_slow_errors_that_the_parameters_explain_still_count():
    rng, t = np.random.default_rng(4), np.arange(150) * 0.08
    slow = 2.0 * np.pi * np.arange(1, 4) / 12.0 * t[:, None]
    X = np.column_stack([np.ones(150), np.sin(slow), np.cos(slow), np.sign(np.cos(slow[:, 0]))])  # below 0.3 Hz
    errors = []
    for _ in range(200):
        spectrum = np.fft.rfft(rng.normal(size=3000))
        spectrum[31:] = 0.0  # of 12 s at 250 Hz: a low-pass filter at 2.5 Hz
        y = 20.0 * np.fft.irfft(spectrum)[::20]
        fit = LeastSquares().fit(X, y)
        s = statistics(rows_of(X, y, t=t), fit.coef_, fit.covariance_)
        errors.append(fit.coef_ / s.std)
    rms = np.sqrt(np.mean(np.square(errors), axis=0))
    assert rms[0] < 1.35
    assert 0.75 < np.sqrt(np.mean(rms**2)) < 1.25


def test_white_noise_is_called_white_and_coloured_noise_coloured():
    rng = np.random.default_rng(0)
    t = np.arange(2000) * 0.002
    calls = [whiteness(rng.normal(size=2000), t).white for _ in range(60)]
    assert sum(calls) >= 58
    for memory in (0.3, 0.9):
        w = whiteness(coloured(rng, memory, 1, 2000)[0], t)
        assert not w.white
        expected = (1.0 + memory) / (1.0 - memory)
        assert w.length == pytest.approx(expected, rel=0.45)
        assert w.seconds == pytest.approx(0.002 * w.length)


def test_pairs_across_gaps_and_runs_do_not_count():
    e = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    rho, pairs = autocorrelation(e, np.array([0.0, 1.0, 2.0, 30.0, 31.0, 32.0]), 1)
    assert pairs.tolist() == [6.0, 4.0]
    assert rho[1] == pytest.approx(-1.0)
    run = np.array([0, 0, 0, 1, 1, 1])
    assert autocorrelation(e, np.tile(np.arange(3.0), 2), 1, run)[1].tolist() == [6.0, 4.0]


def test_the_scatter_by_windows_is_newey_and_wests_sum_over_lags(monkeypatch):
    rng = np.random.default_rng(2)
    s, t, window = rng.normal(size=(40, 3)), np.arange(40.0), 5
    by_lags = s.T @ s
    for lag in range(1, window):
        product = (1.0 - lag / window) * s[lag:].T @ s[:-lag]
        by_lags = by_lags + product + product.T
    rows = rows_of(s, np.zeros(40), t=t)
    assert scatter_of_scores(rows, np.ones(40), window) == pytest.approx(by_lags)
    rows = dataclasses.replace(rows)
    # the chunks in which the rows are evaluated do not matter
    monkeypatch.setattr(sys.modules[equations.__module__], "CHUNK", 7)
    assert scatter_of_scores(rows, np.ones(40), window) == pytest.approx(by_lags)


def test_joints_are_measured_apart():
    y = np.concatenate([np.full(100, 10.0), np.full(100, 1.0)])
    e = np.concatenate([np.tile([1.0, -1.0], 50), np.tile([0.5, -0.5], 50)])
    big, small = residuals_by_joint(rows_of(np.zeros((200, 1)), y, np.repeat([0, 1], 100)), e)
    assert (big.joint, big.rms, big.percent) == ("joint 1", 1.0, pytest.approx(10.0))
    assert (small.joint, small.largest, small.percent) == ("joint 2", 0.5, pytest.approx(50.0))
    assert not small.whiteness.white


def test_excitation_names_the_columns_that_others_can_stand_in_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) * np.array([1.0, 100.0, 0.01, 1.0])

    def excitation(X):
        R = np.linalg.qr(X, mode="r")
        return excitation_of(R, R, len(X), "abcd")

    clean = excitation(X)
    assert clean.weak == ()
    assert clean.scaled_condition < 2.0 < 5000.0 < clean.condition
    X[:, 3] = X[:, 0] + 1e-3 * X[:, 3]
    assert set(excitation(X).weak) == {"a", "d"}
    X[:, 1] = 0.0
    gone = excitation(X)
    assert gone.weak[0] == "b"
    assert gone.scaled_condition > 1e3


def test_leverages_sum_to_the_rank_and_a_lone_row_has_all_of_it():
    X = np.zeros((20, 2))
    X[:, 0], X[7, 1] = 1.0, 5.0
    h = leverage_of(rows_of(X, np.zeros(20)), np.linalg.qr(X, mode="r"), np.ones(1))
    assert h.sum() == pytest.approx(2.0)
    assert h[7] == pytest.approx(1.0)


def essential_parameters(X, y, names, joint=None, effective=1.0):
    return essential_of(rows_of(X, y, joint).whole, names, effective=effective)


def test_planted_zeros_are_not_essential():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1000, 12)) * rng.uniform(0.1, 10.0, 12)
    beta = np.where(np.arange(12) % 3 == 0, rng.uniform(1.0, 2.0, 12), 0.0)
    joint = np.repeat([0, 1], 500)
    y = X @ beta + np.where(joint == 0, 0.5, 0.05) * rng.normal(size=1000)
    names = [f"p{k}" for k in range(12)]
    found = essential_parameters(X, y, names, joint)
    assert found.names == ("p0", "p3", "p6", "p9")
    assert found.values == pytest.approx(beta[[0, 3, 6, 9]], rel=0.05)
    assert set(found.dropped) == set(names) - set(found.names)
    assert found.percent == pytest.approx(found.percent_before, rel=0.03)
    assert found.deviation.max() < 10.0
    assert "4 of 12 parameters are essential" in str(found)


def test_coloured_noise_keeps_fewer_parameters():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 0.02] + 0.1 * rng.normal(size=200)
    assert len(essential_parameters(X, y, "abc")) == 3
    assert len(essential_parameters(X, y, "abc", effective=0.2)) == 2


def test_one_correlated_joint_does_not_hide_the_parameters_of_the_others():
    """Joint 1 repeats every residual 50 times; joint 2 is white, and its parameter is many standard errors from zero."""
    rng = np.random.default_rng(5)
    X, joint = np.zeros((4000, 4)), np.repeat([0, 1], 2000)
    X[:2000, :2], X[2000:, 2:] = rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2))
    noise = np.concatenate([np.repeat(rng.normal(size=40), 50), rng.normal(size=2000)])
    y = X @ [0.02, 3.0, 0.4, 0.0] + noise
    assert essential_parameters(X, y, "abcd", joint=joint, effective=0.02).names == ("b",)  # 0.4 is 18 standard errors
    assert essential_parameters(X, y, "abcd", joint=joint, effective=[0.02, 1.0]).names == ("b", "c")


def test_the_essential_parameters_alone_can_be_fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X @ [3.0, 0.0, -2.0, 0.0] + 0.1 * rng.normal(size=300)
    kept = essential_parameters(X, y, "abcd").names
    fit = WeightedLeastSquares(only=kept).fit(X, y, names="abcd")
    assert np.allclose(fit.coef_[[0, 2]], np.linalg.lstsq(X[:, [0, 2]], y, rcond=None)[0])
    assert (fit.coef_[[1, 3]] == 0.0).all()
    assert fit.at_bound_ == ("", "fixed", "", "fixed")
    with pytest.raises(NameLookupError, match="no parameter"):
        WeightedLeastSquares(only=["e"]).fit(X, y, names="abcd")


def test_what_does_not_fit_together_is_refused():
    X, y, joint, t = two_joints(np.random.default_rng(0), 0.0)
    with pytest.raises(dy.InputError, match="at_bound= has 1 entry"):
        statistics(rows_of(X, y, joint, t), BETA, np.eye(4), at_bound=["fixed"])
    with pytest.raises(dy.InputError, match="do not determine"):
        essential_parameters(X[:4], y[:4], "abcd")
    with pytest.raises(dy.InputError, match="a fraction of the samples"):
        essential_parameters(X, y, "abcd", joint, effective=2.0)


def test_exact_data_are_judged_too():
    X, _, joint, _ = two_joints(np.random.default_rng(0), 0.0)
    y = X @ BETA
    fit = WeightedLeastSquares().fit(X, y, joint=joint)
    s = statistics(rows_of(X, y, joint), fit.coef_, fit.covariance_)
    assert s.percent < 1e-10
    assert np.all(np.isfinite(s.interval))
