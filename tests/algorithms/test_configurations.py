"""Steps on the configuration manifold and their derivatives."""

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot

from dynamis.model.joints import Free


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
