"""Compiled functions as foreign functions of XLA on the processor: JAX calls machine code without passing through Python.

A handler of XLA's foreign function interface takes a call frame, of which it reads buffers and one attribute, the layout: the
number of states and the strides of all operands, as a loop of NumPy takes them. When XLA asks for the metadata, it answers with
the version of the caller: the parts of the frame that are read here are those of all versions 0.x.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamis.compiler import jit
from dynamis.compiler.kernel import GOOD, Kernel

_loaded: list[jit.Loaded] = []  # XLA keeps addresses, not objects
_registered: set[str] = set()

# offsets in bytes: frame 8 extension, 16 api, 32 stage, 72 arguments, 112 results, 160 attributes; buffer 24 data; array 16
# data; extension 8 type, 24 metadata; metadata 8 version (24, null, major, minor), 32 traits, 40 type of the state; api 32
# version. Better code may take the place of a loop at any time.
_HANDLER = """
define ptr @loop(ptr %frame) {{
  %args = alloca [{operands} x ptr], align 8
  %extension_place = getelementptr i8, ptr %frame, i64 8
  %extension = load ptr, ptr %extension_place, align 8
  %plain = icmp eq ptr %extension, null
  br i1 %plain, label %call, label %extended
extended:
  %type_place = getelementptr i8, ptr %extension, i64 8
  %type = load i32, ptr %type_place, align 4
  %asked = icmp eq i32 %type, 1
  br i1 %asked, label %metadata, label %call
metadata:
  %metadata_place = getelementptr i8, ptr %extension, i64 24
  %answer = load ptr, ptr %metadata_place, align 8
  %api_place = getelementptr i8, ptr %frame, i64 16
  %api = load ptr, ptr %api_place, align 8
  %version_place = getelementptr i8, ptr %api, i64 32
  %version = load i64, ptr %version_place, align 4
  %length_place = getelementptr i8, ptr %answer, i64 8
  store i64 24, ptr %length_place, align 8
  %next_place = getelementptr i8, ptr %answer, i64 16
  store ptr null, ptr %next_place, align 8
  %own_place = getelementptr i8, ptr %answer, i64 24
  store i64 %version, ptr %own_place, align 4
  %traits_place = getelementptr i8, ptr %answer, i64 32
  store i32 0, ptr %traits_place, align 4
  %size = load i64, ptr %answer, align 8
  %long = icmp ugt i64 %size, 40
  br i1 %long, label %stateless, label %done
stateless:
  %state_place = getelementptr i8, ptr %answer, i64 40
  store i64 0, ptr %state_place, align 8
  br label %done
call:
  %stage_place = getelementptr i8, ptr %frame, i64 32
  %stage = load i32, ptr %stage_place, align 4
  %execution = icmp eq i32 %stage, 3
  br i1 %execution, label %run, label %done
run:
  %given_place = getelementptr i8, ptr %frame, i64 72
  %given = load ptr, ptr %given_place, align 8
  %results_place = getelementptr i8, ptr %frame, i64 112
  %results = load ptr, ptr %results_place, align 8
  %attributes_place = getelementptr i8, ptr %frame, i64 160
  %attributes = load ptr, ptr %attributes_place, align 8
  %layout = load ptr, ptr %attributes, align 8
  %dims_place = getelementptr i8, ptr %layout, i64 16
  %dims = load ptr, ptr %dims_place, align 8
  %steps = getelementptr i64, ptr %dims, i64 1
{buffers}
  %single_place = inttoptr i64 {single} to ptr
  %general_place = inttoptr i64 {general} to ptr
  %single = load ptr, ptr %single_place, align 8
  %general = load ptr, ptr %general_place, align 8
  %count = load i64, ptr %dims, align 8
  %one = icmp eq i64 %count, 1
  %has = icmp ne ptr %single, null
  %short = and i1 %one, %has
  %chosen = select i1 %short, ptr %single, ptr %general
  %services = inttoptr i64 {services} to ptr
  call void %chosen(ptr %args, ptr %dims, ptr %steps, ptr %services)
  br label %done
done:
  ret ptr null
}}
"""


def xla_target(ffi: Any, kernel: Kernel, precision: str) -> str:
    """The name under which JAX knows the function; registered at the first call and kept until the process ends.

    It is that of the code, so that programs which JAX keeps on disk find the same function in another process.
    """
    identity = f"{kernel.code.digest()} {kernel.checks!r} {kernel.arguments!r} {precision}"
    name = f"dynamis_{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
    if name not in _registered:
        kernel.ufunc(precision)  # stays in memory
        ffi.register_ffi_target(name, ffi.pycapsule(_handler(kernel, precision)), platform="cpu")
        _registered.add(name)
    return name


def layout_of(kernel: Kernel, shape: tuple[int, ...], count: int, batched: Sequence[bool], width: int) -> Any:
    """The number of states and the strides in bytes: of each operand from state to state, and inside the operands."""
    sizes = [size for _, size in kernel.arguments]
    outer = [size if moves else 0 for size, moves in zip(sizes, batched, strict=True)]
    inner = [1] * len(sizes) + [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return np.array([count, *(width * x for x in (*outer, math.prod(shape), *inner))], dtype=np.int64)


def _handler(kernel: Kernel, precision: str) -> Any:
    compiled, lines = kernel.compiled(precision), []
    places = [("given", k) for k in range(len(kernel.arguments))] + [("results", 0)]
    for k, (source, place) in enumerate(places):
        lines += [
            f"  %b{k} = getelementptr ptr, ptr %{source}, i64 {place}",
            f"  %buffer{k} = load ptr, ptr %b{k}, align 8",
            f"  %d{k} = getelementptr i8, ptr %buffer{k}, i64 24",
            f"  %data{k} = load ptr, ptr %d{k}, align 8",
            f"  %a{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"  store ptr %data{k}, ptr %a{k}, align 8",
        ]
    text = _HANDLER.format(
        operands=len(places), buffers="\n".join(lines), single=ctypes.addressof(compiled.single),
        general=compiled.gufunc.place, services=compiled.gufunc.services,
    )  # fmt: skip
    loaded = jit.Loaded(jit.assemble(text, GOOD))
    _loaded.append(loaded)
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(loaded.address)
