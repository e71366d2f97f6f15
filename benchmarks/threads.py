"""What a second core brings: the same batch on one thread and on two, ours and Pinocchio's.

Two threads of plain hashing take turns with them. What those gain is what the machine had to give at that time: well below
2 where something else is running.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks import cores, ours, subjects
from benchmarks.offers import FUNCTIONS, reason
from benchmarks.options import Options
from benchmarks.rivals import pinocchio
from benchmarks.subjects import States, Subject
from benchmarks.timing import Best, best_times

LONGER = 16  # a batch this many times as long shows what handing work to threads costs in the usual one
LARGEST_RESULT = 2**28  # bytes
BUSY = 1.8  # hashing gains less than this: the machine has something else to do
TEXT = bytes(2**22)  # hashing it takes milliseconds, so that handing it to a thread does not count


def measure(options: Options) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    pool = ThreadPoolExecutor(2)
    if cores.available() > 1:
        found, missing = subjects.load_all(options.robots, options.tell)
    else:
        found, missing = [], dict.fromkeys(options.robots, "this machine has one core")
    for subject in found:
        states = subjects.states(subject, options.batch)
        longer = States(*(np.tile(x, (LONGER, 1)) for x in (states.q, states.v, states.a, states.tau)))
        for function in FUNCTIONS:
            ours.ready(subject, function)
            options.tell(f"{subject.name}, {function.replace('_', ' ')}: timing one thread against two")
            fits = LARGEST_RESULT // (8 * subject.robot.n ** (2 if function == "mass_matrix" else 1))
            runs: dict[str, Callable[[], object]] = {
                f"{length}{word}": ours.kernel(subject, function, many, threads=count).run
                for length, many in (("", states), ("long ", longer.first(fits)))
                for word, count in (("one", 1), ("two", 2))
            }
            runs |= _hashing(pool) | _pinocchio(subject, states, function, options)
            before = {name: cores.using(1 if name.endswith("one") else 2) for name in runs}
            times = best_times(runs, options.seconds, before)
            gains = {
                "gain": _gain(times, ""),
                "long_gain": _gain(times, "long "),
                "hashing_gain": _gain(times, "hashing "),
            }
            rows.append({"robot": subject.name, "function": function, **gains})
            if "pinocchio one" in times:
                rows[-1]["pinocchio_gain"] = _gain(times, "pinocchio ")
    cores.use(1)
    return {"batch": options.batch, "long_batch": LONGER * options.batch, "rows": rows, "robots_left_out": missing}


def _gain(times: Mapping[str, Best], who: str) -> float:
    return times[f"{who}one"].seconds / times[f"{who}two"].seconds


def _hashing(pool: ThreadPoolExecutor) -> dict[str, Callable[[], object]]:
    """The same work twice over, one after the other and at the same time."""

    def work(_: int) -> bytes:
        return hashlib.sha256(TEXT).digest()

    return {"hashing one": lambda: [work(0), work(1)], "hashing two": lambda: list(pool.map(work, range(2)))}


def _pinocchio(subject: Subject, states: States, function: str, options: Options) -> dict[str, Callable[[], object]]:
    """Its batch calls on one thread and two; for the mass matrix it has none."""
    if "pinocchio" not in options.rivals or function == "mass_matrix":
        return {}
    try:
        model = pinocchio.Model(subject)
        return {
            f"pinocchio {word}": pinocchio.batch_call(model, function, states, count).run
            for word, count in (("one", 1), ("two", 2))
        }
    except Exception as error:  # whatever a rival raises, ours is measured
        options.tell(f"{subject.name}: Pinocchio is left out, {reason(error)}")
        return {}
