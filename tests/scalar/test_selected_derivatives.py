"""Derivatives under selections are those of the branch taken, also where the other one is undefined; and of powers at zero."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.scalar import Program, gradient, jacobian, symbol
from dynamis.scalar.derivative import directional, pulled_back

STATES = np.array([[-1.3, 0.5], [0.3, 0.4], [2.0, -2.2], [-0.3, -0.2], [-6.0, -7.0], [0.7, -0.1]])


def one_branch(_, q):
    if q[0] > 0:
        return np.array([np.sqrt(q[0]), q[1]])
    return np.array([2.0 * q[0], q[1]])


def unit_vector(_, q):
    length = np.linalg.norm(q)
    return q / length if length > 1e-6 else q


def shared_between_branches(_, q):
    x = np.sqrt(q[0] * q[1])
    if q[0] > 0 and q[1] > 0:
        return np.array([x, x * q[0]])
    return np.array([2.0 * x, 0.0]) if q[0] < -5 and q[1] < 0 else q


def nested(_, q):
    above = np.where(q < 1, np.sqrt(1 - q), np.log(q - 1 + 1e-3) * q)
    return np.where(q > 0, above, np.where(q < -1, np.log(-q), np.arcsin(q)))


def norms_of_parts(_, q):
    p = np.maximum(q, 0)
    return np.array([np.sqrt(p @ p), np.sqrt(np.maximum(p[0] - 0.1, 0) + p[1])])


FUNCTIONS = {
    "if": one_branch,
    "if of a norm": unit_vector,
    "branches with a common part": shared_between_branches,
    "nested where": nested,
    "norms of maxima": norms_of_parts,
    "where": lambda _, q: np.where(q > 0, np.sqrt(q), 0 * q),
    "sine over angle": lambda _, q: np.where(abs(q) > 1e-6, np.sin(q) / q, 1 - q * q / 6),
    "root of a maximum": lambda _, q: np.sqrt(np.maximum(q, 0)),
    "angle of a clipped cosine": lambda _, q: np.arccos(np.clip(q, -1, 1)),
    "logarithm of a maximum": lambda _, q: np.log(np.maximum(q, 1e-9)),
    "power": lambda _, q: np.where(q > 0, q**1.5, 0),
    "exponential that overflows": lambda _, q: np.where(q < 1, q, np.exp(-1000 * q)),
    "powers in branches": lambda _, q: np.where(q > 0.1, 1 / q**1.5, np.where(q < -0.5, np.sqrt(-q), np.abs(q) ** 2.5)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_the_branch_taken(name):
    robot = dy.load("planar_2r_melchiorri")
    d = robot.differentiate(FUNCTIONS[name])
    weights, direction, h = np.array([0.4, -0.3]), np.array([0.7, 1.3]), 1e-6
    for q in STATES:
        J, H = d.jacobian(q), d.hessian(q)
        W = np.einsum("i,ijk", weights, H)
        with np.errstate(all="ignore"):
            slopes = [
                (np.subtract(FUNCTIONS[name](robot, q + x), FUNCTIONS[name](robot, q - x))) / (2 * h) for x in np.eye(2) * h
            ]
        second = [(d.jacobian(q + x) - d.jacobian(q - x)) / (2 * h) for x in np.eye(2) * h]
        assert np.allclose(J, np.stack(slopes, -1), rtol=1e-5, atol=1e-6)
        assert np.allclose(H, np.stack(second, -1), rtol=1e-4, atol=1e-5)
        assert np.allclose(d.jvp(q, direction), J @ direction)
        assert np.allclose(d.vjp(q, weights), weights @ J)
        assert np.allclose(d.weighted_hessian(q, weights), W)
        assert np.allclose(d.hvp(q, weights, direction), W @ direction)


def test_slopes_of_all_branches_are_selected_and_not_added():
    x, y, c = symbol("x"), symbol("y"), symbol("c")
    chosen = np.where(c < 1, np.log(x), x)
    assert gradient(chosen, [x])[0] is np.where(c < 1, 1.0 / x, 1.0)
    assert jacobian([chosen], [x])[0, 0] is np.where(c < 1, 1.0 / x, 1.0)
    assert gradient(np.maximum(x, 2.0), [x])[0] is np.where(x >= 2.0, 1.0, 0.0)
    nested = np.where(c < 1, np.log(x), np.where(c < 2, np.sqrt(x), x / y))
    assert gradient(nested, [x])[0] is np.where(c < 1, 1.0 / x, np.where(c < 2, 0.5 / np.sqrt(x), 1.0 / y))


def test_slopes_under_different_conditions_are_zero_where_none_holds():
    """A common part that no branch takes has no derivative, whatever its slope: √x at x < 0."""
    x, a, b = (symbol(name) for name in "xab")
    root = np.sqrt(x)
    outputs = [np.where(a < 0, root, 0.0), np.where(b < 0, 2.0 * root, 0.0)]
    slope = Program([x, a, b], pulled_back(outputs, [1.0, 1.0], [x]))
    assert [slope(*at)[0] for at in ((-1, 1, 1), (4, -1, 1), (4, 1, -1), (4, -1, -1))] == [0.0, 0.25, 0.5, 0.75]
    p, r = np.maximum(x, 0.0), np.maximum(a, 0.0)
    rate = Program([x, a], directional([np.sqrt(p + r)], [x, a], [1.0, 1.0]))
    assert [rate(*at)[0] for at in ((-1, -1), (4, -1), (-1, 4), (2, 2))] == [0.0, 0.25, 0.25, 0.5]


@pytest.mark.parametrize("function", [lambda x: x**1.5, lambda x: x**2.5, lambda x: abs(x) ** 1.5, lambda x: (-3.0 * x) ** 3.5])
def test_powers_of_one_and_a_half_and_more_have_derivative_zero_at_zero(function):
    x = symbol("x")
    slope = gradient(function(x), [x])
    assert Program([x], slope)(0.0)[0] == 0.0
    at, h = (-0.7 if isinstance(function(0.7), complex) else 0.7), 1e-6
    assert Program([x], slope)(at)[0] == pytest.approx((function(at + h) - function(at - h)) / (2 * h), rel=1e-7)


def test_second_derivatives_of_powers_at_zero():
    x = symbol("x")
    second = [jacobian(gradient(x**p, [x]), [x])[0, 0] for p in (1.5, 2.5, 3.5)]
    assert Program([x], second)(0.0).tolist() == [np.inf, 0.0, 0.0]
    assert Program([x], second)(4.0).tolist() == pytest.approx([0.375, 7.5, 70.0])
