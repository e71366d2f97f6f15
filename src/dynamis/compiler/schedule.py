"""An order of evaluation that keeps few values waiting, so that few have to leave the registers.

First depth first from the results, the last ones first, as the branches of a robot end there; of an instruction's operands
the one that needs most registers comes first [Sethi & Ullman 1970]. Then greedily: of the instructions that are ready,
the next is one that ends the lives of most of its operands. Sines and cosines are computed in front, side by side.
"""

from __future__ import annotations

import heapq
from collections import Counter

from dynamis.compiler.code import TRIGONOMETRIC, Code, Instruction, Operand


def schedule(code: Code) -> Code:
    """The same instructions in a better order."""
    lead = _angles_first(code)
    deep = _reordered(code, lead + _depth_first(code, lead))
    return _reordered(deep, _greedy(deep, len(lead)))


def _reordered(code: Code, order: list[int]) -> Code:
    first = code.inputs
    place = {first + k: first + position for position, k in enumerate(order)}

    def moved(x: Operand) -> Operand:
        return place.get(x, x) if isinstance(x, int) else x

    made = code.instructions
    instructions = tuple(Instruction(made[k].op, tuple(map(moved, made[k].args))) for k in order)
    outputs = tuple(tuple(map(moved, values)) for values in code.outputs)
    return Code(code.name, code.arguments, code.results, instructions, outputs)


def _angles_first(code: Code) -> list[int]:
    """Everything that sines and cosines need and they themselves; those that do not depend on each other are neighbours."""
    first, made = code.inputs, code.instructions
    wanted = [i.op in TRIGONOMETRIC for i in made]
    for k in reversed(range(len(made))):
        if wanted[k]:
            for x in made[k].args:
                if isinstance(x, int) and x >= first:
                    wanted[x - first] = True
    level: dict[int, int] = {}
    for k, i in enumerate(made):
        if wanted[k]:
            behind = [x - first for x in i.args if isinstance(x, int) and x >= first]
            level[k] = max((level[x] + (made[x].op in TRIGONOMETRIC) for x in behind), default=0)
    return sorted(level, key=lambda k: (level[k], made[k].op in TRIGONOMETRIC, k))


def _depth_first(code: Code, done: list[int]) -> list[int]:
    first, made = code.inputs, code.instructions
    operands = [[x - first for x in dict.fromkeys(i.args) if isinstance(x, int) and x >= first] for i in made]
    need: list[int] = []  # registers, were the graph a tree
    for used in operands:
        below = sorted((need[x] for x in used), reverse=True)
        need.append(max((count + k for k, count in enumerate(below)), default=1))
    order: list[int] = []
    seen = set(done)
    results = [x - first for values in code.outputs for x in values if isinstance(x, int) and x >= first]
    for result in reversed(results):
        stack = [result]
        while stack:
            k = stack[-1]
            waiting = sorted((x for x in operands[k] if x not in seen), key=need.__getitem__) if k not in seen else []
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if k not in seen:
                seen.add(k)
                order.append(k)
    return order


def _greedy(code: Code, lead: int) -> list[int]:
    first, made = code.inputs, code.instructions
    operands = [{x for x in i.args if isinstance(x, int)} for i in made]
    users: dict[int, list[int]] = {}
    for k, used in enumerate(operands):
        for x in used:
            users.setdefault(x, []).append(k)
    waiting = Counter({x: len(k) for x, k in users.items()})  # uses still to come
    waiting.update({x for values in code.outputs for x in values if isinstance(x, int)})
    missing = [sum(x >= first for x in used) for used in operands]
    ending = [sum(waiting[x] == 1 for x in used) for used in operands]  # lives an instruction would end
    ready: list[list[int]] = [[] for _ in range(4)]  # by the number of lives, each with the oldest first
    order: list[int] = []
    done = [False] * len(made)

    def take(k: int) -> None:
        order.append(k)
        done[k] = True
        for x in operands[k]:
            waiting[x] -= 1
            if waiting[x] == 1:
                for user in users[x]:
                    if not done[user]:
                        ending[user] += 1
                        if missing[user] == 0 and user >= lead:
                            heapq.heappush(ready[ending[user]], user)
        for user in users.get(first + k, ()):
            missing[user] -= 1
            if missing[user] == 0 and user >= lead:
                heapq.heappush(ready[ending[user]], user)

    for k in range(lead):
        take(k)
    for k in range(lead, len(made)):
        if missing[k] == 0:
            heapq.heappush(ready[ending[k]], k)
    while len(order) < len(made):
        most = next(heap for heap in reversed(ready) if heap)
        k = heapq.heappop(most)
        if not done[k]:
            take(k)
    return order
