"""A report as Markdown: sentences, tables and formulas, and the captions of figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dynamis.report.section import Block, Facts, Folded, Formula, HeatMap, Player, Plot, Robot3D, Say, Table
from dynamis.version import __version__

if TYPE_CHECKING:
    from dynamis.report.report import Contents

# characters that begin or end something in a line of CommonMark, with the tables and formulas of GitHub
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")
LEADING = re.compile(r"^(\d*)([-+.)])(?=\s|$)")  # of a list


def render(contents: Contents) -> str:
    """The whole document."""
    parts = [f"# {escaped(contents.title)}", f"Report by Dynamis {__version__}. SI units."]
    for section in contents.sections:
        parts += [f"## {escaped(section.title)}", _prose(section.lead)]
        parts += [_block(block, 3) for block in section.blocks]
        if section.failed:
            parts.append(f"> {section.missing}: {escaped(section.failed)}")
        if section.notes:
            parts.append("\n".join(f"- {_prose(note)}" for note in section.notes))
        if section.reproduce:
            parts.append(_code(section.reproduce))
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(words: object) -> str:
    """Text on one line that Markdown shows as it is, whatever characters are in it."""
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in str(words)).split())
    line = SPECIAL.sub(r"\\\1", line)
    return LEADING.sub(r"\1\\\2", line)


def _prose(words: object) -> str:
    """Text with $…$, which stays a formula."""
    pieces = re.split(r"\$([^$]+)\$", str(words))
    return "".join(f"${piece}$" if k % 2 else _spaced(piece) for k, piece in enumerate(pieces))


def _spaced(piece: str) -> str:
    """Escaped, with the spaces towards the formulas on either side."""
    before, after = " " * piece[:1].isspace(), " " * (piece[-1:].isspace() and bool(piece.strip()))
    return f"{before}{escaped(piece)}{after}"


def _code(source: str) -> str:
    """A fenced block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", source)), default=0))
    return f"{fence}python\n{source}\n{fence}"


def _block(block: Block, level: int) -> str:
    match block:
        case Say(words):
            return _prose(words)
        case Facts(pairs):
            return "\n".join(f"- {escaped(a)}: **{_prose(b)}**" for a, b in pairs)
        case Formula(latex):
            return f"$$\n{latex}\n$$"
        case Folded(title, inner):
            return "\n\n".join([f"{'#' * level} {_prose(title)}", *(_block(x, level + 1) for x in inner)])
        case Table():
            return _table(block)
        case Plot() | HeatMap() | Player():
            return f"*{escaped(block.title)}.* {_prose(block.summary)}"
        case Robot3D():
            return ""


def _table(table: Table) -> str:
    def cells(row: Any) -> str:
        return "| " + " | ".join(_prose(cell) for cell in row) + " |"

    lines = [cells(table.header), "|" + "---|" * len(table.header), *(cells(row) for row in table.rows)]
    title = f"**{_prose(table.title)}**\n\n" if table.title else ""
    note = f"\n\n{_prose(table.note)}" if table.note else ""
    return title + "\n".join(lines) + note
