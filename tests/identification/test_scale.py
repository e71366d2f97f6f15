"""Results do not depend on how large a robot is: sizes of unknown parameters come from its torques, not from constants."""

import numpy as np
import pytest
from scaling import scaled

import dynamis as dy
from dynamis.identification import Column, LinearModel, PhysicallyConsistent, Samples, base_parameters, equations
from dynamis.identification.estimators.body_space import TypicalSizes
from dynamis.identification.identify import near_the_prior


def log(robot, viscous, coulomb, seconds=10.0, rate=40.0, noise=0.008):
    """A motion of three harmonics with exact derivatives; friction that the robot's file does not have."""
    rng, t = np.random.default_rng(0), np.arange(round(seconds * rate)) / rate
    order = np.arange(1, 4)[:, None, None]
    w = 0.2 * np.pi * order
    angle = w * t[:, None] + rng.uniform(0.0, 2.0 * np.pi, (3, 1, robot.n))
    size = 0.8 * rng.uniform(0.3, 1.0, (3, 1, robot.n)) / order
    q, v, a = (np.sum(x, axis=0) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    tau = robot.inverse_dynamics(q, v, a) + viscous * v + coulomb * np.sign(v)
    tau += noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return Samples.of(q, v, a, tau, t=t, period=1.0 / rate)


def test_a_file_with_a_fortieth_of_the_masses_does_not_hold_the_fit_back():
    """λ comes from held-out blocks: a file that is far off must not cost more than a twentieth of the error."""
    arm = dy.load("planar_2r_melchiorri")
    run = log(scaled(arm, 40.0), viscous=1000.0, coulomb=300.0, seconds=5.0, noise=0.1)
    found = dy.identify(arm, run, compare=("weighted",), examined=False)  # the check of the torques' scale would refuse it
    assert found.comparison["consistent"].held_out < 1.05 * found.comparison["weighted"].held_out
    assert found.comparison["consistent"].train < 1.05 * found.comparison["weighted"].train
    assert found.estimator.regularisation_ < 0.1


@pytest.mark.parametrize("estimator", ["consistent", "ridge"])
def test_torques_masses_and_friction_times_forty_give_the_parameters_times_forty(estimator):
    arm = dy.load("planar_2r_melchiorri")
    one, other = (
        dy.identify(scaled(arm, k), log(scaled(arm, k), viscous=25.0 * k, coulomb=7.5 * k), estimator=estimator, compare=())
        for k in (1.0, 40.0)
    )
    assert np.allclose(other.estimator.coef_, 40.0 * one.estimator.coef_, rtol=1e-5)
    assert np.allclose(other.statistics.std, 40.0 * one.statistics.std, rtol=1e-5, equal_nan=True)  # none at a bound
    assert other.validation.held_out == pytest.approx(one.validation.held_out, rel=1e-5)
    assert other.verdict.grade == one.verdict.grade


def test_large_friction_that_the_file_lacks_is_found_by_default():
    large = scaled(dy.load("ur5e"), 40.0)
    found = dy.identify(large, log(large, viscous=1000.0, coulomb=300.0), compare=("weighted",))
    assert found.validation.held_out < 1.0  # percent; the noise of the log is 0.8
    assert found.validation.held_out < 1.05 * found.comparison["weighted"].held_out
    for joint in large.coordinate_names:
        assert found.parameters[f"{joint}.viscous"] == pytest.approx(1000.0, rel=0.015)
        assert found.parameters[f"{joint}.coulomb"] == pytest.approx(300.0, rel=0.015)


def test_a_slow_log_does_not_let_viscous_friction_run_away():
    """At 1 mrad/s viscous friction hardly shows: its size then comes from the speeds the robot can have."""
    arm = dy.load("planar_2r_melchiorri")
    base = base_parameters(LinearModel(arm))
    rng = np.random.default_rng(3)
    q, v, a = rng.uniform(-1.0, 1.0, (200, 2)), *(1e-3 * rng.normal(size=(2, 200, 2)))
    tau = arm.inverse_dynamics(q, v, a)
    size = np.sqrt(np.mean(tau**2, axis=0))
    e = equations(base, Samples.of(q, v, a, tau + 0.05 * size * rng.normal(size=tau.shape)))
    fit = PhysicallyConsistent(base).fit(e.X, e.y, joint=e.joint, names=e.names)
    found = dict(zip(base.names, fit.coef_, strict=True))
    for k, joint in enumerate(arm.coordinate_names):
        assert abs(found[f"{joint}.viscous"]) < size[k]  # N m s/rad; 0.05 τ / 1e-3 rad/s would be 50 times as much


def test_sizes_without_a_log_are_those_of_the_torques_of_the_robot():
    arm = dy.load("planar_2r_melchiorri")
    twice = [near_the_prior(base_parameters(scaled(arm, k))).prior_scale for k in (1.0, 40.0)]
    assert np.allclose(twice[1], 40.0 * twice[0], rtol=1e-9)


def test_a_column_in_other_units_has_the_inverse_size():
    arm = dy.load("planar_2r_melchiorri")
    model = LinearModel(
        arm, columns=[Column("fan", lambda _r, _q, v, _a: v * v), Column("fan in krpm", lambda _r, _q, v, _a: 1e4 * v * v)]
    )
    sizes = TypicalSizes(model).of_model(model.prior)
    assert sizes[-2] == pytest.approx(1e4 * sizes[-1])


def test_friction_of_a_file_that_is_far_too_small_does_not_hold_the_fit_back():
    """A placeholder of 0.01 in the file is no reason to expect friction of that size: torques of the log are."""
    arm = dy.load("planar_2r_melchiorri")
    friction = {joint: {"viscous": 0.01, "coulomb": 0.01} for joint in arm.joint_names}
    placeholder = arm.replace(friction=friction)
    run = log(arm, viscous=25.0, coulomb=7.5, seconds=5.0, noise=0.03)
    fits = [dy.identify(robot, run, compare=()).estimator for robot in (arm, placeholder)]
    assert np.allclose(fits[0].coef_[-4:], fits[1].coef_[-4:], rtol=1e-3)
    assert fits[1].regularisation_ == fits[0].regularisation_
