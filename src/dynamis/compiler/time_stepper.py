"""Repeated execution of a compiled step, with the state written at output steps.

The step is a kernel (y, t, h, …) → y'. A small compiled driver calls its loop again and again, from one buffer to the other,
so that no time is spent in Python between two steps. Batches go in blocks whose states stay in the cache, on all cores.
One of the arguments may be a `Table`, of which each step reads the row of its time.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import jit
from dynamis.compiler.cuda import as_cupy, on_gpu
from dynamis.compiler.cuda_time_stepper import Stages, check_state, march_on_gpu
from dynamis.compiler.forks import once
from dynamis.compiler.kernel import GOOD, WORTH_A_THREAD, Kernel, thread_count
from dynamis.compiler.threads import share
from dynamis.errors import InputError

Array = npt.NDArray[Any]
BLOCK, LARGE_BLOCK = 64, 1024  # states that fit with their copies into the nearest cache, and into the next one
WORTH_A_BLOCK = 65_536  # steps of states, beside which the time Python takes for a block does not count
FEW = 2  # states for which the loop of short vectors is faster
AT_ONCE = 50_000_000  # work, in instructions times states, after which better code may take over

# for r in reports, for s in every: t = t0 + (first + r · every + s) h, then one call of the loop. The state is read from the
# last report or from scratch, and written to scratch or to the next report. Argument %tabled is row k / hold of a table.
_DRIVER = """
define void @loop(ptr %loop, ptr %args, ptr %dims, ptr %steps, ptr %services, i64 %reports, i64 %every, i64 %last,
                  ptr %states, i64 %stride, ptr %scratch, i64 %half, ptr %t, i64 %first, i64 %tabled, ptr %table,
                  i64 %pitch, i64 %hold, T %t0, T %h) {
entry:
  %slot = getelementptr ptr, ptr %args, i64 %tabled
  %out = getelementptr ptr, ptr %args, i64 %last
  %total = mul i64 %reports, %every
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %call ]
  %s = phi i64 [ 0, %entry ], [ %s2, %call ]
  %from = phi ptr [ %states, %entry ], [ %to, %call ]
  %report = phi ptr [ %states, %entry ], [ %report2, %call ]
  %more = icmp slt i64 %k, %total
  br i1 %more, label %call, label %done
call:
  %k1 = add i64 %k, 1
  %s1 = add i64 %s, 1
  %whole = icmp eq i64 %s1, %every
  %s2 = select i1 %whole, i64 0, i64 %s1
  %next = getelementptr i8, ptr %report, i64 %stride
  %odd = and i64 %k, 1
  %place = mul i64 %odd, %half
  %spare = getelementptr i8, ptr %scratch, i64 %place
  %to = select i1 %whole, ptr %next, ptr %spare
  %report2 = select i1 %whole, ptr %next, ptr %report
  %kall = add i64 %k, %first
  %kf = sitofp i64 %kall to T
  %kh = fmul T %kf, %h
  %now = fadd T %t0, %kh
  %entry_number = udiv i64 %kall, %hold
  %offset = mul i64 %entry_number, %pitch
  %row = getelementptr i8, ptr %table, i64 %offset
  store ptr %row, ptr %slot
  store T %now, ptr %t
  store ptr %from, ptr %args
  store ptr %to, ptr %out
  call void %loop(ptr %args, ptr %dims, ptr %steps, ptr %services)
  br label %head
