"""The NumPy inner loop around a kernel's body, as LLVM IR.

It walks the batch and lets each lane's pointers point at its state: directly where elements are contiguous, at a copy where
they are not, at the last state once more where the batch does not fill the lanes.
"""

from __future__ import annotations

from dynamis.compiler.code import Code
from dynamis.compiler.target import Target


def render_loop(code: Code, t: Target) -> str:
    """The NumPy inner loop: args, dimensions (batch first), steps (batch strides, then core strides)."""
    arguments = [size for _, size in code.arguments]
    results = [len(values) for values in code.outputs]
    operands = [*arguments, *results]
    lines = [
        "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {",
        "entry:",
        f"  %in = alloca [{max(1, len(arguments) * t.lanes)} x ptr], align 64",
        f"  %out = alloca [{max(1, len(results) * t.lanes)} x ptr], align 64",
        "  %n = load i64, ptr %dims, align 8",
    ]
    for k, size in enumerate(operands):
        lines += [
            f"  %pp{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"  %base{k} = load ptr, ptr %pp{k}, align 8",
            f"  %ps{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"  %step{k} = load i64, ptr %ps{k}, align 8",
            f"  %scratch{k} = alloca [{max(1, size) * t.lanes} x {t.precision}], align 64",
        ]
    return "\n".join([*lines, *_loop_rest(code, t, operands, len(arguments)), "}"])


def _loop_rest(code: Code, t: Target, operands: list[int], inputs: int) -> list[str]:
    lines: list[str] = []
    # core strides follow the batch strides, one for each core axis of each operand that has any
    axes = [1] * inputs + [len(shape) for _, shape in code.results]
    place = len(operands)
    cores: list[list[str]] = []
    for k, count in enumerate(axes):
        names = []
        for j in range(count):
            lines += [
                f"  %pc{k}_{j} = getelementptr i64, ptr %steps, i64 {place}",
                f"  %core{k}_{j} = load i64, ptr %pc{k}_{j}, align 8",
            ]
            names.append(f"%core{k}_{j}")
            place += 1
        cores.append(names)
    shapes = [(size,) for _, size in code.arguments] + [shape for _, shape in code.results]
    flags = []
    for k, names in enumerate(cores):
        # contiguous where every core stride is the product of the sizes behind it
        flag = "true"
        width = t.bytes
        for j in reversed(range(len(names))):
            lines.append(f"  %is{k}_{j} = icmp eq i64 {names[j]}, {width}")
            lines.append(f"  %all{k}_{j} = and i1 {flag}, %is{k}_{j}")
            flag = f"%all{k}_{j}"
            width *= max(1, shapes[k][j])
        flags.append(flag)
    lines += ["  br label %head", "head:", "  %i = phi i64 [ 0, %entry ], [ %next, %after ]"]
    lines += ["  %more = icmp slt i64 %i, %n", "  br i1 %more, label %lanes, label %done", "lanes:"]
    lines += ["  %left = sub i64 %n, %i"]
    for lane in range(t.lanes):
        lines += [
            f"  %have{lane} = icmp sgt i64 %left, {lane}",
            f"  %upto{lane} = select i1 %have{lane}, i64 {lane}, i64 0",
            f"  %row{lane} = add i64 %i, %upto{lane}",
        ]
    lines.append("  br label %point0")
    for k in range(len(operands)):
        lines += _point(k, operands[k], k < inputs, k if k < inputs else k - inputs, cores[k], flags[k], t)
    lines += [f"point{len(operands)}:", "  call void @body(ptr %in, ptr %out)"]
    lines += _copy_back(operands, inputs, shapes, cores, flags, t)
    lines += ["after:", f"  %next = add i64 %i, {t.lanes}", "  br label %head", "done:", "  ret void"]
    return lines


