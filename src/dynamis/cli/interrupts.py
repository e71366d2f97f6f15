"""Ctrl-C on the command line."""

from __future__ import annotations

INTERRUPTED = 130  # the exit status, as shells count what a signal ends


def forget_interrupt() -> None:
    """An interrupt that passed through exec, as in an import of data classes, is remembered by Python, which would then end
    with the signal itself instead of a status; the next exec forgets it."""
    exec("")  # noqa: S102
