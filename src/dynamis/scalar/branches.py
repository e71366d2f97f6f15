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
    """``decide`` answers the if-statements of this thread on symbolic conditions; without it they are errors.

    ``finite`` are the arguments of the function that is recorded, which are finite numbers.
    """

    decide: Callable[[Any], bool] | None = None
    finite: tuple[Any, ...] = ()


branches = _Branches()


@contextlib.contextmanager
def deciding(decide: Callable[[Any], bool], finite: tuple[Any, ...]) -> Iterator[None]:
    """Let ``decide`` answer if-statements on symbolic conditions."""
    before = branches.decide, branches.finite
    branches.decide, branches.finite = decide, finite
    try:
        yield
    finally:
        branches.decide, branches.finite = before
