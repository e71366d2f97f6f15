"""``--arg NAME:=VALUE``, the arguments of xacro files: an option of every command that takes a robot."""

from __future__ import annotations

import contextlib
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dynamis.robot import Robot

KEY = "dynamis.xacro_args"
PIPE, PIPED = "-", "dynamis.piped"  # a robot on standard input
ROBOTS = ("robot", "first", "second")


def _keep(context: click.Context, _: click.Parameter, texts: tuple[str, ...]) -> None:
    values = {}
    for text in texts:
        name, sign, value = text.partition(":=" if ":=" in text else "=")
        if not sign or not name.strip():
            raise click.BadParameter(f"give NAME:=VALUE, such as --arg prefix:=left_, instead of {text!r}")
        values[name.strip()] = value
    context.meta[KEY] = values


def xacro_args() -> dict[str, str] | None:
    """The arguments given to the current command."""
    context = click.get_current_context(silent=True)
    return (context.meta.get(KEY) if context is not None else None) or None


def load(robot: str, **options: Any) -> Robot:
    """The robot a command was given, with the values of --arg; of two robots, that of a xacro file has them."""
    from dynamis.robot import load as load_robot

    others = [Path(str(given)) for name in ROBOTS if (given := _given().get(name)) not in (None, robot)]
    if is_pipe(robot):
        return load_robot(piped(robot), xacro_args=xacro_args(), **options)
    plain = not robot.endswith(".xacro") and any(path.suffix == ".xacro" for path in others)
    return load_robot(robot, xacro_args=None if plain else xacro_args(), **options)


def is_pipe(robot: str) -> bool:
    """Whether a robot comes from standard input or a pipe, such as that of <(xacro arm.xacro)."""
    return robot == PIPE or ("\0" not in robot and Path(robot).is_fifo())


def piped(robot: str) -> bytes:
    """What comes through a pipe, up to the largest size of a robot's file; it is kept for the command, as it comes once."""
    from dynamis.model.readers.toml_text import MAX_BYTES

    kept: dict[str, bytes] = click.get_current_context().meta.setdefault(PIPED, {})
    if robot not in kept:
        with contextlib.ExitStack() as stack:
            stream = sys.stdin.buffer if robot == PIPE else stack.enter_context(Path(robot).open("rb"))
            kept[robot] = stream.read(MAX_BYTES + 1)
    return kept[robot]


def load_as_written(robot: str, **options: Any) -> Robot:
    """The robot of a file; a model of SDF that nothing holds to the world keeps its free base."""
    from dynamis.errors import ModelWarning
    from dynamis.model.readers.sdf import FREE_MODEL

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = load(robot, **options)
    reports = [w.message.report for w in caught if isinstance(w.message, ModelWarning) and w.message.report is not None]
    if any(p.code == FREE_MODEL for report in reports for p in report):
        return load(robot, **{**options, "base": "floating"})
    for w in caught:
        warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
    return found


def _given() -> dict[str, Any]:
    context = click.get_current_context(silent=True)
    return {} if context is None else context.params


def add_xacro_option(group: click.Group) -> None:
    """Give --arg to every command that takes a robot or the file of one."""
    for name, command in group.commands.items():
        if any(p.name in ROBOTS or (p.name == "file" and name == "check") for p in command.params):
            option = click.Option(
                ["--arg"], multiple=True, metavar="NAME:=VALUE", expose_value=False, callback=_keep,
                help="A value for an argument of a xacro file; repeatable.",
            )  # fmt: skip
            at = next((k for k, p in enumerate(command.params) if p.name == "as_json"), len(command.params))
            command.params.insert(at, option)
