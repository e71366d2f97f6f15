"""``dynamis completion``: shell completion of commands, robots, files and choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click
from click.shell_completion import CompletionItem, get_completion_class
from click.types import StringParamType

from dynamis.cli.console import echo_text, print_json
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.options import json_option

SHELLS = {
    "bash": "dynamis completion bash >> ~/.bashrc",
    "zsh": "dynamis completion zsh >> ~/.zshrc",
    "fish": "dynamis completion fish > ~/.config/fish/completions/dynamis.fish",
}


class RobotName(StringParamType):
    """A name of the library or a file; completion offers both."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  # click's signature
        from dynamis.model.library import library

        names = [CompletionItem(name, help=about) for name, about in library().items() if name.startswith(incomplete)]
        # the shell completes files itself where this comes first
        return [CompletionItem(incomplete, type="file"), *names]


class Words(StringParamType):
    """Words that completion offers, several separated by commas; the command itself checks them."""

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        self.words = words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  # click's signature
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{word}") for word in self.words() if word.startswith(last)]


def _functions() -> Sequence[str]:
    from dynamis.cli.timing import functions

    return list(functions())


def _measures() -> Sequence[str]:
    from dynamis.kinematics.state_measures import LIMITED, MEASURES

    return [*MEASURES, *LIMITED]


def _sections() -> Sequence[str]:
    from dynamis.reports.report import SECTIONS

    return list(SECTIONS)


def _estimators() -> Sequence[str]:
    from dynamis.identification.identify import ESTIMATORS

    return list(ESTIMATORS)


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
    "compare": Words(lambda: (*_estimators(), "none")),
    "logs": click.Path(),
    "validate": click.Path(),
    "reference": click.Path(),
    "file": click.Path(),
}


def complete(group: click.Group) -> None:
    """Set the completion of every parameter that takes a robot, a file or one of a list of words."""
    for command in group.commands.values():
        for parameter in command.params:
            if not isinstance(parameter.type, StringParamType):
                continue
            if parameter.name in ROBOTS:
                parameter.type = RobotName()
            elif parameter.name in OFFERED:
                parameter.type = OFFERED[parameter.name]


HELP = """Print the completion script of a SHELL: commands, options, robots, files and choices.

    \b
    Examples:
      dynamis completion bash > dynamis-completion.sh
      dynamis completion zsh > _dynamis
      dynamis completion fish > dynamis.fish

    \b
    To enable it in every new shell:
      bash  dynamis completion bash >> ~/.bashrc
      zsh   dynamis completion zsh >> ~/.zshrc
      fish  dynamis completion fish > ~/.config/fish/completions/dynamis.fish
    """


@click.command(help=HELP, short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(list(SHELLS)))
@json_option
@click.pass_context
@plain_errors
def completion(ctx: click.Context, shell: str, as_json: bool) -> None:
    made = get_completion_class(shell)
    assert made is not None
    script = made(ctx.find_root().command, {}, "dynamis", "_DYNAMIS_COMPLETE").source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        echo_text(script)
