"""A derivation in a fresh process that can be stopped: what it said, and why there is no more."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Run:
    """``stages`` are seconds since the start of the derivation; ``facts`` whatever else was printed."""

    stages: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    stopped: str | None = None

    def read(self, text: str) -> Run:
        for line in text.splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                continue  # a library's own chatter, or a line cut short
            if "stage" in said:
                self.stages[said["stage"]] = said["seconds"]
            else:
                self.facts |= said
        return self


def derive(case: str, contender: str, limit: float, *, examine: bool) -> Run:
    """One contender, one arm; stopped after ``limit`` seconds, with the stages it has reached by then."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "benchmarks.closed_forms.probe",
        case,
        contender,
        "examine" if examine else "time",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)  # noqa: S603  # our own module
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        return Run(stopped=f"no result in {limit:g} s").read(said.decode() if isinstance(said, bytes) else said)
    run = Run().read(done.stdout)
    if done.returncode:
        last = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        run.stopped = _plain(last[-1])
    return run


def _plain(error: str) -> str:
    if error.startswith("ModuleNotFoundError: No module named "):
        return f"{error.split(chr(39))[1]} is not installed"
    return error if len(error) <= 120 else error[:119] + "…"
