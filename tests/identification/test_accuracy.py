"""What identification is for: exact where logs are, honest about noise, real bodies always, no worse than what was believed."""

import numpy as np
import pytest
from campaign_params import few_of, seeds
from judged_fits import rows_of

import dynamis as dy
from dynamis.control import perturbed
from dynamis.identification import (
    LeastSquares,
    LinearModel,
    PhysicallyConsistent,
    Samples,
    WeightedLeastSquares,
    base_parameters,
    equations,
)
from dynamis.identification.identify import near_the_prior
from dynamis.identification.validation.statistics import statistics

VALUES = {
    "cartesian_2p": {"g": 9.81, "m_1": 3.0, "m_2": 2.0},
    "motor_with_load": {"g": 9.81, "I": 0.9, "I_m": 0.2, "m": 3.0, "l": 0.5},
    "pendulum_from_horizontal": {"g": 9.81, "I": 0.9, "m": 3.0, "l": 0.5},
    "pendulum_from_vertical": {"g": 9.81, "I": 0.9, "m": 3.0, "L": 0.5, "d": 0.3},
    "planar_2r": {"g": 9.81, "a_1": 1.0, "a_2": 0.8, "l_1": 0.4, "l_2": 0.5, "m_1": 3.0, "m_2": 2.0, "I_1": 0.3, "I_2": 0.1},
    "planar_3r": {"g": 9.81, "a_1": 1.0, "a_2": 0.8, "a_3": 0.5, "l_1": 0.4, "l_2": 0.5, "l_3": 0.2, "m_1": 3.0, "m_2": 2.0,
                  "m_3": 1.0, "I_1": 0.3, "I_2": 0.1, "I_3": 0.02},
    "planar_prp": {"g": 9.81, "m_1": 3.0, "m_2": 2.0, "m_3": 1.0, "I_2": 0.2, "I_3": 0.1, "d_c2": 0.2, "d_c3": 0.3},
    "rod_and_disc": {"l": 1.0, "m_s": 2.0, "m_D": 3.0, "I_x": 0.02, "I_y": 0.035, "I_z": 0.02, "I_Ox": 0.7, "I_Oy": 0.01,
                     "I_Oz": 0.7},
}  # fmt: skip
NUMERIC = ("baxter", "g1", "go2", "kuka_iiwa14", "nine_body_tree", "panda", "planar_2r_melchiorri", "puma560", "scara",
           "stanford", "ur5e", "xarm7")  # fmt: skip
LIBRARY = (*NUMERIC, *VALUES)
UNITS_OF_KIND = {"mx": "first moment", "my": "first moment", "mz": "first moment"}


def fourier(robot, rng, seconds, rate, size, lowest, harmonics=3):
    """t, q, v, a of a motion of a few harmonics, whose derivatives are exact."""
    t = np.arange(round(seconds * rate)) / rate
    order = np.arange(1, harmonics + 1)[:, None, None]
    w = 2.0 * np.pi * lowest * order
    phase, amplitude = (
        rng.uniform(0, 2 * np.pi, (harmonics, 1, robot.n)),
        size * rng.uniform(0.3, 1.0, (harmonics, 1, robot.n)) / order,
    )
    angle = w * t[:, None] + phase
    q = rng.uniform(-0.5, 0.5, robot.n) + np.sum(amplitude * np.sin(angle), axis=0)
    return t, q, np.sum(amplitude * w * np.cos(angle), axis=0), np.sum(-amplitude * w**2 * np.sin(angle), axis=0)


def kinds(base):
    """What each base parameter is: a mass, a first moment, an inertia, a kind of friction."""
    names = [base.model.kind[k] for k in base.independent]
    return np.array([UNITS_OF_KIND.get(name, "inertia" if name.startswith("I") else name) for name in names])


