"""Report on a compiled function: algorithm, operation counts, savings, vectorisation."""

from __future__ import annotations

from collections.abc import Sequence

from dynamis.compiler import jit
from dynamis.compiler.code import Code
from dynamis.compiler.expand_sincos import expand_sincos
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.llvm_body import Body
from dynamis.compiler.lowering import LONG
from dynamis.compiler.part_writer import Parts
from dynamis.compiler.parts import in_parts
from dynamis.compiler.schedule import schedule
from dynamis.display import as_text, counted

_KINDS = {
    "fused multiply-adds": ("fma", "fms", "fnma"),
    "products": ("mul",),
    "sums": ("add", "sub"),
    "divisions": ("div",),
    "sines and cosines": ("sin", "cos"),
    "negations": ("neg",),
    "pivot tests": ("pivot",),
}


class KernelReport(str):
    """A text of several lines, shown as it is laid out."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    _repr_html_ = as_text


def kernel_report(name: str, kernel: Kernel, robot: str, ways: Sequence[tuple[str, int]], plain: Code) -> str:
    """``ways`` are the candidate algorithms with operation counts, ``plain`` is the function of the unmodified model."""
    code = kernel.code
    lines = [f"{name} of {robot}"]
    chosen, *others = sorted(ways, key=lambda way: way[1])
    lines.append(f"  algorithm   {chosen[0]}" + "".join(f"; {other} would need {cost} operations" for other, cost in others))
    lines.append(f"  operations  {_operations(code)}")
    saved = len(plain.instructions) - len(code.instructions)
    if saved > 0:
        lines.append(
            f"  saved       {saved} of {len(plain.instructions)}, by shifting link frames along joint axes "
            "and regrouping inertias towards the base"
        )
    parts = in_parts(code) if len(code.instructions) >= LONG else None
    if parts is not None:
        lines.append(f"  loops       {_loops(parts)}")
    for precision, dtype in (("double", "float64"), ("float", "float32")):
        target = jit.host_target(precision)
        line = f"  {dtype}     {counted(target.lanes, 'state')} at a time in {target.registers} vector registers"
        if parts is None:
            slots = Body(schedule(expand_sincos(code, precision), target.registers), target).registers.slots
            line += f", {slots} spill slots"
        lines.append(line)
    lines.append(f"  compiled    {kernel.state()}")
    return "\n".join(lines)


def _loops(parts: Parts) -> str:
    """Repeated links, or columns of results: operations and turns of each loop."""
    loops = [f"{len(part.code.instructions)} operations × {part.turns}" for part in parts.parts if part.turns > 1]
    outside = sum(len(part.code.instructions) for part in parts.parts if part.turns == 1)
    return f"{', '.join(loops)} for repeated links or columns; {outside} operations outside loops"


def _operations(code: Code) -> str:
    counts = code.cost()
    parts = [(kind, sum(counts.pop(op, 0) for op in ops)) for kind, ops in _KINDS.items()]
    parts += [("others", sum(counts.values()))]
    return f"{len(code.instructions)}: " + ", ".join(f"{count} {kind}" for kind, count in parts if count)
