"""A document as Markdown with TeX mathematics."""

from __future__ import annotations

import re

from dynamis.symbolic.derivation.document import Block, Document, Rows, Say, Show


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
        return f"$$\n{block.latex}\n$$"
    assert isinstance(block, Rows)
    rows = [block.header, tuple("---" for _ in block.header), *block.rows]
    return "\n".join("| " + " | ".join(prose(cell).replace("|", r"\|") for cell in row) + " |" for row in rows)


def prose(text: str) -> str:
    """Text whose own signs are not taken for marks; mathematics as it is."""
    pieces = re.split(r"(\$[^$]*\$)", text)
    return "".join(p if k % 2 else re.sub(r"([\\`*_<>#\[\]])", r"\\\1", p) for k, p in enumerate(pieces))
