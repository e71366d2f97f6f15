"""Python in a process of its own, where a crash, an endless wait or a changed environment stays without consequences."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dynamis as dy

LIMIT = 300.0  # seconds: only what hangs takes so long, also on a machine with much other work


def clean_environment(**settings):
    """This process's environment with the package importable from anywhere, the tests' cache, and these settings only."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DYNAMIS") or name == "DYNAMIS_CACHE"}
    return {**kept, "PYTHONPATH": str(Path(dy.__file__).resolve().parents[1]), **settings}


def run_python(text, *options, cwd=None, timeout=LIMIT, **settings):
    """Run a program; returns what it did, whether it succeeded or not."""
    return subprocess.run(
        [sys.executable, *options, "-c", text], capture_output=True, text=True, check=False, timeout=timeout, cwd=cwd,
        env=clean_environment(**settings),
    )  # fmt: skip


def output_of(text, *options, cwd=None, timeout=LIMIT, **settings):
    """What a program prints; it must succeed and complain of nothing."""
    run = run_python(text, *options, cwd=cwd, timeout=timeout, **settings)
    assert run.returncode == 0, f"exit {run.returncode}: {run.stderr[-1500:]}"
    assert run.stderr == ""
    return run.stdout


def wait_until(condition, what, limit=LIMIT):
    """Wait for something to happen; ``what`` says what did not."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, f"after {limit:g} s {what}"
        time.sleep(0.02)


@contextlib.contextmanager
def process_group(arguments, **options):
    """A process with a session of its own; however a test ends, it is ended with everything that it started."""
    # tests that a shell started in the background ignore interrupts, and so would their processes
    heard = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(arguments, start_new_session=True, preexec_fn=heard, **options)
    try:
        yield process
    finally:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()
