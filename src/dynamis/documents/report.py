"""A report: sections under a title, written as a page, as Markdown or as PDF."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dynamis.documents import markdown, report_page
from dynamis.documents.blocks import Section, Text, literal
from dynamis.documents.printing import print_pdf
from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of
from dynamis.version import __version__

SUFFIXES = (".html", ".htm", ".md", ".pdf")


@dataclass(frozen=True, eq=False)
class Report:
    """A title, a line below it, sections (each with a ``key``), and a sentence at the end of the page."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    footer: str

    def html(self) -> str:
        """One page that needs no network."""
        return report_page.render(self.title, self.subtitle, self.sections, self.footer)

    def markdown(self) -> str:
        """Text, tables and formulas; figures are their captions."""
        abstract = f"{literal(self.subtitle)}. Report by Dynamis {__version__}. SI units."
        return markdown.render(Text(literal(self.title), abstract, list(self.sections)))

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write an .html, .md or .pdf file atomically."""
        target = path_of(path)
        suffix = target.suffix.lower()
        if suffix not in SUFFIXES:
            raise InputError(f"{printable(target.name)}: name the report .html, .md or .pdf")
        if suffix == ".pdf":
            return print_pdf(self.html(), target)
        return write_file(target, (self.markdown() if suffix == ".md" else self.html()).encode("utf-8"))
