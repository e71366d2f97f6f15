"""Comparison of given and correct entries in one ring."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import flint

from dynamis.classroom.answers import Located
from dynamis.classroom.checking.absolute_angles import in_absolute_angles
from dynamis.classroom.checking.balls import RANDOM_STATES, agree, differ_by_constant
from dynamis.classroom.checking.causes import DIGITS, Cause, Slip, multiple, whole_factor
from dynamis.classroom.checking.coefficients import fraction, with_short_divisor, without_last_digits
from dynamis.classroom.checking.examples import example
from dynamis.classroom.checking.exchanges import exchanged
from dynamis.classroom.checking.findings import has_root, in_form, inconsistent, no_terms
from dynamis.classroom.checking.fitting import described, shape_of
from dynamis.classroom.checking.limits import refuse_high_degrees
from dynamis.classroom.checking.mistakes import all_parallel, mistaken_for
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.quotients import divisor, divisor_too_many, missing_divisor, over, times
from dynamis.classroom.checking.signs import by_signs
from dynamis.classroom.checking.verdict import EntryVerdict, Verdict
from dynamis.errors import InputError
from dynamis.scalar import Node, topological
from dynamis.symbolic import printing
from dynamis.symbolic.angles import linear_form, needs_division
from dynamis.symbolic.arrangement import Terms, terms_of
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.cleaning import difference
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import same, without_rounding
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.notation import Notation, plain_text
from dynamis.symbolic.ring import Polynomial, Ring
from dynamis.symbolic.trig_rewriting import dressed

ANOTHER_DATUM = "up to a constant (another datum)"
TO_THE_DIGITS = "to the digits given"
IN_MOTION = "except at rest, where sgn(0) = 0"
MAX_DIFFERENT_TERMS = 500  # or twice those of the correct entry: of a difference that is examined term by term
BY_NUMBERS = f"at {RANDOM_STATES} random states (compared numerically)"


class AnswerComparison:
    """One quantity of one robot against the entries of one answer."""

    def __init__(
        self,
        form: ClosedForm,
        asked: Quantity,
        given: Mapping[tuple[int, ...], Located],
        notation: Notation,
        tolerance: float,
        rounding: float = 0.0,
        decimals: bool = False,
    ) -> None:
        self.decimals = decimals
        self.given = {i: replace(x, node=by_signs(x.node), also=tuple(map(by_signs, x.also))) for i, x in given.items()}
        self.form, self.asked, self.tolerance, self.rounding = form, asked, tolerance, rounding
        self.letters = form.algebra.letters.with_notation(notation)
        self.right: dict[tuple[int, ...], Any] = {index: by_signs(x.node()) for index, x in asked.entries.items()}
        nodes = {index: [entry.node, *entry.also] for index, entry in self.given.items()}
        refuse_high_degrees([node for group in nodes.values() for node in group])
        # entries with fractions of joint angles get a ring of their own, so that the others are written in whole angles
        self.divided = {index for index, group in nodes.items() if index in self.right and self._has_fractions(group)}
        self.plain = [node for index, group in nodes.items() if index not in self.divided for node in group]

    @cached_property
    def in_terms(self) -> list[tuple[int, ...]]:
        """The entries to compare term by term in whole angles: not those with half angles, nor those too long to expand."""
        whole = [index for index in sorted(self.given) if index in self.right and index not in self.divided]
        return [
            i for i in whole if all(self._common.expands(self.right[i], x) for x in (self.given[i].node, *self.given[i].also))
        ]

    def _has_fractions(self, nodes: list[Any]) -> bool:
        forms = [linear_form(n.args[0]) for n in topological(nodes) if n.op in ("sin", "cos")]
        return needs_division(forms, self.form.algebra.ring.angles)

    @cached_property
    def in_numbers(self) -> bool:
        """Whether the robot has no symbols, so that coefficients are sums of products of numbers, which may cancel."""
        state = {id(x) for vector in (self.form.q, self.form.v, self.form.a, self.form.tau, self.form.w) for x in vector}
        return all(n.op != "symbol" or id(n) in state for n in topological(list(self.right.values())))

    @cached_property
    def _common(self) -> EntryComparison:
        return EntryComparison(self, [*self.right.values(), *self.plain])

    @cached_property
    def right_entries(self) -> list[tuple[int, ...]]:
        """The entries that are equal to the correct ones."""
        return [index for index in self.in_terms if self._common.same(self.right[index], self.given[index].node, 0.0)]

    @cached_property
    def summed_links(self) -> set[int]:
        """The links whose angular velocity is a sum of rates in some entry."""
        known = [(i, self.given[i].node) for i in self.in_terms if self._common.has_terms(self.right[i], self.given[i].node)]
        return {link for index, node in known for link in self._common.slip(index, node).summed_links()}

    def correct(self, index: tuple[int, ...]) -> Expression:
        """The correct entry, in full angles."""
        return Expression(self._common.algebra, *self._common.ring.value(self.right[index]))

    def verdict(self) -> Verdict:
        """All entries compared."""
        findings = [self._finding(index, entry) for index, entry in sorted(self.given.items()) if index in self.right]
        known = set(self.given)
        if self.asked.symmetric:
            known |= {index[::-1] for index in self.given}
        absent = [i for i in self.right if i not in known and not self.asked.entries[i].is_zero]
        if self.asked.symmetric:
            absent = [(i, j) for i, j in absent if i <= j]
        findings, remark = self._together(findings)
        return Verdict(
            self.asked.name,
            (*findings, *self._superfluous()),
            tuple(self.name(index) for index in absent),
            remark.text,
            self.letters.notation.name,
            remark.hint,
        )

    def _superfluous(self) -> list[EntryVerdict]:
        """One finding for the entries of an answer that has more rows or columns than the quantity."""
        extra = sorted(index for index in self.given if index not in self.right)
        if not extra:
            return []
        none = "there is no such entry" if len(extra) == 1 else "there are no such entries"
        message = f"{none}: the {self.asked.name} is {described(shape_of(self.right))}"
        return [EntryVerdict(", ".join(map(self.name, extra)), self.given[extra[0]].line, False, cause=message, hint=message)]

    def _finding(self, index: tuple[int, ...], entry: Located) -> EntryVerdict:
        right, nodes = self.right[index], [entry.node, *entry.also]
        comparison = EntryComparison(self, [right, *nodes]) if index in self.divided else self._common
        note = difference = ""
        wrong = []
        for k, node in enumerate(nodes):
            if not comparison.expands(right, node):
                note = BY_NUMBERS if agree(self.form, right, node) else ""
                if not note and self.asked.has_datum and differ_by_constant(self.form, right, node):
                    note = f"{ANOTHER_DATUM}, {BY_NUMBERS}"
                wrong += [] if note else [k]
                continue
            if comparison.same(right, node, 0.0):
                continue
            if self.tolerance and comparison.same(right, node, self.tolerance):
                note = f"within the tolerance of {self.tolerance:g}"
            elif self.rounding > self.tolerance and comparison.same(right, node, self.rounding, each=not self.in_numbers):
                note = TO_THE_DIGITS
            elif comparison.same_in_motion(right, node):
                note = IN_MOTION
            elif agree(self.form, right, node):
                note = BY_NUMBERS
            elif self.asked.has_datum and (shift := comparison.constant_shift(right, node)):
                note, difference = ANOTHER_DATUM, shift
            elif self.asked.has_datum and differ_by_constant(self.form, right, node):
                note = f"{ANOTHER_DATUM}, {BY_NUMBERS}"
            else:
                wrong.append(k)
        if wrong:
            finding = comparison.wrong(index, entry, nodes[wrong[0]])
            if entry.condition:
                finding = replace(finding, correct=f"{finding.correct} {entry.condition}")
            if entry.solved_for:
                finding = replace(finding, correct=f"{entry.solved_for} = {finding.correct}")
            return finding if len(wrong) == len(nodes) else inconsistent(finding, entry, wrong)
        note = " ".join(filter(None, (entry.condition, note)))
        return EntryVerdict(self.name(index), entry.line, True, difference=difference, note=note)

    def _together(self, findings: list[EntryVerdict]) -> tuple[list[EntryVerdict], Cause]:
        """A remark on all entries: another factorisation of C, or a common factor."""
        if all(f.right for f in findings):
            return findings, Cause("", "")
        if remark := self._other_factorisation():
            other = [f if f.right else replace(f, example="", cause="", hint="", alternative=True) for f in findings]
            return other, remark
        if (cause := in_absolute_angles(self.form, self.asked, self.given, self.right, self._are_same)) is not None:
            return [f if f.right else replace(f, cause=cause.text, hint=cause.hint) for f in findings], Cause("", "")
        compared = sorted(index for index in self.given if index in self.right)
        wrong = [index for index, finding in zip(compared, findings, strict=True) if not finding.right]
        factors = {self._factor(index) for index in wrong}
        if len(wrong) > 1 and len(factors) == 1 and (k := factors.pop()) is not None:
            message = f"{multiple(k)} the correct value"
            return [f if f.right else replace(f, cause=message, hint=message) for f in findings], whole_factor(k, len(wrong))
        if len(wrong) > 1 and (cause := exchanged(self.form, self.asked, self.given, self.right, self._are_same)) is not None:
            return [f if f.right else replace(f, cause=cause.text, hint=cause.hint) for f in findings], Cause("", "")
        return findings, Cause("", "")

    def _factor(self, index: tuple[int, ...]) -> Fraction | None:
        if index not in self.in_terms:
            return None
        node = self.given[index].node
        factor = self._common.slip(index, node).factor if self._common.has_terms(self.right[index], node) else None
        return None if factor == 1 else factor  # one that is right, and another one that the text sets equal is not

    def name(self, index: tuple[int, ...]) -> str:
        """M_12."""
        letter = self.asked.letters[0] if self.asked.name != "mass-matrix" else self.letters.notation.entry
        comma = "," if any(k > 8 for k in index) else ""
        return letter + ("_" + comma.join(str(k + 1) for k in index) if index else "")

    def _other_factorisation(self) -> Cause | None:
        """For a Coriolis matrix C with the correct C q̇: whether Ṁ − 2C is skew-symmetric.

        With the Christoffel matrix C_c, Ṁ = C_c + C_cᵀ: Ṁ − 2C is skew-symmetric if and only if C − C_c is.
        """
        n, v = self.form.n, self.form.v
        entries = [(i, j) for i in range(n) for j in range(n)]
        if self.asked.name != "coriolis" or set(self.given) != set(entries):
            return None
        given = {index: self.given[index].node for index in entries}
        products = ([sum((C[i, j] * v[j] for j in range(n)), 0.0) for i in range(n)] for C in (self.right, given))
        if not all(map(self._are_same, *products)):
            return None
        skew = all(self._are_same(self.right[i, j] + self.right[j, i], given[i, j] + given[j, i]) for i, j in entries if i <= j)
        rate = unicodedata.normalize("NFC", self.letters.notation.inertia + "\u0307")
        message = (
            "C q̇ is right: this is a factorisation other than by Christoffel symbols. "
            f"{rate} − 2C is {'' if skew else 'not '}skew-symmetric."
        )
        return Cause(message, message)

    def _are_same(self, right: Any, given: Any) -> bool:
        try:
            return same(Ring.of([right, given], self.form.algebra.ring.angles), right, given) or agree(self.form, right, given)
        except BudgetSpent:
            return agree(self.form, right, given)


class CommonDenominator(NamedTuple):
    """The numerators of the correct and of the given entry, and the denominator of both, None for 1."""

    right: Polynomial
    given: Polynomial
    below: Polynomial | None


class EntryComparison:
    """Comparison of expressions in one ring: equality, difference and probable cause."""

    def __init__(self, whole: AnswerComparison, nodes: list[Any], *, by_joint: bool = False) -> None:
        """``by_joint`` writes sines and cosines of sums as products of those of the joints' own angles."""
        form = whole.form
        symbols = [*form.q, *form.v, *form.a, *form.tau, *form.w]
        angles = form.algebra.ring.angles
        self.whole, self.form, self.by_joint = whole, form, by_joint
        self.ring = Ring.of(nodes, [replace(a, base=None, sign=1) for a in angles] if by_joint else angles, symbols)
        self.algebra = Algebra(self.ring, whole.letters)
        self._too_long: dict[int, BudgetSpent] = {}

    def same(self, right: Any, given: Any, tolerance: float, *, each: bool = False) -> bool:
        """Whether two expressions are equal; with a tolerance, coefficients to this fraction of the largest one, or ``each``.

        With ``each``, coefficients may differ by this fraction of themselves; those that should be zero, of the largest one.
        """
        correct, answer, _ = self._over_common_denominator(right, given)
        difference = answer - correct
        if not tolerance:
            return bool(difference.is_zero())
        size = max((abs(fraction(c)) for c in correct.coeffs()), default=Fraction(0))
        own = {e: abs(fraction(c)) for e, c in correct.to_dict().items()} if each else {}
        return all(abs(fraction(c)) <= Fraction(tolerance) * own.get(e, size) for e, c in difference.to_dict().items())

    def _over_common_denominator(self, right: Any, given: Any) -> CommonDenominator:
        """The two over their least common denominator; coefficients that agree up to rounding are those of the correct one."""
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
        return CommonDenominator(correct, correct - difference, denominator)

    def _limited_value(self, given: Any) -> tuple[Polynomial, Polynomial | None]:
        """The expansion of an expression of the answer, tried once."""
        if id(given) in self._too_long:
            raise self._too_long[id(given)]
        try:
            return self.ring.value(given)
        except BudgetSpent as error:
            self._too_long[id(given)] = error
            raise

    def _difference(self, right: Any, given: Any) -> Expression:
        """given − right."""
        both = self._over_common_denominator(right, given)
        rest = both.given - both.right
        quotient = (rest, None) if both.below is None else with_short_divisor(*self.ring.ratio(rest, both.below))
        return Expression(self.algebra, *quotient)

    def constant_shift(self, right: Any, given: Any) -> str:
        """given − right as text if it does not depend on the state; otherwise empty."""
        form = self.form
        if not self.has_terms(right, given):
            return ""
        shift = difference(*(Expression(self.algebra, *self.ring.value(x)) for x in (given, right)))
        state = [*form.q, *form.v, *form.a, *form.tau, *form.w]
        depends = any(not shift.diff(x).is_zero for x in state)
        return "" if depends else str(shift)

    def wrong(self, index: tuple[int, ...], entry: Located, node: Any) -> EntryVerdict:
        """The finding on a wrong entry."""
        whole, right = self.whole, self.whole.right[index]
        correct = whole.correct(index).text(decimals=whole.decimals)
        if not self.has_terms(right, node):
            return EntryVerdict(whole.name(index), entry.line, False, correct, "", self._example(right, node), *no_terms(node))
        cause = mistaken_for(self.form, whole.asked, index, node, whole.right_entries)
        used = self if cause is not None else self._in_terms_of_answer(index, node)
        summed = whole.summed_links if whole.asked.inertial else ()
        cause = cause or in_form(used._cause(index, node, summed), entry.solved_for)
        difference = used._difference(right, node).text(decimals=whole.decimals)
        return EntryVerdict(whole.name(index), entry.line, False, correct, difference, self._example(right, node), *cause)

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

    def _cause(self, index: tuple[int, ...], node: Any, summed: Collection[int]) -> Cause:
        """The probable mistake in a wrong entry, by its terms or by those of the numerators."""
        both = self._over_common_denominator(self.whole.right[index], node)
        if both.right.is_zero() or len(self._denominator(both)) == 1:
            return self.slip(index, node).cause(summed)
        above, below = self.ring.ratio(both.given, both.right)
        if below is not None and above == self.ring.one:
            return divisor_too_many(self._text(below))
        if below is None and len(above) > 1:
            return missing_divisor(self._text(above))
        return over(self.slip(index, node).cause(summed), self._text(both.below))

    def _text(self, p: Polynomial) -> str:
        return Expression(self.algebra, p).text(decimals=self.whole.decimals)

    def _in_terms_of_answer(self, index: tuple[int, ...], node: Any) -> EntryComparison:
        """The comparison with fewer different terms: in sums of angles, or by joint if the answer is written so."""
        arcs = [n.args[0] for n in topological([node]) if n.op in ("sin", "cos")]
        if len({id(x) for x in arcs}) < 2 or any(not isinstance(x, Node) or x.op != "symbol" for x in arcs):
            return self
        other = EntryComparison(self.whole, [self.whole.right[index], node], by_joint=True)
        return min((self, other), key=lambda comparison: comparison.slip(index, node).different)

    def slip(self, index: tuple[int, ...], node: Any) -> Slip:
        """The terms of the correct and of the given entry."""
        asked, letters = self.whole.asked, self.whole.letters
        both = self._over_common_denominator(self.whole.right[index], node)
        right, given = (self._divided(p, both) for p in both[:2])
        slip = Slip(
            self.ring,
            dict(letters.roles),
            right,
            given,
            self._write,
            index,
            asked.inertial,
            lambda k: plain_text(letters.variable("velocity", k)),
            all_parallel(self.form),
        )
        if not asked.has_datum:
            return slip
        moving = replace(slip, right=self._moving(right), given=self._moving(given))  # a constant is no mistake
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
        return printing.text(arranged, self.ring, self.algebra.letters, digits, decimals=self.whole.decimals)

    def _example(self, right: Any, given: Any) -> str:
        return example(self.form, self.algebra, right, given)
