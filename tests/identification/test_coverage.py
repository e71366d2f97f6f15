"""95 % intervals of the default estimator contain the truth in 92 to 97 % of the cases, for arms from 1 to 1000 kg."""

import functools

import numpy as np
import pytest
from scaling import scaled

import dynamis as dy
from dynamis.identification import LinearModel, Log, PhysicallyConsistent, Samples, base_parameters, equations
from dynamis.identification.validation.statistics import judge_fit

ARMS = {"planar_2r_melchiorri": 1.0, "puma560": 10.0, "ur5e": 60.0, "panda": 250.0, "kuka_iiwa14": 1000.0}  # total mass, kg


@functools.cache
def arm_of(name):
    """The believed arm with the given total mass, and its base parameters."""
    robot = dy.load(name)
    arm = scaled(robot, ARMS[name] / float(robot.mass))
    return arm, base_parameters(LinearModel(arm))


def recorded(name, seed, t):
    """The believed arm, the true one and q, v, a, τ of a log: friction that the file lacks, masses 15 % off, noise that is white
    or correlated over time. With the true values of friction."""
    arm, _ = arm_of(name)
    rng = np.random.default_rng(seed)
    real = dy.control.perturbed(arm, 0.15, seed=seed)
    order = np.arange(1, 4)[:, None, None]
    w = 0.2 * np.pi * order
    angle = w * t[:, None] + rng.uniform(0.0, 2.0 * np.pi, (3, 1, arm.n))
    size = rng.uniform(0.3, 1.0, (3, 1, arm.n)) / order
    q, v, a = (x.sum(axis=0) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    tau = real.inverse_dynamics(q, v, a)
    level = np.sqrt(np.mean(tau**2, axis=0)) + 0.05 * np.sqrt(np.mean(tau**2))
    viscous, coulomb = rng.uniform(0.05, 0.4, (2, arm.n)) * level
    tau += viscous * v + coulomb * np.sign(v)
    memory = rng.choice([0.0, 0.7])
    noise = rng.normal(size=tau.shape)
    for k in range(1, len(noise)):
        noise[k] = memory * noise[k - 1] + np.sqrt(1.0 - memory**2) * noise[k]
    tau += rng.uniform(0.01, 0.05) * level * noise
    return arm, real, (q, v, a, tau), (viscous, coulomb)


def inside(found, base, real, friction):
    """Whether each interval contains the truth."""
    truth = base.values(LinearModel(real, **base.model.settings).prior)
    for term, values in zip(("viscous", "coulomb"), friction, strict=True):
        for joint, value in zip(real.coordinate_names, values, strict=True):
            truth[base.names.index(f"{joint}.{term}")] += value
    there = np.isfinite(found.std)  # none at a bound
    return ((found.interval[:, 0] <= truth) & (truth <= found.interval[:, 1]))[there]


def of_the_estimator(name, seed):
    t = np.arange(600) / 40.0
    _, real, samples, friction = recorded(name, seed, t)
    base = arm_of(name)[1]
    rows = equations(base, Samples.of(*samples, t=t, period=1.0 / 40.0))
    fit = PhysicallyConsistent(base).fit(rows.X, rows.y, joint=rows.joint, names=rows.names, blocks=rows.blocks(0.75))
    return inside(judge_fit(rows, fit), base, real, friction)


def of_a_log(name, seed):
    """With positions and torques only, as a user has them."""
    t = np.arange(4000) / 200.0
    arm, real, (q, _, _, tau), friction = recorded(name, seed, t)
    found = dy.identify(arm, Log(t, q, tau), compare=())
    return inside(found.statistics, found.base, real, friction)


def coverage(hits, arms, logs):
    return float(np.mean(np.concatenate([hits(name, seed) for name in arms for seed in range(logs)])))


def test_intervals_contain_the_truth_as_often_as_they_say():
    assert 0.88 < coverage(of_the_estimator, ("planar_2r_melchiorri",), 20) < 0.99  # the standard error of 20 logs is 0.02


@pytest.mark.campaign
@pytest.mark.parametrize("hits", [of_the_estimator, of_a_log])
def test_coverage_over_two_hundred_logs_of_five_arms(hits):
    found = {name: coverage(hits, (name,), 40) for name in ARMS}
    assert 0.92 < np.mean(list(found.values())) < 0.97, found


def test_a_bound_that_noise_reaches_does_not_narrow_the_intervals_of_others():
    arm = dy.load("planar_2r_melchiorri").replace(friction={"joint2": {"rotor_inertia": 0.4, "gear_ratio": 1.0}})
    base = base_parameters(LinearModel(arm))
    t = np.arange(60) * 0.1
    q, v, a = (f(t[:, None] * [1.1, 1.7]) * s for f, s in ((np.sin, 1.0), (np.cos, [1.1, 1.7]), (np.sin, [-1.21, -2.89])))
    X = base.regressor(q, v, a).reshape(-1, base.rank)
    inertia, rng, errors, at_bound = base.names.index("link1.Izz"), np.random.default_rng(1), [], 0
    for _ in range(60):
        y = X @ base.prior + 20.0 * rng.normal(size=len(X))
        fit = PhysicallyConsistent(base, regularisation=1e-6).fit(X, y)
        at_bound += any("joint2.rotor" in words for words in fit.active_)
        errors.append((fit.coef_ - base.prior)[inertia] / fit.standard_errors_[inertia])
    assert 15 < at_bound < 45
    assert 0.75 < np.mean(np.square(errors)) ** 0.5 < 1.15
