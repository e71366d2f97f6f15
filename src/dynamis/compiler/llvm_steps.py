"""The steps in which the body of a kernel is rendered: instructions, angles in groups, stores of results."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from dynamis.compiler.code import Code, Instruction, Operand
from dynamis.compiler.registers import Key
from dynamis.compiler.target import Target

NAN = (math.nan,)
CHECKED = 8  # angles whose range is checked at once


class Step(NamedTuple):
    """What is rendered at once: an instruction, a few angles made ready, the storing of some results, or just a check."""

    uses: tuple[Key, ...]
    instruction: Instruction | None = None
    number: int = -1  # the value an instruction makes
    angles: tuple[tuple[int, int], ...] = ()  # (angle, the value that is near)
    block: tuple[int, int, int] | None = None  # result, first element, count

    @property
    def addend(self) -> Key | None:
        """What a multiply-add overwrites, unless it is a factor too."""
        i = self.instruction
        if i is None or i.op not in ("fma", "fms", "fnma"):
            return None
        *factors, addend = self.uses
        return None if addend in factors else addend


def key(x: Operand) -> Key:
    """How an operand is known to `Registers`: a constant by its size, NaN by one object, since it equals no other."""
    return x if isinstance(x, int) else NAN if math.isnan(x) else (abs(x),)


def steps(code: Code, target: Target, by_one: bool = False) -> list[Step]:
    """The instructions in order, angles gathered, each block of results (each result, ``by_one``) stored when its last value
    exists."""
    pending: dict[int, list[Step]] = {}
    for r, k, count, newest in _store_blocks(code, target, by_one):
        uses = tuple(x for x in code.outputs[r][k : k + count] if isinstance(x, int))
        pending.setdefault(newest, []).append(Step(uses, block=(r, k, count)))
    result = [step for newest in sorted(pending) if newest < code.inputs for step in pending[newest]]
    angles: list[tuple[int, int]] = []
    for number, i in enumerate(code.instructions, code.inputs):
        if i.op == "near":
            assert isinstance(i.args[0], int)
            angles.append((i.args[0], number))
            continue
        if angles:
            result += _angle_steps(angles)
            angles = []
        result.append(Step(tuple([key(x) for x in i.args]), i, number))
        if number in pending:
            result += pending[number]
    result += _angle_steps(angles)
    used = {x for step in result for x in step.uses}
    return result + [Step((x,)) for x in code.checks if x < code.inputs and x not in used]  # inputs nobody else reads


def _angle_steps(angles: list[tuple[int, int]]) -> list[Step]:
    groups = [tuple(angles[k : k + CHECKED]) for k in range(0, len(angles), CHECKED)]
    return [Step(tuple(x for x, _ in group), angles=group) for group in groups]


def _store_blocks(code: Code, t: Target, by_one: bool) -> Iterator[tuple[int, int, int, int]]:
    """(result, first element, count, newest value) of each store: whole vectors of elements, then the rest."""
    for r, values in enumerate(code.outputs):
        rest = len(values) if by_one else len(values) % t.lanes
        whole = len(values) - rest
        blocks = [(k, t.lanes) for k in range(0, whole, t.lanes)]
        blocks += [(whole, rest)] if t.masked and rest > 1 and not by_one else [(k, 1) for k in range(whole, len(values))]
        for k, count in blocks:
            yield r, k, count, max((x for x in values[k : k + count] if isinstance(x, int)), default=-1)
