"""Discrete steps: agreement with simulations, derivatives, gradients of costs of motions."""

import numpy as np
import pytest
from random_trees import random_robot, relative_error

import dynamis as dy
from dynamis.optimize.steps import METHODS


def central(function, n, h=1e-6):
    return np.stack([(function(h * x) - function(-h * x)) / (2 * h) for x in np.eye(n)], axis=-1)


ROBOTS = {
    "arm": lambda: dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"coulomb": 0.4, "viscous": 0.1}}),
    "floating": lambda: random_robot(np.random.default_rng(5), 2, floating=True, mimics=False),
}


@pytest.fixture(scope="module", params=list(ROBOTS))
def robot(request):
    return ROBOTS[request.param]()


@pytest.mark.parametrize("method", METHODS)
def test_a_and_b_are_derivatives_along_the_entries_of_v(robot, method):
    rng = np.random.default_rng(2)
    step = dy.optimize.Step(robot, 0.01, method)
    n, q, v, u = robot.n, robot.random(0), 0.5 * rng.normal(size=robot.n), rng.normal(size=step.inputs)
    q1, v1 = step(q, v, u)

    def change(x):
        q2, v2 = step(robot.integrate(q, x[:n]), v + x[n : 2 * n], u + x[2 * n :])
        return np.concatenate([robot.difference(q1, q2), v2 - v1])

    assert relative_error(np.hstack(step.derivatives(q, v, u)), central(change, 2 * n + step.inputs)) < 1e-7


def test_a_short_step_of_each_order_approaches_the_simulated_motion():
    arm = dy.load("planar_2r_melchiorri")
    q, v, u = np.array([0.3, 0.5]), np.array([1.0, -2.0]), np.array([3.0, -1.0])
    true = dy.simulate(arm, 0.2, q0=q, v0=v, torque=u, rtol=1e-12, atol=1e-12)
    for method, order in (("euler", 1), ("rk2", 2), ("rk4", 4)):
        errors = []
        for steps in (20, 40):
            Q, _ = dy.optimize.Step(arm, 0.2 / steps, method).rollout(q, v, np.tile(u, (steps, 1)))
            errors.append(np.abs(Q[-1] - true.q[-1]).max())
        assert 0.7 * 2**order < errors[0] / errors[1] < 1.4 * 2**order


def test_second_derivatives_are_those_of_a_and_b():
    arm = ROBOTS["arm"]()
    step = dy.optimize.Step(arm, 0.02, "rk2")
    q, v, u = np.random.default_rng(0).normal(size=(3, 2))
    weights = np.array([0.3, -1.0, 2.0, 0.5])

    def slopes(x):
        return weights @ np.hstack(step.derivatives(q + x[:2], v + x[2:4], u + x[4:]))

    assert relative_error(step.weighted_hessian(q, v, u, weights), central(slopes, 6, 1e-5)) < 1e-6


def test_gradients_of_costs_of_motions(robot):
    rng = np.random.default_rng(4)
    step = dy.optimize.Step(robot, 0.02)
    n, q, v = robot.n, robot.random(1), np.zeros(robot.n)
    u, w = rng.normal(size=(6, 2, step.inputs)), rng.normal(size=(7, 2, 2 * n))
    Q, V = step.rollout(q, v, u)
    found = step.gradient(Q, V, u, w, 0.2 * u)

    def cost(u):
        a, b = step.rollout(q, v, u)
        return (w * np.concatenate([robot.difference(Q, a), b - V], axis=-1)).sum((0, 2)) + 0.1 * (u * u).sum((0, 2))

    for k, j in ((0, 0), (3, step.inputs - 1)):
        e = np.zeros_like(u)
        e[k, :, j] = 1e-6
        assert relative_error(found.inputs[k, :, j], (cost(u + e) - cost(u - e)) / 2e-6) < 1e-6
    assert found.start.shape == (2, 2 * n)


def test_steps_are_functions_for_casadi():
    casadi = pytest.importorskip("casadi", reason="CasADi is not installed: pip install casadi")
    arm = dy.load("planar_2r_melchiorri")
    step = dy.optimize.Step(arm, 0.02, "rk4")
    function = arm.casadi(step.function, u=2)
    assert isinstance(function, casadi.Function)
    given = [0.1, 0.2], [0.3, -0.4], [1.0, 2.0]
    assert relative_error(np.array(function(*given)).ravel(), np.concatenate(step(*given))) < 1e-13


def test_bad_steps_are_refused():
    arm = dy.load("planar_2r_melchiorri")
    with pytest.raises(dy.InputError, match="choose one of euler, rk2, rk4"):
        dy.optimize.Step(arm, 0.01, "rk3")
    with pytest.raises(dy.InputError, match="positive number of seconds"):
        dy.optimize.Step(arm, 0.0)
    with pytest.raises(dy.NameLookupError, match="did you mean 'joint1'"):
        dy.optimize.Step(arm, 0.01, actuated=["joint_1"])
    with pytest.raises(dy.InputError, match="q must have 2 entries"):
        dy.optimize.Step(arm, 0.01)([0.0], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(dy.InputError, match="symbolic parameters"):
        dy.optimize.Step(dy.load("planar_2r"), 0.01)
