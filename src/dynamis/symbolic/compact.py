"""Velocity terms with their common factors named once, such as h = −m_2 a_1 l_2 s_2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.ring import Ring
from dynamis.symbolic.terms import Terms

MAX_ABBREVIATIONS = 24  # more do not help a reader
LETTERS = ("h", r"\eta", r"\chi", r"\kappa")  # of abbreviations: the first that is not one of the robot's


@dataclass(frozen=True, eq=False, repr=False)
class Compact:
    """``names`` (LaTeX, expression), then ``christoffel``, ``C``, ``M_dot`` and ``N`` written with them.

    ``names`` is empty if there are none, or too many; the terms are then written in full.
    """

    names: tuple[tuple[str, Expression], ...]
    christoffel: Formulas
    C: Formulas
    M_dot: Formulas
    N: Formulas

    def __repr__(self) -> str:
        freedom = counted(len(self.C), "degree of freedom", "degrees of freedom")
        return f"<Compact: {counted(len(self.names), 'named factor')}, {freedom}>"


def with_named_factors(form: Terms) -> Compact:
    """Name the few expressions of which most Christoffel symbols of a robot are multiples."""
    found: dict[str, tuple[int, Expression]] = {}
    multiples: dict[tuple[int, ...], tuple[int, Any]] = {}
    cube, square = (form.n,) * 3, (form.n,) * 2
    if not all(c.expanded and c.denominator is None for c in form.christoffel.flat):
        return Compact((), form.christoffel, form.C, form.M_dot, form.N)
    for index in np.ndindex(*cube):
        c: Expression = form.christoffel.item(*index)
        if c.is_zero:
            continue
        lead = c.numerator.leading_coefficient()
        number, first = found.setdefault(str(c.numerator / lead), (len(found), c))
        multiples[index] = number, lead / first.numerator.leading_coefficient()
        if len(found) > MAX_ABBREVIATIONS:
            break
    if not 0 < len(found) <= MAX_ABBREVIATIONS:
        return Compact((), form.christoffel, form.C, form.M_dot, form.N)
    letter = next(filter(form.algebra.letters.is_free, LETTERS), LETTERS[0])
    names = tuple((letter if len(found) == 1 else f"{letter}_{{{k + 1}}}", c) for k, c in found.values())
    letters = replace(form.algebra.letters, names={f"name {k}": name for k, (name, _) in enumerate(names)})
    ring = Ring((), list(form.v), names=len(names))
    algebra = Algebra(ring, letters)
    rates = [ring.generator(v) for v in form.v]

    def coefficient(i: int, j: int, k: int) -> Any:
        number, times = multiples.get((i, j, k), (0, 0))
        return ring.reserved(number) * times

    def matrix(entry: Callable[[int, int, int], Any], grouping: str = "") -> Formulas:
        sums = (sum((entry(i, j, k) * rates[k] for k in range(form.n)), ring.zero) for i, j in np.ndindex(*square))
        return Formulas.of((Expression(algebra, p, grouping=grouping) for p in sums), square)

    return Compact(
        names,
        Formulas.of((Expression(algebra, coefficient(*index)) for index in np.ndindex(*cube)), cube).as_christoffel(),
        matrix(coefficient),
        matrix(lambda i, j, k: coefficient(i, j, k) + coefficient(j, i, k)),
        matrix(lambda i, j, k: coefficient(j, i, k) - coefficient(i, j, k), "term"),
    )
