"""What the tables on the terminal are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

VERDICTS = {True: "[green]reached[/green]", False: "[red]not yet[/red]", None: "[dim]not measured[/dim]"}


def empty_table(title: str, *headings: str, names: int = 1) -> Table:
    """The first ``names`` columns are words, the others numbers."""
    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="left" if k < names else "right", no_wrap=True)
    return table


def remark(console: Console, text: str, style: str = "yellow") -> None:
    console.print(f"  {text}", style=style, highlight=False)


def quantity(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value * 1e3:.4g} ms" if value < 1.0 else f"{value:.3g} s"
    return f"{value:.3g} {unit}"


def shown(row: Mapping[str, Any], key: str, text: str | None) -> str:
    """A dash where there is nothing, a tilde where something else interrupted even the best run."""
    return "–" if text is None else f"~{text}" if key in row["disturbed"] else text
