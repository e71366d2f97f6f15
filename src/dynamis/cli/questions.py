"""What several commands ask alike: a robot with its values, a configuration, a wrench; and tables of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.bounds import assignments, numbers
from dynamis.cli.states import vector
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.robot import Robot

WIDEST = 400  # letters
BETWEEN = 3  # of them, between columns and around the table
ROW_NAMES = ("x", "y", "z", "about x", "about y", "about z")


def robot_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """ROBOT, --q, --frame and --set."""
    for option in (
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable."
        ),
        click.option("--frame", metavar="NAME", help="The frame; the tip of a serial arm unless given."),
        click.option(
            "--q", metavar="NUMBERS", help="The configuration, one number or one a joint, in rad and m; zeros unless given."
        ),
        click.argument("robot"),
    ):
        command = option(command)
    return command


def load_at(robot: str, q: str | None, settings: tuple[str, ...]) -> tuple[Robot, Any]:
    """The robot, and the configuration asked for."""
    from dynamis.analysis.task import check_numeric
    from dynamis.robot import load

    loaded = load(robot, parameters=assignments(settings) or None)
    check_numeric(loaded)
    return loaded, vector(loaded, q, "q")


def wrench_of(text: str | None) -> list[float] | None:
    """Three numbers of a force, or six of a wrench."""
    values = numbers(text, "--wrench")
    if values is not None and len(values) not in (3, 6):
        raise InputError(
            f"--wrench takes 3 numbers (a force) or 6 (force and moment), such as --wrench 0,0,-50; got {len(values)}"
        )
    return values


def one_or_all(values: list[float] | None) -> Any:
    """One number stands for all joints."""
    return values[0] if values is not None and len(values) == 1 else values


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table whose first column is names and whose others are numbers or words.

    Where the terminal is too narrow, the columns go on below, beside the names again: a number that is cut off is wrong.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from dynamis.cli.tables import number, safe

    console = Console()
    if not console.is_terminal:  # a file or a pipe is as wide as it needs to be
        console.width = max(console.width, WIDEST)
    cells = [[safe(x) if isinstance(x, str) and k == 0 else number(x) for k, x in enumerate(row)] for row in rows]
    for count, columns in enumerate(fitting(headings, cells, console.width)):
        table = Table(box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
        table.title = safe(title) if count == 0 else None
        for k in columns:
            table.add_column(safe(headings[k]), justify="right" if k else "left", no_wrap=True)
        for row in cells:
            table.add_row(*(row[k] for k in columns))
        console.print(table)


def fitting(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """The columns of a table in groups that fit the width, each group with the first column before it."""
    from rich.cells import cell_len
    from rich.text import Text

    def wide(k: int) -> int:
        cells = (cell_len(Text.from_markup(row[k]).plain) for row in rows)
        return max(cell_len(headings[k]), max(cells, default=0)) + BETWEEN

    groups: list[list[int]] = [[0]]
    used = wide(0)
    for k in range(1, len(headings)):
        if used + wide(k) > width and len(groups[-1]) > 1:
            groups.append([0])
            used = wide(0)
        groups[-1].append(k)
        used += wide(k)
    return groups


def finite(x: Any) -> Any:
    """Numbers for JSON: infinities and what is not a number become None."""
    import math

    if isinstance(x, dict):
        return {key: finite(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [finite(value) for value in x]
    if hasattr(x, "tolist"):
        return finite(x.tolist())
    return None if isinstance(x, float) and not math.isfinite(x) else x
