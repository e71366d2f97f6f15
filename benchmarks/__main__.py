"""``python -m benchmarks``: this package against Pinocchio's C++ batch calls, one core, same states, one run.

Writes benchmarks/results.json and prints a table. Needs the extra ``oracles``.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ["DYNAMIS_NUM_THREADS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio as pin

import dynamis as dy
from benchmarks.timing import best_times
from dynamis.compiler.kernel import wait_for_compiler
from dynamis.model.writers.urdf import write_urdf

ROBOTS = [
    ("ur5e", "fixed"),
    ("panda", "fixed"),
    ("xarm7", "fixed"),
    ("kuka_iiwa14", "fixed"),
    ("go2", "floating"),
    ("g1", "floating"),
]
BATCH = 4096


def rival(robot: dy.Robot, base: str) -> tuple[pin.Model, np.ndarray]:
    """The same robot in Pinocchio, and its velocity order."""
    d = robot.description
    if base == "floating":
        d.joints = [j for j in d.joints if j.type != "free"]
        d.links = [link for link in d.links if link.name != "world"]
    for joint in d.joints:
        joint.drive = type(joint.drive)()
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(write_urdf(d), encoding="utf-8")
        return pin.buildModelFromUrdf(str(path), *root), np.arange(robot.n)


def measure(name: str, base: str) -> dict[str, dict[str, float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = dy.load(name, base=base).replace(friction=0)
    model, _ = rival(robot, base)
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng, BATCH), *rng.uniform(-1, 1, (2, BATCH, robot.n))
    columns = [np.asfortranarray(x.T) for x in (q, v, a)]
    pool, data = pin.ModelPool(model, 1), model.createData()
    out = np.zeros((robot.n, BATCH), order="F")

    def loop_crba() -> None:
        for row in q:
            pin.crba(model, data, row)

    first = {}
    for label, call in (("inverse_dynamics", lambda: robot.inverse_dynamics(q[0], v[0], a[0])),
                        ("forward_dynamics", lambda: robot.forward_dynamics(q[0], v[0], a[0])),
                        ("mass_matrix", lambda: robot.mass_matrix(q[0]))):  # fmt: skip
        start = time.perf_counter()
        call()
        first[label] = time.perf_counter() - start
    start = time.perf_counter()
    wait_for_compiler()
    optimised = time.perf_counter() - start
    kernels = {key if isinstance(key, str) else key[0]: kernel for key, kernel in robot._evaluator.kernels.items()}
    results: dict[str, dict[str, float]] = {}
    for label, key, arrays, theirs in (
        ("inverse_dynamics", "id", (q, v, a), lambda: pin.rneaInParallel(1, pool, *columns, out)),
        ("forward_dynamics", "fd", (q, v, a), lambda: pin.abaInParallel(1, pool, *columns, out)),
        ("mass_matrix", "crba", (q,), loop_crba),
    ):
        double, single = kernels[key].ufunc("double"), kernels[key].ufunc("float")
        wait_for_compiler()
        singles = [x.astype(np.float32) for x in arrays]
        held, held32 = double(*arrays), single(*singles)
        one = [x[0] for x in arrays]
        one_out = double(*one)
        their_one = {"id": lambda: pin.rnea(model, data, q[0], v[0], a[0]), "fd": lambda: pin.aba(model, data, q[0], v[0], a[0]),
                     "crba": lambda: pin.crba(model, data, q[0])}[key]  # fmt: skip
        times = best_times(
            {"ours": lambda: double(*arrays, out=held), "ours32": lambda: single(*singles, out=held32), "theirs": theirs}, 0.7
        )
        repeat = range(200)
        calls = best_times(
            {"ours": lambda: [double(*one, one_out) for _ in repeat], "theirs": lambda: [their_one() for _ in repeat]}, 0.2
        )
        results[label] = {
            "operations": len(kernels[key].code.instructions),
            "ours_ns": times["ours"] / BATCH * 1e9,
            "ours32_ns": times["ours32"] / BATCH * 1e9,
            "theirs_ns": times["theirs"] / BATCH * 1e9,
            "speedup": times["theirs"] / times["ours"],
            "float32_gain": times["ours"] / times["ours32"],
            "single_call_us": calls["ours"] / 200 * 1e6,
            "their_single_call_us": calls["theirs"] / 200 * 1e6,
            "first_call_s": first[label],
        }
    results["inverse_dynamics"]["all_optimised_after_s"] = optimised
    return results


def main() -> None:
    table = {}
    for name, base in ROBOTS:
        table[name] = measure(name, base)
        for label, r in table[name].items():
            sys.stdout.write(
                f"{name:12} {label:17} {r['operations']:6.0f} ops {r['ours_ns']:8.0f} ns  Pinocchio {r['theirs_ns']:8.0f} ns  "
                f"{r['speedup']:5.1f}x  float32 {r['float32_gain']:4.2f}x  call {r['single_call_us']:5.2f} / "
                f"{r['their_single_call_us']:5.2f} us  first {r['first_call_s'] * 1e3:6.0f} ms\n"
            )
            sys.stdout.flush()
    for label in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        mean = float(np.exp(np.mean([np.log(table[name][label]["speedup"]) for name, _ in ROBOTS])))
        sys.stdout.write(f"geometric mean {label}: {mean:.1f}x\n")
    about = {"machine": platform.machine(), "python": platform.python_version(), "pinocchio": pin.__version__,
             "numpy": np.__version__, "batch": BATCH, "threads": 1}  # fmt: skip
    path = Path(__file__).with_name("results.json")
    path.write_text(json.dumps({"about": about, "results": table}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
