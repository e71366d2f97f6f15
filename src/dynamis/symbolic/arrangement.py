"""Arrangement of polynomials in textbook form: common factors extracted, terms grouped by link or by angle.

An arrangement is a `Sum` of `Product`s whose factors are generators or sums. Of several groupings the one with the fewest
symbols is chosen; a `Style` decides between equal ones and orders the terms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import flint

from dynamis.symbolic.ring import Atom, Polynomial, Ring
from dynamis.symbolic.trig_rewriting import arc_terms

MAX_DENOMINATOR = 96
MAX_FACTORED_TERMS, MAX_FACTORED_DEGREE = 40, 30  # factoring larger sums takes long and rarely succeeds
MAX_ARRANGED_TERMS = 5000  # longer sums are not read, and grouping them takes minutes


@dataclass(frozen=True)
class Product:
    """number · Π factor ** power."""

    number: Fraction
    factors: tuple[tuple[Atom | Sum, int], ...] = ()


@dataclass(frozen=True)
class Sum:
    """Σ terms; no terms is zero."""

    terms: tuple[Product, ...]


@dataclass(frozen=True)
class Role:
    """The role of a symbol: its kind, and the number of its link or joint."""

    kind: str  # mass, inertia, gravity, length, position, velocity, acceleration, torque
    number: int = 0


@dataclass(frozen=True)
class Style:
    """How terms are grouped and ordered.

    ``links`` orders inertial terms: "mass first" and "inertia first" go link by link, "masses first" puts the masses
    of all links before their moments of inertia. ``gravity`` groups weights by "angle" or by "link".
    ``preference`` < 1 makes the grouping by link (of weights: by ``gravity``) win over somewhat shorter ones.
    """

    links: str = "mass first"
    gravity: str = "angle"
    preference: float = 0.6


INERTIAL = ("mass", "inertia")
_FACTOR_ORDER = ("mass", "inertia", "sum of inertial", "name", "gravity", "length", "position", "sum", "trig", "opaque",
                 "velocity", "acceleration", "torque", "sum of rates")  # fmt: skip


Monomial = tuple[tuple[int, int], ...]  # (generator, power), in the order of generators
Terms = dict[Monomial, Fraction]


@dataclass
class Arranger:
    """Arranges the polynomials of one ring."""

    ring: Ring
    roles: Mapping[int, Role]
    style: Style = Style()
    _kinds: list[str] = field(default_factory=list, init=False)
    _classes: dict[str, frozenset[int]] = field(default_factory=dict, init=False)
    _products: dict[Any, Product] = field(default_factory=dict, init=False)
    _keys: dict[int, tuple[Any, ...]] = field(default_factory=dict, init=False)
    _names: dict[int, tuple[Any, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._kinds = [self.kind(atom) for atom in self.ring.atoms]

        def of(*kinds: str) -> frozenset[int]:
            return frozenset(k for k, kind in enumerate(self._kinds) if kind in kinds)

        rates = of("velocity", "acceleration", "opaque", "torque")
        self._classes = {"link": of(*INERTIAL), "angle": of("trig"), "rate": rates, "length": of("length", "position")}
        self._classes["gravity"] = of("gravity")

    def kind(self, atom: Atom) -> str:
        if atom.kind in ("sine", "cosine"):
            return "trig"
        if atom.kind == "symbol":
            return self.roles.get(id(atom.node), Role("length")).kind
        return atom.kind

    # grouping

    def arrange(self, p: Polynomial, grouping: str = "") -> Sum:
        """The arrangement of a polynomial in dressed generators.

        ``grouping`` prescribes how the outermost sum is grouped: by "link", "angle", "length", "rate", or each "term".
        """
        terms = terms_of(p)
        if len(terms) <= 1 or len(terms) > MAX_ARRANGED_TERMS:
            return Sum(tuple(self._product({m: c}) for m, c in terms.items()))
        if grouping:
            groups = self._grouped(terms, grouping)
            return self._joined([self._product(group) for group in groups]) if len(groups) > 1 else self._split(terms)
        whole = self._product(terms)
        outside = [x for x, _ in whole.factors if isinstance(x, Atom)]
        sums = [x for x, power in whole.factors if isinstance(x, Sum) for _ in range(power)]
        if len(sums) == 1 and len({c.denominator for c in terms.values()}) > 1 and self._is_inertial(sums[0]):
            return self._split(terms)  # l m_D + ½ l m_s rather than ½ (2 m_D + m_s) l
        if len(sums) == 1 and all(self.kind(x) == "gravity" for x in outside):
            # g is not pulled out of a sum over several angles, nor is a bare number: (…) g c_1 + m_2 g l_2 c_12
            apart = self._split(terms)
            if not outside or len({self._trig_of(t) for t in apart.terms}) > 1:
                return _positive_first(apart)
        return Sum((whole,))

    def _product(self, terms: Terms) -> Product:
        """A polynomial as a product of its common monomial and the factors of the remainder."""
        key = frozenset(terms.items())
        if key not in self._products:
            self._products[key] = self._made_product(terms)
        return self._products[key]

    def _made_product(self, terms: Terms) -> Product:
        common = _common(terms)
        number, rest = _primitive({_divided(m, common): c for m, c in terms.items()})
        factors: dict[Any, int] = {}
        if len(rest) == 1:
            number *= next(iter(rest.values()))
        else:
            small = len(rest) <= MAX_FACTORED_TERMS and _degree(rest) <= MAX_FACTORED_DEGREE and _is_exact(rest)
            sign, pieces = _factors(rest) if small else (1, [(rest, 1)])
            number *= sign
            if len(pieces) == 1 and pieces[0][1] == 1:
                # lengths stay inside a sum of lengths, rates inside one of rates: m_2 (l_2² + a_1 l_2 c_2), but d_2 (q_3 − l_3)
                inner = {k for m in rest for k, _ in m}
                kinds = {self._kinds[k] for k in inner}
                kept = {"length", "velocity"} & kinds
                whole = "position" in kinds
                inside = tuple((k, e) for k, e in common if self._kinds[k] in kept and not (whole and k not in inner))
                common = tuple(x for x in common if x not in inside)
                pieces = [({_multiplied(m, inside): c for m, c in pieces[0][0].items()}, 1)]
            for piece, power in pieces:
                arranged = self._split(piece)
                if arranged.terms[0].number < 0:  # one sign for (a − b) and (b − a), so that they meet
                    arranged, number = _negated(arranged), number * (-1) ** power
                factors[arranged] = factors.get(arranged, 0) + power
        factors |= {self.ring.atoms[k]: e for k, e in common}
        return Product(number, tuple(sorted(factors.items(), key=lambda f: self._factor_key(f[0]))))

    def _split(self, terms: Terms) -> Sum:
        """A sum with the grouping of fewest symbols."""
        ways = []
        for preference, name in enumerate(self._preferences(terms)):
            groups = self._grouped(terms, name)
            if len(groups) > 1:
                bias = self.style.preference if preference == 0 else 1.0
                ways.append((bias * sum(map(_letters, groups)), preference, groups))
        return self._joined([self._product(group) for group in min(ways, key=lambda way: way[:2])[2]])

    def _joined(self, products: list[Product]) -> Sum:
        """A sum of products; a number times a sum is expanded."""
        terms: list[Product] = []
        for product in products:
            if len(product.factors) == 1 and isinstance(product.factors[0][0], Sum) and product.factors[0][1] == 1:
                terms += [Product(product.number * t.number, t.factors) for t in product.factors[0][0].terms]
            else:
                terms.append(product)
        return Sum(tuple(sorted(terms, key=self._term_key)))

    def _preferences(self, terms: Terms) -> tuple[str, ...]:
        weights = any(k in self._classes["gravity"] for m in terms for k, _ in m)
        first = self.style.gravity if weights else "link"
        return (first, *(name for name in ("link", "angle", "length", "rate", "term") if name != first))

    def _grouped(self, terms: Terms, name: str) -> list[Terms]:
        if name == "term":
            return [{m: c} for m, c in terms.items()]
        members = self._classes[name]
        groups: dict[Monomial, Terms] = {}
        for m, c in terms.items():
            groups.setdefault(tuple(x for x in m if x[0] in members), {})[m] = c
        return list(groups.values())

    # order

    def _term_key(self, product: Product) -> tuple[Any, ...]:
        by_kind: dict[str, list[Atom]] = {}
        for a in self._atoms(product):
            by_kind.setdefault(self._kinds[a.index], []).append(a)

        def of(*kinds: str) -> list[Atom]:
            return [a for kind in kinds for a in by_kind.get(kind, ())]

        inertial = of(*INERTIAL)
        late = "mass" if self.style.links == "inertia first" else "inertia"
        order, link = late in by_kind, min((self._role(a).number for a in inertial), default=0)
        rates = sorted(self._role(a).number for a in of("acceleration", "velocity"))
        first = (order, link) if self.style.links == "masses first" else (link, order)
        names = sorted(map(self._natural, of("length", "gravity")))
        letters = sorted(map(self._natural, inertial))
        return ("acceleration" not in by_kind, not rates, first, sorted(map(self._arc_key, of("trig"))), rates,
                "position" not in by_kind, names, letters)  # fmt: skip

    def _is_inertial(self, factor: Sum) -> bool:
        return any(self._atoms(term, INERTIAL) for term in factor.terms)

    def _factor_key(self, factor: Atom | Sum) -> tuple[Any, ...]:
        if isinstance(factor, Sum):
            kinds = {self.kind(a) for t in factor.terms for a in self._atoms(t)}
            if self._is_inertial(factor):
                kind = "sum of inertial"
            elif kinds <= {"velocity", "acceleration"}:
                kind = "sum of rates"
            else:
                kind = "sum"
            return (_FACTOR_ORDER.index(kind), (), ())
        kind = self.kind(factor)
        arc = self._arc_key(factor) if kind == "trig" else ()
        number = () if kind in ("length", "gravity") else (self._role(factor).number,)
        return (_FACTOR_ORDER.index(kind), arc or number, self._natural(factor))

    def _arc_key(self, atom: Atom) -> tuple[Any, ...]:
        if atom.index not in self._keys:
            path = arc_terms(self.ring, atom.start, atom.end)
            numbers = [self.roles[id(u)].number if id(u) in self.roles else 99 for u, _, _ in path]
            self._keys[atom.index] = (len(numbers) > 1 and numbers[0] > 1, tuple(numbers), atom.kind)
        return self._keys[atom.index]

    def _natural(self, atom: Atom) -> tuple[Any, ...]:
        """The key of its name."""
        if atom.index not in self._names:
            self._names[atom.index] = natural(str(atom.node) if atom.node is not None else atom.name)
        return self._names[atom.index]

    def _trig_of(self, product: Product) -> tuple[Any, ...]:
        return tuple(sorted(self._arc_key(a) for a in self._atoms(product, ("trig",))))

    def _atoms(self, product: Product, kinds: tuple[str, ...] | None = None) -> list[Atom]:
        found: list[Atom] = []
        for factor, power in product.factors:
            if isinstance(factor, Sum):
                found += [a for term in factor.terms for a in self._atoms(term, kinds)]
            elif kinds is None or self._kinds[factor.index] in kinds:
                found += [factor] * power
        return found

    def _role(self, atom: Atom) -> Role:
        return self.roles.get(id(atom.node), Role("length"))


def natural(name: str) -> tuple[Any, ...]:
    """A key that puts a_2 before a_10."""
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"(\d+)", name) if part)


def mapped(arrangement: Sum, atom: Callable[[Atom], Any], number: Callable[[Fraction], Any]) -> Any:
    """The arrangement evaluated with other values for its atoms: nodes, SymPy expressions, anything with + and *."""
    total: Any = None
    for term in arrangement.terms:
        value: Any = None
        for factor, power in term.factors:
            base = mapped(factor, atom, number) if isinstance(factor, Sum) else atom(factor)
            raised = base**power if power != 1 else base
            value = raised if value is None else value * raised
        size = abs(term.number)
        if value is None:
            value = number(size)
        elif size != 1:
            value = number(size) * value
        if total is None:
            total = value if term.number > 0 else -value
        else:
            total = total + value if term.number > 0 else total - value
    return number(Fraction(0)) if total is None else total


def _positive_first(arranged: Sum) -> Sum:
    """l_1 − a_1 rather than −a_1 + l_1."""
    terms = list(arranged.terms)
    first = next((k for k, x in enumerate(terms) if x.number > 0), 0)
    terms.insert(0, terms.pop(first))
    return Sum(tuple(terms))


def _negated(arranged: Sum) -> Sum:
    return Sum(tuple(Product(-t.number, t.factors) for t in arranged.terms))


def _letters(terms: Terms) -> float:
    """Approximate number of symbols of a group: its common factor once, then the remainder of each term."""
    common = _common(terms)
    size = _size(common)
    if len(terms) > 1:
        size += 0.5 + sum(_size(_divided(m, common)) + (abs(c) != 1) * 0.6 for m, c in terms.items())
    return size


def _size(m: Monomial) -> float:
    return sum(1.0 if e == 1 else 1.5 for _, e in m)


def _degree(terms: Terms) -> int:
    return max(sum(e for _, e in m) for m in terms)


def _common(terms: Terms) -> Monomial:
    first, *others = terms
    shared = dict(first)
    for m in others:
        powers = dict(m)
        shared = {k: min(e, powers[k]) for k, e in shared.items() if k in powers}
        if not shared:
            break
    return tuple(sorted(shared.items()))


def _divided(m: Monomial, by: Monomial) -> Monomial:
    if not by:
        return m
    less = dict(by)
    return tuple((k, e - less.get(k, 0)) for k, e in m if e != less.get(k, 0))


def _multiplied(m: Monomial, by: Monomial) -> Monomial:
    more = dict(m)
    for k, e in by:
        more[k] = more.get(k, 0) + e
    return tuple(sorted(more.items()))


def terms_of(p: Polynomial) -> Terms:
    """The terms of a polynomial, with sparse monomials."""
    return {m: _fraction(c) for m, c in sparse(p.to_dict()).items()}


def sparse(terms: Mapping[tuple[Any, ...], Any]) -> dict[Monomial, Any]:
    """Sparse terms from full exponent vectors."""
    used = [k for k, powers in enumerate(zip(*terms, strict=True)) if any(powers)]
    return {tuple((k, int(m[k])) for k in used if m[k]): c for m, c in terms.items()}


def _factors(terms: Terms) -> tuple[int, list[tuple[Terms, int]]]:
    """Sign and irreducible factors of a polynomial with whole coefficients."""
    used = sorted({k for m in terms for k, _ in m})
    place = {k: i for i, k in enumerate(used)}
    context = flint.fmpz_mpoly_ctx.get([f"g{i}" for i in range(len(used))], flint.Ordering.lex)
    dense = {}
    for m, c in terms.items():
        exponents = [0] * len(used)
        for k, e in m:
            exponents[place[k]] = e
        dense[tuple(exponents)] = int(c)
    sign, found = context.from_dict(dense).factor()
    pieces = [
        (
            {tuple((used[i], int(e)) for i, e in enumerate(m) if e): Fraction(int(c)) for m, c in piece.to_dict().items()},
            int(power),
        )
        for piece, power in found
    ]
    return int(sign), pieces


def _primitive(terms: Terms) -> tuple[Fraction, Terms]:
    """(content, terms / content), the second with whole coefficients that have no common divisor.

    The content of decimals is taken out only where they are all the same, as 9.81 in 9.81 a_1 c_1 + 9.81 l_2 c_12.
    """
    if not _is_exact(terms):
        sizes = {abs(c) for c in terms.values()}
        content = sizes.pop() if len(sizes) == 1 else Fraction(1)
        return content, {m: c / content for m, c in terms.items()}
    below = lcm(*(c.denominator for c in terms.values()))
    above = gcd(*(c.numerator * (below // c.denominator) for c in terms.values()))
    content = Fraction(above, below)
    return content, {m: c / content for m, c in terms.items()}


def _is_exact(terms: Terms) -> bool:
    """Whether the coefficients are simple fractions rather than measured decimals."""
    return all(c.denominator <= MAX_DENOMINATOR for c in terms.values())


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))
