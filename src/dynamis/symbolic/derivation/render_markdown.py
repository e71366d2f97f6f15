"""A document as Markdown with TeX mathematics."""

from __future__ import annotations

import re

from dynamis.symbolic.derivation.document import Block, Document, Rows, Say, Show, pieces


def render(document: Document) -> str:
    """The whole document."""
    parts = [f"# {prose(document.title)}", prose(document.abstract)]
    for number, section in enumerate(document.sections, 1):
        parts.append(f"## {number}. {prose(section.title)}")
        parts += [block_text(block) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def block_text(block: Block) -> str:
    """One block."""
    if isinstance(block, Say):
        return prose(block.text)
    if isinstance(block, Show):
        return f"$$\n{_formula(block.latex)}\n$$"
    assert isinstance(block, Rows)
    rows = [block.header, tuple("---" for _ in block.header), *block.rows]
    return "\n".join("| " + " | ".join(prose(cell).replace("|", r"\|") for cell in row) + " |" for row in rows)


def prose(text: str) -> str:
    """Text whose own signs are not taken for marks; mathematics as it is."""
    return "".join(f"${_formula(part)}$" if mathematics else _literal(part) for mathematics, part in pieces(text))


def _literal(text: str) -> str:
    # HTML entities, as some readers of Markdown look for mathematics or HTML behind a backslash too
    escaped = re.sub(r"([\\`*_#\[\]])", r"\\\1", text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def _formula(latex: str) -> str:
    """LaTeX in which no sign is taken for HTML."""
    return re.sub(r"\s*([<>])\s*", lambda m: r" \lt " if m[1] == "<" else r" \gt ", latex)
