"""What was measured on a robot, as it was measured: times, positions, torques, and whatever else was written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError, printable

Array = npt.NDArray[Any]
SIDES = ("joint", "motor")
SIGNALS = {"q": "position", "v": "velocity", "a": "acceleration", "tau": "torque", "current": "current"}


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Raw signals of one run in SI units, one row for an instant; nothing has been filtered or repaired.

    ``t`` (N,), ``q`` (N, nq), ``tau`` (N, n), and ``v``, ``a``, ``current`` (N, n) where they were measured. The columns are
    in the order of the robot's coordinates, ``names``. ``side`` says whether positions and torques are those of the joints
    or of the motors; ``transmission`` then holds the matrix ``R`` and ``zero`` of q = R⁻¹ q_motor + zero, τ = Rᵀ τ_motor.
    ``epoch`` is what was taken off the times of a calendar clock, in s.

    ``source`` is the file, ``first_row`` the number of the first sample in it, counted in ``row_word`` ("line", "row",
    "message"); ``rows`` holds all the numbers where some lines of the file are no samples.

    >>> import numpy as np
    >>> from dynamis.identification.logs import Log
    >>> log = Log(t=np.arange(3) / 100, q=np.zeros((3, 1)), tau=np.ones((3, 1)), source="run.csv", first_row=2, row_word="line")
    >>> log
    <Log 'run.csv': 3 samples of 1 joint, 0.02 s at 100 Hz; q, tau>
    >>> log.where(1)
    "'run.csv' line 3"
    """

    t: Array
    q: Array
    tau: Array
    v: Array | None = None
    a: Array | None = None
    current: Array | None = None
    names: tuple[str, ...] = ()
    side: str = "joint"
    transmission: Mapping[str, Array] | None = None
    source: str = ""
    first_row: int = 0
    row_word: str = "row"
    rows: Array | None = None
    epoch: float = 0.0
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise InputError(f"side={self.side!r} is not known; choose 'joint' or 'motor'")
        for name in ("t", *SIGNALS):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.asarray(getattr(self, name), float))
        if self.t.ndim != 1:
            raise InputError(f"t has shape {self.t.shape}; it takes one time for each sample")
        for name in ("tau", *SIGNALS):
            array = getattr(self, name)
            if array is None:
                continue
            if array.ndim != 2 or len(array) != len(self.t):
                raise InputError(f"{name} has shape {array.shape}; it takes one row for each of the {len(self.t)} times")
            if name != "q" and array.shape[1] != self.tau.shape[1]:
                raise InputError(f"{name} has {array.shape[1]} columns, tau has {self.tau.shape[1]}: one for each joint")

    @property
    def n(self) -> int:
        """How many joints have torques."""
        return int(self.tau.shape[1])

    def where(self, row: int) -> str:
        """The place of a sample in its file, for messages."""
        number = int(self.rows[row]) if self.rows is not None else self.first_row + row
        return f"{printable(self.source) + ' ' if self.source else ''}{self.row_word} {number}"

    def column(self, signal: str, joint: int) -> str:
        """What the file calls a column: of signal "q", "v", "a", "tau" or "current"."""
        known = self.columns.get(signal, ())
        if joint < len(known):
            return known[joint]
        name = self.names[joint] if joint < len(self.names) and (signal != "q" or self.q.shape[1] == self.n) else str(joint + 1)
        return f"{signal}.{name}"

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, part: slice) -> Log:
        """A stretch of the run; its samples keep their places in the file."""
        if not isinstance(part, slice):
            raise InputError(f"a log is cut by slices, such as log[100:200], not by {type(part).__name__}")
        kept = range(len(self))[part]
        cut = {name: getattr(self, name)[part] for name in ("t", *SIGNALS) if getattr(self, name) is not None}
        numbers = self.rows if self.rows is not None else self.first_row + np.arange(len(self))
        rows = numbers[part] if self.rows is not None or kept.step != 1 else None
        return replace(self, **cut, rows=rows, first_row=int(numbers[kept[0]]) if len(kept) else self.first_row)

    def __repr__(self) -> str:
        whose = f" {printable(self.source)}" if self.source else ""
        known = ", ".join(name for name in SIGNALS if getattr(self, name) is not None)
        steps = np.diff(self.t)
        period = float(np.median(steps)) if len(steps) else 0.0
        time = f", {self.t[-1] - self.t[0]:.6g} s at {1.0 / period:.6g} Hz" if period > 0.0 else ""
        joints = f"{self.n} joint{'' if self.n == 1 else 's'}"
        side = "; motor side" if self.side == "motor" else ""
        return f"<Log{whose}: {len(self)} samples of {joints}{time}; {known}{side}>"

    _repr_html_ = as_table


def joined(parts: Sequence[Log]) -> Log:
    """Stretches of one log that follow each other, put together again."""
    first = parts[0]
    if len(parts) == 1:
        return first
    whole: dict[str, Any] = {
        name: np.concatenate([getattr(p, name) for p in parts]) for name in ("t", *SIGNALS) if getattr(first, name) is not None
    }
    numbers = np.concatenate([p.rows if p.rows is not None else p.first_row + np.arange(len(p)) for p in parts])
    in_a_row = bool(np.array_equal(numbers, first.first_row + np.arange(len(numbers))))
    return replace(first, **whole, rows=None if in_a_row else numbers)
