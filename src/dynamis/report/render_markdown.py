"""A report as Markdown: its sentences, tables and formulas; of figures what they show, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynamis.report.section import Block, Facts, Folded, Formula, HeatMap, Player, Plot, Robot3D, Say, Table
from dynamis.version import __version__

if TYPE_CHECKING:
    from dynamis.report.report import Contents


def render(contents: Contents) -> str:
    """The whole document."""
    parts = [f"# {_line(contents.title)}", f"Report by Dynamis {__version__}. SI units."]
    for section in contents.sections:
        parts += [f"## {section.title}", section.lead]
        parts += [_block(block, 3) for block in section.blocks]
        if section.failed:
            parts.append(f"> {section.missing}: {_line(section.failed)}")
        if section.notes:
            parts.append("\n".join(f"- {_line(note)}" for note in section.notes))
        if section.reproduce:
            parts.append(f"```python\n{section.reproduce}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def _line(words: object) -> str:
    """Text that Markdown takes as text: on one line, and no HTML."""
    return " ".join(str(words).split()).replace("<", "&lt;")


def _block(block: Block, level: int) -> str:
    match block:
        case Say(words):
            return _line(words)
        case Facts(pairs):
            return "\n".join(f"- {_line(a)}: **{_line(b)}**" for a, b in pairs)
        case Formula(latex):
            return f"$$\n{latex}\n$$"
        case Folded(title, inner):
            return "\n\n".join([f"{'#' * level} {_line(title)}", *(_block(x, level + 1) for x in inner)])
        case Table():
            return _table(block)
        case Plot() | HeatMap() | Player():
            return f"*{_line(block.title)}.* {_line(block.summary)}"
        case Robot3D():
            return ""


def _table(table: Table) -> str:
    def cells(row: Any) -> str:
        return "| " + " | ".join(_line(cell).replace("|", "\\|") for cell in row) + " |"

    lines = [cells(table.header), "|" + "---|" * len(table.header), *(cells(row) for row in table.rows)]
    title = f"**{_line(table.title)}**\n\n" if table.title else ""
    note = f"\n\n{_line(table.note)}" if table.note else ""
    return title + "\n".join(lines) + note
