"""The ring of closed forms: polynomials over sines and cosines, with decidable equality.

The equations of a manipulator are polynomials in parameters, rates, prismatic variables, and the sine S and cosine C of some
angles φ, with S² + C² = 1. Written without S² (each S² becomes 1 − C²) such a polynomial has a unique normal form, so two
expressions are equal if and only if their normal forms are. No general simplification is needed.

The angles φ are chosen once, from the kinematic tree (`angles.py`): where axes are parallel they are the sums
q_1, q_1 + q_2, … that reduce the products of a planar arm to single terms. Arithmetic is exact, over the rationals
(FLINT's sparse multivariate polynomials).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import cos, gcd, isfinite, lcm, pi, sin
from typing import Any

import flint

from dynamis.display import counted
from dynamis.errors import InputError, unknown_name
from dynamis.scalar import Node, gradient, topological
from dynamis.symbolic.angles import Angle, LinearForm, angles_for, as_fraction, below, compared, linear_form
from dynamis.symbolic.budget import UNLIMITED, Budget, BudgetSpent

Polynomial = Any  # flint.fmpq_mpoly, which has no type stubs

_ARITHMETIC = frozenset({"add", "sub", "neg", "mul", "div", "pivot", "keep", "sin", "cos", "symbol"})
STATE = re.compile(r"(q|v|a|tau|w)\[.*\]")  # symbols of a closed form that are no parameters
_COMMUTING = frozenset({"min", "max", "and", "or", "eq"})
_STEPS = frozenset({"sign", "floor", "lt", "le", "eq", "not", "and", "or"})  # constant wherever they have a derivative

# FLINT ends the process when it gets no memory, and cannot be interrupted: products are bounded before they begin.
MAX_POLYNOMIAL_BYTES = 256 * 2**20  # exponents as Python holds them, and coefficients
MAX_DEGREE = 1000
UNCHECKED_TERM_PRODUCTS = 1000  # small enough whatever their coefficients are
LARGEST_INTEGER = 10**9  # coefficients of a quotient are integers up to this size
UNREDUCED = 4  # times the terms that an expression may have: a product with squares of sines, before these are replaced
TERM_PRODUCTS_PER_BATCH = 1_000_000  # some milliseconds: then size and clock are checked
# up to which term products of numerator and denominator, and degree, common factors are searched for
MAX_GCD_TERM_PRODUCTS, MAX_GCD_DEGREE = 1_000_000, 60


@dataclass(frozen=True, eq=False)
class Atom:
    """The meaning of a generator of the ring.

    ``sine`` and ``cosine`` are of the angle φ_end − φ_start (start −1: φ_end itself; + φ_start about opposite axes).
    ``symbol`` and ``opaque`` hold a node; an opaque one is an operation outside the ring, such as sgn(v). ``name`` is
    defined by the caller that prints it.
    """

    kind: str
    index: int
    start: int = -1
    end: int = -1
    node: Node | None = None
    name: str = ""


class Ring:
    """Polynomials in the sines and cosines of these angles, these symbols and these opaque nodes."""

    def __init__(self, angles: Sequence[Angle], symbols: Sequence[Node], opaque: Sequence[Node] = (), names: int = 0) -> None:
        self.angles = tuple(angles)
        arcs = [(-1, j) for j in range(len(angles))] + [(i, j) for j in range(len(angles)) for i in compared(self.angles, j)]
        made: list[dict[str, Any]] = [{"kind": kind, "start": i, "end": j} for kind in ("sine", "cosine") for i, j in arcs]
        made += [{"kind": "symbol", "node": s} for s in symbols] + [{"kind": "opaque", "node": o} for o in opaque]
        made += [{"kind": "name", "name": f"name {k}"} for k in range(names)]
        self.atoms = tuple(Atom(index=k, **fields) for k, fields in enumerate(made))
        # generators carry numbers, never names that came from a file
        self.context = flint.fmpq_mpoly_ctx.get([f"g{k}" for k in range(len(self.atoms))], flint.Ordering.lex)
        self.generators = self.context.gens()
        self.one, self.zero = self.context.constant(1), self.context.constant(0)
        self.arc = {(a.kind, a.start, a.end): k for k, a in enumerate(self.atoms) if a.kind in ("sine", "cosine")}
        self._of_node = {id(a.node): k for k, a in enumerate(self.atoms) if a.node is not None}
        self._unit = {id(a.unit): k for k, a in enumerate(self.angles)}
        self._sines = [self.arc["sine", -1, j] for j in range(len(angles))]
        self._cosines = [self.arc["cosine", -1, j] for j in range(len(angles))]
        self._pythagoras = [
            self.generators[s] ** 2 + self.generators[c] ** 2 - 1 for s, c in zip(self._sines, self._cosines, strict=True)
        ]
        self._signs = [(k, rule) for k in range(len(made)) for rule in self._rules_of_sign(k)]
        self._budget = UNLIMITED  # of the expansion in progress
        self._values: dict[int, tuple[Polynomial, Polynomial | None]] = {}
        self._alive: list[Node] = []  # a value is kept by its node's id, so the node must not go away
        self._opaque_by_meaning: dict[str, list[tuple[list[Any], int]]] = {}

    @cached_property
    def positions(self) -> frozenset[int] | None:
        """The generators that are joint positions, if there are no symbolic parameters; else None."""
        names = {k: str(a.node.args[0]) for k, a in enumerate(self.atoms) if a.kind == "symbol" and a.node is not None}
        if not all(STATE.fullmatch(name) for name in names.values()):
            return None
        return frozenset(k for k, name in names.items() if name.startswith("q["))

    @staticmethod
    def of(nodes: Iterable[Any], angles: Sequence[Angle] = (), symbols: Sequence[Node] = ()) -> Ring:
        """The smallest ring that holds these expressions, and the given angles and symbols in this order."""
        order = topological(nodes)
        found = {id(s): s for s in symbols}
        opaque = [n for n in order if n.op not in _ARITHMETIC]
        forms = [linear_form(n.args[0]) for n in order if n.op in ("sin", "cos")]
        for node in order:
            if node.op == "symbol":
                found.setdefault(id(node), node)
        return Ring(angles_for(forms, angles), list(found.values()), opaque)

    def _rules_of_sign(self, k: int) -> list[Polynomial]:
        """sgn³ = sgn and x sgn(x)² = x, if generator k is the sign of a symbol x."""
        node = self.atoms[k].node
        if self.atoms[k].kind != "opaque" or node is None or node.op != "sign":
            return []
        s, x = self.generators[k], self._of_node.get(id(node.args[0]))
        return [f * s**2 - f for f in (s, *([] if x is None else [self.generators[x]]))]

    # from expressions

    def value(self, node: Any, budget: Budget = UNLIMITED) -> tuple[Polynomial, Polynomial | None]:
        """Numerator and denominator (None for 1) of an expression, in normal form."""
        if not isinstance(node, Node):
            return self.number(node), None
        if id(node) not in self._values:
            self.expand([node], budget)
        return self._values[id(node)]

    def expand(self, nodes: Iterable[Any], budget: Budget = UNLIMITED) -> None:
        """Compute and cache the values of all these expressions."""
        waiting = [n for n in topological(nodes) if id(n) not in self._values]
        before, self._budget = self._budget, budget
        try:
            for step, n in enumerate(waiting, 1):
                self._values[id(n)] = self._apply(n)
                self._alive.append(n)
                budget.spend(len(self._values[id(n)][0]), step, len(waiting))
        finally:
            self._budget = before

    def number(self, x: Any) -> Polynomial:
        """An exact constant; a float is interpreted as the fraction or decimal it represents."""
        return self.context.constant(_rational(x))

    def generator(self, node: Node) -> Polynomial:
        """The generator of a symbol, or of an operation outside the ring."""
        return self.generators[self._index(node)]

    def _index(self, node: Node) -> int:
        if id(node) not in self._of_node:
            raise InputError(f"{node} does not occur in these expressions and cannot be combined with them")
        return self._of_node[id(node)]

    def reserved(self, k: int) -> Polynomial:
        """The k-th free name."""
        first = next(i for i, a in enumerate(self.atoms) if a.kind == "name")
        return self.generators[first + k]

    def _apply(self, node: Node) -> tuple[Polynomial, Polynomial | None]:
        if node.op == "symbol":
            return self.generator(node), None
        if node.op in ("sin", "cos"):
            turned = self.turned(linear_form(node.args[0]))
            return turned[node.op == "sin"], None
        if node.op not in _ARITHMETIC:
            return self.generators[self._meaning(node)], None
        operands = [self._values[id(a)] if isinstance(a, Node) else (self.number(a), None) for a in node.args]
        match node.op:
            case "pivot" | "keep":
                return operands[0]
            case "neg":
                return -operands[0][0], operands[0][1]
            case "add":
                return self.add(*operands)
            case "sub":
                (a, b), (c, d) = operands
                return self.add((a, b), (-c, d))
            case "mul":
                return self.multiply(*operands)
        return self.divide(*operands)

    def _meaning(self, node: Node) -> int:
        """The generator of an opaque operation, the same for equal operands in any form."""
        operands = [self._values[id(a)] if isinstance(a, Node) else (self.number(a), None) for a in node.args]
        known = self._opaque_by_meaning.setdefault(node.op, [])
        for others, index in known:
            orders = [others, others[::-1]] if node.op in _COMMUTING else [others]
            if any(all(self.same(x, y) for x, y in zip(operands, order, strict=True)) for order in orders):
                return index
        known.append((operands, self._index(node)))
        return known[-1][1]

    def turned(self, form: LinearForm) -> tuple[Polynomial, Polynomial]:
        """(cos, sin) of a sum of angles, expanded by the addition theorem."""
        turns = [Fraction(0)] * len(self.angles)
        for unit, ratio in form.terms:
            k, part = self._angle_of(unit, ratio)
            own = self.angles[k]
            turns[k] += part * own.denominator * own.sign
            if own.base is not None:
                turns[own.base] -= part * own.denominator * own.sign
        c, s = (self.number(x) for x in _cosine_and_sine(form.constant))
        for k, times in enumerate(turns):
            C = self.generators[self._cosines[k]]
            S = self.generators[self._sines[k]] * (1 if times > 0 else -1)
            for _ in range(abs(int(times))):
                c, s = (
                    self.reduced(self.product(c, C) - self.product(s, S)),
                    self.reduced(self.product(s, C) + self.product(c, S)),
                )
        return c, s

    def _angle_of(self, unit: Node, ratio: Fraction) -> tuple[int, Fraction]:
        """The angle of a unit, and the multiple in terms of it."""
        ways = [(self._unit[id(unit)], ratio)] if id(unit) in self._unit else []
        ways += [(k, ratio / a.scaled[1]) for k, a in enumerate(self.angles) if a.scaled and a.scaled[0] is unit]
        for k, part in sorted(ways, key=lambda way: abs(way[1])):
            if (part * self.angles[k].denominator).denominator == 1:
                return k, part
        raise InputError(
            f"the sine of {ratio} times {unit} does not occur in these expressions and cannot be combined with them"
        )

    # arithmetic

    def product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """a · b; raises `BudgetSpent` where it would become too large, before the memory is taken."""
        if max(a.total_degree(), 0) + max(b.total_degree(), 0) > MAX_DEGREE:
            raise BudgetSpent(f"the expanded form has powers above {MAX_DEGREE}")
        if len(a) < len(b):
            a, b = b, a
        if len(a) * len(b) <= UNCHECKED_TERM_PRODUCTS:
            return a * b
        bits = sum(max(c.height_bits() for c in p.coeffs()) for p in (a, b))
        most = min(MAX_POLYNOMIAL_BYTES // (8 * len(self.atoms) + bits // 4), UNREDUCED * self._budget.largest)
        if len(a) * len(b) <= min(TERM_PRODUCTS_PER_BATCH, most):
            return a * b
        total, terms, size = self.zero, list(b.to_dict().items()), max(1, TERM_PRODUCTS_PER_BATCH // len(a))
        for first in range(0, len(terms), size):
            total = total + a * self.context.from_dict(dict(terms[first : first + size]))
            if len(total) > most:
                raise BudgetSpent(f"the expanded form has an expression of more than {counted(int(most), 'term')}")
            self._budget.check_clock()
        return total

    # on (numerator, denominator)

    def reduced(self, p: Polynomial) -> Polynomial:
        """The normal form: every S² replaced by 1 − C², sgn³ by sgn and x sgn(x)² by x."""
        degrees = p.degrees()
        for k, rule in (*zip(self._sines, self._pythagoras, strict=True), *self._signs):
            if degrees[k] > 1:
                p = p % rule
        return p

    def add(self, x: Any, y: Any) -> tuple[Polynomial, Polynomial | None]:
        (a, b), (c, d) = x, y
        if b is None and d is None:
            return a + c, None
        if b == d:
            return self.ratio(a + c, b)
        b, d = self.one if b is None else b, self.one if d is None else d
        return self.ratio(self.reduced(self.product(a, d) + self.product(c, b)), self.reduced(self.product(b, d)))

    def multiply(self, x: Any, y: Any) -> tuple[Polynomial, Polynomial | None]:
        (a, b), (c, d) = x, y
        if b is None and d is None:
            return self.reduced(self.product(a, c)), None
        denominator = b if d is None else d if b is None else self.reduced(self.product(b, d))
        return self.ratio(self.reduced(self.product(a, c)), denominator)

    def divide(self, x: Any, y: Any) -> tuple[Polynomial, Polynomial | None]:
        c, d = y
        if c.is_zero():
            raise InputError("division by zero: the divisor vanishes identically")
        return self.multiply(x, (self.one if d is None else d, c))

    def ratio(self, numerator: Polynomial, denominator: Polynomial) -> tuple[Polynomial, Polynomial | None]:
        """The quotient, as polynomials; common factors are cancelled where they can be found quickly."""
        if numerator.is_zero():
            return self.zero, None
        degree = max(numerator.total_degree(), denominator.total_degree())
        if len(numerator) * len(denominator) <= MAX_GCD_TERM_PRODUCTS and degree <= MAX_GCD_DEGREE:
            common = numerator.gcd(denominator)
            if not common.is_constant():
                numerator, denominator = numerator / common, denominator / common
        if denominator.is_constant():
            return numerator / denominator.leading_coefficient(), None
        scale = _common_scale(numerator, denominator)
        if max(abs(c) for p in (numerator, denominator) for c in p.coeffs()) > LARGEST_INTEGER * abs(scale):
            scale = denominator.leading_coefficient()  # products of decimals, such as 0.4² in floating point
        return numerator / scale, denominator / scale

    def same(self, x: Any, y: Any) -> bool:
        """Whether two quotients are equal, by cross-multiplication."""
        return bool(self.difference(x, y).is_zero())

    def difference(self, x: Any, y: Any) -> Polynomial:
        """The numerator of x − y over the product of their denominators."""
        (a, b), (c, d) = x, y
        return self.reduced((a if d is None else self.product(a, d)) - (c if b is None else self.product(c, b)))

    # differentiation

    def variable(self, given: Any) -> Node:
        """A symbol, given as such or by its name: "m_1", or "q_2" of q[2]."""
        if isinstance(given, Node) and (id(given) in self._of_node or id(given) in self._unit):
            return given
        inside = [angle.unit for angle in self.angles] + [atom.node for atom in self.atoms if isinstance(atom.node, Node)]
        named = {str(x): x for x in topological(inside) if x.op == "symbol"}
        known = {re.sub(r"\[(.*)\]", r"_\1", name): x for name, x in named.items()} | named
        if isinstance(given, str):
            if given not in known:
                raise unknown_name("symbol", given, known)
            return known[given]
        if not isinstance(given, Node) or given.op != "symbol":
            raise InputError(f"expected a symbol or its name, such as form.q[0] or 'm_1', got {type(given).__name__}")
        if str(given) in named:
            return named[str(given)]
        if str(given) in known:
            raise InputError(f"{given} is another symbol than the joint variable: give its name as text, {str(given)!r}")
        return given

    def derivative(self, p: Polynomial, node: Node) -> Polynomial:
        """∂p/∂x of a polynomial: through the angles that depend on x, and through x itself."""
        result = self.zero
        if id(node) in self._unit:
            result = result + self._by_turning(p, self._unit[id(node)])
        if id(node) in self._of_node:
            result = result + p.derivative(self._of_node[id(node)])
        for k, angle in enumerate(self.angles):
            if angle.unit.op != "symbol" and angle.unit is not node and not (turning := self._by_turning(p, k)).is_zero():
                result = result + self.product(turning, self._rate(angle.unit, node))
        degrees = p.degrees()
        for k, atom in enumerate(self.atoms):
            if atom.kind == "opaque" and degrees[k] and atom.node is not node and atom.node.op not in _STEPS:  # type: ignore[union-attr]
                result = result + self.product(p.derivative(k), self._rate(atom.node, node))
        return self.reduced(result)

    def _rate(self, inner: Any, node: Node) -> Polynomial:
        """∂ inner / ∂x of the argument of a sine or another function."""
        if all(n is not node for n in topological([inner])):
            return self.zero
        above, below = self.value(gradient(inner, [node])[0])
        if below is not None:
            raise InputError(f"the derivative of {inner} by {node} is not a polynomial of these expressions")
        return above

    def _by_turning(self, p: Polynomial, k: int) -> Polynomial:
        own = self.angles[k]
        rate = flint.fmpq(own.sign, own.denominator)
        result = self.zero
        for j in range(len(self.angles)):
            if j == k or k in self.below(j):
                s, c = self._sines[j], self._cosines[j]
                result = result + p.derivative(s) * self.generators[c] - p.derivative(c) * self.generators[s]
        return result * rate

    def below(self, j: int) -> list[int]:
        """The angles φ_j is built on, nearest first."""
        return below(self.angles, j)


def _rational(x: Any) -> Any:
    if isinstance(x, int):
        return flint.fmpq(x)
    if not isfinite(x):
        raise InputError(f"{x} is not a valid number")
    fraction = x if isinstance(x, Fraction) else as_fraction(float(x))
    return flint.fmpq(fraction.numerator, fraction.denominator)


def _cosine_and_sine(angle: float) -> tuple[float, float]:
    # quarter turns, the commonest constants, have exact values
    quarters = angle / (pi / 2)
    if abs(quarters - round(quarters)) < 1e-12 * max(1.0, abs(quarters)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarters) % 4]
    return cos(angle), sin(angle)


def _common_scale(numerator: Polynomial, denominator: Polynomial) -> Any:
    """The common divisor for primitive integer coefficients with a positive leading one."""
    coefficients = [Fraction(int(c.p), int(c.q)) for p in (numerator, denominator) for c in p.coeffs()]
    below = lcm(*(c.denominator for c in coefficients))
    above = gcd(*(c.numerator * (below // c.denominator) for c in coefficients))
    sign = 1 if denominator.leading_coefficient() > 0 else -1
    return flint.fmpq(sign * above, below)
