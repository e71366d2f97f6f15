"""Functions written for numbers give the same values when they are recorded: branches, NumPy's functions."""

import math
from math import sqrt

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.scalar import Program, call_with_symbols, gradient, symbol


def saturated(x):
    return np.clip(3.0 * x, -1.0, [0.5, 1.0, 2.0]) + (2.0 * x).clip(0.1, max=0.4)


def dead_zone(x):
    return np.where(np.abs(x) > 0.5, x - 0.5 * np.sign(x), 0.0)


def branches(x):
    if x[0] > 0.0:
        return np.array([x[1], max(x[2], 0.1), 1.0])
    if x[1] < x[2] or x[0] < -1.0:
        return -x
    return np.array([0.0, min(x[0], x[1]), abs(x[2])])


def combined(x):
    return x * ((x > -0.5) & ~(x > 0.5)) + np.where((x < -1.0) | (x > 1.0), 1.0, 0.0)


def scalars(x):
    return np.array([np.maximum(x[0], x[1]), np.hypot(x[0], x[2]), np.interp(x[1], [-1.0, 0.0, 0.5], [2.0, 0.0, 3.0])])


def scaled(x):
    return np.clip(x[0] * (x - 1.0) + np.sum(x) * np.ones(3), -0.5, np.concatenate([[0.3], x[:2] + 1.0]))


def others(x):
    chosen = np.select([x > 0.5, x < -0.5], [x, 2.0 * x], 0.1)
    if np.any(np.isnan(x)) or not np.isfinite(x).all():
        raise ValueError("not finite")
    return (
        chosen + np.heaviside(x, 0.5) + np.sinh(x) * np.cosh(x) + np.round(x, 1) + np.rint(2.0 * x) + np.round(0.5 * np.rint(x))
    )


def wrapped(x):
    angle = (x + np.pi) % (2.0 * np.pi) - np.pi
    return angle + x[0] // 0.4 + x[1] % 0.3 + np.trunc(3.0 * x)


def masked(x):
    y = 2.0 * x
    y[y > 0.5] = 0.5
    y[np.abs(y) < 0.1] = x[0]
    return y


def not_numbers(x):
    with np.errstate(invalid="ignore", divide="ignore"):
        root, quotient = np.sqrt(x), 1.0 / np.maximum(x, 0.0)
    return np.where(np.isnan(root), -1.0, root) + np.isfinite(root) + 2.0 * np.isinf(quotient)


def with_jumps(x):
    return np.interp(x, [-1.0, 0.0, 0.0, 0.5, 0.5], [0.0, 1.0, 3.0, 3.0, -2.0])


def more(x):
    rounded = np.array([round(x[0]), round(x[1], 1), np.fmod(x[2], 0.3)])
    J = np.outer(x, [1.0, x[1], 2.0]) + np.diag(x) + np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.5, 0.0, 1.0]])
    return rounded + np.linalg.det(J) + np.linalg.det(J[:2, :2]) + x * ((x[0] > 0.0) ^ (x[1] > 0.0))


def powers(x):
    y = np.abs(x)
    return y**1.5 + y**-0.5 + y**1.3 + (0.0 * y) ** 0.7 + 2.0**x + y**x + np.power(y, 1.7) + y**3


def variable_powers(x):
    return np.rint(3.0 * x) ** np.rint(2.0 * np.abs(x[::-1])) + np.power(x, np.rint(x[0])) + x**65 + (-2.0) ** np.rint(x)


def hyperbolic(x):
    return np.sinh(1e-9 * x) * 1e9 + np.sinh(5.0 * x) - np.cosh(x)


def some_not_numbers(x):
    with np.errstate(invalid="ignore"):
        root = np.sqrt(x)
    return (
        np.fmax(root, 0.2)
        + np.fmin(0.1, root)
        + np.where(root != root, 1.0, 2.0)
        + np.fmax(0.3, np.array([root[0], x[1], x[2]]))
    )


