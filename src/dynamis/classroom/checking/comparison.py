"""Comparison of the entries of an answer with the correct ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from dynamis.classroom.answers import Decimals, Located
from dynamis.classroom.checking.absolute_angles import in_absolute_angles
from dynamis.classroom.checking.balls import RANDOM_STATES, agree, agree_within, differ_by_constant
from dynamis.classroom.checking.causes import Cause, multiple, whole_factor
from dynamis.classroom.checking.entry_comparison import EntryComparison
from dynamis.classroom.checking.examples import example
from dynamis.classroom.checking.exchanges import exchanged
from dynamis.classroom.checking.findings import in_form, inconsistent, no_terms
from dynamis.classroom.checking.fitting import described, shape_of
from dynamis.classroom.checking.limits import refuse_high_degrees
from dynamis.classroom.checking.mistakes import mistaken_for
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.signs import by_signs
from dynamis.classroom.checking.verdict import EntryVerdict, Verdict
from dynamis.scalar import topological
from dynamis.symbolic.angles import linear_form, needs_division
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import same
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.notation import Notation
from dynamis.symbolic.ring import Ring

ANOTHER_DATUM = "up to a constant (another datum)"
TO_THE_DIGITS = "to the digits given"
IN_MOTION = "except at rest, where sgn(0) = 0"
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
        rounded: Decimals,
        decimals: bool = False,
    ) -> None:
        self.decimals = decimals
        self.form, self.asked, self.tolerance = form, asked, tolerance
        self.slopes: dict[int, list[Any]] = {}  # of expressions by id, by half a unit of each rounded decimal

        def plain(node: Any) -> Any:
            written = rounded.values(node := by_signs(node))
            self.slopes[id(written)] = rounded.slopes(node)
            return written

        self.given = {i: replace(x, node=plain(x.node), also=tuple(map(plain, x.also))) for i, x in given.items()}
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
    def _common(self) -> EntryComparison:
        return self._comparison([*self.right.values(), *self.plain])

    def _comparison(self, nodes: list[Any]) -> EntryComparison:
        return EntryComparison(self.form, self.asked, self.letters, nodes, self.slopes, decimals=self.decimals)

    @cached_property
    def right_entries(self) -> list[tuple[int, ...]]:
        """The entries that are equal to the correct ones."""
        return [index for index in self.in_terms if self._common.same(self.right[index], self.given[index].node, 0.0)]

    @cached_property
    def summed_links(self) -> set[int]:
        """The links whose angular velocity is a sum of rates in some entry, or whose moment of inertia is forgotten there."""
        known = [(i, self.given[i].node) for i in self.in_terms if self._common.has_terms(self.right[i], self.given[i].node)]
        slips = [self._common.slip(index, self.right[index], node) for index, node in known]
        return {link for slip in slips for link in slip.summed_links() | slip.forgotten_moments()}

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
        comparison = self._comparison([right, *nodes]) if index in self.divided else self._common
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
                note = TO_THE_DIGITS if comparison.is_rounded(right, node) else note
                continue
            if self.tolerance and comparison.same(right, node, self.tolerance):
                note = f"within the tolerance of {self.tolerance:g}"
            elif comparison.same_in_motion(right, node):
                note = IN_MOTION
            elif agree(self.form, right, node):
                note = BY_NUMBERS
            elif agree_within(self.form, right, node, self.slopes[id(node)]):
                note = f"{TO_THE_DIGITS} {BY_NUMBERS}"
            elif self.asked.has_datum and (shift := comparison.constant_shift(right, node)):
                note, difference = ANOTHER_DATUM, shift
            elif self.asked.has_datum and differ_by_constant(self.form, right, node):
                note = f"{ANOTHER_DATUM}, {BY_NUMBERS}"
            else:
                wrong.append(k)
        if wrong:
            finding = self._wrong(comparison, index, entry, nodes[wrong[0]])
            if entry.condition:
                finding = replace(finding, correct=f"{finding.correct} {entry.condition}")
            if entry.solved_for:
                finding = replace(finding, correct=f"{entry.solved_for} = {finding.correct}")
            return finding if len(wrong) == len(nodes) else inconsistent(finding, entry, wrong)
        note = " ".join(filter(None, (entry.condition, note)))
        return EntryVerdict(self.name(index), entry.line, True, difference=difference, note=note)

    def _wrong(self, comparison: EntryComparison, index: tuple[int, ...], entry: Located, node: Any) -> EntryVerdict:
        """The finding on a wrong entry."""
        right, correct = self.right[index], self.correct(index).text(decimals=self.decimals)
        shown = example(self.form, comparison.algebra, right, node, entry.solved_for)
        if not comparison.has_terms(right, node):
            return EntryVerdict(self.name(index), entry.line, False, correct, "", shown, *no_terms(node))
        summed = self.summed_links if self.asked.inertial else ()
        cause = mistaken_for(self.form, self.asked, index, node, self.right_entries, summed)
        used = comparison if cause is not None else comparison.in_terms_of_answer(index, right, node)
        cause = cause or in_form(used.cause(index, right, node, summed), entry.solved_for)
        return EntryVerdict(self.name(index), entry.line, False, correct, used.difference(right, node), shown, *cause)

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
            text, hint = multiple(k)
            return [f if f.right else replace(f, cause=text, hint=hint) for f in findings], whole_factor(k, len(wrong))
        if len(wrong) > 1 and (cause := exchanged(self.form, self.asked, self.given, self.right, self._are_same)) is not None:
            return [f if f.right else replace(f, cause=cause.text, hint=cause.hint) for f in findings], Cause("", "")
        return findings, Cause("", "")

    def _factor(self, index: tuple[int, ...]) -> Fraction | None:
        if index not in self.in_terms:
            return None
        right, node = self.right[index], self.given[index].node
        factor = self._common.slip(index, right, node).factor if self._common.has_terms(right, node) else None
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
