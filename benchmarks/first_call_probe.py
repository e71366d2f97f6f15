"""Run in a process of its own by `first_call`: loads a robot, calls one function once, and prints how long things took."""

from __future__ import annotations

import json
import sys
import time

began = time.perf_counter()

import numpy as np

import dynamis as dy
from dynamis.compiler.kernel import wait_for_compiler


def main(name: str, base: str, function: str) -> None:
    imported = time.perf_counter()
    robot = dy.load(name, base=base)
    q, x = robot.neutral(), np.zeros(robot.n)
    given = (q,) if function == "mass_matrix" else (q, x, x)
    loaded = time.perf_counter()
    getattr(robot, function)(*given)
    answered = time.perf_counter()
    wait_for_compiler()
    optimised = time.perf_counter()
    found = {
        "import": imported - began, "load": loaded - imported, "first": answered - loaded, "optimised": optimised - loaded,
    }  # fmt: skip
    sys.stdout.write(json.dumps(found))


main(*sys.argv[1:])
