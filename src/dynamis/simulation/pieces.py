"""The integrated pieces of a motion."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.simulation.events import EventRecord
from dynamis.simulation.hard_stops import Sides

Array = npt.NDArray[Any]
REACHED = "completed"


@dataclass
class Pieces:
    """The integrated pieces with dense output, the events between them, and the reason for the end.

    For each piece ``directions`` holds the sliding directions of the joints (0: sticking) and ``resting`` the stops at which
    they rest (1 upper, −1 lower). ``last`` is the final state, after all events there; ``at_end`` states that the motion was
    stopped there by an event, so that this state is reported.
    """

    pieces: list[Any] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    directions: list[dict[int, int]] = field(default_factory=list)
    resting: list[Sides] = field(default_factory=list)
    evaluations: int = 0
    status: str = REACHED
    failure: Exception | None = None
    last: Array | None = None
    at_end: bool = False

    def add(self, others: Pieces) -> None:
        """Append pieces integrated from here on."""
        self.pieces += others.pieces
        self.ends += others.ends
        self.events += others.events
        self.directions += others.directions
        self.resting += others.resting
        self.evaluations += others.evaluations
        self.status, self.failure = others.status, others.failure
        self.last, self.at_end = others.last, others.at_end

    def interrupted(self, start: float) -> None:
        """Keep the complete pieces after Ctrl-C."""
        count = len(self.pieces)
        for others in (self.ends, self.directions, self.resting):
            del others[count:]
        self.status = f"interrupted at t = {self.ends[-1] if count else start:.6g} s"
        self.at_end = True

    def __call__(self, times: Array) -> tuple[Array, list[dict[int, int]]]:
        """States and sliding directions at these times."""
        where = np.searchsorted(self.ends, times, side="left").clip(0, len(self.pieces) - 1)
        states = np.array([self.pieces[k](t) for k, t in zip(where, times, strict=True)])
        return states, [self.directions[k] for k in where]

    def resting_at(self, times: Array) -> list[Sides]:
        """The stops at which joints rest at these times."""
        where = np.searchsorted(self.ends, times, side="left").clip(0, len(self.pieces) - 1)
        return [self.resting[k] for k in where]
