"""Reading of logs from files, whole or in chunks, with identical results."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.files.limits import check_size
from dynamis.identification.logs.log import Log, joined
from dynamis.identification.logs.mapping import Mapping
from dynamis.identification.logs.plan import LETTERS, Plan
from dynamis.identification.logs.table import NUMBERS, Block, regrouped
from dynamis.identification.logs.units import factor
from dynamis.robot import Robot

Array = npt.NDArray[Any]
PathLike = str | os.PathLike[str]
WHOLE = 65536  # rows read at a time …
MOST = 262_144  # … and at most, for larger chunks
CALENDAR = 1e6  # s: larger times are calendar times, which would lose digits


def read_log(path: PathLike, robot: Robot, mapping: Mapping | PathLike | None = None, *, period: float | None = None) -> Log:
    """Read a log of a robot: .csv, .txt, .npz, .mat, .parquet, .h5, .db3, .mcap or the folder of a ROS 2 bag.

    Columns are recognised by their names if these are unambiguous ("t", "q1"…, "effort.elbow", …); otherwise a ``mapping`` (a
    TOML file or a `Mapping`) describes them, and may combine signals from several files. A .toml given as ``path`` is such a
    mapping. ``period`` is the sampling period in s of a log without times.

    >>> import dynamis as dy, pathlib, tempfile
    >>> from dynamis.identification.logs import read_log
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "run.csv")
    ...     _ = file.write_text("t,q1,q2,tau1,tau2\\n0,0.1,0.2,5,1\\n0.01,0.11,0.19,5,1\\n")
    ...     read_log(file, arm)
    <Log 'run.csv': 2 samples of 2 joints, 0.01 s at 100 Hz; q, tau>
    """
    plan = Plan(path, robot, mapping, period)
    _check_size(plan)
    return joined(list(_chunks(plan, WHOLE)))


def log_chunks(
    path: PathLike, robot: Robot, mapping: Mapping | PathLike | None = None, size: int = WHOLE, *, period: float | None = None
) -> Iterator[Log]:
    """Yield the same log in chunks of ``size`` samples, the last one shorter; memory use does not depend on the file size."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError(f"size={size!r} must be an integer number of samples, 1 or more")
    return _chunks(Plan(path, robot, mapping, period), size)


def log_beginning(
    path: PathLike, robot: Robot, mapping: Mapping | PathLike | None, size: int, *, period: float | None = None
) -> tuple[Log, Iterator[Log] | None]:
    """Return the log if it has at most ``size`` samples, else about that many and an iterator over the rest."""
    plan = Plan(path, robot, mapping, period)
    _check_declared(plan)
    chunks, first = _chunks(plan, WHOLE), list[Log]()
    for chunk in chunks:
        if sum(map(len, first)) >= size:
            return joined(first), itertools.chain([chunk], chunks)
        first.append(chunk)
    return joined(first), None


def _check_declared(plan: Plan) -> int:
    """Return the bytes of all numbers, and reject a small file that declares or decompresses to a large size."""
    counts = [table.count for table in plan.tables if table.count is not None]
    wanted = 8 * max(counts, default=0) * sum(len(table_columns) for table_columns in plan.columns)
    present = sum(table.path.stat().st_size for table in plan.tables if table.count is not None)
    check_size(f"{printable(plan.source)} declares {counted(max(counts, default=0), 'row')} and", wanted, present)
    return wanted


def _check_size(plan: Plan) -> None:
    """Reject a log larger than memory before allocating."""
    wanted = _check_declared(plan)
    counts = [table.count for table in plan.tables if table.count is not None]
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    if wanted > memory // 2:
        what = f"{printable(plan.source)} declares {counted(max(counts), 'row')}, {wanted / 1e9:.3g} GB of numbers"
        raise InputError(f"{what}; read it in chunks with log_chunks, or write it again if this is wrong")


def _chunks(plan: Plan, size: int) -> Iterator[Log]:
    streams = [
        regrouped(table.blocks(names, min(size, MOST)), size) for table, names in zip(plan.tables, plan.columns, strict=True)
    ]
    start, clock = 0, _Clock(plan)
    while True:
        blocks = [next(stream, None) for stream in streams]
        lengths = [0 if block is None else len(block) for block in blocks]
        if len(set(lengths)) > 1:
            ends = ", ".join(
                f"{t.label} {'continues' if n == max(lengths) else 'ends'}" for t, n in zip(plan.tables, lengths, strict=True)
            )
            raise InputError(f"the files have different lengths: at row {start + min(lengths)} {ends}; use files of one run")
        present = [block for block in blocks if block is not None]
        if not present:
            break
        yield _log(plan, present, clock.times(present, start), clock.epoch)
        start += lengths[0]
    if not start:
        raise InputError(f"{printable(plan.source)} has no samples, only column names")


class _Clock:
    """Times in s, from a column or from the rate. The start of a calendar clock is subtracted, in integers."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.epoch = plan, 0.0
        self.off: Any = None

    def times(self, blocks: list[Block], start: int) -> Array:
        if self.plan.time is None:
            assert self.plan.rate is not None
            return np.arange(start, start + len(blocks[0])) / self.plan.rate
        table, (at,), unit = self.plan.time
        raw = blocks[table].columns[at]
        if raw.dtype.kind == "M":
            raw, unit = raw.astype("M8[ns]").astype(np.int64), "ns"
        seconds = factor("time", unit)
        if raw.dtype.kind in "iub":
            raw = raw.astype(np.int64)
        if self.off is None:
            first = raw[0] * seconds
            self.epoch = float(np.floor(first)) if np.isfinite(first) and abs(first) > CALENDAR else 0.0
            self.off = raw.dtype.type(round(self.epoch / seconds))
        # division gives 0.008 s for 8000000 ns exactly
        return np.asarray((raw - self.off) / round(1.0 / seconds), float)


def _log(plan: Plan, blocks: list[Block], t: Array, epoch: float) -> Log:
    signals: dict[str, Any] = {}
    for name, (table, at, (scale, above)) in plan.signals.items():
        columns = [blocks[table].columns[k] for k in at]
        for k, column in zip(at, columns, strict=True):
            if column.dtype.kind not in NUMBERS:
                what = f"column {printable(plan.columns[table][k])} of {plan.tables[table].label} contains dates"
                raise InputError(f"{what} instead of the {name}; write numbers, or name the columns in a mapping")
        values = _side_by_side(columns)
        plain = np.all(scale == 1.0) and not above.any() and values.dtype == float
        signals[LETTERS[name]] = values if plain else values.astype(float) * scale + above
    if "tau" not in signals:
        assert plan.gains is not None
        signals["tau"] = signals["current"] * plan.gains
    table = plan.signals["position"][0]
    rows = blocks[table].rows
    in_a_row = bool(rows[-1] - rows[0] == len(rows) - 1)
    return Log(
        t=t, **signals, **plan.about, first_row=int(rows[0]), row_word=plan.tables[table].row_word,
        rows=None if in_a_row else rows, epoch=epoch,
    )  # fmt: skip


def _side_by_side(columns: list[Array]) -> Array:
    """Return columns as one array; adjacent ones in memory are not copied."""
    first = columns[0]
    at = [column.__array_interface__["data"][0] for column in columns]
    one_piece = first.base is not None and all(
        c.base is first.base and c.dtype == first.dtype and c.strides == first.strides for c in columns
    )
    if one_piece and all(here == at[0] + k * first.itemsize for k, here in enumerate(at)):
        shape, strides = (len(first), len(columns)), (first.strides[0], first.itemsize)
        return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)
    return np.stack(columns, axis=1)
