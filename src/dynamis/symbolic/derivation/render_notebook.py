"""A document as a Jupyter notebook: the derivation in text cells, with a code cell at the end."""

from __future__ import annotations

from typing import Any

from dynamis.symbolic.derivation.document import Document
from dynamis.symbolic.derivation.render_markdown import block_text, prose


def render(document: Document) -> dict[str, Any]:
    """The notebook (format 4.5) as a JSON object."""
    texts = [f"# {prose(document.title)}\n\n{prose(document.abstract)}"]
    for number, section in enumerate(document.sections, 1):
        texts.append("\n\n".join([f"## {number}. {prose(section.title)}", *map(block_text, section.blocks)]))
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "id": f"step-{k}", "metadata": {}, "source": text} for k, text in enumerate(texts)
    ]
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
