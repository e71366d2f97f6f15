"""Tests in a forked process: third-party packages are imported once, by the parent, and the package under test by each child.

Each child has a folder of its own for temporary files and compiled code, so that no result outlives a change of the source,
and limits on memory and on the time of each test.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

THIRD_PARTY = ("numpy", "scipy.linalg", "scipy.optimize", "scipy.spatial", "scipy.integrate", "scipy.interpolate",
               "scipy.stats", "scipy.signal", "llvmlite.binding", "flint", "clarabel", "trimesh", "click", "rich.console",
               "mpmath", "sympy", "threadpoolctl", "xml.etree.ElementTree", "tomllib", "ctypes.util",
               "concurrent.futures.thread", "multiprocessing.pool")  # fmt: skip
MEMORY = 6 * 10**9  # bytes of a process
SLOWER = 20.0  # times the usual seconds of a test, and
PATIENCE = 20.0  # s more, after which it is taken to be endless


def import_third_party() -> None:
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", DYNAMIS_TIER="quick")
    for name in THIRD_PARTY:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # tests that need it are skipped
    assert "dynamis" not in sys.modules
    gc.collect()
    gc.freeze()  # the collectors of forked processes do not look through all this again


@dataclass
class Verdict:
    """What tests say: ``outcome`` is killed, timeout or survived; ``ran`` tests within the limit of time, if ``limited``."""

    outcome: str
    by: str = ""
    ran: int = 0
    limited: bool = False


class Judge:
    """pytest's plugin: runs tests in a given order up to the first that fails, or until the processor time is used up."""

    def __init__(self, order: list[str], usual: dict[str, float], limit: float) -> None:
        self.rank = {test: k for k, test in enumerate(order)}
        self.usual, self.limit = usual, limit
        self.verdict = Verdict("survived")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.rank.get(item.nodeid, len(self.rank)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if time.process_time() > self.limit:
            self.verdict.limited = True
            item.session.shouldstop = "out of time"
        allow(self.usual.get(item.nodeid, 1.0))
        self.verdict.ran += 1
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.verdict.by:
            self.verdict.outcome, self.verdict.by = "killed", report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.verdict.by:
            self.verdict.outcome, self.verdict.by = "killed", f"import of {report.nodeid}"


def allow(usual: float) -> None:
    """Time for the next test: when it is over, the process is ended by a signal."""
    seconds = PATIENCE + SLOWER * usual
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, resource.RLIM_INFINITY))
    signal.setitimer(signal.ITIMER_REAL, 3.0 * seconds)  # for one that waits


def judged(tree: Path, order: list[str], usual: dict[str, float], limit: float) -> Verdict:
    """The verdict of tests on a tree; ``limit`` is processor time in s."""

    def run() -> dict[str, Any]:
        judge = Judge(order, usual, limit)
        status = pytest.main([*OPTIONS, *order], plugins=[judge])
        if judge.verdict.outcome == "survived" and status not in (0, 2, 5):  # such as a conftest that cannot be imported
            judge.verdict.outcome, judge.verdict.by = "killed", f"pytest ends with status {int(status)}"
        return vars(judge.verdict)

    return verdict_of(*in_child(tree, run))


def verdict_of(result: dict[str, Any] | None, status: int) -> Verdict:
    """From what a process has answered, or how it ended."""
    if result is not None:
        return Verdict(**result)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM):
        return Verdict("timeout")
    return Verdict("killed", "the process ended " + (f"by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "early"))


OPTIONS = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "timeout=0"]


def in_child(tree: Path, function: Callable[[], Any], settled: bool = False) -> tuple[Any, int]:
    """(what a function returns in a forked process that imports the package from a tree, or None; its exit status).

    ``settled``: this process has itself imported it from there.
    """
    scratch = tree.parent / ("scratch" if not settled else "inner")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    answer = scratch.with_suffix(".json")
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            if not settled:
                _settle(tree)
            _confine(scratch)
            result = function()
            answer.write_text(json.dumps(result), encoding="utf-8")
        finally:
            os._exit(0)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # and the processes that tests have started
    return (json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else None), status


def _settle(tree: Path) -> None:
    os.chdir(tree)
    sys.path[:] = [str(tree / "src"), *(p for p in sys.path if p not in ("", str(Path(__file__).parents[1])))]
    os.environ["PYTHONPATH"] = str(tree / "src")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def _confine(scratch: Path) -> None:
    os.setpgid(0, 0)
    os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = None
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
