"""Mutants in a process that has imported the package and collected the tests: the code of the changed functions is replaced.

Forking such a process takes milliseconds, importing everything anew takes seconds. What was computed while modules were
imported, and programs that tests start, use the original code: a mutant may survive here that a complete run of the tests would
notice, never the other way round. Changes of a module's or class's own statements are made in the file: see forked.py.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from campaigns.covering import Covering
from campaigns.forked import Verdict, allow, in_child, verdict_of


class Collected:
    """pytest's plugin: hands the collected tests to ``work`` instead of running them."""

    def __init__(self, tree: Path, work: Callable[[Collected], None]) -> None:
        self.tree, self.work = tree, work
        self.items: dict[str, pytest.Item] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        for plugin in session.config.pluginmanager.get_plugins():  # the modules that tests/conftest.py imports for every test
            for name in getattr(plugin, "LIMITED", ()):
                importlib.import_module(f"dynamis.{name}")
        gc.unfreeze()
        living = gc.get_objects()
        ours = str(self.tree)
        self.functions = [f for f in living if isinstance(f, FunctionType) and f.__code__.co_filename.startswith(ours)]
        self.caches = [f for f in living if isinstance(f, functools._lru_cache_wrapper) and _is_ours(f)]
        gc.freeze()
        self.work(self)
        return True

    def patches(self, path: Path, before: str, after: str) -> list[tuple[FunctionType, CodeType]] | None:
        """(function, its new code) of a change; None if something else than functions has changed."""
        name = str(self.tree / path)
        pairs = list(_changed(compile(before, name, "exec"), compile(after, name, "exec")))
        if any(not old.co_flags & inspect.CO_OPTIMIZED for old, _ in pairs):
            return None  # code of a module or class
        new_of = {_key(old): new for old, new in pairs}
        found = [(f, new_of[_key(f.__code__)]) for f in self.functions if _key(f.__code__) in new_of]
        return found or None

    def other_cases(self, tests: list[str], covering: Covering) -> list[str]:
        """Cases of these tests that were left out when lines were recorded."""
        functions = {test.partition("[")[0] for test in tests}
        return [name for name in self.items if name.partition("[")[0] in functions and covering.is_new(name)]

    def judged(self, patches: list[tuple[FunctionType, CodeType]], order: list[str], usual: dict[str, float], limit: float,
               compiler: bool) -> Verdict:  # fmt: skip
        """The verdict of tests with patched functions; for a change of the compiler, nothing it has made before is used."""

        def run() -> dict[str, Any]:
            os.environ["DYNAMIS_CACHE"] = tempfile.mkdtemp()
            for function, code in patches:
                function.__code__ = code
            for cached in self.caches:
                if compiler or not cached.__module__.startswith("dynamis.compiler"):
                    cached.cache_clear()
            return vars(self._run([self.items[name] for name in order if name in self.items], usual, limit))

        return verdict_of(*in_child(self.tree, run, settled=True))

    def _run(self, items: list[pytest.Item], usual: dict[str, float], limit: float) -> Verdict:
        begun = time.process_time()
        for k, item in enumerate(items):
            allow(usual.get(item.nodeid, 1.0))
            following = items[k + 1] if k + 1 < len(items) else None
            if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
                return Verdict("killed", item.nodeid, k + 1)
            if time.process_time() - begun > limit and following is not None:
                return Verdict("survived", ran=k + 1, limited=True)
        return Verdict("survived", ran=len(items))


def _is_ours(cached: Any) -> bool:
    return str(getattr(cached, "__module__", "")).startswith("dynamis")


def _changed(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The pieces of code that differ, other than by the pieces in them."""
    parts, others = ([c for c in code.co_consts if isinstance(c, CodeType)] for code in (old, new))
    if old != new if old.co_flags & inspect.CO_OPTIMIZED else (old.co_code, _plain(old)) != (new.co_code, _plain(new)):
        yield old, new
    for one, other in zip(parts, others, strict=False):
        yield from _changed(one, other)


def _key(code: CodeType) -> tuple[str, str, int, bytes]:
    return code.co_filename, code.co_qualname, code.co_firstlineno, code.co_code


def _plain(code: CodeType) -> list[tuple[type, object]]:
    return [(type(c), repr(c)) for c in code.co_consts if not isinstance(c, CodeType)]
