"""A function as a flat list of instructions, the intermediate representation of all renderers."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

TRIGONOMETRIC = ("sin", "cos")
Operand = int | float  # the number of an earlier value, or a constant


class Instruction(NamedTuple):
    """``op`` applied to earlier values and constants; beside the node's operations there are

    fma a·b + c, fms a·b − c, fnma c − a·b.
    """

    op: str
    args: tuple[Operand, ...]


@dataclass(frozen=True)
class Checks:
    """What a kernel reports: inputs and results that are not finite, or some ``inputs`` only; quaternions (places of their
    first inputs) whose norm differs from 1 by more than the tolerance."""

    unit_quaternions: tuple[int, ...] = ()
    tolerance: float = 0.0
    inputs: tuple[int, ...] | None = None


EVERYTHING = Checks()


@dataclass(frozen=True)
class Code:
    """Inputs are values 0 … (argument by argument, element by element); each instruction makes the next value.

    ``checks`` are values that must be finite: the loop of a CPU kernel reports where one is not.
    """

    name: str
    arguments: tuple[tuple[str, int], ...]
    results: tuple[tuple[str, tuple[int, ...]], ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[tuple[Operand, ...], ...]
    checks: tuple[int, ...] = ()

    @property
    def inputs(self) -> int:
        return sum(size for _, size in self.arguments)

    def cost(self) -> dict[str, int]:
        """How many of each operation; a fused multiply-add counts as one."""
        return dict(sorted(Counter(i.op for i in self.instructions).items()))

    def text(self) -> str:
        """The listing, one instruction a line: the same for the same function, wherever and whenever it is traced."""
        lines = [f"{self.name}({', '.join(f'{name}[{size}]' for name, size in self.arguments)})"]
        for k, i in enumerate(self.instructions, self.inputs):
            lines.append(f"  v{k} = {i.op} " + ", ".join(_operand(x) for x in i.args))
        for (name, shape), values in zip(self.results, self.outputs, strict=True):
            lines.append(f"  {name}{list(shape)} = " + " ".join(_operand(x) for x in values))
        if self.checks:
            lines.append("  finite: " + " ".join(_operand(x) for x in self.checks))
        return "\n".join(lines) + "\n"

    def digest(self) -> str:
        return hashlib.sha256(self.text().encode()).hexdigest()


def with_checks(code: Code, checks: Checks = EVERYTHING) -> Code:
    """The same code, where values that are checked must be finite; so must be a value that is infinite where the norm of a
    quaternion differs from 1 by more than the tolerance."""
    made = list(code.instructions)

    def emit(op: str, *args: Operand) -> int:
        made.append(Instruction(op, args))
        return code.inputs + len(made) - 1

    norms = []
    for x in checks.unit_quaternions:
        square = emit("mul", x, x)
        for k in range(1, 4):
            square = emit("fma", x + k, x + k, square)
        # (1 − t)² ≤ |h|² ≤ (1 + t)²
        distance = emit("abs", emit("sub", square, 1.0 + checks.tolerance**2))
        norms.append(emit("where", emit("le", distance, 2.0 * checks.tolerance), 0.0, math.inf))
    finite = checks.inputs
    if finite is None:
        results = dict.fromkeys(x for values in code.outputs for x in values if isinstance(x, int) and x >= code.inputs)
        finite = (*range(code.inputs), *results)
    return replace(code, instructions=tuple(made), checks=(*finite, *norms))


def _operand(x: Operand) -> str:
    return f"v{x}" if isinstance(x, int) else float(x).hex()
