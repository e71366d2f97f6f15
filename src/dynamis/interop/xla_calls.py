"""Compiled functions as foreign functions of XLA: JAX calls machine code, or launches a CUDA kernel, without passing through
Python.

A handler of XLA's foreign function interface takes a call frame, of which it reads buffers and one attribute, the layout: the
number of states and the strides of all operands, as a loop of NumPy takes them. On the processor it calls that loop, on a GPU
it queues the kernel on XLA's stream. When XLA asks for the metadata, it answers with the version of the caller: the parts of
the frame that are read here are those of all versions 0.x.
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

# offsets in bytes: frame 8 extension, 16 api, 24 context, 32 stage, 72 arguments, 112 results, 160 attributes; buffer 24 data;
# array 16 data; extension 8 type, 24 metadata; metadata 8 version (24, null, major, minor), 32 traits, 40 type of the state;
# api 32 version, 48 creates an error, 80 gives the stream
_HANDLER = """
define ptr @loop(ptr %frame) {{
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
{run}
  br label %done
done:
  ret ptr null
}}
"""


# better code may take the place of a loop at any time
_LOOP = """
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
"""

# the parameters of the kernel are (pointer, step) of each argument, the result and the number of states
_LAUNCH = """
  %api_of_call = getelementptr i8, ptr %frame, i64 16
  %services = load ptr, ptr %api_of_call, align 8
  %context_place = getelementptr i8, ptr %frame, i64 24
  %context = load ptr, ptr %context_place, align 8
  %request = alloca [4 x ptr], align 8
  store i64 32, ptr %request, align 8
  %request1 = getelementptr ptr, ptr %request, i64 1
  store ptr null, ptr %request1, align 8
  %request2 = getelementptr ptr, ptr %request, i64 2
  store ptr %context, ptr %request2, align 8
  %request3 = getelementptr ptr, ptr %request, i64 3
  store ptr null, ptr %request3, align 8
  %get_place = getelementptr i8, ptr %services, i64 80
  %get = load ptr, ptr %get_place, align 8
  %refused = call ptr %get(ptr %request)
  %granted = icmp eq ptr %refused, null
  br i1 %granted, label %launch, label %no_stream
no_stream:
  ret ptr %refused
launch:
  %stream = load ptr, ptr %request3, align 8
  %words = alloca [{words} x i64], align 8
  %pointers = alloca [{words} x ptr], align 8
{parameters}
  %count = load i64, ptr %dims, align 8
  store i64 %count, ptr %w{last}, align 8
  %more = add i64 %count, {beyond}
  %blocks = udiv i64 %more, {block}
  %grid = trunc i64 %blocks to i32
  %kernel = inttoptr i64 {kernel} to ptr
  %driver = inttoptr i64 {driver} to ptr
  %status = call i32 %driver(ptr %kernel, i32 %grid, i32 1, i32 1, i32 {block}, i32 1, i32 1, i32 0,
                             ptr %stream, ptr %pointers, ptr null)
  %queued = icmp eq i32 %status, 0
  br i1 %queued, label %finished, label %failed
failed:
  store i64 32, ptr %request, align 8
  %message = inttoptr i64 {message} to ptr
  store ptr %message, ptr %request2, align 8
  store i32 13, ptr %request3, align 4
  %create_place = getelementptr i8, ptr %services, i64 48
  %create = load ptr, ptr %create_place, align 8
  %error = call ptr %create(ptr %request)
  ret ptr %error
