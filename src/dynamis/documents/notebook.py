"""A document as a Jupyter notebook: one text cell per section."""

from __future__ import annotations

from typing import Any

from dynamis.documents.blocks import Text
from dynamis.documents.markdown import prose, section_texts


def render(document: Text) -> dict[str, Any]:
    """The notebook (format 4.5) as a JSON object."""
    texts = [f"# {prose(document.title)}\n\n{prose(document.abstract)}", *section_texts(document)]
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
