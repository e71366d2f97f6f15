"""Compilation of a controller, and export to C: the law with its gains, reference and model in one function."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import c_text
from dynamis.compiler.kernel import Kernel
from dynamis.control.law import ControlLaw
from dynamis.errors import DynamisError, InputError
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric, warn_of_open_loops
from dynamis.simulation.actuators import warn_of_voltages
from dynamis.simulation.controllers import SIGNATURES, UPDATE, Controller, Law, as_law, first_states, recorded, sized
from dynamis.simulation.sampling import Sampled
from dynamis.trajectories.validate import positive

Array = npt.NDArray[Any]


def compile_law(robot: Robot, law: Any) -> Kernel:
    """A controller with this robot as its model: (t, q, v) → τ, with states (t, q, v, x) → (τ, ẋ), over any batch.

    A `Sampled` controller with states gives (τ, x at the next sample); q and v are as measured, so that it can have no delay,
    resolution or velocities from differences. A `MomentumObserver` gives its residual r as well, (τ, ẋ, r).

    ``law`` is a law of `dynamis.control`, a `Controller`, or a function of (t, q, v) or (robot, t, q, v) in plain NumPy. The
    last axis of t has length one. Measurements of the law are the last arguments.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> torques = compile_law(arm, dy.control.ComputedTorque.designed([0.1, 0.2], bandwidth=5.0))
    >>> torques(np.zeros(1), np.zeros((7, 2)), np.zeros((7, 2))).shape
    (7, 2)
    >>> limited = compile_law(arm, lambda t, q, v: np.clip(-900.0 * q - 200.0 * v, -50.0, 50.0))
    >>> limited(np.zeros(1), np.ones(2), np.zeros(2))
    array([-50., -50.])
    """
    own = _without_sampling(law)
    states, sampled = own.states or own.digital, own.sampled
    torque = own.torque or states
    assert torque is not None
    called, residual = recorded(torque, own.traceable), _residual(law)

    def torques_and_rates(robot: Robot, t: Array, q: Array, v: Array, *more: Array) -> Any:
        tau = sized(called(robot, t[0], q, v, *more), robot.n, "the controller")
        if states is None:
            return tau
        period = [] if sampled is None else [1.0 / sampled.rate]
        following = recorded(states.update if period else states.rates, own.traceable)(robot, t[0], q, v, *more, *period)
        following = sized(following, states.size, UPDATE if period else "rates of the controller")
        return (tau, following) if residual is None else (tau, following, residual(robot, q, v, more[0]))

    sizes = {"x": states.size} if states is not None else {}
    return _kernel(robot, law, torques_and_rates, {**sizes, **(law.measures if isinstance(law, Controller) else {})})


def write_c(
    robot: Robot, law: Any, folder: str | os.PathLike[str], *,
    name: str | None = None, precision: str = "double", states: int = 20, duration: float = 1.0,
) -> list[Path]:  # fmt: skip
    """Write a controller, as `compile_law` takes it, as dependency-free C99 into a folder: header, and source with a self-test.

    The C function takes t, q and v, then the states x and measurements of the law, if any, and writes tau and x_dot, for a
    `Sampled` controller x_next, for a `MomentumObserver` also its residual r; the header has the period and the first states.
    The self-test uses random states within the
    limits at times up to ``duration``. Function and files are named ``name``, by default control_ and the name of the law.
    Existing files are replaced atomically.
    """
    if not (isinstance(states, int | np.integer) and states > 0):
        raise InputError(f"states must be an integer of at least 1, got {states!r}")
    duration, kernel = positive(duration, "duration"), compile_law(robot, law)
    label = name if name is not None else "control_" + re.sub(r"(?<=[a-z])(?=[A-Z])|\W+", "_", _name(law)).lower()
    tests = c_text.finite_states(kernel.code, _test_states(robot, law, kernel, states, duration), states)
    results = ["tau", "x_dot" if as_law(law).sampled is None else "x_next", "r"][: len(kernel.code.outputs)]
    texts = c_text.render(kernel.code, label, precision, f"{_name(law)} of {robot.name}{_calls(robot, law)}", tests, results)
    return c_text.write_pair(folder, label, texts)


def _calls(robot: Robot, law: Any) -> str:
    """How a law with states is called: its period if it is sampled, and its first states."""
    own = as_law(law)
    states = own.states or own.digital
    if states is None:
        return ""
    first = first_states(states, robot, robot.home(), np.zeros(robot.n))
    values = ", ".join(f"{value:.9g}" for value in first) + " at rest in the home configuration" if first.any() else "0"
    period = "" if own.sampled is None else f", called every {1.0 / own.sampled.rate:.9g} s, with tau held between the calls"
    return f"{period}, x starts at {values}"


def _without_sampling(law: Any) -> Law:
    own = as_law(law)
    if own.is_empty:
        raise InputError(f"{SIGNATURES}; got {law!r}")
    if own.sampled is not None and own.digital is None:
        raise InputError("compiled code is called at the rate of its loop: give the function without Sampled")
    if own.sampled is not None and (options := own.sampled.measurement):
        raise InputError(
            f"compiled code takes q and v as they are measured and returns torques at once, without {', '.join(options)} of "
            "Sampled: give Sampled(law, rate) alone, and leave these to the sensors and the loop that calls it"
        )
    if own.extra:
        raise InputError(f"the controller requires {own.extra[0]!r}; give it a default, or bind it by functools.partial")
    return own


def _residual(law: Any) -> Callable[[Robot, Array, Array, Array], Array] | None:
    """The residual of an observer as a function of (robot, q, v, x), computed with the model of the law if it has one."""
    own = law.law if isinstance(law, Sampled) else law
    return getattr(own, "residual", None) if isinstance(own, ControlLaw) else None


def _name(law: Any) -> str:
    """The name of a function or of the class of a law, without the model or motors it may have."""
    while hasattr(law, "law"):
        law = law.law
    name = str(getattr(law, "__name__", type(law).__name__))
    return "function" if name == "<lambda>" else name


def _kernel(robot: Robot, law: Any, function: Any, sizes: dict[str, int]) -> Kernel:
    check_numeric(robot)
    warn_of_open_loops(robot, "this controller", stacklevel=4)
    warn_of_voltages(law, robot, stacklevel=4)
    twin = Robot(robot.description, _tracing=True)
    arguments = [("t", 1), ("q", robot.nq), ("v", robot.n), *sizes.items()]
    kernel = Kernel([lambda *arrays: function(twin, *arrays)], arguments, "control")
    try:
        kernel.code  # noqa: B018 - traced here, where the error can be named
    except DynamisError:
        raise
    except Exception as error:
        raise InputError(f"the controller cannot be compiled: {type(error).__name__}: {error}") from error
    return kernel


def _test_states(robot: Robot, law: Any, kernel: Kernel, count: int, duration: float) -> Callable[[], list[list[Array]]]:
    """A function that draws values of the arguments."""
    rng, own = np.random.default_rng(0), _without_sampling(law)
    states = own.states or own.digital

    def draw() -> list[list[Array]]:
        rows = []
        for _ in range(count):
            q, v = robot.random(rng), rng.uniform(-1.0, 1.0, robot.n)
            row = [np.array([rng.uniform(0.0, duration)]), q, v]
            for name, size in kernel.arguments[3:]:
                near = np.zeros(size) if states is None or name != "x" else states.start(robot, q, v)
                row.append(near + 0.1 * rng.uniform(-1.0, 1.0, size))
            rows.append(row)
        return rows

    return draw
