"""Raw log of a robot, times, positions, torques, and other measured signals, and findings about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, card, counted, short
from dynamis.errors import InputError, printable

Array = npt.NDArray[Any]
SIDES = ("joint", "motor")
SIGNALS = {"q": "position", "v": "velocity", "a": "acceleration", "tau": "torque", "current": "current",
           "temperature": "temperature"}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Raw signals of one run in SI units, one row per sample; neither filtered nor repaired.

    ``t`` (N,), ``q`` (N, nq), ``tau`` (N, n), and optionally ``v``, ``a``, ``current``, ``temperature`` [°C] (N, n). The
    columns are in the order of the robot's coordinates, ``names``. ``side`` is "joint" or "motor", the side of all signals not
    in ``sides``, such as {"tau": "motor"} for joint positions with motor torques; for motors, ``transmission`` holds the matrix
    ``R`` and ``zero`` of q = R⁻¹ q_motor + zero, τ = Rᵀ τ_motor. ``epoch`` is the offset subtracted from calendar times, in s.

    ``source`` is the file, ``first_row`` the number of the first sample in it, in units of ``row_word`` ("line", "row",
    "message"); ``rows`` holds all row numbers if some lines of the file are not samples. ``notes`` say how it was read.

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
    temperature: Array | None = None
    names: tuple[str, ...] = ()
    side: str = "joint"
    transmission: Mapping[str, Array] | None = None
    source: str = ""
    first_row: int = 0
    row_word: str = "row"
    rows: Array | None = None
    epoch: float = 0.0
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sides: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, side in (("side", self.side), *self.sides.items()):
            if side not in SIDES:
                raise InputError(f"{name}={side!r} is not supported; choose 'joint' or 'motor'")
        for name in ("t", *SIGNALS):
            if getattr(self, name) is None:
                continue
            try:
                object.__setattr__(self, name, np.asarray(getattr(self, name), float))
            except (TypeError, ValueError):
                raise InputError(f"{name} must be an array of numbers, one row per sample") from None
        if self.t.ndim != 1:
            raise InputError(f"t has shape {self.t.shape}; expected one time per sample")
        for name in ("tau", *SIGNALS):
            array = getattr(self, name)
            if array is None:
                continue
            if array.ndim != 2 or len(array) != len(self.t):
                raise InputError(f"{name} has shape {array.shape}; expected one row for each of the {len(self.t)} times")
            if name != "q" and array.shape[1] != self.tau.shape[1]:
                raise InputError(
                    f"{name} has {counted(array.shape[1], 'column')}, but tau has {self.tau.shape[1]}; they must be equal"
                )

    def with_time_scale(self, factor: float) -> Log:
        """Return the log with its times multiplied by a factor."""
        return self if factor == 1.0 else replace(self, t=self.t * checked_time_scale(factor))

    @property
    def n(self) -> int:
        """The number of joints with torques."""
        return int(self.tau.shape[1])

    @property
    def numbers(self) -> Array:
        """The row numbers (N,) of the samples in the file."""
        return self.first_row + np.arange(len(self)) if self.rows is None else self.rows

    def side_of(self, signal: str) -> str:
        """Return "joint" or "motor", the side of a signal "q", "v", "a" or "tau"."""
        return self.sides.get(signal, self.side)

    def where(self, row: int) -> str:
        """Return the location of a sample in its file, for messages."""
        return f"{printable(self.source) + ' ' if self.source else ''}{self.row_word} {self.numbers[row]}"

    def column(self, signal: str, joint: int) -> str:
        """Return the column name in the file, for a signal "q", "v", "a", "tau", "current" or "temperature"."""
        known = self.columns.get(signal, ())
        if joint < len(known):
            return known[joint]
        name = self.names[joint] if joint < len(self.names) and (signal != "q" or self.q.shape[1] == self.n) else str(joint + 1)
        return f"{signal}.{name}"

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, part: slice) -> Log:
        """Return a slice of the run; samples keep their row numbers in the file."""
        if not isinstance(part, slice):
            raise InputError(f"a log is indexed by slices, such as log[100:200], not by {type(part).__name__}")
        kept = range(len(self))[part]
        cut = {name: getattr(self, name)[part] for name in ("t", *SIGNALS) if getattr(self, name) is not None}
        rows = self.numbers[part] if self.rows is not None or kept.step != 1 else None
        return replace(self, **cut, rows=rows, first_row=int(self.numbers[kept[0]]) if len(kept) else self.first_row)

    def __repr__(self) -> str:
        whose = f" {printable(self.source)}" if self.source else ""
        known = ", ".join(name for name in SIGNALS if getattr(self, name) is not None)
        return f"<Log{whose}: {self._size()}; {known}{self._motor_side()}>"

    def _motor_side(self) -> str:
        """The signals of the motors, for the representation."""
        known = [name for name in ("q", "v", "a", "tau") if getattr(self, name) is not None]
        motors = [name for name in known if self.side_of(name) == "motor"]
        every = all(self.side_of(name) == "motor" for name in ("q", "tau"))
        return "; motor side" if every else f"; motor side: {', '.join(motors)}" if motors else ""

    def _size(self) -> str:
        """Samples, joints, duration and sampling rate."""
        steps = np.diff(self.t)
        period = float(np.median(steps)) if len(steps) else 0.0
        time = f", {self.t[-1] - self.t[0]:.6g} s at {1.0 / period:.6g} Hz" if period > 0.0 else ""
        return f"{counted(len(self), 'sample')} of {counted(self.n, 'joint')}{time}"

    def _repr_html_(self) -> str:
        """A row for each column: the joint, the name in the file, and the range of its values in SI units."""
        rows = []
        for signal, what in SIGNALS.items():
            values = getattr(self, signal)
            for k in range(0 if values is None else values.shape[1]):
                joint = self.names[k] if k < len(self.names) and values.shape[1] == self.n else str(k + 1)
                finite = values[np.isfinite(values[:, k]), k]
                ends = (f"{x:.4g}" for x in (finite.min(), finite.max())) if len(finite) else ("–", "–")
                rows.append((what, joint, self.column(signal, k), *ends))
        sentences = [self._size(), *self.notes, *([self._motor_side().removeprefix("; ")] if self._motor_side() else [])]
        heads = ("signal", "joint", "column", "min", "max")
        return card(f"Log {self.source}".strip(), sentences, heads, rows)


def checked_time_scale(factor: float) -> float:
    """Return the factor of the logged times, if it is one."""
    if not 0.0 < factor < np.inf:
        raise InputError(f"time_scale={factor!r} must be a factor of the times above zero")
    return float(factor)


def joined(parts: Sequence[Log]) -> Log:
    """Concatenate consecutive slices of one log."""
    first = parts[0]
    if len(parts) == 1:
        return first
    whole: dict[str, Any] = {
        name: np.concatenate([getattr(p, name) for p in parts]) for name in ("t", *SIGNALS) if getattr(first, name) is not None
    }
    numbers = np.concatenate([p.numbers for p in parts])
    in_a_row = bool(np.array_equal(numbers, first.first_row + np.arange(len(numbers))))
    return replace(first, **whole, rows=None if in_a_row else numbers)


# kinds of problems that a log has in many columns for one cause
BY_COLUMN = ("beyond effort limit", "constant", "degrees", "flat torque", "motor side", "wrapped")


@dataclass(frozen=True, repr=False)
class LogFinding:
    """One problem. An "error" makes the log unusable as it is; a "warning" does not.

    ``code`` is a short name of the kind; ``column`` is the column name in the file, None for all columns; ``row`` is a sample
    index from 0, None for the whole log. ``mends`` means that `prepare` repairs it: it is an error only for direct use of the
    log. ``caps`` is the number of the best grade, in the order "good", "usable", "doubtful", "not usable", of a result obtained
    in spite of it. ``zero`` are the positions to add to those of the joints, for zeros that are off, ``delay`` the seconds by
    which torques are late, ``delays`` those of each joint, ``drift`` the slopes of their torques [N m/s], ``time_scale`` the
    factor of the times, ``factors`` those of the torques of the joints, ``positions`` those of their positions, ``order`` the
    correct one of the joints' columns,
    ``signs`` the factors ±1 of positions and torques, ``coupled`` two joints A, B, of which the motor of B turns with both,
    ``balanced`` the joints with balancers that the file lacks, each with its harmonics, ``change`` what changes during the log
    (`changes.Change`).
    """

    severity: str
    code: str
    column: str | None
    row: int | None
    text: str
    cure: str
    mends: bool = False
    caps: int = 0
    zero: tuple[float, ...] = ()
    delay: float = 0.0
    factors: tuple[float, ...] = ()
    positions: tuple[float, ...] = ()
    order: tuple[int, ...] = ()
    signs: tuple[float, ...] = ()
    time_scale: float = 1.0
    coupled: tuple[int, ...] = ()
    delays: tuple[float, ...] = ()
    drift: tuple[float, ...] = ()
    balanced: tuple[tuple[str, int], ...] = ()
    change: Any = None

    @property
    def of_joints(self) -> Any:
        """The joints whose torques it changes without those of others."""
        if self.change is not None:
            return np.flatnonzero(np.arange(self.change.base.model.robot.n) == self.change.joint)
        return np.flatnonzero(self.delays or self.drift)

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}; {self.cure}"

    def __repr__(self) -> str:
        return short(f"<LogFinding {self}>")

    _repr_html_ = as_text


def raise_errors(findings: Iterable[LogFinding]) -> None:
    """Raise an `InputError` that lists the errors among findings; warnings are ignored.

    >>> raise_errors([LogFinding("warning", "constant", "q.elbow", None, "elbow does not move", "move it")])
    """
    errors = one_per_cause(finding for finding in findings if finding.severity == "error")
    if errors:
        lines = [f"{finding.text}; {finding.cure}" for finding in errors]
        raise InputError(
            "the log cannot be used: " + lines[0] if len(lines) == 1 else "the log cannot be used:\n- " + "\n- ".join(lines)
        )


def one_per_cause(findings: Iterable[LogFinding]) -> list[LogFinding]:
    """Return findings with those of one kind in several columns as one, which names the other columns.

    >>> found = [LogFinding("error", "degrees", f"q{k}", 0, f"q{k} is in degrees", "convert it") for k in (1, 2, 3)]
    >>> print(*one_per_cause(found))
    error: q1 is in degrees, likewise columns 'q2' and 'q3'; convert it
    """
    alike: dict[Any, list[LogFinding]] = {}
    for k, finding in enumerate(findings):
        own = finding.code in BY_COLUMN and finding.column is not None
        alike.setdefault((finding.code, finding.severity, finding.mends) if own else k, []).append(finding)
    found = []
    for first, *others in alike.values():
        names = " and ".join(", ".join(printable(str(f.column)) for f in part) for part in (others[:-1], others[-1:]) if part)
        more = f", likewise column{'s' if len(others) > 1 else ''} {names}" if others else ""
        found.append(replace(first, text=f"{first.text}{more}"))
    return found
