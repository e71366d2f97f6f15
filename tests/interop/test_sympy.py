"""Functions of robots as expressions of SymPy: values, symbols of closed forms, derivatives, conditions, refusals."""

import sys

import numpy as np
import pytest
from random_trees import relative_error

import dynamis as dy

sympy = pytest.importorskip("sympy", reason="SymPy is not installed: pip install sympy")
ARM = dy.load("planar_2r_melchiorri")
rng = np.random.default_rng(0)


@pytest.mark.parametrize(("robot", "name", "frame"), [
    ("scara", "inverse_dynamics", None), ("scara", "mass_matrix", None), ("scara", "kinetic_energy", None),
    ("ur5e", "forward_dynamics", None), ("ur5e", "jacobian", "tool0"), ("ur5e", "forward_dynamics_derivatives", None),
])  # fmt: skip
def test_values_are_those_of_the_methods(robot, name, frame):
    loaded = dy.load(robot)
    function = loaded.sympy(name, frame=frame)
    given = [rng.normal(size=loaded.n) for _ in function.arguments]
    expected = np.array(getattr(loaded, name)(*given, *([frame] if frame else [])))
    found = np.array(function.lambdify()(*given), float)
    assert relative_error(found.reshape(expected.shape), expected) < 1e-12


def test_expressions_are_those_of_the_closed_form():
    found, expected = ARM.sympy("mass_matrix").result, ARM.closed_form().M
    assert all(sympy.simplify(found[i, j] - expected[i, j].sympy()) == 0 for i in range(2) for j in range(2))


def test_expressions_are_differentiated_and_substituted():
    function = ARM.sympy("forward_dynamics")
    q, v, tau = function.arguments.values()
    given = rng.normal(size=(3, 2))
    values = dict(zip([*q, *v, *tau], given.ravel(), strict=True))
    for k, x in enumerate((q, v, tau)):
        found = np.array(function.result.jacobian(x).evalf(subs=values), float)
        assert relative_error(found, ARM.forward_dynamics_derivatives(*given)[k]) < 1e-12


def test_parameters_quaternions_and_functions_of_ones_own():
    g = dy.symbol("g")
    weight = ARM.replace(gravity=[0, -g, 0]).sympy("gravity", parameters=[g])
    (symbol,) = weight.arguments["parameters"]
    assert symbol == sympy.Symbol("g", real=True)
    assert symbol in weight.result.free_symbols
    flying = dy.load("go2", base="floating").sympy(lambda robot, q, goal: robot.center_of_mass(q) - goal, goal=3)
    assert [len(x) for x in flying.arguments.values()] == [19, 3]
    steep = ARM.sympy(lambda robot, q: np.where(q[0] > 0.5, np.maximum(q[0], q[1]), 2.0))
    q = steep.arguments["q"]
    assert [steep.result.subs(dict(zip(q, x, strict=True))) for x in ((1, 3), (0, 3))] == [3, 2]
    with pytest.raises(dy.InputError, match="returns 2 arrays"):
        ARM.sympy(lambda robot, q: (robot.gravity(q), q))


def test_without_sympy_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(dy.MissingExtraError, match="pip install 'dynamis\\[sympy\\]'"):
        ARM.sympy("gravity")
