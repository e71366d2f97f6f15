"""Repeated links of a long code, as loops.

Instructions of the same colour form a class: they are one instruction of a loop, once per link. The order of a class is that of
the inputs nearest to its members; the direction of a loop is that of its recursion, outward or inward; what an instruction
takes from another link lies a fixed number of links away. `parts` makes code of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.code import Code
from dynamis.compiler.colours import COMMUTING, CONSTANT, FEWEST, are_repeated, colours, operand_table, strongly_connected

Array = npt.NDArray[Any]


@dataclass(eq=False)
class Class:
    """Values of one colour in the order of their links."""

    number: int
    op: str
    members: Array
    operands: Array  # (members, operands): values, or CONSTANT
    constants: Array
    loop: int = -1
    shift: int = 0  # turn t of the loop computes member direction · t + shift
    links: dict[int, Link] = field(default_factory=dict)  # of operands


@dataclass(frozen=True)
class Link:
    """An operand that is a member of a class, ``distance`` places before the user's place in its own."""

    source: int
    distance: int


class NotRegularError(Exception):
    """The code has no repeated links, or not in an order that a loop can have."""


class Rolling:
    """The classes of a code's instructions, and the loops (direction, classes) that compute them one after the other."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.count = code.inputs + len(code.instructions)
        self.args = operand_table(
            code.inputs, [[x if isinstance(x, int) else CONSTANT for x in i.args] for i in code.instructions]
        )
        self.results: dict[int, list[tuple[int, int]]] = {}
        for r, values in enumerate(code.outputs):
            for k, x in enumerate(values):
                if isinstance(x, int):
                    self.results.setdefault(x, []).append((r, k))
        self.argument_of = np.repeat(np.arange(len(code.arguments)), [size for _, size in code.arguments])
        self.element_of = np.concatenate([np.arange(size) for _, size in code.arguments] or [np.zeros(0, int)])
        self.class_of = np.full(self.count, -1)
        self.index_of = np.zeros(self.count, dtype=int)
        self.classes: list[Class] = []
        self._find_classes(self._colours())
        self._order_members()
        for each in self.classes:
            self._find_links(each)
        self.loops = self._find_loops(self._components())
        if not all(self._shift(direction, classes) for direction, classes in self.loops):
            raise NotRegularError

    # classes

    def _colours(self) -> Array:
        code = self.code
        kinds = [name for name, size in code.arguments for _ in range(size)] + [i.op for i in code.instructions]
        for x, where in self.results.items():
            kinds[x] += "".join(f" {r}" for r, _ in where)
        found = colours(kinds, self.args)
        if not are_repeated(found[code.inputs :]):
            raise NotRegularError
        return found

    def _find_classes(self, colour: Array) -> None:
        code = self.code
        self.numbers = np.zeros((self.count, 3))
        for k, i in enumerate(code.instructions, code.inputs):
            self.numbers[k, : len(i.args)] = [0.0 if isinstance(x, int) else x for x in i.args]
        self._sort_commuting(colour)
        inside = np.arange(code.inputs, self.count)
        _, number, counts = np.unique(colour[inside], return_inverse=True, return_counts=True)
        for which in np.flatnonzero(counts >= FEWEST):
            members = inside[number == which]
            i = code.instructions[members[0] - code.inputs]
            self.class_of[members] = len(self.classes)
            slots = slice(0, len(i.args))
            made = Class(len(self.classes), i.op, members, self.args[members, slots], self.numbers[members, slots])
            self.classes.append(made)

    def _sort_commuting(self, colour: Array) -> None:
        """The first two operands in the order of their colours, constants last."""
        ops = np.array([False] * self.code.inputs + [i.op in COMMUTING for i in self.code.instructions])
        known = np.concatenate([colour, np.full(2, np.iinfo(np.uint64).max, dtype=np.uint64)])
        wrong = ops & (known[self.args[:, 0]] > known[self.args[:, 1]])
        for each in (self.args, self.numbers):
            each[wrong, :2] = each[wrong, 1::-1]

    def _components(self) -> list[list[Class]]:
        """Recursions, or single classes, sources before users."""
        sources = [sorted({link.source for link in c.links.values()}) for c in self.classes]
        return [[self.classes[k] for k in component] for component in strongly_connected(sources)]

    def _order_members(self) -> None:
        """By the nearest inputs: the fewest operations away, of these the last."""
        first = self.code.inputs
        nearest = [(0, -int(k)) for k in self.element_of]
        for args in self.args[first:].tolist():
            away, element = min((nearest[x] for x in args if x >= 0), default=(self.count, 0))
            nearest.append((away + 1, element))
        link = np.array([-element for _, element in nearest])
        for c in self.classes:
            order = np.argsort(link[c.members])
            if len(np.unique(link[c.members])) < len(order):
                raise NotRegularError
            c.members, c.operands, c.constants = c.members[order], c.operands[order], c.constants[order]
            self.index_of[c.members] = np.arange(len(order))

    def _source(self, x: Array) -> int:
        """The class to which more than half of some operands belong, or −1."""
        sources = self.class_of[x[x >= 0]]
        found = Counter(sources[sources >= 0].tolist()).most_common(1)
        return int(found[0][0]) if found and 2 * found[0][1] > len(x) else -1

    def _find_links(self, c: Class) -> None:
        for slot, x in enumerate(c.operands.T):
            source = self._source(x)
            if source < 0:
                continue
            its = np.flatnonzero((x >= 0) & (self.class_of[x] == source))
            distance = int(Counter((its - self.index_of[x[its]]).tolist()).most_common(1)[0][0])
            c.links[slot] = Link(source, distance)

    # loops

    def _find_loops(self, components: list[list[Class]]) -> list[tuple[int, list[Class]]]:
        """(direction, classes) of each loop, in their order.

        As few loops as possible, every recursion in the last it may be in, so that what is used together is computed together;
        all else in the first, after its sources.
        """
        directions: list[int] = []
        recursions: dict[int, int] = {}  # component: direction
        for k, component in enumerate(components):
            at = self._last_source(component)
            if self._is_recursive(component):
                recursions[k] = direction = 1 if self._shift(1, component) else -1
                at = max(at, 0)
                while at < len(directions) and directions[at] != direction:
                    at += 1
                directions += [direction] if at == len(directions) else []
            for c in component:
                c.loop = at
        self._delay(components, recursions, directions)
        for k, component in enumerate(components):
            if k not in recursions:
                component[0].loop = self._last_source(component)
        self._place_free(components, len(directions))
        return [(direction, [c for c in self.classes if c.loop == k]) for k, direction in enumerate(directions or [1])]

    def _is_recursive(self, component: list[Class]) -> bool:
        numbers = {c.number for c in component}
        return any(link.source in numbers for c in component for link in c.links.values())

    def _last_source(self, component: list[Class]) -> int:
        numbers = {c.number for c in component}
        sources = (link.source for c in component for link in c.links.values())
        return max((self.classes[x].loop for x in sources if x not in numbers), default=-1)

    def _delay(self, components: list[list[Class]], recursions: dict[int, int], directions: list[int]) -> None:
        """Every recursion into the last loop of its direction that is not after its users."""
        last = dict.fromkeys(range(len(self.classes)), len(directions) - 1)
        for k in reversed(range(len(components))):
            component = components[k]
            at = min(last[c.number] for c in component)
            if k in recursions:
                while directions[at] != recursions[k]:
                    at -= 1
                for c in component:
                    c.loop = at
            for c in component:
                for link in c.links.values():
                    last[link.source] = min(last[link.source], at)

    def _place_free(self, components: list[list[Class]], loops: int) -> None:
        """What depends on inputs only is computed where it is first used."""
        first = dict.fromkeys(range(len(self.classes)), max(loops - 1, 0))
        for component in reversed(components):
            for c in component:
                if c.loop < 0:
                    c.loop = first[c.number]
                for link in c.links.values():
                    first[link.source] = min(first[link.source], c.loop)

    def _shift(self, direction: int, classes: list[Class]) -> bool:
        """Shift the classes of a loop so that every turn finds its operands computed [Bellman 1958]; whether that is possible.

        In an ascending loop the shift of a user is at most that of its source plus the distance between them; in a
        descending loop everything is mirrored.
        """
        inside = {c.number for c in classes}
        late = dict.fromkeys(inside, 0)
        edges = [(link.source, c.number, direction * link.distance)
                 for c in classes for link in c.links.values() if link.source in inside]  # fmt: skip
        for _ in range(len(classes) + 1):
            changed = False
            for source, user, distance in edges:
                if late[user] > late[source] + distance:
                    late[user], changed = late[source] + distance, True
            if not changed:
                for c in classes:
                    c.shift = direction * late[c.number]
                return True
        return False
