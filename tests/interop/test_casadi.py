"""CasADi functions: values, names, Jacobians and Hessians, functions of one's own, parameters."""

import numpy as np
import pytest
from random_trees import random_robot, random_states, relative_error

import dynamis as dy
from dynamis.interop import casadi_functions

casadi = pytest.importorskip("casadi", reason="CasADi is not installed: pip install 'dynamis[casadi]'")
ROBOT = dy.load("panda")
STATE = [x[0] for x in random_states(np.random.default_rng(0), ROBOT, 1)]


def values(function, *state):
    found = function(*state)
    return [np.array(x) for x in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "pose", "jacobian"])
def test_values_are_those_of_the_method(name):
    function = ROBOT.casadi(name)
    arguments = {"q": STATE[0], "v": STATE[1], "a": STATE[2], "tau": STATE[2]}
    given = [arguments[x] for x in function.name_in()]
    expected = np.asarray(getattr(ROBOT, name)(*given))
    (found,) = values(function, *given)
    assert found.shape == (expected.shape if expected.ndim == 2 else (len(expected), 1))
    assert relative_error(found.reshape(expected.shape), expected) < 1e-12


@pytest.mark.filterwarnings("ignore:the dry friction")  # of derivatives at rest
@pytest.mark.parametrize("seed", [1, 4, 6])
def test_trees_with_every_joint_type(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=4)
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    (found,) = values(robot.casadi("inverse_dynamics"), q, v, a)
    assert relative_error(found.ravel(), robot.inverse_dynamics(q, v, a)) < 1e-11


def test_arguments_and_results_have_names():
    function = ROBOT.casadi("forward_dynamics", name="plant")
    assert (function.name(), function.name_in(), function.name_out()) == ("plant", ["q", "v", "tau"], ["a"])
    derivatives = ROBOT.casadi("inverse_dynamics_derivatives")
    assert derivatives.name_out() == ["dtau_0", "dtau_1", "dtau_2"]
    for found, expected in zip(values(derivatives, *STATE), ROBOT.inverse_dynamics_derivatives(*STATE), strict=True):
        assert relative_error(found, expected) < 1e-12


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_jacobians_are_our_derivatives_and_hessians_those_of_differences(name):
    function = ROBOT.casadi(name)
    x = [casadi.MX.sym(argument, 7) for argument in function.name_in()]
    together = casadi.vertcat(*x)
    J = casadi.Function("J", x, [casadi.jacobian(function(*x), together)])
    expected = getattr(ROBOT, f"{name}_derivatives")
    assert relative_error(np.array(J(*STATE)), np.hstack(expected(*STATE))) < 1e-12
    weights = np.arange(1.0, 8.0)
    H = casadi.Function("H", x, [casadi.hessian(casadi.dot(weights, function(*x)), together)[0]])
    step, found = 1e-5, np.array(H(*STATE))
    for k in range(21):
        moved = [np.concatenate(STATE) + s * step * np.eye(21)[k] for s in (1, -1)]
        ends = [weights @ np.hstack(expected(*np.split(y, 3))) for y in moved]
        assert np.abs(found[k] - (ends[0] - ends[1]) / (2 * step)).max() < 1e-6 * np.abs(found).max()


def test_functions_of_ones_own_with_further_arguments_and_parameters():
    def law(robot, q, v, goal):
        return (
            100.0 * (goal - q) - 20.0 * v + robot.gravity(q) + np.where(v[0] > 0.0, 1.0, -1.0) * np.tanh(np.minimum(q[0], 0.5))
        )

    robot = dy.load("planar_2r_melchiorri")
    q, v, goal = np.array([0.3, 0.9]), np.array([0.5, -0.4]), np.array([1.0, 2.0])
    (found,) = values(robot.casadi(law, goal=2), q, v, goal)
    assert relative_error(found.ravel(), robot.compile(law, goal=2)(q, v, goal)) < 1e-13
    m = dy.symbol("m")
    loaded = robot.replace(payload=dy.solids.sphere(0.05, mass=m)).casadi("gravity", parameters=[m])
    assert loaded.name_in() == ["q", "parameters"]
    heavy = robot.replace(payload=dy.solids.sphere(0.05, mass=2.0))
    assert relative_error(values(loaded, q, [2.0])[0].ravel(), heavy.gravity(q)) < 1e-13


def test_powers_and_tests_of_what_is_not_a_number_are_the_same():
    def function(_robot, q, p):
        ratio = p[0] / p[1]
        return np.array([q[0] ** p[0], q[1] ** p[1], np.where(ratio != ratio, 5.0, 1.0), np.fmax(ratio, 0.5)])

    robot = dy.load("planar_2r_melchiorri")
    compiled, made = robot.compile(function, p=2), robot.casadi(function, p=2)
    for q, p in (([-2.0, 0.0], [3.0, 2.0]), ([-2.0, 0.0], [0.0, 0.0]), ([2.0, 3.0], [-0.5, 1.5])):
        np.testing.assert_allclose(values(made, q, p)[0].ravel(), compiled(q, p), rtol=1e-14)


def test_ipopt_finds_a_motion_that_satisfies_our_dynamics():
    """A swing from rest to rest in 20 steps, with exact Hessians."""
    robot = dy.load("planar_2r_melchiorri")
    dynamics, h = robot.casadi("forward_dynamics"), 0.05
    problem = casadi.Opti()
    q, v, tau = problem.variable(2, 21), problem.variable(2, 21), problem.variable(2, 20)
    for k in range(20):
        problem.subject_to(v[:, k + 1] == v[:, k] + h * dynamics(q[:, k], v[:, k], tau[:, k]))
        problem.subject_to(q[:, k + 1] == q[:, k] + h * v[:, k + 1])
    for x, at, value in ((q, 0, [0.0, 0.0]), (v, 0, [0.0, 0.0]), (q, 20, [0.5, -0.4]), (v, 20, [0.0, 0.0])):
        problem.subject_to(x[:, at] == value)
    problem.minimize(casadi.sumsqr(tau))
    problem.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    solution = problem.solve()
    at, rates, torques = (np.array(solution.value(x)) for x in (q, v, tau))
    expected = robot.forward_dynamics(at[:, :-1].T, rates[:, :-1].T, torques.T)
    assert np.abs(np.diff(rates.T, axis=0) / h - expected).max() < 1e-6
    assert np.abs(at[:, -1] - [0.5, -0.4]).max() < 1e-8


def test_bad_names_and_a_missing_package_are_explained(monkeypatch):
    with pytest.raises(dy.InputError, match="no name of a CasADi function"):
        ROBOT.casadi("gravity", name="two words")
    with pytest.raises(dy.InputError, match="frame="):
        ROBOT.casadi(lambda robot, q: robot.gravity(q), frame="tool0")
    with pytest.raises(dy.NameLookupError, match="gravity"):
        ROBOT.casadi("gravitiy")
    monkeypatch.setitem(__import__("sys").modules, "casadi", None)
    with pytest.raises(dy.MissingExtraError, match=r"dynamis\[casadi\]"):
        casadi_functions.casadi_function(ROBOT.kernel("gravity").code)


def test_options_of_a_method_are_refused_not_ignored():
    for make in (ROBOT.casadi, ROBOT.compile):
        with pytest.raises(dy.InputError, match="jacobian has no argument 'axes'"):
            make("jacobian", axes="local")
    local = ROBOT.casadi(lambda robot, q: robot.jacobian(q, axes="local"))
    assert relative_error(values(local, STATE[0])[0], ROBOT.jacobian(STATE[0], axes="local")) < 1e-12
