"""∂τ and ∂v̇: our batch and our single call against Pinocchio's calls from Python, state by state; seconds until code is optimised."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import first_call, subjects
from benchmarks.offers import reason
from benchmarks.options import Options
from benchmarks.rivals import pinocchio
from benchmarks.subjects import States, Subject
from benchmarks.task_space import on_one_thread
from benchmarks.timing import best_times, repeated
from dynamis.compiler.kernel import wait_for_compiler

Array = npt.NDArray[Any]
ROBOTS = ("ur5e", "panda", "xarm7", "go2", "g1")
FUNCTIONS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
READY = ("g1", "floating")  # the robot whose time until code is optimised is measured
BATCH, LOOPED, CALLS = 1024, 16, 50


def measure(options: Options) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    found, missing = subjects.load_all([name for name in ROBOTS if name in options.robots], options.tell)
    batch = min(options.batch, BATCH)
    for subject in found:
        states = subjects.states(subject, batch)
        for function in FUNCTIONS:
            options.tell(f"{subject.name}: {function}")
            rows.append({"robot": subject.name, "function": function} | _compared(subject, states, function, options))
    ready = []
    if READY[0] in options.robots:
        for function in FUNCTIONS:
            options.tell(f"{READY[0]}: {function}, fresh process")
            with tempfile.TemporaryDirectory() as folder:
                first_call.probe(folder, *READY, function)  # interpreted
                ready.append({"robot": READY[0], "function": function} | first_call.probe(folder, *READY, function))
    return {"rows": rows, "ready": ready, "robots_left_out": missing, "batch": batch}


def _compared(subject: Subject, states: States, function: str, options: Options) -> dict[str, Any]:
    call = getattr(subject.robot, function)
    given = states.q, states.v, states.a if function.startswith("inverse") else states.tau
    one = tuple(x[0].copy() for x in given)
    for _ in range(12):  # past the states that are interpreted
        call(*one)
    out = call(*given)
    wait_for_compiler()
    contenders: dict[str, Callable[[], object]] = {
        "ours": on_one_thread(functools.partial(call, *given)),
        "out": on_one_thread(functools.partial(call, *given, out=out)),
        "single": repeated(functools.partial(call, *one), CALLS),
    }
    count = {"ours": len(states), "out": len(states), "single": CALLS, "pinocchio": LOOPED, "stored": LOOPED}
    why, difference = None, None
    if "pinocchio" in options.rivals:
        try:
            theirs = _pinocchio(subject, given, function)
            expected = np.array(theirs(LOOPED, keep=True))
            ours = np.stack([np.asarray(x)[:LOOPED] for x in call(*given)], axis=1)
            difference = float(np.abs(ours - expected).max() / np.abs(expected).max())
            contenders["pinocchio"] = functools.partial(theirs, LOOPED)
            contenders["stored"] = functools.partial(theirs, LOOPED, stored=np.empty((LOOPED, 3, *expected.shape[2:])))
        except Exception as error:
            why = reason(error)
    best = best_times(contenders, options.seconds)
    times = {name: x.seconds / count[name] for name, x in best.items()}
    rival = times.get("pinocchio")
    return {
        "ns": {name: 1e9 * t for name, t in times.items()},
        "times_faster": rival / times["ours"] if rival else None, "single_ratio": times["single"] / rival if rival else None,
        "difference": difference, "why": why, "disturbed": [name for name, x in best.items() if x.disturbed],
    }  # fmt: skip


def _pinocchio(subject: Subject, given: tuple[Array, Array, Array], function: str) -> Callable[..., list[Array]]:
    """Its C++ function per state; ``keep``: return the results, in our order; ``stored``: an array for them, in its order."""
    m = pinocchio.Model(subject)
    pin, model, data = m.pin, m.model, m.data
    q, v, x = (np.ascontiguousarray(m.columns(y[:LOOPED], p).T) for y, p in zip(given, (m.q, m.v, m.v), strict=True))
    compute = pin.computeRNEADerivatives if function.startswith("inverse") else pin.computeABADerivatives
    places = np.ix_(m.v, m.v)

    def found() -> tuple[Array, Array, Array]:
        return (data.dtau_dq, data.dtau_dv, data.M) if function.startswith("inverse") else (data.ddq_dq, data.ddq_dv, data.Minv)

    def loop(count: int, keep: bool = False, stored: Array | None = None) -> list[Array]:
        kept = []
        for k in range(count):
            compute(model, data, q[k], v[k], x[k])
            if keep:
                dq, dv, upper = found()  # of a symmetric matrix, one triangle
                kept.append(np.array([np.array(y)[places] for y in (dq, dv, np.triu(upper) + np.triu(upper, 1).T)]))
            if stored is not None:
                stored[k, 0], stored[k, 1], stored[k, 2] = found()
        return kept

    return loop
