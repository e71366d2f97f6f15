"""How a command ends when something is wrong: with a sentence and a status, not with a traceback."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import click

from dynamis.cli.interrupts import INTERRUPTED, forget_interrupt
from dynamis.errors import DynamisError, ModelWarning

BAD, NOBODY_READS = 2, 141  # the second as shells count what a signal ends: a closed pipe


def plain_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Errors of ours and of the system end the command with a sentence and status 2, Ctrl-C with 130, a reader that has gone
    with 141 and no word; anything else is a bug and shows itself."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                warnings.simplefilter("always", ModelWarning)
                return command(*args, **kwargs)
        except BrokenPipeError:
            _end_unread()
        except SystemExit as end:
            # rich ends the program itself, with 1, which would mean that the answer is no
            if isinstance(end.__context__, BrokenPipeError):
                _end_unread()
            raise
        except DynamisError as error:
            click.secho(f"dynamis: {error}", fg="red", err=True)
            sys.exit(BAD)
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            click.secho(f"dynamis: {where}{error.strerror or error}", fg="red", err=True)
            drop_output()
            sys.exit(BAD)
        except (KeyboardInterrupt, click.Abort):
            forget_interrupt()
            click.secho("dynamis: interrupted", fg="yellow", err=True)
            sys.exit(INTERRUPTED)

    return wrapper


def _end_unread() -> NoReturn:
    drop_output()
    sys.exit(NOBODY_READS)


def drop_output() -> None:
    """What is left for a standard output that takes nothing goes nowhere; Python would try again at its end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # it is no file
        return


def _say_warning(message: Any, *_: Any, **__: Any) -> None:
    click.secho(f"dynamis: {message}", fg="yellow", err=True)
