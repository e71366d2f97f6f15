"""How a command ends when something is wrong: with a message and an exit status, not with a traceback."""

from __future__ import annotations

import functools
import os
import shlex
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from dynamis.cli.console import clean_name, echo, echo_text
from dynamis.cli.hints import for_command_line
from dynamis.cli.interrupts import EXIT_INTERRUPTED, forget_interrupt
from dynamis.display import counted
from dynamis.errors import DynamisError, ModelWarning, ReachWarning

if TYPE_CHECKING:
    from dynamis.model.diagnostics import Report

MAX_WARNINGS_IN_FULL = 2  # about one robot file
EXIT_ERROR, EXIT_BROKEN_PIPE = 2, 141  # the second as shells report a process ended by SIGPIPE


def plain_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Errors of Dynamis and of the system end the command with a message and status 2, Ctrl-C with 130, a closed pipe with
    141 and no message; any other exception is a bug and shows its traceback."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _Warnings().show
                for kind in (ModelWarning, ReachWarning):
                    warnings.simplefilter("always", kind)
                warnings.filterwarnings("ignore", "q0? is in radians")  # the command's options have questioned the angles
                return command(*args, **kwargs)
        except BrokenPipeError:
            _end_unread()
        except SystemExit as end:
            # Rich exits by itself with 1 on a closed pipe; 1 would mean a negative answer
            if isinstance(end.__context__, BrokenPipeError):
                _end_unread()
            raise
        except DynamisError as error:
            print_error(for_command_line(str(error).removesuffix(error.template).rstrip("\n")))
            if error.template:
                echo_text(error.template.rstrip("\n"), err=True)
            sys.exit(EXIT_ERROR)
        except OSError as error:
            where = "" if error.filename is None else f"{clean_name(error.filename)}: "
            print_error(f"{where}{error.strerror or error}")
            drop_output()
            sys.exit(EXIT_ERROR)
        except (KeyboardInterrupt, click.Abort):
            forget_interrupt()
            print_warning("interrupted", label="")
            sys.exit(EXIT_INTERRUPTED)

    return wrapper


def print_error(message: str) -> None:
    """A message on the error stream, in red."""
    echo((f"dynamis: {message}", {"fg": "red"}), err=True)


def print_warning(message: str, label: str = "warning: ") -> None:
    """A warning on the error stream, in yellow."""
    echo((f"dynamis: {label}{message}", {"fg": "yellow"}), err=True)


def _end_unread() -> NoReturn:
    drop_output()
    sys.exit(EXIT_BROKEN_PIPE)


def drop_output() -> None:
    """Discard what is buffered for a standard output that cannot be written; Python would try again when it exits."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # it is no file
        return


class _Warnings:
    """Prints warnings; those about one robot file together, the first ``MAX_WARNINGS_IN_FULL`` of them in full."""

    def __init__(self) -> None:
        self.reports: list[Any] = []

    def show(self, message: Any, *_: Any, **__: Any) -> None:
        report = getattr(message, "report", None)
        if report is None:
            print_warning(for_command_line(str(message)))
        elif not any(report is known for known in self.reports):
            self.reports.append(report)
            _print_findings(report)


def _print_findings(report: Report) -> None:
    found, source = report.warnings, clean_name(report.source)
    if len(found) > MAX_WARNINGS_IN_FULL:
        # a robot that was changed has the name of the robot in place of a file
        command = f"; run dynamis check {shlex.quote(source)} for all of them" if Path(report.source).exists() else ""
        print_warning(f"{source}: {counted(len(found), 'warning')} about the model, such as the following{command}")
    for problem in found[:MAX_WARNINGS_IN_FULL]:
        place = clean_name(problem.file) + (f":{problem.line}" if problem.line else "")
        done = f"; {problem.done}" if problem.done else ""
        print_warning(f"{place}: {clean_name(problem.where)}: {clean_name(problem.found)}{clean_name(done)}")
