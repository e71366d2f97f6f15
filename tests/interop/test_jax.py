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


def test_half_precision_is_computed_in_single_and_complex_numbers_are_refused():
    q = jax.numpy.asarray(STATES[0], jax.numpy.bfloat16)
    found = ROBOT.jax("gravity")(q)
    assert found.dtype == q.dtype
    assert relative_error(np.asarray(found, float), ROBOT.gravity(np.asarray(q, float))) < 0.02
    with pytest.raises(dy.InputError, match="arrays of real numbers, got complex"):
        ROBOT.jax("gravity")(1j * STATES[0])


def test_wrong_lengths_are_refused():
    with pytest.raises(dy.InputError, match="last axis must have the 7 entries of v"):
        ROBOT.jax("inverse_dynamics")(np.zeros(7), np.zeros(6), np.zeros(7))
    with pytest.raises(dy.InputError, match=r"axes do not broadcast: q \(2, 7\), v \(3, 7\)"):
        ROBOT.jax("kinetic_energy")(np.zeros((2, 7)), np.zeros((3, 7)))


def test_arguments_may_be_given_by_name():
    q, v, a = (x[0] for x in STATES)
    function = ROBOT.jax("inverse_dynamics")
    expected = np.asarray(function(q, v, a))
    assert np.array_equal(function(q, a=a, v=v), expected)
    slope = jax.jit(jax.jacobian(lambda v: function(q=q, v=v, a=a)))(v)
    assert relative_error(np.asarray(slope), ROBOT.inverse_dynamics_derivatives(q, v, a).dv) < 1e-12
    for bad in (lambda: function(q, v, tau=a), lambda: function(q, v, v=v), lambda: function(q=q, v=v)):
        with pytest.raises(
            dy.InputError, match=r"inverse_dynamics takes q, v, a, each once, by place or by name; got [02] by place and"
        ):
            bad()


def test_slopes_of_branches_not_taken_do_not_matter():
    robot = dy.load("planar_2r_melchiorri")
    function = robot.jax(lambda robot, q: np.where(q > 0, np.sqrt(q), 0 * q))
    assert jax.jacobian(function)(np.array([-1.0, 4.0])).tolist() == [[0.0, 0.0], [0.0, 0.25]]


def test_arguments_broadcast_like_arrays_of_numpy():
    q, v, a = (np.asarray(x) for x in STATES)
    function = jax.jit(ROBOT.jax("inverse_dynamics"))
    for given in ((q[:, None], v[None, :], a[0]), (q[:1], v, a), (q[0], v[0], a[0]), (q[:0], v[0], a[0])):
        expected = ROBOT.inverse_dynamics(*given)
        found = np.asarray(function(*given))
        assert found.shape == expected.shape
        assert relative_error(found, expected) < 1e-12 or not expected.size
    twice = jax.vmap(jax.vmap(ROBOT.jax("inverse_dynamics"), in_axes=(None, 0, None)), in_axes=(0, None, None))
    assert relative_error(np.asarray(twice(q, v, a[0])), ROBOT.inverse_dynamics(q[:, None], v, a[0])) < 1e-12
    over_batches = jax.vmap(ROBOT.jax("inverse_dynamics"), in_axes=(0, None, None))
    found = np.asarray(over_batches(np.stack([q, 2.0 * q]), v, a[0]))
    assert relative_error(found, ROBOT.inverse_dynamics(np.stack([q, 2.0 * q]), v, a[0])) < 1e-12


def test_steps_in_a_compiled_loop_are_those_of_python():
    arm = dy.load("planar_2r_melchiorri")
    step = dy.optimize.Step(arm, 0.01)
    function = arm.jax(step.function, u=2)

    @jax.jit
    def rolled(q, v, u):
        def after(x, torques):
            return function(x[:2], x[2:], torques), x

        return jax.lax.scan(after, jax.numpy.concatenate([q, v]), u)[0]

    u = np.random.default_rng(0).normal(size=(50, 2))
    found = np.asarray(rolled(np.array([0.1, 0.2]), np.zeros(2), u))
    Q, V = step.rollout([0.1, 0.2], [0.0, 0.0], u)
    assert relative_error(found, np.concatenate([Q[-1], V[-1]])) < 1e-10
    slope = jax.jit(jax.grad(lambda u: rolled(np.array([0.1, 0.2]), np.zeros(2), u)[0]))(u)
    expected = step.gradient(Q, V, u, np.concatenate([np.zeros((50, 4)), [[1.0, 0.0, 0.0, 0.0]]])).inputs
    assert relative_error(np.asarray(slope), expected) < 1e-9


def test_single_precision_scalars_and_functions_of_equal_code():
    jax.config.update("jax_enable_x64", False)
    energy = ROBOT.jax("kinetic_energy")
    found = jax.jit(energy)(STATES[0], STATES[1])
    assert found.dtype == np.float32
    assert relative_error(np.asarray(found), ROBOT.kinetic_energy(STATES[0], STATES[1])) < 1e-5
    again = dy.load("panda").jax("kinetic_energy")
    np.testing.assert_array_equal(jax.jit(again)(STATES[0], STATES[1]), found)


def test_values_that_are_not_finite_give_results_that_are_not_finite():
    bad = np.array(STATES[0][0])
    bad[2] = np.nan
    assert not np.isfinite(np.asarray(jax.jit(ROBOT.jax("forward_dynamics"))(bad, STATES[1][0], STATES[2][0]))).all()


def test_callbacks_where_foreign_functions_are_missing_and_for_batches_worth_several_threads(monkeypatch):
    monkeypatch.setattr("dynamis.interop.jax_functions.thread_count", lambda: 2)
    monkeypatch.setattr("dynamis.interop.jax_functions.WORTH_A_THREAD", 1)
    monkeypatch.setattr("dynamis.interop.jax_functions._has_gpu", lambda: False)
    function, expected = ROBOT.jax("forward_dynamics"), ROBOT.forward_dynamics(*STATES)
    assert "dynamis_" not in str(jax.make_jaxpr(function)(*STATES))
    assert relative_error(np.asarray(jax.jit(function)(*STATES)), expected) < 1e-12
    assert relative_error(np.asarray(jax.vmap(function)(*STATES)), expected) < 1e-12
