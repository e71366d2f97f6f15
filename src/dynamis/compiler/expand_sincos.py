"""Expansion of sines and cosines to instructions, so that they are scheduled with the others.

The reduction is by multiples of π/2, then come polynomials on [−π/4, π/4]; the quadrant stands in the lowest bits of x · 2/π
once a large number has been added to it. Beside the usual operations these appear, for vector processors:

    near x          x, or its principal value where it is too large for the reduction
    odd n           whether the quadrant is 1 or 3, as a mask
    half n          the sign bit, set where the quadrant is 2 or 3
    flip x s        x with its sign changed where s has the bit
    pick m a b      a where the mask is set, else b
"""

from __future__ import annotations

from dynamis.compiler.code import TRIGONOMETRIC, Code, Instruction, Operand
from dynamis.compiler.sincos import DOUBLE, SINGLE, Coefficients


def expand_sincos(code: Code, precision: str) -> Code:
    """The same code without sines and cosines."""
    writer = _Writer(code, DOUBLE if precision == "double" else SINGLE)
    outputs = tuple(tuple(map(writer.moved, values)) for values in code.outputs)
    checks = tuple(writer.place.get(x, x) for x in code.checks)
    return Code(code.name, code.arguments, code.results, tuple(writer.made), outputs, checks)


class _Writer:
    def __init__(self, code: Code, coefficients: Coefficients) -> None:
        self.c, self.first = coefficients, code.inputs
        self.made: list[Instruction] = []
        self.place: dict[int, int] = {}
        self.pairs: dict[Operand, tuple[int, int]] = {}
        place, made = self.place, self.made
        for number, (op, operands) in enumerate(code.instructions, code.inputs):
            args = tuple([place.get(x, x) if isinstance(x, int) else x for x in operands])
            if op in TRIGONOMETRIC:
                place[number] = self._pair(args[0])[op == "cos"]
            else:
                place[number] = self.first + len(made)
                made.append(Instruction(op, args))

    def moved(self, x: Operand) -> Operand:
        return self.place.get(x, x) if isinstance(x, int) else x

    def emit(self, op: str, *args: Operand) -> int:
        self.made.append(Instruction(op, args))
        return self.first + len(self.made) - 1

    def _pair(self, angle: Operand) -> tuple[int, int]:
        if angle not in self.pairs:
            self.pairs[angle] = self._sine_and_cosine(angle)
        return self.pairs[angle]

    def _sine_and_cosine(self, angle: Operand) -> tuple[int, int]:
        c, emit = self.c, self.emit
        x = emit("near", angle)
        n = emit("fma", x, c.two_over_pi, c.rounding)
        times = emit("sub", n, c.rounding)
        r = x
        for part in c.half_pi:
            r = emit("fnma", times, part, r)
        z = emit("mul", r, r)
        sine = emit("fma", emit("mul", self._horner(c.sine, z), z), r, r)
        cosine = self._horner((*c.cosine, -0.5, 1.0), z)
        # quadrants 2 and 3 change both signs; 1 and 3 make (s, c) to (c, −s)
        odd, half = emit("odd", n), emit("half", n)
        s, k = emit("flip", sine, half), emit("flip", cosine, half)
        return emit("pick", odd, k, s), emit("pick", odd, emit("neg", s), k)

    def _horner(self, coefficients: tuple[float, ...], z: Operand) -> Operand:
        value: Operand = coefficients[0]
        for c in coefficients[1:]:
            value = self.emit("fma", value, z, c)
        return value
