"""JAX functions: values and derivatives under jit, grad, jvp and vmap."""

import numpy as np
import pytest
from random_trees import random_states, relative_error

import dynamis as dy

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install jax")
ROBOT = dy.load("panda")
STATES = random_states(np.random.default_rng(0), ROBOT, 5)


@pytest.fixture(autouse=True)
def double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_values_and_jacobians_of_a_batch(name):
    function, state = ROBOT.jax(name), [x[0] for x in STATES]
    assert relative_error(np.asarray(jax.jit(function)(*STATES)), getattr(ROBOT, name)(*STATES)) < 1e-12
    expected = getattr(ROBOT, f"{name}_derivatives")(*STATES)
    for transform in (jax.jacfwd, jax.jacrev):
        for found, part in zip(jax.vmap(transform(function, argnums=(0, 1, 2)))(*STATES), expected, strict=True):
            assert relative_error(np.asarray(found), part) < 1e-12
    value, change = jax.jvp(function, state, [np.ones(7)] * 3)
    assert relative_error(np.asarray(change), sum(part[0] @ np.ones(7) for part in expected)) < 1e-12
    assert relative_error(np.asarray(value), getattr(ROBOT, name)(*state)) < 1e-12


def test_second_derivatives_and_arguments_that_are_not_mapped():
    arm = dy.load("planar_2r_melchiorri")
    gravity = arm.jax("gravity")
    q, step = np.array([0.3, 0.9]), 1e-5
    H = jax.jacfwd(jax.jacrev(gravity))(q)
    J = jax.jacrev(gravity)
    expected = np.stack([(np.asarray(J(q + step * e)) - np.asarray(J(q - step * e))) / (2 * step) for e in np.eye(2)], axis=-1)
    assert np.abs(np.asarray(H) - expected).max() < 1e-6
    mapped = jax.vmap(ROBOT.jax("inverse_dynamics"), in_axes=(0, None, None))(STATES[0], STATES[1][0], STATES[2][0])
    assert relative_error(np.asarray(mapped), ROBOT.inverse_dynamics(STATES[0], STATES[1][0], STATES[2][0])) < 1e-12


def test_the_gradient_of_a_loss_over_a_batch():
    function = ROBOT.jax("forward_dynamics")
    found = jax.jit(jax.grad(lambda tau: (function(STATES[0], STATES[1], tau) ** 2).sum()))(STATES[2])
    a, derivatives = ROBOT.forward_dynamics(*STATES), ROBOT.forward_dynamics_derivatives(*STATES)
    assert relative_error(np.asarray(found), 2.0 * np.einsum("sij,si->sj", derivatives.dtau, a)) < 1e-10


def test_wrong_lengths_are_refused():
    with pytest.raises(dy.InputError, match="last axis must have the 7 entries of v"):
        ROBOT.jax("inverse_dynamics")(np.zeros(7), np.zeros(6), np.zeros(7))
