"""Motion in time: steps of a batch of arms under a computed-torque law, against MuJoCo's without any law; and the
free fall of a Puma 560 with Coulomb friction, which truly sticks.
"""

from __future__ import annotations

import functools
import importlib
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import dynamis as dy
from benchmarks import subjects
from benchmarks.offers import reason
from benchmarks.options import Options
from benchmarks.rivals import mujoco
from benchmarks.subjects import States, Subject
from benchmarks.timing import best_times
from dynamis.compiler.kernel import wait_for_compiler
from dynamis.compiler.time_stepper import march
from dynamis.simulation.closed_loop import ClosedLoop

Array = npt.NDArray[Any]
STEP = 1e-3
STEPS = 16  # in one call, so that its beginning does not count
METHODS = {"rk4": "mjINT_RK4", "euler": "mjINT_EULER"}
PUMA_RUNS = 7


def measure(options: Options) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    arms = [name for name in options.robots if not subjects.FLOATING[name]]
    found, missing = subjects.load_all(arms, options.tell)
    for subject in found:
        states = subjects.states(subject, options.batch)
        for method in METHODS:
            options.tell(f"{subject.name}: {method}")
            contenders: dict[str, Callable[[], object]] = {"ours": _ours(subject, states, method)}
            why = None
            if "mujoco" in options.rivals:
                try:
                    contenders["mujoco"] = _mujoco(subject, states, method)
                except Exception as error:
                    why = reason(error)
            best = best_times(contenders, options.seconds)
            count = {"ours": len(states) * STEPS, "mujoco": len(states.first(256)) * STEPS}
            times = {name: x.seconds / count[name] for name, x in best.items()}
            rows.append(
                {
                    "robot": subject.name, "method": method, "ns": {name: 1e9 * t for name, t in times.items()},
                    "times_faster": times["mujoco"] / times["ours"] if "mujoco" in times else None, "why": why,
                    "disturbed": [name for name, x in best.items() if x.disturbed],
                }
            )  # fmt: skip
    return {"rows": rows, "robots_left_out": missing, "batch": options.batch, "puma": _puma()}


def computed_torque(robot: Any, _t: Any, q: Array, v: Array) -> Array:
    """τ = ID(q, v, −100 q − 20 v)."""
    return robot.inverse_dynamics(q, v, -100.0 * q - 20.0 * v)


def _ours(subject: Subject, states: States, method: str) -> Callable[[], object]:
    """As `rollouts` does it, on one thread."""
    kernel = ClosedLoop(subject.robot, method, controller=computed_torque, friction="none").kernel()
    y = np.concatenate([states.q, states.v], axis=-1)
    run = functools.partial(march, kernel, y, (np.zeros(1),), t=0.0, h=STEP, reports=1, every=STEPS)
    run()
    wait_for_compiler()

    def on_one_thread() -> None:
        before = os.environ.get("DYNAMIS_NUM_THREADS")
        os.environ["DYNAMIS_NUM_THREADS"] = "1"
        try:
            run()
        finally:
            os.environ.pop("DYNAMIS_NUM_THREADS") if before is None else os.environ.update(DYNAMIS_NUM_THREADS=before)

    return on_one_thread


def _mujoco(subject: Subject, states: States, method: str) -> Callable[[], object]:
    """Steps in C++ from fewer states, as it has no batch to gain from; no law, no torque."""
    rollout: Any = importlib.import_module("mujoco.rollout")
    m = mujoco.Model(subject, states.first(256))
    m.model.opt.timestep = STEP
    m.model.opt.integrator = int(getattr(m.mujoco.mjtIntegrator, METHODS[method]))
    count, size = len(m.q), m.mujoco.mj_stateSize(m.model, m.mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros((count, size))
    start[:, 1 : 1 + m.model.nq] = m.q
    start[:, 1 + m.model.nq : 1 + m.model.nq + m.model.nv] = m.v
    end, sensors = np.zeros((count, STEPS, size)), np.zeros((count, STEPS, 0))
    models = [m.model] * count

    def run() -> None:
        rollout.rollout(models, [m.data], start, skip_checks=True, nstep=STEPS, state=end, sensordata=sensors)

    return run


def _puma() -> dict[str, Any]:
    """Half a second of free fall from the neutral configuration and from a bent one."""
    robot = dy.load("puma560")
    found = {}
    for name, q0 in (("neutral", robot.neutral()), ("bent", np.array([0.0, 0.7, -0.5, 0.3, 0.2, 0.1]))):
        times = []
        for _ in range(PUMA_RUNS):
            start = time.perf_counter()
            motion = dy.simulate(robot, 0.5, q0, points=51)
            times.append(time.perf_counter() - start)
        found[name] = {
            "seconds": float(np.median(times)), "first": times[0], "events": [str(e) for e in motion.events],
            "energy_error": float(np.abs(motion.energy_error).max()), "status": motion.status,
        }  # fmt: skip
    return found
