"""Interleaved timing: contenders take turns, so that whatever slows the machine slows them alike."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_times(contenders: dict[str, Callable[[], object]], seconds: float = 1.0) -> dict[str, float]:
    """The shortest time of each contender, in turns for about ``seconds`` each."""
    best = dict.fromkeys(contenders, float("inf"))
    for run in contenders.values():
        run()
    end = time.perf_counter() + seconds * len(contenders)
    while time.perf_counter() < end:
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best
