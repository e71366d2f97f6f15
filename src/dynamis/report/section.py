"""The contents of a report: sections of blocks, rendered to HTML or Markdown."""

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
    """Key figures: (name, value)."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows under a header; cells are text with $…$. A folded table is collapsed at first."""

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
    """Collapsed blocks under a title."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Curves:
    """Lines over a common axis: ``series`` maps labels to numbers; ``y_label`` replaces that of the plot."""

    x: Sequence[float]
    series: dict[str, Sequence[float | None]]
    name: str = ""
    y_label: str = ""


@dataclass(frozen=True)
class Plot:
    """A figure of lines; with several ``views`` one is chosen. ``summary`` is its caption.

    ``player`` is the motion whose time the cursor follows.
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
class Axes:
    """The rectangle under a map: its intervals ``x`` and ``y``, and the entries of q these are, where they are joints."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str
    y_label: str
    joints: tuple[int, int] | None = None


@dataclass(frozen=True)
class Grid:
    """Numbers over a rectangle, row by row from the lowest y: ``values[j][i]`` at x_i, y_j; None where there is none.

    ``q`` holds one configuration per cell, as `report.configurations.encoded` writes it: a click on the cell shows it.
    """

    axes: Axes
    values: Sequence[Sequence[float | None]]
    name: str = ""
    unit: str = ""
    summary: str = ""
    q: str = ""


@dataclass(frozen=True)
class HeatMap:
    """A figure of colours over a rectangle. With several ``views`` one is chosen, each with axes and summary of its own.

    ``square`` draws both axes to the same scale; ``empty`` says why a cell has no value.
    """

    title: str
    views: Sequence[Grid]
    choose: str = ""
    square: bool = False
    empty: str = ""

    @property
    def summary(self) -> str:
        return self.views[0].summary


@dataclass(frozen=True)
class Robot3D:
    """The robot in 3-D, with a slider per joint."""

    scene: dict[str, Any]


@dataclass(frozen=True)
class Player:
    """An animation: configurations at times, of the robot of the scene."""

    name: str
    title: str
    times: Sequence[float]
    q: Sequence[Sequence[float]]
    summary: str
    scene: dict[str, Any]


Block = Say | Facts | Table | Formula | Folded | Plot | HeatMap | Robot3D | Player


@dataclass
class Section:
    """One part of a report, with the Python that reproduces its numbers."""

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
        """The beginning of the sentence that gives the reason for missing content."""
        return "The rest of this section could not be computed" if self.blocks else "This section could not be computed"

    def add(self, *blocks: Block) -> Section:
        self.blocks.extend(blocks)
        return self


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
