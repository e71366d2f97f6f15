"""Joints without actuators: equations that hold if their torques vanish.

With τ_p = 0 the equation of motion of joint p determines one acceleration, its own or another, which other equations may have
eliminated: an equation that is linear in q̈ holds if it is a combination of those with the correct torques and of
τ_p(q, q̇, q̈) = 0, with coefficients that depend on q.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

from dynamis.classroom.answers import Located
from dynamis.classroom.checking.balls import agree
from dynamis.classroom.checking.mistakes import is_small
from dynamis.classroom.checking.quantities import Quantity
from dynamis.scalar import Node, gradient
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.cleaning import difference
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.expression import Algebra, Expression

Index = tuple[int, ...]


def without_zeros(asked: Quantity, given: Mapping[Index, Located], more: bool) -> tuple[dict[Index, Located], list[int]]:
    """The torques without those that are set to zero, and the joints of these: τ_2 = 0 says that joint 2 has no actuator.

    A zero is an entry like others if it is correct, or if the answer consists of it: if there is nothing ``more``.
    """
    kept, zero = dict(given), []
    for index, entry in given.items():
        nodes = [x for x in (entry.node, *entry.also) if isinstance(x, Node) or x != 0.0]
        correct = asked.entries.get(index)
        if len(nodes) > len(entry.also) or correct is None or correct.is_zero or not (more or nodes or len(given) > 1):
            continue
        zero.append(index[0])
        del kept[index]
        if nodes:
            kept[index] = replace(entry, node=nodes[0], also=tuple(nodes[1:]), texts=())
    return (kept, zero) if kept or more else (dict(given), [])


class Unactuated:
    """The equations of motion with some torques zero: those that the answer sets to ``zero``, or of which it is ``free``."""

    def __init__(
        self,
        form: ClosedForm,
        algebra: Algebra,
        correct: Sequence[Any],
        zero: Sequence[int],
        free: Sequence[int],
        as_written: Callable[[Any], Any],
    ) -> None:
        """``as_written`` replaces symbols that stand for decimals by their values."""
        self.as_written = as_written
        self.form, self.algebra, self.zero, self.free = form, algebra, list(zero), list(free)
        self.correct, self.small = correct, is_small(form)

    @cached_property
    def torque(self) -> list[Expression]:
        """The correct torques."""
        return [self.algebra.of_node(x) for x in self.correct]

    def own_equation(self, equation: Located, residuals: Sequence[Expression]) -> tuple[int, Located]:
        """A joint and its torque, from an equation that holds if this torque vanishes."""
        candidates = self.free or self.zero
        for joints in self._choices():
            if all(self._vanishes(x, joints) for x in residuals):
                joint = next((k for k in joints if k in candidates), joints[0])
                found = replace(
                    equation, node=self.torque[joint].node(), also=(), texts=(), condition=condition(joints), solved_for="0"
                )
                break
        else:
            joint = min(candidates, key=lambda k: self._nearest_multiple(residuals[0], k)[1])
            node, *others = ((x * self._nearest_multiple(x, joint)[0]).node() for x in residuals)
            found = replace(equation, node=node, also=tuple(others), texts=(), condition=condition([joint]), solved_for="0")
        self.free = [k for k in self.free if k != joint]
        self.zero += [joint] if joint not in self.zero else []
        return joint, found

    def conditions(self, given: Mapping[Index, Located], asked: Quantity) -> tuple[dict[Index, Located], Quantity]:
        """The torques with the conditions under which they are right; and the correct ones under these conditions."""
        if not self.small:
            return dict(given), asked
        found, correct = dict(given), dict(asked.entries)
        for index, entry in given.items():
            if index not in correct or entry.condition or index[0] in self.zero:
                continue
            torque = self.torque[index[0]]
            written = [self.as_written(x) for x in (entry.node, *entry.also)]
            nodes = [self.algebra.of_node(x) for x in written]
            if all(difference(torque, x).is_zero for x in nodes):
                continue
            if all(agree(self.form, self.correct[index[0]], x) for x in written):
                continue  # a phase, such as π/4, is known to rounding
            absent = self._absent(torque, nodes)
            passive = self._passive(absent)
            for joints in self._choices():
                if set(joints) <= {*self.zero, *passive} and (
                    len(set(joints) - set(self.zero)) <= len(absent)
                    and all(self._vanishes(difference(torque, x), joints) for x in nodes)
                ):
                    found[index] = replace(entry, node=torque.node(), also=(), texts=(), condition=condition(joints))
                    break
            else:
                # the acceleration may be forgotten rather than eliminated: the fewest wrong terms decide
                used = passive[: len(absent)]
                try:
                    reduced = self._reduced(torque, used, absent)
                    shorter = len(difference(reduced, nodes[0])) < len(difference(torque, nodes[0]))
                except BudgetSpent:
                    continue
                if shorter:
                    correct[index] = self.form.algebra.of_node(reduced.node())
                    found[index] = replace(entry, condition=condition(used))
        return found, replace(asked, entries=correct)

    def _choices(self) -> list[list[int]]:
        """The sets of joints that may have no torque, the likely ones first; none where an elimination takes too long."""
        if not self.small:
            return []
        single = [[k] for k in (*self.zero, *self.free)]
        sets = [*single, self.zero, [*self.zero, *(k for k in self.free if k not in self.zero)]]
        return [joints for k, joints in enumerate(sets) if joints and joints not in sets[:k]]

    def _absent(self, torque: Expression, nodes: Sequence[Expression]) -> list[int]:
        """The joints whose accelerations are in the correct equation and not in the answer."""
        every = enumerate(self.form.a)
        return [k for k, a in every if not torque.diff(a).is_zero and all(x.diff(a).is_zero for x in nodes)]

    def _passive(self, absent: Sequence[int]) -> list[int]:
        """The joints without torque whose equations determine accelerations that are absent, their own ones first."""
        rows = [k for k in self.zero or self.free if any(not self.torque[k].diff(self.form.a[j]).is_zero for j in absent)]
        return sorted(rows, key=lambda k: k not in absent)

    def _vanishes(self, x: Expression, joints: Sequence[int]) -> bool:
        """Whether an expression is zero where the torques of joints are; by its values where the elimination is too long."""
        try:
            return self._reduced(x, joints).is_zero
        except BudgetSpent:
            node, rows = x.node(), {k: self.correct[k] for k in joints}
            for k in joints:  # a part of the inertia matrix is positive definite: each row is the pivot of its joint
                a, pivot = self.form.a[k], rows.pop(k)
                below = gradient(pivot, [a])[0]
                node, *others = (y - gradient(y, [a])[0] / below * pivot for y in (node, *rows.values()))
                rows = dict(zip(rows, others, strict=True))
            return agree(self.form, 0.0, node)

    def _reduced(self, x: Expression, joints: Sequence[int], accelerations: Sequence[int] | None = None) -> Expression:
        """An expression with ``accelerations`` eliminated, by default those of the joints, whose torques are zero."""
        rows = [self.torque[k] for k in joints]
        for k in joints if accelerations is None else accelerations:
            a = self.form.a[k]
            at = next((i for i, row in enumerate(rows) if not row.diff(a).is_zero), None)
            if at is None:
                continue
            pivot = rows.pop(at)
            slope = pivot.diff(a)
            rows = [difference(row, row.diff(a) / slope * pivot) for row in rows]
            x = difference(x, x.diff(a) / slope * pivot)
        return x

    def _nearest_multiple(self, x: Expression, joint: int) -> tuple[Any, float]:
        """A factor with which most terms of a wrong equation x = 0 are those of a joint's torque, and how many differ."""
        torque, written = self.torque[joint], self.algebra.of_node(self.as_written(x.node()))
        factors: list[Any] = [1, -1]
        for given, right in [(written.diff(a), torque.diff(a)) for a in self.form.a] if self.small else []:
            if not given.is_zero and not right.is_zero:
                factors.append(right / given)
        return min(((k, self._distance(torque, written, k)) for k in factors), key=lambda found: found[1])

    @staticmethod
    def _distance(torque: Expression, x: Expression, factor: Any) -> float:
        """The number of terms in which a multiple of an expression differs from a torque."""
        try:
            return len(difference(torque, x * factor))
        except BudgetSpent:
            return inf


def condition(joints: Collection[int]) -> str:
    """When an equation holds.

    >>> condition([1]), condition([2, 1])
    ('if τ_2 = 0 (joint 2 not actuated)', 'if τ_2 = τ_3 = 0 (joints 2 and 3 not actuated)')
    """
    numbers = [str(k + 1) for k in sorted(joints)]
    torques = " = ".join(f"τ_{k}" for k in numbers)
    return f"if {torques} = 0 (joint{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)} not actuated)"
