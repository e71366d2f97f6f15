"""The truth of symbolic conditions, while the branches of a function are recorded."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

BARE = "{} is symbolic: give its symbols values before asking for a number"
IN_FUNCTION = (
    "a number is needed, and {} is symbolic: collect results by numpy.array([…]) or in numpy.zeros_like(q), and use functions "
    "of numpy instead of those of math"
)


class _Branches(threading.local):
    """``decide`` answers the if-statements of this thread on symbolic conditions; without it they are errors."""

    decide: Callable[[Any], bool] | None = None


branches = _Branches()


@contextlib.contextmanager
def deciding(decide: Callable[[Any], bool]) -> Iterator[None]:
    """Let ``decide`` answer if-statements on symbolic conditions."""
    before, branches.decide = branches.decide, decide
    try:
        yield
    finally:
        branches.decide = before
