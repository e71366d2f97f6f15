"""How long and how large a derivation may become, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dynamis.errors import DynamisError


class BudgetSpent(DynamisError):  # noqa: N818 - a state of affairs, caught where the factored form takes over
    """The expanded form would take longer, or more memory, than allowed."""


@dataclass
class Budget:
    """Seconds and polynomial terms that may be spent; ``progress(done, total, terms)`` is told of each step."""

    seconds: float = float("inf")
    terms: float = float("inf")
    progress: Callable[[int, int, int], None] | None = None
    _until: float = field(default=0.0, init=False)
    _held: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._until = time.monotonic() + self.seconds

    def spend(self, terms: int, done: int, total: int) -> None:
        """Account for one result of so many terms, the ``done``-th of ``total``."""
        self._held += terms
        if self.progress is not None:
            self.progress(done, total, self._held)
        if self._held > self.terms:
            raise BudgetSpent(f"the expanded form has more than {self.terms:g} terms")
        if time.monotonic() > self._until:
            raise BudgetSpent(f"the expanded form is not ready after {self.seconds:g} s")


UNLIMITED = Budget()
