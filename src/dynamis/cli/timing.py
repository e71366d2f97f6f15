"""Times of compiled functions; candidates run in turns, so that other load on the machine affects them alike."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dynamis.algorithms.registry import ALGORITHMS
from dynamis.cli.rivals import Rival
from dynamis.compiler.kernel import wait_for_compiler
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.robot.compilation import COMPILED
from dynamis.tolerances import FILE_PRECISION

MIN_REPETITIONS = 3
CALLS_PER_MEASUREMENT = 100  # of one state


def functions() -> dict[str, tuple[str, ...]]:
    """The functions that can be measured, with their arguments."""
    return {name: ALGORITHMS[name].arguments for name in COMPILED}


@contextlib.contextmanager
def environment(**values: str | None) -> Iterator[None]:
    """Environment variables set within a block; None removes one."""
    before = {name: os.environ.get(name) for name in values}

    def put(chosen: Mapping[str, str | None]) -> None:
        for name, value in chosen.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    put(values)
    try:
        yield
    finally:
        put(before)


def states_of(robot: Robot, count: int, seed: int = 0) -> dict[str, Any]:
    """Random states, one per row."""
    rng = np.random.default_rng(seed)
    v, a, tau = rng.uniform(-1.0, 1.0, (3, count, robot.n))
    return {"q": robot.random(rng, count), "v": v, "a": a, "tau": tau}


def measure(
    robot: Robot, names: list[str], batch: int, threads: int, seconds: float, rivals: Mapping[str, Mapping[str, Rival]],
    progress: Callable[[float, str], None],
) -> list[dict[str, Any]]:  # fmt: skip
    """For each function: the first call, one state, a batch on one thread and on several, and the rivals in the same run.

    The bare function writes into an existing array, as the batch calls of other libraries do; the robot's methods check every
    number of their arguments and results. A single call through the method has the least overhead: it is not measured twice.
    """
    states, found = states_of(robot, batch), []
    known = functions()
    for number, name in enumerate(names):
        progress(number / len(names), f"compiling {name.replace('_', ' ')}")
        given = [states[letter] for letter in known[name]]
        one = [x[0] for x in given]
        first, again, fresh = _first_calls(robot, name, one)
        call, kernel = getattr(fresh, name), fresh.kernel(name)
        ufunc = kernel.ufunc()
        out = ufunc(*given)
        progress((number + 0.5) / len(names), f"timing {name.replace('_', ' ')}")
        contenders: dict[str, Callable[[], object]] = {
            "one": functools.partial(_often, call, one),
            "bare": functools.partial(ufunc, *given, out=out),
            "checked": functools.partial(_on, 1, call, given),
            "threads": functools.partial(_on, threads, functools.partial(kernel, out=out), given),
        }
        others = {who: offers[name] for who, offers in rivals.items() if name in offers}
        _check(name, call, one, others)
        times = _shortest_times(contenders | {who: rival.run for who, rival in others.items()}, seconds)
        row: dict[str, Any] = {
            "function": name, "operations": robot.cost(name)["total"], "first_call_ms": 1e3 * first,
            "from_disk_ms": 1e3 * again, "one_call_us": 1e6 * times["one"] / CALLS_PER_MEASUREMENT,
            "ns_per_state": 1e9 * times["bare"] / batch,
            "ns_per_state_checked": 1e9 * times["checked"] / batch, "ns_per_state_threads": 1e9 * times["threads"] / batch,
            "rivals": {},
        }  # fmt: skip
        for who, rival in others.items():
            ns = 1e9 * times[who] / batch
            row["rivals"][who] = {"ns_per_state": ns, "how": rival.how, "times_ours": ns / row["ns_per_state"]}
        found.append(row)
    return found


def machine(threads: int) -> dict[str, Any]:
    """The machine and the versions."""
    return {"processor": platform.machine(), "system": platform.system(), "python": platform.python_version(),
            "numpy": np.__version__, "cores": os.cpu_count(), "threads": threads}  # fmt: skip


def _first_calls(robot: Robot, name: str, state: list[Any]) -> tuple[float, float, Robot]:
    """Seconds of the first call without and with code in the disk cache; and the robot with its function fully optimised."""
    with tempfile.TemporaryDirectory() as folder, environment(DYNAMIS_CACHE=folder, DYNAMIS_TIER=None, DYNAMIS_NO_CACHE=None):
        seconds = []
        for _ in range(2):
            fresh = Robot(robot.description)
            start = time.perf_counter()
            getattr(fresh, name)(*state)
            seconds.append(time.perf_counter() - start)
            fresh.kernel(name).ufunc()  # the first calls may be interpreted
            wait_for_compiler()
        return seconds[0], seconds[1], fresh


def _often(call: Callable[..., object], state: list[Any]) -> None:
    for _ in range(CALLS_PER_MEASUREMENT):
        call(*state)


def _on(threads: int, call: Callable[..., object], given: list[Any]) -> None:
    with environment(DYNAMIS_NUM_THREADS=str(threads)):
        call(*given)


def _check(name: str, call: Callable[..., Any], one: list[Any], others: Mapping[str, Rival]) -> None:
    ours = np.asarray(call(*one))
    for who, rival in others.items():
        if rival.check is not None:
            error = np.abs(np.asarray(rival.check()) - ours).max() / max(1e-300, float(np.abs(ours).max()))
            if not error < FILE_PRECISION:
                what = name.replace("_", " ")
                raise InputError(f"{who} differs in {what} by {error:.1e} (relative): it reads a different robot")


def _shortest_times(contenders: Mapping[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """The shortest time of each, in turns, with about so many seconds each."""
    best = dict.fromkeys(contenders, float("inf"))
    end, turns = time.perf_counter() + seconds * len(contenders), 0
    while turns < MIN_REPETITIONS or time.perf_counter() < end:
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
        turns += 1
    return best
