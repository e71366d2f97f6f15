"""The group of all commands: its help by subject, and messages about bad usage that are safe to print."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from dynamis.cli.console import clean, columns, wrapped

LABEL = len("Error: ")
NO_DESCRIPTION = "No description: Python runs with -OO, which removes it, and the source files are not installed."


# common names of what the commands do
OTHER_NAMES = {
    "inverse-dynamics": "id", "rnea": "id", "newton-euler": "id", "torques": "id", "forward-dynamics": "fd", "aba": "fd",
    "closed-form": "derive", "lagrange": "derive", "equations": "derive", "validate": "check", "list": "robots",
    "linearise": "linearize", "identification": "identify", "controller": "control", "simulation": "simulate",
    "diff": "compare",
}  # fmt: skip
# what there is in Python only, with the command that comes nearest
IN_PYTHON = {
    "view": "'dynamis report ROBOT' writes a page with the robot in 3-D; dynamis.view(robot) in Python shows it in a notebook.",
}


class SubjectGroup(click.Group):
    """Commands listed under subjects, each with its whole summary."""

    def __init__(self, *args: Any, subjects: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.subjects = subjects

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        if cmd.help is None and cmd.callback is not None:  # python -OO removes docstrings
            cmd.help = _source_docstring(cmd.callback) or NO_DESCRIPTION
        super().add_command(cmd, name)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Every command, subject by subject; what has no subject comes last."""
        named = [name for names in self.subjects.values() for name in names if name in self.commands]
        return named + sorted(set(self.commands) - set(named))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        placed = {name for names in self.subjects.values() for name in names}
        others = [name for name in self.list_commands(ctx) if name not in placed]
        wide = max(map(len, self.commands), default=0)
        for subject, names in (*self.subjects.items(), ("Other", others)):
            rows = [(f"{name:<{wide}}", self._summary(self.commands[name])) for name in names if name in self.commands]
            if rows:
                with formatter.section(subject):
                    formatter.write_dl(rows)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        meant = OTHER_NAMES.get(args[0].lower().replace("_", "-"))
        if meant in self.commands and args[0] not in self.commands and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {meant!r}?", ctx)
        if args[0].lower() in IN_PYTHON and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command {args[0]!r}. {IN_PYTHON[args[0].lower()]}", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            _refuse_repeated(command, rest, ctx)
        return name, command, rest

    @staticmethod
    def _summary(command: click.Command) -> str:
        return command.get_short_help_str(limit=1000).rstrip(".")

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise _printable(error) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _printable(error) from None


def _refuse_repeated(command: click.Command, args: Sequence[str], parent: click.Context) -> None:
    """Refuse an option with one value that is given twice: click uses the last one without a word."""
    ctx = click.Context(command, parent, command.name, **command.context_settings)
    try:
        order = command.make_parser(ctx).parse_args(args=list(args))[2]
    except click.UsageError:  # reported by the command itself
        return
    single = [
        p for p in order if isinstance(p, click.Option) and not (p.multiple or p.count or (p.is_flag and not p.secondary_opts))
    ]
    for option, uses in Counter(single).items():
        if uses > 1:
            times = "twice" if uses == 2 else f"{uses} times"
            raise click.BadParameter(f"it is given {times}, and takes one value.", ctx, option)


def _source_docstring(function: Callable[..., Any]) -> str | None:
    """The docstring of a function as its source file has it."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, SyntaxError):  # there is no source file
        return None
    found = tree.body[0]
    return ast.get_docstring(found) if isinstance(found, ast.FunctionDef) else None


def _printable(error: click.UsageError) -> click.UsageError:
    """The same error; its message without control characters, broken between words, and the command's examples."""
    message = clean(error.format_message())
    lines = [line for text in message.splitlines() for line in wrapped(text, _room(), 0)]
    return click.UsageError("\n".join([*lines, *_examples(error)]), error.ctx)


def _examples(error: click.UsageError) -> list[str]:
    """The examples of a command that was given other arguments or options than it has; none for a bad value of its own."""
    command = None if error.ctx is None else error.ctx.command
    bad_value = isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter)
    if command is None or bad_value or isinstance(command, click.Group):
        return []
    _, _, examples = inspect.cleandoc(command.help or "").partition("Examples:\n")
    return ["Examples:", *examples.partition("\n\n")[0].rstrip().splitlines()] if examples else []


def _room() -> int | None:
    width = columns(err=True)
    return None if width is None else width - LABEL
