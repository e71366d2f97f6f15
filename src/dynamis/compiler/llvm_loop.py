"""The NumPy inner loop around a kernel's body, as LLVM IR.

It walks the batch and lets each lane's pointers point at its state: directly where elements are contiguous, at a copy where
they are not. Where the batch does not fill the lanes, those left over do the work of the first once more, to the same place.
"""

from __future__ import annotations

import itertools
import math

from dynamis.compiler.code import Code
from dynamis.compiler.target import LINE, LONG_ROW, Target

ON_STACK = 32 * 1024  # bytes of copies, and of the body's frame; beyond that they lie on the heap, as some systems' threads
# have 128 KiB of stack
AHEAD, UNROLLED = 2048, 8  # bytes of results to ask for in advance, lines at a time
# what a loop with copies on the heap calls, at addresses it is given: not every system finds Python's symbols by name
SERVICES = ("PyMem_RawMalloc", "PyMem_RawFree", "PyGILState_Ensure", "PyErr_NoMemory", "PyGILState_Release")


def render_loop(code: Code, t: Target, frame: int, prepared: bool) -> str:
    """The NumPy inner loop: args, dimensions (batch first), steps (batch strides, then core strides), services.

    ``frame`` is how many bytes the body needs beside its arguments and results; ``prepared`` says that ``@prepare`` writes some
    of them before the first state.
    The word behind the services is set to 1 where a value that is checked is not finite.
    """
    shapes = [*((size,) for _, size in code.arguments), *(shape for _, shape in code.results)]
    sizes = [*(size for _, size in code.arguments), *(len(values) for values in code.outputs)]
    inputs, count = len(code.arguments), len(sizes)
    lines = [
        "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %services) {",
        "entry:",
        f"  %in = alloca [{max(1, inputs * t.lanes)} x ptr], align 64",
        f"  %out = alloca [{max(1, (count - inputs) * t.lanes)} x ptr], align 64",
        "  %n = load i64, ptr %dims, align 8",
    ]
    for k in range(count):
        lines += [
            f"  %pp{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"  %base{k} = load ptr, ptr %pp{k}, align 8",
            f"  %ps{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"  %step{k} = load i64, ptr %ps{k}, align 8",
        ]
    place = count  # core strides follow the batch strides, one for each core axis of each operand that has any
    flags = []
    for k, shape in enumerate(shapes):
        more, flag = _contiguous(k, shape, place, t)
        lines += more
        flags.append(flag)
        place += len(shape)
    rows = [size * t.lanes * t.bytes if flag != "true" else 0 for size, flag in zip(sizes, flags, strict=True)]
    *starts, total = itertools.accumulate(rows, initial=0)
    lines += _memory(total, frame, flags)
    for k in range(count):
        for lane in range(t.lanes):
            lines.append(f"  %own{k}_{lane} = getelementptr i8, ptr %copies, i64 {starts[k] + lane * sizes[k] * t.bytes}")
    lines += ["  call void @prepare(ptr %frame)"] if prepared else []
    lines += ["  br label %head", "head:", "  %i = phi i64 [ 0, %start ], [ %next, %after ]"]
    lines += ["  %more = icmp slt i64 %i, %n", "  br i1 %more, label %lanes, label %done", "lanes:"]
    lines += ["  %left = sub i64 %n, %i"]
    for lane in range(t.lanes):
        lines += [
            f"  %have{lane} = icmp sgt i64 %left, {lane}",
            f"  %upto{lane} = select i1 %have{lane}, i64 {lane}, i64 0",
            f"  %row{lane} = add i64 %i, %upto{lane}",
        ]
    lines += [*_fetch_ahead(sizes, inputs, t), "  br label %point0"]
    for k in range(count):
        lines += _point(k, inputs, shapes[k], flags[k], t)
    lines += [
        f"point{count}:",
        "  %finite = call i1 @body(ptr %in, ptr %out, ptr %frame)",
        f"  br i1 %finite, label %back{inputs}, label %trouble, !prof !1",
        "trouble:",
        f"  %status = getelementptr i64, ptr %services, i64 {len(SERVICES)}",
        "  store i64 1, ptr %status, align 8",
        f"  br label %back{inputs}",
    ]
    for k in range(inputs, count):
        lines += [f"back{k}:", f"  br i1 {flags[k]}, label %back{k + 1}, label %give{k}", f"give{k}:"]
        lines += [*_copy(k, shapes[k], t, back=True), f"  br label %back{k + 1}"]
    lines += [f"back{count}:", "  br label %after", "after:", f"  %next = add i64 %i, {t.lanes}", "  br label %head", "}"]
    return "\n".join(lines)


