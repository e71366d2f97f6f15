"""Tracing and lowering: a Python function is run on symbols and recorded as a list of instructions.

Lowering does what concerns every target: sums become chains of fused multiply-adds, and divisions by the same value share
one reciprocal (which overflows where the divisor is subnormal). It is decided here, once, so that every target and every
batch split rounds alike. Common factors are left alone: x y + x z is two operations either way once products are fused.
"""

from __future__ import annotations

import numbers
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.code import Code, Instruction, Operand
from dynamis.compiler.colours import CONSTANT, FEWEST, are_repeated, colours, operand_table, strongly_connected
from dynamis.errors import InputError
from dynamis.scalar import Node, symbol, topological

SMALLEST = 1e-37  # a reciprocal of full quality, in single precision too
LONG = 4000  # operations: code in which repeated links are looked for
MAX_LINE = 100  # characters of a line of code in a message
SUMS = ("add", "sub", "neg")
Term = tuple[bool, Any]  # one of a sum: whether it is taken away, and a node or a number


def trace(
    function: Callable[..., Any], arguments: Sequence[tuple[str, int]], name: str = "kernel", parameters: Sequence[Node] = ()
) -> Code:
    """Run a function on symbols and record it. It takes one vector an argument and returns an array or several.

    ``parameters`` are symbols that may be in it beside its arguments; together they become a last argument.
    """
    vectors = [np.array([symbol(f"{arg}[{k}]") for k in range(size)], dtype=object) for arg, size in arguments]
    try:
        returned = function(*vectors)
    except InputError as error:
        place = _users_line(error)
        raise type(error)(f"{error}{place}") from None if place else error
    several = isinstance(returned, tuple) or hasattr(returned, "_fields")  # named results
    results = tuple(returned) if several else (returned,)
    if not results:
        raise InputError(f"{name} must return an array of numbers, or a tuple of them; it returned an empty tuple")
    arrays = [_of_numbers(result, name) for result in results]
    known = list(arguments)
    if parameters:
        known.append(("parameters", len(parameters)))
        vectors.append(np.array(parameters, dtype=object))
    return lower(name, known, vectors, arrays)


def _of_numbers(result: Any, name: str) -> npt.NDArray[Any]:
    """One result as an array of numbers and expressions."""
    try:
        array = np.asarray(result, dtype=object)
    except ValueError:  # lists that differ in more than their lengths
        raise InputError(f"{name} must return rectangular arrays; it returned a ragged {type(result).__name__}") from None
    flat = [x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in array.flat]
    for x in flat:
        if not isinstance(x, Node | numbers.Real | np.bool_):
            inside = "" if x is result else f" with a {type(x).__name__} in it"
            raise InputError(
                f"{name} must return an array of numbers, or a tuple of them; it returned a {type(result).__name__}{inside}"
            )
    return np.array(flat, dtype=object).reshape(array.shape)


