"""Summary of a sweep: final status of the cases, and statistics of every column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dynamis.sweeps.table import SweepResult

WIDTH = 100
STATISTICS = ("mean", "deviation", "least", "5 %", "median", "95 %", "most")
HEADINGS = ("mean", "std. deviation", "min", "5 %", "median", "95 %", "max")


def statistics(values: npt.NDArray[Any]) -> dict[str, float]:
    """Mean, standard deviation, extremes and quantiles of the finite values.

    >>> statistics(np.array([1.0, 2.0, 3.0, np.nan]))["median"]
    2.0
    """
    there = values[np.isfinite(values)]
    if not len(there):
        return dict.fromkeys(STATISTICS, float("nan"))
    low, median, high = np.quantile(there, (0.05, 0.5, 0.95))
    deviation = there.std(ddof=1) if len(there) > 1 else 0.0
    numbers = (there.mean(), deviation, there.min(), low, median, high, there.max())
    return dict(zip(STATISTICS, map(float, numbers), strict=True))


def summary(result: SweepResult) -> str:
    """Status counts, then one line per column."""
    lines = [f"{result.study.name}: {result.status}"]
    if result.resumed:
        lines.append(f"  {result.resumed} of them from an earlier run")
    lines += [f"  {note}" for note in result.notes]
    for ending, count in result.endings.most_common(8):
        lines.append(f"  {count:>8} {_shortened(ending)}")
    if len(result.endings) > 8:
        lines.append(f"  and {len(result.endings) - 8} other status messages: see column status of the table")
    if not len(result):
        return "\n".join(lines)
    names = [*result.inputs, *(name for name in result.outputs if name != "t" or np.ptp(result["t"]))]
    return "\n".join(lines + _table(names, [[f"{x:.4g}" for x in statistics(result[name]).values()] for name in names]))


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of at most ``WIDTH`` characters: where long names leave no room beside them, the numbers are below."""
    widths = [max(len(row[k]) for row in [HEADINGS, *rows]) + 2 for k in range(len(HEADINGS))]
    indent = 2 + max(map(len, names))
    below = indent + sum(widths) > WIDTH
    indent = 4 if below else indent

    def line(start: str, cells: Iterable[str]) -> str:
        return f"{start:<{indent}}" + "".join(f"{x:>{width}}" for x, width in zip(cells, widths, strict=True))

    lines = [line("", HEADINGS)]
    for name, row in zip(names, rows, strict=True):
        lines += [f"  {name}", line("", row)] if below else [line(f"  {name}", row)]
    return lines


def _shortened(text: str, limit: int = 85) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
