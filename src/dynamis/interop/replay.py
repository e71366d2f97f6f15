"""Code run on the scalars of another library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dynamis.compiler.code import Code
from dynamis.scalar.substitution import CONSTRUCTORS

# operations that every scalar type has; a pivot is the value itself, so that results are differentiable
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    "pivot": lambda value, _scale: value,
}
EXPRESSIONS: dict[str, Callable[..., Any]] = {
    **CONSTRUCTORS, **{op: ARITHMETIC[op] for op in ("fma", "fms", "fnma")}
}  # fmt: skip


def replay(code: Code, inputs: Sequence[Any], operations: Mapping[str, Callable[..., Any]]) -> list[list[Any]]:
    """The results, flat, from the inputs of all arguments in order."""
    values = list(inputs)
    for instruction in code.instructions:
        operands = [values[x] if isinstance(x, int) else x for x in instruction.args]
        values.append(operations[instruction.op](*operands))
    return [[values[x] if isinstance(x, int) else x for x in flat] for flat in code.outputs]
