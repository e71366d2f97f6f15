"""Jacobians against differences of poses, for every orientation and joint type."""

import numpy as np
import pytest
from random_trees import random_robot, random_states, relative_error

import dynamis as dy
from dynamis.algorithms.jacobian import orientation_coordinates, orientation_rate_map
from dynamis.spatial.rotation import about_axis

H = 1e-6


def difference(f, robot, q, v):
    return (f(robot.integrate(q, H * v)) - f(robot.integrate(q, -H * v))) / (2 * H)


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize("seed", range(8))
def test_velocity_is_the_rate_of_the_pose_and_the_jacobian_gives_it(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=6)
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    for frame in robot.link_names[::2]:
        X_dot = difference(lambda q, frame=frame: robot.pose(q, frame), robot, q, v)
        R = robot.pose(q, frame)[:3, :3]
        S = X_dot[:3, :3] @ R.T
        twist = np.array([*X_dot[:3, 3], S[2, 1], S[0, 2], S[1, 0]])
        assert robot.velocity(q, v, frame) == pytest.approx(twist, abs=1e-8)
        assert robot.jacobian(q, frame) @ v == pytest.approx(robot.velocity(q, v, frame), abs=1e-12)
        J_dot = difference(lambda q, frame=frame: robot.jacobian(q, frame), robot, q, v)
        assert robot.jacobian_dot(q, v, frame) == pytest.approx(J_dot, abs=1e-7)
        both = robot.jacobian(q, frame) @ a + robot.jacobian_dot(q, v, frame) @ v
        assert robot.acceleration(q, v, a, frame) == pytest.approx(both, abs=1e-11)


@pytest.mark.parametrize("kind", ["rpy", "zyx", "xyz", "zyz", "zxz", "rotation_vector"])
def test_analytic_jacobians_are_the_rates_of_their_coordinates(kind):
    robot = dy.load("panda")
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v = robot.random(rng), rng.uniform(-1, 1, robot.n)

        def coordinates(q):
            X = robot.pose(q)
            return np.concatenate([X[:3, 3], orientation_coordinates(X[:3, :3], kind)])

        rate = difference(coordinates, robot, q, v)
        scale = max(1.0, np.abs(rate).max())
        assert robot.analytic_jacobian(q, orientation=kind) @ v == pytest.approx(rate, abs=1e-6 * scale)


@pytest.mark.parametrize("axes", ["zyz", "zxz", "zyx", "xyz"])
def test_euler_angles_turn_about_moving_axes_in_their_order(axes):
    basis = dict(zip("xyz", np.eye(3), strict=True))
    angles = np.array([0.3, 0.7, -0.4])
    R = np.eye(3)
    for letter, angle in zip(axes, angles, strict=True):
        R = R @ about_axis(basis[letter], angle)
    assert orientation_coordinates(R, axes) == pytest.approx(angles)


def test_a_rotation_vector_is_the_logarithm_at_every_angle_up_to_half_a_turn():
    rng = np.random.default_rng(3)
    axes = [*np.eye(3), *-np.eye(3), [1.0, 1.0, 0.0], [0.0, -1.0, 1.0], *rng.normal(size=(20, 3))]
    near = [np.pi - gap for gap in (1e-3, 1e-6, 1e-9, 1e-13, 0.0)]
    for axis in (np.array(a) / np.linalg.norm(a) for a in axes):
        for angle in (0.0, 1e-300, 1e-12, 1e-8, 1e-4, 6.3e-3, 6.4e-3, 0.1, 1.0, 2.0, 3.0, *near):
            R = about_axis(axis, angle)
            phi = orientation_coordinates(R, "rotation_vector")
            size = np.linalg.norm(phi)
            assert size <= np.pi + 1e-15
            assert about_axis(phi / size if size > 0.0 else axis, size) == pytest.approx(R, abs=1e-12)
            if angle < np.pi - 1e-8:  # nearer to half a turn the sign of the axis is rounding
                assert phi == pytest.approx(angle * axis, rel=1e-12, abs=1e-14)


