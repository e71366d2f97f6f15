"""``--arg NAME:=VALUE``, the arguments of xacro files: an option of every command that takes a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dynamis.robot import Robot

KEY = "dynamis.xacro_args"
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
    """The robot a command was given, with the values of --arg."""
    from dynamis.robot import load as load_robot

    return load_robot(robot, xacro_args=xacro_args(), **options)


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
