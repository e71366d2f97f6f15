"""Recursive filters of second order as machine code: every result depends on the two before it, which NumPy cannot express."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy.typing as npt

from dynamis.compiler import jit

Array = npt.NDArray[Any]


def filter_in_place(x: Array, sections: Array, *, backward: bool = False) -> None:
    """Filter the columns of x (N, c), each contiguous, from rest by sections (k, 5) with b0, b1, b2, a1, a2 in turn.

    A section is y[i] = b0 x[i] + b1 x[i − 1] + b2 x[i − 2] − a1 y[i − 1] − a2 y[i − 2], backward from the last sample.
    """
    if x.dtype != float or x.ndim != 2 or not x.flags.f_contiguous or not x.flags.writeable:
        raise TypeError("a recursive filter requires a writable matrix of double precision with contiguous columns")
    step = -x.itemsize if backward else x.itemsize
    for column in x.T if len(x) else ():
        first = column.ctypes.data + (len(x) - 1) * x.itemsize * backward
        for b0, b1, b2, a1, a2 in sections.tolist():
            _machine_code().call(first, len(x), step, b0, b1, b2, -a1, -a2)


class _MachineCode:
    def __init__(self) -> None:
        self._loaded = jit.Loaded(jit.assemble(SECTION, 2))
        kinds = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, *5 * (ctypes.c_double,))
        self.call = ctypes.CFUNCTYPE(None, *kinds)(self._loaded.address)


@cache
def _machine_code() -> _MachineCode:
    return _MachineCode()


# transposed direct form II: %s and %r are what the samples so far contribute to the next result and to the one after it
SECTION = """declare double @llvm.fma.f64(double, double, double)
define void @loop(ptr %x, i64 %count, i64 %step, double %b0, double %b1, double %b2, double %na1, double %na2) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %p = phi ptr [ %x, %entry ], [ %p1, %next ]
  %s = phi double [ 0.0, %entry ], [ %s1, %next ]
  %r = phi double [ 0.0, %entry ], [ %r1, %next ]
  %u = load double, ptr %p, align 8
  %y = call double @llvm.fma.f64(double %b0, double %u, double %s)
  %su = call double @llvm.fma.f64(double %b1, double %u, double %r)
  %s1 = call double @llvm.fma.f64(double %na1, double %y, double %su)
  %ru = fmul double %b2, %u
  %r1 = call double @llvm.fma.f64(double %na2, double %y, double %ru)
  store double %y, ptr %p, align 8
  %p1 = getelementptr i8, ptr %p, i64 %step
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %next, label %done
done:
  ret void
}"""
