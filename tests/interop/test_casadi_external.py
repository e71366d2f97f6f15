"""C with the function interface of CasADi, compiled and called by `casadi.external`."""

import shutil
import subprocess

import numpy as np
import pytest
from random_trees import relative_error

import dynamis as dy

ca = pytest.importorskip("casadi", reason="CasADi is not installed: pip install casadi")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
ROBOT = dy.load("scara")
rng = np.random.default_rng(0)
GIVEN = rng.normal(size=(3, ROBOT.n))


def compiled(folder, function, robot=ROBOT, **options):
    if COMPILER is None:
        pytest.skip("no C compiler on this machine")
    path = robot.write_casadi(function, folder, **options)[0]
    library = path.with_suffix(".so")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, path, "-o", library, "-lm"], check=True)
    return ca.external(path.stem, str(library))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_values_and_jacobians_are_those_of_the_methods(tmp_path, name):
    function = compiled(tmp_path, name)
    result = np.array(function(*GIVEN)).ravel()
    assert relative_error(result, getattr(ROBOT, name)(*GIVEN)) < 1e-12
    assert function.name_in() == ["q", "v", "a" if name == "inverse_dynamics" else "tau"]
    x = [ca.MX.sym(letter, ROBOT.n) for letter in "xyz"]
    blocks = ca.Function("J", x, [ca.jacobian(function(*x), y) for y in x])(*GIVEN)
    for found, expected in zip(blocks, getattr(ROBOT, f"{name}_derivatives")(*GIVEN), strict=True):
        assert relative_error(np.array(found), expected) < 1e-12


def test_matrices_are_stored_by_columns_without_zeros(tmp_path):
    M = compiled(tmp_path, "mass_matrix")
    assert relative_error(np.array(M(GIVEN[0])), ROBOT.mass_matrix(GIVEN[0])) < 1e-12
    assert M.nnz_out(0) == np.count_nonzero(ROBOT.mass_matrix(GIVEN[0])) < ROBOT.n**2
    q = ca.MX.sym("q", ROBOT.n)
    found = np.array(ca.Function("J", [q], [ca.jacobian(M(q), q)])(GIVEN[0]))
    h, columns = 1e-6, []
    for e in np.eye(ROBOT.n):
        change = ROBOT.mass_matrix(GIVEN[0] + h * e) - ROBOT.mass_matrix(GIVEN[0] - h * e)
        columns.append(change.ravel(order="F") / (2 * h))
    assert np.abs(found - np.stack(columns, axis=-1)).max() < 1e-8


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity"])
def test_hessians_are_those_of_expressions(tmp_path, name):
    external, expressions = compiled(tmp_path, name, hessian=True), ROBOT.casadi(name)
    weights = ca.DM(np.random.default_rng(1).normal(size=expressions.size_out(0)))

    def hessian(function, kind):
        x = [kind.sym(letter, ROBOT.n) for letter in expressions.name_in()]
        y = ca.vec(weights * function(*x))
        return np.array(ca.Function("H", x, [ca.hessian(ca.sumsqr(y) + ca.sum1(y), ca.vertcat(*x))[0]])(*GIVEN[: len(x)]))

    found, expected = hessian(external, ca.MX), hessian(expressions, ca.SX)
    assert np.abs(found - expected).max() <= 1e-10 * np.abs(expected).max()


def test_without_hessian_there_are_first_derivatives_only(tmp_path):
    assert [path.name for path in ROBOT.write_casadi("gravity", tmp_path)][-1] == "gravity_jacobian.c"
    assert "adj1_gravity" not in (tmp_path / "gravity.c").read_text()


def test_ipopt_takes_exact_hessians(tmp_path):
    arm = dy.load("planar_2r_melchiorri")

    def shortest(dynamics):
        count, problem = 20, ca.Opti()
        q, v, tau = (problem.variable(2, count + 1) for _ in range(3))
        for k in range(count):
            problem.subject_to(v[:, k + 1] == v[:, k] + 0.05 * dynamics(q[:, k], v[:, k], tau[:, k]))
            problem.subject_to(q[:, k + 1] == q[:, k] + 0.05 * v[:, k + 1])
        problem.subject_to(ca.vertcat(q[:, 0], v[:, 0], q[:, count], v[:, count]) == [0, 0, 0, 0, 1.2, -0.8, 0, 0])
        problem.minimize(ca.sumsqr(tau))
        problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "hessian_approximation": "exact"})
        solution = problem.solve()
        return solution.stats()["iter_count"], solution.value(q)

    (iterations, found), (others, expected) = (
        shortest(f) for f in (compiled(tmp_path, "forward_dynamics", arm, hessian=True), arm.casadi("forward_dynamics"))
    )
    assert iterations == others
    assert np.abs(found - expected).max() < 1e-8


def test_parameters_steps_and_missing_arguments(tmp_path):
    m = dy.symbol("m")
    arm = dy.load("planar_2r_melchiorri").replace(payload=dy.solids.sphere(0.05, mass=m))
    step = dy.optimize.Step(arm, 0.01, parameters=[m])
    function = compiled(tmp_path, step.function, arm, u=2, parameters=[m], name="arm_step")
    given = GIVEN[0][:2], GIVEN[1][:2], GIVEN[2][:2], [1.5]
    assert relative_error(np.array(function(*given)).ravel(), np.concatenate(step(*given))) < 1e-12
    p = ca.MX.sym("p")
    slope = ca.Function("J", [p], [ca.jacobian(function(*given[:3], p), p)])(1.5)
    assert relative_error(np.array(slope), step.parameter_derivatives(*given)) < 1e-9
    assert relative_error(np.array(function(u=[1.0, 2.0], parameters=1.5)["out"]).ravel(),
                          np.concatenate(step([0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [1.5]))) < 1e-12  # fmt: skip


def test_what_has_no_matrix_is_refused(tmp_path):
    with pytest.raises(dy.InputError, match="return a vector or a matrix"):
        ROBOT.write_casadi("poses", tmp_path)
    with pytest.raises(dy.InputError, match="C name"):
        ROBOT.write_casadi("gravity", tmp_path, name="a b")
    assert not list(tmp_path.iterdir())
