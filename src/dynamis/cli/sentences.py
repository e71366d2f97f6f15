"""Sentences under a mark: wrapped where a person reads them, one line each where a program does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def say(console: Console, mark: str, sentence: str, style: str | None = None) -> None:
    """Print ``  • sentence``; on a terminal between words and with the lines below each other."""
    from rich.table import Table

    from dynamis.cli.tables import safe

    if not console.is_terminal:
        console.print(f"  {mark} {safe(sentence)}", highlight=False, soft_wrap=True, style=style)
        return
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(f"  {mark}", safe(sentence))
    console.print(grid, highlight=False, soft_wrap=False, style=style)
