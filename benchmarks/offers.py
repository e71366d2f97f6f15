"""What a contender offers: a function run over the states, its results in our conventions, and perhaps a single call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from benchmarks.subjects import States, Subject

Array = npt.NDArray[Any]

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


@dataclass(frozen=True, eq=False)
class Offer:
    """``run`` computes the first ``count`` states; ``results`` are those of such a run, as we would give them.

    ``wants_more_cores`` is for those that keep to one only where nothing else is allowed.
    """

    run: Callable[[], object]
    results: Callable[[], Array]
    count: int
    how: str
    single: Callable[[], object] | None = None
    wants_more_cores: bool = False


@dataclass(frozen=True)
class Rival:
    """Another library.

    ``offers`` reads the robot into it and returns, for each function it has, how to get ready for it: what fails there is
    that function's failure alone. ``packages`` are the distributions whose versions matter.
    """

    name: str
    packages: tuple[str, ...]
    offers: Callable[[Subject, States], Mapping[str, Callable[[], Offer]]]


class NotOfferedError(Exception):
    """The rival has no such thing; the message says what is missing."""


def reason(error: BaseException) -> str:
    """An error in one line, for a table."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed"
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    shown = text if len(text) <= 120 else text[:119] + "…"
    return shown if isinstance(error, NotOfferedError) or not shown else f"{type(error).__name__}: {shown}"
