"""What a sweep gives: one row for each case, with named columns."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_summary
from dynamis.errors import InputError, printable, unknown_name
from dynamis.simulation.sweeps.study import Study
from dynamis.whole_files import write_whole

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The cases that are done, in order. ``result["energy_error"]`` is a column; what failed is not a number there.

    ``status`` is a sentence; ``complete`` says whether every case is there; ``notes`` tells what was found damaged;
    ``failed`` maps parts that were given up to the reason; ``resumed`` counts the cases that were there before.
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
        """The columns that were varied."""
        return [v.name for v in self.study.variables]

    @property
    def outputs(self) -> list[str]:
        """The columns that hold numbers and were not varied."""
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

    @property
    def endings(self) -> Counter[str]:
        """How many cases ended how."""
        return Counter(row[-1] for row in self.rows)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """The table as a .csv file; every digit is kept."""
        target = Path(path)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if x is None else repr(x) if isinstance(x, float) else x for x in row] for row in self.rows)
        try:
            write_whole(target, text.getvalue().encode())
        except OSError as error:
            raise InputError(
                f"{printable(str(target))} cannot be written: {error.strerror}; the parts beside it are kept: run again"
            ) from None
        return target

    def summary(self) -> str:
        """How the cases ended, and how their numbers are spread."""
        from dynamis.simulation.sweeps.summary import summary

        return summary(self)

    def plot(
        self, path: str | os.PathLike[str] | None = None, output: str | None = None, over: str | None = None
    ) -> Any:  # fmt: skip
        """Outputs over what was varied, and their spread; returns the axes, and writes the picture where a path is given."""
        from dynamis.simulation.sweeps.pictures import plot

        return plot(self, path, output, over)

    _repr_html_ = as_summary
