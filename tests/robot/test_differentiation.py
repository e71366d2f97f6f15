"""Derivatives of first and second order, by name and of functions of one's own."""

import numpy as np
import pytest
from random_trees import random_robot, relative_error

import dynamis as dy

CASES = [("inverse_dynamics", 3), ("forward_dynamics", 3), ("kinetic_energy", 2), ("center_of_mass", 1)]


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri").replace(gravity=[1.0, -9.0, 2.0])


@pytest.fixture(scope="module")
def ball():
    """A robot with a quaternion."""
    return random_robot(np.random.default_rng(5), 2, floating=True, mimics=False)


def central(function, n, h=1e-5):
    return np.stack([(function(h * x) - function(-h * x)) / (2 * h) for x in np.eye(n)], axis=-1)


@pytest.mark.parametrize(("name", "count"), CASES)
def test_products_are_those_of_jacobian_and_hessian(arm, name, count):
    rng = np.random.default_rng(1)
    given = [rng.normal(size=(3, 2)) for _ in range(count)]
    d = arm.differentiate(name)
    entries = int(np.prod(d.shape, dtype=int))
    w, x = rng.normal(size=(3, entries)), rng.normal(size=(3, d.size))
    J, H = d.jacobian(*given).reshape(3, entries, -1), d.hessian(*given).reshape(3, entries, d.size, d.size)
    assert relative_error(d.jvp(*given, x).reshape(3, -1), np.einsum("bij,bj->bi", J, x)) < 1e-12
    assert relative_error(d.vjp(*given, w), np.einsum("bi,bij->bj", w, J)) < 1e-12
    weighted = np.einsum("bi,bijk->bjk", w, H)
    found = d.weighted_hessian(*given, w)
    assert relative_error(found, weighted) < 1e-12
    assert np.array_equal(found, found.swapaxes(1, 2))
    assert relative_error(d.hvp(*given, w, x), np.einsum("bij,bj->bi", weighted, x)) < 1e-12
    assert relative_error(d.value(*given), getattr(arm, name)(*given)) < 1e-12


@pytest.mark.parametrize(("name", "count"), CASES)
def test_hessians_are_derivatives_of_jacobians(arm, name, count):
    given = [np.random.default_rng(k).normal(size=2) for k in range(count)]
    d = arm.differentiate(name)

    def moved(x):
        return d.jacobian(*(g + x[d.places[a]] for g, a in zip(given, d.wrt, strict=True)))

    assert relative_error(d.hessian(*given), central(moved, d.size)) < 1e-8


def test_derivatives_by_quaternions_are_along_rotations_of_the_moving_frame(ball):
    rng = np.random.default_rng(0)
    q, v = ball.random(3), rng.normal(size=ball.n)
    d = ball.differentiate("kinetic_energy")
    n = ball.n

    def moved(x):
        return ball.kinetic_energy(ball.integrate(q, x[:n]), v + x[n:])

    assert d.jacobian(q, v).shape == (2 * n,)
    assert relative_error(d.jacobian(q, v), central(moved, 2 * n)) < 1e-7
    w = np.array([0.7])
    slopes = central(lambda x: d.vjp(ball.integrate(q, x[:n]), v + x[n:], w), 2 * n)
    assert relative_error(d.weighted_hessian(q, v, w), slopes) < 1e-7


def test_every_configuration_has_directions_along_v(ball):
    q0, q1, n = ball.random(0), ball.random(1), ball.n
    d = ball.differentiate("difference")
    assert d.places == {"q0": slice(0, n), "q1": slice(n, 2 * n)}
    assert relative_error(d.jacobian(q0, q1), np.hstack(ball.difference_derivatives(q0, q1))) < 1e-12

    def way(robot, q, q1):
        return robot.difference(q, q1)

    assert relative_error(ball.differentiate(way, q1=ball.nq).jacobian(q0, q1), d.jacobian(q0, q1)) < 1e-12
    assert ball.differentiate("interpolate").size == 2 * n + 1
    pair = ball.differentiate(lambda robot, q1: robot.gravity(robot.neutral())[:2] * q1, q1=2)  # no configuration
    assert pair.size == 2


