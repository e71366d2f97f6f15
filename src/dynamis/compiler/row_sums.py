"""Weighted sums of neighbouring rows of a matrix, out[r] = Σ_k w[k] x[r·step + k], as machine code: what a filter is that keeps
some of its results, for many signals side by side.

A block of results stays in registers while the rows run past it. Every result is the same chain of multiply-adds wherever its
block begins, so how a matrix is cut does not show.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import jit
from dynamis.compiler.target import Target

Array = npt.NDArray[Any]

SIDE_BY_SIDE = 2  # vectors of columns in a block


def row_sums(x: Array, weights: Array, step: int, out: Array) -> Array:
    """Fill ``out`` (R, c) from ``x`` (N, c) with N ≥ (R − 1) step + len(weights); the entries of a row lie side by side."""
    rows, columns = out.shape
    if x.dtype != float or out.dtype != float or weights.dtype != float or not weights.flags.c_contiguous:
        raise TypeError("sums of rows are made of double precision")
    if x.ndim != 2 or x.shape[1] != columns or (rows and len(x) < (rows - 1) * step + len(weights)):
        raise ValueError(f"{rows} sums of {len(weights)} rows, {step} apart, are not in {x.shape}")
    if columns > 1 and (x.strides[1] != x.itemsize or out.strides[1] != out.itemsize):
        raise ValueError("the entries of a row must lie side by side")
    if rows and columns:
        _machine_code().call(
            x.ctypes.data, x.strides[0], step * x.strides[0], weights.ctypes.data, len(weights),
            out.ctypes.data, out.strides[0], rows, columns,
        )  # fmt: skip
    return out


class _MachineCode:
    def __init__(self) -> None:
        self._loaded = jit.Loaded(jit.assemble(_module(jit.host_target("double")), 2))
        kinds = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
        self.call = ctypes.CFUNCTYPE(None, *kinds, *kinds[:2], ctypes.c_int64, ctypes.c_int64)(self._loaded.address)


@cache
def _machine_code() -> _MachineCode:
    return _MachineCode()


def _module(t: Target) -> str:
    """``loop`` walks blocks of results; what is left over at the lower and right edges goes one by one."""
    high, wide = t.registers // (2 * SIDE_BY_SIDE), SIDE_BY_SIDE * t.lanes
    blocks = [(high, t.lanes, SIDE_BY_SIDE), (high, 1, 1), (1, t.lanes, SIDE_BY_SIDE), (1, 1, 1)]
    down = "\n".join(_rows(kind, rows, wide) for kind, rows in (("many", high), ("one", 1)))
    declared = [f"declare {_vector(lanes)} @llvm.fma.{_suffix(lanes)}({', '.join([_vector(lanes)] * 3)})" for lanes in (t.lanes, 1)]
    return "\n".join([*dict.fromkeys(declared), *(_block(*shape) for shape in blocks), down, _loop(high)])


def _vector(lanes: int) -> str:
    return "double" if lanes == 1 else f"<{lanes} x double>"


def _suffix(lanes: int) -> str:
    return "f64" if lanes == 1 else f"v{lanes}f64"


def _block(rows: int, lanes: int, vectors: int) -> str:
    """A block of results: one multiply-add for each of them and each weight."""
    kind = _vector(lanes)
    places = [(r, v) for r in range(rows) for v in range(vectors)]
    start = [f"  %away{r} = mul i64 %step, {r}\n  %down{r} = mul i64 %out_row, {r}" for r in range(rows)]
    # pointers to each of the vectors; the rows of the results are as far from them at every weight
    heads = [f"  %p{v} = phi ptr [ %first{v}, %entry ], [ %next{v}, %turn ]" for v in range(vectors)]
    sums = [f"  %s{r}_{v} = phi {kind} [ zeroinitializer, %entry ], [ %t{r}_{v}, %turn ]" for r, v in places]
    if lanes == 1:
        sums = [line.replace("zeroinitializer", "0.0") for line in sums]
        spread = ["  %w = load double, ptr %at, align 8"]
    else:
        spread = [
            "  %one = load double, ptr %at, align 8",
            f"  %lane = insertelement {kind} poison, double %one, i32 0",
            f"  %w = shufflevector {kind} %lane, {kind} poison, <{lanes} x i32> zeroinitializer",
        ]
    work = []
    for r, v in places:
        work += [
            f"  %a{r}_{v} = getelementptr i8, ptr %p{v}, i64 %away{r}",
            f"  %x{r}_{v} = load {kind}, ptr %a{r}_{v}, align 8",
            f"  %t{r}_{v} = call {kind} @llvm.fma.{_suffix(lanes)}({kind} %x{r}_{v}, {kind} %w, {kind} %s{r}_{v})",
        ]
    stores = []
    for r, v in places:
        stores += [
            f"  %row{r}_{v} = getelementptr i8, ptr %out, i64 %down{r}",
            f"  %to{r}_{v} = getelementptr {kind}, ptr %row{r}_{v}, i64 {v}",
            f"  store {kind} %t{r}_{v}, ptr %to{r}_{v}, align 8",
        ]
    return "\n".join(
        [
            f"define internal void @block_{rows}_{lanes}(ptr %x, i64 %x_row, i64 %step, ptr %w0, i64 %taps, ptr %out, "
            "i64 %out_row) {\nentry:",
            *start,
            *(f"  %first{v} = getelementptr {kind}, ptr %x, i64 {v}" for v in range(vectors)),
            "  br label %turn\nturn:",
            *heads,
            "  %k = phi i64 [ 0, %entry ], [ %k1, %turn ]",
            *sums,
            "  %at = getelementptr double, ptr %w0, i64 %k",
            *spread,
            *work,
            *(f"  %next{v} = getelementptr i8, ptr %p{v}, i64 %x_row" for v in range(vectors)),
            "  %k1 = add i64 %k, 1",
            "  %more = icmp ult i64 %k1, %taps",
            "  br i1 %more, label %turn, label %done\ndone:",
            *stores,
            "  ret void\n}",
        ]
    )


def _rows(name: str, rows: int, wide: int) -> str:
    """So many rows of results: wide blocks from left to right, then single columns."""
    lanes = wide // SIDE_BY_SIDE
    call = "(ptr %px, i64 %x_row, i64 %step, ptr %w0, i64 %taps, ptr %pout, i64 %out_row)"
    return f"""define internal void @{name}_rows(ptr %x, i64 %x_row, i64 %step, ptr %w0, i64 %taps, ptr %out, i64 %out_row, i64 %columns) {{
entry:
  br label %next
next:
  %c = phi i64 [ 0, %entry ], [ %c_wide, %in_blocks ], [ %c_one, %single ]
  %px = getelementptr double, ptr %x, i64 %c
  %pout = getelementptr double, ptr %out, i64 %c
  %left = sub i64 %columns, %c
  %is_wide = icmp uge i64 %left, {wide}
  br i1 %is_wide, label %in_blocks, label %edge
in_blocks:
  call void @block_{rows}_{lanes}{call}
  %c_wide = add i64 %c, {wide}
  br label %next
edge:
  %some = icmp ne i64 %left, 0
  br i1 %some, label %single, label %done
single:
  call void @block_{rows}_1{call}
  %c_one = add i64 %c, 1
  br label %next
done:
  ret void
}}"""


def _loop(high: int) -> str:
    arguments = "ptr %px, i64 %x_row, i64 %step, ptr %w0, i64 %taps, ptr %pout, i64 %out_row, i64 %columns"
    return f"""define void @loop(ptr %x, i64 %x_row, i64 %step, ptr %w0, i64 %taps, ptr %out, i64 %out_row, i64 %rows, i64 %columns) {{
entry:
  br label %next
next:
  %r = phi i64 [ 0, %entry ], [ %r_many, %many ], [ %r_one, %one ]
  %x_away = mul i64 %r, %step
  %out_away = mul i64 %r, %out_row
  %px = getelementptr i8, ptr %x, i64 %x_away
  %pout = getelementptr i8, ptr %out, i64 %out_away
  %left = sub i64 %rows, %r
  %are_many = icmp uge i64 %left, {high}
  br i1 %are_many, label %many, label %edge
many:
  call void @many_rows({arguments})
  %r_many = add i64 %r, {high}
  br label %next
edge:
  %some = icmp ne i64 %left, 0
  br i1 %some, label %one, label %done
one:
  call void @one_rows({arguments})
  %r_one = add i64 %r, 1
  br label %next
done:
  ret void
}}"""
