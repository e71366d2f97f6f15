"""Options and parsers that several commands share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from dynamis.errors import InputError, printable

T = TypeVar("T")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FILE = click.Path(dir_okay=False, path_type=Path)
EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
QUOTIENT = re.compile(rf"([-+]?)({NUMBER})?\*?(pi|π)?(?:/({NUMBER}))?", re.IGNORECASE)
WITH_UNIT = re.compile(r"[-+]?[0-9.]+(?:e[-+]?\d+)?[a-zµ°/²]+\d?", re.IGNORECASE)

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
frame_option = click.option("--frame", metavar="NAME", help="Name of the frame. Default: the tip, shown by dynamis info.")


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
        found = [number(word) for word in words_of(text)]
    except ValueError:
        raise InputError(_not_numbers(text, option)) from None
    if any(map(math.isnan, found)):
        raise InputError(f"{option}: every entry must be a finite number, got {text!r}")
    return found


def number(word: str) -> float:
    """A number, a quotient or a multiple of π: 0.5, 1/2, -pi/4, 3*pi/2; ValueError for anything else.

    >>> [number(word) for word in ("-2", "1/4", "pi", "-3pi/2")]
    [-2.0, 0.25, 3.141592653589793, -4.71238898038469]
    """
    match = QUOTIENT.fullmatch(word.strip())
    if match is None or not (match[2] or match[3]) or (match[4] and not float(match[4])):
        return float(word)
    value = float(match[2] or 1.0) * (math.pi if match[3] else 1.0) / float(match[4] or 1.0)
    return -value if match[1] == "-" else value


def words_of(text: str) -> list[str]:
    """The items of a list separated by commas or spaces, in brackets or without.

    An empty item, as in 1,,2, is kept as "": without it the following numbers would be assigned to other joints.
    """
    inside = text.strip()
    for opening, closing in ("[]", "()"):
        if inside.startswith(opening) and inside.endswith(closing):
            inside = inside[1:-1]
    return [word for piece in inside.split(",") for word in piece.split() or [""]]


def _not_numbers(text: str, option: str) -> str:
    """Why a text is no list of numbers; a number with a unit is answered with the units of the option."""
    message = f"{option} takes numbers separated by commas, such as {option} -1.5,-1.5, got {text!r}"
    if not any(WITH_UNIT.fullmatch(word) for word in words_of(text)):
        return message
    context = click.get_current_context(silent=True)
    options = {name: p for p in context.command.params for name in p.opts} if context is not None else {}
    message = f"{option} takes numbers in SI units, without a unit after them; got {text!r}"
    if "--degrees" in options:
        message += ". --degrees, and units such as 30deg, apply to joint positions only"
    return message


def one_or_all(values: list[float] | None) -> Any:
    """A single number stands for all joints."""
    return values[0] if values is not None and len(values) == 1 else values


def assignments(texts: tuple[str, ...]) -> dict[str, float]:
    """{name: value} of NAME=VALUE."""
    return by_name(map(_assignment, texts), "--set")


def _assignment(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        if name.strip():
            return name.strip(), number(value)
    except ValueError:
        pass
    raise InputError(f"--set takes NAME=VALUE with a number, such as --set m_1=50, got {text!r}")


def by_name(pairs: Iterable[tuple[str, T]], option: str) -> dict[str, T]:
    """{name: value} of the uses of an option; the same name twice is refused, as one of the values would be lost."""
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"{option}: {printable(name)} is given twice; give each name once")
        found[name] = value
    return found


def names(text: str | None, option: str, such_as: str) -> list[str] | None:
    """Names separated by commas or spaces."""
    if text is None:
        return None
    found = text.replace(",", " ").split()
    if not found:
        raise InputError(f"{option} takes names separated by commas, such as {option} {such_as}")
    return found
