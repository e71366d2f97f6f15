"""How a command ends when something is wrong: with a sentence and a status, not with a traceback."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import click

from dynamis.errors import DynamisError, ModelWarning


def plain_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Errors of ours end the command with a sentence and status 2, Ctrl-C with 130; anything else is a bug and shows itself."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                warnings.simplefilter("always", ModelWarning)
                return command(*args, **kwargs)
        except DynamisError as error:
            click.secho(f"dynamis: {error}", fg="red", err=True)
            sys.exit(2)
        except (KeyboardInterrupt, click.Abort):
            click.secho("dynamis: interrupted", fg="yellow", err=True)
            sys.exit(130)

    return wrapper


def _say_warning(message: Any, *_: Any, **__: Any) -> None:
    click.secho(f"dynamis: {message}", fg="yellow", err=True)
