"""Progress of long computations, on the error stream."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dynamis.cli.console import clean_name, console, echo

if TYPE_CHECKING:
    from rich.progress import Progress


@contextlib.contextmanager
def waiting(name: str) -> Iterator[None]:
    """A spinner during work of unknown length, only on a terminal."""
    from rich.text import Text

    shown = console(err=True)
    if not shown.is_terminal:
        yield
        return
    with shown.status(Text(clean_name(name))):
        yield


LINE_INTERVAL = 20.0  # s between two lines of progress where the error stream is not a terminal


class Bar:
    """A progress bar on a terminal; elsewhere a line on the error stream every 20 s."""

    def __enter__(self) -> Bar:
        shown = console(err=True)
        self._progress = _on(shown) if shown.is_terminal else None
        self._begun = self._told = time.monotonic()
        return self

    def show(self, fraction: float, name: str) -> None:
        """Show the completed fraction and the current step."""
        now = time.monotonic()
        if self._progress is not None:
            self._progress.update(self._progress.task_ids[0], completed=fraction, description=clean_name(name))
        elif now - self._told >= LINE_INTERVAL:
            self._told = now
            echo(f"dynamis: {clean_name(name)} ({100.0 * fraction:.3g} % after {now - self._begun:.0f} s)", err=True)

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()


def _on(shown: Any) -> Progress:
    """Start a progress bar with one task on a terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    about = TextColumn("{task.description}", markup=False)
    columns = (about, BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=shown, transient=True)
    progress.start()
    progress.add_task("", total=1.0)
    return progress
