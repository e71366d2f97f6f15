"""Wrenches transmitted by joints, motion between frames, regressors of the energies."""

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot, zoo_states

import dynamis as dy
from dynamis.algorithms.kinematics import chain_pose
from dynamis.algorithms.newton_euler_base import rnea_base_frame

H = 1e-6


def at(robot):
    return tuple(x[1] for x in zoo_states(robot, 2, seed=7))


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize("name", NAMES)
def test_energies_are_linear_in_the_parameters(name):
    robot = zoo_robot(name)
    q, v, _ = at(robot)
    T, U = robot.kinetic_energy_regressor(q, v) @ robot.parameters, robot.potential_energy_regressor(q) @ robot.parameters
    assert robot.kinetic_energy(q, v) == pytest.approx(T, rel=1e-12)
    assert robot.potential_energy(q) == pytest.approx(U, rel=1e-12, abs=1e-12)


@pytest.mark.usefixtures("without_compilation")
def test_the_energies_of_riding_rotors_are_linear_in_their_inertias():
    robot = dy.load("ur5e").replace(rotors="riding")
    q, v = robot.random(1), np.linspace(-1.0, 1.0, 6)
    assert robot.kinetic_energy(q, v) == pytest.approx(robot.kinetic_energy_regressor(q, v) @ robot.parameters, rel=1e-13)


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize("name", ["screws", "flyer"])
def test_joint_wrenches_work_against_the_joint_velocities(name):
    """Σ F_i · (velocity of body i less that of its parent) = vᵀ τ of the links, against Newton–Euler in the base frame."""
    robot = zoo_robot(name)
    q, v, a = at(robot)
    model = robot.model
    tip = next(reversed(model.frames))
    load = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    F = robot.joint_wrenches(q, v, a, {tip: load})
    local = robot.joint_wrenches(q, v, a, {tip: in_axes_of(robot, q, tip, load)}, axes="local")
    power = 0.0
    for (i, body), row, own in zip(model.links, F, local, strict=True):
        R = robot.pose(q, body.name)[:3, :3] @ model.frames[body.name].pose.R.T
        np.testing.assert_allclose(np.concatenate([R @ own[:3], R @ own[3:]]), row, atol=1e-9)
        # the joint of a link may consist of several bodies; all of them transmit the same wrench
        k = i
        twist = np.zeros(6)
        while k == i or k not in {j for j, _ in model.links} | {0}:
            part = model.bodies[k]
            moved = part.S @ v[list(part.dof)]
            twist = twist + in_frame_of(robot, q, k, i, moved)
            k = part.parent
        power += own @ twist
    rnea = rnea_base_frame(model, q, v, a) - robot.jacobian(q, tip).T @ load
    assert power == pytest.approx(v @ rnea, rel=1e-9)


def in_axes_of(robot, q, frame, wrench):
    R = robot.pose(q, frame)[:3, :3]
    return np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])


def in_frame_of(robot, q, k, i, twist):
    X = chain_pose(robot.model, q, k).inverse() @ chain_pose(robot.model, q, i)
    return X.twist_inward(twist)


def test_joint_wrenches_at_rest_are_the_static_forces():
    robot = dy.load("panda")
    q, rest = robot.random(0), np.zeros(7)
    _, f, N = robot.static_forces(q)
    np.testing.assert_allclose(robot.joint_wrenches(q, rest, rest), np.hstack([f, N])[1:], atol=1e-10)


@pytest.mark.usefixtures("without_compilation")
def test_relative_velocity_is_the_rate_of_the_relative_pose():
    robot = zoo_robot("flyer")
    q, v, _ = at(robot)
    names = list(robot.model.frames)
    A, B = names[1], names[-1]
    X = robot.pose(q, B, relative_to=A)
    np.testing.assert_allclose(robot.pose(q, A) @ X, robot.pose(q, B), atol=1e-14)
    after, before = (robot.pose(robot.integrate(q, s * H * v), B, relative_to=A) for s in (1.0, -1.0))
    rate = (after - before) / (2.0 * H)
    W = rate[:3, :3] @ X[:3, :3].T
    V = robot.velocity(q, v, B, relative_to=A)
    np.testing.assert_allclose(V, [*rate[:3, 3], W[2, 1], W[0, 2], W[1, 0]], atol=1e-7)
    np.testing.assert_allclose(robot.jacobian(q, B, relative_to=A) @ v, V, atol=1e-13)
    local = robot.velocity(q, v, B, relative_to=A, axes="local")
    np.testing.assert_allclose(local, np.concatenate([X[:3, :3].T @ V[:3], X[:3, :3].T @ V[3:]]), atol=1e-13)
    np.testing.assert_allclose(robot.jacobian(q, B, relative_to=A, axes="local") @ v, local, atol=1e-13)
    np.testing.assert_allclose(robot.velocity(q, v, B, axes="local"), robot.jacobian(q, B, axes="local") @ v, atol=1e-13)


@pytest.mark.usefixtures("without_compilation")
def test_relative_acceleration_is_the_rate_of_the_relative_velocity():
    robot = zoo_robot("flyer")
    q, v, a = at(robot)
    names = list(robot.model.frames)
    A, B = names[1], names[-1]
    after, before = (robot.velocity(robot.integrate(q, s * H * v), v + s * H * a, B, relative_to=A) for s in (1.0, -1.0))
    acceleration = robot.acceleration(q, v, a, B, relative_to=A)
    np.testing.assert_allclose(acceleration, (after - before) / (2.0 * H), atol=1e-6)
    R = robot.pose(q, B, relative_to=A)[:3, :3]
    local = robot.acceleration(q, v, a, B, relative_to=A, axes="local")
    np.testing.assert_allclose(local, np.concatenate([R.T @ acceleration[:3], R.T @ acceleration[3:]]), atol=1e-12)
    np.testing.assert_allclose(robot.acceleration(q, v, a, B, relative_to=B), 0.0, atol=1e-12)


@pytest.mark.usefixtures("without_compilation")
def test_the_rate_of_the_relative_jacobian_is_its_derivative_and_gives_the_acceleration():
    robot = zoo_robot("flyer")
    q, v, a = at(robot)
    names = list(robot.model.frames)
    A, B = names[1], names[-1]

    def J(s):
        return robot.jacobian(robot.integrate(q, s * v), B, relative_to=A)

    h = 1e-3
    rate = robot.jacobian_dot(q, v, B, relative_to=A)
    differences = (45.0 * (J(h) - J(-h)) - 9.0 * (J(2 * h) - J(-2 * h)) + J(3 * h) - J(-3 * h)) / (60.0 * h)
    np.testing.assert_allclose(rate, differences, atol=1e-9)
    for options in ({}, {"axes": "local"}, {"relative_to": A}, {"relative_to": A, "axes": "local"}):
        expected = robot.jacobian(q, B, **options) @ a + robot.jacobian_dot(q, v, B, **options) @ v
        np.testing.assert_allclose(robot.acceleration(q, v, a, B, **options), expected, atol=1e-12)
    np.testing.assert_allclose(robot.jacobian_dot(q, v, B, relative_to=B), 0.0, atol=1e-12)


def test_unknown_axes_and_frames_are_refused():
    robot = dy.load("ur5e")
    q, v = robot.neutral(), np.zeros(6)
    with pytest.raises(dy.InputError, match="choose 'world' or 'local'"):
        robot.velocity(q, v, axes="body")
    with pytest.raises(dy.NameLookupError, match="no frame named 'tool'"):
        robot.pose(q, relative_to="tool")
