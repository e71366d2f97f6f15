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
    x, y = ring.value(a), ring.value(b)
    difference = ring.difference(x, y)
    return bool(difference.is_zero()) or is_rounding_noise(
        ring, difference, x[0] if y[1] is None else ring.reduced(ring.product(x[0], y[1]))
    )


def _nodes(x: Any) -> Any:
    if isinstance(x, Node) or is_number(x):
        return x
    if isinstance(x, HasNode) and not isinstance(x, np.ndarray):
        return x.node()
    if isinstance(x, list | tuple | np.ndarray):
        flat = np.asarray(x, dtype=object)
        return np.array([_nodes(y) for y in flat.flat], dtype=object).reshape(flat.shape)
    raise InputError(f"equivalent requires symbols, expressions, numbers or arrays of them, got {type(x).__name__}")


def is_rounding_noise(ring: Ring, difference: Polynomial, beside: Polynomial) -> bool:
    """Whether a difference of computed decimals is within their rounding errors."""
    if all(int(c.q) <= MAX_TYPED_DENOMINATOR for c in difference.coeffs()):
        return False
    largest = largest_coefficients(ring, beside.to_dict())
    return all(is_noise(ring, e, c, largest, 100 * SUM_ROUNDING) for e, c in difference.to_dict().items())


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
