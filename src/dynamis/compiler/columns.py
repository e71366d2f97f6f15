"""Columns of a solution that are computed alike, as loops.

The derivatives of accelerations are the columns of −M⁻¹ B with M = Lᵀ D L: Lᵀ y = b, z = −D⁻¹ y, L x = z. Row k of x is
z_k − Σ L_ki x_i over the results x_i of rows before it, row k of y likewise over the rows behind it; the columns of one branch
of the robot differ only in the numbers b. They are found in the code by their results, back to b or, where columns differ in
that, back to z, and become one part with a turn for each place in the matrix. Several columns and rows are computed side by
side, so that a number that is read serves several of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dynamis.compiler.code import Code, Operand
from dynamis.compiler.part_writer import Local, Part, Parts, Place, Writer

SHORTEST = 64  # instructions of a column worth a loop
SIDE_BY_SIDE = 10  # sums: with two operands they fit into the 12 registers that AVX2 leaves
SOURCE = -1  # in a pattern: the number a sum begins with, which every column has for itself


@dataclass(frozen=True)
class _Row:
    """A result x, the value its sum begins with, if any, and the instructions of the sum, each with the result it takes in."""

    x: int
    source: int | None
    sum: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Column:
    """Rows in the order of their places; ``pattern`` is equal for columns that are computed alike."""

    place: tuple[int, int]  # result and element of the first row
    rows: tuple[_Row, ...]
    pattern: tuple[object, ...]


def columns_in_parts(code: Code) -> Parts | None:
    """The code in parts, or None if there are no columns worth a loop."""
    finder = _Finder(code)
    loops = list(_loops(finder.columns(whole=True)))
    inside = {column.place for turns in loops for columns in turns for column in columns}
    loops += _loops(column for column in finder.columns(whole=False) if column.place not in inside)
    return _Cutting(code, loops).parts() if loops else None


def one_part(code: Code) -> Parts:
    """The code as it is, with results in arrays of vectors."""
    return _Cutting(code, []).parts()


def _loops(columns: Iterable[_Column]) -> Iterator[list[list[_Column]]]:
    """Lists of turns, each of which computes several columns of the same pattern."""
    alike: dict[tuple[object, ...], list[_Column]] = {}
    for column in sorted(columns, key=lambda c: c.place):
        alike.setdefault(column.pattern, []).append(column)
    for members in alike.values():
        runs: list[list[_Column]] = []  # of columns that follow each other
        for column in members:
            if runs and runs[-1][-1].place == (column.place[0], column.place[1] - 1):
                runs[-1].append(column)
            else:
                runs.append([column])
        for length in sorted({len(run) for run in runs}):
            equal = [run for run in runs if len(run) == length]
            step = 2 if len(equal) == 1 and length % 2 == 0 else 1
            if length > step:
                yield [[run[t + k] for run in equal for k in range(step)] for t in range(0, length, step)]


class _Finder:
    """The columns of the matrices among the results."""

    def __init__(self, code: Code) -> None:
        self.code, self.first = code, code.inputs
        self.uses = Counter(x for i in code.instructions for x in i.args if isinstance(x, int))
        self.uses.update(x for values in code.outputs for x in values if isinstance(x, int))

    def columns(self, whole: bool) -> Iterator[_Column]:
        """``whole``: with the first step of the solution, otherwise with the last alone."""
        for r, ((_, shape), values) in enumerate(zip(self.code.results, self.code.outputs, strict=True)):
            if len(shape) < 2:
                continue
            height, width = shape[-2:]
            for first in (k + j for k in range(0, len(values), height * width) for j in range(width)):
                places = range(first, first + height * width, width)
                index = {x: k for k in places if isinstance(x := values[k], int) and x >= self.first}
                rows = [self._row(x, index) for x in index]
                if sum(len(row.sum) for row in rows) < SHORTEST:
                    continue
                if whole:
                    rows = self._with_first_step(rows, index)
                if self._is_closed(rows, index):
                    yield self._column((r, first), rows, index)

    def _with_first_step(self, rows: list[_Row], index: dict[int, int]) -> list[_Row]:
        """Before the rows of L x = z those of Lᵀ y = b, last to first, and of z = D⁻¹ y, where D⁻¹ is a quotient."""
        made = self.code.instructions
        quotients: dict[int, tuple[int, int]] = {}  # z: y, place
        for row in rows:
            z = row.source
            i = made[z - self.first] if z is not None and z >= self.first else None
            if z is not None and i is not None and i.op == "mul":
                y = [x for x in i.args if isinstance(x, int) and x >= self.first and not self._is_quotient(x)]
                if len(y) == 1:
                    quotients[z] = y[0], index[row.x]
        before = {y: -k for y, k in sorted(quotients.values(), key=lambda each: -each[1])}
        if len(before) < len(quotients):
            return rows
        scaled = [_Row(z, None, ((z, y),)) for z, (y, _) in quotients.items()]
        return [*(self._row(y, before) for y in before), *scaled, *(row for row in rows if row.x not in quotients)]

    def _is_quotient(self, x: int) -> bool:
        i = self.code.instructions[x - self.first]
        if i.op == "neg" and isinstance(i.args[0], int) and i.args[0] >= self.first:
            i = self.code.instructions[i.args[0] - self.first]
        return i.op == "div"

    def _is_closed(self, rows: list[_Row], results: dict[int, int]) -> bool:
        """Whether the results of the sums are used by the sums only."""
        made = self.code.instructions
        inside = Counter(y for row in rows for v, y in row.sum if made[v - self.first].op != "neg")
        inside.update(row.source for row in rows if row.sum and row.source is not None)
        return all(self.uses[row.x] == (row.x in results) + inside[row.x] for row in rows if row.sum)

    def _row(self, x: int, places: dict[int, int]) -> _Row:
        made, found = self.code.instructions, list[tuple[int, int]]()
        v: Operand | None = made[x - self.first].args[0] if made[x - self.first].op == "neg" else x
        while isinstance(v, int) and v >= self.first and (v == x or (self.uses[v] == 1 and v not in places)):
            i = made[v - self.first]
            factors = [y for y in i.args[:2] if isinstance(y, int) and places.get(y, places[x]) < places[x]]
            if i.op not in ("mul", "fma", "fnma") or len(factors) != 1:
                break
            found.append((v, factors[0]))
            v = i.args[2] if i.op != "mul" else None
        if not found or isinstance(v, float):
            return _Row(x, x, ())
        if found[0][0] != x:
            found.insert(0, (x, found[0][1]))
        return _Row(x, v, tuple(reversed(found)))

    def _column(self, place: tuple[int, int], rows: list[_Row], places: dict[int, int]) -> _Column:
        pattern: list[object] = []
        number = {row.x: k for k, row in enumerate(rows)}
        for row in rows:
            known: dict[int, object] = {x: (k,) for x, k in number.items()}
            if row.source is not None and row.source not in number:
                known[row.source] = SOURCE
            for v, _ in row.sum:
                i = self.code.instructions[v - self.first]
                args = [known.get(y, y) if isinstance(y, int) else (y, "") for y in i.args]
                pattern.append((i.op, frozenset(args[:2]), *args[2:]))
                known[v] = "sum"
            pattern.append(places[row.x] - place[1] if row.x in places else None)
        return _Column(place, tuple(rows), tuple(pattern))


class _Cutting:
    def __init__(self, code: Code, loops: list[list[list[_Column]]]) -> None:
        self.code, self.loops, self.checked = code, loops, set(code.checks)
        self.places = {x: (r, k) for r, values in enumerate(code.outputs) for k, x in enumerate(values) if isinstance(x, int)}
        self.arrays = {f"argument {k}": (size, 1) for k, (_, size) in enumerate(code.arguments)}
        self.arrays |= {f"result {k}": (len(values), 1) for k, values in enumerate(code.outputs)}
        self.shared: dict[int, Place] = {}  # values that all turns read
        self.own: dict[int, list[Place]] = {}  # values that one turn reads
        self.inside = {v for turns in loops for columns in turns for c in columns for row in c.rows for v, _ in row.sum}
        self.arguments = [Place(f"argument {a}", k) for a, (_, size) in enumerate(code.arguments) for k in range(size)]

    def parts(self) -> Parts:
        loops = [self._loop(f"columns {k}", turns) for k, turns in enumerate(self.loops)]
        self.arrays["values"] = len(self.shared), 1
        return Parts((self._rest(), *loops), self.arrays, {})

    def _loop(self, array: str, turns: list[list[_Column]]) -> Part:
        made = Writer(self.code)
        known: list[dict[int, Local]] = [{} for _ in turns[0]]
        step = turns[1][0].place[1] - turns[0][0].place[1]
        size = 0
        for c, column in enumerate(turns[0]):
            inside = {row.x for row in column.rows if row.sum}
            for k, row in enumerate(column.rows):
                if row.source is not None and row.source not in inside:
                    known[c][row.source] = made.read(Place(array, 0, 1, size))
                    for t, columns in enumerate(turns):
                        source = columns[c].rows[k].source
                        assert source is not None
                        self.own.setdefault(source, []).append(Place(array, t, 0, size))
                    size += 1
        self.arrays[array] = len(turns), size
        for c, row, v in _side_by_side(turns[0]):
            i = self.code.instructions[v - self.code.inputs]
            args = [known[c].get(x) or made.read(self._shared(x)) if isinstance(x, int) else x for x in i.args]
            known[c][v] = made.emit(i.op, args, v in self.checked)
            if v == row.x and v in self.places:
                r, k = self.places[v]
                made.write(Place(f"result {r}", k, step), known[c][v])
        return made.part(len(turns), ordered=True)

    def _shared(self, x: int) -> Place:
        if x < self.code.inputs:
            return self.arguments[x]
        return self.shared.setdefault(x, Place("values", len(self.shared)))

    def _rest(self) -> Part:
        """All that is not in loops."""
        made = Writer(self.code)
        known: dict[int, Local] = {}

        def local(x: Operand) -> Local | float:
            if not isinstance(x, int):
                return x
            return known[x] if x in known else made.read(self.arguments[x])

        for v, i in enumerate(self.code.instructions, self.code.inputs):
            if v not in self.inside:
                known[v] = made.emit(i.op, [local(x) for x in i.args], v in self.checked)
        for r, values in enumerate(self.code.outputs):
            for k, x in enumerate(values):
                if isinstance(x, int) and x not in self.inside:
                    made.write(Place(f"result {r}", k), local(x))
        for x, place in self.shared.items():
            made.write(place, known[x])
        for x, places in self.own.items():
            for place in places:
                made.write(place, local(x))
        return made.part(1)


def _side_by_side(columns: list[_Column]) -> Iterator[tuple[int, _Row, int]]:
    """(column, row, instruction) in an order in which several sums grow together."""
    count = len(columns[0].rows)
    height = max(1, SIDE_BY_SIDE // len(columns))
    for start in range(0, count, height):
        block: list[tuple[int, int, int, int, int]] = []
        for c, column in enumerate(columns):
            index = {row.x: k for k, row in enumerate(column.rows)}
            for k in range(start, min(start + height, count)):
                source = column.rows[k].source
                latest = 0 if source is None else index.get(source, 0)  # of the rows that a sum has taken in
                for at, (v, y) in enumerate(column.rows[k].sum):
                    latest = max(latest, index[y])
                    block.append((latest, k, c, at, v))
        for _, k, c, _, v in sorted(block):
            yield c, columns[c].rows[k], v