finished:
"""
_MESSAGE = ctypes.create_string_buffer(
    b"dynamis: the CUDA kernel could not be launched (it belongs to the GPU of its first call)"
)


def xla_target(ffi: Any, kernel: Kernel, precision: str, platform: str) -> str:
    """The name under which JAX knows the function on "cpu" or "CUDA"; registered at the first call until the process ends.

    It is that of the code, so that programs which JAX keeps on disk find the same function in another process.
    """
    identity = f"{kernel.code.digest()} {kernel.checks!r} {kernel.arguments!r} {precision} {platform}"
    name = f"dynamis_{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
    if name not in _registered:
        handler = _processor_handler(kernel, precision) if platform == "cpu" else _gpu_handler(kernel, precision)
        ffi.register_ffi_target(name, ffi.pycapsule(handler), platform=platform)
        _registered.add(name)
    return name


def layout_of(kernel: Kernel, shape: tuple[int, ...], count: int, batched: Sequence[bool], width: int) -> Any:
    """The number of states and the strides: of each operand from state to state, and inside the operands; ``width`` is that of
    a number, in bytes for a loop, 1 for a CUDA kernel."""
    sizes = [size for _, size in kernel.arguments]
    outer = [size if moves else 0 for size, moves in zip(sizes, batched, strict=True)]
    inner = [1] * len(sizes) + [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return np.array([count, *(width * x for x in (*outer, math.prod(shape), *inner))], dtype=np.int64)


def _processor_handler(kernel: Kernel, precision: str) -> Any:
    kernel.ufunc(precision)  # stays in memory
    compiled = kernel.compiled(precision)
    count = len(kernel.arguments) + 1
    places = [line for k in range(count) for line in (
        f"  %a{k} = getelementptr ptr, ptr %args, i64 {k}", f"  store ptr %data{k}, ptr %a{k}, align 8",
    )]  # fmt: skip
    loop = _LOOP.format(
        single=ctypes.addressof(compiled.single), general=compiled.gufunc.place, services=compiled.gufunc.services
    )
    return _handler(len(kernel.arguments), "\n".join([f"  %args = alloca [{count} x ptr], align 8", *places, loop]))


def _gpu_handler(kernel: Kernel, precision: str) -> Any:
    function = kernel.cuda.function(precision).kernel.ptr
    driver = ctypes.cast(ctypes.CDLL("libcuda.so.1").cuLaunchKernel, ctypes.c_void_p).value
    return launch_handler(len(kernel.arguments), function, driver or 0, kernel.cuda.blocks[precision])


def launch_handler(arguments: int, kernel: int, driver: int, block: int) -> Any:
    """A handler that launches a kernel with so many threads per block by cuLaunchKernel, at the address ``driver``."""
    last = 2 * arguments + 1
    lines = []
    for j in range(last + 1):
        lines += [
            f"  %w{j} = getelementptr i64, ptr %words, i64 {j}",
            f"  %p{j} = getelementptr ptr, ptr %pointers, i64 {j}",
            f"  store ptr %w{j}, ptr %p{j}, align 8",
        ]
    for k in range(arguments):
        lines += [
            f"  store ptr %data{k}, ptr %w{2 * k}, align 8",
            f"  %s{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"  %step{k} = load i64, ptr %s{k}, align 8",
            f"  store i64 %step{k}, ptr %w{2 * k + 1}, align 8",
        ]
    lines.append(f"  store ptr %data{arguments}, ptr %w{last - 1}, align 8")
    run = _LAUNCH.format(
        words=last + 1, last=last, parameters="\n".join(lines), block=block, beyond=block - 1, kernel=kernel, driver=driver,
        message=ctypes.addressof(_MESSAGE),
    )  # fmt: skip
    return _handler(arguments, run)


def _handler(arguments: int, run: str) -> Any:
    """A handler that runs these instructions with %data0, … (the last is the result), %dims and %steps."""
    lines = []
    for k, (source, place) in enumerate([*(("given", k) for k in range(arguments)), ("results", 0)]):
        lines += [
            f"  %b{k} = getelementptr ptr, ptr %{source}, i64 {place}",
            f"  %buffer{k} = load ptr, ptr %b{k}, align 8",
            f"  %d{k} = getelementptr i8, ptr %buffer{k}, i64 24",
            f"  %data{k} = load ptr, ptr %d{k}, align 8",
        ]
    loaded = jit.Loaded(jit.assemble(_HANDLER.format(buffers="\n".join(lines), run=run), GOOD))
    _loaded.append(loaded)
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(loaded.address)