def test_directions_of_all_arguments(ball):
    m, n = dy.symbol("m"), ball.n
    tool = ball.description.links[-1].name
    loaded = ball.replace(gravity=[1.0, -2.0, -m])

    def dynamics(robot, q, v, tau, w):
        return robot.forward_dynamics(q, v, tau, {tool: w})

    d = loaded.differentiate(dynamics, w=6, parameters=[m])
    assert list(d.places) == ["q", "v", "tau", "w", "parameters"]
    rng = np.random.default_rng(4)
    q, *rest = ball.random(2), *(rng.normal(size=k) for k in (n, n, 6)), np.array([0.8])
    x, weights, h = rng.normal(size=d.size), rng.normal(size=n), 1e-5

    def along(function, *more):
        def at(step):
            return function(
                ball.integrate(q, step * x[:n]),
                *(y + step * x[d.places[k]] for k, y in zip(d.wrt[1:], rest, strict=True)),
                *more,
            )

        return (at(h) - at(-h)) / (2 * h)

    assert relative_error(d.jvp(q, *rest, x), along(d.value)) < 1e-7
    assert relative_error(d.hvp(q, *rest, weights, x), along(d.vjp, weights)) < 1e-7
    only = loaded.differentiate(dynamics, ("w", "parameters"), w=6, parameters=[m])
    part = np.zeros(d.size)
    part[3 * n :] = x[3 * n :]
    assert relative_error(only.jvp(q, *rest, x[3 * n :]), d.jvp(q, *rest, part)) < 1e-12
    assert relative_error(only.hvp(q, *rest, weights, x[3 * n :]), d.hvp(q, *rest, weights, part)[3 * n :]) < 1e-12


def test_chosen_arguments_parameters_and_functions_of_ones_own(arm):
    m = dy.symbol("m")
    loaded = arm.replace(payload=dy.solids.sphere(0.05, mass=m))
    q, v = np.array([0.3, -0.7]), np.array([0.4, 0.1])
    d = loaded.differentiate("gravity", "parameters", parameters=[m])
    one, two = (arm.replace(payload=dy.solids.sphere(0.05, mass=x)).gravity(q) for x in (1.0, 2.0))
    assert relative_error(d.jacobian(q, [1.5])[:, 0], two - one) < 1e-12  # gravity is linear in the mass

    def distance(robot, q, goal):
        return ((robot.pose(q)[:3, 3] - goal) ** 2).sum()

    by_goal = arm.differentiate(distance, wrt=("goal", "q"), goal=3)
    assert by_goal.places == {"goal": slice(0, 3), "q": slice(3, 5)}
    assert relative_error(by_goal.hessian(q, np.zeros(3))[:3, :3], 2 * np.eye(3)) < 1e-14
    energy = arm.differentiate("kinetic_energy", wrt="v")
    assert relative_error(energy.hessian(q, v), arm.mass_matrix(q)) < 1e-13


def test_what_cannot_be_differentiated_is_refused(arm):
    with pytest.raises(dy.InputError, match="no argument 'p' to differentiate by; its arguments are q"):
        arm.differentiate("gravity", "p")
    with pytest.raises(dy.InputError, match="each once"):
        arm.differentiate("gravity", ("q", "q"))
    with pytest.raises(dy.InputError, match="returns 2 arrays"):
        arm.differentiate(lambda robot, q: (q, robot.gravity(q)))


def test_another_number_of_arguments_is_refused(arm):
    d = arm.differentiate("gravity")
    for given in ((), (np.zeros(2), np.zeros(2))):
        with pytest.raises(dy.InputError, match=rf"gravity_jacobian takes 1 array \(q\), got {len(given)}"):
            d.jacobian(*given)


def test_a_method_with_derivatives_of_its_own_is_also_differentiated_by_parameters(arm):
    m = dy.symbol("m")
    loaded = arm.replace(payload=dy.solids.sphere(0.05, mass=m))
    q, v, a = np.array([0.3, -0.7]), np.array([0.4, 0.1]), np.array([-1.0, 2.0])
    d = loaded.differentiate("inverse_dynamics", parameters=[m])
    one, two = (arm.replace(payload=dy.solids.sphere(0.05, mass=x)) for x in (1.0, 2.0))
    found = d.jacobian(q, v, a, [1.0])
    assert relative_error(found[:, :6], np.hstack(list(one.inverse_dynamics_derivatives(q, v, a)))) < 1e-12
    assert relative_error(found[:, 6], two.inverse_dynamics(q, v, a) - one.inverse_dynamics(q, v, a)) < 1e-12


def test_the_symmetric_part_of_a_hessian_with_quaternions_is_that_of_the_coordinates_of_integrate():
    robot = random_robot(np.random.default_rng(5), 2, floating=True, mimics=False)
    q, n, h = robot.random(0), robot.n, 1e-4
    H = np.asarray(robot.differentiate("potential_energy", "q").hessian(q))

    def energy(x):
        return robot.potential_energy(robot.integrate(q, x))

    E = h * np.eye(n)
    expected = [[(energy(a + b) - energy(a - b) - energy(b - a) + energy(-a - b)) / (4 * h * h) for b in E] for a in E]
    assert np.abs(H - H.T).max() > 1.0
    np.testing.assert_allclose(0.5 * (H + H.T), expected, atol=1e-5 * np.abs(H).max())
