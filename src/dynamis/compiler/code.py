"""A function as a flat list of instructions, the intermediate representation of all renderers."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass

TRIGONOMETRIC = ("sin", "cos")
Operand = int | float  # the number of an earlier value, or a constant


@dataclass(frozen=True)
class Instruction:
    """``op`` applied to earlier values and constants; beside the node's operations there are

    fma a·b + c, fms a·b − c, fnma c − a·b.
    """

    op: str
    args: tuple[Operand, ...]


@dataclass(frozen=True)
class Code:
    """Inputs are values 0 … (argument by argument, element by element); each instruction makes the next value."""

    name: str
    arguments: tuple[tuple[str, int], ...]
    results: tuple[tuple[str, tuple[int, ...]], ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[tuple[Operand, ...], ...]

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
        return "\n".join(lines) + "\n"

    def digest(self) -> str:
        return hashlib.sha256(self.text().encode()).hexdigest()


def _operand(x: Operand) -> str:
    return f"v{x}" if isinstance(x, int) else float(x).hex()
