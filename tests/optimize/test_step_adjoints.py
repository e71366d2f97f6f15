"""Adjoints of steps: one backward sweep through the traced step, without A and B, on the processor and on a GPU."""

import numpy as np
import pytest
from campaign_params import few_of
from cuda_on_host import needs_compiler, on_the_host
from random_trees import random_robot, relative_error

import dynamis as dy
from dynamis.compiler import cuda_text
from dynamis.optimize import steps
from dynamis.optimize.step_dynamics import METHODS
from dynamis.tolerances import EPS

kp = dy.symbol("kp")


def arm(method):
    robot = dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"coulomb": 0.4, "viscous": 0.1}})
    return dy.optimize.Step(robot, 0.02, method, parameters=[kp], feedback=lambda robot, q, v, r: kp * (r - q) - 2.0 * v)


def floating(method):
    robot = random_robot(np.random.default_rng(5), 2, floating=True, mimics=False)
    return dy.optimize.Step(robot, 0.02, method)


def state(step, count):
    rng, robot = np.random.default_rng(1), step.robot
    q, v, u = robot.random(rng, count), rng.normal(size=(count, robot.n)), rng.normal(size=(count, step.inputs))
    v[0] = 0.0  # at rest, where the root of the angle has no derivative
    return q, v, u, *([np.array([20.0])] if step.parameters else [])


# each method with the arm, and a free body, long to compile, with one of two stages
CASES = [(make, method) for make in (arm, floating) for method in METHODS]
USUAL = [case for case in CASES if case[0] is arm or case[1] == "rk2"]


@pytest.mark.parametrize(("make", "method"), few_of(CASES, USUAL))
def test_a_costate_is_multiplied_by_all_derivatives(make, method):
    step = make(method)
    q, v, u, *p = state(step, 12)
    costate = np.random.default_rng(2).normal(size=(12, 2 * step.robot.n))
    D = list(step.derivatives(q, v, u, *p))
    if p:
        D.append(step.parameter_derivatives(q, v, u, *p))
    expected = np.einsum("bi,bij->bj", costate, np.concatenate(D, axis=-1))
    assert relative_error(step._pullback(q, v, u, costate, *p), expected) < 1e-12


@needs_compiler
@pytest.mark.parametrize("make", [arm, floating])
def test_cuda_source_gives_the_same_bits(make, tmp_path):
    step = make("euler")
    q, v, u, *p = state(step, 20)
    costate = np.random.default_rng(2).normal(size=(20, 2 * step.robot.n))
    found = on_the_host(step._pullback, "double", tmp_path)(q, v, u, costate, *(np.tile(x, (20, 1)) for x in p))
    np.testing.assert_array_equal(found, step._pullback(q, v, u, costate, *p))
    assert "__global__" in cuda_text.render(step._pullback.code, "f", "float")


@pytest.mark.parametrize("make", [arm, floating])
def test_gradients_of_motions_on_a_gpu_are_those_on_the_processor(make, monkeypatch):
    """Every array is taken for one on a GPU; the processor computes what the kernels would."""
    step, rng = make("euler"), np.random.default_rng(3)
    q, v, _, *p = state(step, 4)
    u, w = rng.normal(size=(7, 4, step.inputs)), rng.normal(size=(8, 4, 2 * step.robot.n))

    def found():
        motion = step.rollout(q, v, u, *p)
        yield from step.gradient(*motion, u, w, 0.1, *p)
        yield from step.rollout_gradient(q, v, u, lambda first, a, _: w[first : first + len(a)], 0.1, *p)

    expected = list(found())
    monkeypatch.setattr(steps, "on_gpu", lambda x: isinstance(x, np.ndarray))
    monkeypatch.setattr(steps, "as_cupy", np.asarray)
    for one, other in zip(found(), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_arrays_of_another_shape_are_refused_on_a_gpu(monkeypatch):
    step = floating("euler")
    q, v, u = state(step, 4)
    monkeypatch.setattr(steps, "on_gpu", lambda x: isinstance(x, np.ndarray))
    monkeypatch.setattr(steps, "as_cupy", np.asarray)
    with pytest.raises(dy.InputError, match=r"v has shape \(4, 1\); its last axis must have"):
        step.rollout(q, v[:, :1], u[None])


def test_second_derivatives_of_a_free_body_are_those_along_rotation_vectors():
    step = floating("euler")
    robot, rng = step.robot, np.random.default_rng(2)
    n, size = robot.n, 2 * robot.n + step.inputs
    q, v, u, weights = robot.random(rng), *(rng.normal(size=k) for k in (n, step.inputs, 2 * n))
    following = step.rollout(q, v, u[None])[0][1]

    def weighted(x):
        Q, V = step.rollout(robot.integrate(q, x[:n]), v + x[n : 2 * n], (u + x[2 * n :])[None])
        return weights[:n] @ robot.difference(following, Q[1]) + weights[n:] @ V[1]

    found = step.weighted_hessian(q, v, u, weights)
    h = EPS**0.25
    for _ in range(20):
        a, b = h * np.eye(size)[rng.integers(size, size=2)]
        expected = (weighted(a + b) - weighted(a - b) - weighted(b - a) + weighted(-a - b)) / (4.0 * h * h)
        assert found[a != 0][:, b != 0].item() == pytest.approx(expected, abs=1e-5 * np.abs(found).max() + 10.0 * EPS / h**2)
