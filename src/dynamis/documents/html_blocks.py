"""Blocks as HTML, with all text escaped: what the pages of documents and reports have in common."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from dynamis.display import counted
from dynamis.documents.blocks import (
    Block,
    Code,
    Facts,
    Findings,
    Folded,
    Formula,
    Grid,
    HeatMap,
    Picture,
    Player,
    Plot,
    Robot3D,
    Say,
    Section,
    Table,
    pieces,
)

NUMBER = re.compile(r"[-−+±]?\d[\d.,]*( × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?( [pnµmkMG]?(s|m|N/m|J)| min( \d+ s)?|\s*%)?|–|−?∞|rigid")
TONES = ("good", "warn", "bad")
MAX_UNWRAPPED_CHARACTERS = 40  # of a table cell


def prose(text: str) -> str:
    """Text escaped, $…$ as formulas for KaTeX."""
    return "".join(formula(part) if mathematics else escaped(part) for mathematics, part in pieces(text))


def formula(latex: str, *, display: bool = False) -> str:
    """A formula as escaped LaTeX, which the page's script typesets."""
    element = "div" if display else "span"
    return f'<{element} class="math{" display" if display else ""}">{escaped(latex)}</{element}>'


def escaped(text: str) -> str:
    """Text for HTML, with control characters, which HTML does not allow, replaced."""
    visible = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
    return html.escape(visible, quote=True)


# which of the two is shown depends on the pointer of the device: style.css
HANDLING = (
    '<span class="mouse">Drag to rotate the view, drag with the right button to pan; click the view, then use the wheel to '
    'zoom.</span><span class="touch">Drag with one finger to rotate the view, pinch to zoom, drag with two fingers to '
    "pan.</span>"
)


def _grid(view: Grid) -> dict[str, Any]:
    """A view of a map as the page's heatmap.js reads it."""
    axes = view.axes
    return {
        "name": view.name,
        "x": axes.x,
        "y": axes.y,
        "xLabel": axes.x_label,
        "yLabel": axes.y_label,
        "joints": axes.joints,
        "unit": view.unit,
        "summary": view.summary,
        "values": view.values,
        "q": view.q,
    }


