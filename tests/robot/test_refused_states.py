"""Derivatives refuse the states that values refuse: numbers that are not finite, quaternions of another norm than 1."""

import numpy as np
import pytest
from random_trees import random_robot

import dynamis as dy

NAN = np.full(2, np.nan)
Q, V, A = np.random.default_rng(0).normal(size=(3, 2))


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


@pytest.fixture(scope="module")
def free():
    """A robot with a quaternion."""
    return random_robot(np.random.default_rng(5), 2, floating=True, mimics=False).replace(friction=0)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_derivatives_with_wrenches_refuse_what_values_refuse(arm, free, name):
    tip, push = arm.model.tip, {arm.model.tip: np.ones(6)}
    for method in (getattr(arm, name), getattr(arm, f"{name}_derivatives")):
        with pytest.raises(dy.InputError, match=r"q\[0\] is nan"):
            method(NAN, V, A, push)
        with pytest.raises(dy.InputError, match=r"v\[1, 0\] is nan"):
            method(Q, np.array([V, NAN]), A, push)
        with pytest.raises(dy.InputError, match=r"wrench on .*\[0\] is nan"):
            method(Q, V, A, {tip: np.full(6, np.nan)})
        with pytest.raises(dy.InputError, match="last axis must have 6 numbers"):
            method(Q, V, A, {tip: np.zeros(5)})
        with pytest.raises(dy.InputError, match="do not broadcast"):
            method(np.zeros((5, 2)), V, A, {tip: np.zeros((4, 6))})
    q = free.neutral()
    q[3:7] *= 2.0
    for method in (getattr(free, name), getattr(free, f"{name}_derivatives")):
        with pytest.raises(dy.InputError, match="quaternion of norm 2"):
            method(q, np.zeros(free.n), np.zeros(free.n), {free.link_names[-1]: np.ones(6)})


def calls(derivatives, state):
    rows = int(np.prod(derivatives.shape, dtype=int))
    weights, direction = np.ones(rows), np.ones(derivatives.size)
    return {
        "value": state, "jacobian": state, "hessian": state, "jvp": (*state, direction), "vjp": (*state, weights),
        "weighted_hessian": (*state, weights), "hvp": (*state, weights, direction),
    }  # fmt: skip


@pytest.mark.parametrize("warm", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("function", ["inverse_dynamics", lambda robot, q, v, a: robot.gravity(q) + v * a])
def test_every_derivative_refuses_numbers_that_are_not_finite(arm, function, warm):
    derivatives = arm.differentiate(function)
    for name, given in calls(derivatives, (Q, V, A)).items():
        method = getattr(derivatives, name)
        if warm:
            for _ in range(12):
                true = method(*given)
            assert np.isfinite(true).all()
        for k, argument in enumerate(given):
            for bad in (np.nan, np.inf):
                spoiled = [np.array(x) for x in given]
                spoiled[k][..., 0] = bad
                with pytest.raises(dy.InputError, match=f"is {bad}; every entry must be a finite number"):
                    method(*spoiled)
                batch = [*given[:k], np.array([argument, spoiled[k]]), *given[k + 1 :]]
                with pytest.raises(dy.InputError, match=rf"\[1, 0\] is {bad}"):
                    method(*batch)


def test_quaternions_of_no_rotation_have_no_gradient(free):
    energy = free.differentiate("potential_energy")
    assert energy.jacobian(free.neutral()).shape == (free.n,)
    for norm in (0.0, 2.0):
        q = free.neutral()
        q[3:7] *= norm
        for _ in range(2):
            with pytest.raises(dy.InputError, match=f"quaternion of norm {norm:g}"):
                energy.jacobian(q)
        with pytest.raises(dy.InputError, match=f"quaternion of norm {norm:g}"):
            energy.jacobian(np.array([free.neutral(), q]))


def test_infinite_derivatives_of_finite_states_are_returned(arm):
    root = arm.differentiate(lambda robot, q: np.sqrt(q))
    for _ in range(12):
        assert np.isinf(root.jacobian(np.zeros(2))[0, 0])


def test_steps_refuse_weights_and_slopes_that_are_not_finite(arm):
    step = dy.optimize.Step(arm, 0.01)
    with pytest.raises(dy.InputError, match=r"weights\[0\] is nan"):
        step.weighted_hessian(Q, V, A, np.full(4, np.nan))
    q, v, u = np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((2, 2))
    with pytest.raises(dy.InputError, match=r"states\[0, 0\] is nan"):
        step.gradient(q, v, u, np.full((3, 4), np.nan))
    with pytest.raises(dy.InputError, match=r"inputs\[0, 0\] is inf"):
        step.gradient(q, v, u, np.zeros((3, 4)), np.inf)
