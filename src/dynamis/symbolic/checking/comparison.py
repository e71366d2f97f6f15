"""Right and given entries brought into one ring, where their difference shows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import flint
import numpy as np

from dynamis.errors import InputError
from dynamis.scalar import Node, evaluate, topological
from dynamis.symbolic import printing
from dynamis.symbolic.answers import Located
from dynamis.symbolic.arrangement import Terms, terms_of
from dynamis.symbolic.checking.causes import cause
from dynamis.symbolic.checking.quantities import Quantity
from dynamis.symbolic.checking.verdict import Finding, Verdict
from dynamis.symbolic.dressing import dressed
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.notation import Notation
from dynamis.symbolic.ring import Polynomial, Ring

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm


HIGHEST_DEGREE = 64


class Comparison:
    """One quantity of one robot against the entries of one answer."""

    def __init__(
        self,
        form: ClosedForm,
        asked: Quantity,
        given: Mapping[tuple[int, ...], Located],
        notation: Notation,
        tolerance: float,
    ) -> None:
        self.form, self.asked, self.given, self.tolerance = form, asked, given, tolerance
        self.right: dict[tuple[int, ...], Any] = {index: x.node() for index, x in asked.entries.items()}
        answers = [node for entry in given.values() for node in (entry.node, *entry.also)]
        symbols = [*form.q, *form.v, *form.a, *form.tau, *form.w]
        ring = Ring.of([*self.right.values(), *answers, *self._others()], form.algebra.ring.angles, symbols)
        _refuse_high_degrees(answers)
        self.algebra = Algebra(ring, form.algebra.letters.with_notation(notation))
        self.ring = ring

    def _others(self) -> list[Any]:
        """Quantities an answer may be taken for."""
        return [self.form.kinetic_energy.node()] if () in self.asked.entries else []

    def verdict(self) -> Verdict:
        """All entries compared."""
        findings = [self._finding(index, entry) for index, entry in sorted(self.given.items())]
        known = set(self.given)
        if self.asked.symmetric:
            known |= {(j, i) for i, j in self.given}
        absent = [i for i in self.right if i not in known and not self.asked.entries[i].is_zero]
        if self.asked.symmetric:
            absent = [(i, j) for i, j in absent if i <= j]
        return Verdict(
            self.asked.name,
            tuple(findings),
            tuple(self._name(index) for index in absent),
            self._remark(findings),
            self.algebra.letters.notation.name,
        )

    def _finding(self, index: tuple[int, ...], entry: Located) -> Finding:
        name = self._name(index)
        if index not in self.right:
            shape = " × ".join(str(k + 1) for k in max(self.right)) or "a single expression"
            return Finding(name, entry.line, False, "–", "–", "–", f"there is no such entry: the {self.asked.name} is {shape}")
        for node in (entry.node, *entry.also):
            if not self._same(self.right[index], node):
                return self._wrong(name, index, entry, node)
        return Finding(name, entry.line, True)

    def _same(self, right: Any, given: Any) -> bool:
        difference, correct = self._difference(right, given), self._polynomial(right)
        if not self.tolerance:
            return bool(difference.is_zero())
        size = max((abs(float(c.p) / float(c.q)) for c in correct.coeffs()), default=0.0)
        return all(abs(float(c.p) / float(c.q)) <= self.tolerance * size for c in difference.coeffs())

    def _polynomial(self, node: Any) -> Polynomial:
        return self.ring.value(node)[0]

    def _difference(self, right: Any, given: Any) -> Polynomial:
        """given − right as a polynomial; of quotients, brought to a common denominator."""
        (p, q), (r, s) = self.ring.value(right), self.ring.value(given)
        p, r = (p if s is None else p * s), (r if q is None else r * q)
        return self.ring.reduced(r - p)

    def _wrong(self, name: str, index: tuple[int, ...], entry: Located, node: Any) -> Finding:
        right = self.right[index]
        (p, q), (r, s) = self.ring.value(right), self.ring.value(node)
        p, r = self.ring.reduced(p if s is None else p * s), self.ring.reduced(r if q is None else r * q)
        difference = Expression(self.algebra, self.ring.reduced(r - p))
        return Finding(
            name,
            entry.line,
            False,
            str(Expression(self.algebra, *self.ring.value(right))),
            str(difference),
            self._example(right, node),
            self._mistaken(node)
            or cause(self.ring, dict(self.algebra.letters.roles), self._terms(p), self._terms(r), self._write),
        )

    def _mistaken(self, node: Any) -> str:
        """Whether the answer is another quantity, which says more than its terms."""
        for other in self._others():
            if self._difference(other, node).is_zero():
                M = self.algebra.letters.notation.inertia
                return f"this is the kinetic energy, ½ q̇ᵀ {M} q̇: what belongs here has the rate of {M}"
        return ""

    def _terms(self, p: Polynomial) -> Terms:
        return terms_of(dressed(self.ring, p))

    def _write(self, terms: Terms) -> str:
        dense = {}
        for monomial, c in terms.items():
            exponents = [0] * len(self.ring.atoms)
            for k, e in monomial:
                exponents[k] = e
            dense[tuple(exponents)] = c
        p = self.ring.context.from_dict({e: flint.fmpq(c.numerator, c.denominator) for e, c in dense.items()})
        arranged = self.algebra.arranged(p, self.algebra.letters.notation.style)
        return printing.text(arranged, self.ring, self.algebra.letters)

    def _example(self, right: Any, given: Any) -> str:
        """Numbers at which the two differ."""
        rng = np.random.default_rng(7)
        symbols = [a.node for a in self.ring.atoms if a.kind == "symbol" and a.node is not None]
        for _ in range(20):
            values = {s: float(Fraction(int(k), 10)) for s, k in zip(symbols, rng.integers(3, 29, len(symbols)), strict=True)}
            a, b = (float(evaluate(np.array(x, dtype=object), values)) for x in (right, given))
            if abs(a - b) > 1e-9 * max(1.0, abs(a), abs(b)):
                break
        used = [s for s in symbols if self._depends(right, s) or self._depends(given, s)]
        said = ", ".join(f"{self._symbol(s)} = {values[s]:g}" for s in used)
        return f"at {said}: {b:.6g}, not {a:.6g}"

    def _depends(self, node: Any, s: Any) -> bool:
        return any(n is s for n in topological([node]))

    def _symbol(self, s: Any) -> str:
        atom = next(a for a in self.ring.atoms if a.node is s)
        return self.algebra.letters.text(self.ring, atom)

    def _name(self, index: tuple[int, ...]) -> str:
        letter = self.asked.letters[0] if self.asked.name != "mass-matrix" else self.algebra.letters.notation.entry
        comma = "," if any(k > 8 for k in index) else ""
        return letter + ("_" + comma.join(str(k + 1) for k in index) if index else "")

    def _remark(self, findings: list[Finding]) -> str:
        """For a Coriolis matrix: other factorisations than Christoffel's give the same torques."""
        n = self.form.n
        if self.asked.name != "coriolis" or all(f.right for f in findings) or len(self.given) != n * n:
            return ""
        for i in range(n):
            torque = sum(((self.given[i, j].node - self.right[i, j]) * self.form.v[j] for j in range(n)), 0.0)
            numerator, _ = Ring.of([torque], self.form.algebra.ring.angles).value(torque)
            if not numerator.is_zero():
                return ""
        return (
            "C q̇ is right: this is another factorisation than the one by Christoffel symbols, so that the rate of "
            f"{self.algebra.letters.notation.inertia} minus 2C is not skew-symmetric."
        )


def _refuse_high_degrees(answers: list[Any]) -> None:
    """Powers of powers would take for ever to multiply out, and no equation of motion has them."""
    degrees: dict[int, int] = {}
    for node in topological(answers):
        below = [degrees[id(x)] for x in node.args if isinstance(x, Node)]
        degrees[id(node)] = sum(below) if node.op in ("mul", "div") else max(below, default=1)
        if degrees[id(node)] > HIGHEST_DEGREE:
            raise InputError(f"the answer is of a degree above {HIGHEST_DEGREE}: no equation of motion is")
