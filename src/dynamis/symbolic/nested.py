"""Polynomials as graphs with few operations, by repeatedly extracting the most frequent factor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from dynamis.symbolic.arrangement import Monomial

Terms = dict[Monomial, float]


def nested(terms: Terms, atom: Callable[[int], Any], known: dict[Any, Any]) -> Any:
    """Multivariate Horner scheme; ``known`` caches subexpressions shared by the entries of a matrix."""
    key = frozenset(terms.items())
    if key not in known:
        known[key] = _made(terms, atom, known)
    return known[key]


def _made(terms: Terms, atom: Callable[[int], Any], known: dict[Any, Any]) -> Any:
    counts = Counter(k for m in terms for k, _ in m)
    k, times = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(-1, 0))
    if times <= 1:
        total: Any = 0.0
        for monomial, c in terms.items():
            product: Any = 1.0
            for i, e in monomial:
                product = product * atom(i) ** e
            total = total + c * product
        return total
    inside: Terms = {}
    outside: Terms = {}
    for monomial, c in terms.items():
        powers = dict(monomial)
        if k in powers:
            inside[tuple((i, e - (i == k)) for i, e in monomial if e > (i == k))] = c
        else:
            outside[monomial] = c
    factored = atom(k) * nested(inside, atom, known)
    return factored + nested(outside, atom, known) if outside else factored
