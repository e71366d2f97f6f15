"""``report``: the analysis of a robot in one file."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynamis.display import counted
from dynamis.documents.blocks import Plain, Section, without_mathematics
from dynamis.documents.report import Report
from dynamis.errors import DynamisError, InputError, printable, unknown_name
from dynamis.reports.budget import Budget
from dynamis.reports.subject import Subject, subject_of
from dynamis.reports.tiers import code_tier
from dynamis.robot import Robot, load
from dynamis.robot.checks import check_is_robot, open_loops

Progress = Callable[[float, str], None]

# the sections in their order: module, and share of the time that extras may take
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
DEFAULT_SECONDS = 30.0
FOOTER = (
    "All results are computed from one model of the robot, in SI units. Each section ends with the Python code that "
    "reproduces it."
)


@dataclass(frozen=True, eq=False)
class Contents(Report):
    """A computed report: the robot and its sections."""

    subject: Subject

    @property
    def default_path(self) -> Path:
        """The default file name: from the robot's file or its name in the library, of letters, digits and hyphens."""
        name = Path(self.subject.source).stem if self.subject.source else self.title
        plain = "-".join("".join(c.lower() if c.isalnum() else " " for c in name).split())
        return Path(f"{plain or 'robot'}-report.html")


def report(
    robot: Robot | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    sections: Sequence[str] | None = None,
    without: Sequence[str] = (),
    values: Mapping[str, float] | None = None,
    seconds: float = DEFAULT_SECONDS,
    progress: Progress | None = None,
) -> Path:
    """Write the analysis of a robot to one file and return its path: .html (self-contained, works offline), .md or .pdf.

    ``path`` defaults to the name of the robot's file, or of the robot, with ``-report.html``. ``sections`` chooses among
    robot, check, equations, maps, eigenvalues, workspace, stiffness, motions, parameters and speed; ``without`` omits some.
    ``values`` gives numbers to the robot's symbols: formulas keep the symbols, everything else uses the numbers. A section
    that fails contains the error message. Sections, tables and figures do not depend on the speed of the machine;
    ``seconds`` limits only extras, which are marked as such (further random states in the check of the model).

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
    seconds: float = DEFAULT_SECONDS,
    progress: Progress | None = None,
) -> Contents:
    """The computed sections of a report; ``source`` is the argument of `load` for a robot already loaded."""
    chosen = chosen_sections(sections, without)
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not seconds > 0:
        raise InputError(f"seconds must be a positive number, got {seconds!r}")
    if not isinstance(robot, str | os.PathLike):
        check_is_robot(robot)
    source = source if isinstance(robot, Robot) else os.fspath(robot)
    subject = subject_of(robot if isinstance(robot, Robot) else load(robot), values, source)
    if not subject.robot.n:
        raise InputError(
            f"robot {printable(subject.robot.name)} has no moving joints; for a free body load with base='floating'"
        )
    total = left = sum(SECTIONS[key][1] for key in chosen)
    made, whole = [], Budget(seconds)
    for key in chosen:
        name, share = SECTIONS[key]
        module = importlib.import_module(f"dynamis.reports.sections.{name}")
        if progress is not None:
            progress(1.0 - left / total, module.TITLE)
        made.append(_built(module, subject, whole.left * share / left))
        made[-1].lead = _of_tree(subject, key, made[-1].lead, first=len(made) == 1)
        left -= share
    freedom = f"{counted(subject.robot.n, 'degree')} of freedom"
    return Contents(subject.given.name, freedom, made, FOOTER, subject)


def chosen_sections(sections: str | Sequence[str] | None, without: str | Sequence[str]) -> list[str]:
    """The names of the sections, in the order of the report."""
    only = [sections] if isinstance(sections, str) else sections
    left_out = [without] if isinstance(without, str) else without
    for name in (*(only or ()), *left_out):
        if name not in SECTIONS:
            raise unknown_name("section", name, SECTIONS)
    chosen = [key for key in SECTIONS if (only is None or key in only) and key not in left_out]
    if not chosen:
        raise InputError("no section is left; choose among " + ", ".join(SECTIONS))
    return chosen


def _of_tree(subject: Subject, key: str, lead: str, *, first: bool) -> str:
    """The lead of a section, before it that its numbers are those of the tree if the file of the robot closes loops."""
    loops = open_loops(subject.given)
    if not loops or (key == "check" and not first):
        return lead
    if not first:
        return type(lead)(f"Of the tree, whose loops are open here, not of the mechanism. {lead}")
    # names are not read as formulas
    what = loops if isinstance(lead, Plain) else "the file of the robot closes loops, which are open"
    where = "in this report, also in its degrees of freedom, reach, stiffness, parameters and falls"
    return type(lead)(f"Warning: {what} {where}; dynamis.constrained(robot) closes them. {lead}")


def _built(module: Any, subject: Subject, seconds: float) -> Section:
    section, budget = Section(module.TITLE, module.KEY), Budget(seconds)
    try:
        with warnings.catch_warnings(), code_tier("quick"):
            warnings.simplefilter("ignore")  # sections state the limits of their numbers in their notes
            module.build(subject, section)
            if hasattr(module, "add_extra"):
                module.add_extra(subject, section, budget)
    except DynamisError as error:
        section.failed = str(error)
    except Exception as error:
        # an error in one section must not prevent the others
        section.failed = f"{type(error).__name__}: {error}"
    section.seconds = budget.spent
    return section if getattr(module, "MATHEMATICS", False) else without_mathematics(section)
