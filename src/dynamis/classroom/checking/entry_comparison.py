"""Comparison of a given and a correct expression in one ring: equality, difference and probable cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import flint

from dynamis.classroom.checking.causes import DIGITS, Cause, Slip
from dynamis.classroom.checking.coefficients import fraction, with_short_divisor, without_last_digits
from dynamis.classroom.checking.findings import has_root
from dynamis.classroom.checking.mistakes import all_parallel
from dynamis.classroom.checking.monomials import divisor, times
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.quotients import divisor_too_many, missing_divisor, over
from dynamis.errors import InputError
from dynamis.scalar import Node, topological
from dynamis.symbolic import printing
from dynamis.symbolic.arrangement import Terms, terms_of
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.cleaning import difference
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import without_rounding
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.notation import SymbolPrinter, plain_text
from dynamis.symbolic.ring import Polynomial, Ring
from dynamis.symbolic.trig_rewriting import dressed

MAX_DIFFERENT_TERMS = 500  # or twice those of the correct entry: of a difference that is examined term by term


class CommonDenominator(NamedTuple):
    """The numerators of the correct and of the given entry, and the denominator of both, None for 1."""

    right: Polynomial
    given: Polynomial
    below: Polynomial | None
    rounded: bool = False  # whether coefficients of the answer are those of the correct one by the rounding of its decimals


class EntryComparison:
    """Comparison of expressions in one ring: equality, difference and probable cause."""

    def __init__(
        self,
        form: ClosedForm,
        asked: Quantity,
        letters: SymbolPrinter,
        nodes: list[Any],
        slopes: Mapping[int, Sequence[Any]],
        *,
        decimals: bool = False,
        by_joint: bool = False,
    ) -> None:
        """``by_joint`` writes sines and cosines of sums as products of those of the joints' own angles.

        ``slopes`` are the changes of the expressions, by their ids, by half a unit of the last digit of each rounded decimal.
        """
        symbols = [*form.q, *form.v, *form.a, *form.tau, *form.w]
        angles = form.algebra.ring.angles
        self.form, self.asked, self.letters, self.decimals, self.by_joint = form, asked, letters, decimals, by_joint
        self.slopes, every = slopes, [*nodes, *(x for node in nodes for x in slopes.get(id(node), ()))]
        self.ring = Ring.of(every, [replace(a, base=None, sign=1) for a in angles] if by_joint else angles, symbols)
        self.algebra = Algebra(self.ring, letters)
        self._too_long: dict[int, BudgetSpent] = {}

    def same(self, right: Any, given: Any, tolerance: float) -> bool:
        """Whether two expressions are equal; with a tolerance, coefficients to this fraction of the largest one."""
        both = self._over_common_denominator(right, given)
        difference = both.given - both.right
        if not tolerance:
            return bool(difference.is_zero())
        size = max((abs(fraction(c)) for c in both.right.coeffs()), default=Fraction(0))
        return all(abs(fraction(c)) <= Fraction(tolerance) * size for c in difference.coeffs())

    def is_rounded(self, right: Any, given: Any) -> bool:
        """Whether coefficients of the answer are those of the correct one by the rounding of its decimals."""
        return self._over_common_denominator(right, given).rounded

    def _over_common_denominator(self, right: Any, given: Any) -> CommonDenominator:
        """The two over their least common denominator; coefficients that agree up to rounding are those of the correct one.

        So are those that agree to the digits of the answer's decimals.
        """
        (a, b), (c, d) = self.ring.value(right), with_short_divisor(*self._limited_value(given))
        x = y = self.ring.one  # b y = d x
        if b is None or d is None:
            x, y = (self.ring.one if z is None else z for z in (b, d))
        elif b != d:
            above, below = self.ring.ratio(b, d)
            x, y = above, self.ring.one if below is None else below
        correct, answer = (self.ring.reduced(self.ring.product(*pair)) for pair in ((a, y), (c, x)))
        denominator = None if b is None and d is None else y if b is None else self.ring.reduced(self.ring.product(b, y))
        difference = without_rounding(self.ring, correct - answer, correct)
        wrong = self._beyond_digits(difference, given, denominator)
        return CommonDenominator(correct, correct - wrong, denominator, len(wrong) < len(difference))

    def _beyond_digits(self, difference: Polynomial, given: Any, denominator: Polynomial | None) -> Polynomial:
        """A difference without the coefficients that half a unit of the last digits of the answer's decimals explains."""
        slopes = self.slopes.get(id(given), ())
        if difference.is_zero() or not slopes:
            return difference
        allowed: Counter[tuple[int, ...]] = Counter()
        for slope in slopes:
            above, below = self.ring.value(slope)
            if denominator is not None:
                above, below = self.ring.multiply((above, below), (denominator, None))
            if below is not None:
                return difference
            for exponents, c in above.to_dict().items():
                allowed[exponents] += abs(c)
        kept = {e: c for e, c in difference.to_dict().items() if abs(c) > allowed[e]}
        return self.ring.context.from_dict(kept)

    def _limited_value(self, given: Any) -> tuple[Polynomial, Polynomial | None]:
        """The expansion of an expression of the answer, tried once."""
        if id(given) in self._too_long:
            raise self._too_long[id(given)]
        try:
            return self.ring.value(given)
        except BudgetSpent as error:
            self._too_long[id(given)] = error
            raise

    def difference(self, right: Any, given: Any) -> str:
        """given − right as text."""
        both = self._over_common_denominator(right, given)
        rest = both.given - both.right
        quotient = (rest, None) if both.below is None else with_short_divisor(*self.ring.ratio(rest, both.below))
        return Expression(self.algebra, *quotient).text(decimals=self.decimals)

    def constant_shift(self, right: Any, given: Any) -> str:
        """given − right as text if it does not depend on the state; otherwise empty."""
        form = self.form
        if not self.has_terms(right, given):
            return ""
        shift = difference(*(Expression(self.algebra, *self.ring.value(x)) for x in (given, right)))
        state = [*form.q, *form.v, *form.a, *form.tau, *form.w]
        depends = any(not shift.diff(x).is_zero for x in state)
        return "" if depends else str(shift)

    def has_terms(self, right: Any, given: Any) -> bool:
        """Whether the difference can be written term by term: not with the square root of a cosine, nor if it is too long."""
        if has_root(given, [*self.form.q, *self.form.v, *self.form.a]):
            return False
        try:
            both = self._over_common_denominator(right, given)
            if self._are_far_apart(both):
                return False
            self._terms(both.given - both.right)
        except (InputError, BudgetSpent):
            return False
        return True

    @staticmethod
    def _are_far_apart(both: CommonDenominator) -> bool:
        """Whether two expressions differ in more terms than anyone reads."""
        return len(both.given - both.right) > max(MAX_DIFFERENT_TERMS, 2 * len(both.right))

    def expands(self, right: Any, given: Any) -> bool:
        """Whether two expressions can be multiplied out within the limits of size."""
        try:
            self._over_common_denominator(right, given)
        except BudgetSpent:
            return False
        return True

    def same_in_motion(self, right: Any, given: Any) -> bool:
        """Whether two expressions are equal wherever no rate is zero, so that sgn² = 1."""
        both = self._over_common_denominator(right, given)
        rest = both.given - both.right
        signs = [k for k, a in enumerate(self.ring.atoms) if a.kind == "opaque" and a.node is not None and a.node.op == "sign"]
        for k in signs:
            rest = rest % (self.ring.generators[k] ** 2 - 1)
        return bool(signs) and bool(rest.is_zero())

    def cause(self, index: tuple[int, ...], right: Any, given: Any, summed: Collection[int]) -> Cause:
        """The probable mistake in a wrong entry, by its terms or by those of the numerators."""
        both = self._over_common_denominator(right, given)
        if both.right.is_zero() or len(self._denominator(both)) == 1:
            return self.slip(index, right, given).cause(summed)
        above, below = self.ring.ratio(both.given, both.right)
        if below is not None and above == self.ring.one:
            return divisor_too_many(self._text(below))
        if below is None and len(above) > 1:
            return missing_divisor(self._text(above))
        return over(self.slip(index, right, given).cause(summed), self._text(both.below))

    def _text(self, p: Polynomial) -> str:
        return Expression(self.algebra, p).text(decimals=self.decimals)

    def in_terms_of_answer(self, index: tuple[int, ...], right: Any, given: Any) -> EntryComparison:
        """The comparison with fewer different terms: in sums of angles, or by joint if the answer is written so."""
        arcs = [n.args[0] for n in topological([given]) if n.op in ("sin", "cos")]
        if len({id(x) for x in arcs}) < 2 or any(not isinstance(x, Node) or x.op != "symbol" for x in arcs):
            return self
        nodes = [right, given]
        other = EntryComparison(self.form, self.asked, self.letters, nodes, self.slopes, decimals=self.decimals, by_joint=True)
        return min((self, other), key=lambda comparison: comparison.slip(index, right, given).different)

    def slip(self, index: tuple[int, ...], right: Any, given: Any) -> Slip:
        """The terms of the correct and of the given entry."""
        asked, letters = self.asked, self.letters
        both = self._over_common_denominator(right, given)
        correct, answer = (self._divided(p, both) for p in both[:2])
        slip = Slip(
            self.ring,
            dict(letters.roles),
            correct,
            answer,
            self._write,
            index,
            asked.inertial,
            lambda k: plain_text(letters.variable("velocity", k)),
            all_parallel(self.form),
        )
        if not asked.has_datum:
            return slip
        moving = replace(slip, right=self._moving(correct), given=self._moving(answer))  # a constant is no mistake
        # but a part of what is missing, where this is shorter with it: the energy of a spring that is at rest at q_0
        whole = (
            moving.lost and not moving.found and not slip.found and len(self._write(slip.lost)) < len(self._write(moving.lost))
        )
        return slip if whole else moving

    def _moving(self, terms: Terms) -> Terms:
        """The terms that depend on the joint variables."""
        state = {id(x) for x in self.form.q}
        moving = {k for k, atom in enumerate(self.ring.atoms) if atom.kind != "symbol" or id(atom.node) in state}
        return {m: c for m, c in terms.items() if any(k in moving for k, _ in m)}

    def _terms(self, p: Polynomial) -> Terms:
        terms = terms_of(p if self.by_joint else dressed(self.ring, p))
        return {monomial: without_last_digits(c) for monomial, c in terms.items()}

    def _denominator(self, both: CommonDenominator) -> Terms:
        return {(): Fraction(1)} if both.below is None else self._terms(both.below)

    def _divided(self, p: Polynomial, both: CommonDenominator) -> Terms:
        """The terms of a numerator, divided by the denominator if this is a product."""
        terms, denominator = self._terms(p), self._denominator(both)
        if len(denominator) > 1:
            return terms
        ((below, scale),) = denominator.items()
        return {m: c / scale for m, c in times(terms, below, -1).items()}

    def _write(self, terms: Terms, digits: int = DIGITS) -> str:
        """A sum of terms; those with negative powers as a quotient."""
        if below := divisor(terms):
            above, denominator = self._write(times(terms, below), digits), self._write({below: Fraction(1)})
            above = f"({above})" if len(terms) > 1 else above
            return f"{above}/{f'({denominator})' if len(below) > 1 else denominator}"
        dense = {}
        for monomial, c in terms.items():
            exponents = [0] * len(self.ring.atoms)
            for k, e in monomial:
                exponents[k] = e
            dense[tuple(exponents)] = c
        p = self.ring.context.from_dict({e: flint.fmpq(c.numerator, c.denominator) for e, c in dense.items()})
        arranged = self.algebra.arranged(p, self.algebra.letters.notation.style)
        return printing.text(arranged, self.ring, self.algebra.letters, digits, decimals=self.decimals)
