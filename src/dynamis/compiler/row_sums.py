"""Weighted sums of neighbouring rows of a matrix, out[r] = Σ_k w[k] x[r·step + k], as machine code: what a filter is that keeps
some of its results, for many signals side by side.

A block of results stays in registers while the rows run past it, each row with the weight it has in each of them; where it has
none, that is zero. Every result is the same chain of multiply-adds wherever its block begins, so how a matrix of finite numbers
is cut does not show.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import jit
from dynamis.compiler.forks import once
from dynamis.compiler.target import Target

Array = npt.NDArray[Any]

HIGH = 4  # rows of results in a block: more would mean more weights that are zero


def row_sums(x: Array, weights: Array, step: int, out: Array) -> Array:
    """Fill ``out`` (R, c) from ``x`` (N, c) with N ≥ (R − 1) step + len(weights); the entries of a row lie side by side."""
    rows, columns = out.shape
    if x.dtype != float or out.dtype != float or weights.dtype != float or not weights.flags.c_contiguous:
        raise TypeError("row sums require arrays of double precision and contiguous weights")
    if not out.flags.writeable or not len(weights) or step < 1:
        raise ValueError("row sums require nonempty weights, a step of at least one, and a writable output array")
    if x.ndim != 2 or x.shape[1] != columns or (rows and len(x) < (rows - 1) * step + len(weights)):
        raise ValueError(f"an array of shape {x.shape} is too small for {rows} sums of {len(weights)} rows with step {step}")
    if not out.size:
        return out
    if columns > 1 and (x.strides[1] != x.itemsize or out.strides[1] != out.itemsize):
        raise ValueError("the entries of a row must be contiguous")
    padded = np.zeros(len(weights) + 2 * (HIGH - 1) * step)
    padded[(HIGH - 1) * step :][: len(weights)] = weights
    _machine_code().call(
        x.ctypes.data, x.strides[0], padded.ctypes.data + 8 * (HIGH - 1) * step, len(weights), step,
        out.ctypes.data, out.strides[0], rows, columns,
    )  # fmt: skip
    return out


class _MachineCode:
    def __init__(self) -> None:
        self._loaded = jit.Loaded(jit.assemble(_module(jit.host_target("double")), 2))
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        kinds = (pointer, number, pointer, number, number, pointer, number, number, number)
        self.call = ctypes.CFUNCTYPE(None, *kinds)(self._loaded.address)


@once
def _machine_code() -> _MachineCode:
    return _MachineCode()


def _module(t: Target) -> str:
    """``loop`` walks blocks of results; what is left over at the lower and right edges goes one by one."""
    vectors = t.registers // (2 * HIGH)
    blocks = [(rows, *wide) for rows in (HIGH, 1) for wide in dict.fromkeys([(t.lanes, vectors), (t.lanes, 1), (1, 1)])]
    kinds = [(_vector(lanes), _suffix(lanes)) for lanes in (t.lanes, 1)]
    declared = [f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})" for kind, suffix in dict.fromkeys(kinds)]
    return "\n".join(
        [*declared, *(_block(*shape) for shape in blocks), *(_strip(rows, t.lanes, vectors) for rows in (HIGH, 1)), _loop()]
    )


def _vector(lanes: int) -> str:
    return "double" if lanes == 1 else f"<{lanes} x double>"


def _suffix(lanes: int) -> str:
    return "f64" if lanes == 1 else f"v{lanes}f64"


ARGUMENTS = "ptr %x, i64 %x_row, ptr %w, i64 %taps, i64 %step, ptr %out, i64 %out_row"


def _block(rows: int, lanes: int, vectors: int) -> str:
    """Some rows and vectors of results. Row j of x has the weight w[j − r·step] in result r."""
    kind, zero = _vector(lanes), "0.0" if lanes == 1 else "zeroinitializer"
    places = [(r, v) for r in range(rows) for v in range(vectors)]
    lines = [
        f"define internal void @block_{rows}_{lanes}_{vectors}({ARGUMENTS}) {{\nentry:",
        f"  %more = mul i64 %step, {rows - 1}",
    ]
    lines += ["  %count = add i64 %taps, %more"]
    lines += [f"  %back{r} = mul i64 %step, {-8 * r}" for r in range(rows)]
    lines += ["  br label %turn\nturn:", "  %j = phi i64 [ 0, %entry ], [ %j1, %turn ]"]
    lines += ["  %px = phi ptr [ %x, %entry ], [ %px1, %turn ]", "  %pw = phi ptr [ %w, %entry ], [ %pw1, %turn ]"]
    lines += [f"  %s{r}_{v} = phi {kind} [ {zero}, %entry ], [ %t{r}_{v}, %turn ]" for r, v in places]
    for v in range(vectors):
        lines += [f"  %at{v} = getelementptr {kind}, ptr %px, i64 {v}", f"  %x{v} = load {kind}, ptr %at{v}, align 8"]
    for r in range(rows):
        lines += [f"  %from{r} = getelementptr i8, ptr %pw, i64 %back{r}", f"  %one{r} = load double, ptr %from{r}, align 8"]
        if lanes > 1:
            lines += [
                f"  %lane{r} = insertelement {kind} poison, double %one{r}, i32 0",
                f"  %w{r} = shufflevector {kind} %lane{r}, {kind} poison, <{lanes} x i32> zeroinitializer",
            ]
        weight = f"%w{r}" if lanes > 1 else f"%one{r}"
        for v in range(vectors):
            fma = f"@llvm.fma.{_suffix(lanes)}({kind} %x{v}, {kind} {weight}, {kind} %s{r}_{v})"
            lines.append(f"  %t{r}_{v} = call {kind} {fma}")
    lines += ["  %px1 = getelementptr i8, ptr %px, i64 %x_row", "  %pw1 = getelementptr double, ptr %pw, i64 1"]
    lines += ["  %j1 = add i64 %j, 1", "  %goes_on = icmp ult i64 %j1, %count"]
    lines += ["  br i1 %goes_on, label %turn, label %done\ndone:"]
    for r, v in places:
        lines += [
            f"  %down{r}_{v} = mul i64 %out_row, {r}",
            f"  %row{r}_{v} = getelementptr i8, ptr %out, i64 %down{r}_{v}",
            f"  %to{r}_{v} = getelementptr {kind}, ptr %row{r}_{v}, i64 {v}",
            f"  store {kind} %t{r}_{v}, ptr %to{r}_{v}, align 8",
        ]
    return "\n".join([*lines, "  ret void\n}"])


def _strip(rows: int, lanes: int, vectors: int) -> str:
    """Some rows of results over all columns: wide blocks from left to right, then vectors, then single columns."""
    here = ARGUMENTS.replace("%x,", "%x_here,").replace("%out,", "%out_here,")
    return f"""define internal void @strip_{rows}({ARGUMENTS}, i64 %columns) {{
entry:
  br label %next
next:
  %c = phi i64 [ 0, %entry ], [ %c_wide, %wide ], [ %c_vector, %vector ], [ %c_one, %single ]
  %x_here = getelementptr double, ptr %x, i64 %c
  %out_here = getelementptr double, ptr %out, i64 %c
  %left = sub i64 %columns, %c
  %is_wide = icmp uge i64 %left, {lanes * vectors}
  br i1 %is_wide, label %wide, label %narrow
wide:
  call void @block_{rows}_{lanes}_{vectors}({here})
  %c_wide = add i64 %c, {lanes * vectors}
  br label %next
narrow:
  %is_vector = icmp uge i64 %left, {lanes}
  br i1 %is_vector, label %vector, label %edge
vector:
  call void @block_{rows}_{lanes}_1({here})
  %c_vector = add i64 %c, {lanes}
  br label %next
edge:
  %some = icmp ne i64 %left, 0
  br i1 %some, label %single, label %done
single:
  call void @block_{rows}_1_1({here})
  %c_one = add i64 %c, 1
  br label %next
done:
  ret void
}}"""


def _loop() -> str:
    here = ARGUMENTS.replace("%x,", "%x_here,").replace("%out,", "%out_here,")
    return f"""define void @loop({ARGUMENTS}, i64 %rows, i64 %columns) {{
entry:
  br label %next
next:
  %r = phi i64 [ 0, %entry ], [ %r_high, %high ], [ %r_one, %single ]
  %first = mul i64 %r, %step
  %x_away = mul i64 %first, %x_row
  %out_away = mul i64 %r, %out_row
  %x_here = getelementptr i8, ptr %x, i64 %x_away
  %out_here = getelementptr i8, ptr %out, i64 %out_away
  %left = sub i64 %rows, %r
  %is_high = icmp uge i64 %left, {HIGH}
  br i1 %is_high, label %high, label %edge
high:
  call void @strip_{HIGH}({here}, i64 %columns)
  %r_high = add i64 %r, {HIGH}
  br label %next
edge:
  %some = icmp ne i64 %left, 0
  br i1 %some, label %single, label %done
single:
  call void @strip_1({here}, i64 %columns)
  %r_one = add i64 %r, 1
  br label %next
done:
  ret void
}}"""
