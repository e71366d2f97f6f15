"""The truth of symbolic conditions, while the branches of a function are recorded."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy.typing as npt

from dynamis.errors import InputError

MAX_TEXT = 60  # characters of an expression in a message
BARE = "{} is symbolic: give its symbols values before asking for a number"
IN_FUNCTION = (
    "a number is needed, and {} is symbolic: use functions of numpy without float() and int(), and collect results by "
    "numpy.array([…]) or in numpy.zeros_like(q)"
)


class NumberNeededError(InputError):
    """A function asked for the value of a symbolic expression."""


def number_needed(expression: Any) -> NumberNeededError:
    return NumberNeededError((BARE if branches.decide is None else IN_FUNCTION).format(excerpt(expression)))


def excerpt(expression: Any) -> str:
    """The beginning of an expression, for a message."""
    text = str(expression)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


class _Branches(threading.local):
    """``decide`` answers the if-statements of this thread on symbolic conditions; without it they are errors.

    ``finite`` are the arguments of the function that is recorded, which are finite numbers; ``known`` are results of functions
    that its paths have in common. ``differentiated`` says whether it differentiates expressions, which numbers are not.
    """

    decide: Callable[[Any], bool] | None = None
    finite: tuple[Any, ...] = ()
    known: dict[Any, Any] | None = None
    differentiated: bool = False


branches = _Branches()


@contextlib.contextmanager
def deciding(decide: Callable[[Any], bool], finite: tuple[Any, ...], known: dict[Any, Any]) -> Iterator[None]:
    """Let ``decide`` answer if-statements on symbolic conditions."""
    before = branches.decide, branches.finite, branches.known
    branches.decide, branches.finite, branches.known = decide, finite, known
    try:
        yield
    finally:
        branches.decide, branches.finite, branches.known = before


def is_argument(x: Any) -> bool:
    """Whether this is an argument of the function that is recorded, and not what it computed."""
    return any(x is argument for argument in branches.finite)


def computed_once(name: Any, arrays: Sequence[npt.NDArray[Any]], compute: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """``compute()``, a function of this name of the arrays; once for all paths of a function that is recorded."""
    known = branches.known
    if known is None:
        return compute()
    key = name, *(tuple(x if isinstance(x, float | int) else id(x) for x in array.flat) for array in arrays)
    if key not in known:
        known[key] = compute(), arrays  # which are kept, so that no other object has their identity
    return known[key][0].copy()
