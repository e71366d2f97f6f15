"""Which tests execute which lines of the source: a map from lines to tests, recorded once and kept in the user's cache folder.

Lines are known by their file and text, not by their number, so that the map remains valid when other lines of the file change.
A test file is recorded in a process of its own; when its text changes, the tests that are new in it. Tests that fail there are
left out.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import random
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dynamis-campaigns" / "covering"
CALLS = 200  # calls of a function in one test without a line that is new: it is not traced further in this test
ENOUGH = 2.0  # s of processor time for the cases of one parametrized test: the others would execute the same lines
STEPS = (0.1, 0.5, 2.0, 8.0)  # s: a test that is quicker than the next of these runs before the others

Line = str  # file and text of a line


def line_of(file: str, text: str) -> Line:
    return f"{file}:{text.strip()}"


class Tracer:
    """Collects the lines that a test executes in some folders or files, all of them in one tree."""

    def __init__(self, tree: Path, folders: list[str]) -> None:
        self.tree = str(tree) + os.sep
        self.folders = tuple(f"{self.tree}src/dynamis/{name}" + ("" if name.endswith(".py") else "/") for name in folders)
        self.functions: dict[int, _Function | None] = {}
        self.others: list[CodeType] = []  # kept alive, so that no code of ours gets the identity of one that is gone

    def start(self) -> None:
        for function in filter(None, self.functions.values()):
            function.begin()
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> dict[str, list[int]]:
        """File → numbers of the lines that were executed since the start."""
        sys.settrace(None)
        threading.settrace(None)
        found: dict[str, set[int]] = {}
        for function in filter(None, self.functions.values()):
            if function.lines:
                found.setdefault(function.file, set()).update(function.lines)
        return {file: sorted(lines) for file, lines in found.items()}

    def _call(self, frame: FrameType, *_: object) -> Any:
        code = frame.f_code
        try:
            function = self.functions[id(code)]
        except KeyError:
            ours = code.co_filename.startswith(self.folders) and code.co_name != "<module>"
            function = _Function(code, code.co_filename.removeprefix(self.tree)) if ours else None
            self.functions[id(code)] = function
            if function is None:
                self.others.append(code)
        return None if function is None else function.called()


class _Function:
    def __init__(self, code: CodeType, file: str) -> None:
        self.code = code  # keeps it alive: its identity is the key
        self.file = file
        self.total = len({line for _, _, line in code.co_lines() if line is not None})
        self.begin()

    def begin(self) -> None:
        self.lines: set[int] = set()
        self.calls, self.known = 0, 0

    def called(self) -> Any:
        if len(self.lines) > self.known:
            self.calls, self.known = 0, len(self.lines)
        self.calls += 1
        return None if self.known == self.total or self.calls > CALLS else self._step

    def _step(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        return self._step


class Recorder:
    """pytest's plugin for a recording: the lines, the seconds and the outcome of each test that is not ``known``."""

    def __init__(self, tracer: Tracer, known: dict[str, dict[str, Any]]) -> None:
        self.tracer, self.known = tracer, known
        self.tests: dict[str, dict[str, Any]] = {}
        self.used: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Cases of each test in an order that does not begin with all of one kind."""
        random.Random(0).shuffle(items)  # noqa: S311 - not for security
        items.sort(key=lambda item: item.nodeid.partition("[")[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        if item.nodeid in self.known:
            self.tests[item.nodeid] = self.known[item.nodeid]
            return True
        function = item.nodeid.partition("[")[0]
        if self.used[function] > ENOUGH:
            return True
        self.tests[item.nodeid] = {"passed": True}
        begun = time.process_time()
        self.tracer.start()
        runtestprotocol(item, nextitem=nextitem)
        lines, seconds = self.tracer.stop(), time.process_time() - begun
        self.used[function] += seconds
        self.tests[item.nodeid] |= {"lines": lines, "seconds": round(seconds, 3)}
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:  # skipped tests notice nothing either
            self.tests[report.nodeid]["passed"] = False


class Covering:
    """The map of a tree: the tests that execute a line, and how long each takes."""

    def __init__(self, tree: Path, traced: Callable[[str], list[str]]) -> None:
        """``traced``: folders and files of the source whose lines are recorded, of a test file."""
        self.tree, self.traced = tree, traced
        self.seconds: dict[str, float] = {}
        self.tests: dict[Line, set[str]] = {}
        self.of_file: dict[str, set[str]] = {}
        self.unusable: set[str] = set()
        self.added: set[str] = set()  # since the map was first made: meant for mutants that survived

    def digest(self, test_file: str) -> str:
        """Of a test file, or of a folder of the source, whose examples are tests."""
        place = self.tree / test_file
        digest = hashlib.sha256()
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def stored(self, test_file: str) -> dict[str, Any]:
        """What is known of a test file: its digest when it was recorded, and its tests."""
        try:
            found: dict[str, Any] = json.loads(self._place(test_file).read_text(encoding="utf-8"))
        except FileNotFoundError:
            found = {"digest": "", "tests": {}}
        return found

    def store(self, test_file: str, tests: dict[str, dict[str, Any]]) -> None:
        """Keep the tests of a file: new ones with the text of lines in the place of their numbers."""
        known: dict[str, list[str]] = {}
        for test in tests.values():
            if isinstance(test["lines"], dict):
                for file in test["lines"]:
                    known.setdefault(file, (self.tree / file).read_text(encoding="utf-8").splitlines())
                lines = {line_of(file, known[file][n - 1]) for file, numbers in test["lines"].items() for n in numbers}
                test["lines"] = sorted(lines)
        CACHE.mkdir(parents=True, exist_ok=True)
        self._place(test_file).write_text(json.dumps({"digest": self.digest(test_file), "tests": tests}), encoding="utf-8")

    def load(self, test_files: list[str]) -> None:
        for test_file in test_files:
            for name, test in self.stored(test_file)["tests"].items():
                if not test["passed"]:
                    self.unusable.add(name)
                else:
                    self.seconds[name] = test["seconds"]
                    self.added |= {name} if test.get("added") else set()
                    for line in test["lines"]:
                        self.tests.setdefault(line, set()).add(name)
                        self.of_file.setdefault(line.partition(":")[0], set()).add(name)

    def forget(self, test: str) -> None:
        """Leave out a test that does not pass with the original source when it runs without the others."""
        self.seconds.pop(test, None)
        self.unusable.add(test)

    def _place(self, test_file: str) -> Path:
        traced = hashlib.sha256("\n".join(sorted(self.traced(test_file))).encode()).hexdigest()
        return CACHE / f"{test_file.replace('/', '-')}-{traced[:8]}.json"

    def is_new(self, test: str) -> bool:
        """Whether it was not recorded."""
        return test not in self.seconds and test not in self.unusable

    def select(self, file: str, number: int) -> list[str]:
        """The tests that execute the statement at a line, the quickest first and otherwise file by file.

        A statement that is executed by the import of its module is tested by those that execute lines with the name that it
        defines; a default value of a function by those that execute the function.
        """
        source = (self.tree / file).read_text(encoding="utf-8")
        first, last, names = _statement(ast.parse(source), number)
        lines = source.splitlines()
        chosen = self._executing(file, lines[first - 1 : last])
        if names:
            found = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
            chosen = {test for line, tests in self.tests.items() if found.search(line.partition(":")[2]) for test in tests}
            chosen = chosen or self.of_file.get(file, set())
        return sorted(chosen & self.seconds.keys(), key=lambda test: self._rank(test, file))

    def _executing(self, file: str, texts: list[str]) -> set[str]:
        return set().union(*(self.tests.get(line_of(file, text), set()) for text in texts if text.strip()))

    def _rank(self, test: str, file: str) -> tuple[bool, int, bool, str, float]:
        """Added tests first, then quick ones; of those that are about as quick, the tests of the changed module first."""
        seconds, test_file = self.seconds[test], test.partition("::")[0]
        step = sum(seconds > step for step in STEPS)
        return test not in self.added, step, Path(file).stem not in test_file, test_file, seconds


def _statement(tree: ast.Module, number: int) -> tuple[int, int, list[str]]:
    """(first line, last line) of the smallest statement at a line, without the statements in it; names it defines on import.

    For a default value of a function, the lines are those of the function's body.
    """
    path: list[ast.stmt] = []
    block: list[ast.stmt] = list(tree.body)
    while True:
        at = [s for s in block if s.lineno <= number <= (s.end_lineno or s.lineno)]
        if not at:
            break
        path.append(at[0])
        block = [s for part in ("body", "orelse", "finalbody", "handlers") for s in getattr(at[0], part, [])]
        block += [s for case in getattr(at[0], "cases", []) for s in case.body]
    if not path:
        return number, number, []
    own = path[-1]
    last = own.end_lineno or own.lineno
    if isinstance(own, ast.FunctionDef):
        return own.body[0].lineno, last, []
    inner = min((s.lineno for s in block), default=last + 1)
    end = max(number, min(last, inner - 1))
    if any(isinstance(s, ast.FunctionDef) for s in path):
        return own.lineno, end, []
    return own.lineno, end, _defined(own)


def _defined(statement: ast.stmt) -> list[str]:
    """Names that a statement at the level of a module or class binds."""
    return sorted({n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)})
