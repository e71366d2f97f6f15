"""Python in a process of its own, where a crash, an endless wait or a changed environment stays without consequences."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dynamis as dy


def clean_environment(**settings):
    """This process's environment with the package importable from anywhere, and with these settings of it only."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DYNAMIS")}
    return {**kept, "PYTHONPATH": str(Path(dy.__file__).resolve().parents[1]), **settings}


def run_python(text, *options, cwd=None, timeout=120, **settings):
    """Run a program; returns what it did, whether it succeeded or not."""
    return subprocess.run(
        [sys.executable, *options, "-c", text], capture_output=True, text=True, check=False, timeout=timeout, cwd=cwd,
        env=clean_environment(**settings),
    )  # fmt: skip


def output_of(text, *options, cwd=None, timeout=120, **settings):
    """What a program prints; it must succeed and complain of nothing."""
    run = run_python(text, *options, cwd=cwd, timeout=timeout, **settings)
    assert run.returncode == 0, f"exit {run.returncode}: {run.stderr[-1500:]}"
    assert run.stderr == ""
    return run.stdout
