"""What is wrong or doubtful in a description: one finding, and the report that collects them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dynamis.display import as_text, counted, short
from dynamis.errors import FormatError, ModelError, ModelWarning, printable

MAX_SIMILAR_WARNINGS = 3  # of one kind that are printed one by one
MAX_PLACES_LISTED = 4  # of each further kind, and of what is left aside
LEFT_ASIDE = "left-aside"  # the code of findings about what a description has no place for


@dataclass(frozen=True, repr=False)
class Problem:
    """One finding: where it is, what was found, what is allowed, how to repair it.

    ``severity`` is "error" (the model cannot be used), "warning" (it loads, ``done`` says how it was read) or "note" (a default
    of the file format applies).
    ``code`` is a short stable name for scripts. ``complete`` is what was found with all names, where ``found`` cuts their list.
    """

    severity: str
    code: str
    where: str
    found: str
    allowed: str
    repair: str
    done: str = ""
    file: str = ""
    line: int | None = None
    complete: str = ""

    def __str__(self) -> str:
        place = self.file + (f":{self.line}" if self.line else "") + (": " if self.file else "")
        text = f"{place}{self.severity}: {self.where}: {self.found}"
        text += f"; allowed: {self.allowed}" if self.allowed else ""
        text += f"; {self.done}" if self.done else ""
        return text + (f". To repair: {self.repair}." if self.repair else ".")

    def as_dict(self) -> dict[str, Any]:
        values = {k: v for k, v in self.__dict__.items() if v not in ("", None)}
        values["found"] = values.pop("complete", self.found)
        path = getattr(self.line, "path", None)  # of a prim, where a file has no lines
        return values if path is None else {**values, "line": path}

    def __repr__(self) -> str:
        return short(f"<Problem {self.severity} {self.code} of {self.where}: {self.found}>")

    _repr_html_ = as_text


@dataclass(repr=False)
class Report:
    """The findings about one file or description, in the order of the file.

    ``skipped`` names the checks that the errors made impossible. ``notes`` are defaults of the file format that the file
    relies on; they are neither errors nor warnings, and only `dynamis.check` shows them. ``by_hand``: the numbers were given
    in Python.
    """

    source: str = ""
    problems: list[Problem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    by_hand: bool = False

    def error(self, code: str, where: str, found: str, allowed: str, repair: str, line: int | None = None) -> None:
        self.problems.append(Problem("error", code, where, found, allowed, repair, "", self.file_of(line), line))

    def warn(self, code: str, where: str, found: str, allowed: str, repair: str, done: str, line: int | None = None) -> None:
        self.problems.append(Problem("warning", code, where, found, allowed, repair, done, self.file_of(line), line))

    def note(self, code: str, where: str, found: str, repair: str, done: str, line: int | None = None) -> None:
        self.notes.append(Problem("note", code, where, found, "", repair, done, self.file_of(line), line))

    def warn_aside(self, where: str, aside: Mapping[str, list[str]], allowed: str, repair: str) -> None:
        """One warning of all that is left aside."""
        if aside:
            self.problems.append(_naming(Problem("warning", LEFT_ASIDE, where, "", allowed, repair, file=self.source), aside))

    def note_aside(self, where: str, aside: Mapping[str, list[str]]) -> None:
        """A note for each kind of thing that is left aside."""
        note = Problem("note", LEFT_ASIDE, where, "", "", "", file=self.source)
        self.notes += [_naming(note, {what: names}) for what, names in aside.items()]

    def file_of(self, line: int | None) -> str:
        """The file of a line: the one that is read, unless the line is of a file it includes."""
        return getattr(line, "file", self.source)

    @property
    def errors(self) -> list[Problem]:
        return [p for p in self.problems if p.severity == "error"]

    def warn_of_closures(self, where: str, found: str) -> None:
        """A file whose loops the tree of the robot does not have."""
        self.warn(
            "closures", where, found, "a tree", "use dynamis.constrained(robot), or the command dynamis simulate",
            "the functions of the robot are those of the tree; dynamis.constrained(robot) and dynamis simulate close the loops",
        )  # fmt: skip

    @property
    def warnings(self) -> list[Problem]:
        return [p for p in self.problems if p.severity == "warning"]

    @property
    def keys(self) -> frozenset[tuple[str, ...]]:
        """What tells the findings apart."""
        return frozenset((p.code, p.where, p.found) for p in self.problems)

    def without(self, known: frozenset[tuple[str, ...]]) -> Report:
        """The findings that have not these keys."""
        new = [p for p in self.problems if (p.code, p.where, p.found) not in known]
        return replace(self, problems=new)

    @property
    def ok(self) -> bool:
        """No errors; there may be warnings."""
        return not self.errors

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def __len__(self) -> int:
        return len(self.problems)

    def __str__(self) -> str:
        lines = [*map(str, self.problems), *([f"{self.source}: {self.skipped_sentence}"] if self.skipped else [])]
        return "\n".join([*(lines or [f"{self.source}: no errors or warnings"]), *map(str, self.notes)])

    _repr_html_ = as_text

    @property
    def skipped_sentence(self) -> str:
        """Which checks the errors made impossible; empty where every check was done."""
        return f"further checks were skipped because of these errors: {', '.join(self.skipped)}" if self.skipped else ""

    def raise_errors(self, kind: type[ModelError] = ModelError, *, strict: bool = False) -> None:
        """Raise if there is an error, or under ``strict`` any finding."""
        bad = self.problems if strict else self.errors
        if bad:
            raise kind(_several(bad), self.problems)

    def summarised(self) -> list[Problem]:
        """The findings, with more than three warnings of one kind as one: the first in full, the others counted and named."""
        return summarised(self.problems)

    def emit_warnings(self, stacklevel: int = 3) -> None:
        """Issue the warnings through Python's ``warnings``, those of one kind together where there are many."""
        for problem in self.summarised():
            if problem.severity == "warning":
                warning = ModelWarning(str(problem))
                warning.report = self
                warnings.warn(warning, stacklevel=stacklevel + 1)

    def merge_repeated(self) -> None:
        """Keep one of the findings that say the same of one line, with their number."""
        alike: dict[tuple[Any, ...], list[Problem]] = {}
        for p in self.problems:
            alike.setdefault((p.severity, p.code, p.found, p.allowed, p.file, p.line), []).append(p)
        self.problems[:] = [
            p[0] if len(p) == 1 else replace(p[0], found=f"{p[0].found} (met {len(p)} times)") for p in alike.values()
        ]

    def __repr__(self) -> str:
        found = f"{counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}"
        return f"<Report on {printable(self.source)}: {found if self.problems else 'no errors or warnings'}>"


