"""A thread pool with one queue per thread, in which the caller takes part."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from dynamis.compiler.forks import at_fork

Work = tuple[Callable[[Any], None], Any, "SimpleQueue[BaseException | None]"]

_queues: list[SimpleQueue[Work]] = []
_locks = [threading.Lock()]


def share(function: Callable[[Any], None], pieces: Sequence[Any]) -> None:
    """The function on every piece, the first in this thread, the others in threads of their own."""
    done: SimpleQueue[BaseException | None] = SimpleQueue()
    for queue, piece in zip(_workers(len(pieces) - 1), pieces[1:], strict=True):
        queue.put((function, piece, done))
    problems = []
    try:
        function(pieces[0])
    finally:
        problems = [problem for _ in pieces[1:] if (problem := done.get()) is not None]
    if problems:
        raise problems[0]


def _workers(count: int) -> list[SimpleQueue[Work]]:
    with _locks[0]:
        while len(_queues) < count:
            queue: SimpleQueue[Work] = SimpleQueue()
            threading.Thread(target=_work, args=(queue,), name=f"dynamis {len(_queues) + 1}", daemon=True).start()
            _queues.append(queue)
        return _queues[:count]


def _work(queue: SimpleQueue[Work]) -> None:
    while True:
        function, piece, done = queue.get()
        try:
            function(piece)
            done.put(None)
        except BaseException as problem:
            done.put(problem)


def _forget() -> None:
    """In a forked process: the threads are not there, and the lock may have been held."""
    _locks[0] = threading.Lock()
    _queues.clear()


at_fork(after_in_child=_forget)
