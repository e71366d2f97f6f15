"""A document as Markdown with TeX mathematics; figures are their captions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dynamis.documents.blocks import (
    Block,
    Code,
    Facts,
    Findings,
    Folded,
    Formula,
    HeatMap,
    Picture,
    Player,
    Plot,
    Robot3D,
    Say,
    Section,
    Table,
    Text,
    pieces,
)

LEADING = re.compile(r"^(\d*)([-+.)])(?=\s|$)")  # of a list


def render(document: Text) -> str:
    """The whole document."""
    parts = [f"# {prose(document.title)}", prose(document.abstract), *section_texts(document)]
    return "\n\n".join(parts) + "\n"


def section_texts(document: Text) -> list[str]:
    """Each section with its heading."""
    return [_section(f"{k}. " if document.numbered else "", section) for k, section in enumerate(document.sections, 1)]


def _section(number: str, section: Section) -> str:
    parts = [f"## {number}{prose(section.title)}", prose(section.lead), *(_block(block, 3) for block in section.blocks)]
    if section.failed:
        parts.append(f"> {section.missing}: {_escaped(section.failed)}")
    parts.append("\n".join(f"- {prose(note)}" for note in section.notes))
    if section.reproduce:
        parts.append(_code(section.reproduce, "python"))
    return "\n\n".join(part for part in parts if part)


def _block(block: Block, level: int) -> str:
    match block:
        case Say(text):
            return prose(text)
        case Formula(latex):
            return f"$$\n{_formula(latex)}\n$$"
        case Table():
            return _table(block)
        case Facts(pairs):
            return "\n".join(f"- {_escaped(a)}: **{prose(b)}**" for a, b in pairs)
        case Folded(title, inner):
            return "\n\n".join([f"{'#' * level} {prose(title)}", *(_block(x, level + 1) for x in inner)])
        case Findings(items):
            return "\n".join(f"- **{_escaped(mark)}:** {prose(sentence)}" for mark, _, sentence in items)
        case Code(source):
            return _code(source, "")
        case Plot() | HeatMap() | Picture() | Player():
            return f"*{_escaped(block.title)}.* {prose(block.summary)}"
        case Robot3D():
            return ""


def _table(table: Table) -> str:
    def cells(row: Sequence[str]) -> str:
        return "| " + " | ".join(prose(cell).replace("|", r"\|") for cell in row) + " |"

    lines = [cells(table.header), "|" + "---|" * len(table.header), *map(cells, table.rows)]
    title = f"**{prose(table.title)}**\n\n" if table.title else ""
    note = f"\n\n{prose(table.note)}" if table.note else ""
    return title + "\n".join(lines) + note


def prose(text: str) -> str:
    """Text whose own signs are not taken for marks; mathematics as it is."""
    made = "".join(f"${_formula(part)}$" if mathematics else _spaced(part) for mathematics, part in pieces(text))
    return LEADING.sub(r"\1\\\2", made)


def _spaced(part: str) -> str:
    """Escaped, with the spaces towards the formulas on either side."""
    before, after = " " * part[:1].isspace(), " " * (part[-1:].isspace() and bool(part.strip()))
    return f"{before}{_escaped(part)}{after}"


def _escaped(text: str) -> str:
    """Text on one line that Markdown shows as it is, whatever characters are in it."""
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in text).split())
    # HTML entities, as some readers of Markdown look for mathematics or HTML behind a backslash too
    line = re.sub(r"([\\`*_\[\]#~])", r"\\\1", line)
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def _formula(latex: str) -> str:
    """LaTeX in which no sign is taken for HTML."""
    return re.sub(r"\s*([<>])\s*", lambda m: r" \lt " if m[1] == "<" else r" \gt ", latex)


def _code(source: str, language: str) -> str:
    """A fenced block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", source)), default=0))
    return f"{fence}{language}\n{source}\n{fence}"
