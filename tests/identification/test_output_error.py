"""Output error: from a wrong prior to the parameters whose simulation does what was measured."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.equations import equations
from dynamis.identification.estimators.output_error import OutputError
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.samples import Samples
from dynamis.identification.simulated_loop import SimulatedLoop, tracking_controller

PERIOD, COUNT = 0.01, 400
LAW = tracking_controller(15.0)
POSITION, TORQUE = 1e-3, 2.0  # noise


@pytest.fixture(scope="module")
def log():
    """An arm whose parameters are a fifth off, its runs without noise, and the rows of a noisy log."""
    friction = {"joint1": {"viscous": 20.0, "coulomb": 15.0}, "joint2": {"viscous": 10.0, "coulomb": 10.0}}
    arm = dy.load("planar_2r_melchiorri").replace(friction=friction)
    base = base_parameters(LinearModel(arm, rotor=False, smooth=0.05))
    rng = np.random.default_rng(1)
    truth = base.prior * np.where(rng.random(base.rank) < 0.5, 0.8, 1.2)
    t, k = np.arange(COUNT) * PERIOD, np.arange(1, 5)
    w = 2.0 * np.pi / (COUNT * PERIOD) * k
    A, B = rng.normal(size=(2, 4, 2)) / k[:, None]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    reference = s @ A + c @ B, (c * w) @ A - (s * w) @ B, -(s * w**2) @ A - (c * w**2) @ B
    empty = Samples.of(*reference, np.zeros((COUNT, 2)), period=PERIOD)
    loop = SimulatedLoop(base, empty, LAW, reference=[reference])
    return base, truth, reference, loop, loop.simulate(truth)[0]


def noisy(log, rng):
    base, _, reference, loop, exact = log
    run = Samples.of(
        exact.q + POSITION * rng.normal(size=exact.q.shape), exact.v, exact.a,
        exact.tau + TORQUE * rng.normal(size=exact.tau.shape), period=PERIOD,
    )  # fmt: skip
    made = SimulatedLoop(base, run, LAW, reference=[reference])
    made.__dict__["_kernel"] = loop._kernel  # the same function, compiled once for all logs of this test
    return made, equations(base, run)


@pytest.mark.parametrize("match", ["position", "torque"])
def test_it_converges_from_a_prior_that_is_a_fifth_off(log, match):
    base, truth, _, _, exact = log
    loop, rows = noisy(log, np.random.default_rng(2))
    fit = OutputError(loop, match, start=base.prior).fit(rows.X, rows.y, joint=rows.joint, names=rows.names)
    assert fit.converged_
    assert np.all(np.abs(fit.coef_ - truth) < 4.0 * fit.standard_errors_)
    assert np.abs(loop.simulate(fit.coef_)[0].q - exact.q).max() < POSITION
    assert np.allclose(fit.output_noise_, POSITION if match == "position" else TORQUE, rtol=0.15)
    assert fit.history_[-1] < 0.5 * fit.history_[0]


@pytest.mark.parametrize("match", ["position", "torque"])
def test_standard_errors_are_the_spread_of_repeated_logs(log, match):
    truth, rng = log[1], np.random.default_rng(3)
    fits = []
    for _ in range(12):
        loop, rows = noisy(log, rng)
        fits.append(OutputError(loop, match, start=truth, iterations=4).fit(rows.X, rows.y, joint=rows.joint))
    scores = np.array([(fit.coef_ - truth) / fit.standard_errors_ for fit in fits])
    assert 0.75 < np.sqrt(np.mean(scores**2)) < 1.3


def test_an_exact_log_gives_the_parameters(log):
    base, truth, reference, _, exact = log
    loop = SimulatedLoop(base, exact, LAW, reference=[reference])
    rows = equations(base, exact)
    fit = OutputError(loop, start=base.prior, tolerance=1e-6).fit(rows.X, rows.y, joint=rows.joint)
    assert np.allclose(fit.coef_, truth, rtol=1e-5, atol=1e-4)


def test_without_a_start_it_starts_from_least_squares(log):
    loop, rows = noisy(log, np.random.default_rng(4))
    fit = OutputError(loop).fit(rows.X, rows.y, joint=rows.joint)
    assert np.all(np.abs(fit.coef_ - log[1]) < 4.5 * fit.standard_errors_)


def test_wrong_questions_are_refused(log):
    loop, rows = noisy(log, np.random.default_rng(5))
    with pytest.raises(InputError, match="'position' or 'torque'"):
        OutputError(loop, "velocity").fit(rows.X, rows.y)
    with pytest.raises(InputError, match="start="):
        OutputError(loop, start=[1.0]).fit(rows.X, rows.y)
    with pytest.raises(InputError, match="base parameters"):
        OutputError(loop).fit(rows.X[:, :3], rows.y)
    with pytest.raises(InputError, match="same samples"):
        OutputError(loop, "torque", start=log[1]).fit(rows.X[:100], rows.y[:100])
