"""A traced function as a flat list of instructions, ready for any renderer.

Lowering does what concerns every target: an order of evaluation, one reciprocal for several divisions by the same value,
and fused multiply-adds. Fusing is decided here, once, so that every target and every batch split rounds alike.
"""

from __future__ import annotations

import bisect
import hashlib
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.scalar import Node, symbol, topological

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


def trace(function: Callable[..., Any], arguments: Sequence[tuple[str, int]], name: str = "kernel") -> Code:
    """Run a function on symbols and record it. It takes one vector an argument and returns an array or several."""
    vectors = [np.array([symbol(f"{arg}[{k}]") for k in range(size)], dtype=object) for arg, size in arguments]
    try:
        returned = function(*vectors)
    except InputError as error:
        place = _users_line(error)
        raise InputError(f"{error}{place}") from None if place else error
    results = returned if isinstance(returned, tuple) else (returned,)
    arrays = [np.asarray(r, dtype=object) for r in results]
    return lower(name, list(arguments), vectors, arrays)


def _users_line(error: BaseException) -> str:
    """Where in the user's own code a trace stopped: the innermost frame outside this package."""
    ours = str(Path(__file__).parents[1])
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(ours)]
    if not frames:
        return ""
    last = frames[-1]
    return f" (in {last.name}, {last.filename}:{last.lineno}: {last.line})"


def lower(
    name: str, arguments: list[tuple[str, int]], vectors: list[npt.NDArray[Any]], results: list[npt.NDArray[Any]]
) -> Code:
    inputs = [x for vector in vectors for x in vector]
    known = {id(x) for x in inputs}
    flat = [x for result in results for x in result.flat]
    order = topological(flat)
    for node in order:
        if node.op == "symbol" and id(node) not in known:
            raise InputError(f"the symbol {node} has no value: give it one, or make it an input")
    order = [node for node in order if id(node) not in known]
    # angles first: their sines and cosines are wanted by everything, and can then be computed together
    angles = topological([node for node in order if node.op in ("sin", "cos")])
    early = {id(node) for node in angles}
    order = [n for n in angles if id(n) not in known] + [n for n in order if id(n) not in early]
    return _Lowering(name, arguments, inputs, order, results).code()


class _Lowering:
    def __init__(self, name: str, arguments: list[tuple[str, int]], inputs: list[Node], order: list[Node],
                 results: list[npt.NDArray[Any]]) -> None:  # fmt: skip
        self.name, self.arguments, self.results, self.order = name, arguments, results, order
        self.value: dict[int, Operand] = {id(x): k for k, x in enumerate(inputs)}
        self.made: list[Instruction] = []
        self.first = len(inputs)
        self.uses: Counter[int] = Counter(id(a) for node in order for a in node.args if isinstance(a, Node))
        self.uses.update(id(x) for result in results for x in result.flat if isinstance(x, Node))
        self.divisions: Counter[int] = Counter(id(n.args[1]) for n in order if n.op == "div" and isinstance(n.args[1], Node))
        self.reciprocal: dict[int, Operand] = {}

    def emit(self, op: str, *args: Operand) -> int:
        self.made.append(Instruction(op, args))
        return self.first + len(self.made) - 1

    def operand(self, x: Any) -> Operand:
        return self.value[id(x)] if isinstance(x, Node) else float(x)

    def code(self) -> Code:
        fused = self._fusible()
        for node in self.order:
            if id(node) not in fused:
                self.value[id(node)] = self._instruction(node, fused)
        outputs = tuple(tuple(self.operand(x) for x in result.flat) for result in self.results)
        shapes = tuple((f"out{k}", result.shape) for k, result in enumerate(self.results))
        return schedule(Code(self.name, tuple(self.arguments), shapes, tuple(self.made), outputs))

    def _fusible(self) -> set[int]:
        """Products used once, by an addition that will take them in: at most one for each addition."""
        taken: set[int] = set()
        for node in self.order:
            if node.op in ("add", "sub"):
                for a in node.args:
                    if isinstance(a, Node) and a.op == "mul" and self.uses[id(a)] == 1:
                        taken.add(id(a))
                        break
        return taken

    def _instruction(self, node: Node, fused: set[int]) -> Operand:
        if node.op in ("add", "sub"):
            a, b = node.args
            if isinstance(a, Node) and id(a) in fused:
                x, y = (self.operand(p) for p in a.args)
                return self.emit("fma" if node.op == "add" else "fms", x, y, self.operand(b))
            if isinstance(b, Node) and id(b) in fused:
                x, y = (self.operand(p) for p in b.args)
                return self.emit("fma" if node.op == "add" else "fnma", x, y, self.operand(a))
        if node.op == "div":
            a, b = node.args
            if isinstance(b, float):
                return self.emit("mul", 1.0 / b, self.operand(a))
            if self.divisions[id(b)] > 1:
                if id(b) not in self.reciprocal:
                    self.reciprocal[id(b)] = self.emit("div", 1.0, self.operand(b))
                inverse = self.reciprocal[id(b)]
                return inverse if isinstance(a, float) and a == 1.0 else self.emit("mul", self.operand(a), inverse)
        return self.emit(node.op, *(self.operand(x) for x in node.args))


LOOK_AHEAD = 32  # instructions that are ready, oldest first, among which the next is chosen


def schedule(code: Code) -> Code:
    """The same instructions in an order that keeps fewer values waiting, so that fewer spill from registers.

    Greedy: of the instructions that are ready, take one that ends the life of most of its operands; among equals the one
    that was traced first. Sines and cosines stay in front.
    """
    first, made = code.inputs, code.instructions
    operands = [{x for x in i.args if isinstance(x, int)} for i in made]
    waiting = Counter(x for used in operands for x in used)  # uses still to come
    waiting.update({x for values in code.outputs for x in values if isinstance(x, int)})
    missing = [sum(x >= first for x in used) for used in operands]
    users: dict[int, list[int]] = {}
    for k, used in enumerate(operands):
        for x in used:
            users.setdefault(x, []).append(k)
    lead = max((k + 1 for k, i in enumerate(made) if i.op in ("sin", "cos")), default=0)
    order: list[int] = []
    ready: list[int] = []

    def take(k: int) -> None:
        order.append(k)
        waiting.subtract(operands[k])
        for user in users.get(first + k, ()):
            missing[user] -= 1
            if missing[user] == 0 and user >= lead:
                bisect.insort(ready, user)

    for k in range(lead):
        take(k)
    ready[:] = [k for k in range(lead, len(made)) if missing[k] == 0]
    while ready:
        best = max(ready[:LOOK_AHEAD], key=lambda k: (sum(waiting[x] == 1 for x in operands[k]), -k))
        ready.remove(best)
        take(best)
    place = {first + k: first + position for position, k in enumerate(order)}

    def moved(x: Operand) -> Operand:
        return place.get(x, x) if isinstance(x, int) else x

    instructions = tuple(Instruction(made[k].op, tuple(map(moved, made[k].args))) for k in order)
    outputs = tuple(tuple(map(moved, values)) for values in code.outputs)
    return Code(code.name, code.arguments, code.results, instructions, outputs)
