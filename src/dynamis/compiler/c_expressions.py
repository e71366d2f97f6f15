"""Instructions as C expressions, common to C99 and CUDA C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dynamis.compiler.code import Code, Instruction, Operand
from dynamis.errors import InputError
from dynamis.scalar.linear import PIVOT_TOLERANCE

_BINARY = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}"}
_CALLS = {"sin", "cos", "asin", "acos", "atan2", "pow", "exp", "log", "tanh", "sqrt", "floor"}
_TESTS = {"lt": "<", "le": "<=", "eq": "=="}


class Expressions:
    """Values are ``v12``, inputs ``in0[3]`` or an element of ``names[0]``; ``fused`` has the forms of a multiply-add."""

    def __init__(self, code: Code, precision: str, fused: Mapping[str, str], names: Sequence[str] | None = None) -> None:
        self.type, self.fused = precision, fused
        self.suffix = "" if precision == "double" else "f"
        names = names or [f"in{a}" for a in range(len(code.arguments))]
        sizes = [size for _, size in code.arguments]
        self.inputs = [f"{name}[{k}]" for name, size in zip(names, sizes, strict=True) for k in range(size)]

    def number(self, x: float) -> str:
        text = repr(float(np.float32(x)) if self.type == "float" else float(x))
        if text in ("inf", "-inf", "nan"):
            raise InputError(f"the function contains the constant {text}, which has no C form")
        return f"({text}{self.suffix})" if text.startswith("-") else text + self.suffix

    def operand(self, x: Operand) -> str:
        if not isinstance(x, int):
            return self.number(x)
        return self.inputs[x] if x < len(self.inputs) else f"v{x}"

    def expression(self, i: Instruction) -> str:
        a = [self.operand(x) for x in i.args]
        if i.op in _BINARY:
            return _BINARY[i.op].format(*a)
        if i.op in self.fused:
            return self.fused[i.op].format(*a)
        if i.op in _CALLS:
            return f"{i.op}{self.suffix}({', '.join(a)})"
        one, zero = self.number(1.0), self.number(0.0)
        match i.op:
            case "neg":
                return f"-{a[0]}"
            case "abs":
                return f"fabs{self.suffix}({a[0]})"
            # what is not a number stays that, unlike in fmin and fmax
            case "min" | "and":
                return f"{a[0]} < {a[1]} || {a[0]} != {a[0]} ? {a[0]} : {a[1]}"
            case "max" | "or":
                return f"{a[0]} > {a[1]} || {a[0]} != {a[0]} ? {a[0]} : {a[1]}"
            case "sign":
                return f"{a[0]} > {zero} ? {one} : {a[0]} < {zero} ? -{one} : {a[0]} + {zero}"
            case "not":
                return f"{a[0]} == {zero} ? {one} : {zero}"
            case "pivot":
                return f"{a[0]} > {self.number(PIVOT_TOLERANCE[self.type])} * {a[1]} ? {a[0]} : {zero}"
            case "where":
                return f"{a[0]} != {zero} ? {a[1]} : {a[2]}"
        return f"{a[0]} {_TESTS[i.op]} {a[1]} ? {one} : {zero}"
