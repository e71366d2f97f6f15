"""Closures of loops, as files describe them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dynamis.display import as_call, as_table
from dynamis.errors import near_names, printable
from dynamis.model.diagnostics import Report
from dynamis.model.fields import Fields

# keys of a closure beside its kind, first and second
CLOSURES: dict[str, tuple[str, ...]] = {
    "point": (), "weld": (), "pin": ("axis", "second_axis"), "plane": ("axis", "axis_of"), "distance": ("length",),
    "coupled": ("ratio", "offset", "higher"),
}  # fmt: skip


@dataclass(repr=False)
class LoopClosure(Fields):
    """A constraint of the file beside the tree, between two links or two joints; ``kind`` is one of `CLOSURES`.

    The origins of the links coincide ("point"), also their axes ("weld"), or ``axis`` of the first with ``second_axis`` of the
    second ("pin"); they coincide across an ``axis`` of the link ``axis_of``, by default the second ("plane"), or are ``length``
    apart ("distance"). Of joints ("coupled"), q(first) = ratio · q(second) + offset, and coefficients of ``higher`` powers of
    q(second) from the square on; without a second, q(first) = offset. The tree is without it; `dynamis.loops.closures` gives
    it as a closure.
    """

    kind: str
    first: str
    second: str = ""
    ratio: float = 1.0
    offset: float = 0.0
    higher: tuple[float, ...] = ()
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    second_axis: tuple[float, float, float] | None = None
    axis_of: str = ""
    length: float = 0.0
    line: int | None = field(default=None, repr=False, compare=False)

    @property
    def links(self) -> tuple[str, ...]:
        """The links it names."""
        return () if self.kind == "coupled" else tuple(name for name in (self.first, self.second, self.axis_of) if name)

    __repr__ = as_call
    _repr_html_ = as_table


def check_closures(closures: Iterable[Any], links: Collection[str], moved: Mapping[str, str], report: Report) -> None:
    """Add an error for every closure that names nothing of the robot, or has numbers without meaning.

    ``moved`` maps links to the names of the joints that move them.
    """
    for x in closures:
        if not isinstance(x, LoopClosure):
            repair = "closures of dynamis.loops are given to dynamis.constrained(robot, closures=…)"
            found = f"closures contains {printable(str(x))}"
            report.error("closure", "robot", found, "LoopClosure(kind, first, second)", repair)
            continue
        where = f"closure of {printable(str(x.first))}"
        if x.kind not in CLOSURES:
            found = f"the kind is {printable(str(x.kind))}" if x.kind else "the kind is missing"
            report.error("closure", where, found, ", ".join(CLOSURES), "correct the kind", x.line)
            continue
        of, known = ("joint", set(moved.values())) if x.kind == "coupled" else ("link", links)
        names = [x.first, *([x.second] if x.second or x.kind != "coupled" else []), *([x.axis_of] if x.axis_of else [])]
        if x.first == x.second:
            found = f"it connects {of} {printable(str(x.first))} to itself"
            report.error("closure", where, found, f"two {of}s", "name another one", x.line)
        for name in names:
            if name not in known:
                if of == "joint" and name in links:
                    repair = f"name joint {printable(moved[name])}" if name in moved else "name a joint"
                    found = f"{printable(str(name))} is a link, and this kind couples joints"
                    report.error("closure", where, found, "two joints that move", repair, x.line)
                    continue
                near = " or ".join(map(printable, near_names(str(name), known, 2)))
                found = f"there is no {of} {printable(str(name))}" if name else f"one of its two {of}s is missing"
                report.error("closure", where, found, f"a {of} of this file", f"name {near}" if near else "correct it", x.line)
        axes = [x.axis, *([] if x.second_axis is None else [x.second_axis])]
        if not all(np.shape(axis) == (3,) and np.isfinite(axis).all() and np.any(axis) for axis in axes):
            report.error("closure", where, "an axis is zero", "three numbers, not all 0", "correct the axis", x.line)
        if x.kind == "distance" and not 0.0 < x.length < np.inf:
            found = f"the length is {x.length:g}" if x.length else "the length is missing or 0"
            report.error("closure", where, found, "a positive number", "give the length of the rod", x.line)