def truths(x):
    whole = np.rint(x)
    return (
        np.where(np.logical_not(whole), 1.0, 2.0)
        + 1.0 * np.logical_and(x, 2.0)
        + 3.0 * np.logical_or(-np.abs(whole), x > 0.5)
        + np.where(np.logical_xor(whole, np.floor(x)), 0.5, 0.0)
        + np.where((x > 0.0) & (x < 1.0) | ~(x > -1.0), x, 0.0)
    )


def spread(x):
    left, right = np.interp(x, [-0.5, 0.5], [1.0, 2.0], left=-3.0), np.interp(x, [-0.5, 0.5], [1.0, 2.0], right=7.0)
    return left + right + x.std() + np.var(x, ddof=1) + np.mean(x) + np.std(np.array([x[0], 2.0 * x[1]]))


def largest(x):
    return x / np.maximum(np.max(np.abs(x)), 1.0) if np.any(x > 1.0) else x * np.linalg.norm(x)


def angles(x):
    return np.array([np.arctan2(x[0], x[1]), np.arctan(x[2]), np.arcsin(x[0] / 3.0) + np.deg2rad(x[1]) + np.floor(x[2])])


def in_place(x):
    result = np.zeros_like(x)
    result[0] = x[1]
    result[1:] += x[:2]
    result -= 0.5
    return result


def solved(x):
    A = np.outer(x, x) + np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    return np.linalg.solve(A, x) + np.linalg.inv(A)[0]


def unpacked(x):
    a, b, c = x
    return np.stack([np.clip(a, -0.1, 0.1), b if 0.0 < b < 1.0 else 0.0 * b, np.minimum(a, c)])


