"""The coefficients of an answer: exact fractions, and decimals to their last significant digits."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from dynamis.symbolic.equivalence import MAX_TYPED_DENOMINATOR
from dynamis.symbolic.ring import Polynomial


def with_short_divisor(above: Polynomial, below: Polynomial | None) -> tuple[Polynomial, Polynomial | None]:
    """A quotient whose divisor has no large coefficients: those of cos(π/4) over 10³² are decimals."""
    if below is None:
        return above, below
    largest = max(abs(c) for c in below.coeffs())
    return (above / largest, below / largest) if largest > MAX_TYPED_DENOMINATOR else (above, below)


def fraction(c: Any) -> Fraction:
    return Fraction(int(c.p), int(c.q))


def without_last_digits(c: Fraction) -> Fraction:
    """A computed decimal to 13 digits, so that it can be the negative or a multiple of one in an answer: 98.10000000000001."""
    return c if c.denominator <= MAX_TYPED_DENOMINATOR else Fraction(f"{Decimal(c.numerator) / Decimal(c.denominator):.13g}")
