"""How much a motion tells, and the exact gradients of everything the search uses."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.excitation import CRITERIA, Box, Fourier, HalfSpace, Sphere, Splines, above
from dynamis.identification.excitation.criteria import Aggregated, Information, Regressor, condition_number
from dynamis.identification.excitation.limits import distance_rows, joint_rows, region_rows, torque_rows, user_rows
from dynamis.identification.linear_model import LinearModel

ARM = dy.load("planar_2r_melchiorri")
PUMA = dy.load("puma560")


def regressor_of(robot, **options):
    return Regressor(base_parameters(LinearModel(robot, **options)))


@pytest.fixture(scope="module")
def arm():
    return regressor_of(ARM)


def slope(function, c, d, step=1e-5):
    return (function(c + step * d) - function(c - step * d)) / (2.0 * step)


@pytest.mark.parametrize("sharpness", [2.0, 30.0])
@pytest.mark.parametrize("name", CRITERIA)
def test_gradients_by_the_coefficients_match_differences(arm, name, sharpness):
    rng = np.random.default_rng(5)
    basis = Fourier(6.0, 4)
    information = Information(arm, basis, name, 120, rng.uniform(0.5, 2.0, arm.base.rank))
    c, q0, d = rng.normal(size=(basis.size, 2)), rng.normal(size=2), rng.normal(size=(basis.size, 2))
    _, gradient = information.value_and_gradient(q0, c, sharpness)
    numerical = slope(lambda x: information.value_and_gradient(q0, x, sharpness)[0], c, d)
    assert numerical == pytest.approx((gradient * d).sum(), rel=1e-5, abs=1e-7)


def test_gradients_of_an_arm_in_space_and_with_other_friction_match_differences():
    rng = np.random.default_rng(1)
    regressor = regressor_of(PUMA, friction=("viscous", "coulomb", "quadratic"))
    basis = Splines(5.0, 6)
    information = Information(regressor, basis, "condition", 100)
    c, q0, d = rng.normal(size=(basis.size, 6)), rng.normal(size=6), rng.normal(size=(basis.size, 6))
    _, gradient = information.value_and_gradient(q0, c, 5.0)
    assert slope(lambda x: information.value_and_gradient(q0, x, 5.0)[0], c, d) == pytest.approx((gradient * d).sum(), rel=1e-5)


def test_sharp_criteria_are_the_quantities_they_are_named_after(arm):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, arm.base.rank)) * rng.uniform(0.1, 10.0, arm.base.rank)
    M, ones = X.T @ X, np.ones(arm.base.rank)
    singular = np.linalg.svd(X, compute_uv=False)
    assert np.exp(CRITERIA["condition"](M, ones)[0]) == pytest.approx(condition_number(X), rel=1e-6)
    assert np.exp(CRITERIA["plain-condition"](M, ones)[0]) == pytest.approx(singular[0] / singular[-1], rel=1e-6)
    assert np.exp(CRITERIA["e-optimal"](M, ones)[0]) == pytest.approx(1.0 / singular[-1], rel=1e-6)
    assert CRITERIA["d-optimal"](M, ones)[0] == pytest.approx(-np.linalg.slogdet(M)[1] / 2 / len(M))
    assert np.exp(CRITERIA["a-optimal"](M, ones)[0]) == pytest.approx(np.sqrt(np.trace(np.linalg.inv(M)) / len(M)), rel=1e-6)


def test_the_condition_does_not_depend_on_the_columns_units(arm):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))
    assert condition_number(X * [1.0, 1e3, 1e-4, 7.0, 0.2]) == pytest.approx(condition_number(X))
    assert condition_number(np.column_stack([X, np.zeros(60)])) == np.inf


def test_noise_weighs_the_joints():
    base = base_parameters(LinearModel(ARM))
    basis, c = Fourier(6.0, 3), np.random.default_rng(0).normal(size=(4, 2))
    plain, weighed = (
        Information(Regressor(base, noise), basis, "d-optimal", 60).matrix(np.zeros(2), c) for noise in (None, (2.0, 2.0))
    )
    np.testing.assert_allclose(plain, 4.0 * weighed)
    for wrong in ((1.0, 0.0), (1.0, 2.0, 3.0), "much"):
        with pytest.raises(InputError, match="noise="):
            Regressor(base, wrong)


def limits_of_all_kinds(robot):
    def calm(robot, q, v, a):
        return v @ v - 9.0

    wide = joint_rows(robot, np.zeros(robot.n), 0.05, {"velocity": 2.0, "acceleration": 8.0})
    places = [
        Box((-0.3, -0.4, -np.inf), (0.4, 0.3, 0.8)),
        HalfSpace((1.0, 0.5, 0.0), -0.5),
        Sphere((0.1, 0.2, 0.3), 0.2),
        *above(robot, 0.1),
    ]
    return [*wide, torque_rows(robot, 0.1, effort=80.0), region_rows(robot, places), user_rows(robot, [calm])]


def test_limits_as_smooth_functions_have_exact_gradients_and_are_never_too_small():
    rng = np.random.default_rng(4)
    basis = Fourier(5.0, 4)
    limits = Aggregated(basis, limits_of_all_kinds(PUMA), 90)
    c, q0, d = 0.7 * rng.normal(size=(basis.size, 6)), rng.normal(size=6), rng.normal(size=(basis.size, 6))
    values, jacobian = limits.values(q0, c, 30.0), limits.jacobian(q0, c, 30.0)
    numerical = slope(lambda x: limits.values(q0, x, 30.0), c, d)
    np.testing.assert_allclose(np.einsum("kij,ij->k", jacobian, d), numerical, rtol=1e-5, atol=1e-6)
    assert limits.worst(q0, c) <= values.max() <= limits.worst(q0, c) + np.log(180.0) / 30.0


def test_distances_have_exact_gradients_and_pairs_that_are_always_near_are_no_collisions():
    pytest.importorskip("coal", reason="coal is not installed: pip install coal")
    robot = dy.load("ur5e")
    scene = dy.collision.Scene(robot, margin=0.01)
    basis, rng = Fourier(5.0, 3), np.random.default_rng(0)
    limits = Aggregated(basis, [distance_rows(scene)], 60, averaged=True)
    q0 = np.array([0.0, -1.5, 1.0, 0.0, 0.0, 0.0])
    c, d = 0.5 * rng.normal(size=(basis.size, 6)), rng.normal(size=(basis.size, 6))
    numerical = slope(lambda x: limits.values(q0, x, 30.0), c, d)
    np.testing.assert_allclose(np.einsum("kij,ij->k", limits.jacobian(q0, c, 30.0), d), numerical, rtol=1e-4, atol=1e-3)
    assert np.abs(numerical).max() > 0.1
    near = scene.pairs.index(("base", "upper_arm_link"))  # 12.5 mm apart whatever the posture
    assert limits.values(q0, c, 30.0)[near] == pytest.approx((scene.margin - scene.distance(q0)) / 0.1, abs=1e-6)


def test_dry_friction_is_set_aside_on_both_sides():
    bare = ARM.replace(friction=0)
    rough = ARM.replace(friction={name: {"coulomb": 3.0} for name in ARM.joint_names})
    without, with_friction = (torque_rows(robot, 0.0, effort=500.0) for robot in (bare, rough))
    np.testing.assert_allclose(with_friction.upper, without.upper - 3.0)
    q, v, a = np.random.default_rng(0).normal(size=(3, 20, 2))
    np.testing.assert_allclose(
        with_friction.values(q, v, a),
        bare.replace(
            friction={n: {"viscous": d.viscous} for n, d in ((j, rough.description.joint(j).drive) for j in ARM.joint_names)}
        ).inverse_dynamics(q, v, a),
    )
    with pytest.raises(InputError, match="Coulomb friction of 3 exceeds its torque limit 2"):
        torque_rows(rough, 0.0, effort=2.0)


def test_regions_say_what_is_wrong_with_them():
    for make, sentence in (
        (lambda: Box((0, 0, 0), (1, 0, 1)), "lower corner of a box must be below"),
        (lambda: Box((0, 0), (1, 1, 1, 1)), "two corners of 3 numbers"),
        (lambda: HalfSpace((0, 0, 0), 1.0), "must not be zero"),
        (lambda: HalfSpace((1, 0), 1.0), "a normal must have 3 numbers"),
        (lambda: Sphere((0, 0, 0), -1.0), "positive"),
        (lambda: Sphere((0, 0), 1.0), "3 numbers"),
    ):
        with pytest.raises(InputError, match=sentence):
            make()
