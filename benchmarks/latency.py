"""One call from Python for one state: the robot's method, its kernel and the bare ufunc, and the rivals' single calls.

Then the spread of a million such calls, and steps on the configuration manifold.
"""

from __future__ import annotations

import gc
import time
from typing import Any

import numpy as np

from benchmarks import cores, ours, subjects
from benchmarks.contest import Contest
from benchmarks.offers import FUNCTIONS, reason
from benchmarks.options import Options
from benchmarks.rivals import pinocchio
from benchmarks.subjects import States, Subject
from benchmarks.timing import best_times, disturbed, repeated
from dynamis.compiler.kernel import wait_for_compiler

CALLS = 200  # a turn
CHECKED = 64  # states, to see that they compute the same
FULL = 0.5  # seconds per contender of a measurement that is not --quick
CALLED_ALONE = ("pinocchio", "mujoco", "dynibo", "robotics_toolbox")  # the others are made for batches


def measure(options: Options) -> dict[str, Any]:
    rows = []
    cores.use(1)
    robots, missing = subjects.load_all(options.robots, options.tell)
    for subject in robots:
        states = subjects.states(subject, CHECKED)
        contest = Contest(subject, states, [key for key in options.rivals if key in CALLED_ALONE], options.tell)
        for function in FUNCTIONS:
            ours.ready(subject, function)
            own = {
                "facade": ours.facade(subject, function, states),
                "kernel": ours.kernel(subject, function, states),
                "bare": ours.bare(subject, function, states),
            }
            admitted, left_out = contest.admitted(function, own["bare"].results())
            singles = {key: offer.single for key, offer in own.items()}
            singles |= {key: offer.single for key, (offer, _) in admitted.items()}
            options.tell(f"{subject.name}, {function.replace('_', ' ')}: timing single calls")
            runs = {key: repeated(single, CALLS) for key, single in singles.items() if single is not None}
            times = best_times(runs, options.seconds / 3)
            microseconds = {key: found.seconds / CALLS * 1e6 for key, found in times.items()}
            rows.append(
                {
                    "robot": subject.name,
                    "function": function,
                    "us": microseconds,
                    "left_out": left_out,
                    "disturbed": disturbed(times),
                }
            )
        rows += _manifold(subject, states, options)
    return {"rows": rows, "robots_left_out": missing, "spread": [_spread(subject, options) for subject in robots[:1]]}


def _manifold(subject: Subject, states: States, options: Options) -> list[dict[str, Any]]:
    """integrate and difference, against Pinocchio's functions of the same names."""
    rows = []
    for function in ("integrate", "difference"):
        singles = {"facade": ours.facade(subject, function, states).single}
        left_out = {}
        try:
            singles["pinocchio"] = pinocchio.manifold_call(pinocchio.Model(subject), function, states)
        except Exception as error:
            left_out["pinocchio"] = reason(error)
        if "pinocchio" not in options.rivals:
            singles.pop("pinocchio", None)
        subject.robot.kernel(function).ufunc()
        wait_for_compiler()
        times = best_times({key: repeated(single, CALLS) for key, single in singles.items() if single}, options.seconds / 3)
        us = {key: found.seconds / CALLS * 1e6 for key, found in times.items()}
        rows.append(
            {"robot": subject.name, "function": function, "us": us, "left_out": left_out, "disturbed": disturbed(times)}
        )
    return rows


def _spread(subject: Subject, options: Options) -> dict[str, Any]:
    """Median and 99.9th percentile of many calls of the inverse dynamics, each timed by itself.

    Copies of a NumPy array in the same loop show what of the percentile is the machine's: interrupts and other processes.
    """
    count = 1_000_000 if options.seconds >= FULL else 50_000
    options.tell(f"{subject.name}: timing {count} calls one by one")
    single = ours.facade(subject, "inverse_dynamics", subjects.states(subject, 1)).single
    assert single is not None
    copy, clock = np.zeros(subject.robot.n).copy, time.perf_counter_ns
    times = np.empty((2, count))
    gc.collect()
    gc.disable()
    try:
        for k in range(count):
            start = clock()
            single()
            between = clock()
            copy()
            times[:, k] = between - start, clock() - between
    finally:
        gc.enable()
    (median, copy_median), (late, copy_late) = np.quantile(times, (0.5, 0.999), axis=1) * 1e-3
    return {
        "robot": subject.name, "calls": count, "median_us": float(median), "p999_us": float(late),
        "copy_median_us": float(copy_median), "copy_p999_us": float(copy_late),
    }  # fmt: skip
