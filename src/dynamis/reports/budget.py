"""The time of a section for extras."""

from __future__ import annotations

import time


class Budget:
    """The time a section has for extras: content beyond what it always has, and marked as such."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = time.perf_counter()

    @property
    def spent(self) -> float:
        return time.perf_counter() - self._start

    @property
    def left(self) -> float:
        return max(self.seconds - self.spent, 0.0)
