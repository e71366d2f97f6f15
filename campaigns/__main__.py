"""Run fuzzers for as many inputs as asked for; a failure is reported with the seed that makes it again.

Each part runs in a process of its own with limited memory and time, so that a crash, an exhausted memory and an endless loop
are failures like any other. Figures of all runs are added up in campaigns/figures.json.

  python -m campaigns                        every reader, 10,000 inputs each
  python -m campaigns robots csv -n 1000000  these two, a million each
  python -m campaigns mcap --seed 1234 -n 1  one input again
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FIGURES = Path(__file__).with_name("figures.json")
PART = 1000  # inputs for one process
MEMORY = 4 * 10**9  # bytes of a process
SECONDS = 600.0  # for one part: 0.6 s per input


def main() -> int:
    from campaigns.readers import READERS

    parser = argparse.ArgumentParser(prog="python -m campaigns", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"of: {', '.join(READERS)}; all by default")
    parser.add_argument("-n", "--count", type=int, default=10_000, help="inputs for each reader (default 10,000)")
    parser.add_argument("--seed", type=int, help="first seed; by default the one after those of earlier runs")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time (default: all cores)")
    parser.add_argument("--part", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        return _run_part(arguments.part[0], int(arguments.part[1]), int(arguments.part[2]))
    unknown = [name for name in arguments.readers if name not in READERS]
    if unknown:
        parser.error(f"no reader named {', '.join(unknown)}; there are: {', '.join(READERS)}")
    failed = False
    for name in arguments.readers or READERS:
        failed |= _campaign(name, arguments.count, arguments.seed, arguments.workers)
    return int(failed)


def _campaign(name: str, count: int, seed: int | None, workers: int) -> bool:
    """Run one reader, print what was found, add to the figures; returns whether anything was found."""
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    known = figures.get(name, {"inputs": 0, "accepted": 0, "failures": 0, "seconds": 0.0})
    first = known["inputs"] if seed is None else seed
    starts = range(first, first + count, PART)
    begun, accepted, complaints = time.monotonic(), 0, []
    with ThreadPoolExecutor(workers) as pool:
        parts = pool.map(lambda start: _part(name, start, min(PART, first + count - start)), starts)
        for done, (found, whole) in enumerate(parts, 1):
            complaints += found
            accepted += whole
            sys.stderr.write(f"\r{name}: {min(count, done * PART)} of {count}, {len(complaints)} failures ")
    seconds = time.monotonic() - begun
    sys.stderr.write("\r\x1b[K")
    print(f"{name}: {count} inputs, {accepted} accepted, {len(complaints)} failures, {seconds:.0f} s")
    for at, why in complaints[:20]:
        print(f"  seed {at}: {why}")
    if seed is None:
        for key, value in (
            ("inputs", count),
            ("accepted", accepted),
            ("failures", len(complaints)),
            ("seconds", round(seconds)),
        ):
            known[key] += value
        figures[name] = known
        FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    return bool(complaints)


def _part(name: str, first: int, count: int) -> tuple[list[tuple[int, str]], int]:
    command = [sys.executable, "-m", "campaigns", "--part", name, str(first), str(count)]
    settings = {**os.environ, "DYNAMIS_TIER": "quick", "DYNAMIS_NO_CACHE": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS, env=settings)
    except subprocess.TimeoutExpired:
        return [(first, f"the {count} inputs from here took more than {SECONDS:g} s")], 0
    try:
        found, whole = json.loads(run.stdout.splitlines()[-1])
        return [(seed, why) for seed, why in found], whole
    except (ValueError, IndexError):
        return [(first, f"exit status {run.returncode} among the {count} inputs from here: {run.stderr[-500:]}")], 0


def _run_part(name: str, first: int, count: int) -> int:
    from campaigns.readers import READERS

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        sys.stderr.write("memory is not limited on this system\n")
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(READERS[name](range(first, first + count), folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
