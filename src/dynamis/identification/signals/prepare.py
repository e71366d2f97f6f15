"""From a log to samples: clock, spikes, transmission, derivatives, and selection of rows, in this order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text
from dynamis.errors import InputError, printable
from dynamis.identification.samples import Samples
from dynamis.identification.signals.filters import check_cutoff, low_pass
from dynamis.identification.signals.measured import Measured
from dynamis.identification.signals.sampling_clock import GAP, repair
from dynamis.identification.signals.stages import (
    HELD,
    SHORTEST,
    at_rest,
    found_cutoff,
    kept_rows,
    motion,
    on_the_clock,
    without_lost_stretches,
)
from dynamis.robot import Robot

Array = npt.NDArray[Any]

ROWS = 5.0  # kept per period of the parallel low-pass


@dataclass(frozen=True, eq=False, repr=False)
class Prepared(Sequence[Samples]):
    """The uninterrupted runs of a log, a list of `Samples`, and ``notes`` on the processing."""

    samples: list[Samples]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, k: Any) -> Any:
        return self.samples[k]

    def __iter__(self) -> Iterator[Samples]:
        return iter(self.samples)

    def __str__(self) -> str:
        return "\n".join([*map(repr, self.samples), *self.notes])

    def __repr__(self) -> str:
        return f"<Prepared: {len(self)} run{'s' if len(self) != 1 else ''}, {sum(map(len, self.samples))} samples>"

    _repr_html_ = as_text


def prepare(
    log: Any,
    robot: Robot,
    *,
    cutoff: float | None = None,
    derivative: str = "central",
    logged: Sequence[str] = (),
    parallel: float | None = None,
    every: int | None = None,
    smooth_torque: bool = False,
    slow: Any = None,
    outliers: bool = True,
    transmission: Any = None,
    drive_gains: Any = None,
    period: float | None = None,
    gap: float = GAP,
    jitter: str = "stamps",
    trim: float | None = None,
    rest: str = "keep",
    held: float = HELD,
    options: dict[str, Any] | None = None,
) -> Prepared:
    """Prepare a log for identification, with one `Samples` for each uninterrupted run.

    ``cutoff`` [Hz] and ``derivative`` (with its ``options``) select the differentiation of positions, see `derivatives`; the
    default cut-off is that of `suggest_cutoff`. ``logged`` lists those of ("v", "a") taken from the log instead. ``parallel``
    [Hz] is the cut-off of a low-pass filter applied to both regressor and torque in the equations; one in ``every`` of its rows
    is kept, by default about five per period; ``smooth_torque`` means that the logged torque was already filtered. Rows of a
    joint slower than ``slow`` [rad/s], one value or one per joint, after the parallel filter are not used. ``outliers`` enables
    spike removal. ``transmission`` maps motors to joints, ``drive_gains`` currents to torques. ``period``, ``gap`` and
    ``jitter`` are those of `repair`. ``trim`` [s] is removed at the ends of each run, by default one period of the cut-off,
    where filters have not settled. ``rest="drop"`` removes the time at rest before and after the motion. A joint that moves
    less than ``held`` [rad or m] in a run is taken to be at rest: the sign of its velocity noise would affect friction.

    >>> import dynamis as dy
    >>> from types import SimpleNamespace
    >>> robot, t = dy.load("planar_2r_melchiorri"), np.arange(2000) * 0.002
    >>> q = np.sin(np.outer(t, [2.0, 3.0]))
    >>> log = SimpleNamespace(t=t, q=q, tau=np.zeros_like(q))
    >>> ready = prepare(log, robot, cutoff=20.0)
    >>> len(ready), bool(np.abs(ready[0].v - [2.0, 3.0] * np.cos(np.outer(ready[0].t, [2.0, 3.0]))).max() < 1e-3)
    (1, True)
    """
    if rest not in ("keep", "drop"):
        raise InputError(f"rest={rest!r} is not supported; choose 'keep' or 'drop'")
    if trim is not None and not trim >= 0.0:
        raise InputError(f"trim={trim!r} must be a time in s, zero or more")
    if every is not None and not every >= 1:
        raise InputError(f"every={every!r} must be an integer number of rows, 1 or more")
    raw = Measured.of(log, robot, transmission, drive_gains)
    logged = _taken_from_the_log(raw, robot, logged)
    notes: list[str] = []
    stamps = without_lost_stretches(raw.t, raw.q, gap, notes)
    clock = repair(stamps, period=period, gap=gap, jitter=jitter, repeats=raw.repeats)
    notes += clock.notes
    if parallel is not None:
        check_cutoff(clock.period, parallel, "the parallel low-pass")
        every = rows_kept(clock.period, parallel) if every is None else every
    runs = [on_the_clock(raw, run, robot, logged, outliers, notes) for run in clock.runs if len(run.rows) >= SHORTEST]
    if cutoff is not None:
        check_cutoff(clock.period, cutoff)
    elif runs and "a" not in logged:
        cutoff = found_cutoff(runs, clock.period, robot, notes)
    edge = (0.0 if cutoff is None else 1.0 / cutoff) if trim is None else trim
    slowest = np.zeros(robot.n) if slow is None else _speeds(slow, robot)
    samples = []
    for run in runs:
        q, v, a = motion(run, clock.period, derivative, cutoff, options or {})
        if robot.nq == robot.n:
            v, a = at_rest(run.q, v, a, held, robot, notes)
        rows = kept_rows(v, int(np.ceil(edge / clock.period - 1e-9)), rest == "drop", notes)
        if rows is not None:
            # after the parallel filter, a short fast segment is as slow as its neighbourhood
            speed = v if parallel is None or slow is None else low_pass(v, clock.period, parallel)
            use = run.use & (np.abs(speed) >= slowest)
            cut: dict[str, Any] = {"t": run.t[rows], "use": use[rows], "period": clock.period, "source": raw.source}
            arrays = (x[rows] for x in (q, v, a, run.tau))
            samples.append(Samples.of(*arrays, **cut, parallel=parallel, every=every or 1, smooth_torque=smooth_torque))
    left_out = len(clock.runs) - len(samples)
    if left_out:
        notes.append(f"{left_out} of {len(clock.runs)} runs dropped: too short for the filters, or without motion")
    if not samples:
        raise InputError(f"no run of the log is long enough to be used ({'; '.join(notes)})")
    return Prepared(samples, tuple(notes))


def rows_kept(period: float, parallel: float) -> int:
    """Return the decimation of the parallel low-pass: about five rows per period of its cut-off."""
    return max(1, int(1.0 / (period * ROWS * parallel)))


def _taken_from_the_log(raw: Measured, robot: Robot, logged: Sequence[str]) -> tuple[str, ...]:
    """Return which of v and a are not derived from q."""
    names = (logged,) if isinstance(logged, str) else tuple(logged)
    if robot.nq > robot.n:
        if raw.v is None or raw.a is None:
            raise InputError(
                f"robot {printable(robot.name)} has joints with quaternions, whose velocities are not derivatives of "
                "columns of q: the log must contain v and a"
            )
        return "v", "a"
    for name in names:
        if name not in ("v", "a"):
            raise InputError(f"logged= takes 'v' and 'a', got {name!r}")
        if getattr(raw, name) is None:
            raise InputError(f"logged= contains {name!r}, which is not in the log")
    return names


def _speeds(slow: Any, robot: Robot) -> Array:
    speeds = np.asarray(slow, dtype=float)
    if speeds.shape not in ((), (robot.n,)) or not (speeds >= 0.0).all():
        raise InputError(f"slow= takes one speed ≥ 0, or one for each of the {robot.n} joints; got {slow!r}")
    return speeds
