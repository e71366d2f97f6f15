"""Colour refinement of an expression graph: values computed alike, from alike and for alike, get the same colour.

[Weisfeiler & Leman 1968]: a value's colour is that of its operation; in each round it takes in the colours of its operands
and of its users. Constants all look the same, so the links of a chain have the same colours although their masses differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

ROUNDS = 4  # how far a difference is seen; each end of a chain is unlike its middle that far
FEWEST = 16  # values of the same colour that are a repetition worth a loop
MOST_LEFT = 0.5  # share of the instructions that may stay outside loops
COMMUTING = frozenset({"add", "mul", "fma", "fms", "fnma", "min", "max", "and", "or", "eq"})  # in their first two operands
CONSTANT, NONE = -1, -2  # operands that are no values


def colours(kinds: list[str], operands: Array) -> Array:
    """One number per value; ``kinds[k]`` is its operation, a space and what else tells it apart, ``operands[k]`` are up to
    three values, CONSTANT or NONE."""
    count = len(kinds)
    names = {kind: k for k, kind in enumerate(sorted(set(kinds)))}
    colour = _mixed(np.array([names[kind] for kind in kinds], dtype=np.uint64))
    commuting = np.array([kind.split()[0] in COMMUTING for kind in kinds])
    place = np.tile(np.array([1, 2, 3], dtype=np.uint64), (count, 1))
    place[commuting, 1] = 1
    place = _mixed(place)
    real = operands >= 0
    for _ in range(ROUNDS):
        known = np.concatenate([colour, np.array([1, 2], dtype=np.uint64)])  # NONE and CONSTANT count from the end
        below = _mixed(known[operands] + place).sum(axis=1, dtype=np.uint64)
        above = np.zeros(count, dtype=np.uint64)
        np.add.at(above, operands[real], _mixed(known[:count, None] ^ place)[real])
        colour = _mixed(colour + _mixed(below) + (above << np.uint64(1)))
    return colour


def operand_table(inputs: int, operands: list[list[int]]) -> Array:
    """The operands of each value, for `colours`: inputs have none, then come values with these."""
    table = np.full((inputs + len(operands), 3), NONE)
    for count in (1, 2, 3):
        rows = [k for k, x in enumerate(operands, inputs) if len(x) == count]
        if rows:
            table[rows, :count] = [operands[k - inputs] for k in rows]
    return table


def are_repeated(colour: Array) -> bool:
    """Whether enough values have the same colour as others for loops over links."""
    _, counts = np.unique(colour, return_counts=True)
    return bool(counts[counts >= FEWEST].sum() >= (1.0 - MOST_LEFT) * len(colour))


def _mixed(x: Array) -> Array:
    """Every bit depends on every bit [Steele, Lea & Flood 2014]."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) ^ (x >> np.uint64(30))
    x = x * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def strongly_connected(below: list[list[int]]) -> list[list[int]]:
    """The nodes of a graph in groups that depend on each other, each after what it depends on [Tarjan 1972]."""
    groups: list[list[int]] = []
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    open_: set[int] = set()
    for root in range(len(below)):
        work = [(root, 0)] if root not in index else []
        while work:
            node, child = work.pop()
            if child == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                open_.add(node)
            elif below[node][child - 1] in open_:
                low[node] = min(low[node], low[below[node][child - 1]])
            for at in range(child, len(below[node])):
                other = below[node][at]
                if other not in index:
                    work += [(node, at + 1), (other, 0)]
                    break
                if other in open_:
                    low[node] = min(low[node], index[other])
            else:
                if low[node] == index[node]:
                    cut = stack.index(node)
                    groups.append(stack[cut:])
                    open_.difference_update(stack[cut:])
                    del stack[cut:]
    return groups
