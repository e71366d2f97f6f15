"""The syntax tree of a formula and its value: a scalar, or an array of scalars."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import mul, neg
from typing import Any, TypeAlias

from dynamis.classroom.answers.decimals import Decimals
from dynamis.classroom.answers.source import Source
from dynamis.errors import InputError
from dynamis.model.readers.expressions import FUNCTIONS
from dynamis.scalar import Node, Scalar, directional, sqrt
from dynamis.scalar.node import power as node_power

MAX_POWER = 64
DOT_PRODUCT = "·"  # a sign of multiplication that is the scalar product between two columns
NORM = "norm"  # the function \\|v\\| of a vector or a scalar


@dataclass(frozen=True, slots=True)
class Number:
    value: float
    at: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Name:
    key: str
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Tree, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[tuple[str, Tree], ...]  # each with its sign
    at: int


@dataclass(frozen=True, slots=True)
class Product:
    factors: tuple[tuple[str, Tree], ...]  # each multiplied or divided by, or after a dot
    at: int


@dataclass(frozen=True, slots=True)
class Power:
    base: Tree
    exponent: Tree | None  # None transposes
    at: int


@dataclass(frozen=True, slots=True)
class Rate:
    """The derivative of an expression with respect to time, or to a variable of the robot."""

    value: Tree
    at: int
    variable: str = ""


@dataclass(frozen=True, slots=True)
class MatrixNode:
    """A matrix as written; a cell left open (*) is None. A ``flat`` one, [a, b], is a vector whatever its direction."""

    rows: tuple[tuple[Tree | None, ...], ...]
    spans: tuple[tuple[tuple[int, int], ...], ...]
    flat: bool
    at: int


Tree: TypeAlias = Number | Name | Call | Sum | Product | Power | Rate | MatrixNode


@dataclass(frozen=True, slots=True)
class Cell:
    """The value and position of a matrix cell; None for an open cell."""

    value: Scalar | None
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Grid:
    rows: tuple[tuple[Cell, ...], ...]
    flat: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])

    def entries(self) -> dict[tuple[int, ...], tuple[Any, int, int]]:
        """The cells by their indices, with their positions; a column, or a list [a, b], is a vector."""
        rows, columns = self.shape
        found: dict[tuple[int, ...], tuple[Any, int, int]] = {}
        for i, row in enumerate(self.rows):
            for j, cell in enumerate(row):
                index = (i,) if columns == 1 else (j,) if self.flat and rows == 1 else (i, j)
                found[index] = (cell.value, cell.at, cell.end)
        return found

    def map(self, function: Callable[[Any], Any]) -> Grid:
        rows = tuple(tuple(Cell(None if c.value is None else function(c.value), c.at, c.end) for c in row) for row in self.rows)
        return Grid(rows, self.flat)

    def transposed(self) -> Grid:
        return Grid(tuple(zip(*self.rows, strict=True)))


Value: TypeAlias = float | Node | Grid


def names_in(tree: Tree) -> Iterator[Name]:
    """Every name a tree mentions."""
    stack: list[Tree | None] = [tree]
    while stack:
        part = stack.pop()
        match part:
            case Name():
                yield part
            case Call():
                stack += part.arguments
            case Sum():
                stack += [term for _, term in part.terms]
            case Product():
                stack += [factor for _, factor in part.factors]
            case Power():
                stack += [part.base, part.exponent]
            case Rate():
                stack.append(part.value)
            case MatrixNode():
                stack += [cell for row in part.rows for cell in row]


def whole_terms(tree: Tree) -> Iterator[Name]:
    """The names that are complete terms of a sum."""
    for term in [term for _, term in tree.terms] if isinstance(tree, Sum) else [tree]:
        if isinstance(term, Name):
            yield term
        elif isinstance(term, Sum) and len(term.terms) == 1:
            yield from whole_terms(term)


@dataclass(frozen=True)
class Evaluation:
    """Evaluation of syntax trees with the values of ``lookup``, and with symbols for decimals if they are given."""

    source: Source
    lookup: Callable[[Name], Value]
    rate: Callable[[Any, str], Any] = field(default=lambda value, _: value)
    decimals: Decimals | None = None

    def value(self, tree: Tree) -> Value:
        try:
            result = self._value(tree)
        except (InputError, ArithmeticError) as error:
            why = str(error) if isinstance(error, InputError) else "a number is too large, or divided by zero"
            raise self.source.error(tree.at, why, "correct the formula") from None
        if isinstance(result, float) and not math.isfinite(result):
            raise self.source.error(tree.at, "a number is too large", "use realistic numbers")
        return result

    def scalar(self, tree: Tree, what: str) -> Any:
        return self._no_grid(self.value(tree), tree, what)

    def _no_grid(self, value: Value, tree: Tree, what: str) -> Any:
        if isinstance(value, Grid):
            raise self.source.error(tree.at, f"a matrix is found where {what} is expected", "write its entries one by one")
        return value

    def _value(self, tree: Tree) -> Value:
        match tree:
            case Number():
                return tree.value if self.decimals is None else self.decimals.symbol(tree.text, tree.value, tree.at)
            case Name():
                return self.lookup(tree)
            case Call(function="norm"):
                return self._norm(self.value(tree.arguments[0]))
            case Call():
                return FUNCTIONS[tree.function][1](*(self.scalar(x, "an argument") for x in tree.arguments))
            case Sum():
                return self._sum(tree)
            case Product():
                return self._product(tree)
            case Power():
                return self._power(tree)
            case Rate():
                return self.rate(self.scalar(tree.value, "an expression to differentiate"), tree.variable)
            case MatrixNode():
                return self._table(tree)

    def _norm(self, value: Any) -> Value:
        """The square root of a sum of squares, of which the square is known; of a speed given by its square, the speed."""
        if isinstance(value, Node) and value.op == "sqrt":
            return value
        parts: list[Any] = [c.value for row in value.rows for c in row] if isinstance(value, Grid) else [value]
        if any(x is None for x in parts):
            raise InputError("the norm of a vector with an open entry")
        return sqrt(sum((x * x for x in parts), 0.0))

    def _sum(self, tree: Sum) -> Value:
        total: Any = None
        for sign, term in tree.terms:
            value: Any = self.value(term)
            if sign == "-":
                value = value.map(neg) if isinstance(value, Grid) else -value
            total = value if total is None else self._added(total, value, term)
        return total

    def _added(self, a: Any, b: Any, at: Tree) -> Value:
        if isinstance(a, Grid) != isinstance(b, Grid):
            a, b = (x.rows[0][0].value if isinstance(x, Grid) and x.shape == (1, 1) else x for x in (a, b))  # vᵀ v
        if a is None or b is None or isinstance(a, Grid) != isinstance(b, Grid):
            raise self.source.error(at.at, "a matrix and a scalar are added", "write the sum for each entry")
        if not isinstance(a, Grid):
            return a + b
        if a.shape != b.shape:
            shapes = " and ".join(f"{r} × {c}" for r, c in (a.shape, b.shape))
            raise self.source.error(at.at, f"matrices of {shapes} are added", "give both the same size")
        return Grid(tuple(tuple(_plus(x, y) for x, y in zip(r, s, strict=True)) for r, s in zip(a.rows, b.rows, strict=True)))

    def _product(self, tree: Product) -> Value:
        total: Any = 1.0
        for sign, factor in tree.factors:
            value: Any = self.value(factor)
            if sign == "/":
                self._no_grid(value, factor, "a divisor")
                total = total.map(partial(_divided, by=value)) if isinstance(total, Grid) else total / value
            elif isinstance(total, Grid) and isinstance(value, Grid):
                scalar = sign == DOT_PRODUCT and total.shape == value.shape and 1 in value.shape
                total = total if not scalar or total.shape[0] == 1 else total.transposed()
                value = value if not scalar or value.shape[1] == 1 else value.transposed()
                total = self._matrix_product(total, value, factor)
            elif isinstance(total, Grid):
                total = total.map(partial(mul, value))
            elif isinstance(value, Grid):
                total = value.map(partial(mul, total))
            else:
                total = total * value
        return total

    def _matrix_product(self, a: Grid, b: Grid, at: Tree) -> Value:
        if a.shape[1] != b.shape[0]:
            shapes = " and ".join(f"{r} × {c}" for r, c in (a.shape, b.shape))
            raise self.source.error(at.at, f"matrices of {shapes} cannot be multiplied", "correct their sizes")
        rows = []
        for row in a.rows:
            cells = []
            for k in range(b.shape[1]):
                pairs: list[tuple[Any, Any]] = [(x.value, y[k].value) for x, y in zip(row, b.rows, strict=True)]
                open_ = any(x is None or y is None for x, y in pairs)
                total = None if open_ else sum((x * y for x, y in pairs), 0.0)
                cells.append(Cell(total, row[0].at, row[-1].end))
            rows.append(tuple(cells))
        return Grid(tuple(rows))

    def _power(self, tree: Power) -> Value:
        base: Any = self.value(tree.base)
        if tree.exponent is None:
            if not isinstance(base, Grid):
                return base
            return base.transposed()
        self._no_grid(base, tree.base, "the base of a power")
        exponent = self.scalar(tree.exponent, "an exponent")
        if isinstance(exponent, Node) or exponent != int(exponent) or abs(exponent) > MAX_POWER:
            cure = f"write an integer up to {MAX_POWER}; a square root is \\sqrt{{x}} or sqrt(x)"
            raise self.source.error(tree.exponent.at, "an exponent that is not a small integer", cure)
        if exponent == 2 and isinstance(base, Node) and base.op == "sqrt":
            return base.args[0]  # v^2 of a speed v given by its square
        return node_power(base, int(exponent)) if isinstance(base, Node) else float(base) ** int(exponent)

    def _table(self, tree: MatrixNode) -> Value:
        rows = []
        for row, spans in zip(tree.rows, tree.spans, strict=True):
            cells = []
            for cell, (at, end) in zip(row, spans, strict=True):
                value = None if cell is None else self.scalar(cell, "an entry")
                cells.append(Cell(value, at, end))
            rows.append(tuple(cells))
        return Grid(tuple(rows), tree.flat)


def differentiated(value: Any, rates: tuple[list[Any], list[Any]], order: int) -> Any:
    """The time derivative of an expression of the state, or of a matrix of these; ``rates`` are variables and their rates."""
    if isinstance(value, Grid):
        return value.map(lambda x: differentiated(x, rates, order))
    for _ in range(order):
        value = directional([value], *rates)[0]
    return value


def _divided(x: Any, by: Any) -> Any:
    return x / by


def _plus(a: Cell, b: Cell) -> Cell:
    value: Any = None if a.value is None or b.value is None else a.value + b.value
    return Cell(value, a.at, a.end)
