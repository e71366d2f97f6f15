"""Samples for identification: positions, velocities, accelerations and torques at the same instants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError, printable

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Samples:
    """One uninterrupted run at a constant sampling period.

    ``use`` (N, n) is a mask of the torques to use: leave out a joint that hardly moves, since its Coulomb friction is then
    unknown. ``parallel`` is the cut-off frequency in Hz of a low-pass filter applied to both regressor and torque, of which
    every ``every``-th row is kept; with ``smooth_torque`` the logged torque was already filtered, and only the regressor is.
    ``period`` is None for unrelated instants.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    use: Array
    period: float | None = None
    parallel: float | None = None
    every: int = 1
    smooth_torque: bool = False
    source: str = ""

    @classmethod
    def of(
        cls,
        q: Any,
        v: Any,
        a: Any,
        tau: Any,
        *,
        t: Any = None,
        use: Any = None,
        period: float | None = None,
        parallel: float | None = None,
        every: int = 1,
        smooth_torque: bool = False,
        source: str = "",
    ) -> Samples:
        """Return samples from arrays with one row per instant; all values must be finite.

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("ur5e")
        >>> rng = np.random.default_rng(0)
        >>> q, v, a = rng.normal(size=(3, 100, 6))
        >>> len(dy.identification.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a), period=0.01))
        100
        """
        whose = f" of {printable(source)}" if source else ""
        arrays = {}
        for name, value in (("q", q), ("v", v), ("a", a), ("tau", tau)):
            array = np.asarray(value, float)
            if array.ndim != 2:
                raise InputError(
                    f"{name}{whose} has shape {array.shape}; expected one row per instant and one column per joint"
                )
            if len(bad := not_finite(array)):
                (row, column), count = bad[0], len(bad)
                found = array[row, column]
                raise InputError(
                    f"{name}[{row}, {column}]{whose} is {found} ({count} such values): leave these rows out or repair them"
                )
            arrays[name] = array
        count, joints = arrays["tau"].shape
        for name, array in arrays.items():
            if len(array) != count:
                raise InputError(f"{name}{whose} has {len(array)} rows, but tau has {count}; they must be equal")
            if name != "q" and array.shape[1] != joints:
                raise InputError(f"{name}{whose} has {array.shape[1]} columns, but tau has {joints}; expected one per joint")
        if period is not None and not 0.0 < period < np.inf:
            raise InputError(f"the sampling period{whose} must be above zero, got {period!r} s")
        if every < 1 or int(every) != every:
            raise InputError(f"every{whose} must be an integer ≥ 1 (one of every `every` filtered rows is kept), got {every!r}")
        if parallel is not None and period is None:
            raise InputError("a low-pass filter needs the sampling period: pass period=")
        times = np.arange(count) * (period or 1.0) if t is None else np.asarray(t, float)
        if times.shape != (count,):
            raise InputError(f"t{whose} has shape {times.shape}; expected one time for each of the {count} rows")
        if not np.isfinite(times).all():
            row = int(np.flatnonzero(~np.isfinite(times))[0])
            raise InputError(f"t[{row}]{whose} is {times[row]}: leave this row out or repair it")
        used = np.ones((count, joints), bool) if use is None else np.asarray(use, bool)
        if used.shape != (count, joints):
            raise InputError(f"use{whose} has shape {used.shape}; expected one boolean per torque, {(count, joints)}")
        return cls(
            times, **arrays, use=used, period=period, parallel=parallel, every=int(every), smooth_torque=smooth_torque,
            source=source,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, rows: slice) -> Samples:
        """Return a slice of the run."""
        if not isinstance(rows, slice):
            raise InputError(f"samples are indexed by slices, such as samples[100:200], not by {type(rows).__name__}")
        cut = {f.name: getattr(self, f.name)[rows] for f in fields(self) if isinstance(getattr(self, f.name), np.ndarray)}
        step = abs(rows.step or 1)
        return replace(self, **cut, period=self.period if self.period is None else self.period * step)

    def __repr__(self) -> str:
        rate = "" if self.period is None else f" at {1.0 / self.period:g} Hz"
        whose = f" of {printable(self.source)}" if self.source else ""
        return f"<Samples{whose}: {len(self)} samples of {self.tau.shape[1]} joints{rate}>"

    _repr_html_ = as_table


def not_finite(x: Array) -> Array:
    """Return the indices (count, axes) of non-finite values; the sum is a fast check for the usual case of none."""
    with np.errstate(over="ignore", invalid="ignore"):
        fine = bool(np.isfinite(x.sum()))
    return np.empty((0, x.ndim), int) if fine else np.argwhere(~np.isfinite(x))


def as_runs(samples: Samples | Sequence[Samples]) -> list[Samples]:
    """Return one or several runs as a list."""
    runs = [samples] if isinstance(samples, Samples) else list(samples)
    for run in runs:
        if not isinstance(run, Samples):
            raise InputError(f"samples must be Samples or a list of Samples, got {type(run).__name__}")
    if not runs:
        raise InputError("no samples given")
    return runs
