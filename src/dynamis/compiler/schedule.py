"""Instruction scheduling for few live values and little register spilling.

First depth first from the results, the last ones first, as the branches of a robot end there; of an instruction's operands
the one that needs most registers comes first [Sethi & Ullman 1970]. Then greedily, among the next few that are ready: while
registers are free the one whose operands are there first, else the one that ends the lives of most of its operands.
"""

from __future__ import annotations

import bisect
import math

from dynamis.compiler.code import Code, Instruction, Operand

LATENCY = {"mul": 3, "add": 2, "sub": 2, "div": 12, "sqrt": 12}  # cycles, of an ARM Neoverse N1; others take 4
SPARE = 6  # registers: while more are free, an early start is worth more than one of them
LOOK_AHEAD = 32  # instructions that are ready, in the order so far, among which the next is chosen


def quick_order(code: Code) -> Code:
    """The angles first, all else as it comes."""
    lead = _angles_first(code)
    early = set(lead)
    return _reordered(code, lead + [k for k in range(len(code.instructions)) if k not in early])


def schedule(code: Code, registers: int = 32) -> Code:
    """The same instructions in a better order for so many registers."""
    lead = _angles_first(code)
    deep = _reordered(code, lead + _depth_first(code, lead))
    return _reordered(deep, _greedy(deep, len(lead), registers - SPARE))


def _reordered(code: Code, order: list[int]) -> Code:
    first, made = code.inputs, code.instructions
    place = list(range(first + len(made)))
    for position, k in enumerate(order, first):
        place[first + k] = position

    def moved(values: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple([place[x] if isinstance(x, int) else x for x in values])

    instructions = tuple([Instruction(made[k].op, moved(made[k].args)) for k in order])
    outputs = tuple(map(moved, code.outputs))
    checks = tuple(place[x] for x in code.checks)
    return Code(code.name, code.arguments, code.results, instructions, outputs, checks)


def _values(instruction: Instruction) -> list[int]:
    """The values an instruction uses, each once. Value 80 is not the number 80.0, though Python calls them equal."""
    return list(dict.fromkeys([x for x in instruction.args if isinstance(x, int)]))


def _angles_first(code: Code) -> list[int]:
    """Everything that the first angles need, and the angles: their range is checked once for all."""
    first, made = code.inputs, code.instructions
    nested = [False] * len(made)  # whether an instruction depends on an angle
    for k, i in enumerate(made):
        nested[k] = any(made[x - first].op == "near" or nested[x - first] for x in i.args if isinstance(x, int) and x >= first)
    wanted = [i.op == "near" and not nested[k] for k, i in enumerate(made)]
    for k in reversed(range(len(made))):
        if wanted[k]:
            for x in made[k].args:
                if isinstance(x, int) and x >= first:
                    wanted[x - first] = True
    return sorted((k for k, first_of_all in enumerate(wanted) if first_of_all), key=lambda k: (made[k].op == "near", k))


def _depth_first(code: Code, done: list[int]) -> list[int]:
    first, made = code.inputs, code.instructions
    operands = [[x - first for x in _values(i) if x >= first] for i in made]
    need: list[int] = []  # registers, were the graph a tree
    for used in operands:
        below = sorted([need[x] for x in used], reverse=True)
        need.append(max([count + k for k, count in enumerate(below)], default=1))
    order: list[int] = []
    seen = set(done)
    results = [x - first for values in code.outputs for x in values if isinstance(x, int) and x >= first]
    results += [x - first for x in code.checks if x >= first]  # computed first, as the results go last to first
    for result in reversed(results):
        stack = [result]
        while stack:
            k = stack[-1]
            if k not in seen:
                waiting = [x for x in operands[k] if x not in seen]
                if waiting:
                    stack += sorted(waiting, key=need.__getitem__)
                    continue
                seen.add(k)
                order.append(k)
            stack.pop()
    return order


def _greedy(code: Code, lead: int, few: int) -> list[int]:
    """List scheduling: one instruction after the other, two a cycle, each at a time when its operands are there."""
    first, made = code.inputs, code.instructions
    operands = [_values(i) for i in made]
    users: dict[int, list[int]] = {}
    for k, used in enumerate(operands):
        for x in used:
            users.setdefault(x, []).append(k)
    waiting = {x: len(k) for x, k in users.items()}  # uses still to come
    for x in {x for values in code.outputs for x in values if isinstance(x, int)}:
        waiting[x] = waiting.get(x, 0) + 1
    kept = first + lead  # inputs and angles lie in memory: they need no register while they wait
    missing = [sum(x >= first for x in used) for used in operands]
    ending = [sum(waiting[x] == 1 and x >= kept for x in used) for used in operands]  # lives an instruction would end
    done = [0.0] * (first + len(made))  # when a value is there
    start = [0.0] * len(made)  # when an instruction's operands are
    ready: list[int] = []
    order: list[int] = []
    live = 0
    now = 0.0

    def take(k: int) -> None:
        nonlocal live
        order.append(k)
        done[first + k] = max(now, start[k]) + LATENCY.get(made[k].op, 4) if k >= lead else 0.0
        live += k >= lead
        for x in operands[k]:
            waiting[x] -= 1
            if x >= kept:
                if waiting[x] == 0:
                    live -= 1
                elif waiting[x] == 1:
                    for user in users[x]:
                        ending[user] += 1
        for user in users.get(first + k, ()):
            missing[user] -= 1
            if missing[user] == 0:
                start[user] = max(done[x] for x in operands[user])
                if user >= lead:
                    bisect.insort(ready, user)

    for k in range(lead):
        take(k)
    ready[:] = [k for k in range(lead, len(made)) if missing[k] == 0]
    while ready:
        # the earliest start and the most ended lives, the first of these counting more while registers are free
        early, lives = (1.0, 1e-3) if live < few else (1e-3, 1.0)
        best, least = -1, math.inf
        for k in ready[:LOOK_AHEAD]:
            wait = start[k] - now
            price = (early * wait if wait > 0.0 else 0.0) - lives * ending[k]
            if price < least:
                best, least = k, price
        ready.remove(best)
        take(best)
        now += 0.5
    return order
