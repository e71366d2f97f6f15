"""Ctrl-C on the command line."""

from __future__ import annotations

EXIT_INTERRUPTED = 130  # as shells report a process ended by SIGINT


def forget_interrupt() -> None:
    """Clear the interrupt that Python remembers when KeyboardInterrupt passed through exec, as in an import of data classes:
    it would end the process by the signal instead of a status. The next exec clears it."""
    exec("")  # noqa: S102
