"""Conversion to SymPy, with exact numbers and symbol names that are safe in all of its modules."""

from __future__ import annotations

import builtins
import functools
import keyword
import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dynamis.errors import MissingExtraError
from dynamis.scalar import Node, topological
from dynamis.symbolic.arrangement import Sum, mapped
from dynamis.symbolic.notation import MOTOR_LETTERS, SymbolPrinter, plain_text
from dynamis.symbolic.printing import multiple_of_a_constant
from dynamis.symbolic.ring import Atom, Ring
from dynamis.symbolic.trig_rewriting import arc_terms

_STATE = {"position": "q", "velocity": "qd", "acceleration": "qdd", "torque": "tau"}
_FUNCTIONS = ("acos", "asin", "atan2", "cos", "exp", "floor", "log", "sign", "sin", "sqrt", "tanh")


def load_sympy() -> Any:
    try:
        import sympy
    except ImportError:
        raise MissingExtraError("SymPy is not installed: pip install 'dynamis[sympy]'") from None
    return sympy


def sympy_number(x: Any) -> Any:
    """The number that is printed for a float, exactly."""
    exact = x if isinstance(x, Fraction) else Fraction(repr(float(x)))
    return load_sympy().Rational(exact.numerator, exact.denominator)


def safe_name(name: str) -> str:
    """A name that SymPy's parser, lambdify and Python itself do not understand otherwise, and no coordinate has."""
    plain = name if re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) else re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    plain = plain[:60]
    if not plain or plain in _reserved() or plain[0].isdigit() or re.fullmatch(r"(q|qd|qdd|tau)\d*", plain):
        return f"p_{plain}" if plain else "p"
    return plain


@functools.cache
def _reserved() -> set[str]:
    return {*keyword.kwlist, *dir(builtins), *dir(math), *dir(np), *dir(load_sympy())}


def sympy_operations() -> dict[str, Callable[..., Any]]:
    """The operations of expressions on those of SymPy; truth is 1 or 0."""
    sympy = load_sympy()

    def relation(name: str) -> Callable[..., Any]:
        return lambda a, b=0: sympy.Piecewise((1, getattr(sympy, name)(a, b)), (0, True))

    return {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
        "pivot": lambda value, *_: value, "keep": lambda value: value,
        "where": lambda holds, a, b: sympy.Piecewise((a, sympy.Ne(holds, 0)), (b, True)),
        "lt": relation("Lt"), "le": relation("Le"), "eq": relation("Eq"), "not": relation("Eq"),
        "pow": operator.pow, "and": sympy.Min, "or": sympy.Max, "abs": sympy.Abs, "max": sympy.Max, "min": sympy.Min,
        **{name: getattr(sympy, name) for name in _FUNCTIONS},
    }  # fmt: skip


class SympyForm:
    """Conversion of the expressions of one ring; ``names`` gives each symbol's name by its node's id."""

    def __init__(self, ring: Ring, letters: SymbolPrinter) -> None:
        self.sympy, self.ring, self.letters = load_sympy(), ring, letters
        self._operations = sympy_operations()
        self.names: dict[int, str] = {}
        self._name_all([a.node for a in ring.atoms if a.kind == "symbol" and a.node is not None])

    def of_sum(self, terms: Sum) -> Any:
        """An arranged sum of products."""
        return mapped(terms, self.of_atom, self._coefficient)

    def _coefficient(self, x: Fraction) -> Any:
        """As it is printed: √3/2 of a robot with symbolic parameters, not the decimal computed for it."""
        found = multiple_of_a_constant(abs(x)) if self.ring.positions is None else None
        if found is None:
            return sympy_number(x)
        factor, constant = found
        return sympy_number(factor if x > 0 else -factor) * self.sympy.sympify(constant or "1")

    def of_atom(self, atom: Atom) -> Any:
        if atom.kind in ("sine", "cosine"):
            path = arc_terms(self.ring, atom.start, atom.end)
            angle = sum((sign * self.of_node(unit) / denominator for unit, sign, denominator in path), self.sympy.Integer(0))
            return self.sympy.sin(angle) if atom.kind == "sine" else self.sympy.cos(angle)
        if atom.node is None:
            written = self.letters.names.get(atom.name, atom.name)
            return self.sympy.Symbol(safe_name(written), real=True)
        return self.of_node(atom.node)

    def of_node(self, node: Any) -> Any:
        """A node of the graph, operation by operation."""
        made: dict[int, Any] = {}
        for n in topological([node]):
            if n.op == "symbol":
                made[id(n)] = self.sympy.Symbol(self._name_of(n), real=True)
            else:
                operands = [made[id(a)] if isinstance(a, Node) else sympy_number(a) for a in n.args]
                made[id(n)] = self._operations[n.op](*operands)
        return made[id(node)] if isinstance(node, Node) else sympy_number(node)

    # names

    def _name_all(self, nodes: list[Node]) -> None:
        taken: set[str] = set()
        roles = self.letters.roles
        waiting: list[tuple[Node, str]] = []
        for node in nodes:
            role = roles.get(id(node))
            own = str(node.args[0])
            if role is not None and own.partition("[")[0].rstrip("'") in MOTOR_LETTERS:
                written = plain_text(self.letters.symbol(node))
                waiting.append((node, "d" * written.count("'") + written.rstrip("'")))
            elif role is not None and role.kind in _STATE:
                self.names[id(node)] = f"{_STATE[role.kind]}{role.number}"
                taken.add(self.names[id(node)])
            else:
                waiting.append((node, own))
        # names that can stay as they are go first
        for node, own in sorted(waiting, key=lambda item: safe_name(item[1]) != item[1]):
            name, tries = safe_name(own), 1
            while name in taken:
                tries += 1
                name = f"{safe_name(own)}_{tries}"
            self.names[id(node)] = name
            taken.add(name)

    def _name_of(self, node: Node) -> str:
        return self.names[id(node)] if id(node) in self.names else safe_name(str(node.args[0]))
