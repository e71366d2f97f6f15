"""Steps on the configuration manifold and their derivatives."""

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot

from dynamis.algorithms.configuration_rate import configuration_rate, moved, normalised
from dynamis.model.joints import Free, Spherical


def nudged(robot, q, direction, size=1e-6):
    return robot.integrate(q, size * direction), robot.integrate(q, -size * direction)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_limits_of_differences(name):
    robot, rng = zoo_robot(name), np.random.default_rng(2)
    q, dv, size = robot.random(rng), rng.uniform(-1.0, 1.0, robot.n), 1e-6
    q1 = robot.integrate(q, dv)
    units = np.eye(robot.n)
    by_q = [robot.difference(*(robot.integrate(x, dv) for x in nudged(robot, q, unit)[::-1])) / (2 * size) for unit in units]
    by_dv = [robot.difference(robot.integrate(q, dv - size * u), robot.integrate(q, dv + size * u)) / (2 * size) for u in units]
    by_q0 = [np.subtract(*(robot.difference(x, q1) for x in nudged(robot, q, unit))) / (2 * size) for unit in units]
    by_q1 = [np.subtract(*(robot.difference(q, x) for x in nudged(robot, q1, unit))) / (2 * size) for unit in units]
    found = [*robot.integrate_derivatives(q, dv), *robot.difference_derivatives(q, q1)]
    for derivative, expected in zip(found, (by_q, by_dv, by_q0, by_q1), strict=True):
        assert np.abs(derivative - np.stack(expected, axis=1)).max() < 1e-8


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 3e-3, 0.00999, 0.0101, 0.3, 2.5])
def test_a_difference_undoes_a_step_at_any_angle(angle):
    """Both sides of the angle below which a series is used."""
    rng = np.random.default_rng(4)
    dv = rng.standard_normal(6)
    dv[3:] *= angle / np.linalg.norm(dv[3:])
    free = Free()
    assert np.abs(free.step_jacobian(dv) @ free.inverse_step_jacobian(dv) - np.eye(6)).max() < 1e-15
    # a small motion before the step and the same small motion, carried, after it
    assert np.abs(free.step_jacobian(dv) - free.carried(dv) @ free.step_jacobian(-dv)).max() < 1e-13


@pytest.mark.parametrize("angle", [0.3, 2.5])
def test_pinocchio_agrees(angle):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    rng, free = np.random.default_rng(5), Free()
    q, dv = free.random(rng, None, None, 1)[0], rng.standard_normal(6)
    dv[3:] *= angle / np.linalg.norm(dv[3:])
    by_q, by_dv = pin.dIntegrate(model, q, dv)
    by_q0, by_q1 = pin.dDifference(model, q, pin.integrate(model, q, dv))
    inverse = free.inverse_step_jacobian(dv)
    for ours, theirs in [(free.carried(dv), by_q), (free.step_jacobian(dv), by_dv), (inverse, by_q1),
                         (-inverse @ free.carried(dv), by_q0)]:  # fmt: skip
        assert np.abs(ours - theirs).max() < 1e-13


@pytest.mark.parametrize("name", NAMES)
def test_rates_are_limits_of_steps_on_the_manifold(name):
    robot, rng = zoo_robot(name), np.random.default_rng(3)
    q, v = robot.random(rng), rng.uniform(-1.0, 1.0, robot.n)
    after, before = nudged(robot, q, v)
    assert np.abs(configuration_rate(robot.model, q, v) - (after - before) / 2e-6).max() < 1e-8


@pytest.mark.parametrize("name", NAMES)
def test_quaternions_are_scaled_to_norm_one_and_nothing_else_is_changed(name):
    robot = zoo_robot(name)
    q = robot.random(np.random.default_rng(4))
    longer, factors = q.copy(), iter([3.0, 0.5, 7.0])
    for _, body in robot.model.moving:
        if isinstance(body.motion, Free | Spherical):
            longer[body.q_index][-4:] *= next(factors)
    given = longer.copy()
    assert np.abs(normalised(robot.model, longer) - q).max() < 1e-14
    assert np.array_equal(longer, given)  # a new array, in which the others are not written


def test_a_move_is_a_sum_that_is_normalised():
    body = zoo_robot("flyer")
    q = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.5])
    rate = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.75, 0.0, 0.5])
    assert np.allclose(moved(body.model, q, rate), [1.1, 2.2, 3.3, 0.0, 0.0, 0.6, 0.8, 1.0], rtol=1e-15)
