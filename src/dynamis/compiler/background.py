"""A background thread that compiles optimised code, one kernel at a time, while baseline code is in use.

It begins when no new kernel has been asked for during a moment: a program that starts up asks for several, and LLVM serves
one thread at a time.
"""

from __future__ import annotations

import atexit
import gc
import queue
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dynamis.compiler.forks import at_fork

Job = tuple[str, Callable[[], None]]  # whose code it is, and the work


QUIET = 0.15  # seconds
_paused: list[bool] = []  # whether the garbage collector is switched off by this module


class Background:
    def __init__(self) -> None:
        self._begin()
        at_fork(after_in_child=self._begin)
        atexit.register(self._stop)

    def _begin(self) -> None:
        """With nothing to do: at first, and in a forked process, where the thread is not and its jobs are the parent's."""
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._open = 0
        self._awaited = 0
        self._stopping = False
        self._asked = 0.0
        self._changed = threading.Condition()

    def ask(self, name: str, job: Callable[[], None]) -> None:
        with self._changed:
            self._open += 1
            self._asked = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="dynamis compiler", daemon=True)
                self._thread.start()
        self._jobs.put((name, job))

    def postpone(self) -> None:
        """A kernel is being made in the foreground."""
        self._asked = time.monotonic()

    def _run(self) -> None:
        while (asked := self._jobs.get()) is not None:
            name, job = asked
            self._until_quiet()
            try:
                job()
            except Exception as error:
                _complain(f"optimised compilation of {name} failed: {type(error).__name__}: {error}")
            finally:
                with self._changed:
                    self._open -= 1
                    self._changed.notify_all()

    def _until_quiet(self) -> None:
        with self._changed:
            while not self._awaited and not self._stopping and (left := self._asked + QUIET - time.monotonic()) > 0.0:
                self._changed.wait(left)

    def wait(self, timeout: float | None = None) -> bool:
        """Until everything asked for in this process is done."""
        with self._changed:
            self._awaited += 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(lambda: self._open == 0, timeout)
            finally:
                self._awaited -= 1

    def _stop(self) -> None:
        # what is waiting is dropped; what is being compiled is let finish, as LLVM cannot be interrupted
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        while not self._jobs.empty():
            self._jobs.get_nowait()
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join(30.0)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without garbage collection: graphs and code have no cycles, and a collector would walk through them again and again."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    _paused.append(True)
    try:
        yield
    finally:
        _collect_again()


def _collect_again() -> None:
    if _paused:
        _paused.clear()
        gc.enable()


at_fork(after_in_child=_collect_again)


def _complain(text: str) -> None:
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    except RuntimeWarning:  # where warnings are errors: nobody above this thread catches one, and it is to go on
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