@pytest.mark.parametrize("name", few_of(LIBRARY, set(LIBRARY) - {"g1", "baxter"}))  # of 29 and 15 joints: long to compile
def test_logs_without_noise_give_the_base_parameters_to_nine_digits(name):
    """States at random, or along a motion of five harmonics with exact derivatives; rows, or evidence, alternately. What is
    believed before is another robot."""
    number = LIBRARY.index(name)
    truth = dy.load(name, parameters=VALUES.get(name))
    base = base_parameters(LinearModel(perturbed(truth, 0.3, seed=number)))
    rng = np.random.default_rng(number)
    count = max(60, 5 * base.rank // truth.n)
    if number % 2 or truth.nq != truth.n:
        q, (v, a) = truth.random(rng, size=count), 2.0 * rng.normal(size=(2, count, truth.n))
    else:
        _, q, v, a = fourier(truth, rng, 10.0, count / 10.0, 1.0, 0.1, harmonics=5)
    run = Samples.of(q, v, a, truth.inverse_dynamics(q, v, a))
    fit = LeastSquares()
    e = equations(base, run)
    if number // 2 % 2:
        fit.fit_factors(e.whole, e.names)
    else:
        fit.fit(e.X, e.y, joint=e.joint, names=e.names)
    expected = base.values(LinearModel(truth, friction=base.model.friction).prior)
    which = kinds(base)
    for kind in set(which):
        off, size = np.abs(fit.coef_ - expected)[which == kind], np.abs(expected[which == kind]).max()
        # a kind that this robot has nothing of has no size of its own
        assert off.max() <= 1e-9 * (size if size > 0.0 else np.abs(expected).max()), kind
    q, (v, a) = truth.random(rng, size=50), rng.normal(size=(2, 50, truth.n))
    tau = truth.inverse_dynamics(q, v, a)
    assert np.abs(base.regressor(q, v, a) @ fit.coef_ - tau).max() < 1e-9 * np.abs(tau).max()


def noisy_rows(name="ur5e", seed=3, count=100):
    """Exact rows of a robot at random states, and each joint's noise: those of the wrist are quieter."""
    robot = dy.load(name)
    base = base_parameters(LinearModel(robot))
    rng = np.random.default_rng(seed)
    q, (v, a) = robot.random(rng, size=count), 2.0 * rng.normal(size=(2, count, robot.n))
    rows = equations(base, Samples.of(q, v, a, robot.inverse_dynamics(q, v, a)))
    return base, rows, np.linspace(3.0, 0.2, robot.n)


def check_coverage(fits, estimator):
    """How often the 95 % interval of each base parameter contains it, of the standard errors and as judged."""
    base, rows, noise = noisy_rows()
    hits = np.zeros((2, base.rank))
    for seed in range(fits):
        y = rows.y + noise[rows.joint] * np.random.default_rng([9, seed]).normal(size=len(rows))
        fit = estimator.fit(rows.X, y, joint=rows.joint, names=rows.names)
        s = statistics(rows_of(rows.X, y, rows.joint), fit.coef_, fit.covariance_, autocorrelated=False)
        hits[0] += np.abs(fit.coef_ - base.prior) <= 1.96 * fit.standard_errors_
        hits[1] += (s.interval[:, 0] <= base.prior) & (base.prior <= s.interval[:, 1])
    for share in hits / fits:
        assert 0.93 <= share.mean() <= 0.97
        assert np.abs(share - 0.95).max() < 4.5 * np.sqrt(0.95 * 0.05 / fits)  # of every parameter by itself, within chance


ESTIMATORS = [LeastSquares(), WeightedLeastSquares()]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_intervals_of_a_hundred_noisy_fits_contain_the_truth(estimator):
    check_coverage(100, estimator)


@pytest.mark.campaign
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_intervals_of_a_thousand_noisy_fits_contain_the_truth(estimator):
    check_coverage(1000, estimator)


def check_that_it_can_exist(model, full):
    """From the ten numbers of each link alone."""
    for name, place in model.bodies:
        m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz = full[place]
        h, I = np.array([mx, my, mz]), np.array([[Ixx, Ixy, Ixz], [Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]])
        J = np.zeros((4, 4))
        J[:3, :3], J[:3, 3], J[3, :3], J[3, 3] = 0.5 * np.trace(I) * np.eye(3) - I, h, h, m
        assert m > 0.0, name
        assert np.linalg.eigvalsh(J).min() >= -1e-12, name
        about_com = I - (h @ h * np.eye(3) - np.outer(h, h)) / m
        small, middle, large = np.linalg.eigvalsh(about_com)
        assert small >= -1e-12, name
        assert large <= small + middle + 1e-12, name
    for kind, value in zip(model.kind, full, strict=True):
        assert kind not in ("viscous", "coulomb", "rotor", "inertia") or value >= 0.0


def weak_and_noisy(number):
    """A fit that plain least squares makes nonsense of: some short, some slow, some of an arm far from what is believed."""
    name = ("planar_2r_melchiorri", "scara", "ur5e", "puma560", "panda")[number % 5]
    rng = np.random.default_rng([4, number])
    truth = dy.load(name)
    base = base_parameters(LinearModel(perturbed(truth, float(rng.uniform(0.0, 0.8)), seed=number)))
    amplitude, lowest = 10.0 ** rng.uniform(-2.0, 0.0), 10.0 ** rng.uniform(-1.5, 0.0)
    t, q, v, a = fourier(truth, rng, float(rng.uniform(1.0, 5.0)), 60.0, amplitude, lowest)
    tau = truth.inverse_dynamics(q, v, a)
    tau = tau + 10.0 ** rng.uniform(-3.0, 0.0) * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    return base, equations(base, Samples.of(q, v, a, tau, t=t, period=1.0 / 60.0))


def check_bodies(numbers):
    negative = 0
    for number in numbers:
        base, e = weak_and_noisy(number)
        fit = PhysicallyConsistent(base).fit(e.X, e.y, joint=e.joint, names=e.names)
        assert fit.consistent_
        assert np.allclose(base.values(fit.full_), fit.coef_, rtol=1e-9, atol=1e-9 * np.abs(fit.coef_).max())
        check_that_it_can_exist(base.model, fit.full_)
        plain = np.linalg.lstsq(e.X, e.y)[0]
        friction = np.isin(kinds(base), ["viscous", "coulomb"])
        negative += bool((plain[friction] < 0.0).any())
    assert negative > len(numbers) // 2  # plain least squares does not see to it


def test_every_consistent_fit_of_weak_and_noisy_logs_can_exist():
    check_bodies(range(12))


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_a_thousand_consistent_fits_can_exist(first):
    check_bodies(range(first, first + 100))


def believed(truth, seed):
    """The robot as somebody believes it to be: every number of a link off by 10 to 20 %, up or down."""
    from dynamis.model.description import MassProperties

    rng = np.random.default_rng([5, seed])

    def off(size=None):
        return 1.0 + rng.choice([-1.0, 1.0], size) * rng.uniform(0.1, 0.2, size)

    d = truth.description
    for link in d.links:
        m = link.mass_properties
        if m is not None:
            link.mass_properties = MassProperties(m.mass * off(), m.com * off(3), m.tensor * off(), m.line)
    return dy.Robot(d)


def weak_log_and_rich_log(truth, seed, noise=1.0):
    """Some seconds of small and slow motion, with noise; and another, rich motion without."""
    rng = np.random.default_rng([6, seed])
    t, q, v, a = fourier(truth, rng, 5.0, 100.0, 0.3, 0.2)
    weak = Samples.of(q, v, a, truth.inverse_dynamics(q, v, a) + noise * rng.normal(size=q.shape), t=t, period=0.01)
    t, q, v, a = fourier(truth, rng, 10.0, 50.0, 0.8, 0.25)
    return weak, Samples.of(q, v, a, truth.inverse_dynamics(q, v, a), t=t, period=0.02)


def unexplained(rows, coef):
    return 100.0 * np.linalg.norm(rows.y - rows.X @ coef) / np.linalg.norm(rows.y)


def beaten(seeds, noise=1.0):
    """(seeds, 5): what the prior, plain, ridge and consistent estimates leave of a rich motion, in percent; the last with a
    prior trusted to 10 %."""
    truth, found = dy.load("kuka_iiwa14"), []
    for seed in seeds:
        base = base_parameters(LinearModel(believed(truth, seed)))
        weak, rich = (equations(base, run) for run in weak_log_and_rich_log(truth, seed, noise))
        row = [unexplained(rich, base.prior)]
        for estimator in (
            LeastSquares(), near_the_prior(base), PhysicallyConsistent(base), PhysicallyConsistent(base, regularisation=100.0)
        ):  # fmt: skip
            row.append(unexplained(rich, estimator.fit(weak.X, weak.y, joint=weak.joint, names=weak.names).coef_))
        found.append(row)
    return np.array(found)


def check_beaten(found):
    prior, plain, ridge, consistent, trusting = found.T
    assert (ridge < prior).mean() >= 0.9
    assert (ridge < plain).all()
    assert (consistent < plain).all()
    assert (consistent < prior).mean() >= 0.8
    assert (trusting < prior).all()
    assert np.median(ridge / prior) < 0.6
    assert np.median(consistent / prior) < 0.6


def test_a_weak_log_misleads_plain_least_squares_and_no_estimator_with_a_prior():
    found = beaten(range(6))
    assert (found[:, 1] > found[:, 0]).all()  # otherwise the logs were not weak
    check_beaten(found)


@pytest.mark.campaign
def test_a_hundred_weak_logs_mislead_plain_least_squares_only():
    found = beaten(range(100))
    assert (found[:, 1] > found[:, 0]).mean() >= 0.8  # of so many some happen to be better than what was believed
    check_beaten(found)


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_the_verdict_warns_where_plain_least_squares_is_worse_than_the_model_before(seed):
    truth = dy.load("kuka_iiwa14")
    weak, rich = weak_log_and_rich_log(truth, seed)
    prior = believed(truth, seed)
    plain = dy.identify(prior, weak, validate=rich, estimator="ordinary", compare=("ridge", "consistent"))
    assert plain.validated
    assert plain.verdict.grade == "not usable"
    assert any("worse than the prior model" in sentence and "Do not use it" in sentence for sentence in plain.verdict.sentences)
    left = {name: v.held_out for name, v in plain.comparison.items()}
    assert max(left["ridge"], left["consistent"]) < plain.validation.prior < left["ordinary"]
    better = dy.identify(prior, weak, validate=rich, estimator="consistent", compare=())
    assert not any("worse than the prior model" in sentence for sentence in better.verdict.sentences)
