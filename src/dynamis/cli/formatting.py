"""Numbers as text: one rule for every table and sentence of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dynamis.cli.console import clean_name
from dynamis.tolerances import PRINTED_AS_ZERO, SUM_ROUNDING

DEFAULT_DIGITS = 4
NONE = "–"


def scale_of(values: Iterable[Any]) -> float:
    """The largest magnitude among the finite numbers of a column or vector."""
    sizes = [abs(float(x)) for x in values if _is_number(x)]
    return max((x for x in sizes if np.isfinite(x)), default=0.0)


def number(value: Any, digits: int = DEFAULT_DIGITS, scale: float = 0.0) -> str:
    """A number to ``digits`` significant digits; 0 where it is only rounding error beside numbers of size ``scale``."""
    if value is None:
        return NONE
    if not _is_number(value):
        return clean_name(value)
    x = float(value)
    if not np.isfinite(x):
        return NONE if np.isnan(x) else "∞" if x > 0.0 else "-∞"
    if abs(x) <= max(PRINTED_AS_ZERO * scale, SUM_ROUNDING):
        return "0"
    text = f"{x:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(x) < 1e6 else text


def vector(values: Sequence[Any], digits: int = 3) -> str:
    """(x, y, z), rounded relative to the largest of them."""
    scale = scale_of(values)
    return "(" + ", ".join(number(x, digits, scale) for x in values) + ")"


def column(values: Sequence[Any], digits: int = DEFAULT_DIGITS) -> list[str]:
    """The cells of a table's column, rounded relative to its largest number."""
    scale = scale_of(values)
    return [number(x, digits, scale) for x in values]


def with_units(names: Sequence[str], units: Sequence[str]) -> tuple[list[str], str]:
    """(names, unit of a heading): where the units differ each name gets its own in brackets, and the heading none."""
    if len(set(units)) == 1:
        return list(names), units[0]
    return [f"{name} [{unit}]" for name, unit in zip(names, units, strict=True)], ""


def percent(share: float | None, digits: int = 3) -> str:
    """A share of 1 in percent."""
    return NONE if share is None or np.isnan(share) else f"{number(100.0 * share, digits)} %"


def duration(seconds: float) -> str:
    """A time with the unit that keeps its number between 1 and 1000."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        if float(f"{seconds * factor:.3g}") >= 1.0:
            return f"{number(seconds * factor, 3)} {unit}"
    return f"{number(seconds * 1e9, 3)} ns"


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool)
