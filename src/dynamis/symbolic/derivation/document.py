"""A document of text, formulas and tables, in the order they are read; `render_*.py` write it in each format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynamis.display import counted, short
from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import write_file

LINE = 150  # characters of LaTeX that fit on one line of a page


def literal(name: str) -> str:
    r"""A name from a file for use in a text, where no sign of it is taken for mathematics.

    >>> [*pieces("the robot " + literal("$x$ \\y") + " with $m_1$")]
    [(False, 'the robot $x$ \\y with '), (True, 'm_1'), (False, '')]
    """
    return name.replace("\\", "\\\\").replace("$", "\\$")


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of a text, each with whether it is mathematics ($…$); every renderer reads its texts through this."""
    parts = [""]
    for piece in re.findall(r"\\[\\$]|\$|[^\\$]+|\\", text):
        mathematics = len(parts) % 2 == 0
        if piece == "$":
            parts.append("")
        else:
            parts[-1] += piece if mathematics or piece not in (r"\\", r"\$") else piece[1]
    return ((k % 2 == 1, part) for k, part in enumerate(parts))


@dataclass(frozen=True)
class Say:
    """A paragraph; $…$ is mathematics, and a name from a file is `literal`."""

    text: str


@dataclass(frozen=True)
class Show:
    """A displayed formula."""

    latex: str


@dataclass(frozen=True)
class Rows:
    """A table; cells are text with $…$."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Say | Show | Rows


@dataclass
class Section:
    """A step of the derivation."""

    title: str
    blocks: list[Block] = field(default_factory=list)

    def say(self, text: str) -> Section:
        self.blocks.append(Say(text))
        return self

    def show(self, left: str, right: str | None = None) -> Section:
        """A formula, or an equation whose right side is broken over lines where it is long."""
        self.blocks.append(Show(left if right is None else equation(left, right)))
        return self

    def table(self, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Section:
        self.blocks.append(Rows(header, tuple(rows)))
        return self


@dataclass(repr=False)
class Document:
    """A document with title, abstract and sections."""

    title: str
    abstract: str
    sections: list[Section] = field(default_factory=list)
    progress: Callable[[str], None] | None = None

    def section(self, title: str) -> Section:
        if self.progress is not None:
            self.progress(title)
        self.sections.append(Section(title))
        return self.sections[-1]

    def latex(self) -> str:
        """A complete LaTeX article."""
        from dynamis.symbolic.derivation.render_latex import render

        return render(self)

    def markdown(self) -> str:
        """Markdown with $…$ and $$…$$."""
        from dynamis.symbolic.derivation.render_markdown import render

        return render(self)

    def notebook(self) -> dict[str, Any]:
        """A Jupyter notebook, as the JSON object that a .ipynb file holds."""
        from dynamis.symbolic.derivation.render_notebook import render

        return render(self)

    def html(self) -> str:
        """A self-contained HTML page, typeset by an embedded KaTeX."""
        from dynamis.symbolic.derivation.render_html import render

        return render(self)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write to a .tex, .md, .ipynb or .html file."""
        target = Path(path)
        match target.suffix:
            case ".tex":
                text = self.latex()
            case ".md":
                text = self.markdown()
            case ".html":
                text = self.html()
            case ".ipynb":
                import json

                text = json.dumps(self.notebook(), indent=1, ensure_ascii=False) + "\n"
            case _:
                raise InputError(f"{printable(target.name)}: the suffix must be .tex, .md, .ipynb or .html")
        return write_file(target, text.encode())

    def _repr_markdown_(self) -> str:
        """What a notebook shows, typeset by itself."""
        return self.markdown()

    def __repr__(self) -> str:
        return short(f"<Document {printable(self.title)}: {counted(len(self.sections), 'section')}>")


def equation(left: str, right: str) -> str:
    """left = right, broken before plus and minus signs where it is too long for a line."""
    if len(left) + len(right) <= LINE or r"\begin{" in right:
        return f"{left} = {right}"
    lines = [f"{left} ={{}}& "]
    for term in _terms(right):
        if len(lines[-1]) > len(left) + 6 and len(lines[-1]) + len(term) > LINE:
            lines.append("& ")
        lines[-1] += term + " "
    return "\\begin{aligned}\n" + " \\\\\n".join(line.rstrip() for line in lines) + "\n\\end{aligned}"


def _terms(latex: str) -> list[str]:
    """The terms of a sum, each with the sign before it; signs inside brackets do not count."""
    terms, depth, start = [], 0, 0
    for match in re.finditer(r"[{}()\[\]]| [+-] ", latex):
        if match[0] in "{([":
            depth += 1
        elif match[0] in "})]":
            depth -= 1
        elif depth == 0:
            terms.append(latex[start : match.start()].strip())
            start = match.start()
    terms.append(latex[start:].strip())
    return [t for t in terms if t]