def assigned(x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = math.sin(x[k]) * math.copysign(2.0, x[0]) + math.pow(abs(x[k]), 1.5)
        if y[k] > 0.6:
            y[k] = 0.6
        elif y[k] < -0.6:
            y[k] = -0.6
    total = np.empty_like(np.array([0.0]))
    total[0] = math.hypot(x[0], x[1])
    y += total[0]
    return y + math.atan2(x[0], x[1]) + sqrt(math.fabs(x[2]))


class Saturation:
    """A function with a helper, both of which fill arrays of numbers."""

    def limited(self, x):
        y = np.ones(1)
        y[0] = math.tanh(x)
        return y[0]

    def __call__(self, x):
        y = np.full(3, 0.5)
        for k in range(3):
            y[k] = self.limited(x[k])
        return y


FUNCTIONS = (
    more,
    powers,
    variable_powers,
    hyperbolic,
    some_not_numbers,
    truths,
    spread,
    assigned,
    Saturation().__call__,
    saturated,
    dead_zone,
    branches,
    combined,
    scalars,
    scaled,
    others,
    wrapped,
    masked,
    not_numbers,
    with_jumps,
    largest,
    angles,
    in_place,
    solved,
    unpacked,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_recorded_function_has_the_values_of_the_function(function):
    x = np.array([symbol(f"x{k}") for k in range(3)], dtype=object)
    program = Program(list(x), call_with_symbols(function, x))
    rng = np.random.default_rng(0)
    for values in rng.normal(size=(50, 3)):
        assert np.allclose(program(*values), function(values), atol=1e-12)


def test_compiled_functions_have_the_values_of_the_functions():
    arm = dy.load("scara")
    q = np.random.default_rng(2).normal(size=(40, arm.n))

    def of(some):
        return lambda _robot, q: tuple(function(q[:3]) for function in some)

    for some in np.split(np.array(FUNCTIONS), [4, 8, 12, 16, 20]):  # together they are recorded anew for each branch of any
        kernel = arm.compile(of(some))
        for function, found in zip(some, kernel(q), strict=True):
            assert np.allclose(found, [function(x[:3]) for x in q], atol=1e-12), function.__name__


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_numbers_are_passed_as_they_are(function):
    x = np.array([0.3, -0.7, 1.2])
    assert np.array_equal(call_with_symbols(function, x), function(x))


def test_powers_have_derivatives_at_zero():
    x = symbol("x")
    assert Program([x], [gradient(abs(x) ** 1.3, [x])[0]])(0.0) == 0.0
    assert Program([x], [gradient(x**1.3, [x])[0]])(2.0) == pytest.approx(1.3 * 2.0**0.3)


def test_powers_with_variable_exponents_have_the_values_and_slopes_of_numpy():
    arm = dy.load("planar_2r_melchiorri")

    def power(_robot, v, p):
        return v ** p[0]

    v, p = np.array([-2.0, 2.0, -0.5, 0.0, 3.0]), np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 0.5])
    v, p = (x.ravel() for x in np.meshgrid(v, p))
    function = arm.differentiate(power, "v", p=1)
    J = function.jacobian(np.stack([v, v], axis=-1), p[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        expected, slope = v**p, np.where(p == 0.0, 0.0, p * v ** (p - 1.0))
    for count in (3, len(v)):  # interpreted, and by machine code
        found = arm.compile(power, v=1, p=1)(v[:count, None], p[:count, None])[:, 0]
        np.testing.assert_allclose(found, expected[:count], rtol=1e-15)
    np.testing.assert_allclose(J[:, 0, 0], slope, rtol=1e-14)
    x, y = symbol("x"), symbol("y")
    by_exponent = Program([x, y], gradient(x**y, [x, y])[1:])
    assert by_exponent(2.0, 3.0)[0] == pytest.approx(8.0 * np.log(2.0))
    assert by_exponent(0.0, 3.0)[0] == 0.0
    assert np.isnan(by_exponent(-2.0, 3.0)[0])


def test_hyperbolic_sines_near_zero_have_all_digits():
    x = np.array([1e-300, 1e-12, -1e-9, 1e-5, 0.01, 0.7, -20.0, 700.0])
    sinh, slope = (
        Program([symbol("x")], [f])(x)[:, 0] for f in (np.sinh(symbol("x")), gradient(np.sinh(symbol("x")), [symbol("x")])[0])
    )
    np.testing.assert_allclose(sinh, np.sinh(x), rtol=1e-15 * 4)
    np.testing.assert_allclose(slope, np.cosh(x), rtol=1e-15 * 4)


def test_what_is_not_a_number_is_found_by_comparing_a_value_with_itself():
    def replaced(_robot, q, x):
        ratio = x[0] / x[1]
        return np.array([np.where(ratio != ratio, 1.0, 0.0), np.fmax(ratio, 0.0), np.where(np.isnan(ratio), 7.0, ratio)])

    def skipped(_robot, q, x):
        ratios = np.array([1.0, x[0] / x[1], 3.0])
        return np.array([np.nansum(ratios), np.nanmax(x / x[1]), np.nanmean(np.append(x / x[1], 5.0))])

    arm = dy.load("planar_2r_melchiorri")
    assert arm.compile(skipped, x=2)(np.zeros(2), [0.0, 0.0]).tolist() == [4.0, 1.0, 3.0]
    kernel = arm.compile(replaced, x=2)
    x = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, -2.0]])
    expected = [[1.0, 0.0, 7.0], [0.0, np.inf, np.inf], [0.0, 0.0, -0.5]]
    np.testing.assert_array_equal(kernel(np.zeros(2), x), expected)
    np.testing.assert_array_equal(kernel(np.zeros(2), np.tile(x, (20, 1))), np.tile(expected, (20, 1)))


def test_paths_that_change_results_of_the_robot_do_not_disturb_each_other():
    arm = dy.load("planar_2r_melchiorri")

    def law(robot, q):
        tau = robot.gravity(q)
        tau[0] = tau[0] if q[0] > 0.0 else 0.0  # of a copy
        return tau if q[1] > 0.0 else robot.gravity(q)

    q = np.random.default_rng(0).normal(size=(20, 2))
    assert np.allclose(arm.compile(law)(q), [law(arm, x) for x in q], atol=1e-9)


