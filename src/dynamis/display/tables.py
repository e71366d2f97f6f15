"""HTML of objects in a notebook: a heading, sentences and a table.

Plain HTML without colours or scripts, so that it follows the notebook's theme. Text from files is escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

from dynamis.display.text import MAX_ARRAY_ENTRIES, cell_text, fields_of, flat

MAX_ROWS = 40
MAX_UNWRAPPED_CHARACTERS = 40  # of a table cell
LEFT, RIGHT = (f"text-align: {side}; vertical-align: top; padding: 2px 10px" for side in ("left", "right"))
# notebooks show <pre> in the font of their text; columns need a fixed width
PREFORMATTED = "font-family: monospace; white-space: pre-wrap; word-break: normal"
NUMBER = re.compile(r"[−+±-]?(\d|∞|inf|nan).*|None|")


def card(name: str, sentences: Iterable[str], columns: Sequence[str] = (), rows: Sequence[Sequence[Any]] = ()) -> str:
    """HTML of a name, sentences below it, and a table; tables of more than ``MAX_ROWS`` rows are cut, with a note.

    Columns of numbers are aligned right, columns of text left. Long text wraps; a table wider than the page scrolls.
    """
    lines = [f"<div><strong>{html.escape(name)}</strong>"]
    lines += [f"<div>{html.escape(sentence)}</div>" for sentence in sentences]
    if rows:
        shown = [[cell_text(x) for x in row] for row in rows[:MAX_ROWS]]
        numeric = [k > 0 and all(NUMBER.fullmatch(row[k]) for row in shown) for k in range(len(columns))]
        head = "".join(_cell("th", x, right) for x, right in zip(columns, numeric, strict=True))
        body = ("".join(_cell("td", x, right) for x, right in zip(row, numeric, strict=True)) for row in shown)
        lines.append(f'<div style="overflow-x: auto"><table><thead><tr>{head}</tr></thead><tbody>')
        lines += [f"<tr>{row}</tr>" for row in body]
        lines.append("</tbody></table></div>")
        if len(rows) > MAX_ROWS:
            lines.append(f"<div>and {len(rows) - MAX_ROWS} more</div>")
    return "".join([*lines, "</div>"])


def _cell(tag: str, text: str, right: bool) -> str:
    wrap = "nowrap" if len(text) <= MAX_UNWRAPPED_CHARACTERS else "normal; overflow-wrap: anywhere"
    return f'<{tag} style="{RIGHT if right else LEFT}; white-space: {wrap}">{html.escape(text)}</{tag}>'


def scroll_shadow(boxes: str, page: str) -> str:
    """CSS for boxes that scroll sideways: a shadow at each edge beyond which there is more; ``page`` is the page's colour.

    Two covers in that colour move with the contents and hide the shadow of an edge that is reached, so no script is needed.
    """
    cover, shade = f"{page} 40%, transparent", "color-mix(in srgb, currentColor 45%, transparent), transparent"
    layers = [
        f"linear-gradient(to {way}, {colours}) {place} / {width} 100% no-repeat {attached}"
        for colours, width, attached in ((cover, "2.5rem", "local"), (shade, ".7rem", "scroll"))
        for way, place in (("right", "0"), ("left", "100%"))
    ]
    return f"@media screen {{ {boxes} {{ background: {', '.join(layers)}; }} }}"


def as_text(self: Any) -> str:
    """For objects whose ``str`` is laid out by spaces and line breaks: ``_repr_html_ = as_text`` in their class."""
    return f'<pre style="{PREFORMATTED}">{html.escape(str(self))}</pre>'


def as_table(self: Any) -> str:
    """Field by field, for dataclasses and named tuples: ``_repr_html_ = as_table``."""
    rows = [
        (name, value if isinstance(value, str) else flat(value, 4, 3 * MAX_ARRAY_ENTRIES)) for name, value, _ in fields_of(self)
    ]
    return card(type(self).__name__, [], ("", "value"), rows)
