"""Threads and forks: values made by one thread; reset of locks and jobs after fork(), where only the forking thread goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_lock = threading.RLock()


def at_fork(**hooks: Callable[[], object]) -> None:
    """``os.register_at_fork``, on systems that fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**hooks)


def once(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose value is computed once for the same arguments, also where several threads ask for it first.

    `functools.cache` lets each of them compute it and keeps one: code whose address another thread holds would be freed.
    """
    known = cache(function)

    @wraps(function)
    def found(*args: P.args, **kwargs: P.kwargs) -> R:
        with _lock:
            return known(*args, **kwargs)  # type: ignore[arg-type]  # hashable, as of any cache

    return found


def _renew_lock() -> None:
    """One that nobody holds: in a forked process the thread that held it may be missing."""
    global _lock  # noqa: PLW0603
    _lock = threading.RLock()


at_fork(after_in_child=_renew_lock)
