"""How long the compiled functions take on this machine."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dynamis.compiler.kernel import wait_for_compiler
from dynamis.report.numbers import text
from dynamis.report.section import Budget, Facts, Section, Table
from dynamis.report.subject import Subject
from dynamis.report.tiers import code_tier
from dynamis.robot import Robot

KEY, TITLE = "speed", "Speed"
STATES, REPEATS, ENOUGH = 4096, 30, 0.15  # ENOUGH: seconds for one function
CORIOLIS_UP_TO = 12  # degrees of freedom


def build(subject: Subject, section: Section, budget: Budget) -> None:
    robot = Robot(subject.robot.description)
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng, STATES), rng.uniform(-1.0, 1.0, (2, STATES, robot.n))
    arguments = {
        "inverse_dynamics": (q, v, a),
        "forward_dynamics": (q, v, a),
        "mass_matrix": (q,),
        "gravity": (q,),
        "coriolis_matrix": (q, v),
    }
    rows, figures = [], {}
    if robot.n > CORIOLIS_UP_TO:
        del arguments["coriolis_matrix"]
    firsts, optimised = _first_calls(robot, arguments, budget)
    if not optimised:
        section.notes.append(
            "The compiler was still improving the code when it was timed: the functions become faster than this."
        )
    for name, given in arguments.items():
        if name not in firsts:
            section.notes.append(f"{name.replace('_', ' ')} was not timed: the time was over.")
            continue
        function, first = getattr(robot, name), firsts[name]
        many, one = _best(function, given), _best(function, tuple(x[0] for x in given))
        figures[name] = 1e9 * many / STATES
        rows.append((name.replace("_", " "), _ns(figures[name]), _ns(1e9 * one), f"{1e3 * first:.3g} ms"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    machine = f"{platform.machine()}, {cores} core{'s' if cores > 1 else ''}, Python {platform.python_version()}"
    section.lead = (
        f"Inverse dynamics takes {_ns(figures['inverse_dynamics'])} a state in a batch of {STATES}, "
        f"on this machine ({machine})."
    )
    section.add(Facts([(name.replace("_", " "), f"{_ns(x)} a state") for name, x in figures.items()]))
    section.add(
        Table(
            "Time of the compiled functions, double precision",
            ("function", f"a state, {STATES} at once", "one call from Python", "first call"),
            rows,
            "The best of several runs; batches use all cores. The first call compiles, or takes the code from the disk "
            "where it was kept.",
        )
    )
    section.reproduce = (
        f"import timeit\nimport numpy as np\nimport dynamis as dy\n\n{subject.load}\n"
        f"q, v = robot.random(0, {STATES}), np.zeros(({STATES}, robot.n))\nrun = lambda: robot.inverse_dynamics(q, v, v)\n"
        f"run()\nprint(min(timeit.repeat(run, number=10)) / 10 / {STATES} * 1e9, 'ns a state')"
    )


def _first_calls(robot: Robot, arguments: Mapping[str, tuple[Any, ...]], budget: Budget) -> tuple[dict[str, float], bool]:
    """The seconds of each first call, and whether the optimised code was there in the time; quick code is not what is timed."""
    with code_tier(None):
        firsts: dict[str, float] = {}
        for name, given in arguments.items():
            if firsts and budget.spent > 0.4 * budget.seconds:
                break
            firsts[name] = _seconds(getattr(robot, name), tuple(x[0] for x in given))
        return firsts, wait_for_compiler(0.8 * budget.left)


def _seconds(function: Callable[..., Any], given: tuple[Any, ...]) -> float:
    start = time.perf_counter()
    function(*given)
    return time.perf_counter() - start


def _best(function: Callable[..., Any], given: tuple[Any, ...]) -> float:
    begin, best = time.perf_counter(), np.inf
    for _ in range(REPEATS):
        best = min(best, _seconds(function, given))
        if time.perf_counter() - begin > ENOUGH:
            break
    return float(best)


def _ns(x: float) -> str:
    return f"{text(x, 3)} ns" if x < 1e4 else f"{text(x / 1e3, 3)} µs"
