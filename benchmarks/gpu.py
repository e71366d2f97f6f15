"""Rollouts on an NVIDIA GPU: arms under a computed-torque law, a million at once, steps of a millisecond.

Where there is no GPU or no CuPy the section is left out and says why.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

import numpy as np

import dynamis as dy
from benchmarks.offers import reason
from benchmarks.options import Options
from benchmarks.rollouts import STEP, computed_torque
from dynamis.compiler.cuda_time_stepper import RK4
from dynamis.compiler.time_stepper import march
from dynamis.simulation.closed_loop import ClosedLoop

ARMS = ("ur5e", "panda", "xarm7", "kuka_iiwa14")
BATCH, STEPS = 1 << 20, 200
WARM_UP = 1.0  # seconds: an idle GPU takes a while to come to its clock
MJX = 0.074e9  # forward dynamics a second on one H200, measured by itself on another day: see docs/benchmarks.md


def measure(options: Options) -> dict[str, Any]:
    try:
        cupy = importlib.import_module("cupy")
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as error:
        return {"rows": [], "why": f"no GPU: {reason(error)}"}
    rows = []
    for arm in ARMS:
        for method in ("euler", "rk4"):
            for dtype in (np.float32, np.float64):
                options.tell(f"{arm}: {method}, {np.dtype(dtype).name}")
                rows.append(
                    {"robot": arm, "method": method, "precision": np.dtype(dtype).name, **_speed(cupy, arm, method, dtype)}
                )
    return {"rows": rows, "gpu": name, "batch": BATCH, "steps": STEPS}


def _speed(cupy: Any, arm: str, method: str, dtype: Any) -> dict[str, Any]:
    robot = dy.load(arm).replace(friction=0)
    loop = ClosedLoop(robot, method, controller=computed_torque, friction="none")
    staged = RK4 if method == "rk4" else None
    kernel = loop.kernel(stage=staged is not None)
    rng = np.random.default_rng(0)
    y = rng.uniform(-1.0, 1.0, (BATCH, 2 * robot.n))
    there, none = cupy.asarray(y.astype(dtype)), cupy.zeros(1, dtype)

    def run(steps: int) -> Any:
        return march(kernel, there, (none,), t=0.0, h=STEP, reports=1, every=steps, stages=staged)

    begin = time.perf_counter()
    found = run(20)[0, :256].get()
    compiled = time.perf_counter() - begin
    here = march(loop.kernel(), y[:256], (np.zeros(1),), t=0.0, h=STEP, reports=1, every=20)[0]
    while time.perf_counter() - begin < WARM_UP:
        run(STEPS)
        cupy.cuda.Device().synchronize()
    times = []
    for _ in range(7):
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        first.record()
        run(STEPS)
        last.record()
        last.synchronize()
        times.append(1e-3 * cupy.cuda.get_elapsed_time(first, last))
    rate = BATCH * STEPS / float(np.median(times))
    return {
        "steps_per_s": rate, "times_mjx": rate / MJX, "first_call_s": compiled, "operations": len(kernel.code.instructions),
        "difference": float(np.abs(found - here).max()),
    }  # fmt: skip
