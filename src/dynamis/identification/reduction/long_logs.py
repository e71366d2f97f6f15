"""Logs larger than memory, and folders of logs: read in chunks, prepared in windows, reduced to normal equations.

A window is prepared with a margin on either side, as wide as the filter's memory, which is then dropped: the result equals
that of the whole log. Windows are at fixed positions in the log, so the chunk size has no effect.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.logs.log import SIGNALS, Log, joined
from dynamis.identification.logs.reading import log_chunks
from dynamis.identification.reduction.normal_equations import NormalEquations, Stream, merge
from dynamis.identification.samples import Samples, not_finite
from dynamis.identification.signals.filters import margin
from dynamis.identification.signals.measured import Measured
from dynamis.identification.signals.prepare import prepare, rows_kept
from dynamis.robot import Robot

WINDOW = 131_072  # samples
LOOKED_AT = 1000  # samples at the beginning, for the sampling period
UNEVEN = 0.5  # periods: a larger deviation from an even clock is a gap
PathLike = str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class LongLog:
    """Settings for reading long logs: the ``mapping`` of their columns, and the arguments of `prepare`.

    ``cutoff`` is required unless velocities and accelerations are ``logged``: it cannot be chosen from one window.
    """

    mapping: Any = None
    cutoff: float | None = None
    logged: Sequence[str] = ()
    parallel: float | None = None
    every: int | None = None
    smooth_torque: bool = False
    slow: Any = None
    transmission: Any = None
    exact: bool = False
    size: int = 65_536
    options: dict[str, Any] = field(default_factory=dict)

    def samples(self, path: PathLike, robot: Robot) -> Iterator[Samples]:
        """Yield the prepared samples of a log of one uninterrupted run, window by window."""
        if self.cutoff is None and set(self.logged) != {"v", "a"}:
            raise InputError("a long log needs cutoff= in Hz, or logged=('v', 'a') if it contains velocities and accelerations")
        chunks = log_chunks(path, robot, self.mapping, self.size)
        if self.cutoff is None:
            for log, period in _on_even_clock(chunks):
                yield self._as_logged(log, robot, period)
            return
        for log, before, after, period in _windows(chunks, self._margin):
            ready = prepare(
                log, robot, cutoff=self.cutoff, logged=self.logged, parallel=self.parallel, every=self._every(period),
                slow=self.slow,
                smooth_torque=self.smooth_torque, transmission=self.transmission, trim=0.0, outliers=False, held=0.0,
                period=period, **self.options,
            )  # fmt: skip
            if len(ready) != 1 or len(ready[0]) != len(log):
                raise InputError(
                    f"{printable(str(path))}: a long log must be one run without gaps; split it into files at its gaps"
                )
            # filters have not settled at the beginning and the end of the log, where there is no adjacent window
            edge = int(np.ceil(1.0 / (self.cutoff * period) - 1e-9))
            inside = slice(before or edge, len(log) - (after or edge))
            if len(log) <= 2 * edge:
                raise InputError(f"{printable(str(path))} is too short for a cut-off of {self.cutoff:g} Hz: {len(log)} samples")
            yield ready[0][inside]

    def _as_logged(self, log: Log, robot: Robot, period: float) -> Samples:
        """Yield logged signals: nothing is differentiated, so no margin is needed."""
        raw = Measured.of(log, robot, self.transmission, None)
        if raw.v is None or raw.a is None:
            raise InputError(
                f"{printable(raw.source)} has no velocities or no accelerations: pass cutoff= in Hz to derive them"
            )
        q, v, a, tau = (raw.at_joints(name, getattr(raw, name)) for name in ("q", "v", "a", "tau"))
        use = None if self.slow is None else np.abs(v) >= self.slow
        return Samples.of(
            q, v, a, tau, t=raw.t, use=use, period=period, parallel=self.parallel, every=self._every(period),
            smooth_torque=self.smooth_torque, source=raw.source,
        )  # fmt: skip

    def _every(self, period: float) -> int:
        if self.every is not None or self.parallel is None:
            return self.every or 1
        return rows_kept(period, self.parallel)

    def _margin(self, period: float) -> int:
        assert self.cutoff is not None
        wide = 3 * margin(period, self.cutoff) // 2  # differentiation amplifies transients
        if self.slow is not None and self.parallel is not None:
            wide += margin(period, self.parallel)  # low velocities are detected after this filter
        return wide

    def normal_equations(
        self, base: BaseParameters, path: PathLike, progress: Callable[[int], None] | None = None
    ) -> NormalEquations:
        """Reduce a log to normal equations, in constant memory."""
        stream = Stream(base, self.exact)
        done = 0
        for piece in self.samples(path, base.model.robot):
            stream.take(piece)
            done += len(piece)
            if progress is not None:
                progress(done)
        return stream.finish()

    __repr__ = as_call
    _repr_html_ = as_table


def normal_equations_of_logs(
    base: BaseParameters,
    paths: PathLike | Iterable[PathLike],
    reading: LongLog | None = None,
    *,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> NormalEquations:
    """Reduce several logs to normal equations, merged; with the address of a Dask ``scheduler``, on its workers.

    Logs are merged in the order of ``paths``, so the result does not depend on the workers.
    """
    reading = reading or LongLog()
    files = [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    if not files:
        raise InputError("no logs given")
    found: list[NormalEquations] = []
    with _workers(scheduler) as executor:
        if executor is None:
            results: Iterator[NormalEquations] = (reading.normal_equations(base, path) for path in files)
        else:
            robot = base.model.robot
            settings = base.model.settings
            futures = [
                executor.submit(_remote, robot.description, settings, base.independent, reading, str(path)) for path in files
            ]
            results = (future.result() for future in futures)
        for part in results:
            found.append(part)
            if progress is not None:
                progress(len(found), len(files))
    return merge(found)


def _remote(description: Any, settings: dict[str, Any], independent: Any, reading: LongLog, path: str) -> NormalEquations:
    base = base_parameters(LinearModel(Robot(description), **settings))
    if not np.array_equal(base.independent, independent):
        raise InputError("a worker has computed other base parameters: it runs another version of Dynamis")
    return reading.normal_equations(base, path)


@contextlib.contextmanager
def _workers(scheduler: str | None) -> Iterator[Executor | None]:
    if scheduler is None:
        yield None
        return
    from dynamis.sweeps.workers import dask_crew

    with dask_crew(scheduler) as crew:
        yield crew.executor


def _on_even_clock(chunks: Iterator[Log]) -> Iterator[tuple[Log, float]]:
    period, zero, start, last = 0.0, 0.0, 0, None
    for chunk in _long_enough(chunks):
        if not period:
            period, zero = _period_of(chunk), float(chunk.t[0])
        elif last is not None and abs(chunk.t[0] - last - period) > UNEVEN * period:
            raise InputError(_gap(chunk, 0, float(chunk.t[0] - last), period))
        yield _even(chunk, zero, period, start), period
        start, last = start + len(chunk), float(chunk.t[-1])


def _long_enough(chunks: Iterator[Log]) -> Iterator[Log]:
    """Yield the same chunks, the first of them long enough to estimate the period."""
    first: list[Log] = []
    for chunk in chunks:
        first.append(chunk)
        if sum(map(len, first)) >= LOOKED_AT:
            break
    if first:
        yield joined(first)
    yield from chunks


def _period_of(log: Log) -> float:
    """Return the period: the mean of the first steps that are close to their median."""
    if len(log) < 2:
        raise InputError(f"{log.where(0)}: the log has only one sample")
    steps = np.diff(log.t[:LOOKED_AT])
    usual = float(np.median(steps))
    if not usual > 0.0:
        raise InputError(f"{log.where(1)}: times are not increasing")
    uneven = np.flatnonzero(np.abs(steps - usual) > UNEVEN * usual)
    even = steps[: uneven[0]] if len(uneven) else steps
    return float(even.mean()) if len(even) else usual


def _windows(chunks: Iterator[Log], margin_of: Callable[[float], int]) -> Iterator[tuple[Log, int, int, float]]:
    """Yield (log, before, after, period): windows at fixed positions with their margins, on an even clock."""
    held: list[Log] = []
    count, start, period, wide, zero = 0, 0, 0.0, 0, 0.0
    for chunk in _long_enough(chunks):
        held.append(chunk)
        count += len(chunk)
        if not period and count > 1:
            whole = joined(held)
            period, zero = _period_of(whole), float(whole.t[0])
            wide = margin_of(period)
        while period and count >= min(start, wide) + WINDOW + wide:
            whole = joined(held)
            before = min(start, wide)
            yield _even(whole[: before + WINDOW + wide], zero, period, start - before), before, wide, period
            start += WINDOW
            keep = min(start, wide)
            held = [whole[before + WINDOW - keep :]]
            count = len(held[0])
    whole = joined(held)
    before = min(start, wide)
    if len(whole) > before:
        yield _even(whole, zero, period, start - before), before, 0, period


def _even(log: Log, zero: float, period: float, first: int) -> Log:
    """Return the samples at times without jitter; an error names the first gap or non-finite number."""
    for name in SIGNALS:
        values = getattr(log, name)
        if values is not None and len(bad := not_finite(values)):
            at, joint = map(int, bad[0])
            column = printable(log.column(name, joint))
            raise InputError(f"column {column} is {values[at, joint]} at {log.where(at)}; remove it, and split the log there")
    even = zero + period * (first + np.arange(len(log)))
    steps = np.diff(log.t)
    gaps = np.flatnonzero(np.abs(steps - period) > UNEVEN * period)
    if len(gaps):
        at = int(gaps[0]) + 1
        raise InputError(_gap(log, at, float(steps[at - 1]), period))
    return replace(log, t=even)


def _gap(log: Log, at: int, step: float, period: float) -> str:
    apart = f"{step:.6g} s after the previous sample, but the sampling period is {period:.6g} s"
    return f"{log.where(at)}: {apart}; split the log there"
