"""Tables of names and numbers that fit the width of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dynamis.cli.console import UNLIMITED_COLUMNS, clean_name, columns, console, echo
from dynamis.cli.formatting import DEFAULT_DIGITS, NONE, column

if TYPE_CHECKING:
    from rich.table import Table

COLUMN_GAP = 3  # cells
MAX_ALIGNED_HEADING = 24  # cells of the headings in a list up to which its values are aligned
MIN_PROSE_WIDTH = 30  # cells


def print_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    texts: Sequence[int] = (),
    digits: int = DEFAULT_DIGITS,
) -> None:
    """A table whose first column is names and whose others are numbers or words; ``texts`` are columns of prose.

    Names and numbers are never cut. Where the table is too wide, its columns continue below beside the names again; where
    even a name and one value are too wide for a line, each row becomes a list. Prose is broken between words.
    """
    if title:
        echo((clean_name(title), {"bold": True}))
    heads = [clean_name(head) for head in headings]
    cells = list(zip(*(column([row[k] for row in rows], digits) for k in range(len(heads))), strict=True))
    width = columns() or UNLIMITED_COLUMNS
    if any(_width(heads, cells, group, texts) > width for group in fitting(heads, cells, width, texts)):
        _print_list(heads, cells)
        return
    for group in fitting(heads, cells, width, texts):
        table = _rich_table(heads, cells, group, texts)
        for row in cells:
            table.add_row(*(row[k] for k in group))
        console().print(table)
        echo()


def _rich_table(heads: Sequence[str], cells: Sequence[Sequence[str]], group: Sequence[int], texts: Sequence[int]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for k in group:
        numeric = k > 0 and k not in texts and _numeric([row[k] for row in cells])
        table.add_column(heads[k], justify="right" if numeric else "left", no_wrap=k not in texts, overflow="fold")
    return table


def _numeric(cells: Sequence[str]) -> bool:
    """Whether most entries are numbers, which are aligned at the right."""
    nonempty = [cell for cell in cells if cell and cell != NONE]
    return 2 * sum(cell[0] in "0123456789+-−(.∞" for cell in nonempty) >= len(nonempty)


def _print_list(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Each row as its name, with its values below."""
    wide = max(map(len, heads[1:]), default=0)
    aligned = wide <= MAX_ALIGNED_HEADING
    for row in rows:
        echo(f"  {row[0]}", hang=2)
        for head, cell in zip(heads[1:], row[1:], strict=True):
            echo(f"    {head:<{wide}}  {cell}" if aligned else f"    {head}: {cell}", hang=wide + 6 if aligned else 6)
    echo()


def _column_width(heads: Sequence[str], rows: Sequence[Sequence[str]], k: int, texts: Sequence[int]) -> int:
    """Cells of column k with the space after it: its longest entry; of prose its longest word, at least MIN_PROSE_WIDTH."""
    from rich.cells import cell_len

    entries = [heads[k], *(row[k] for row in rows)]
    if k in texts:
        longest = max((cell_len(word) for text in entries for word in text.split()), default=0)
        return max(longest, min(MIN_PROSE_WIDTH, max(map(cell_len, entries)))) + COLUMN_GAP
    return max(map(cell_len, entries)) + COLUMN_GAP


def _width(heads: Sequence[str], rows: Sequence[Sequence[str]], group: Sequence[int], texts: Sequence[int]) -> int:
    return sum(_column_width(heads, rows, k, texts) for k in group) - COLUMN_GAP  # nothing follows the last column


def fitting(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int, texts: Sequence[int] = ()) -> list[list[int]]:
    """The columns of a table in groups that fit the width, each group with the first column before it."""
    groups: list[list[int]] = [[0]]
    for k in range(1, len(headings)):
        if len(groups[-1]) > 1 and _width(headings, rows, [*groups[-1], k], texts) > width:
            groups.append([0])
        groups[-1].append(k)
    return groups