done:
  ret void
}
"""


@once
def _driver(precision: str) -> tuple[Any, jit.Loaded]:
    text = _DRIVER.replace("T %", f"{precision} %").replace("to T", f"to {precision}").replace(" T ", f" {precision} ")
    loaded = jit.Loaded(jit.assemble(text, GOOD))
    real = ctypes.c_double if precision == "double" else ctypes.c_float
    a, i = ctypes.c_void_p, ctypes.c_int64
    return ctypes.CFUNCTYPE(None, a, a, a, a, a, i, i, i, a, i, a, i, a, i, i, a, i, i, real, real)(loaded.address), loaded


@dataclass(frozen=True, eq=False)
class Table:
    """An argument that changes in time: rows (K, …, size), each for ``hold`` steps, counted from step 0."""

    values: Any
    hold: int

    def at(self, step: int) -> Any:
        return self.values[step // self.hold]


def march(
    kernel: Kernel, y: Any, others: Sequence[Any] = (), *, t: float, h: float, reports: int, every: int = 1,
    first: int = 0, stages: Stages | None = None,
) -> Any:  # fmt: skip
    """(reports, …, N): the states after every so many steps of length h; step k, counted from ``first``, is at t + k h.

    ``kernel`` takes y (N), t (1), h (1) and the others, and returns y' (N); y and the others broadcast, and one of them may be
    a `Table`. Float32 in, float32 out; arrays on a GPU stay there. There, with ``stages``, the kernel returns ẏ.
    """
    tabled = next((k for k, x in enumerate(others) if isinstance(x, Table)), None)
    size = kernel.arguments[0][1]
    if len(kernel.arguments) != 3 + len(others):
        raise InputError(f"{kernel.name} takes {len(kernel.arguments)} arrays, got {3 + len(others)}")
    if on_gpu(y):
        if tabled is not None:
            return _march_table_on_gpu(kernel, y, others, tabled, t=t, h=h, reports=reports, every=every, first=first,
                                       stages=stages)  # fmt: skip
        rows = [as_cupy(x) for x in others]
        return march_on_gpu(kernel, as_cupy(y), rows, t=t, h=h, reports=reports, every=every, first=first, stages=stages)
    table: Table | None = None if tabled is None else others[tabled]
    if table is not None and len(table.values) * table.hold < first + reports * every:
        raise InputError(
            f"the table has {len(table.values)} rows of {table.hold} steps, but {first + reports * every} steps are taken"
        )
    arrays = [np.asarray(x.values[0] if isinstance(x, Table) else x) for x in (y, *others)]
    dtype = np.float32 if {a.dtype for a in arrays} == {np.dtype(np.float32)} else np.float64
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    count = math.prod(batch)
    for a, (name, length) in zip(arrays, _sizes(kernel), strict=True):
        if a.shape[-1:] != (length,):
            raise InputError(f"{name} must have {length} numbers on its last axis; got shape {a.shape}")
    stacked = [_rows(a.astype(dtype, copy=False), batch) for a in arrays]
    precision = "float" if dtype == np.float32 else "double"
    check_state(kernel.name, size, kernel.compiled(precision).shapes)
    states = np.empty((reports + 1, count, size), dtype)
    states[0] = stacked[0]
    work = kernel.compiled(precision).cost * count * reports * every
    threads = thread_count() if work >= WORTH_A_THREAD * thread_count() else 1
    edges = [count * k // threads for k in range(threads + 1)]
    tables: Array = np.zeros((0, count, 0))
    if table is not None:
        shape = (len(table.values), *batch, table.values.shape[-1])
        filled = np.ascontiguousarray(np.broadcast_to(_leading(table.values, len(shape)), shape), dtype)
        tables = filled.reshape(len(filled), count, filled.shape[-1])
    size_of_block = min(max(WORTH_A_BLOCK // max(1, reports * every), BLOCK), LARGE_BLOCK)

    def run(thread: int) -> None:
        for low in range(edges[thread], edges[thread + 1], size_of_block):
            block = slice(low, min(low + size_of_block, edges[thread + 1]))
            part = None if table is None or tabled is None else (tabled, tables[:, block], table.hold)
            _march_block(kernel, precision, states[:, block], [x[block] for x in stacked[1:]], t, h, every, first, part)

    if count and reports and size:
        share(run, range(threads))
    return states[1:].reshape(reports, *batch, size)


def _leading(values: Array, rank: int) -> Array:
    """Axes of length one behind the first, up to this rank: the batch broadcasts from its last axis."""
    return values.reshape(len(values), *[1] * (rank - values.ndim), *values.shape[1:])


def _march_table_on_gpu(
    kernel: Kernel, y: Any, others: Sequence[Any], tabled: int, *, reports: int, every: int, first: int, **options: Any
) -> Any:
    """Row by row of the table: one launch for the steps that share a row."""
    import cupy

    table, kept, y, k = others[tabled], [], as_cupy(y), first
    while k < first + reports * every:
        some = min(table.hold - k % table.hold, every - (k - first) % every)
        rows = [as_cupy(x.at(k) if isinstance(x, Table) else x) for x in others]
        y = march_on_gpu(kernel, y, rows, reports=1, every=some, first=k, **options)[0]
        k += some
        if (k - first) % every == 0:
            kept.append(y)
    return cupy.stack(kept)


def _sizes(kernel: Kernel) -> list[tuple[str, int]]:
    """Names and lengths of the arguments but time and step."""
    return [kernel.arguments[0], *kernel.arguments[3:]]


def _rows(array: Array, batch: tuple[int, ...]) -> Array:
    """One contiguous row a state, or one for all of them behind a stride of zero."""
    size = array.shape[-1]
    if array.ndim == 1:
        return np.broadcast_to(np.ascontiguousarray(array), (math.prod(batch), size))
    return np.ascontiguousarray(np.broadcast_to(array, (*batch, size)).reshape(math.prod(batch), size))


def _march_block(
    kernel: Kernel, precision: str, states: Array, others: list[Array], t: float, h: float, every: int, before: int,
    table: tuple[int, Array, int] | None = None,
) -> None:  # fmt: skip
    reports, rows, size = states.shape[0] - 1, states.shape[1], states.shape[2]
    width = states.itemsize
    driver, _ = _driver(precision)
    compiled = kernel.compiled(precision)
    now, length = np.array([t], states.dtype), np.array([h], states.dtype)
    scratch = np.empty((2, rows, size), states.dtype)
    operands = [states[0], now, length, *others]
    count = len(operands) + 1
    args = np.array([x.ctypes.data for x in operands] + [0, 0], np.uintp)  # behind the result: what no table is written to
    dims = np.array([rows], np.intp)
    # strides from state to state, then of the one core axis each operand has
    steps = np.array([size * width, 0, 0, *(x.strides[0] for x in others), size * width, *[width] * count], np.intp)
    tabled, rows_of, pitch, hold = count, 0, 0, 1
    if table is not None:
        place, values, hold = table
        tabled, rows_of, pitch = 3 + place, values.ctypes.data, values.strides[0]
        steps[tabled] = values.strides[1]
    loop = (rows <= FEW and compiled.single[0]) or compiled.gufunc.address
    at_once = max(1, AT_ONCE // max(1, compiled.cost * rows * every))
    for first in range(0, reports, at_once):
        some = min(at_once, reports - first)
        driver(
            loop, args.ctypes.data, dims.ctypes.data, steps.ctypes.data, compiled.gufunc.services,
            some, every, count - 1, states[first].ctypes.data, states.strides[0], scratch.ctypes.data,
            scratch.strides[0], now.ctypes.data, before + first * every,
            tabled, rows_of, pitch, hold, t, h,
        )  # fmt: skip
