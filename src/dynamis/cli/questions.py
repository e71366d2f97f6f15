"""What several commands ask alike: a robot with its values, a configuration, a wrench; and tables of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.bounds import assignments, numbers
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.robot import Robot

WIDEST = 400  # letters
ROW_NAMES = ("x", "y", "z", "about x", "about y", "about z")


def robot_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """ROBOT, --q, --frame and --set."""
    for option in (
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable."
        ),
        click.option("--frame", metavar="NAME", help="The frame; the tip of a serial arm unless given."),
        click.option("--q", metavar="NUMBERS", help="The configuration, such as 0.3,0.9; all joints at zero unless given."),
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
    return loaded, loaded.neutral() if q is None else numbers(q, "--q")


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
    """A table whose first column is names and whose others are numbers or words."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from dynamis.cli.tables import number, safe

    table = Table(title=safe(title), box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for k, text in enumerate(headings):
        table.add_column(safe(text), justify="right" if k else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(x if isinstance(x, str) and k == 0 else number(x) for k, x in enumerate(row)))
    console = Console()
    if not console.is_terminal:  # a file or a pipe is as wide as it needs to be
        console.width = max(console.width, WIDEST)
    console.print(table)


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
