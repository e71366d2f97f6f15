"""A document with its methods: LaTeX, Markdown, HTML, a notebook, and files of these."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynamis.display import counted, short
from dynamis.documents import latex, markdown, notebook, page
from dynamis.documents.blocks import Section, Text
from dynamis.documents.printing import print_pdf
from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of


def _notebook_text(text: Text) -> str:
    return json.dumps(notebook.render(text), indent=1, ensure_ascii=False) + "\n"


# the formats by name: suffix of a file, and the renderer of its text
RENDERERS: dict[str, tuple[str, Callable[[Text], str]]] = {
    "html": (".html", page.render),
    "latex": (".tex", latex.render),
    "markdown": (".md", markdown.render),
    "notebook": (".ipynb", _notebook_text),
}
PDF = ".pdf"
SUFFIXES = (*(suffix for suffix, _ in RENDERERS.values()), PDF)


@dataclass(repr=False)
class Document(Text):
    """A document with title, abstract and sections; ``progress`` is called with the title of each section at its start."""

    progress: Callable[[str], None] | None = None

    def section(self, title: str) -> Section:
        if self.progress is not None:
            self.progress(title)
        self.sections.append(Section(title))
        return self.sections[-1]

    def latex(self) -> str:
        """A complete LaTeX article."""
        return latex.render(self)

    def markdown(self) -> str:
        """Markdown with $…$ and $$…$$."""
        return markdown.render(self)

    def notebook(self) -> dict[str, Any]:
        """A Jupyter notebook, as the JSON object that a .ipynb file holds."""
        return notebook.render(self)

    def html(self) -> str:
        """A self-contained HTML page, typeset by an embedded KaTeX."""
        return page.render(self)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write to a .html, .tex, .md, .ipynb or .pdf file; the last is printed by Chromium, Chrome or Edge."""
        target = path_of(path)
        if target.suffix == PDF:
            return print_pdf(self.html(), target)
        for suffix, render in RENDERERS.values():
            if target.suffix == suffix:
                return write_file(target, render(self).encode())
        raise InputError(f"{printable(target.name)}: the suffix must be one of {', '.join(SUFFIXES)}")

    def _repr_markdown_(self) -> str:
        """What a notebook shows, typeset by itself."""
        return self.markdown()

    def __repr__(self) -> str:
        return short(f"<Document {printable(self.title)}: {counted(len(self.sections), 'section')}>")