def _point(k: int, size: int, is_input: bool, number: int, cores: list[str], flag: str, t: Target) -> list[str]:
    """Let each lane's pointer point at its state, or at a contiguous copy of it."""
    table = "in" if is_input else "out"
    lines = [f"point{k}:"]
    for lane in range(t.lanes):
        lines += [
            f"  %off{k}_{lane} = mul i64 %row{lane}, %step{k}",
            f"  %at{k}_{lane} = getelementptr i8, ptr %base{k}, i64 %off{k}_{lane}",
            f"  %slot{k}_{lane} = getelementptr ptr, ptr %{table}, i64 {number * t.lanes + lane}",
            f"  %own{k}_{lane} = getelementptr {t.precision}, ptr %scratch{k}, i64 {lane * max(1, size)}",
        ]
        if is_input:
            lines.append(f"  store ptr %at{k}_{lane}, ptr %slot{k}_{lane}, align 8")
        else:
            # a lane without a state of its own writes where nobody looks
            lines += [
                f"  %direct{k}_{lane} = and i1 {flag}, %have{lane}",
                f"  %to{k}_{lane} = select i1 %direct{k}_{lane}, ptr %at{k}_{lane}, ptr %own{k}_{lane}",
                f"  store ptr %to{k}_{lane}, ptr %slot{k}_{lane}, align 8",
            ]
    if not is_input or size == 0:
        return [*lines, f"  br label %point{k + 1}"]
    lines += [f"  br i1 {flag}, label %point{k + 1}, label %copy{k}", f"copy{k}:"]
    for lane in range(t.lanes):
        lines.append(f"  store ptr %own{k}_{lane}, ptr %slot{k}_{lane}, align 8")
    lines += [f"  br label %each{k}", f"each{k}:", f"  %j{k} = phi i64 [ 0, %copy{k} ], [ %j{k}n, %each{k} ]"]
    lines += [f"  %jo{k} = mul i64 %j{k}, {cores[0]}"]
    for lane in range(t.lanes):
        lines += [
            f"  %from{k}_{lane} = getelementptr i8, ptr %at{k}_{lane}, i64 %jo{k}",
            f"  %x{k}_{lane} = load {t.precision}, ptr %from{k}_{lane}, align {t.bytes}",
            f"  %into{k}_{lane} = getelementptr {t.precision}, ptr %own{k}_{lane}, i64 %j{k}",
            f"  store {t.precision} %x{k}_{lane}, ptr %into{k}_{lane}, align {t.bytes}",
        ]
    lines += [f"  %j{k}n = add i64 %j{k}, 1", f"  %j{k}c = icmp slt i64 %j{k}n, {size}"]
    return [*lines, f"  br i1 %j{k}c, label %each{k}, label %point{k + 1}"]


def _copy_back(operands: list[int], inputs: int, shapes: list[tuple[int, ...]], cores: list[list[str]], flags: list[str],
               t: Target) -> list[str]:  # fmt: skip
    """Results that are not contiguous, element by element from the scratch rows."""
    lines = [f"  br label %back{inputs}"]
    for k in range(inputs, len(operands)):
        size = operands[k]
        lines.append(f"back{k}:")
        if size == 0 or not cores[k]:
            lines.append(f"  br label %back{k + 1}")
            continue
        lines += [f"  br i1 {flags[k]}, label %back{k + 1}, label %give{k}", f"give{k}:", f"  br label %eachb{k}", f"eachb{k}:"]
        lines.append(f"  %b{k} = phi i64 [ 0, %give{k} ], [ %b{k}n, %givenb{k} ]")
        # the element's offset from its index along each core axis
        offset, rest = "0", f"%b{k}"
        for j in reversed(range(len(cores[k]))):
            width = max(1, shapes[k][j])
            lines += [
                f"  %bi{k}_{j} = urem i64 {rest}, {width}",
                f"  %br{k}_{j} = udiv i64 {rest}, {width}",
                f"  %bm{k}_{j} = mul i64 %bi{k}_{j}, {cores[k][j]}",
                f"  %bo{k}_{j} = add i64 {offset}, %bm{k}_{j}",
            ]
            offset, rest = f"%bo{k}_{j}", f"%br{k}_{j}"
        for lane in range(t.lanes):
            lines += [
                f"  br i1 %have{lane}, label %put{k}_{lane}, label %skip{k}_{lane}",
                f"put{k}_{lane}:",
                f"  %bs{k}_{lane} = getelementptr {t.precision}, ptr %own{k}_{lane}, i64 %b{k}",
                f"  %bx{k}_{lane} = load {t.precision}, ptr %bs{k}_{lane}, align {t.bytes}",
                f"  %bd{k}_{lane} = getelementptr i8, ptr %at{k}_{lane}, i64 {offset}",
                f"  store {t.precision} %bx{k}_{lane}, ptr %bd{k}_{lane}, align {t.bytes}",
                f"  br label %skip{k}_{lane}",
                f"skip{k}_{lane}:",
            ]
        lines += [
            f"  br label %givenb{k}",
            f"givenb{k}:",
            f"  %b{k}n = add i64 %b{k}, 1",
            f"  %b{k}c = icmp slt i64 %b{k}n, {size}",
        ]
        lines.append(f"  br i1 %b{k}c, label %eachb{k}, label %back{k + 1}")
    return [*lines, f"back{len(operands)}:", "  br label %after"]
