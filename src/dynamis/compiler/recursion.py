"""Recursive low-pass filters as machine code: every result depends on those before it, which NumPy cannot express."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy.typing as npt

from dynamis.compiler import jit
from dynamis.compiler.forks import once

Array = npt.NDArray[Any]


def low_pass_in_place(x: Array, sections: Array, *, backward: bool = False) -> None:
    """Filter the columns of x (N, c), each contiguous, by sections (k, 3) in turn, from the first sample or backward.

    A section with A, B, C has two integrators r = 0 and s = x[0], a constant signal before the first sample. For each sample

        u = x[i] − s,   t = B r + C u,   y[i] = s + t / 2,   r ← A r + B u,   s ← s + t.

    The output is a sum of small steps, so its rounding errors do not grow as the cut-off falls.
    """
    if x.dtype != float or x.ndim != 2 or not x.flags.f_contiguous or not x.flags.writeable:
        raise TypeError("a recursive filter requires a writable matrix of double precision with contiguous columns")
    step = -x.itemsize if backward else x.itemsize
    for column in x.T if len(x) else ():
        first = column.ctypes.data + (len(x) - 1) * x.itemsize * backward
        for section in sections.tolist():
            _machine_code().call(first, len(x), step, *section)


class _MachineCode:
    def __init__(self) -> None:
        self._loaded = jit.Loaded(jit.assemble(SECTION, 2))
        kinds = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, *3 * (ctypes.c_double,))
        self.call = ctypes.CFUNCTYPE(None, *kinds)(self._loaded.address)


@once
def _machine_code() -> _MachineCode:
    return _MachineCode()


SECTION = """declare double @llvm.fma.f64(double, double, double)
define void @loop(ptr %x, i64 %count, i64 %step, double %A, double %B, double %C) {
entry:
  %s0 = load double, ptr %x, align 8
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %p = phi ptr [ %x, %entry ], [ %p1, %next ]
  %r = phi double [ 0.0, %entry ], [ %r1, %next ]
  %s = phi double [ %s0, %entry ], [ %s1, %next ]
  %in = load double, ptr %p, align 8
  %u = fsub double %in, %s
  %Br = fmul double %B, %r
  %t = call double @llvm.fma.f64(double %C, double %u, double %Br)
  %y = call double @llvm.fma.f64(double 0.5, double %t, double %s)
  %Ar = fmul double %A, %r
  %r1 = call double @llvm.fma.f64(double %B, double %u, double %Ar)
  %s1 = fadd double %s, %t
  store double %y, ptr %p, align 8
  %p1 = getelementptr i8, ptr %p, i64 %step
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %next, label %done
done:
  ret void
}"""
