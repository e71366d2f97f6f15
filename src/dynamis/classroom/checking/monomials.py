"""Monomials with negative powers, as those of quotients: products, common factors and other symbols in them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dynamis.symbolic.arrangement import Monomial, Terms


def times(terms: Terms, factor: Monomial, power: int = 1) -> Terms:
    """Each term multiplied by a power of a product of symbols.

    >>> from fractions import Fraction
    >>> times({((0, 1), (1, 2)): Fraction(3)}, ((1, 2),), -1)
    {((0, 1),): Fraction(3, 1)}
    """
    found: Terms = {}
    for monomial, c in terms.items():
        powers = dict(monomial)
        for k, e in factor:
            powers[k] = powers.get(k, 0) + power * e
        found[tuple(sorted((k, e) for k, e in powers.items() if e))] = c
    return found


def divisor(terms: Terms) -> Monomial:
    """The product of symbols by which a sum of terms is divided.

    >>> from fractions import Fraction
    >>> divisor({((0, 1), (1, -2)): Fraction(3), ((1, -1),): Fraction(1)})
    ((1, 2),)
    """
    powers: dict[int, int] = {}
    for monomial in terms:
        powers |= {k: max(-e, powers.get(k, 0)) for k, e in monomial if e < 0}
    return tuple(sorted(powers.items()))


def likeness(m: Monomial, x: Monomial, c: Fraction, d: Fraction) -> tuple[int, int, bool]:
    """How alike two terms with coefficients c and d are, to be compared with others."""
    common = sum(map(abs, common_powers(m, x).values()))
    return common - abs(degree(m) - degree(x)), common, abs(c) == abs(d)


def common_powers(m: Monomial, x: Monomial) -> dict[int, int]:
    """The powers that two terms have in common, above or below."""
    a, b = dict(m), dict(x)
    return {k: min(e, b[k], key=abs) for k, e in a.items() if e * b.get(k, 0) > 0}


def added_powers(a: Mapping[int, int], b: Mapping[int, int]) -> dict[int, int]:
    """The powers of a product of two terms."""
    return {k: a.get(k, 0) + b.get(k, 0) for k in sorted({*a, *b})}


def degree(m: Monomial) -> int:
    """The number of factors, above and below."""
    return sum(abs(e) for _, e in m)


def renamed(terms: Terms, names: Mapping[int, int]) -> Terms:
    """The terms with symbols replaced by others."""
    found: dict[Monomial, Fraction] = {}
    for m, c in terms.items():
        powers: dict[int, int] = {}
        for k, e in m:
            powers[names.get(k, k)] = powers.get(names.get(k, k), 0) + e
        key = tuple(sorted((k, e) for k, e in powers.items() if e))
        found[key] = found.get(key, Fraction(0)) + c
    return {m: c for m, c in found.items() if c}