def _users_line(error: BaseException) -> str:
    """Where in the user's own code a trace stopped: the innermost frame outside this package and NumPy."""
    packages = str(Path(__file__).parents[1]), str(Path(np.__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(packages)]
    if not frames:
        return ""
    last = frames[-1]
    line = last.line or ""
    return f" (in {last.name}, {last.filename}:{last.lineno}: {line if len(line) <= MAX_LINE else line[:MAX_LINE] + '…'})"


def lower(
    name: str, arguments: list[tuple[str, int]], vectors: list[npt.NDArray[Any]], results: list[npt.NDArray[Any]]
) -> Code:
    inputs = [x for vector in vectors for x in vector]
    known = {id(x) for x in inputs}
    flat = [x for result in results for x in result.flat]
    order = topological(flat)
    for node in order:
        if node.op == "symbol" and id(node) not in known:
            raise InputError(f"the symbol {node} has no value: assign one, or make it an input")
    order = [node for node in order if id(node) not in known]
    colour = _colours(arguments, vectors, order, flat) if len(order) >= LONG else {}
    return _Lowering(name, arguments, inputs, order, results, colour).code()


def _colours(
    arguments: list[tuple[str, int]], vectors: list[npt.NDArray[Any]], order: list[Node], results: list[Any]
) -> dict[int, int]:
    """The colour of each node, by which the terms of similar sums are put in the same order (see `rolling`); none where too
    few nodes are repeated for loops over links."""
    kinds = [name for (name, _), vector in zip(arguments, vectors, strict=True) for _ in vector] + [node.op for node in order]
    nodes = [x for vector in vectors for x in vector] + order
    number = {id(node): k for k, node in enumerate(nodes)}
    operands = operand_table(
        len(nodes) - len(order), [[number[id(a)] if type(a) is Node else CONSTANT for a in node.args] for node in order]
    )
    for x in results:
        if isinstance(x, Node):
            kinds[number[id(x)]] += " result"
    found = colours(kinds, operands)
    if not are_repeated(found):
        return {}
    return {id(node): int(colour) for node, colour in zip(nodes, found, strict=True)}


class _Lowering:
    def __init__(self, name: str, arguments: list[tuple[str, int]], inputs: list[Node], order: list[Node],
                 results: list[npt.NDArray[Any]], colour: dict[int, int]) -> None:  # fmt: skip
        self.name, self.arguments, self.results, self.order, self.colour = name, arguments, results, order, colour
        self.value: dict[int, Operand] = {id(x): k for k, x in enumerate(inputs)}
        self.made: list[Instruction] = []
        self.first = len(inputs)
        self.uses: Counter[int] = Counter([id(a) for node in order for a in node.args if type(a) is Node])
        self.uses.update(id(x) for result in results for x in result.flat if isinstance(x, Node))
        self.divisions: Counter[int] = Counter(id(n.args[1]) for n in order if n.op == "div" and isinstance(n.args[1], Node))
        self.reciprocal: dict[int, Operand] = {}

    def emit(self, op: str, *args: Operand) -> int:
        self.made.append(Instruction(op, args))
        return self.first + len(self.made) - 1

    def operand(self, x: Any) -> Operand:
        return self.value[id(x)] if isinstance(x, Node) else float(x)

    def code(self) -> Code:
        # a sum that is one term of a recursion over links stays a sum, so that not all its terms wait for the recursion
        recursion = self._recursions() if self.colour else {}
        # of −b that is only divided by, `_reciprocal` needs b
        divisors = {id(x) for x in self.order if x.op == "neg" and self.uses[id(x)] == self.divisions[id(x)] > 1}
        added = [node for node in self.order if node.op in SUMS and id(node) not in divisors]
        inner = {
            id(a)
            for node in added
            for a in node.args
            if self._is_once(a, SUMS) and (id(node) not in recursion or recursion.get(id(a)) == recursion[id(node)])
        }
        sums = {id(node): self._terms(node, inner) for node in added if id(node) not in inner}
        fused = self._fused_products(list(sums.values()))
        apart = inner | fused | divisors  # have no value of their own
        for node in self.order:
            if id(node) in sums:
                self.value[id(node)] = self._sum(sums[id(node)], fused)
            elif id(node) not in apart:
                self.value[id(node)] = self._instruction(node)
        outputs = tuple(tuple(self.operand(x) for x in result.flat) for result in self.results)
        shapes = tuple((f"out{k}", result.shape) for k, result in enumerate(self.results))
        return Code(self.name, tuple(self.arguments), shapes, tuple(self.made), outputs)

    def _recursions(self) -> dict[int, int]:
        """The recursion over repeated links to which a node belongs, for those of a long code that belong to one."""
        counts = Counter(self.colour.values())
        number = {colour: k for k, colour in enumerate(c for c, count in counts.items() if count >= FEWEST)}
        below: list[set[int]] = [set() for _ in number]
        for node in self.order:
            at = number.get(self.colour[id(node)])
            if at is not None:
                found = (number.get(self.colour[id(a)]) for a in node.args if isinstance(a, Node))
                below[at].update(x for x in found if x is not None)
        groups = strongly_connected([sorted(x) for x in below])
        recursion = {x: k for k, group in enumerate(groups) for x in group if len(group) > 1 or x in below[x]}
        return {key: recursion[number[colour]] for key, colour in self.colour.items() if number.get(colour) in recursion}

    def _is_once(self, x: Any, ops: tuple[str, ...]) -> bool:
        return isinstance(x, Node) and x.op in ops and self.uses[id(x)] == 1

    def _terms(self, node: Node, inner: set[int]) -> list[Term]:
        """A sum with the sums inside it that nobody else uses, as terms from left to right."""
        terms: list[Term] = []
        stack: list[Term] = [(False, node)]
        while stack:
            negative, x = stack.pop()
            if x is node or id(x) in inner:
                stack.append((negative != (x.op != "add"), x.args[-1]))
                if x.op != "neg":
                    stack.append((negative, x.args[0]))
            else:
                terms.append((negative, x))
        return terms

    def _fused_products(self, sums: list[list[Term]]) -> set[int]:
        """Products that every use takes in with a fused multiply-add, so that they need not be computed by themselves.

        A sum of products only must compute one of them; one that can serve several such sums is better computed once.
        """
        inside: Counter[int] = Counter()
        leading: Counter[int] = Counter()
        for terms in sums:
            products = [id(x) for _, x in terms if isinstance(x, Node) and x.op == "mul"]
            inside.update(products)
            if len(products) == len(terms):
                leading.update(set(products))
        return {x for x, count in inside.items() if count == self.uses[x] and leading[x] <= 1}

    def _sum(self, terms: list[Term], fused: set[int]) -> Operand:
        """Plain terms first, of these one with a plus sign: every product then costs one operation."""
        products = sorted([t for t in terms if id(t[1]) in fused], key=self._rank)
        plain = [t for t in terms if id(t[1]) not in fused]
        plain.sort(key=lambda t: (not isinstance(t[1], Node), *self._rank(t)))
        total: Operand
        if plain:
            negative, x = plain[0]
            total = self.operand(x)
        else:
            (negative, x), products = products[0], products[1:]
            total = self.emit("mul", *(self.operand(p) for p in x.args))
        # the sum is built with the first term's sign
        for sign, x in plain[1:]:
            total = self.emit("sub" if sign != negative else "add", total, self.operand(x))
        for sign, x in products:
            total = self.emit("fnma" if sign != negative else "fma", *(self.operand(p) for p in x.args), total)
        return self.emit("neg", total) if negative else total

    def _rank(self, term: Term) -> tuple[bool, int]:
        return term[0], self.colour.get(id(term[1]), 0)

    def _instruction(self, node: Node) -> Operand:
        if node.op == "keep":
            return self.operand(node.args[0])
        if node.op == "div":
            a, b = node.args
            if isinstance(b, float):
                if not SMALLEST < abs(1.0 / b) < 1.0 / SMALLEST:
                    return self.emit("div", self.operand(a), b)
                return self.emit("mul", 1.0 / b, self.operand(a))
            if self.divisions[id(b)] > 1:
                inverse = self._reciprocal(b)
                return inverse if isinstance(a, float) and a == 1.0 else self.emit("mul", self.operand(a), inverse)
        return self.emit(node.op, *(self.operand(x) for x in node.args))

    def _reciprocal(self, b: Node) -> Operand:
        """1 / b, one division for b and −b, if b is computed by itself."""
        if id(b) not in self.reciprocal:
            negative = b.op == "neg" and id(b.args[0]) in self.value
            self.reciprocal[id(b)] = (
                self.emit("neg", self._reciprocal(b.args[0])) if negative else self.emit("div", 1.0, self.operand(b))
            )
        return self.reciprocal[id(b)]