def _contiguous(k: int, shape: tuple[int, ...], place: int, t: Target) -> tuple[list[str], str]:
    """Loads an operand's core strides; the flag says whether each is the product of the sizes behind it."""
    lines = []
    flag, width = "true", t.bytes
    for j in reversed(range(len(shape))):
        lines += [
            f"  %pc{k}_{j} = getelementptr i64, ptr %steps, i64 {place + j}",
            f"  %core{k}_{j} = load i64, ptr %pc{k}_{j}, align 8",
            f"  %is{k}_{j} = icmp eq i64 %core{k}_{j}, {width}",
            f"  %all{k}_{j} = and i1 {flag}, %is{k}_{j}",
        ]
        flag = f"%all{k}_{j}"
        width *= shape[j]
    return lines, flag if width else "true"  # where there are no elements, none is out of place


def _memory(copies: int, frame: int, flags: list[str]) -> list[str]:
    """Room for copies, whether they will be needed or not, and for the frame."""
    small = {name: size for name, size in (("copies", copies), ("frame", frame)) if size <= ON_STACK}
    lines = [f"  %{name} = alloca [{size} x i8], align 64" for name, size in small.items()]
    if len(small) == 2:
        return [*lines, "  br label %start", "done:", "  ret void", "start:"]
    large = {name: size for name, size in (("copies", copies), ("frame", frame)) if size > ON_STACK}
    return lines + _on_heap(large, flags)


