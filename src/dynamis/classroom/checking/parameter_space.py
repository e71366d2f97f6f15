"""The linear space of dynamic parameters, over the known lengths and gravity, and the entries of an answer in it.

A set of parameters determines the torques if the base parameters are in its span. If one entry is wrong, the set spans them
with another value in its place; with another value of a right one it does so only if the set is ambiguous.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import flint
import numpy as np

from dynamis.scalar import Node, topological
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.ring import Polynomial, Ring

Index = tuple[int, ...]
Column = dict[tuple[int, ...], Any]
MAX_TRIALS = 200  # of values in place of a wrong entry, the nearest ones first


class ParameterSpace:
    """The entries of an answer and the parameters of a robot as vectors over the products of unknown symbols.

    Known are the symbols of the base regressor. Ranks are found at random values of them.
    """

    def __init__(
        self, ring: Ring, given: Mapping[Index, Polynomial], own: Sequence[Polynomial], least: int, known: Collection[int]
    ) -> None:
        self.ring, self.given, self.own = ring, given, own
        self.numbers = random_numbers(known)
        self.base = own[:least]

    @staticmethod
    def of(
        form: ClosedForm,
        ring: Ring,
        nodes: Mapping[Index, Any],
        own: Sequence[Expression],
        least: int,
        known: Collection[Node] = (),
    ) -> ParameterSpace | None:
        """The space with the answer's entries; the first of the robot's ``own`` parameters are its base. None for quotients.

        Symbols that are ``known`` are so beside those of the base regressor.
        """
        state = {id(x) for x in (*form.q, *form.v, *form.a, *form.tau)}
        numbers = {id(n) for n in (*topological([x.node() for x in form.base_regressor.flat]), *known)} - state
        values = [ring.value(x) for x in (*nodes.values(), *(x.node() for x in own))]
        if any(denominator is not None for _, denominator in values):
            return None
        polynomials = [p for p, _ in values]
        given = dict(zip(nodes, polynomials, strict=False))
        atoms = [k for k, a in enumerate(ring.atoms) if id(a.node) in numbers]
        return ParameterSpace(ring, given, polynomials[len(nodes) :], least, atoms)

    def is_spanned(self, indices: Collection[Index]) -> bool:
        """Whether the base parameters are linear combinations of these entries of the answer."""
        own = [self.given[k] for k in indices]
        return self.rank(own) == self.rank([*own, *self.base])

    def lacking(self) -> list[Polynomial]:
        """The base parameters that complete an answer of which every entry is a combination of them; none for others."""
        own = list(self.given.values())
        found: list[Polynomial] = []
        if self.rank(own) < len(own) or self.rank([*own, *self.base]) > len(self.base):
            return []
        for p in self.base:
            if self.rank([*own, *found, p]) > len(own) + len(found):
                found.append(p)
        return found

    def lacks(self, candidates: Sequence[Polynomial]) -> list[int]:
        """Which of some parameters complete an answer, so that it spans the base."""

        def completed(chosen: Sequence[int]) -> bool:
            held = [*self.given.values(), *(candidates[j] for j in chosen)]
            return self.rank(held) == self.rank([*held, *self.base])

        found = list(range(len(candidates)))
        for k in range(len(candidates)):
            rest = [j for j in found if j != k]
            found = rest if completed(rest) else found
        return found

    def ambiguous(self) -> dict[Index, Polynomial]:
        """The entries of which one is wrong, each with the value in its place; one entry where that decides."""
        found: dict[Index, tuple[int, Polynomial]] = {}
        for index in self.given:
            others = [p for k, p in self.given.items() if k != index]
            if self.rank([*others, *self.base]) == self.rank(others) + 1:
                value = self._value(self.given[index], others)
                found |= {} if value is None else {index: value}
        least = min((changes for changes, _ in found.values()), default=0)
        return {index: value for index, (changes, value) in found.items() if changes == least}

    def foreign(self) -> dict[Index, Polynomial]:
        """The entries of a set as small as the base that are no combinations of it, each with the value in its place."""
        wrong = [k for k, p in self.given.items() if self.rank([p, *self.base]) > len(self.base)]
        if len(self.given) != len(self.base) or len(wrong) == len(self.given):
            return {}
        others = [p for k, p in self.given.items() if k not in wrong]
        found: dict[Index, Polynomial] = {}
        for index in wrong:
            value = self._value(self.given[index], others)
            if value is None:
                return {}
            found[index] = value[1]
            others.append(value[1])
        return found

    def _value(self, given: Polynomial, others: Sequence[Polynomial]) -> tuple[int, Polynomial] | None:
        """The value nearest to an entry that the others lack of the base, and the number of terms that are changed."""
        multiples = [own * factor for own in self.own for factor in self._factors(given, own)]
        values = [*multiples, *(x + p for x in multiples for p in others), *(x - p for x in multiples for p in others)]
        trials = sorted((_changes(given, p), k) for k, p in enumerate(values))
        rank, whole = self.rank(others), self.rank([*others, *self.base])
        for changes, k in trials[:MAX_TRIALS]:
            if self.rank([*others, values[k]]) > rank and self.rank([*others, values[k], *self.base]) == whole:
                return changes, values[k]
        return None

    def _factors(self, given: Polynomial, own: Polynomial) -> Iterator[Polynomial]:
        """1, and those quotients of terms of two polynomials that are products of known symbols."""
        one = tuple(0 for _ in self.ring.atoms)
        found = {one: flint.fmpq(1)}
        for a, c in given.to_dict().items():
            for b, d in own.to_dict().items():
                powers = tuple(int(x) - int(y) for x, y in zip(a, b, strict=True))
                if all(e >= 0 and (e == 0 or k in self.numbers) for k, e in enumerate(powers)):
                    found.setdefault(powers, c / d)
        for powers, c in found.items():
            yield self.ring.context.from_dict({powers: c})

    def rank(self, polynomials: Sequence[Polynomial]) -> int:
        """The dimension of the span of polynomials."""
        return rank([coefficients(p, self.numbers) for p in polynomials])


def random_numbers(atoms: Collection[int]) -> dict[int, Any]:
    """Random fractions for some atoms of a ring."""
    rng = np.random.default_rng(3)
    return {k: flint.fmpq(int(rng.integers(1000, 9999)), 1000) for k in atoms}


def rank(columns: Sequence[Column]) -> int:
    """The dimension of the span of vectors."""
    places = sorted({m for column in columns for m in column})
    if not places:
        return 0
    return int(flint.fmpq_mat([[column.get(m, flint.fmpq(0)) for m in places] for column in columns]).rank())


def coefficients(p: Polynomial, numbers: Mapping[int, Any]) -> Column:
    """The coefficients of a polynomial by its monomials in the other atoms, at the ``numbers`` of some."""
    found: Column = {}
    for exponents, c in p.to_dict().items():
        for k, x in numbers.items():
            c = c * x ** int(exponents[k])  # noqa: PLW2901
        key = tuple(0 if k in numbers else int(e) for k, e in enumerate(exponents))
        found[key] = found.get(key, flint.fmpq(0)) + c
    return found


def _changes(a: Polynomial, b: Polynomial) -> int:
    """The number of terms of two polynomials that differ, a term in place of another being one."""
    one, other = a.to_dict(), b.to_dict()
    return max(sum(y.get(m) != c for m, c in x.items()) for x, y in ((one, other), (other, one)))