def summarised(problems: Iterable[Problem]) -> list[Problem]:
    """The findings, with more than three of one kind as one, except for errors and the notes on what is left aside."""
    listed = list(problems)
    kinds: dict[str, list[Problem]] = {}
    for problem in listed:
        if not _single(problem):
            kinds.setdefault(problem.code, []).append(problem)
    result: list[Problem] = []
    for problem in listed:
        alike = [problem] if _single(problem) else kinds[problem.code]
        if len(alike) <= MAX_SIMILAR_WARNINGS:
            result.append(problem)
        elif problem is alike[0]:
            result.append(replace(problem, found=f"{problem.found} ({_others(alike[1:])})"))
    return result


def _single(problem: Problem) -> bool:
    return problem.severity == "error" or (problem.severity, problem.code) == ("note", LEFT_ASIDE)


def listed(names: list[str], every: bool = False) -> str:
    """ "17: a, b ×2, c, d, …", or all of the names."""
    alike = [name if count == 1 else f"{name} ×{count}" for name, count in Counter(names).items()]
    shown = alike if every else alike[:MAX_PLACES_LISTED]
    return f"{len(names)}: {', '.join(shown)}{', …' if len(shown) < len(alike) else ''}"


def _naming(problem: Problem, aside: Mapping[str, list[str]]) -> Problem:
    """The finding about what is left aside, with its names."""
    few, every = (
        "left aside, without a counterpart: " + "; ".join(f"{what} ({listed(names, x)})" for what, names in aside.items())
        for x in (False, True)
    )
    return replace(problem, found=few, complete=every if every != few else "")


def _others(problems: list[Problem]) -> str:
    """ "and 11 more like it: joint 'a' (line 12), …"."""
    places = [p.where + (f" (line {p.line})" if p.line else "") for p in problems[:MAX_PLACES_LISTED]]
    rest = f", … and {counted(len(problems) - MAX_PLACES_LISTED, 'other')}" if len(problems) > MAX_PLACES_LISTED else ""
    return f"and {len(problems)} more like it: {', '.join(places)}{rest}"


def format_error(file: str, line: int | None, found: str, allowed: str, repair: str, where: str = "file") -> FormatError:
    """The error for a file that cannot be read at all, with its one finding."""
    problem = Problem("error", "format", where, found, allowed, repair, "", getattr(line, "file", file), line)
    return FormatError(str(problem), [problem])


def _several(problems: Iterable[Problem], shown: int = 8) -> str:
    texts = [str(p) for p in problems]
    more = len(texts) - shown
    return "\n".join(texts[:shown] + ([f"… and {more} more; dynamis check FILE lists them all"] if more > 0 else []))
