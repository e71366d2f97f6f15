"""Contents of a report, independent of the page: sections with sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynamis.documents.blocks import Table
from dynamis.identification.validation.verdict import Verdict


@dataclass(frozen=True)
class ReportFigure:
    """A figure: its title, a text description, and the ``<svg>`` element."""

    title: str
    alt: str
    svg: str


@dataclass(frozen=True)
class Section:
    """One section of a report. Long tables can be ``folded``."""

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[ReportFigure] = ()
    code: str = ""
    folded: bool = False


@dataclass(frozen=True)
class ReportContents:
    """A whole report: verdict, a few ``facts`` (label, value), ``notes`` on the processing of the data, then sections."""

    title: str
    subtitle: str
    verdict: Verdict
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    sections: Sequence[Section] = ()
    glossary: Sequence[tuple[str, str]] = ()
