"""Terms with negative powers, and mistakes in quotients."""

from __future__ import annotations

from dynamis.classroom.checking.causes import Cause
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


def over(cause: Cause, denominator: str) -> Cause:
    """The cause of an error in the terms of numerators over a common denominator."""
    return Cause(f"{cause.text} (over the denominator {denominator})", f"{cause.hint} (over the common denominator)")


def divisor_too_many(written: str) -> Cause:
    """The cause where the correct entry is divided by an expression."""
    message = f"a divisor too many: {written}"
    return Cause(message, message)


def missing_divisor(written: str) -> Cause:
    """The cause where the correct entry is a quotient, and the answer its dividend."""
    return Cause(f"a missing divisor: {written}", "a divisor is missing")
