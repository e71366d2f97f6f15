"""The computation times of the compiled functions on this machine."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dynamis.compiler.kernel import wait_for_compiler
from dynamis.display import counted
from dynamis.documents.blocks import Facts, Section, Table
from dynamis.documents.numbers import duration
from dynamis.reports.subject import Subject
from dynamis.reports.tiers import code_tier
from dynamis.robot import Robot

KEY, TITLE = "speed", "Computation time"
BATCH_SIZE, LEAST_REPETITIONS, MAX_REPETITIONS, SECONDS_PER_FUNCTION = 4096, 3, 30, 0.15
MAX_OPERATIONS = 6_000  # of a function that is optimized for this page: a few seconds of compilation
MAX_CORIOLIS_DOF = 12  # counting the operations takes long for more
FUNCTIONS = {
    "inverse_dynamics": "qva",
    "forward_dynamics": "qva",
    "mass_matrix": "q",
    "gravity": "q",
    "coriolis_matrix": "qv",
}


def build(subject: Subject, section: Section) -> None:
    robot = Robot(subject.robot.description)
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng, BATCH_SIZE), rng.uniform(-1.0, 1.0, (2, BATCH_SIZE, robot.n))
    state = {"q": q, "v": v, "a": a}
    functions = {name: x for name, x in FUNCTIONS.items() if robot.n <= MAX_CORIOLIS_DOF or name != "coriolis_matrix"}
    # counted on another robot: counting compiles, and the functions of this one are to be compiled below
    small = {name for name in functions if subject.robot.cost(name)["total"] <= MAX_OPERATIONS}
    arguments = {name: tuple(state[x] for x in used) for name, used in FUNCTIONS.items() if name in small}
    left_out = [name for name in FUNCTIONS if name not in small]
    if left_out:
        names = ", ".join(map(_readable_name, left_out))
        section.notes.append(
            f"Not measured: {names}. Optimising a function of more than {MAX_OPERATIONS} operations takes too long for a "
            "report, and unoptimised code is not timed."
        )
    with code_tier(None):
        first = {name: _seconds(getattr(robot, name), tuple(x[0] for x in given)) for name, given in arguments.items()}
        for name, given in arguments.items():  # a single call may be interpreted; a batch starts the compiler
            getattr(robot, name)(*given)
        wait_for_compiler()  # measured is the optimised code, which replaces the first one in the background
    many = {name: _shortest_time(getattr(robot, name), given) / BATCH_SIZE for name, given in arguments.items()}
    one = {name: _shortest_time(getattr(robot, name), tuple(x[0] for x in given)) for name, given in arguments.items()}
    rows = [(_readable_name(name), duration(many[name]), duration(one[name]), duration(first[name])) for name in arguments]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    machine = f"{platform.machine()}, {counted(cores, 'core')}, Python {platform.python_version()}"
    section.lead = f"Times of the compiled functions in double precision, measured on this machine ({machine})."
    if rows:
        section.add(Facts([(_readable_name(name), f"{duration(x)} per state") for name, x in many.items()]))
        section.add(
            Table(
                "Computation times",
                ("function", f"per state, batch of {BATCH_SIZE}", "single call from Python", "first call"),
                rows,
                "Best of several runs of optimised code; batches use all cores. The first call compiles the function, or loads "
                "it from the cache on disk.",
            )
        )
    section.reproduce = (
        f"import timeit\nimport numpy as np\nimport dynamis as dy\n\n{subject.load}\n"
        f"q, v = robot.random(0, {BATCH_SIZE}), np.zeros(({BATCH_SIZE}, robot.n))\n"
        f"run = lambda: robot.inverse_dynamics(q, v, v)\nrun()\n"
        f"print(min(timeit.repeat(run, number=10)) / 10 / {BATCH_SIZE} * 1e9, 'ns per state')"
    )


def _readable_name(name: str) -> str:
    return name.replace("_", " ").replace("coriolis", "Coriolis")


def _seconds(function: Callable[..., Any], given: tuple[Any, ...]) -> float:
    start = time.perf_counter()
    function(*given)
    return time.perf_counter() - start


def _shortest_time(function: Callable[..., Any], given: tuple[Any, ...]) -> float:
    begin, best = time.perf_counter(), np.inf
    for k in range(MAX_REPETITIONS):
        best = min(best, _seconds(function, given))
        if k >= LEAST_REPETITIONS and time.perf_counter() - begin > SECONDS_PER_FUNCTION:
            break
    return float(best)
