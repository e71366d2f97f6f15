"""The result of a sweep: one row per case, with named columns."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, counted, plotted
from dynamis.errors import InputError, printable, unknown_name
from dynamis.files.atomic_write import write_whole
from dynamis.files.paths import path_of
from dynamis.simulation.trajectory import ended
from dynamis.sweeps.cases import FAILED, column_units, effort_limits
from dynamis.sweeps.study import Study

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The completed cases, in order. ``result["energy_error"]`` is a column; failed cases are NaN there.

    ``status`` is a message; ``complete`` states whether every case is present; ``notes`` lists damaged files and torques beyond
    the effort limits; ``failed`` maps failed parts to the reason; ``resumed`` is the number of cases from an earlier run.
    """

    study: Study
    columns: list[str]
    rows: list[list[Any]] = field(repr=False)
    status: str
    notes: tuple[str, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    resumed: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<SweepResult of {printable(self.study.name)}: {self.status}>"

    @property
    def complete(self) -> bool:
        return len(self.rows) == self.study.cases

    @property
    def inputs(self) -> list[str]:
        """The names of the varied columns."""
        return [v.name for v in self.study.variables]

    @property
    def outputs(self) -> list[str]:
        """The names of the numeric columns that were not varied."""
        return self.columns[1 + len(self.inputs) : -1]

    @cached_property
    def table(self) -> dict[str, Array]:
        """{column: values}."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        kinds: dict[str, Any] = {"case": int, "status": object}
        return {
            name: np.array(
                [np.nan if x is None else x for x in values] if name not in kinds else values, kinds.get(name, float)
            )
            for name, values in zip(self.columns, columns, strict=True)
        }

    def __getitem__(self, name: str) -> Array:
        if name not in self.columns:
            raise unknown_name("column", name, self.columns)
        return self.table[name]

    @cached_property
    def units(self) -> dict[str, str]:
        """{column: SI unit}; empty for a number without a unit and for parameters of the robot's file."""
        return column_units(self.study)

    def label(self, name: str) -> str:
        """The name of a column with its unit, such as ``payload.mass [kg]``."""
        return f"{name} [{self.units[name]}]" if self.units.get(name) else name

    @property
    def without_results(self) -> int:
        """The number of cases that could not be simulated; their status gives the reason."""
        return sum(row[-1].startswith(FAILED) for row in self.rows)

    @cached_property
    def ended(self) -> npt.NDArray[np.bool_]:
        """(cases,): which motions reached their end or an event that stops them; others diverged or ran out of time."""
        return np.array([ended(row[-1]) for row in self.rows], dtype=bool)

    def statistics(self, name: str) -> dict[str, float]:
        """Mean, deviation, extremes and quantiles of a column: of a result over the cases that ended."""
        values = self[name]
        return statistics(values if name in self.inputs or not self.ended.any() else values[self.ended])

    @property
    def left_out(self) -> str:
        """The cases whose results are not part of the statistics, in words; empty if there are none."""
        rest = len(self) - self.without_results - int(self.ended.sum())
        if not rest or not self.ended.any():
            return ""
        return f"statistics of results without {counted(rest, 'case')} that did not reach the end (column status)"

    @property
    def endings(self) -> Counter[str]:
        """The number of cases per status."""
        return Counter(row[-1] for row in self.rows)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as a .csv file, in full precision."""
        target = path_of(path)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if x is None else repr(x) if isinstance(x, float) else x for x in row] for row in self.rows)
        try:
            write_whole(target, text.getvalue().encode())
        except OSError as error:
            raise InputError(
                f"{printable(str(target))} cannot be written: {error.strerror}; the completed parts are saved: run again"
            ) from None
        return target

    def summary(self) -> str:
        """Status counts and statistics of every column."""
        return summary(self)

    def plot(
        self, path: str | os.PathLike[str] | None = None, output: str | None = None, over: str | None = None
    ) -> Any:  # fmt: skip
        """Plot outputs over inputs, and histograms; returns the axes, and writes a file if ``path`` is given."""
        return plotted("sweep", self, path, output, over)

    def __str__(self) -> str:
        return self.summary()

    _repr_html_ = as_text


def torque_notes(study: Study, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """The joints whose torques exceed their effort limits, in words: a sweep applies torques as given."""
    notes = []
    for name, limit in effort_limits(study).items():
        k = columns.index(f"peak_torque.{name}")
        peaks = [row[k] for row in rows if row[k] is not None and ended(row[-1])]
        beyond = sum(x > limit for x in peaks)
        if beyond:
            notes.append(
                f"the torque of {printable(name)} exceeds its effort limit of {limit:g} in {counted(beyond, 'case')}, up to "
                f"{max(peaks):.4g}: torques are applied as given"
            )
    return notes


MAX_LINE_CHARACTERS = 100
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
    lines += [f"  {note}" for note in (*result.notes, *([result.left_out] if result.left_out else []))]
    for ending, count in result.endings.most_common(8):
        lines.append(f"  {count:>8} {_shortened(ending)}")
    if len(result.endings) > 8:
        lines.append(f"  and {len(result.endings) - 8} other status messages: see column status of the table")
    if not len(result):
        return "\n".join(lines)
    names = [*result.inputs, *(name for name in result.outputs if name != "t" or np.ptp(result["t"]))]
    labels = [result.label(name) for name in names]
    return "\n".join(lines + _table(labels, [[f"{x:.4g}" for x in result.statistics(name).values()] for name in names]))


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of at most ``MAX_LINE_CHARACTERS``; below long names that leave no room beside them, the numbers."""
    widths = [max(len(row[k]) for row in [HEADINGS, *rows]) + 2 for k in range(len(HEADINGS))]
    indent = 2 + max(map(len, names))
    below = indent + sum(widths) > MAX_LINE_CHARACTERS
    indent = 4 if below else indent

    def line(start: str, cells: Iterable[str]) -> str:
        return f"{start:<{indent}}" + "".join(f"{x:>{width}}" for x, width in zip(cells, widths, strict=True))

    lines = [line("", HEADINGS)]
    for name, row in zip(names, rows, strict=True):
        lines += [f"  {name}", line("", row)] if below else [line(f"  {name}", row)]
    return lines


def _shortened(text: str, limit: int = 85) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
