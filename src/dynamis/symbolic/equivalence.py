"""Exact equality test of two expressions; computed decimals are equal up to rounding."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log2
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dynamis.errors import InputError
from dynamis.scalar import Node, is_number
from dynamis.symbolic.ring import Polynomial, Ring
from dynamis.tolerances import SUM_ROUNDING

Exponents = tuple[int, ...]
MAX_TYPED_DENOMINATOR = 10**9  # of a number typed by a person rather than computed


@runtime_checkable
class HasNode(Protocol):
    """An expression that can be written as a node."""

    def node(self) -> Any: ...


def equivalent(a: Any, b: Any) -> bool:
    """Whether two expressions (or arrays of them, entry by entry) are equal for all values of their symbols.

    For expressions of symbols, + − × ÷, integer powers, and sines and cosines of sums, the result is exact; computed
    decimals, such as cos(0.3), are compared up to rounding. Other functions, such as a square root, are equal if
    their arguments are.

    >>> import dynamis as dy, numpy as np
    >>> x, y = dy.symbol("x"), dy.symbol("y")
    >>> equivalent(np.sin(x + y), np.sin(x) * np.cos(y) + np.cos(x) * np.sin(y))
    True
    >>> equivalent(np.cos(2.0 * x), 1.0 - np.sin(x) ** 2)
    False
    """
    left, right = (np.asarray(_nodes(x), dtype=object) for x in (a, b))
    if left.shape != right.shape:
        raise InputError(f"shapes {left.shape} and {right.shape} cannot be compared entry by entry")
    ring = Ring.of([*left.flat, *right.flat])
    return all(same(ring, x, y) for x, y in zip(left.flat, right.flat, strict=True))


def same(ring: Ring, a: Any, b: Any) -> bool:
    """Whether two nodes of a ring are equal, by cross-multiplication; decimals, such as cos(0.3), are so to rounding."""
    return bool(rounded_difference(ring, ring.value(a), ring.value(b)).is_zero())


def _nodes(x: Any) -> Any:
    if isinstance(x, Node) or is_number(x):
        return x
    if isinstance(x, HasNode) and not isinstance(x, np.ndarray):
        return x.node()
    if isinstance(x, list | tuple | np.ndarray):
        flat = np.asarray(x, dtype=object)
        return np.array([_nodes(y) for y in flat.flat], dtype=object).reshape(flat.shape)
    raise InputError(f"equivalent requires symbols, expressions, numbers or arrays of them, got {type(x).__name__}")


def rounded_difference(ring: Ring, x: Any, y: Any) -> Polynomial:
    """The numerator of x − y over the product of their denominators, without rounding errors of computed decimals."""
    difference = ring.difference(x, y)
    if difference.is_zero():
        return difference
    above, below = x[0], y[1]
    return without_rounding(ring, difference, above if below is None else ring.reduced(ring.product(above, below)))


def without_rounding(ring: Ring, difference: Polynomial, beside: Polynomial) -> Polynomial:
    """A difference from ``beside``, without terms whose coefficients are rounding errors of computed decimals.

    A rounding error has a long denominator, except beside large coefficients: 98100000.00000001 - 98100000.
    """
    terms, largest = difference.to_dict(), largest_coefficients(ring, beside.to_dict())
    kept = {e: c for e, c in terms.items() if int(c.q) == 1 or not is_noise(ring, e, c, largest, _noise(c))}
    return difference if len(kept) == len(terms) else ring.context.from_dict(kept)


def _noise(c: Any) -> float:
    return 100 * SUM_ROUNDING if int(c.q) > MAX_TYPED_DENOMINATOR else SUM_ROUNDING


def largest_coefficients(ring: Ring, terms: Mapping[Exponents, Any]) -> dict[Exponents, float]:
    """The size of the largest coefficient beside each product of parameters."""
    found: dict[Exponents, float] = {}
    for exponents, c in terms.items():
        key = _beside(ring, exponents)
        found[key] = max(found.get(key, -inf), size(c))
    return found


def is_noise(ring: Ring, exponents: Exponents, c: Any, largest: Mapping[Exponents, float], noise: float = SUM_ROUNDING) -> bool:
    """Whether a coefficient is a rounding error of the largest beside the same parameters."""
    return size(c) <= log2(noise) + largest.get(_beside(ring, exponents), -inf)


def _beside(ring: Ring, exponents: Exponents) -> Exponents:
    """The exponents of what stands beside the sines and cosines: terms with the same ones have the same unit.

    Of a robot without symbolic parameters, positions of prismatic joints are left out: metres beside lengths in metres.
    """
    first = len(ring.arc)
    if ring.positions is None:
        return exponents[first:]
    return tuple(e for k, e in enumerate(exponents[first:], first) if k not in ring.positions)


def size(c: Any) -> float:
    """The binary logarithm: coefficients may lie beyond the range of floats."""
    return log2(abs(int(c.p))) - log2(int(c.q))
