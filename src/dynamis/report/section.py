"""What a report is made of: sections, and in each of them blocks that a page and a Markdown file can both show."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Say:
    """A paragraph; $…$ is mathematics."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Short answers: (what, value)."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows under a header; cells are text with $…$. A folded one opens when asked."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Formula:
    """A displayed formula, in LaTeX."""

    latex: str


@dataclass(frozen=True)
class Folded:
    """Blocks behind a title, shown when it is opened."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Curves:
    """Lines over a common axis: ``series`` maps labels to numbers."""

    x: Sequence[float]
    series: dict[str, Sequence[float | None]]
    name: str = ""


@dataclass(frozen=True)
class Plot:
    """A figure of lines; with several ``views`` one is chosen. ``summary`` says what it shows in words.

    ``player`` names the motion whose time its cursor follows.
    """

    title: str
    x_label: str
    y_label: str
    views: Sequence[Curves]
    summary: str
    choose: str = ""
    logarithmic: bool = False
    player: str = ""


@dataclass(frozen=True)
class Grid:
    """Numbers over a rectangle, row by row from the lowest y: ``values[j][i]`` at x_i, y_j; None where there is none."""

    values: Sequence[Sequence[float | None]]
    name: str = ""


@dataclass(frozen=True)
class HeatMap:
    """A figure of colours over a rectangle; ``x`` and ``y`` are its ends. With several ``views`` one is chosen.

    ``square`` draws metres alike in both directions; ``joints`` are the entries of q that x and y are, where they are some.
    """

    title: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str
    y_label: str
    unit: str
    views: Sequence[Grid]
    summary: str
    choose: str = ""
    square: bool = False
    joints: tuple[int, int] | None = None


@dataclass(frozen=True)
class Robot3D:
    """The robot to turn and to move by its joints."""

    scene: dict[str, Any]


@dataclass(frozen=True)
class Player:
    """A motion to play: configurations at equal times, shown by the robot of the scene."""

    name: str
    title: str
    times: Sequence[float]
    q: Sequence[Sequence[float]]
    summary: str
    scene: dict[str, Any]


Block = Say | Facts | Table | Formula | Folded | Plot | HeatMap | Robot3D | Player


@dataclass
class Section:
    """One part of a report: what it says, and the Python that says it again."""

    key: str
    title: str
    lead: str = ""
    blocks: list[Block] = field(default_factory=list)
    reproduce: str = ""
    notes: list[str] = field(default_factory=list)
    failed: str = ""
    seconds: float = 0.0

    @property
    def missing(self) -> str:
        """How to begin the sentence that says why something is not there."""
        return "The rest of this section is missing" if self.blocks else "This section is missing"

    def add(self, *blocks: Block) -> Section:
        self.blocks.extend(blocks)
        return self


class OutOfTimeError(Exception):
    """A section came to the end of its time."""


class Budget:
    """The time a section may take."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = time.perf_counter()

    @property
    def spent(self) -> float:
        return time.perf_counter() - self._start

    @property
    def left(self) -> float:
        return max(self.seconds - self.spent, 0.0)

    def check(self, before: str) -> None:
        """Stop here if the time is over."""
        if self.left <= 0.0:
            raise OutOfTimeError(f"its {self.seconds:.3g} s were over before {before}; allow more seconds")