class Blocks:
    """Blocks as HTML; collects the data of figures, and which components of a page they need."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.components: set[str] = set()
        self._section = ""

    def view(self, block: Robot3D | Player) -> str:
        """A view that stands alone."""
        self._section = "view"
        return self.robot(block.scene) if isinstance(block, Robot3D) else self.figure(block)

    def section(self, section: Section) -> str:
        self._section = section.key
        body = [f'<p class="lead">{self.prose(section.lead)}</p>' if section.lead else ""]
        if section.interaction:
            body.append(f'<p class="note for-screen">{self.prose(section.interaction)}</p>')
        body += self.blocks(section.blocks)
        if section.failed:
            body.append(f'<p class="failed">{section.missing}: {self.prose(section.failed)}</p>')
        if section.notes:
            body.append('<ul class="notes">' + "".join(f"<li>{self.prose(note)}</li>" for note in section.notes) + "</ul>")
        if section.reproduce:
            body.append(f'<details class="code"><summary>Reproduce in Python</summary>{_code(section.reproduce)}</details>')
        heading = f'<h2 id="{section.key}-title">{escaped(section.title)}</h2>'
        return f'<section id="{section.key}" aria-labelledby="{section.key}-title">{heading}' + "\n".join(body) + "</section>"

    def blocks(self, blocks: Any) -> list[str]:
        """Blocks in their order; consecutive figures stand side by side where the window is wide enough.

        A motion begins a group of its own, so that its figures stand beside its view.
        """
        parts: list[str] = []
        figures: list[str] = []
        for block in [*blocks, None]:
            if figures and not isinstance(block, Plot | HeatMap):
                parts.append(f'<div class="figures">{"".join(figures)}</div>')
                figures = []
            if isinstance(block, Plot | HeatMap | Player):
                figures.append(self.figure(block))
            elif block is not None:
                parts.append(self.block(block))
        return parts

    def block(self, block: Block) -> str:
        match block:
            case Say(words):
                return f"<p>{self.prose(words)}</p>"
            case Facts(pairs):
                items = "".join(f"<div><dt>{escaped(a)}</dt><dd>{self.prose(b)}</dd></div>" for a, b in pairs)
                return f'<dl class="facts">{items}</dl>'
            case Formula(latex):
                self.components.add("math")
                return f'<div class="formula">{formula(latex, display=True)}</div>'
            case Findings(items):
                return self.findings(items)
            case Code(source):
                return _code(source)
            case Folded(title, inner):
                return f'<details class="fold"><summary>{self.prose(title)}</summary>{"".join(self.blocks(inner))}</details>'
            case Table():
                return self.table(block)
            case Robot3D(scene):
                return self.robot(scene)
            case Picture(title, summary, svg):
                return (
                    f'<figure class="picture" data-drawn><h3>{self.prose(title)}</h3><div class="wide">{svg}</div>'
                    f"<figcaption>{self.prose(summary)}</figcaption></figure>"
                )
            case Plot() | HeatMap() | Player():
                return self.figure(block)

    def findings(self, items: Sequence[tuple[str, str, str]]) -> str:
        """Sentences behind their marks; the box has the tone of the worst."""
        lines = "".join(
            f'<li><b class="{tone}">{escaped(mark)}</b><span>{self.prose(words)}</span></li>' for mark, tone, words in items
        )
        worst = max((tone for _, tone, _ in items), key=TONES.index, default=TONES[0])
        return f'<ul class="findings {worst}">{lines}</ul>'

    def robot(self, scene: dict[str, Any]) -> str:
        self.components.add("robot")
        self.data["scene"] = scene
        return (
            '<figure class="robot whole" data-component="robot"><div class="place"></div>'
            f"<figcaption>{HANDLING}</figcaption></figure>"
        )

    def figure(self, block: Plot | HeatMap | Player) -> str:
        held = self.data.setdefault(self._section, {})
        key = f"figure-{len(held) + 1}"
        if isinstance(block, Player):
            kind, held[key] = "player", {"name": block.name, "title": block.title, "times": block.times, "q": block.q}
            self.components.add("robot")
            if self.data.setdefault("scene", block.scene) is not block.scene:
                shared = self.data["scene"]  # its meshes are drawn in both
                held[key]["scene"] = {k: x for k, x in block.scene.items() if shared.get(k) != x}
        elif isinstance(block, Plot):
            kind = "plot"
            views = [{"name": v.name, "x": v.x, "series": v.series, "yLabel": v.y_label} for v in block.views]
            held[key] = {
                "title": block.title,
                "xLabel": block.x_label,
                "yLabel": block.y_label,
                "views": views,
                "summary": block.summary,
                "choose": block.choose,
                "logarithmic": block.logarithmic,
                "player": block.player,
            }
            self.components.add(kind)
        else:
            kind = "heatmap"
            held[key] = {
                "title": block.title,
                "views": [_grid(view) for view in block.views],
                "choose": block.choose,
                "square": block.square,
                "empty": block.empty,
            }
            self.components.add(kind)
        source = f"{self._section}/{key}"
        return (
            f'<figure class="{kind}" data-component="{kind}" data-source="{source}"><h3>{escaped(block.title)}</h3>'
            f'<div class="place"></div><figcaption>{self.prose(block.summary)}</figcaption></figure>'
        )

    def table(self, table: Table) -> str:
        columns = list(zip(*table.rows, strict=True)) if table.rows else [()] * len(table.header)
        numeric = [bool(cells) and all(NUMBER.fullmatch(str(cell)) for cell in cells) for cells in columns]
        long = [any(len(str(cell)) > MAX_UNWRAPPED_CHARACTERS for cell in cells) for cells in columns]
        head = "".join(
            f'<th scope="col"{" class=number" if n else ""}>{self.prose(x)}</th>'
            for x, n in zip(table.header, numeric, strict=True)
        )
        rows = "".join(f"<tr>{self._cells(table.header, row, numeric, long)}</tr>" for row in table.rows)
        title = f'<h3 class="title">{self.prose(table.title)}</h3>' if table.title and not table.folded else ""
        note = f'<p class="note">{self.prose(table.note)}</p>' if table.note else ""
        name = escaped(table.title or "table")
        # the title is outside the box that scrolls, so that it neither widens the table nor moves with it
        made = (
            f'{title}<div class="wide" role="region" aria-label="{name}"><table aria-label="{name}">'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
        )
        if not table.folded:
            return made
        return f"<details><summary>{self.prose(table.title)}: {counted(len(table.rows), 'row')}</summary>{made}</details>"

    def _cells(self, header: Any, row: Any, numeric: list[bool], long: list[bool]) -> str:
        cells = []
        for k, cell in enumerate(row):
            kind = "number" if numeric[k] else "long" if long[k] else ""
            if header[k] == "verdict":
                kind = "verdict" if cell == "agrees" else "verdict bad"
            elif header[k] == "Flags":
                kind = "flags"
            tag, scope = ("th", ' scope="row"') if k == 0 else ("td", "")
            marked = f' class="{kind}"' if kind else ""
            cells.append(f"<{tag}{scope}{marked}>{_flags(cell) if kind == 'flags' else self.prose(cell)}</{tag}>")
        return "".join(cells)

    def prose(self, words: str) -> str:
        """Escaped text, with $…$ marked for typesetting."""
        if any(mathematics for mathematics, _ in pieces(words)):
            self.components.add("math")
        return prose(words)


def _code(source: str) -> str:
    return f"<pre><code>{escaped(source)}</code></pre>"


def _flags(cell: str) -> str:
    """Words between semicolons, each in a frame of its own."""
    return " ".join(f'<span class="flag">{escaped(flag.strip())}</span>' for flag in cell.split(";") if flag.strip())
