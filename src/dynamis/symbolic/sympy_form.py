"""Conversion to SymPy, with exact numbers and symbol names that are safe in all of its modules."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np

from dynamis.errors import MissingExtraError
from dynamis.scalar import Node, topological
from dynamis.symbolic.arrangement import Sum, mapped
from dynamis.symbolic.notation import SymbolPrinter
from dynamis.symbolic.ring import Atom, Ring
from dynamis.symbolic.trig_rewriting import arc_terms

_STATE = {"position": "q", "velocity": "qd", "acceleration": "qdd", "torque": "tau"}
_FUNCTIONS = {"abs": "Abs", "max": "Max", "min": "Min"} | {
    name: name for name in ("acos", "asin", "atan2", "cos", "exp", "floor", "log", "sign", "sin", "sqrt", "tanh")
}


class SympyForm:
    """Conversion of the expressions of one ring; ``names`` gives each symbol's name by its node's id."""

    def __init__(self, ring: Ring, letters: SymbolPrinter) -> None:
        try:
            import sympy
        except ImportError:
            raise MissingExtraError("SymPy is not installed: pip install 'dynamis[sympy]'") from None
        self.sympy, self.ring, self.letters = sympy, ring, letters
        # what SymPy's parser, lambdify and Python itself understand otherwise
        self._reserved = {*keyword.kwlist, *dir(builtins), *dir(math), *dir(np), *dir(sympy)}
        self.names: dict[int, str] = {}
        self._name_all([a.node for a in ring.atoms if a.kind == "symbol" and a.node is not None])

    def of_sum(self, terms: Sum) -> Any:
        """An arranged sum of products."""
        return mapped(terms, self.of_atom, self.number)

    def of_atom(self, atom: Atom) -> Any:
        if atom.kind in ("sine", "cosine"):
            path = arc_terms(self.ring, atom.start, atom.end)
            angle = sum((sign * self.of_node(unit) / denominator for unit, sign, denominator in path), self.sympy.Integer(0))
            return self.sympy.sin(angle) if atom.kind == "sine" else self.sympy.cos(angle)
        if atom.node is None:
            written = self.letters.names.get(atom.name, atom.name)
            return self.sympy.Symbol(self._safe(written), real=True)
        return self.of_node(atom.node)

    def of_node(self, node: Any) -> Any:
        """A node of the graph, operation by operation."""
        made: dict[int, Any] = {}
        for n in topological([node]):
            if n.op == "symbol":
                made[id(n)] = self.sympy.Symbol(self._name_of(n), real=True)
            else:
                made[id(n)] = self._applied(n.op, [made[id(a)] if isinstance(a, Node) else self.number(a) for a in n.args])
        return made[id(node)] if isinstance(node, Node) else self.number(node)

    def number(self, x: Any) -> Any:
        exact = x if isinstance(x, Fraction) else Fraction(repr(float(x)))
        return self.sympy.Rational(exact.numerator, exact.denominator)

    def _applied(self, op: str, args: list[Any]) -> Any:
        match op:
            case "add":
                return args[0] + args[1]
            case "sub":
                return args[0] - args[1]
            case "mul":
                return args[0] * args[1]
            case "div":
                return args[0] / args[1]
            case "neg":
                return -args[0]
            case "pivot" | "keep":
                return args[0]
            case "where":
                return self.sympy.Piecewise((args[1], self.sympy.Ne(args[0], 0)), (args[2], True))
            case "lt" | "le" | "eq" | "not":
                relation = {"lt": "Lt", "le": "Le", "eq": "Eq", "not": "Eq"}[op]
                holds = getattr(self.sympy, relation)(args[0], args[1] if len(args) > 1 else 0)
                return self.sympy.Piecewise((1, holds), (0, True))
            case "and" | "or":
                return (self.sympy.Min if op == "and" else self.sympy.Max)(*args)
        return getattr(self.sympy, _FUNCTIONS[op])(*args)

    # names

    def _name_all(self, nodes: list[Node]) -> None:
        taken: set[str] = set()
        roles = self.letters.roles
        waiting: list[tuple[Node, str]] = []
        for node in nodes:
            role = roles.get(id(node))
            own = str(node.args[0])
            if role is not None and role.kind in _STATE:
                self.names[id(node)] = f"{_STATE[role.kind]}{role.number}"
                taken.add(self.names[id(node)])
            else:
                waiting.append((node, own))
        # names that can stay as they are go first
        for node, own in sorted(waiting, key=lambda item: self._safe(item[1]) != item[1]):
            name, tries = self._safe(own), 1
            while name in taken:
                tries += 1
                name = f"{self._safe(own)}_{tries}"
            self.names[id(node)] = name
            taken.add(name)

    def _name_of(self, node: Node) -> str:
        return self.names[id(node)] if id(node) in self.names else self._safe(str(node.args[0]))

    def _safe(self, name: str) -> str:
        plain = name if re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) else re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        plain = plain[:60]
        if not plain or plain in self._reserved or plain[0].isdigit() or re.fullmatch(r"(q|qd|qdd|tau)\d*", plain):
            return f"p_{plain}" if plain else "p"
        return plain