def test_half_turns_are_exact_and_compiled():
    for axis in np.eye(3):
        assert orientation_coordinates(2.0 * np.outer(axis, axis) - np.eye(3), "rotation_vector") == pytest.approx(np.pi * axis)
    robot, ready = dy.load("panda"), np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])
    kernel = robot.compile(lambda robot, q: orientation_coordinates(robot.pose(q)[:3, :3], "rotation_vector"))
    phi = kernel(ready)
    assert about_axis(phi / np.linalg.norm(phi), np.linalg.norm(phi)) == pytest.approx(robot.pose(ready)[:3, :3], abs=1e-12)


@pytest.mark.usefixtures("without_compilation")
def test_the_same_coordinate_order_whatever_the_order_of_the_file():
    """A permuted file is the same robot: joint by joint, name by name."""
    rng = np.random.default_rng(2)
    robot = random_robot(rng, bodies=8, floating=False, kinds=("revolute", "prismatic"))
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    tau = dict(zip(robot.joint_names, robot.inverse_dynamics(q, v, a), strict=True))
    for _ in range(5):
        d = robot.description
        rng.shuffle(d.links)
        rng.shuffle(d.joints)
        other = dy.Robot(d)
        order = [robot.joint_names.index(name) for name in other.joint_names]
        again = dict(zip(other.joint_names, other.inverse_dynamics(q[order], v[order], a[order]), strict=True))
        assert again == pytest.approx(tau, rel=1e-12)
        M = other.mass_matrix(q[order])
        assert relative_error(M, robot.mass_matrix(q)[np.ix_(order, order)]) < 1e-12


def test_the_rates_of_rpy_angles_are_infinite_only_where_no_digit_of_them_is_right():
    """At a pitch of π/2 − d the rates are 1 / d times the angular velocity."""
    d = dy.Description("wrist").add_link("base")
    for k, axis in enumerate(np.eye(3)[::-1]):
        d.add_link(
            f"link{k}", "base" if k == 0 else f"link{k - 1}", "revolute", axis=axis, inertia=dy.solids.sphere(0.1, mass=1.0)
        )
    robot = dy.Robot(d)
    for away in (1e-3, 1e-6, 1e-8):
        J = robot.analytic_jacobian([0.3, np.pi / 2 - away, 0.2], orientation="rpy")
        np.testing.assert_allclose(J[3:], np.eye(3)[::-1], rtol=0.0, atol=1e-15 / away**2 if away > 1e-7 else 2.0)
        assert np.isfinite(J).all()
    for away in (1e-10, 0.0):
        with pytest.raises(dy.SingularError, match="orientation coordinates are singular"):
            robot.analytic_jacobian([0.3, np.pi / 2 - away, 0.2], orientation="rpy")


def test_the_rotation_vector_and_its_rates_are_accurate_at_every_angle():
    """T = 1 + (1 − cos x) / x² S + (x − sin x) / x³ S² in forty digits; series and closed form meet at 1e-4 rad."""
    mpmath = pytest.importorskip("mpmath", reason="mpmath is not installed")
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    for angle in np.geomspace(1e-7, 1.0, 57):
        R = about_axis(axis, angle)
        phi = orientation_coordinates(R, "rotation_vector")
        np.testing.assert_allclose(phi, angle * axis, rtol=0.0, atol=1e-14)
        S = np.array([[0, -phi[2], phi[1]], [phi[2], 0, -phi[0]], [-phi[1], phi[0], 0]])
        with mpmath.workdps(40):
            x = mpmath.sqrt(sum(mpmath.mpf(float(p)) ** 2 for p in phi))
            a, b = float((1 - mpmath.cos(x)) / x**2), float((x - mpmath.sin(x)) / x**3)
        np.testing.assert_allclose(
            orientation_rate_map(R, "rotation_vector"), np.eye(3) + a * S + b * S @ S, rtol=0.0, atol=1e-12
        )
