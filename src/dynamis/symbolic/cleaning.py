"""Removal of terms that are rounding errors of numeric geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log2
from typing import Any

from dynamis.symbolic.expression import Expression
from dynamis.symbolic.ring import Polynomial, Ring

# relative to the largest coefficient beside the same symbols, or of the terms that were added: a few hundred roundings of
# 1e-16, far below any number that someone measured
NOISE = 1e-14
WRITTEN = 10**9  # the largest denominator of a number that someone wrote down, rather than computed


def without_rounding_noise(value: Expression) -> Expression:
    """The expression without terms whose coefficients are rounding errors of the others.

    A rotation by a decimal angle has cos² + sin² = 1 only to rounding; the remainder would appear as separate
    terms. Coefficients are compared among terms with the same parameters, whose units are then the same.
    """
    p = value.numerator
    if all(int(c.q) <= WRITTEN for c in p.coeffs()):
        return value
    ring = value.algebra.ring
    terms = p.to_dict()
    largest = _largest(ring, terms)
    kept = {e: c for e, c in terms.items() if not _is_noise(ring, e, c, largest)}
    return value if len(kept) == len(terms) else Expression(value.algebra, ring.context.from_dict(kept), value.denominator)


def summed(parts: Sequence[Expression]) -> Expression:
    """The sum of expressions, without terms that cancel except for rounding errors.

    Coefficients computed from decimals, such as masses times squared lengths, are known to about 1e-16 of their size. Where
    those of one term add up to less than NOISE of the largest of them, the term is zero.
    """
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    if not total.expanded or any(x.denominator is not None for x in parts):
        return total
    if all(int(c.q) <= WRITTEN for c in total.numerator.coeffs()):
        return total
    sizes: dict[Exponents, float] = {}
    for part in parts:
        for exponents, c in part.numerator.to_dict().items():
            sizes[exponents] = max(sizes.get(exponents, -inf), _size(c))
    terms = total.numerator.to_dict()
    kept = {e: c for e, c in terms.items() if _size(c) > log2(NOISE) + sizes[e]}
    return total if len(kept) == len(terms) else Expression(total.algebra, total.algebra.ring.context.from_dict(kept))


def is_rounding_noise(ring: Ring, difference: Polynomial, beside: Polynomial) -> bool:
    """Whether a difference of computed decimals is within their rounding errors."""
    if all(int(c.q) <= WRITTEN for c in difference.coeffs()):
        return False
    largest = _largest(ring, beside.to_dict())
    return all(_is_noise(ring, e, c, largest, 100 * NOISE) for e, c in difference.to_dict().items())


Exponents = tuple[int, ...]


def _largest(ring: Ring, terms: Mapping[Exponents, Any]) -> dict[Exponents, float]:
    found: dict[Exponents, float] = {}
    for exponents, c in terms.items():
        key = exponents[_first(ring) :]
        found[key] = max(found.get(key, -inf), _size(c))
    return found


def _is_noise(ring: Ring, exponents: Exponents, c: Any, largest: Mapping[Exponents, float], noise: float = NOISE) -> bool:
    return _size(c) <= log2(noise) + largest.get(exponents[_first(ring) :], -inf)


def _first(ring: Ring) -> int:
    """Where the generators that are no sines and cosines begin."""
    return len(ring.arc)


def _size(c: Any) -> float:
    """The binary logarithm: coefficients may lie beyond the range of floats."""
    return log2(abs(int(c.p))) - log2(int(c.q))
