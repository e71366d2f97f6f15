"""``dynamis completion``: what a shell needs to complete commands, robots, files and choices."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import click
from click.shell_completion import CompletionItem, get_completion_class
from click.types import StringParamType

from dynamis.cli.plain_errors import plain_errors

SHELLS = {
    "bash": "dynamis completion bash >> ~/.bashrc",
    "zsh": "dynamis completion zsh >> ~/.zshrc",
    "fish": "dynamis completion fish > ~/.config/fish/completions/dynamis.fish",
}


class RobotName(StringParamType):
    """A name of the library or a file: completed as either, taken as it is."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  # click's signature
        from dynamis.model.library import library_table

        names = [CompletionItem(name, help=about) for name, about in library_table() if name.startswith(incomplete)]
        # the shell completes files itself where this comes first
        return [CompletionItem(incomplete, type="file"), *names]


class Words(StringParamType):
    """Words that are offered; what they mean is checked where they are used. Commas separate several."""

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        self.words = words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  # click's signature
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{word}") for word in self.words() if word.startswith(last)]


def _functions() -> Sequence[str]:
    from dynamis.cli.measuring import functions

    return list(functions())


def _measures() -> Sequence[str]:
    from dynamis.analysis.capacity import LIMITED, MEASURES

    return [*MEASURES, *LIMITED]


def _sections() -> Sequence[str]:
    from dynamis.report.report import SECTIONS

    return list(SECTIONS)


ROBOTS = ("robot", "first", "second")
LETTERS = Words(lambda: ("dynamis", "rocco", "deluca", "melchiorri", "tzafestas"))
OFFERED = {
    "letters": LETTERS,
    "function": Words(_functions),
    "functions": Words(_functions),
    "method": Words(lambda: ("RK45", "DOP853", "Radau", "LSODA", "euler", "rk4", "midpoint")),
    "laws": Words(lambda: ("driven-acceleration", "acceleration-energy", "torque")),
    "colour": Words(_measures),
    "sections": Words(_sections),
    "without": Words(_sections),
    "compare": Words(lambda: ("ordinary", "weighted", "robust", "total", "ridge", "consistent", "none")),
    "estimator": Words(lambda: ("ordinary", "weighted", "robust", "total", "ridge", "consistent")),
    "logs": click.Path(),
    "validate": click.Path(),
    "reference": click.Path(),
    "file": click.Path(),
}


def complete(group: click.Group) -> None:
    """Tell every parameter that takes a robot, a file or one of some words what can be offered for it."""
    for command in group.commands.values():
        for parameter in command.params:
            if not isinstance(parameter.type, StringParamType):
                continue
            if parameter.name in ROBOTS:
                parameter.type = RobotName()
            elif parameter.name in OFFERED:
                parameter.type = OFFERED[parameter.name]


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.pass_context
@plain_errors
def completion(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print what lets a SHELL complete commands, names of robots, files and choices.

    \b
    Examples:
      dynamis completion bash > dynamis-completion.sh
      dynamis completion zsh > _dynamis
      dynamis completion fish > dynamis.fish

    \b
    For every new shell:
      bash  dynamis completion bash >> ~/.bashrc
      zsh   dynamis completion zsh >> ~/.zshrc
      fish  dynamis completion fish > ~/.config/fish/completions/dynamis.fish
    """
    made = get_completion_class(shell)
    assert made is not None
    script = made(ctx.find_root().command, {}, "dynamis", "_DYNAMIS_COMPLETE").source()
    click.echo(json.dumps({"shell": shell, "script": script}, indent=2, ensure_ascii=False) if as_json else script)
