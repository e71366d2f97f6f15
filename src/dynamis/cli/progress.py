"""Progress of long computations, on the error stream."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dynamis.cli.console import clean_name, console


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


class Bar:
    """A progress bar, only on a terminal."""

    def __enter__(self) -> Bar:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        shown = console(err=True)
        about = TextColumn("{task.description}", markup=False)
        self._progress = Progress(
            about, BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), console=shown, transient=True,
            disable=not shown.is_terminal,
        )  # fmt: skip
        self._progress.start()
        self._task = self._progress.add_task("", total=1.0)
        return self

    def show(self, fraction: float, name: str) -> None:
        """Show the completed fraction and the current step."""
        self._progress.update(self._task, completed=fraction, description=clean_name(name))

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