def test_results_of_the_robot_are_recorded_too():
    arm = dy.load("ur5e")

    def law(robot, q, v):
        error = np.array([0.4, 0.2, 0.5]) - robot.pose(q)[:3, 3]
        distance = np.linalg.norm(error)
        if distance > 0.1:
            error = 0.1 * error / distance
        return np.clip(robot.jacobian(q)[:3].T @ (500.0 * error) - 20.0 * v + robot.gravity(q), -30.0, 30.0)

    q, v = arm.random(0, 20), np.random.default_rng(1).normal(size=(20, 6))
    assert np.allclose(arm.compile(law)(q, v), [law(arm, *state) for state in zip(q, v, strict=True)], atol=1e-10)


def test_a_rollout_of_a_saturated_law_is_compiled_and_equals_its_simulation():
    arm = dy.load("planar_2r_melchiorri")

    def law(t, q, v):
        tau = np.clip(300.0 * (0.5 - q) - 50.0 * v, -200.0, 200.0)
        return 0.0 * tau if t < 0.05 else tau

    start = arm.random(0)
    made = dy.rollouts(arm, 0.2, start, controller=law, step=1e-3)
    alone = dy.simulate(arm, made.t, start, controller=law, method="rk4", step=1e-3)
    assert made.note == ""
    assert np.allclose(made.q, alone.q, atol=1e-12)


def test_products_of_entries_and_arrays_are_recorded():
    x = np.array([symbol(f"x{k}") for k in range(9)], dtype=object)
    for function in (
        lambda x: np.clip(x[0] * x, -1.0, 1.0),
        lambda x: np.maximum(np.concatenate([x[:3], [x[4]]]) * np.sin(x[1]), 0.0),
    ):
        assert "max(" in str(call_with_symbols(function, x))


def inverted(x):
    A = np.array([[2.0 + x[0], x[1]], [x[1], 3.0]])
    return np.linalg.solve(A, np.array([1.0, x[2]])) + np.linalg.inv(A) @ np.asarray([x[0], 1.0])


def test_matrices_made_of_entries_are_solved():
    x = np.array([symbol(f"x{k}") for k in range(3)], dtype=object)
    values = np.array([0.1, 0.2, -0.4])
    assert np.allclose(Program(list(x), call_with_symbols(inverted, x))(*values), inverted(values))
    with pytest.raises(InputError, match=r"numpy\.linalg\.eigvalsh cannot be recorded"):
        call_with_symbols(lambda x: np.linalg.eigvalsh(np.array([[x[0], 1.0], [1.0, x[1]]])), x)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("missing", [math.nan, -math.nan, math.inf])
def test_numbers_that_are_not_finite_may_be_results_of_compiled_functions(missing):
    def inside(robot, q):
        return np.concatenate([np.where(q > 0.0, q, missing), q * missing, [missing]])

    arm, q = dy.load("planar_2r_melchiorri"), np.tile([0.5, -0.5], (300, 1))
    kernel = arm.compile(inside)
    for dtype in (np.float64, np.float32):
        np.testing.assert_array_equal(kernel(q.astype(dtype))[-1], inside(arm, q[0].astype(dtype)))


@pytest.mark.parametrize(
    "kept", [list, tuple, np.array, lambda some: dict(enumerate(some))], ids=["list", "tuple", "array", "dict"]
)
def test_functions_in_containers_are_recorded_as_those_that_are_named(kept):
    arm, functions = dy.load("scara"), kept([some_not_numbers, combined])
    q = np.random.default_rng(2).normal(size=(10, arm.n))

    def both(_robot, q):
        return tuple(functions[k](q[:3]) for k in range(2))

    for found, function in zip(arm.compile(both)(q), (some_not_numbers, combined), strict=True):
        assert np.allclose(found, [function(x[:3]) for x in q], atol=1e-12)
