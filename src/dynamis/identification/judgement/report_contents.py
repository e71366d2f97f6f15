"""What a report says, before it becomes a page: sections with sentences, tables and figures, all plain text but the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynamis.identification.judgement.verdict import Verdict


@dataclass(frozen=True)
class Table:
    """Rows of text under a ``header``; the last column may hold flags, separated by semicolons. ``note`` stands below."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True)
class ReportFigure:
    """A picture: its title, in words what it shows (for those who cannot see it), and the ``<svg>`` element itself."""

    title: str
    alt: str
    svg: str


@dataclass(frozen=True)
class Section:
    """One part of a report. Long tables can be ``folded`` away until asked for."""

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[ReportFigure] = ()
    code: str = ""
    folded: bool = False


@dataclass(frozen=True)
class ReportContents:
    """A whole report: verdict first, a few ``facts`` (label, value), what was done to the data (``notes``), then sections."""

    title: str
    subtitle: str
    verdict: Verdict
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    sections: Sequence[Section] = ()
    glossary: Sequence[tuple[str, str]] = ()
