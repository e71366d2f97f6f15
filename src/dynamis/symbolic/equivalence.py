"""Exact equality test of two expressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamis.errors import InputError
from dynamis.scalar import Node, is_number
from dynamis.symbolic.cleaning import is_rounding_noise
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.ring import Ring


def equivalent(a: Any, b: Any) -> bool:
    """Whether two expressions (or arrays of them, entry by entry) are equal for all values of their symbols.

    For expressions of symbols, + − × ÷, integer powers, and sines and cosines of sums, the result is exact; computed
    decimals, such as cos(0.3), are compared up to rounding. Other functions, such as a square root, are equal if
    their arguments are.

    >>> import dynamis as dy
    >>> x, y = dy.symbol("x"), dy.symbol("y")
    >>> equivalent(dy.sin(x + y), dy.sin(x) * dy.cos(y) + dy.cos(x) * dy.sin(y))
    True
    >>> equivalent(dy.cos(2.0 * x), 1.0 - dy.sin(x) ** 2)
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
    if isinstance(x, Expression):
        return x.node()
    if isinstance(x, Node) or is_number(x):
        return x
    if isinstance(x, list | tuple | np.ndarray):
        flat = np.asarray(x, dtype=object)
        return np.array([_nodes(y) for y in flat.flat], dtype=object).reshape(flat.shape)
    raise InputError(f"equivalent requires symbols, expressions, numbers or arrays of them, got {type(x).__name__}")
