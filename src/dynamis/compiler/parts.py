"""Long code as a few short parts, of which the loops are run once per repeated link.

Values that leave their part, or their turn of a loop, lie in arrays with a row per turn. Instructions that are not repeated,
at the ends of a chain, stay as they are and stand between the loops.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.code import Code
from dynamis.compiler.colours import CONSTANT, MOST_LEFT, NONE
from dynamis.compiler.columns import columns_in_parts
from dynamis.compiler.part_writer import RING, Local, Part, Parts, Place, Writer
from dynamis.compiler.rolling import Class, NotRegularError, Rolling

Array = npt.NDArray[Any]


def in_parts(code: Code) -> Parts | None:
    """The code in parts, or None where too little of it is repeated."""
    try:
        return _Cutting(code).parts()
    except NotRegularError:
        return columns_in_parts(code)


class _Loop:
    """The turns in which every class of a loop follows its pattern."""

    def __init__(self, number: int, direction: int, classes: list[Class], rolling: Rolling) -> None:
        self.number, self.direction, self.classes, self.rolling = number, direction, classes, rolling
        low = min(min(direction * (0 - c.shift), direction * (len(c.members) - 1 - c.shift)) for c in classes)
        high = max(max(direction * (0 - c.shift), direction * (len(c.members) - 1 - c.shift)) for c in classes)
        fits = np.full(high - low + 1, True)
        self.inputs: dict[tuple[int, int], tuple[int, int, int]] = {}  # (class, operand): argument, first element, step
        self.results: dict[int, list[tuple[int, int, int]]] = {}
        for c in classes:
            here = direction * np.arange(low, high + 1) + c.shift
            there = (here >= 0) & (here < len(c.members))
            fits &= there
            fits[there] &= self._regular(c)[here[there]]
        runs = np.flatnonzero(np.diff(np.concatenate([[False], fits, [False]]).astype(int)))
        if not len(runs):
            raise NotRegularError
        start, end = max(zip(runs[::2], runs[1::2], strict=True), key=lambda run: run[1] - run[0])
        self.start, self.turns = low + int(start), int(end - start)

    def _regular(self, c: Class) -> Array:
        """Which members follow the pattern of the class, in operands and results."""
        r = self.rolling
        fits = np.full(len(c.members), True)
        for slot, x in enumerate(c.operands.T):
            if slot in c.links:
                link = c.links[slot]
                fits &= (x >= 0) & (r.class_of[x] == link.source) & (r.index_of[x] == np.arange(len(x)) - link.distance)
            elif (x == CONSTANT).all() or (x == x[0]).all():
                pass
            else:
                self.inputs[c.number, slot], follow = self._input_line(x)
                fits &= follow
        results = [r.results.get(int(x), []) for x in c.members]
        self.results[c.number] = []
        for k, (argument, _) in enumerate(results[0]):
            if any(len(one) != len(results[0]) or one[k][0] != argument for one in results):
                raise NotRegularError
            first, step, follow = _line(np.array([one[k][1] for one in results]), np.arange(len(results)))
            fits &= follow
            self.results[c.number].append((argument, first, step))
        return fits

    def _input_line(self, x: Array) -> tuple[tuple[int, int, int], Array]:
        """(argument, first element, step) of most of some operands, and which of them follow it."""
        r = self.rolling
        its = np.flatnonzero((x >= 0) & (x < r.code.inputs))
        if 2 * len(its) < len(x):
            raise NotRegularError
        argument = int(Counter(r.argument_of[x[its]].tolist()).most_common(1)[0][0])
        its = its[r.argument_of[x[its]] == argument]
        first, step, follow = _line(r.element_of[x[its]], its)
        fits = np.full(len(x), False)
        fits[its] = follow
        return (argument, first, step), fits

    def indices(self, c: Class) -> Array:
        """Of the members it computes, turn by turn."""
        return self.direction * np.arange(self.start, self.start + self.turns) + c.shift

    def row(self, c: Class, offset: int, first: int = 0, step: int = 1) -> tuple[int, int]:
        """(first, step) over turns of first + step · (member + offset)."""
        return first + step * (self.direction * self.start + c.shift + offset), step * self.direction

    def turn(self, c: Class, index: int) -> int:
        """In which a member is computed; those of other turns than its own are computed outside the loop."""
        return self.direction * (index - c.shift) - self.start

    def lag(self, c: Class, slot: int) -> int | None:
        """How many turns ago an operand was computed, if in this loop."""
        link = c.links[slot]
        source = self.rolling.classes[link.source]
        return self.direction * (source.shift + link.distance - c.shift) if source.loop == self.number else None


def _line(numbers: Array, places: Array) -> tuple[int, int, Array]:
    """(first, step) of the line first + step · place through most of some numbers, and which of them lie on it."""
    step = int(Counter(np.diff(numbers).tolist()).most_common(1)[0][0])
    starts = numbers - step * places
    first = int(Counter(starts.tolist()).most_common(1)[0][0])
    return first, step, starts == first


class _Cutting:
    def __init__(self, code: Code) -> None:
        self.code, self.r, self.checked = code, Rolling(code), set(code.checks)
        self.loops = {k: _Loop(k, *loop, self.r) for k, loop in enumerate(self.r.loops) if loop[1]}
        self.arrays = {f"argument {k}": (size, 1) for k, (_, size) in enumerate(code.arguments)}
        self.arrays |= {f"result {k}": (len(values), 1) for k, values in enumerate(code.outputs)}
        self.tables: dict[str, Array] = {}
        self.loop_of = np.full(self.r.count, -1)
        for k, loop in self.loops.items():
            for c in loop.classes:
                self.loop_of[c.members[loop.indices(c)]] = k
        if (self.loop_of >= 0).sum() < (1.0 - MOST_LEFT) * len(code.instructions):
            raise NotRegularError

    def parts(self) -> Parts:
        order = self._order()
        self.part_of = np.full(self.r.count, -1)
        for k, unit in enumerate(order):
            self.part_of[unit if isinstance(unit, list) else self.loop_of == unit] = k
        self._choose_places(order)
        parts = [self._straight(unit) if isinstance(unit, list) else self._turns(self.loops[unit]) for unit in order]
        return Parts((*parts, *self._inputs_as_results()), self.arrays, self.tables)

    def _order(self) -> list[list[int] | int]:
        """The numbers of loops and, between them, lists of values, each after all that it needs."""
        first = self.code.inputs
        unit = np.where(self.loop_of >= 0, -1 - self.loop_of, np.arange(self.r.count))  # loops are below zero
        users: dict[int, list[int]] = {}
        waiting: Counter[int] = Counter()
        for x in range(first, self.r.count):
            for y in {int(unit[y]) for y in self.r.args[x] if y >= first} - {int(unit[x])}:
                users.setdefault(y, []).append(int(unit[x]))
                waiting[int(unit[x])] += 1
        units = dict.fromkeys(unit[first:].tolist())
        values = [x for x in units if x >= 0 and not waiting[x]]
        loops = [x for x in units if x < 0 and not waiting[x]]
        order: list[list[int] | int] = []
        done = 0
        while values or loops:
            if not values:
                x = loops.pop()
                order.append(-1 - x)
            else:
                x = values.pop()
                if not order or not isinstance(order[-1], list):
                    order.append([])
                order[-1].append(x)  # type: ignore[union-attr]
            done += 1
            for user in users.get(x, ()):
                waiting[user] -= 1
                if not waiting[user]:
                    (values if user >= 0 else loops).append(user)
        if done < len(units):
            raise NotRegularError
        return order

    def _choose_places(self, order: list[list[int] | int]) -> None:
        """A column of its loop's array for each class with values that are used outside their turn, of a ring where they are
        used in the next turns only; a row of one array for each other value that is used in another part."""
        self.lags: dict[int, int] = {}  # of classes whose values are used outside their turn: how many turns later
        self.row: dict[int, int] = {}
        for loop in self.loops.values():
            for c in loop.classes:
                for slot, x in enumerate(c.operands.T):
                    if slot not in c.links:
                        self._use_outside(int(x[0]))
                    elif loop.lag(c, slot) != 0:
                        source, lag = c.links[slot].source, loop.lag(c, slot)
                        self._must_last(source, RING if lag is None else lag)
        for unit in order:
            if isinstance(unit, list):
                args = self.r.args[unit]
                for x in args[(args >= 0) & (self.part_of[args] != self.part_of[unit][:, None])].tolist():
                    self._use_outside(x)
        self.column: dict[int, tuple[str, int]] = {}
        for k, loop in self.loops.items():
            kept = [c for c in loop.classes if self.lags.get(c.number, 0) >= RING]
            passed = [c for c in loop.classes if 0 < self.lags.get(c.number, 0) < RING]
            self.column |= {c.number: (f"loop {k}", column) for column, c in enumerate(kept)}
            self.column |= {c.number: (f"ring {k}", column) for column, c in enumerate(passed)}
            self.arrays[f"loop {k}"] = max((len(c.members) for c in kept), default=0), len(kept)
            self.arrays[f"ring {k}"] = RING, len(passed)
        self.arrays["values"] = len(self.row), 1

    def _must_last(self, number: int, turns: int) -> None:
        self.lags[number] = max(self.lags.get(number, 0), turns)

    def _use_outside(self, x: int) -> None:
        """A single value is used in another part."""
        if x < self.code.inputs:
            return
        if self.loop_of[x] < 0:
            self.row.setdefault(x, len(self.row))
            return
        c = self.r.classes[self.r.class_of[x]]
        loop = self.loops[c.loop]
        self._must_last(c.number, loop.turns - loop.turn(c, int(self.r.index_of[x])))

    def _place(self, x: int) -> Place:
        """Where a part finds a single value that another has computed."""
        if x < self.code.inputs:
            return Place(f"argument {self.r.argument_of[x]}", int(self.r.element_of[x]))
        return Place("values", self.row[x]) if self.loop_of[x] < 0 else self._member(x)

    def _member(self, x: int) -> Place:
        array, column = self.column[self.r.class_of[x]]
        return Place(array, int(self.r.index_of[x]), 0, column)

    def _places_outside(self, x: int) -> list[Place]:
        """Where a value that is computed outside loops is put: for other such values, and for a loop that begins with it."""
        places = [self._place(x)] if x in self.row else []
        if self.r.class_of[x] in self.column:
            c = self.r.classes[self.r.class_of[x]]
            place = self._member(x)
            if not place.in_ring or -self.lags[c.number] <= self.loops[c.loop].turn(c, place.first) < 0:
                places.append(place)
        return places + [Place(f"result {result}", k) for result, k in self.r.results.get(x, ())]

    def _straight(self, values: list[int]) -> Part:
        made = Writer(self.code)
        known: dict[int, Local] = {}
        for x in values:
            args: list[Local | float] = []
            for y, number in zip(map(int, self.r.args[x]), self.r.numbers[x], strict=True):
                if y == CONSTANT:
                    args.append(float(number))
                elif y != NONE:
                    args.append(known[y] if y in known else made.read(self._place(y)))
            known[x] = made.emit(self.code.instructions[x - self.code.inputs].op, args, x in self.checked)
            for place in self._places_outside(x):
                made.write(place, known[x])
        return made.part(1)

    def _turns(self, loop: _Loop) -> Part:
        made = Writer(self.code)
        known: dict[int, Local] = {}
        varying: list[Array] = []
        for c in self._in_order(loop):
            args: list[Local | float] = []
            for slot, x in enumerate(c.operands.T):
                if slot in c.links:
                    link = c.links[slot]
                    if loop.lag(c, slot) == 0:
                        args.append(known[link.source])
                    else:
                        array, column = self.column[link.source]
                        args.append(made.read(Place(array, *loop.row(c, -link.distance), column)))
                elif (c.number, slot) in loop.inputs:
                    argument, first, step = loop.inputs[c.number, slot]
                    args.append(made.read(Place(f"argument {argument}", *loop.row(c, 0, first, step))))
                elif x[0] != CONSTANT:
                    args.append(made.read(self._place(int(x[0]))))
                else:
                    numbers = c.constants[loop.indices(c), slot]
                    if (numbers == numbers[0]).all():
                        args.append(float(numbers[0]))
                    else:
                        args.append(made.read(Place(f"constants {loop.number}", 0, 1, len(varying))))
                        varying.append(numbers)
            known[c.number] = made.emit(c.op, args, int(c.members[len(c.members) // 2]) in self.checked)
            if c.number in self.column:
                array, column = self.column[c.number]
                made.write(Place(array, *loop.row(c, 0), column), known[c.number])
            for result, first, step in loop.results[c.number]:
                made.write(Place(f"result {result}", *loop.row(c, 0, first, step)), known[c.number])
        if varying:
            self.tables[f"constants {loop.number}"] = np.stack(varying, axis=1)
        return made.part(loop.turns)

    def _in_order(self, loop: _Loop) -> list[Class]:
        """Classes after those whose values they use in the same turn."""
        order: list[Class] = []
        seen: set[int] = set()
        for root in loop.classes:
            stack = [root]
            while stack:
                c = stack[-1]
                below = [self.r.classes[link.source] for slot, link in c.links.items() if loop.lag(c, slot) == 0]
                waiting = [x for x in below if x.number not in seen]
                if waiting and c.number not in seen:
                    stack += waiting
                    continue
                stack.pop()
                if c.number not in seen:
                    seen.add(c.number)
                    order.append(c)
        return order

    def _inputs_as_results(self) -> list[Part]:
        made = Writer(self.code)
        for result, values in enumerate(self.code.outputs):
            for k, x in enumerate(values):
                if isinstance(x, int) and x < self.code.inputs:
                    made.write(Place(f"result {result}", k), made.read(self._place(x)))
        return [made.part(1)] if made.writes else []
