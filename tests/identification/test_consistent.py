"""Fits that always give a robot that can exist: both metrics, bad priors, poor data, bounds."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.estimators import consistent_bodies, entropic, regularised
from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.factors import FoldFactors, joint_noise, whitened
from dynamis.identification.estimators.regularised import PhysicallyConsistent
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.pseudo_inertia import packed
from dynamis.spatial import Inertia


def penalty(space, x, metric):
    """The squared distance from the prior, independent of the solver."""
    off = x - space.wish
    if metric == "euclidean":
        return off @ off
    values = np.linalg.eigvalsh(space.matrices(x))
    if values.min() <= 0.0:
        return np.inf
    return 2.0 * (values - np.log(values) - 1.0).sum() + (off[space.others] ** 2).sum()


@functools.cache
def base_of(name):
    return base_parameters(LinearModel(dy.load(name)))


def rows(base, count, noise, seed, motion=1.0):
    """(X, y, joint) at random states; the torques are those of the robot."""
    rng, robot = np.random.default_rng(seed), base.model.robot
    q, v, a = rng.normal(size=(3, count, robot.n)) * np.array([1.0, motion, motion])[:, None, None]
    X = base.regressor(q, v, a).reshape(-1, base.rank)
    joint = np.tile(np.arange(robot.n), count)
    return X, X @ base.prior + noise * rng.normal(size=len(X)), joint


def wrong_prior(base, seed, spread=0.3):
    """Every number wrong by itself: most such links could not exist."""
    return base.model.prior * (1.0 + spread * np.random.default_rng(seed).normal(size=len(base.model.names)))


def objective(fit, X, y, joint):
    """χ² + λ d, from the result alone."""
    weight = 1.0 / weights(X, y, joint)[joint]
    space = BodySpace(fit.base.model, fit.prior, sizes=fit.sizes_)
    free = np.linalg.lstsq(weight[:, None] * X, weight * y, rcond=None)[0]
    excess = np.sum((weight[:, None] * X @ (fit.coef_ - free)) ** 2)
    return excess + fit.regularisation_ * penalty(space, space.coordinates(fit.full_), fit.metric)


def weights(X, y, joint):
    factors = FoldFactors.of(X, y, joint, np.zeros(len(y), int), joint.max() + 1, 1).R[0]
    return joint_noise(factors, np.bincount(joint), least=1e-7, tolerance=1e-3)


def is_robot(base, pi):
    """Independent of the code under test: `Inertia` of every link, signs of friction."""
    links = all(Inertia.from_parameters(pi[place]).is_consistent(1e-12) for _, place in base.model.bodies)
    kinds = [k for k, kind in enumerate(base.model.kind) if kind in ("viscous", "coulomb", "rotor")]
    return links and bool((pi[kinds] >= 0.0).all())


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "ur5e"])
def test_rich_data_without_noise_give_the_truth(name):
    base = base_of(name)
    X, y, joint = rows(base, 200, 0.0, 1)
    fit = PhysicallyConsistent(base, prior=wrong_prior(base, 2, 0.1)).fit(X, y, joint=joint)
    np.testing.assert_allclose(fit.coef_, base.prior, atol=1e-6 * np.abs(base.prior).max())
    assert np.linalg.norm(fit.predict(X) - y) < 1e-6 * np.linalg.norm(y)
    assert fit.consistent_


@pytest.mark.parametrize("metric", ["entropic", "euclidean"])
def test_noisy_fits_never_leave_the_cone(metric):
    base = base_of("planar_2r_melchiorri")
    rng = np.random.default_rng(3)
    for trial in range(120):
        noise, count = 10.0 ** rng.uniform(-3, 2), int(rng.integers(8, 60))
        X, y, joint = rows(base, count, noise, 1000 + trial, motion=10.0 ** rng.uniform(-3, 1))
        fit = PhysicallyConsistent(base, prior=wrong_prior(base, trial, 1.0), metric=metric).fit(X, y, joint=joint)
        assert fit.consistent_
        assert is_robot(base, fit.full_)
        np.testing.assert_allclose(base.values(fit.full_), fit.coef_)


@pytest.mark.parametrize("metric", ["entropic", "euclidean"])
def test_an_arm_of_six_joints_never_leaves_the_cone(metric):
    base = base_of("ur5e")
    for trial in range(10):
        X, y, joint = rows(base, 12, 10.0 ** (trial % 5 - 2), trial, motion=0.1)
        fit = PhysicallyConsistent(base, prior=wrong_prior(base, trial, 0.5), metric=metric).fit(X, y, joint=joint)
        assert fit.consistent_
        assert is_robot(base, fit.full_)


def test_a_good_prior_is_kept_where_the_log_says_nothing():
    base = base_of("ur5e")
    X, y, joint = rows(base, 60, 1e-3, 9)
    fit = PhysicallyConsistent(base).fit(X, y, joint=joint)
    # every link is there with its mass although only sums of masses show in torques
    masses = [fit.full_[place][0] for _, place in base.model.bodies]
    np.testing.assert_allclose(masses, [base.model.prior[place][0] for _, place in base.model.bodies], rtol=0.05)


def test_bounds_of_masses_centres_and_friction_hold():
    base = base_of("ur5e")
    X, y, joint = rows(base, 60, 1.0, 10)
    fit = PhysicallyConsistent(
        base,
        masses={"forearm_link": (1.0, 2.0)},
        com={"wrist_1_link": ([-0.01] * 3, [0.01, 0.05, 0.02])},
        bounds={"elbow_joint.viscous": (0.3, 0.4)},
        total_mass=16.0,
    ).fit(X, y, joint=joint)
    bodies = {name: fit.full_[place] for name, place in base.model.bodies}
    assert 1.0 - 1e-6 <= bodies["forearm_link"][0] <= 2.0 + 1e-6
    centre = bodies["wrist_1_link"][1:4] / bodies["wrist_1_link"][0]
    assert (centre >= -0.01 - 1e-6).all()
    assert (centre <= np.array([0.01, 0.05, 0.02]) + 1e-6).all()
    assert 0.3 <= fit.full_[base.model.index("elbow_joint.viscous")] <= 0.4
    assert sum(pi[0] for pi in bodies.values()) == pytest.approx(16.0, rel=1e-6)
    assert fit.consistent_
    assert "the total mass is fixed" in fit.active_
    assert "the centre of mass of 'wrist_1_link' along z is at its upper bound" in fit.active_


def test_bounds_that_contradict_each_other_are_said():
    base = base_of("planar_2r_melchiorri")
    X, y, joint = rows(base, 20, 0.1, 11)
    bad = PhysicallyConsistent(base, masses={name: (0.1, 0.2) for name, _ in base.model.bodies}, total_mass=50.0)
    with pytest.raises(InputError, match="no physically consistent parameters satisfy the bounds: relax"):
        bad.fit(X, y, joint=joint)


def test_what_binds_is_said_in_words():
    base = base_of("planar_2r_melchiorri")
    X, y, joint = rows(base, 100, 0.01, 12)
    k = base.names.index("joint2.viscous")
    fit = PhysicallyConsistent(base, metric="euclidean").fit(X, y - 3.0 * X[:, k], joint=joint)
    assert "joint2.viscous is at its lower bound" in fit.active_
    assert fit.full_[base.model.index("joint2.viscous")] == 0.0
    bounds = np.array([bool(word) for word in fit.at_bound_])
    assert fit.at_bound_[k] == "lower bound"
    assert np.isnan(fit.standard_errors_[bounds]).all()  # a bound is no evidence of certainty
    assert (fit.standard_errors_[~bounds] > 0.0).all()
    assert (fit.covariance_[bounds] == 0.0).all()
    capped = PhysicallyConsistent(base, bounds={"joint1.viscous": (0.0, 0.1), "joint2.viscous": (0.2, 0.2)})
    capped.fit(X, y + 3.0 * X[:, base.names.index("joint1.viscous")], joint=joint)
    assert [capped.at_bound_[base.names.index(f"joint{n}.viscous")] for n in (1, 2)] == ["upper bound", "fixed"]


def test_the_covariance_is_that_of_repeated_fits():
    base = base_of("planar_2r_melchiorri")
    fits = [PhysicallyConsistent(base).fit(X, y, joint=joint) for X, y, joint in (rows(base, 60, 0.5, s) for s in range(100))]
    free = np.array([fit.coef_ for fit in fits]).std(axis=0)
    told = np.mean([np.sqrt(np.diag(fit.covariance_)) for fit in fits], axis=0)
    seen = ~np.isin(base.model.kind, ("viscous", "coulomb", "rotor"))[base.independent]  # those are zero here, at their bound
    assert (told[seen] < 2.0 * free[seen]).all()
    assert (told[seen] > 0.5 * free[seen]).all()


def test_links_that_carry_rotors_are_bodies_without_them_too():
    robot = dy.load("puma560").replace(rotors="riding")
    base = base_parameters(LinearModel(robot, rotor=False))
    X, y, joint = rows(base, 40, 5.0, 16)
    fit = PhysicallyConsistent(base, prior=wrong_prior(base, 17, 0.2)).fit(X, y, joint=joint)
    assert fit.consistent_
    space = BodySpace(base.model)
    own = np.linalg.solve(space.spun, fit.full_)
    assert not np.allclose(own, fit.full_)
    assert is_robot(base, own)


@pytest.mark.filterwarnings("ignore:.*nothing with mass")
def test_a_robot_without_masses_gets_some():
    description = dy.load("planar_2r_melchiorri").description
    for link in description.links:
        link.mass_properties = None
    empty = base_parameters(LinearModel(dy.Robot(description)))
    X, y, joint = rows(base_of("planar_2r_melchiorri"), 80, 0.01, 18)
    fit = PhysicallyConsistent(empty).fit(X, y, joint=joint)
    assert fit.consistent_
    assert fit.score(X, y) > 0.9999


def test_wrong_settings_are_said():
    base = base_of("planar_2r_melchiorri")
    X, y, joint = rows(base, 20, 0.1, 19)
    link = base.model.bodies[0][0]
    for settings, words in [
        ({"metric": "manhattan"}, "metric='manhattan'"),
        ({"regularisation": "much"}, "regularisation='much'"),
        ({"regularisation": 0.0}, "above zero"),
        ({"prior": [1.0]}, "finite numbers"),
        ({"masses": {"arm": (0, 1)}}, "moving link"),
        ({"masses": {link: (2, 1)}}, "lower, upper"),
        ({"com": {link: (0, 1)}}, "three numbers each"),
        ({"bounds": {f"{link}.m": (0, 1)}}, "bounded by masses="),
        ({"total_mass": -1.0}, "above zero"),
    ]:
        with pytest.raises((InputError, dy.errors.NameLookupError), match=words):
            PhysicallyConsistent(base, **settings).fit(X, y, joint=joint)
    with pytest.raises(InputError, match="columns; the base has"):
        PhysicallyConsistent(base).fit(X[:, 1:], y, joint=joint)


def test_priors_may_be_given_by_name():
    base = base_of("planar_2r_melchiorri")
    X, y, joint = rows(base, 20, 0.1, 20)
    name = f"{base.model.bodies[0][0]}.m"
    fit = PhysicallyConsistent(base, prior={name: 3.0}).fit(X, y, joint=joint)
    assert BodySpace(base.model, {name: 3.0}).prior[base.model.index(name)] == 3.0
    assert fit.get_params()["prior"] == {name: 3.0}


def test_the_weight_of_the_prior_is_raised_until_the_solver_succeeds(monkeypatch):
    base = base_of("planar_2r_melchiorri")
    X, y, joint = rows(base, 20, 0.1, 20)
    usual = PhysicallyConsistent(base).fit(X, y, joint=joint).regularisation_
    tried, original = [], regularised.fit_bodies

    def fails_twice(space, G, g, weight, metric):
        tried.append(weight)
        return replace(original(space, G, g, weight, metric), solved=len(tried) > 2)

    with monkeypatch.context() as patch:
        patch.setattr(regularised, "fit_bodies", fails_twice)
        assert PhysicallyConsistent(base).fit(X, y, joint=joint).regularisation_ == pytest.approx(1e4 * usual)
    assert tried == pytest.approx([usual, 1e2 * usual, 1e4 * usual])
    monkeypatch.setattr(regularised, "fit_bodies", lambda *arguments: replace(original(*arguments), solved=False))
    for regularisation in ("auto", 1.0):
        with pytest.raises(InputError, match="fit failed"):
            PhysicallyConsistent(base, regularisation=regularisation).fit(X, y, joint=joint)


def log_cholesky_minimum(space, G, g, weight):
    """The least |G x − g|² + weight · entropic distance by an independent way: every link as J = L U Uᵀ Lᵀ with a triangular U
    whose diagonal is e^θ, and friction as e^φ, in which nothing constrains a general-purpose minimizer [Rucker & Wensing 2022].
    """
    upper = np.triu_indices(4)
    scalars = [k for k in space.others if space.lower[k] == 0.0]
    size = np.diagonal(space.C)

    def coordinates(theta):
        x = np.zeros(len(space.origin))
        for i, link in enumerate(space.links):
            U = np.zeros((4, 4))
            U[upper] = theta[10 * i : 10 * i + 10]
            U[np.diag_indices(4)] = np.exp(np.diagonal(U))
            x[link.place] = packed(U @ U.T - np.eye(4))
        x[scalars] = (np.exp(theta[10 * len(space.links) :]) - space.origin[scalars]) / size[scalars]
        return x

    def cost(theta):
        x = coordinates(theta)
        value = np.sum((G @ x - g) ** 2) + weight * penalty(space, x, "entropic")
        return value if np.isfinite(value) else 1e100  # a step so long that U Uᵀ is singular to rounding

    start = np.concatenate([np.zeros(10 * len(space.links)), np.log(0.1 * size[scalars])])
    found = minimize(cost, start, method="BFGS", jac="3-point", options={"maxiter": 2000, "gtol": 1e-6})
    return found.fun, coordinates(found.x)


def test_the_minimum_is_that_of_unconstrained_coordinates():
    base = base_of("planar_2r_melchiorri")
    X, y, joint = rows(base, 60, 2.0, 4)
    fit = PhysicallyConsistent(base, prior=wrong_prior(base, 5), regularisation=1.0).fit(X, y, joint=joint)
    space = BodySpace(base.model, fit.prior, sizes=fit.sizes_)
    factors = FoldFactors.of(X, y, joint, np.zeros(len(y), int), 2, 1).R[0]
    R = whitened(factors, weights(X, y, joint))
    T = R[:, :-1] @ base.B @ space.spun
    least, x = log_cholesky_minimum(space, T @ space.C, R[:, -1] - T @ space.origin, 1.0)
    own = space.coordinates(fit.full_)
    ours = np.sum((T @ (space.origin + space.C @ own) - R[:, -1]) ** 2) + penalty(space, own, "entropic")
    assert ours <= least * (1.0 + 1e-6)
    assert ours == pytest.approx(least, rel=1e-3)
    np.testing.assert_allclose(X @ base.values(space.parameters(x)), fit.predict(X), atol=1e-2 * np.abs(y).max())


def test_held_out_blocks_trust_a_true_prior_and_not_a_false_one():
    base = base_of("planar_2r_melchiorri")
    X, y, joint = rows(base, 60, 20.0, 13, motion=0.3)
    blocks = np.repeat(np.arange(6), len(y) // 6)
    good = PhysicallyConsistent(base).fit(X, y, joint=joint, blocks=blocks)
    false = np.where(base.model.is_inertial, 8.0, 1.0) * base.model.prior
    bad = PhysicallyConsistent(base, prior=false).fit(X, y, joint=joint, blocks=blocks)
    assert good.regularisation_ > bad.regularisation_
    with pytest.raises(InputError, match="one label for each"):
        PhysicallyConsistent(base).fit(X, y, joint=joint, blocks=np.zeros(len(y), int))


def test_inertias_that_a_log_does_not_tell_from_zero_are_not_taken_for_exact():
    space = BodySpace(base_of("planar_2r_melchiorri").model)
    x, place = space.wish.copy(), space.links[0].place
    at_prior = space.curvature(x, "entropic")[place, place]
    for change, times in ((-1.0 - 1e-12, 1.0), (-0.9, 1.0), (3.0, 0.25)):
        x[place] = packed(np.diag([change, 0.0, 0.0, 0.0]))
        K = space.curvature(x, "entropic")[place, place]
        assert K[0, 0] == pytest.approx(times * at_prior[0, 0])
        assert times < 1.0 or np.allclose(K, at_prior, rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_newton_steps_and_the_convex_solver_find_the_same_minimum(seed, monkeypatch):
    base = base_of("ur5e")
    X, y, joint = rows(base, 30, 2.0, seed)
    y[joint == 2] -= 5.0 * np.sign(X[joint == 2][:, base.names.index("elbow_joint.coulomb")])  # a bound of friction is active
    fits = []
    for used in (consistent_bodies.minimum, lambda *_: None):
        monkeypatch.setattr(consistent_bodies, "minimum", used)
        fits.append(PhysicallyConsistent(base, prior=wrong_prior(base, seed)).fit(X, y, joint=joint))
    newton, convex = fits
    assert newton.active_ == convex.active_ != ()
    assert np.abs(newton.coef_ - convex.coef_).max() < 1e-6 * np.abs(convex.coef_).max()
    assert objective(newton, X, y, joint) <= objective(convex, X, y, joint) * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_flat_links_of_torques_that_no_robot_has_are_found_as_by_the_convex_solver(seed, monkeypatch):
    base = base_of("ur5e")
    X, y, joint = rows(base, 60, 0.5, seed, motion=1.0)
    y[joint == 2] *= -0.5
    fits, interior = [], entropic.interior_point
    used = []
    monkeypatch.setattr(entropic, "interior_point", lambda cost: used.append(interior(cost)) or used[-1])
    for minimum in (consistent_bodies.minimum, lambda *_: None):
        monkeypatch.setattr(consistent_bodies, "minimum", minimum)
        fits.append(PhysicallyConsistent(base, regularisation=1e-3).fit(X, y, joint=joint))
    ours, convex = fits
    assert used[0] is not None
    assert objective(ours, X, y, joint) <= objective(convex, X, y, joint) * (1.0 + 1e-9)
    assert np.abs(ours.coef_ - convex.coef_).max() < 1e-5 * np.abs(convex.coef_).max()


def test_newton_steps_leave_bounds_of_links_to_the_convex_solver():
    base = base_of("ur5e")
    box = {base.model.bodies[0].name: ([-1.0] * 3, [1.0] * 3)}
    for bounds, newton in (({}, True), ({"total_mass": 20.0}, False), ({"boxes": box}, False), ({"com": box}, False)):
        space = BodySpace(base.model, **bounds)
        found = entropic.minimum(space, np.eye(len(space.origin)), np.zeros(len(space.origin)), 1.0)
        assert (found is not None) == newton


@pytest.mark.parametrize(
    "terms", [{"friction": ("viscous", "coulomb", "coulomb_bias")}, {"offset": True}], ids=["bias", "offset"]
)
def test_a_massless_link_of_the_file_takes_no_weight_from_terms_that_the_log_cannot_tell_from_it(terms):
    """The quill of a SCARA lifts a wrist without mass: its weight, rotor and a constant force are two numbers in a log."""
    robot = dy.load("scara")
    base = base_parameters(LinearModel(robot, **terms))
    rng = np.random.default_rng(0)
    X = base.regressor(*rng.normal(size=(3, 300, 4))).reshape(1200, -1)
    fit = PhysicallyConsistent(base).fit(X, X @ base.prior + rng.normal(scale=0.05, size=1200))
    constant = next(name for name in base.model.names if name in ("joint3.coulomb_bias", "joint3.offset"))
    assert abs(fit.full_[base.model.index(constant)]) < 0.2
    masses = [fit.full_[base.model.index(f"{link}.m")] for link in ("quill", "wrist")]
    assert sum(masses) == pytest.approx(10.0, abs=0.02)
    assert fit.consistent_


def test_a_massless_link_keeps_the_inertia_of_its_file():
    scara = dy.load("scara")  # masses on the axes, and the wrist only an inertia of 1 kg m² about its axis
    model = LinearModel(scara)
    wrist = BodySpace(model).links[3]
    own = BodySpace(model).origin[wrist.place]
    assert own[0] > 0.0
    np.testing.assert_allclose(own[9], model.prior[wrist.place][9], rtol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_the_prior_of_almost_exact_data_has_the_largest_weight_that_predicts_as_well(noise):
    base = base_parameters(LinearModel(dy.load("planar_2r_melchiorri")))
    rng, truth = np.random.default_rng(0), 1.1 * base.prior
    X = base.regressor(*rng.normal(size=(3, 200, 2))).reshape(-1, base.rank)
    blocks, y = np.repeat(np.arange(10), len(X) // 10), X @ truth
    fit = PhysicallyConsistent(base).fit(X, y + noise * y.std() * rng.normal(size=len(y)), blocks=blocks)
    assert fit.regularisation_ == 10.0  # with a smaller one the equations are singular in double precision
    np.testing.assert_allclose(fit.coef_, truth, atol=1e-5 * abs(truth).max())
