"""Figures as inline SVG: no external resources, searchable text, colours of the page's theme."""

from __future__ import annotations

import html
import io
import re
import warnings
from typing import Any

from dynamis.drawing import FAINT, FORCE, GOOD, INK, MOTION, STRUCTURE, Panels

# map plot colours to CSS variables of the page, which depend on the theme
THEME = {
    INK: "var(--ink)", "#000000": "var(--ink)", "#ffffff": "var(--page)", "#e6e6e6": "var(--grid)", FAINT: "var(--faint)",
    MOTION: "var(--motion)", FORCE: "var(--force)", STRUCTURE: "var(--structure)", GOOD: "var(--good)",
}  # fmt: skip


def inline_svg(panels: Panels, alt: str, number: int = 0) -> str:
    """Return a figure as an ``<svg>`` element; ``alt`` is its description, ``number`` makes its ids unique."""
    from matplotlib import rc_context

    target = io.StringIO()
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": f"figure {number}", "path.simplify_threshold": 0.5}
    with rc_context(settings), warnings.catch_warnings():
        # glyphs missing in the layout font are rendered by the browser
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        panels.figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = target.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", text)  # implied in HTML
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\1f{number}-", text)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)  # 0.01 pt resolution
    for colour, name in THEME.items():
        text = re.sub(re.escape(colour), name, text, flags=re.IGNORECASE)
    label = html.escape(alt, quote=True)
    head = re.sub(r'(width|height)="[^"]*"\s*', "", text[: text.index(">")], count=2)
    return f'{head} role="img" aria-label="{label}"{text[text.index(">") :]}'.strip()
