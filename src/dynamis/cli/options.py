"""Options and parsers that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dynamis.errors import InputError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FILE = click.Path(dir_okay=False, path_type=Path)
EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
set_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable."
)
floating_option = click.option("--floating", is_flag=True, help="Free-floating base: six more degrees of freedom.")
CONFIGURATION = (
    "onfiguration in rad and m: one number per joint, or one for all. "
    "Default: home (zero; mid-range for joints whose limits exclude zero)."
)
q_option = click.option("--q", metavar="NUMBERS", help=f"C{CONFIGURATION}")
v_option = click.option(
    "--v", metavar="NUMBERS", help="Velocities in rad/s and m/s: one number per joint, or one for all. Default: zeros."
)
frame_option = click.option("--frame", metavar="NAME", help="Name of the frame. Default: the tip of a serial arm.")


def plot_option(about: str) -> Decorator:
    """--plot FILE."""
    return click.option("--plot", type=FILE, metavar="FILE", help=about)


def start_option(*more: str, name: str = "q0") -> Decorator:
    """--q0, the initial configuration."""
    return click.option("--q0", *more, name, metavar="NUMBERS", help=f"Initial c{CONFIGURATION}")


def numbers(text: str | None, option: str) -> list[float] | None:
    """Numbers separated by commas or spaces."""
    if text is None:
        return None
    try:
        # an empty item, as in 1,,2, is an error: the following numbers would be assigned to other joints
        values = [float(word) for piece in text.split(",") for word in piece.split() or [""]]
    except ValueError:
        values = []
    if not values:
        raise InputError(f"{option} takes numbers separated by commas, such as {option} -1.5,-1.5, got {text!r}")
    return values


def one_or_all(values: list[float] | None) -> Any:
    """A single number stands for all joints."""
    return values[0] if values is not None and len(values) == 1 else values


def assignments(texts: tuple[str, ...]) -> dict[str, float]:
    """{name: value} of NAME=VALUE."""
    result = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            result[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise InputError(f"--set takes NAME=VALUE with a number, such as --set m_1=50, got {text!r}")
    return result


def names(text: str | None, option: str, such_as: str) -> list[str] | None:
    """Names separated by commas or spaces."""
    if text is None:
        return None
    found = text.replace(",", " ").split()
    if not found:
        raise InputError(f"{option} takes names separated by commas, such as {option} {such_as}")
    return found
