"""How long the first result takes in a fresh process, with nothing on disk and with the compiled code on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from statistics import median
from typing import Any

from benchmarks import cores
from benchmarks.options import Options

CALLS = (
    ("panda", "fixed", "inverse_dynamics"),
    ("panda", "fixed", "forward_dynamics"),
    ("panda", "fixed", "mass_matrix"),
    ("g1", "floating", "forward_dynamics"),
)


def measure(options: Options) -> dict[str, Any]:
    rows = []
    cores.use(cores.available())
    for name, base, function in CALLS:
        cold, compiled, cached = [], [], []
        for start in range(options.fresh_starts):
            options.tell(f"{name}, {function.replace('_', ' ')}: fresh process {start + 1} of {options.fresh_starts}")
            with tempfile.TemporaryDirectory() as folder:
                cold.append(probe(folder, name, base, function))  # interpreted
                compiled.append(probe(folder, name, base, function))  # asked for again, and therefore compiled
                cached.append(probe(folder, name, base, function))  # the second has left its code there
        rows.append(
            {
                "robot": name, "function": function, "cold_s": _best(cold, "first"), "cold_median_s": _median(cold, "first"),
                "cached_s": _best(cached, "first"), "cached_median_s": _median(cached, "first"),
                "compiled_s": _best(compiled, "first"),
                "optimised_s": _best(compiled, "optimised"), "import_s": _best(cached, "import"), "load_s": _best(cached, "load"),
            }
        )  # fmt: skip
    return {"fresh_starts": options.fresh_starts, "rows": rows}


def probe(cache: str, *arguments: str) -> dict[str, float]:
    environment = {**os.environ, "DYNAMIS_CACHE": cache}
    for name in ("DYNAMIS_NO_CACHE", "DYNAMIS_TIER", "DYNAMIS_NUM_THREADS"):
        environment.pop(name, None)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.first_call_probe", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603  # our own module
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _best(runs: list[dict[str, float]], key: str) -> float:
    return min(run[key] for run in runs)


def _median(runs: list[dict[str, float]], key: str) -> float:
    return median(run[key] for run in runs)
