"""``report``: everything about a robot on one page."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynamis.errors import DynamisError, InputError, printable, unknown_name
from dynamis.report.section import Budget, OutOfTimeError, Section
from dynamis.report.subject import Subject, subject_of
from dynamis.report.tiers import code_tier
from dynamis.robot import Robot, load
from dynamis.whole_files import write_file

Progress = Callable[[float, str], None]

# the sections in their order: module, and share of the time
SECTIONS = {
    "robot": ("overview", 0.05),
    "check": ("check", 0.2),
    "equations": ("equations", 0.15),
    "maps": ("maps", 0.08),
    "eigenvalues": ("eigenvalues", 0.06),
    "workspace": ("workspace", 0.1),
    "stiffness": ("stiffness", 0.08),
    "motions": ("motions", 0.25),
    "parameters": ("base_parameters", 0.08),
    "speed": ("speed", 0.1),
}
SECONDS = 30.0
LEAST = 0.5  # s for a section, however late it is


@dataclass(frozen=True, eq=False)
class Contents:
    """A report before it is written: what it is about, and its sections."""

    subject: Subject
    sections: Sequence[Section]

    @property
    def title(self) -> str:
        return self.subject.given.name

    @property
    def default_path(self) -> Path:
        """What its file is called: like the robot's file, or like the robot, with hyphens for all but letters and digits."""
        source = self.subject.source or ""
        name = Path(source).stem if Path(source).suffix else self.title
        plain = "-".join("".join(c.lower() if c.isascii() and c.isalnum() else " " for c in name).split())
        return Path(f"{plain or 'robot'}-report.html")

    def html(self) -> str:
        """One page that needs no network."""
        from dynamis.report.render_page import render

        return render(self)

    def markdown(self) -> str:
        from dynamis.report.render_markdown import render

        return render(self)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write an .html, .md or .pdf file, whole or not at all."""
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix == ".pdf":
            from dynamis.report.printing import print_pdf

            return print_pdf(self.html(), target)
        if suffix not in (".html", ".htm", ".md"):
            raise InputError(f"{printable(target.name)}: name the report .html, .md or .pdf")
        return write_file(target, (self.markdown() if suffix == ".md" else self.html()).encode("utf-8"))


def report(
    robot: Robot | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    sections: Sequence[str] | None = None,
    without: Sequence[str] = (),
    values: Mapping[str, float] | None = None,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> Path:
    """Write everything about a robot into one file, and return where: .html (a page that needs no network), .md or .pdf.

    ``path`` is the name of the robot's file, or the robot's own, with ``-report.html`` unless given. ``sections`` chooses among
    robot, check, equations, maps, eigenvalues, workspace, stiffness, motions, parameters and speed; ``without`` leaves some
    out. ``values`` gives numbers to the robot's symbols: formulas keep the symbols, everything else takes the numbers. A
    section that fails, or that would take more than its share of about ``seconds`` in all, says so in its place.

    >>> import dynamis as dy, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = dy.report(dy.load("planar_2r_melchiorri"), f"{folder}/arm.html", sections=["robot", "equations"])
    ...     page.stat().st_size > 100_000
    True
    """
    contents = contents_of(robot, sections=sections, without=without, values=values, seconds=seconds, progress=progress)
    return contents.write(contents.default_path if path is None else path)


def contents_of(
    robot: Robot | str | os.PathLike[str],
    *,
    sections: Sequence[str] | None = None,
    without: Sequence[str] = (),
    values: Mapping[str, float] | None = None,
    source: str | None = None,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> Contents:
    """The sections of a report, computed but not written; ``source`` is what `load` was given for a robot already loaded."""
    chosen = chosen_sections(sections, without)
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not seconds > 0:
        raise InputError(f"seconds must be a positive number, got {seconds!r}")
    source = source if isinstance(robot, Robot) else os.fspath(robot)
    subject = subject_of(robot if isinstance(robot, Robot) else load(robot), values, source)
    if not subject.robot.n:
        raise InputError(f"robot {printable(subject.robot.name)} has no joints that move: there is no dynamics to report on")
    total = left = sum(SECTIONS[key][1] for key in chosen)
    made, whole = [], Budget(seconds)
    for key in chosen:
        name, share = SECTIONS[key]
        module = importlib.import_module(f"dynamis.report.sections.{name}")
        if progress is not None:
            progress(1.0 - left / total, module.TITLE)
        # what one section does not need is there for those after it
        made.append(_built(module, subject, max(whole.left * share / left, LEAST)))
        left -= share
    return Contents(subject, made)


def chosen_sections(sections: Sequence[str] | None, without: Sequence[str]) -> list[str]:
    """The names of the sections, in the order of the report."""
    for name in (*(sections or ()), *without):
        if name not in SECTIONS:
            raise unknown_name("section", name, SECTIONS)
    chosen = [key for key in SECTIONS if (sections is None or key in sections) and key not in without]
    if not chosen:
        raise InputError("no section is left to report; choose among " + ", ".join(SECTIONS))
    return chosen


def _built(module: Any, subject: Subject, seconds: float) -> Section:
    section, budget = Section(module.KEY, module.TITLE), Budget(seconds)
    try:
        with warnings.catch_warnings(), code_tier("quick"):
            warnings.simplefilter("ignore")  # what a section has to say about its numbers stands in its notes
            module.build(subject, section, budget)
    except (DynamisError, OutOfTimeError) as error:
        section.failed = str(error)
    except Exception as error:
        # one section must not cost the others; what it says is enough to find the cause
        section.failed = f"{type(error).__name__}: {error}"
    section.seconds = budget.spent
    return section
