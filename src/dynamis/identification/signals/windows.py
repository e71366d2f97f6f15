"""Logs longer than memory: prepared in windows, with the samples kept in a temporary file.

The first window determines the period, the cut-off frequencies and the limit of slow rows. Every window is prepared with a
margin on either side as wide as the memory of the filters, which is then dropped: the samples are those of the whole log.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.identification.logs.log import Log, joined
from dynamis.identification.samples import Decimation, Samples
from dynamis.identification.signals.filters import margin
from dynamis.identification.signals.prepare import Prepared, outside_notes, overlapping, prepare, time_spans
from dynamis.identification.signals.stages import SHORTEST
from dynamis.robot import Robot

Array = npt.NDArray[Any]

WINDOW = 262_144  # samples: longer logs are prepared in windows
ARRAYS = ("t", "q", "v", "a", "tau", "use", "temperature")  # of `Samples`
MOST_NOTES = 20  # on windows after the first


def prepare_in_windows(first: Log, others: Iterable[Log], robot: Robot, **signals: Any) -> Prepared:
    """Prepare a log that is given in pieces, with the arguments of `prepare`: ``first`` has at least one window of samples."""
    scale = signals.pop("time_scale", 1.0)
    first, others = first.with_time_scale(scale), (log.with_time_scale(scale) for log in others)
    spans = time_spans(signals.pop("leave_out", ()))
    ready = prepare(first, robot, leave_out=spans[overlapping(spans, first.t)], **signals)
    chosen = ready.settings
    period, cutoff, parallel = chosen["period"], chosen["cutoff"], chosen["parallel"]
    wide = 0 if cutoff is None else 3 * margin(period, cutoff) // 2  # differentiation amplifies transients
    if parallel and np.any(chosen["slow"]):
        wide += margin(period, parallel)  # low velocities are detected after this filter
    with Spool() as spool:
        notes = _fill(spool, itertools.chain([first], others), max(wide, SHORTEST), ready, robot, signals, spans)
        runs = [
            run
            for run in spool.runs()
            if len(run) >= SHORTEST and Decimation(run.period, run.parallel, run.every).rows(len(run)) > 0
        ]
    if not runs:
        raise InputError(f"no run of {printable(first.source)} is long enough to be used ({'; '.join(notes[:MOST_NOTES])})")
    more = [f"{counted(len(notes) - MOST_NOTES, 'further note')} on later parts of the log"] if len(notes) > MOST_NOTES else []
    return Prepared(runs, (*ready.notes, *notes[:MOST_NOTES], *more), chosen)


def _fill(
    spool: Spool, logs: Iterable[Log], wide: int, ready: Prepared, robot: Robot, signals: dict[str, Any], spans: Array
) -> list[str]:
    """Write the samples of all windows, prepared with the settings of the first, and return notes on them."""
    chosen, notes, last = ready.settings, list[str](), -1.0
    zero: float | None = None
    ends: list[float] = []  # of the windows
    for log, after in _windows(logs, wide):
        stamps = log.t[np.isfinite(log.t)]
        zero = float(stamps[0]) if zero is None and len(stamps) else zero
        if zero is None:
            continue
        ends += [stamps.min(), stamps.max()] if len(stamps) else []
        own = {"parallel": chosen["parallel"] or 0.0, "rest": "keep", "leave_out": spans[overlapping(spans, stamps)]}
        try:
            parts = prepare(log, robot, **{**signals, **chosen, **own})
        except InputError as error:
            notes.append(f"from {log.t[0]:.6g} s: {error}")
            continue
        notes += [f"from {log.t[0]:.6g} s: {note}" for note in parts.notes if note not in ready.notes]
        beyond = log.t[len(log) - after :]
        beyond = beyond[np.isfinite(beyond)]
        end = _tick(beyond[0], zero, chosen["period"]) if after and len(beyond) else np.inf
        for run in parts:
            ticks = _tick(run.t, zero, chosen["period"])
            kept = np.flatnonzero((ticks > last) & (ticks < end))
            if len(kept):
                spool.write(run[kept[0] : kept[-1] + 1], begins=bool(ticks[kept[0]] != last + 1.0))
                last = float(ticks[kept[-1]])
    return [*outside_notes(spans, np.array(ends)), *notes]


def _tick(t: Any, zero: float, period: float) -> Any:
    """Return the number of periods since the beginning of the log."""
    return np.rint((np.asarray(t) - zero) / period)


def _windows(logs: Iterable[Log], wide: int) -> Iterator[tuple[Log, int]]:
    """Yield windows at fixed positions with a margin on either side, and the length of the margin after each."""
    held: list[Log] = []
    start = 0
    for log in logs:
        held.append(log)
        while sum(map(len, held)) >= min(start, wide) + WINDOW + wide:
            whole = joined(held)
            before = min(start, wide)
            yield whole[: before + WINDOW + wide], wide
            start += WINDOW
            held = [whole[before + WINDOW - min(start, wide) :]]
    if sum(map(len, held)) > min(start, wide):
        yield joined(held), 0


class Spool:
    """Samples in temporary files, one for each signal, which are read through memory maps and removed with these."""

    def __init__(self) -> None:
        self.files = {name: tempfile.TemporaryFile(prefix="dynamis-") for name in ARRAYS}  # noqa: SIM115 - closed in __exit__
        self.count = 0
        self.edges: list[int] = []  # where runs begin
        self._like: Samples | None = None

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self.files.values():
            file.close()

    def write(self, samples: Samples, begins: bool) -> None:
        """Add samples, which begin a run or continue the last one."""
        self._like = samples
        if begins or not self.edges:
            self.edges.append(self.count)
        if samples.temperature is None and (unused := self.files.pop("temperature", None)):  # in no part, if not in all
            unused.close()
        for name, file in self.files.items():
            try:
                file.write(np.ascontiguousarray(getattr(samples, name)).tobytes())
            except OSError as error:
                raise InputError(
                    f"the prepared samples do not fit into the folder for temporary files, {tempfile.gettempdir()} ({error}); "
                    "set TMPDIR to another folder"
                ) from error
        self.count += len(samples)

    def runs(self) -> list[Samples]:
        """Return the samples, run by run."""
        like = self._like
        if like is None:
            return []
        maps = {}
        for name, file in self.files.items():
            file.flush()
            array = getattr(like, name)
            maps[name] = np.memmap(file, array.dtype, "r", shape=(self.count, *array.shape[1:]))
        found = []
        for low, high in itertools.pairwise([*self.edges, self.count]):
            part: dict[str, Any] = {name: x[low:high] for name, x in maps.items()}
            found.append(replace(like, **{"temperature": None} | part))
        return found
