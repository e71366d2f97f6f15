"""Compilation of a controller, and export to C: the law with its gains, reference and model in one function."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import c_text
from dynamis.compiler.kernel import Kernel
from dynamis.control.law import ControlLaw
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric

Array = npt.NDArray[Any]


def compile_law(robot: Robot, law: ControlLaw) -> Kernel:
    """The law with this robot as its model: (t, q, v) → τ, with states (t, q, v, x) → (τ, ẋ), over any batch.

    The last axis of t has length one. Measurements of the law are the last arguments.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> torques = compile_law(arm, dy.control.ComputedTorque.designed([0.1, 0.2], bandwidth=5.0))
    >>> torques(np.zeros(1), np.zeros((7, 2)), np.zeros((7, 2))).shape
    (7, 2)
    """
    sizes = dict(_checked(law).measures)
    states = {"x": law.size} if law.size else {}

    def torques_and_rates(robot: Robot, t: Array, q: Array, v: Array, *more: Array) -> Any:
        tau = law(robot, t[0], q, v, *more)
        return (tau, law.rates(robot, t[0], q, v, *more)) if law.size else tau

    return _kernel(robot, torques_and_rates, {**states, **sizes})


def write_c(
    robot: Robot, law: ControlLaw, folder: str | os.PathLike[str], *,
    name: str | None = None, precision: str = "double", states: int = 20, duration: float = 1.0,
) -> list[Path]:  # fmt: skip
    """Write the law as dependency-free C99, header and source with a self-test, into a folder.

    The C function takes t, q and v, then the states x and measurements of the law, if any, and writes tau and x_dot. The
    self-test uses random states within the limits at times up to ``duration``. The function and both files are named ``name``,
    by default control_LAW. Existing files are replaced atomically.
    """
    if not (isinstance(states, int) and states > 0):
        raise InputError(f"states must be an integer of at least 1, got {states!r}")
    kernel = compile_law(robot, law)
    own = getattr(law, "law", law)
    label = name if name is not None else "control_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(own).__name__).lower()
    tests = _test_states(robot, law, kernel, states, duration)
    results = ["tau", "x_dot"][: len(kernel.code.outputs)]
    texts = c_text.render(kernel.code, label, precision, f"{type(own).__name__} of {robot.name}", tests, results)
    return c_text.write_pair(folder, label, texts)


def _checked(law: Any) -> ControlLaw:
    if not isinstance(law, ControlLaw):
        raise InputError(
            f"law must be a controller of dynamis.control, got {type(law).__name__}; use robot.compile for other functions"
        )
    return law


def _kernel(robot: Robot, function: Any, sizes: dict[str, int]) -> Kernel:
    check_numeric(robot)
    twin = Robot(robot.description, _tracing=True)
    arguments = [("t", 1), ("q", robot.nq), ("v", robot.n), *sizes.items()]
    return Kernel([lambda *arrays: function(twin, *arrays)], arguments, "control")


def _test_states(robot: Robot, law: Any, kernel: Kernel, count: int, duration: float) -> list[list[Array]]:
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(count):
        q, v = robot.random(rng), rng.uniform(-1.0, 1.0, robot.n)
        row = [np.array([rng.uniform(0.0, duration)]), q, v]
        for name, size in kernel.arguments[3:]:
            near = law.start(robot, q, v) if name == "x" else np.zeros(size)
            row.append(near + 0.1 * rng.uniform(-1.0, 1.0, size))
        rows.append(row)
    return rows
