"""How time grows with the robot: chains of 2 to 1000 links, time per link and state, and time to compile."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import cores, ours, subjects
from benchmarks.agreement import DisagreementError, require_same
from benchmarks.chains import chain
from benchmarks.offers import Offer, reason
from benchmarks.options import Options
from benchmarks.rivals import pinocchio
from benchmarks.subjects import States, Subject
from benchmarks.timing import best_times, disturbed
from dynamis.compiler.kernel import wait_for_compiler

Array = npt.NDArray[Any]

FEWEST_STATES = 256
LINKS_A_RUN = 8192  # short chains get more states, so that it is not the call itself that is measured
FUNCTIONS = ("inverse_dynamics", "forward_dynamics")


def measure(options: Options) -> dict[str, Any]:
    rows = []
    cores.use(1)
    usual = os.environ.get("DYNAMIS_CACHE")
    with tempfile.TemporaryDirectory() as empty:
        os.environ["DYNAMIS_CACHE"] = empty  # compile times are those of code seen for the first time
        try:
            for links in options.chains:
                options.tell(f"chain of {links} links: building")
                subject = chain(links)
                states = subjects.states(subject, max(FEWEST_STATES, LINKS_A_RUN // links))
                rows += [_row(subject, states, function, links, options) for function in FUNCTIONS]
        finally:
            if usual is None:
                del os.environ["DYNAMIS_CACHE"]
            else:
                os.environ["DYNAMIS_CACHE"] = usual
    return {"rows": rows}


def _row(subject: Subject, states: States, function: str, links: int, options: Options) -> dict[str, Any]:
    label = f"chain of {links} links, {function.replace('_', ' ')}"
    options.tell(f"{label}: first call")
    mine, count = ours.facade(subject, function, states), len(states)  # so many that a long chain is compiled too
    first = _seconds(mine.run)
    start = time.perf_counter()
    wait_for_compiler()
    optimised = first + time.perf_counter() - start
    row: dict[str, Any] = {
        "links": links, "function": function, "states": count, "first_call_s": first, "optimised_s": optimised,
        "compile_ms_per_link": optimised * 1e3 / links,
    }  # fmt: skip
    runs = {"ours": mine.run}
    if "pinocchio" in options.rivals:
        try:
            theirs, row["difference"] = _pinocchio(subject, states, function, mine)
            runs["pinocchio"] = theirs.run
        except DisagreementError as error:
            row["left_out"] = str(error)
        except Exception as error:  # whatever a rival raises, ours is measured
            row["left_out"] = reason(error)
    options.tell(f"{label}: timing {count} states")
    times = best_times(runs, options.seconds)
    row["disturbed"] = disturbed(times)
    row["ours_ns_per_link"] = times["ours"].seconds / count / links * 1e9
    if "pinocchio" in times:
        row["pinocchio_ns_per_link"] = times["pinocchio"].seconds / len(states) / links * 1e9
    return row


def _pinocchio(subject: Subject, states: States, function: str, mine: Offer) -> tuple[Offer, float]:
    model = pinocchio.Model(subject)
    offer = pinocchio.batch_call(model, function, states)
    offer.run()
    found, expected = mine.results(), offer.results()[: mine.count]
    if function == "inverse_dynamics":
        return offer, require_same(found, expected)
    # the mass matrix of a long chain is so badly conditioned that accelerations say little: compare the torques they need,
    # beside those that hold the chain without any, which is the size of what was added and subtracted
    some = states.first(mine.count)
    holding = _torques(model, some, np.zeros_like(some.a))
    ours_need, theirs_need = (np.concatenate([_torques(model, some, a), holding], axis=1) for a in (found, expected))
    return offer, require_same(ours_need, theirs_need)


def _torques(model: pinocchio.Model, states: States, accelerations: Array) -> Array:
    needed = pinocchio.batch_call(model, "inverse_dynamics", replace(states, a=accelerations))
    needed.run()
    return needed.results()


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
