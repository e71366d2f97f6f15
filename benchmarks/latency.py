"""One call from Python for one state: ours bare, as a kernel and through the façade, and the rivals' single calls."""

from __future__ import annotations

from typing import Any

from benchmarks import cores, ours, subjects
from benchmarks.contest import Contest
from benchmarks.offers import FUNCTIONS
from benchmarks.options import Options
from benchmarks.timing import best_times, disturbed, repeated

CALLS = 200  # a turn
CHECKED = 64  # states, to see that they compute the same
CALLED_ALONE = ("pinocchio", "mujoco", "robotics_toolbox")  # the others are made for batches


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
                "bare": ours.bare(subject, function, states),
                "kernel": ours.kernel(subject, function, states),
                "facade": ours.facade(subject, function, states),
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
    return {"rows": rows, "robots_left_out": missing}
