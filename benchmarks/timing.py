"""Interleaved timing: contenders take turns, so that whatever slows the machine slows them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

FEWEST_TURNS = 3
TURN = 0.03  # seconds: a quick contender runs many times in its turn, a slow one once
PATIENCE = 3.0  # times longer, where something else keeps interrupting a contender
UNDISTURBED = 0.95  # of a run's time the processor worked for it


@dataclass
class Best:
    """The shortest run of a contender. ``disturbed``: even then something else had the processor for a while."""

    seconds: float = float("inf")
    disturbed: bool = True

    def take(self, seconds: float, disturbed: bool) -> None:
        """Any run that was not disturbed counts more than one that was."""
        if (disturbed, seconds) < (self.disturbed, self.seconds):
            self.seconds, self.disturbed = seconds, disturbed


def best_times(
    contenders: Mapping[str, Callable[[], object]],
    seconds: float = 1.0,
    before: Mapping[str, Callable[[], object]] | None = None,
) -> dict[str, Best]:
    """The shortest time of each contender, in turns for about ``seconds`` each.

    ``before`` names what a contender needs done before each of its turns, outside its time.
    """
    best = {name: Best() for name in contenders}
    for name, run in contenders.items():  # once to wake everything up
        _prepare(name, before)
        run()
    start, turns = time.perf_counter(), 0
    while True:
        for name, run in contenders.items():
            _prepare(name, before)
            _turn(run, best[name], min(TURN, seconds))
        turns += 1
        spent = (time.perf_counter() - start) / len(contenders)
        if turns >= FEWEST_TURNS and spent >= (seconds * PATIENCE if disturbed(best) else seconds):
            return best


def _prepare(name: str, before: Mapping[str, Callable[[], object]] | None) -> None:
    if before is not None and name in before:
        before[name]()


def _turn(run: Callable[[], object], best: Best, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while True:
        worked, start = time.process_time(), time.perf_counter()
        run()
        stop = time.perf_counter()
        worked = time.process_time() - worked
        best.take(stop - start, worked < UNDISTURBED * (stop - start))
        if stop >= end:
            return


def disturbed(times: Mapping[str, Best]) -> list[str]:
    """The contenders whose figures say less than they should."""
    return [name for name, found in times.items() if found.disturbed]


def repeated(call: Callable[[], object], times: int) -> Callable[[], None]:
    """The call many times over: one alone is shorter than the clock is fine."""

    def run() -> None:
        for _ in range(times):
            call()

    return run
