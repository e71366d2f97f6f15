"""Display of long formulas: with names for common subexpressions, or by their size only."""

from __future__ import annotations

from collections.abc import Iterable

from dynamis.display import counted
from dynamis.documents.blocks import Section
from dynamis.symbolic import factored
from dynamis.symbolic.expression import Expression

MAX_FORMULA_CHARACTERS = 1500  # of LaTeX
MAX_SUBEXPRESSIONS = 120  # named


def show_entries(section: Section, entries: Iterable[tuple[str, Expression]], name: str) -> None:
    """Equations left = right, one for each entry; together with names for common parts where some are too long."""
    listed = [(left, value) for left, value in entries if not value.is_zero]
    if not listed:
        return
    texts = [value.latex() if value.expanded and len(value) <= MAX_FORMULA_CHARACTERS // 8 else "" for _, value in listed]
    if all(0 < len(text) <= MAX_FORMULA_CHARACTERS for text in texts):
        for (left, _), text in zip(listed, texts, strict=True):
            section.show(left, text)
        return
    letters = listed[0][1].algebra.letters
    nodes = [value.node() for _, value in listed]
    lines = factored.latex(nodes, letters, name)
    named, results = [x for x in lines if x[0]], [formula for left, formula in lines if not left]
    sizes = [value.term_count for _, value in listed if value.expanded]
    if sizes:
        section.say(
            f"Expanded, the longest of these has {counted(max(sizes), 'term')}; they are given here with names "
            f"for common subexpressions."
        )
    if len(named) > MAX_SUBEXPRESSIONS:
        section.say(
            f"There are {len(named)} common subexpressions, too many to print. closed_form() has every entry, and its "
            f"kernel computes them."
        )
        return
    for left, formula in named:
        section.show(left, formula)
    for (left, _), formula in zip(listed, results, strict=True):
        section.show(left, formula)
