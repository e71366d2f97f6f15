"""Identification of a long log: from a file with positions, velocities, accelerations and torques to parameters with their
standard errors, part by part of the file, against the time that Pinocchio's regressor alone takes in a loop.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import dynamis as dy
from benchmarks import subjects
from benchmarks.offers import reason
from benchmarks.options import Options
from benchmarks.rivals import pinocchio

Array = npt.NDArray[Any]
ROBOT, RATE = "kuka_iiwa14", 1000.0
SAMPLES, QUICK_SAMPLES = 10_000_000, 200_000
CHUNK = 100_000
LOOPED = 20_000
WAYS = {"every sample a row": (None, 1), "low-passed at 20 Hz, a row in 10": (20.0, 10)}


def measure(options: Options) -> dict[str, Any]:
    count = QUICK_SAMPLES if options.seconds < 0.5 else SAMPLES
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.npz"
        options.tell(f"{ROBOT}: a log of {count} samples is written")
        write_log(dy.load(ROBOT), path, count)
        size = path.stat().st_size
        for way, (cutoff, every) in WAYS.items():
            options.tell(f"{ROBOT}: {way}")
            before, why = _rival(options)
            found = _probe(path, cutoff, every)
            after, _ = _rival(options)
            theirs = None if before is None or after is None else min(before, after)
            ours = found["seconds"] / count
            rows.append(
                {
                    "robot": ROBOT, "way": way, "samples": count, "us": 1e6 * ours, "peak_mb": found["peak_mb"],
                    "worst": found["worst"], "rival_us": None if theirs is None else 1e6 * theirs, "why": why,
                    "times_faster": None if theirs is None else theirs / ours,
                }
            )  # fmt: skip
    return {"rows": rows, "file_gb": 1e-9 * size}


def write_log(robot: dy.Robot, path: Path, count: int) -> None:
    """A log of noisy torques along a sum of sines, written piece by piece."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in ("t", "q", "v", "a", "tau"):
            shape = (count,) if name == "t" else (count, robot.n)
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array_header_2_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
                for start in range(0, count, CHUNK):
                    file.write(_piece(robot, name, start, min(CHUNK, count - start)).astype("<f8").tobytes())


def _piece(robot: dy.Robot, name: str, start: int, count: int) -> Array:
    t = (start + np.arange(count)) / RATE
    if name == "t":
        return t
    rng = np.random.default_rng(0)
    w = 2.0 * np.pi * rng.uniform(0.1, 0.9, (5, 1, robot.n))
    size, phase = rng.uniform(0.1, 0.4, (5, 1, robot.n)), rng.uniform(0.0, 6.0, (5, 1, robot.n))
    angle = w * t[:, None] + phase
    motion = {
        "q": lambda: np.sum(size * np.sin(angle), axis=0),
        "v": lambda: np.sum(size * w * np.cos(angle), axis=0),
        "a": lambda: np.sum(-size * w**2 * np.sin(angle), axis=0),
    }
    if name in motion:
        return np.asarray(motion[name]())
    noise = np.random.default_rng([1, start]).normal(size=(count, robot.n))
    return robot.inverse_dynamics(*(motion[k]() for k in ("q", "v", "a"))) + 0.5 * noise


def _probe(path: Path, cutoff: float | None, every: int) -> dict[str, Any]:
    """In a process of its own, whose memory can be told."""
    command = [sys.executable, "-m", "benchmarks.identification", str(path), json.dumps(cutoff), str(every)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603 - our own


def probe(path: str, cutoff: float | None, every: int) -> dict[str, Any]:
    import resource

    from dynamis.compiler.kernel import wait_for_compiler
    from dynamis.identification import LinearModel, Samples, WeightedLeastSquares, base_parameters, equations
    from dynamis.identification.estimators.factors import FoldFactors
    from dynamis.identification.logs.reading import log_chunks

    robot = dy.load(ROBOT)
    base = base_parameters(LinearModel(robot))
    q, v, a = np.random.default_rng(0).normal(size=(3, 2000, robot.n))
    filtered: dict[str, Any] = {"period": 1.0 / RATE, "parallel": cutoff, "every": every}
    equations(base, Samples.of(q, v, a, v, **filtered)).factors()  # compiled once for a robot
    wait_for_compiler()
    start = time.perf_counter()
    parts = [
        equations(base, Samples.of(log.q, log.v, log.a, log.tau, t=log.t, **filtered)).factors()
        for log in log_chunks(path, robot)
    ]
    whole = FoldFactors(tuple(part.R[0] for part in parts), np.vstack([part.counts for part in parts]))
    fit = WeightedLeastSquares().fit_factors(whole, base.names)
    seconds = time.perf_counter() - start
    worst = np.max(np.abs(fit.coef_ - base.prior) / fit.standard_errors_)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024.0 if sys.platform != "darwin" else 1024.0**2)
    return {"seconds": seconds, "peak_mb": peak, "worst": float(worst)}


def _rival(options: Options) -> tuple[float | None, str | None]:
    """Seconds a sample that Pinocchio's regressor takes in a loop, without any algebra."""
    if "pinocchio" not in options.rivals:
        return None, "not asked for"
    try:
        found, _ = subjects.load_all([ROBOT], options.tell)
        m = pinocchio.Model(found[0])
        data = m.model.createData()
        q, v, a = np.random.default_rng(0).normal(size=(3, LOOPED, m.model.nv))
        start = time.perf_counter()
        for k in range(LOOPED):
            m.pin.computeJointTorqueRegressor(m.model, data, q[k], v[k], a[k])
        return (time.perf_counter() - start) / LOOPED, None
    except Exception as error:
        return None, reason(error)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.stdout.write(json.dumps(probe(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))))
