"""Limits of time and size of a derivation, and its progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dynamis.errors import DynamisError


class BudgetSpent(DynamisError):  # noqa: N818 - a state of affairs, caught where the factored form takes over
    """The expanded form exceeds the limits of time or size."""


@dataclass
class Budget:
    """Limits of computing time, polynomial terms in all, and terms of one expression (the library's longest has 4000).

    ``progress(done, total, terms)`` is called at each step.

    The clock starts at creation and is stopped by `pause`; afterwards it runs only inside ``with budget.running()``.
    """

    seconds: float = float("inf")
    terms: float = float("inf")
    largest: float = 20_000
    progress: Callable[[int, int, int], None] | None = None
    _used: float = field(default=0.0, init=False)
    _since: float | None = field(default=None, init=False)
    _held: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._since = time.monotonic()

    def pause(self) -> None:
        """Stop the clock."""
        self._used, self._since = self._elapsed(), None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the clock run meanwhile."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self.pause()

    def _elapsed(self) -> float:
        return self._used + (0.0 if self._since is None else time.monotonic() - self._since)

    def spend(self, terms: int, done: int, total: int) -> None:
        """Account for one result of so many terms, the ``done``-th of ``total``."""
        self._held += terms
        if terms > self.largest:
            raise BudgetSpent(f"the expanded form has an expression of more than {self.largest:g} terms")
        if self.progress is not None:
            self.progress(done, total, self._held)
        if self._held > self.terms:
            raise BudgetSpent(f"the expanded form has more than {self.terms:g} terms")
        self.check_clock()

    def check_clock(self) -> None:
        """Raise `BudgetSpent` when the time is over."""
        if self._elapsed() >= self.seconds:
            raise BudgetSpent(f"the expanded form was not completed in {self.seconds:g} s")


UNLIMITED = Budget()
