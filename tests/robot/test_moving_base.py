"""Robots on a base with prescribed motion: what the recursions with a moving base give, and rates of each other."""

import numpy as np
import pytest
from joint_zoo import zoo_robot

import dynamis as dy
from dynamis.algorithms import energy, kinematics
from dynamis.robot.moving_base import COORDINATE_AXES

RNG = np.random.default_rng(0)
BASE = dy.MovingBase(dy.Pose.from_rpy(RNG.normal(size=3), RNG.normal(size=3)), RNG.normal(size=6), RNG.normal(size=6))


def robots():
    return {"panda": dy.load("panda"), "puma": dy.load("puma560"), "screws": zoo_robot("screws"), "wrists": zoo_robot("wrists")}


def state_of(robot, count=None):
    shape = () if count is None else (count,)
    q = robot.random(3) if count is None else robot.random(3, count)
    return q, *np.random.default_rng(1).normal(size=(3, *shape, robot.n))


@pytest.mark.parametrize("name", robots())
def test_dynamics_are_those_of_the_recursions_with_a_moving_base(name):
    robot = robots()[name]
    q, v, a, tau = state_of(robot, 4)
    moved = robot.on(BASE)
    wrench = {robot.link_names[-1]: np.array([1.0, 2.0, -3.0, 0.3, 0.2, 0.1])}
    np.testing.assert_allclose(moved.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a, base=BASE), atol=1e-9)
    np.testing.assert_allclose(
        moved.inverse_dynamics(q, v, a, wrench), robot.inverse_dynamics(q, v, a, wrench, base=BASE), atol=1e-9
    )
    found, expected = moved.forward_dynamics(q, v, tau, wrench), robot.forward_dynamics(q, v, tau, wrench, base=BASE)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(moved.mass_matrix(q), robot.mass_matrix(q), atol=1e-10)


@pytest.mark.parametrize("name", robots())
def test_poses_velocities_and_accelerations_are_those_of_the_recursions(name):
    robot = robots()[name]
    q, v, a, _ = state_of(robot)
    moved, tip = robot.on(BASE), robot.link_names[-1]
    frame = robot.model.frame(tip)
    np.testing.assert_allclose(moved.pose(q, tip), BASE.pose.matrix() @ robot.pose(q, tip), atol=1e-12)
    np.testing.assert_allclose(moved.velocity(q, v, tip), kinematics.velocity(robot.model, q, v, frame, BASE), atol=1e-11)
    np.testing.assert_allclose(
        moved.acceleration(q, v, a, tip), kinematics.acceleration(robot.model, q, v, a, frame, BASE), atol=1e-10
    )
    carried = np.r_[BASE.pose.R @ robot.jacobian(q, tip)[:3], BASE.pose.R @ robot.jacobian(q, tip)[3:]]
    np.testing.assert_allclose(moved.jacobian(q, tip), carried, atol=1e-11)


def test_energies_include_the_base_link():
    robot = dy.load("panda")
    q, v, _, _ = state_of(robot)
    own = next(link.mass_properties.inertia for link in robot.description.links if link.name == "panda_link0")
    of_base = 0.5 * BASE.twist @ own.matrix() @ BASE.twist
    expected = energy.kinetic_energy(robot.model, q, v, BASE) + of_base
    assert robot.on(BASE).kinetic_energy(q, v) == pytest.approx(expected, rel=1e-12)


def test_every_function_takes_a_batch():
    robot = dy.load("panda")
    moved, (q, v, a, _) = robot.on(BASE), state_of(robot, 3)
    given = {"q": q, "v": v, "a": a}
    from dynamis.algorithms.registry import ALGORITHMS

    for name, axes in COORDINATE_AXES.items():
        found = getattr(moved, name)(*(given[x] for x in ALGORITHMS[name].arguments))
        alone = getattr(moved, name)(*(given[x][1] for x in ALGORITHMS[name].arguments))
        assert found.shape[1:][len(found.shape) - 1 - axes :] == (robot.n,) * axes, name
        np.testing.assert_allclose(found[1], alone, atol=1e-9, err_msg=name)


def test_what_does_not_fit_is_refused():
    robot = dy.load("panda")
    with pytest.raises(dy.InputError, match=r"q must have shape \(…, 7\), got \(6,\)"):
        robot.on(BASE).gravity(np.zeros(6))
    for wrong in ("x", [None] * 7, np.full(7, np.nan)):
        with pytest.raises(dy.InputError, match="tau must have"):
            robot.on(BASE).forward_dynamics(np.zeros(7), np.zeros(7), wrong)
    with pytest.raises(AttributeError, match="jacobian"):
        robot.on(BASE).jacobean(np.zeros(7))
    with pytest.raises(dy.InputError, match="takes a MovingBase"):
        robot.on(np.eye(4))
    with pytest.raises(dy.InputError, match="has a free base"):
        dy.load("go2", base="floating").on(BASE)
    with pytest.raises(dy.InputError, match="takes numbers"):
        dy.load("planar_2r").on(BASE)
    assert "OnMovingBase" in repr(robot.on(BASE))
