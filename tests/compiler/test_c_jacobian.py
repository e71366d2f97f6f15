"""Jacobians and storage orders of generated C, compared with NumPy through shared libraries."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from campaign_params import few_of
from click.testing import CliRunner
from random_trees import relative_error

import dynamis as dy
from dynamis.cli.commands import cli

COMPILER = shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]


def self_test(source):
    program = source.with_suffix(".test")
    flag = f"-D{source.stem.upper()}_SELFTEST"
    subprocess.run([COMPILER, *STRICT, flag, str(source), "-o", str(program), "-lm"], check=True)
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "0 wrong of 20" in run.stdout


def called(source, arrays, count, dtype=float):
    """The numbers that the C function writes."""
    library = source.with_suffix(".so")
    subprocess.run([COMPILER, *STRICT, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
    result = np.empty(count, dtype)
    given = [np.ascontiguousarray(x, dtype) for x in arrays]
    getattr(ctypes.CDLL(str(library)), source.stem)(*(ctypes.c_void_p(x.ctypes.data) for x in (*given, result)))
    return result


def reach(robot, q, gain):
    """A function of the user's own: a matrix."""
    return gain[0] * robot.jacobian(q)[:3]


CASES = {
    "own recursion": ("ur5e", "fixed", "forward_dynamics", {}),
    "matrix": ("puma560", "fixed", "mass_matrix", {}),
    "number": ("planar_2r_melchiorri", "fixed", "kinetic_energy", {}),
    "quaternion": ("scara", "floating", "inverse_dynamics", {}),
    "function": ("puma560", "fixed", reach, {"gain": 1}),
}


EVERY_CASE = [(case, order) for case in CASES for order in ("column", "row")]


@pytest.mark.parametrize(("case", "order"), few_of(EVERY_CASE, EVERY_CASE[::3] + EVERY_CASE[8::9]))
def test_values_and_jacobians_in_both_orders(tmp_path, case, order):
    name, base, function, sizes = CASES[case]
    robot = dy.load(name, base=base)
    files = robot.write_c(function, tmp_path, jacobian=True, order=order, **sizes)
    own = function if isinstance(function, str) else function.__name__
    assert [path.name for path in files] == [f"dynamis_{own}{x}" for x in (".h", ".c", "_jacobian.h", "_jacobian.c")]
    assert all(("row by row" if order == "row" else "column by column") in path.read_text() for path in files[::2])
    slopes = robot.differentiate(function, **sizes)
    rng = np.random.default_rng(1)
    kernel = robot.compile(function, **sizes)
    state = [robot.random(1) if x == "q" else rng.normal(size=size) for x, size in kernel.arguments]
    for source, expected in ((files[1], slopes.value(*state)), (files[3], slopes.jacobian(*state))):
        self_test(source)
        flat = np.ravel(expected, "C" if order == "row" else "F")
        assert relative_error(called(source, state, flat.size), flat) < 1e-10


def test_functions_compiled_before_and_single_precision(tmp_path):
    robot = dy.load("puma560")
    header, source, jacobian_header, jacobian = robot.write_c(
        robot.compile(reach, gain=1), tmp_path, name="reach", precision="float", jacobian=True, order="column"
    )
    assert (header.name, source.name, jacobian.name) == ("reach.h", "reach.c", "reach_jacobian.c")
    self_test(source)
    self_test(jacobian)
    q, gain = robot.random(0), np.array([2.0])
    expected = robot.differentiate(reach, gain=1).jacobian(q, gain)
    found = called(jacobian, [q, gain], expected.size, np.float32)
    assert relative_error(found, expected.ravel("F")) < 1e-4
    text = jacobian_header.read_text()
    assert "Jacobian of reach by q (columns 0 to 5), gain (columns 6 to 6), of" in text
    assert "output jacobian: 3 x 6 x 7 numbers" in text


def test_parameters_are_an_argument(tmp_path):
    m = dy.symbol("m")
    robot = dy.load("planar_2r_melchiorri").replace(payload=dy.solids.sphere(0.05, mass=m))
    *_, jacobian = robot.write_c("gravity", tmp_path, parameters=[m], jacobian=True)
    self_test(jacobian)
    q, mass = np.array([0.3, 0.4]), np.array([1.5])
    expected = robot.differentiate("gravity", parameters=[m]).jacobian(q, mass)
    assert relative_error(called(jacobian, [q, mass], expected.size), expected.ravel()) < 1e-10


def test_mistakes_are_refused(tmp_path):
    robot = dy.load("planar_2r_melchiorri")
    with pytest.raises(dy.InputError, match="order 'F' is unknown; choose 'row' or 'column'"):
        robot.write_c("gravity", tmp_path, order="F")
    with pytest.raises(dy.InputError, match="returns 2 arrays"):
        robot.write_c(lambda robot, q: (q, robot.gravity(q)), tmp_path, jacobian=True)
    with pytest.raises(dy.InputError, match="length of the argument 'gain' is unknown"):
        robot.write_c(reach, tmp_path)
    with pytest.raises(dy.InputError, match="has its parameters and the lengths of its arguments already"):
        robot.write_c(robot.compile(reach, gain=1), tmp_path, gain=1)
    assert not list(tmp_path.iterdir())
    for name in ("int", "sin", "Upper"):
        with pytest.raises(dy.InputError, match="the C name"):
            robot.write_casadi("gravity", tmp_path, name=name)


def test_the_command_has_the_same_options(tmp_path):
    options = ["--jacobian", "--order", "column", "--name", "arm", "-o", str(tmp_path)]
    run = CliRunner().invoke(cli, ["export", "planar_2r_melchiorri", "forward_dynamics", *options])
    assert run.exit_code == 0, run.output
    assert "ARM_JACOBIAN_SELFTEST" in run.output
    assert "column by column" in (tmp_path / "arm_jacobian.h").read_text()
    self_test(tmp_path / "arm_jacobian.c")
