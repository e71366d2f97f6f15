"""The equations of a log, y = X β: one row per joint and sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.decimation import Decimation
from dynamis.identification.linear_model import Past
from dynamis.identification.samples import Samples, as_runs

Array = npt.NDArray[Any]
CHUNK = 8192  # samples whose regressor is computed at once: more would only need memory


@dataclass(frozen=True, eq=False, repr=False)
class Equations:
    """X (rows, parameters) and y (rows,); the ``joint``, time ``t``, ``run`` and joint velocity ``v`` of each row.

    ``names`` are the parameter names, ``joints`` the joint names.
    """

    X: Array
    y: Array
    joint: Array
    t: Array
    run: Array
    v: Array
    names: tuple[str, ...]
    joints: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.y)

    def select(self, rows: Any) -> Equations:
        """Return the rows selected by a mask or by indices."""
        picked = {f.name: getattr(self, f.name)[rows] for f in fields(self) if isinstance(getattr(self, f.name), np.ndarray)}
        return replace(self, **picked)

    def blocks(self, seconds: float) -> Array:
        """Return the index of the time block of each row; blocks of successive runs are numbered consecutively."""
        if not seconds > 0.0:
            raise InputError(f"the block duration must be positive, got {seconds!r} s")
        number = np.zeros(len(self), int)
        next_block = 0
        for run in np.unique(self.run):
            rows = self.run == run
            start = self.t[rows].min()
            # epsilon against rounding: a row must not fall into the block before its own
            number[rows] = next_block + np.floor((self.t[rows] - start) / seconds + 1e-9).astype(int)
            next_block = int(number[rows].max()) + 1
        return number

    def __repr__(self) -> str:
        return f"<Equations: {len(self)} rows, {len(self.names)} parameters, {len(self.joints)} joints>"

    _repr_html_ = as_table


def equations(base: BaseParameters, samples: Samples | Sequence[Samples]) -> Equations:
    """Build the equations of one or several runs: filtered as the samples specify, without unused rows.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("ur5e")
    >>> base = dy.identification.base_parameters(robot)
    >>> q, v, a = np.random.default_rng(0).normal(size=(3, 50, 6))
    >>> rows = dy.identification.equations(base, dy.identification.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a)))
    >>> rows.X.shape
    (300, 36)
    """
    parts = [rows_of(base, run) for run in as_runs(samples)]
    joints = base.model.robot.coordinate_names
    stacked = {key: _joined([part[key] for part in parts]) for key in ("X", "y", "joint", "t", "v")}
    run = np.repeat(np.arange(len(parts)), [len(part["y"]) for part in parts])
    return Equations(**stacked, run=run, names=base.names, joints=joints)


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def filter_of(run: Samples) -> Decimation:
    """Return the filter of a run; the run must be long enough for it."""
    filtered = Decimation(run.period, run.parallel, run.every)
    if filtered.rows(len(run)) == 0:
        if run.parallel is None:
            raise InputError(f"{run!r} is empty: leave it out")
        raise InputError(
            f"{run!r} is shorter than its {run.parallel:g} Hz low-pass filter, which needs {len(filtered.taps)} samples: raise "
            "the cut-off frequency"
        )
    return filtered


def rows_of(base: BaseParameters, run: Samples) -> dict[str, Array]:
    """Build the rows of one run."""
    robot = base.model.robot
    if run.q.shape[1] != robot.nq or run.tau.shape[1] != robot.n:
        raise InputError(
            f"{run!r} has {run.q.shape[1]} positions and {run.tau.shape[1]} torques; robot {printable(robot.name)} has "
            f"{robot.nq} and {robot.n}"
        )
    filtered = filter_of(run)
    past = Past(base.model).advance(run.q)
    centres = filtered.centres(len(run))
    Y = np.empty((len(centres), robot.n, base.rank))
    for low in range(0, len(Y), max(1, CHUNK // filtered.every)):
        part = Y[low : low + max(1, CHUNK // filtered.every)]
        of = slice(low * filtered.every, (low + len(part) - 1) * filtered.every + len(filtered.taps))
        part[...] = filtered.of(base.regressor(run.q[of], run.v[of], run.a[of], past[of]))
    tau = filtered.middles(run.tau) if run.smooth_torque else filtered.of(run.tau)
    use, v, t = (x[centres] for x in (run.use, run.v, run.t))
    counted: Any = slice(None) if use.all() else use.reshape(-1)
    joint = np.broadcast_to(np.arange(robot.n), tau.shape).reshape(-1)
    times = np.broadcast_to(t[:, None], tau.shape).reshape(-1)
    return {
        "X": Y.reshape(-1, base.rank)[counted],
        "y": tau.reshape(-1)[counted],
        "joint": joint[counted],
        "t": times[counted],
        "v": v.reshape(-1)[counted],
    }