def _on_heap(large: dict[str, int], flags: list[str]) -> list[str]:
    """Room for the frame, and for copies if any operand is to be copied; where there is none, Python's error says so."""
    lines = []
    direct = "true"
    for k, flag in enumerate(flags):
        lines.append(f"  %direct{k} = and i1 {direct}, {flag}")
        direct = f"%direct{k}"
    for k, name in enumerate(SERVICES):
        lines += [f"  %at{name} = getelementptr ptr, ptr %services, i64 {k}", f"  %{name} = load ptr, ptr %at{name}, align 8"]
    lines += [
        "  br label %heap" if "frame" in large else f"  br i1 {direct}, label %start, label %heap",
        "heap:",
        f"  %found = call ptr %PyMem_RawMalloc(i64 {sum(large.values()) + len(large) * LINE})",
        "  %none = icmp eq ptr %found, null",
        "  br i1 %none, label %full, label %start",
        "full:",
        "  %held = call i32 %PyGILState_Ensure()",
        "  call ptr %PyErr_NoMemory()",
        "  call void %PyGILState_Release(i32 %held)",
        "  ret void",
        "done:",
        "  call void %PyMem_RawFree(ptr %block)",  # of null: nothing
        "  ret void",
        "start:",
        "  %block = phi ptr [ %found, %heap ]" + ("" if "frame" in large else ", [ null, %entry ]"),
        "  %address = ptrtoint ptr %block to i64",
        f"  %behind = add i64 %address, {LINE - 1}",
        f"  %aligned = and i64 %behind, {-LINE}",
    ]
    offset = 0
    for name, size in large.items():
        lines += [f"  %{name}_at = add i64 %aligned, {offset}", f"  %{name} = inttoptr i64 %{name}_at to ptr"]
        offset += -(-size // LINE) * LINE
    return lines


def _fetch_ahead(sizes: list[int], inputs: int, t: Target) -> list[str]:
    """Ask for the memory of results to come: a processor guesses well what will be read, but waits for what is written.

    That of long rows is asked for by the body, line by line, as more at once than the processor can keep in mind is lost.
    """
    lines: list[str] = []
    before = "lanes"
    for k in range(inputs, len(sizes)):
        row = sizes[k] * t.bytes
        if row * t.lanes < LINE or row >= LONG_ROW:
            continue
        distance = t.lanes * math.ceil(AHEAD / (row * t.lanes))
        lines += [
            f"  %later{k} = add i64 %i, {distance}",
            f"  %laterat{k} = mul i64 %later{k}, %step{k}",
            f"  %fetch{k} = getelementptr i8, ptr %base{k}, i64 %laterat{k}",
            f"  br label %fetching{k}",
            f"fetching{k}:",
            f"  %f{k} = phi i64 [ 0, %{before} ], [ %fn{k}, %fetching{k} ]",
        ]
        for j in range(0, min(row * t.lanes, UNROLLED * LINE), LINE):
            lines += [
                f"  %fo{k}_{j} = add i64 %f{k}, {j}",
                f"  %fl{k}_{j} = getelementptr i8, ptr %fetch{k}, i64 %fo{k}_{j}",
                f"  call void @llvm.prefetch.p0(ptr %fl{k}_{j}, i32 1, i32 3, i32 1)",
            ]
        lines += [
            f"  %fn{k} = add i64 %f{k}, {UNROLLED * LINE}",
            f"  %fc{k} = icmp slt i64 %fn{k}, {row * t.lanes}",
            f"  br i1 %fc{k}, label %fetching{k}, label %fetched{k}",
            f"fetched{k}:",
        ]
        before = f"fetched{k}"
    return lines


def _point(k: int, inputs: int, shape: tuple[int, ...], flag: str, t: Target) -> list[str]:
    """Let each lane's pointer point at its state, or at the room for a copy, into which inputs are then copied."""
    table, number = ("in", k) if k < inputs else ("out", k - inputs)
    lines = [f"point{k}:"]
    for lane in range(t.lanes):
        lines += [
            f"  %off{k}_{lane} = mul i64 %row{lane}, %step{k}",
            f"  %at{k}_{lane} = getelementptr i8, ptr %base{k}, i64 %off{k}_{lane}",
            f"  %slot{k}_{lane} = getelementptr ptr, ptr %{table}, i64 {number * t.lanes + lane}",
            f"  store ptr %at{k}_{lane}, ptr %slot{k}_{lane}, align 8",
        ]
    lines += [f"  br i1 {flag}, label %point{k + 1}, label %take{k}", f"take{k}:"]
    lines += [f"  store ptr %own{k}_{lane}, ptr %slot{k}_{lane}, align 8" for lane in range(t.lanes)]
    if k < inputs:
        lines += _copy(k, shape, t, back=False)
    return [*lines, f"  br label %point{k + 1}"]


def _copy(k: int, shape: tuple[int, ...], t: Target, back: bool) -> list[str]:
    """All elements of all lanes, one after the other, from where they lie into the copies, or back."""
    before = f"give{k}" if back else f"take{k}"
    lines = [f"  br label %each{k}", f"each{k}:", f"  %e{k} = phi i64 [ 0, %{before} ], [ %en{k}, %each{k} ]"]
    # the element's offset from its index along each core axis
    offset, index = "0", f"%e{k}"
    for j in reversed(range(1, len(shape))):
        lines += [
            f"  %ei{k}_{j} = urem i64 {index}, {max(1, shape[j])}",
            f"  %er{k}_{j} = udiv i64 {index}, {max(1, shape[j])}",
            f"  %em{k}_{j} = mul i64 %ei{k}_{j}, %core{k}_{j}",
            f"  %eo{k}_{j} = add i64 {offset}, %em{k}_{j}",
        ]
        offset, index = f"%eo{k}_{j}", f"%er{k}_{j}"
    if shape:
        lines += [f"  %em{k} = mul i64 {index}, %core{k}_0", f"  %eo{k} = add i64 {offset}, %em{k}"]
        offset = f"%eo{k}"
    for lane in range(t.lanes):
        there, here = f"%there{k}_{lane}", f"%here{k}_{lane}"
        lines += [
            f"  {there} = getelementptr i8, ptr %at{k}_{lane}, i64 {offset}",
            f"  {here} = getelementptr {t.precision}, ptr %own{k}_{lane}, i64 %e{k}",
            f"  %x{k}_{lane} = load {t.precision}, ptr {here if back else there}, align {t.bytes}",
            f"  store {t.precision} %x{k}_{lane}, ptr {there if back else here}, align {t.bytes}",
        ]
    return [
        *lines,
        f"  %en{k} = add i64 %e{k}, 1",
        f"  %ec{k} = icmp slt i64 %en{k}, {math.prod(shape)}",
        f"  br i1 %ec{k}, label %each{k}, label %copied{k}",
        f"copied{k}:",
    ]
