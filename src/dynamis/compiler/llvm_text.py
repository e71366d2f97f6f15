"""Output as LLVM modules: the functions of the body, the table of constants, and a NumPy inner loop.

As every state goes through the same body, results do not depend on how a batch is split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamis.compiler.code import Code
from dynamis.compiler.columns import one_part
from dynamis.compiler.expand_sincos import expand_sincos
from dynamis.compiler.llvm_body import Body
from dynamis.compiler.llvm_loop import render_loop
from dynamis.compiler.llvm_parts import Module, render_body, render_parts
from dynamis.compiler.lowering import LONG
from dynamis.compiler.parts import in_parts
from dynamis.compiler.schedule import quick_order, schedule
from dynamis.compiler.sincos import LARGEST_ANGLE
from dynamis.compiler.target import SHORT, Target, literal

STRAIGHT, MANY_RESULTS = 12_000, 800  # instructions, elements of results
FUNCTIONS = 8  # of long code in a module
MANY_FOR_BASELINE = 9  # elements of results: a loop over them is assembled in a third to nine tenths of the time

_WEIGHTS = """!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{!"branch_weights", i32 100000, i32 1}"""
_INTRINSICS = {"fma": 3, "sqrt": 1, "fabs": 1, "floor": 1, "minimum": 2, "maximum": 2, "copysign": 2}
_LIBRARY = {"sin": 1, "cos": 1, "asin": 1, "acos": 1, "exp": 1, "log": 1, "tanh": 1, "atan2": 2, "pow": 2}


def render(code: Code, target: Target, quick: bool = False) -> str:
    """The text of all modules."""
    return "\n".join(modules(code, target, quick))


def modules(code: Code, target: Target, quick: bool = False) -> Iterator[str]:
    """One module, or several for long code: while one is assembled, the next is rendered. ``loop`` of the last is what NumPy
    calls. ``quick`` spends no time on the order of instructions, on which results do not depend."""
    parts = in_parts(code) if len(code.instructions) >= LONG else None
    if parts is None and _is_transposed_in_a_loop(code, target, quick):
        parts = one_part(code)
    if parts is None:
        plain = expand_sincos(code, target.precision)
        body = Body(quick_order(plain) if quick else schedule(plain, target.registers), target)
        functions = list(body.functions())
        last, frame = Module([*functions, _call_all(body, target)], body.constants), 1 + body.registers.slots
    else:
        per_module = FUNCTIONS if len(code.instructions) > STRAIGHT else None
        rendered = render_parts(code, parts, target, quick, per_module)
        while True:
            try:
                yield _text(next(rendered), target)
            except StopIteration as end:
                last, frame = end.value
                break
    last.text.append(render_loop(code, target, frame * target.width, prepared=parts is not None))
    yield _text(last, target)


def _text(module: Module, target: Target) -> str:
    slow = [_slow_angle(target)] if any("@slow_angle(" in part for part in module.text) else []
    return "\n".join([_table(module.constants, target), *_declarations(target), *slow, *module.text, _WEIGHTS])


def _is_transposed_in_a_loop(code: Code, t: Target, quick: bool) -> bool:
    """Whether results are written as vectors, and transposed into rows in the end: LLVM takes long for the shuffles of many,
    and, in baseline code, for those that make vectors of rows of two."""
    results = sum(len(values) for values in code.outputs)
    if quick and t.width > SHORT and (results >= MANY_FOR_BASELINE or any(size == 2 for _, size in code.arguments)):
        return True
    return len(code.instructions) > STRAIGHT or (results >= MANY_RESULTS and t.width > SHORT)


def _table(constants: Iterable[float], t: Target) -> str:
    rows = [", ".join([f"{t.precision} {literal(x, t)}"] * t.lanes) for x in constants]
    entries = ", ".join(f"{t.vector} <{row}>" for row in rows) if rows else f"{t.vector} zeroinitializer"
    return f"@table = internal global [{max(1, len(rows))} x {t.vector}] [{entries}], align {max(64, t.width)}"


def _declarations(t: Target) -> list[str]:
    suffix = "" if t.precision == "double" else "f"
    kind = f"v{t.lanes}f{t.bits}"
    return [
        *(f"declare {t.vector} @llvm.{name}.{kind}({', '.join([t.vector] * k)})" for name, k in _INTRINSICS.items()),
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
        f"declare {t.vector} @llvm.masked.load.{kind}.p0(ptr, i32, <{t.lanes} x i1>, {t.vector})",
        f"declare void @llvm.masked.store.{kind}.p0({t.vector}, ptr, i32, <{t.lanes} x i1>)",
        f"declare {t.precision} @llvm.fabs.f{t.bits}({t.precision})",
        f"declare i1 @llvm.vector.reduce.or.v{t.lanes}i1(<{t.lanes} x i1>)",
        *(f"declare {t.precision} @{name}{suffix}({', '.join([t.precision] * k)})" for name, k in _LIBRARY.items()),
    ]


def _call_all(body: Body, t: Target) -> str:
    calls = [f"  call void @segment{k}(ptr %in, ptr %out, ptr %frame)" for k in range(body.rendered)]
    return render_body(body.code, t, calls)


def _slow_angle(t: Target) -> str:
    """An angle beyond the reduction's range brought into (−π, π] by the C library, lane by lane: atan2(sin x, cos x).

    Others are left as they are, so that a state does not depend on its neighbours.
    """
    s = "" if t.precision == "double" else "f"
    return f"""define internal {t.vector} @slow_angle({t.vector} %x) cold noinline {{
entry:
  br label %lane
lane:
  %k = phi i32 [ 0, %entry ], [ %next, %lane ]
  %before = phi {t.vector} [ %x, %entry ], [ %after, %lane ]
  %angle = extractelement {t.vector} %x, i32 %k
  %size = call {t.precision} @llvm.fabs.f{t.bits}({t.precision} %angle)
  %far = fcmp ogt {t.precision} %size, {literal(LARGEST_ANGLE, t)}
  %s = call {t.precision} @sin{s}({t.precision} %angle)
  %c = call {t.precision} @cos{s}({t.precision} %angle)
  %a = call {t.precision} @atan2{s}({t.precision} %s, {t.precision} %c)
  %near = select i1 %far, {t.precision} %a, {t.precision} %angle
  %after = insertelement {t.vector} %before, {t.precision} %near, i32 %k
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, {t.lanes}
  br i1 %more, label %lane, label %done
done:
  ret {t.vector} %after
}}"""
