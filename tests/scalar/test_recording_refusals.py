"""Functions that cannot be recorded are refused with the reason, and nothing of them or of NumPy is changed."""

import math
import sys
from math import sqrt

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.scalar import call_with_symbols, gradient, symbol


def test_functions_that_record_something_else_than_they_compute_are_refused():
    def caught(x):
        try:
            return np.array([10.0, 20.0, 30.0])[int(x[0]) % 3] * x
        except ValueError:
            return 0.0 * x

    x = np.array([symbol(f"x{k}") for k in range(3)], dtype=object)
    for function in (caught, lambda x: x if isinstance(x[0], float) else 2.0 * x, lambda x: -x if x.dtype == float else x):
        with pytest.raises(InputError, match="other values than with numbers"):
            call_with_symbols(function, x)


def test_a_function_with_other_values_is_refused_with_its_line_and_these_values():
    x = np.array([symbol(f"x{k}") for k in range(2)], dtype=object)
    for function in (lambda x: 1.0 * ((x > 0.0) + (x < 1.0)), lambda x: 1.0 * ((x[0] > 0.0) + (x[0] < 1.0))):
        with pytest.raises(InputError, match=r"test_recording_refusals.py:\d+.*: 2 instead of 1 at x0 = .*adds conditions"):
            call_with_symbols(function, x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.nan_to_num(x[0] / x[1], posinf=7.0),
        lambda x: np.nan_to_num([x[0] / x[1], 1.0]),
        lambda x: np.nan_to_num(np.stack([x[0] / x[1], x[0]])),
        lambda x: np.nan_to_num(x / x[1]),
    ],
)
def test_nan_to_num_is_refused_with_a_cure(function):
    x = np.array([symbol(f"x{k}") for k in range(2)], dtype=object)
    with pytest.raises(InputError, match=r"numpy\.nan_to_num cannot be recorded; use numpy\.where\(numpy\.isnan\(x\)"):
        call_with_symbols(function, x)
    assert np.nan_to_num is sys.modules["numpy"].nan_to_num
    known = np.array([np.nan, 1.0])
    assert call_with_symbols(lambda x: np.nan_to_num(known)[0] * x, x).tolist() == [0.0, 0.0]


def test_arguments_of_numpys_functions_that_are_not_known_are_named():
    x = np.array([symbol("x")], dtype=object)
    with pytest.raises(InputError, match=r"numpy\.interp with these arguments cannot be recorded.*period"):
        call_with_symbols(lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0], period=1.0), x)
    with pytest.raises(InputError, match=r"numpy\.round with these arguments cannot be recorded.*out"):
        call_with_symbols(lambda x: np.round(x, out=x), x)


def test_an_error_in_a_branch_is_one_of_the_branch_and_names_condition_line_and_cure():
    arm = dy.load("planar_2r_melchiorri")

    def guarded(_robot, q, x):
        if x[0] < 0.0:
            raise ValueError("x must not be negative")
        return np.sqrt(x)

    message = (
        r"raises ValueError: x must not be negative, in the branch where x\[0\] < 0\..*numpy\.nan.*refusals\.py:\d+: raise"
    )
    with pytest.raises(InputError, match=message):
        arm.compile(guarded, x=1)(np.zeros(2), [4.0])

    def law(_t, q, v):
        if q[0] < 9.0:
            return -v
        raise ValueError("too far")

    with pytest.warns(dy.PerformanceWarning, match=r"in the branch where not \(q\[0\] < 9\).*law, .*refusals\.py:\d+"):
        dy.rollouts(arm, 0.002, np.zeros(2), controller=law)


def test_functions_that_differentiate_are_not_compared_with_numbers():
    arm = dy.load("scara")

    def slopes(robot, q):
        return gradient(robot.potential_energy(q) + q[0] ** 2, list(q))

    q = arm.random(0)
    expected = arm.gravity(q) + np.array([2.0 * q[0], 0.0, 0.0, 0.0])
    assert np.allclose(arm.compile(slopes)(q), expected, atol=1e-12)


def test_errors_of_recording_are_ours_and_errors_of_the_function_its_own():
    x = np.array([symbol(f"x{k}") for k in range(3)], dtype=object)
    for function in (lambda x: x[x > 0.0], lambda x: divmod(x[0], 0.3), lambda x: np.linalg.eigvalsh(np.outer(x, x))):
        with pytest.raises(InputError, match="cannot be recorded"):
            call_with_symbols(function, x)
    with pytest.raises(InputError, match="a number is needed"):
        call_with_symbols(lambda x: float(f"{x[0]:.3f}"), x)
    with pytest.raises(NameError, match="undefined"):
        call_with_symbols(lambda x: x * undefined, x)  # noqa: F821
    with pytest.raises(InputError, match=r"test_recording_refusals.py:\d+"):
        dy.load("scara").compile(lambda robot, q: q[q > 0.0])(np.zeros(4))


def test_where_numbers_are_needed_the_message_says_what_does():
    gains = np.array([1.0, 2.0])

    def added(_t, q, _v):
        tau = gains.copy()
        tau += q
        return tau

    def converted(_t, q, _v):
        return np.array([float(q[0]), 0.0])

    def looked_up(t, _q, _v):
        return np.ones((5, 2))[int(t)]

    def inverted(robot, _t, q, _v):
        return np.linalg.pinv(robot.jacobian(q)) @ np.zeros(6)

    laws = (
        (converted, r"without float\(\)"),
        (added, r"x = x \+ y"),
        (looked_up, "a number is needed"),
        (inverted, r"numpy\.linalg\.pinv cannot"),
    )
    for law, cure in laws:
        with pytest.warns(dy.PerformanceWarning, match=cure):
            dy.rollouts(dy.load("planar_2r_melchiorri"), 0.002, np.zeros(2), controller=law)


def test_too_many_branches_and_branches_of_different_shapes_are_refused():
    x = np.array([symbol(f"x{k}") for k in range(13)], dtype=object)
    with pytest.raises(InputError, match="combinations of branches"):
        call_with_symbols(lambda x: np.array([max(e, 0.0) for e in x]), x)
    with pytest.raises(InputError, match="different shapes"):
        call_with_symbols(lambda x: x if x[0] > 0.0 else x[:2], x)

    def endless(x):
        while x[0] > 0.0:
            x = 0.5 * x
        return x

    with pytest.raises(InputError, match="64 branches in turn"):
        call_with_symbols(endless, x)


def test_numpy_and_math_are_as_before_after_a_recording_that_failed():
    def failing(x):
        y = np.zeros(3)
        y[0] = float(x[0])
        return y

    x = np.array([symbol(f"x{k}") for k in range(3)], dtype=object)
    with pytest.raises(InputError, match="a number is needed"):
        call_with_symbols(failing, x)
    assert np is sys.modules["numpy"]
    assert math is sys.modules["math"]
    assert sqrt is math.sqrt
    assert np.zeros(2).dtype == float
