"""Motions designed after logs: they excite what the logs leave uncertain, and the standard errors to expect are right."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification import LinearModel, Samples, base_parameters, design_excitation
from dynamis.identification.excitation.basis import Fourier
from dynamis.identification.excitation.criteria import CRITERIA, Information, Regressor
from dynamis.identification.excitation.log_information import LogInformation, standard_errors

ARM = dy.load("planar_2r_melchiorri")
BASE = base_parameters(LinearModel(ARM))
NOISE = np.array([8.0, 2.0])
QUICK = {"restarts": 2, "duration": 5.0, "harmonics": 3, "velocity": 2.0, "acceleration": 5.0, "criterion": "a-optimal"}


def log(still, share=0.02, seconds=20.0, seed=0):
    """A log at 100 Hz in which one joint moves with a share of the others' amplitude."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 0.01)[:, None]
    w = 2.0 * np.pi * np.array([0.1, 0.3, 0.5])[:, None, None]
    phase, size = rng.uniform(0.0, 6.0, (3, 1, 2)), rng.uniform(0.2, 0.5, (3, 1, 2))
    size[:, :, still] *= share
    x = w * t + phase
    q, v, a = (np.sum(y, axis=0) for y in (size * np.sin(x), size * w * np.cos(x), -size * w**2 * np.sin(x)))
    tau = ARM.inverse_dynamics(q, v, a) + NOISE * rng.normal(size=q.shape)
    return Samples.of(q, v, a, tau, period=0.01)


def errors_with(run, motion):
    """The standard errors of weighted least squares from the log and the motion sampled alike."""
    X = np.vstack([(BASE.regressor(*x) / NOISE[:, None]).reshape(-1, BASE.rank)
                   for x in ((run.q, run.v, run.a), motion.sample(100.0)[1:])])  # fmt: skip
    return np.sqrt(np.diag(np.linalg.inv(X.T @ X)))


@pytest.mark.parametrize("still", [0, 1])
def test_a_motion_after_a_log_excites_the_joint_that_hardly_moved_in_it(still):
    run = log(still)
    own = [k for k, name in enumerate(BASE.names) if name.split(".")[0] in (f"link{still + 1}", f"joint{still + 1}")]
    plain = design_excitation(BASE, noise=NOISE, **QUICK)
    following = design_excitation(BASE, noise=NOISE, after=run, **QUICK)
    unaware, aware = (np.log(errors_with(run, x)[own]).mean() for x in (plain, following))
    assert aware < unaware - 0.05  # 5 % smaller standard errors on the average
    assert plain.expected is None
    assert following.expected.names[following.expected.order[0]] in [BASE.names[k] for k in own]


def test_the_expected_errors_are_those_of_a_fit_to_both_logs():
    run = log(1)
    motion = design_excitation(BASE, after=run, **QUICK)
    np.testing.assert_allclose(motion.expected.after, errors_with(run, motion), rtol=0.1)
    assert (motion.expected.after < motion.expected.before).all()
    q, v, a = motion.sample(100.0)[1:]
    tau = ARM.inverse_dynamics(q, v, a) + NOISE * np.random.default_rng(7).normal(size=q.shape)
    later = Samples.of(q, v, a, tau, period=0.01)
    for runs, expected in ((run, motion.expected.before), ([run, later], motion.expected.after)):
        found = dy.identify(BASE.model, runs, estimator="weighted", compare=())
        np.testing.assert_allclose(found.estimator.standard_errors_, expected, rtol=0.15)
    name, before, after, unit = motion.expected.rows[0]
    assert f"least certain so far: {name}" in str(motion.expected)
    assert f"{before:.3g} to {after:.3g} {unit}" in motion._repr_html_()


def test_identifications_samples_and_lists_of_them_are_the_same_information():
    runs = [log(1), log(0, seed=1)]
    found = dy.identify(BASE.model, runs, estimator="weighted", compare=())
    one, two, three = (LogInformation(BASE, x).matrix(NOISE) for x in (found, runs, [found]))
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)


def test_a_joint_that_never_moved_leaves_its_parameters_undetermined():
    run = log(1, share=0.0)
    info = LogInformation(BASE, run)
    errors = standard_errors(info.matrix(info.noise()), np.ones(BASE.rank))
    assert np.isinf(errors[BASE.names.index("joint2.viscous")])
    motion = design_excitation(BASE, after=run, **QUICK)
    assert np.isinf(motion.expected.rows[0][1])
    assert np.isfinite(motion.expected.after).all()


def test_the_criterion_after_logs_is_the_mean_variance_unless_given():
    options = {**QUICK, "criterion": None, "seconds": 0.2}
    assert design_excitation(BASE, **options).criterion == "condition"
    assert design_excitation(BASE, after=log(0), **options).criterion == "a-optimal"


@pytest.mark.parametrize("criterion", CRITERIA)
def test_gradients_hold_with_the_information_of_logs(criterion):
    rng = np.random.default_rng(3)
    basis = Fourier(4.0, 2)
    information = Information(Regressor(BASE, NOISE), basis, criterion, 60)
    information.known = LogInformation(BASE, log(0)).matrix(NOISE) / 500.0
    q0, c, way = rng.normal(size=2), 0.3 * rng.normal(size=(basis.size, 2)), rng.normal(size=(basis.size, 2))
    _, slope = information.value_and_gradient(q0, c, 30.0)
    high, low = (information.value_and_gradient(q0, c + h * way, 30.0)[0] for h in (1e-5, -1e-5))
    assert np.sum(slope * way) == pytest.approx((high - low) / 2e-5, rel=1e-4)


def test_what_is_no_log_is_refused():
    with pytest.raises(InputError, match="takes an Identification, Samples, or a list of these, got str"):
        design_excitation(BASE, after="run.csv")
    run = log(0)
    for useless in ([], Samples.of(run.q, run.v, run.a, run.tau)):
        with pytest.raises(InputError, match="sampling period"):
            design_excitation(BASE, after=useless)
