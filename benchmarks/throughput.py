"""Time per state over a large batch: the robot's methods, what is under them, in both precisions, on one thread and two, and
every rival on one thread."""

from __future__ import annotations

from typing import Any

from benchmarks import cores, ours, subjects
from benchmarks.agreement import SAME_IN_FLOAT32, require_same
from benchmarks.contest import Contest
from benchmarks.offers import FUNCTIONS, Offer
from benchmarks.options import Options
from benchmarks.subjects import States, Subject
from benchmarks.timing import best_times, disturbed


def measure(options: Options) -> dict[str, Any]:
    rows = []
    cores.use(1)
    found, missing = subjects.load_all(options.robots, options.tell)
    for subject in found:
        states = subjects.states(subject, options.batch)
        contest = Contest(subject, states, options.rivals, options.tell)
        rows += [_row(subject, states, function, contest, options) for function in FUNCTIONS]
    return {"batch": options.batch, "rows": rows, "robots_left_out": missing}


def _row(subject: Subject, states: States, function: str, contest: Contest, options: Options) -> dict[str, Any]:
    label = f"{subject.name}, {function.replace('_', ' ')}"
    options.tell(f"{label}: compiling ours")
    ours.ready(subject, function)
    double, single = ours.bare(subject, function, states), ours.bare(subject, function, states, "float")
    float32_difference = require_same(double.results(), single.results(), SAME_IN_FLOAT32)
    into = ours.facade(subject, function, states, into=True)
    require_same(double.results(), into.results(), 0.0)
    own: dict[str, Offer] = {
        "method, out": into, "method": ours.facade(subject, function, states), "float64": double, "float32": single,
    }  # fmt: skip
    if cores.available() > 1:
        own |= {
            "float64, 2 threads": ours.kernel(subject, function, states, threads=2),
            "float32, 2 threads": ours.kernel(subject, function, states, "float", threads=2),
        }
    admitted, left_out = contest.admitted(function, double.results())
    options.tell(f"{label}: timing ours and {', '.join(admitted) or 'nobody else'}")
    runs = {key: offer.run for key, offer in own.items()} | {key: offer.run for key, (offer, _) in admitted.items()}
    before = {key: cores.using(2 if key.endswith("2 threads") else 1) for key in own}
    before |= {key: cores.stay_on_one if offer.wants_more_cores else cores.using(1) for key, (offer, _) in admitted.items()}
    times = best_times(runs, options.seconds, before)
    cores.use(1)
    nanoseconds = {key: times[key].seconds / offer.count * 1e9 for key, offer in own.items()}
    rivals = {}
    for key, (offer, found) in admitted.items():
        each = times[key].seconds / offer.count * 1e9
        rivals[key] = {
            "ns": each, "ratio": each / nanoseconds["method, out"], "how": offer.how, "states": offer.count, "difference": found,
        }  # fmt: skip
    return {
        "robot": subject.name,
        "function": function,
        "degrees_of_freedom": subject.robot.n,
        "operations": subject.robot.cost(function)["total"],
        "ours_ns": nanoseconds,
        "float32_gain": nanoseconds["float64"] / nanoseconds["float32"],
        "float32_difference": float32_difference,
        "rivals": rivals,
        "left_out": left_out,
        "disturbed": disturbed(times),
    }
