"""The text of every renderer, against files in `rendered/`. After an intended change: `pytest tests/compiler/test_rendered_code.py --update`,
and read the difference.
"""

from pathlib import Path

import numpy as np
import pytest
from operations import OPERANDS, build

from dynamis.compiler import c_text, cuda_text, llvm_text
from dynamis.compiler.c_casadi import render_casadi
from dynamis.compiler.cuda_time_stepper import RK4, render_march
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.target import Target
from dynamis.scalar.program import MEANING
from dynamis.version import __version__

RENDERED = Path(__file__).parent / "rendered"


def every_operation(x):
    return np.array([build(op, *x[: OPERANDS[op]]) for op in MEANING])


def pendulum(x, t, h):
    """The rate of (angle, rate of the angle)."""
    return np.array([x[1], -9.81 * np.sin(x[0]) - 0.1 * x[1] * np.cos(x[0]) + 0.0 * t[0] * h[0]])


def slope(x, t, h):
    return np.array([[0.0, 1.0], [-9.81 * np.cos(x[0]) + 0.1 * x[1] * np.sin(x[0]), -0.1 * np.cos(x[0])]])


def code_of(function):
    sizes = [("x", 3)] if function is every_operation else [("x", 2), ("t", 1), ("h", 1)]
    return Kernel([function], sizes, function.__name__).code


def c_source(function, precision):
    states = [[np.array([0.25, 0.5]), np.zeros(1), np.ones(1)]] if function is pendulum else []
    return "".join(c_text.render(code_of(function), function.__name__, precision, function.__name__, states, ["y"]))


TEXTS = {
    "operations.c": lambda: c_source(every_operation, "double"),
    "operations_float.c": lambda: c_source(every_operation, "float"),
    "pendulum.c": lambda: c_source(pendulum, "double"),
    "pendulum_casadi.c": lambda: render_casadi(code_of(pendulum), code_of(slope), (), "pendulum", "pendulum", "y"),
    "operations.cu": lambda: cuda_text.render(code_of(every_operation), "f", "double"),
    "operations_float.cu": lambda: cuda_text.render(code_of(every_operation), "f", "float"),
    "pendulum_rk4.cu": lambda: render_march(code_of(pendulum), "f", "double", RK4),
    "operations_neon.ll": lambda: llvm_text.render(code_of(every_operation), Target("double", 2, 32)),
    "pendulum_avx512.ll": lambda: llvm_text.render(code_of(pendulum), Target("double", 8, 32, masked=True)),
    "pendulum_neon_float.ll": lambda: llvm_text.render(code_of(pendulum), Target("float", 4, 32)),
    "pendulum_quick.ll": lambda: llvm_text.render(code_of(pendulum), Target("double", 4, 16), quick=True),
}


@pytest.mark.parametrize("name", TEXTS)
def test_rendered_code_is_that_of_the_file(name, request):
    text = TEXTS[name]().replace(f"dynamis {__version__}", "dynamis VERSION")
    path = RENDERED / name
    if request.config.getoption("--update"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_file_has_a_renderer():
    assert {path.name for path in RENDERED.iterdir()} == set(TEXTS)
