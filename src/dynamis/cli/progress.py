"""How far long work is, on the error stream."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def waiting(name: str) -> Iterator[None]:
    """Something turns while work goes on of which nobody knows how far it is; only where a person can see it."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(name):
        yield


class Bar:
    """A bar of progress, only where a person can see it."""

    def __enter__(self) -> Bar:
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        self._progress = Progress(console=console, transient=True, disable=not console.is_terminal)
        self._progress.start()
        self._task = self._progress.add_task("", total=1.0)
        return self

    def show(self, fraction: float, name: str) -> None:
        """Tell how much of the work is done, and what is being done."""
        self._progress.update(self._task, completed=fraction, description=name)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
