"""Noise in the positions, badly filtered: least squares is biased, instruments from simulation are not."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import DynamisError, InputError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.equations import equations
from dynamis.identification.estimators.instrumental import InstrumentalVariables
from dynamis.identification.estimators.least_squares import WeightedLeastSquares
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.samples import Samples
from dynamis.identification.simulated_loop import SimulatedInstruments, SimulatedLoop, tracking_controller

PERIOD = 0.01
LAW = tracking_controller(15.0)


def reference(seed=0, count=500):
    rng = np.random.default_rng(seed)
    t, k = np.arange(count) * PERIOD, np.arange(1, 5)
    w = 2.0 * np.pi / (count * PERIOD) * k
    A, B = rng.normal(size=(2, 4, 2)) / k[:, None]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return s @ A + c @ B, (c * w) @ A - (s * w) @ B, -(s * w**2) @ A - (c * w**2) @ B


@pytest.fixture(scope="module")
def base():
    """A planar arm with friction, as its maker believes it to be."""
    friction = {"joint1": {"viscous": 20.0}, "joint2": {"viscous": 10.0}}
    return base_parameters(
        LinearModel(dy.load("planar_2r_melchiorri").replace(friction=friction), friction="viscous", rotor=False)
    )


@pytest.fixture(scope="module")
def truth(base):
    """What it is: some twenty per cent off."""
    return base.prior * (1.0 + 0.2 * np.random.default_rng(3).normal(size=base.rank))


@pytest.fixture(scope="module")
def exact(base, truth):
    made = reference()
    empty = Samples.of(*made, np.zeros_like(made[0]), period=PERIOD)
    return SimulatedLoop(base, empty, LAW, reference=[made], substeps=2).simulate(truth)[0]


def measured(exact, rng):
    """Positions with noise, differentiated without a filter, and torques with noise."""
    q = exact.q + 4e-4 * rng.normal(size=exact.q.shape)
    v = np.gradient(q, PERIOD, axis=0)
    a = np.gradient(v, PERIOD, axis=0)
    inside = np.zeros(q.shape, bool)
    inside[3:-3] = True  # at the ends differences are one-sided
    return Samples.of(q, v, a, exact.tau + 2.0 * rng.normal(size=q.shape), period=PERIOD, use=inside)


def test_the_simulated_loop_obeys_the_model(base, truth, exact):
    assert np.allclose(base.regressor(exact.q, exact.v, exact.a) @ truth, exact.tau, atol=1e-9)
    assert np.abs(exact.q - reference()[0]).max() < 0.1
    robot = base.model.robot
    assert np.allclose(exact.tau[5], LAW(robot, exact.q[5], exact.v[5], *(x[5] for x in reference())))


def test_it_is_the_simulation_of_the_robot_itself(base):
    made = tuple(x[:100] for x in reference())
    empty = Samples.of(*made, np.zeros_like(made[0]), period=PERIOD)
    ours = SimulatedLoop(base, empty, LAW, reference=[made], substeps=4).simulate(base.prior)[0]
    # with its own parameters computed torque follows exactly
    assert np.abs(ours.q - made[0]).max() < 1e-4


def test_least_squares_is_biased_and_instruments_are_not(base, truth, exact):
    rng = np.random.default_rng(5)
    fits = {"iv": [], "least": []}
    errors = []
    for _ in range(12):
        run = measured(exact, rng)
        rows = equations(base, run)
        fits["least"].append(WeightedLeastSquares().fit(rows.X, rows.y, joint=rows.joint).coef_)
        instruments = SimulatedInstruments(base, run, LAW, reference=[reference()], substeps=2)
        fit = InstrumentalVariables(instruments).fit(rows.X, rows.y, joint=rows.joint, names=rows.names)
        assert fit.converged_
        fits["iv"].append(fit.coef_)
        errors.append(fit.standard_errors_)
    inertia = [k for k, name in enumerate(base.names) if name.endswith("Izz")]
    bias = {name: (np.mean(values, axis=0) - truth)[inertia] / truth[inertia] for name, values in fits.items()}
    assert np.abs(bias["least"]).max() > 0.1
    assert np.abs(bias["iv"]).max() < 0.03
    spread, claimed = np.std(fits["iv"], axis=0), np.mean(errors, axis=0)
    assert np.all(spread < 2.0 * claimed)
    assert np.all(spread > 0.3 * claimed)


def test_filtered_and_thinned_rows_go_with_their_instruments(base, truth, exact):
    run = measured(exact, np.random.default_rng(6))
    run = Samples.of(run.q, run.v, run.a, run.tau, period=PERIOD, parallel=10.0, every=2, use=np.abs(run.v) > 0.1)
    rows = equations(base, run)
    instruments = SimulatedInstruments(base, run, LAW, reference=[reference()], substeps=2)
    fit = InstrumentalVariables(instruments).fit(rows.X, rows.y, joint=rows.joint)
    assert np.linalg.norm(fit.coef_ - truth) < 0.02 * np.linalg.norm(truth)


def test_without_a_reference_the_measured_motion_is_followed(base, truth, exact):
    rows = equations(base, exact)
    fit = InstrumentalVariables(SimulatedInstruments(base, exact, bandwidth=40.0)).fit(rows.X, rows.y, joint=rows.joint)
    assert np.allclose(fit.coef_, truth, rtol=1e-6, atol=1e-6)


def test_what_runs_away_says_so(base, exact):
    instruments = SimulatedInstruments(base, exact, LAW)
    with pytest.raises(DynamisError, match="diverges"):
        instruments(-base.prior)


def test_wrong_questions_are_refused(base, exact):
    rows = equations(base, exact)
    with pytest.raises(InputError, match="they must be equal"):
        InstrumentalVariables(rows.X[:10]).fit(rows.X, rows.y)
    with pytest.raises(InputError, match="start="):
        InstrumentalVariables(rows.X, start=[1.0]).fit(rows.X, rows.y)
    with pytest.raises(InputError, match="no sampling period"):
        SimulatedLoop(base, Samples.of(exact.q, exact.v, exact.a, exact.tau), LAW)
    with pytest.raises(InputError, match="reference"):
        SimulatedLoop(base, exact, LAW, reference=[(exact.q, exact.v)])
