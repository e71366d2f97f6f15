"""Equations of motion in any arrangement: each is solved for the torque of one joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.checking.quantities import Quantity
from dynamis.errors import InputError, printable
from dynamis.scalar import topological
from dynamis.symbolic import factored
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.ring import Ring

LETTERS = ("tau", "u", "f", "F")  # of torques
FORCES = ("f", "F")  # of prismatic joints


def torque_names(form: ClosedForm, letters: Sequence[str] = LETTERS) -> dict[str, Any]:
    """The torques by name; without index that of the only joint, and F, f and u that of the only prismatic joint."""
    names: dict[str, Any] = {}
    for letter in letters:
        names |= {f"{letter}_{k + 1}": tau for k, tau in enumerate(form.tau) if _has_letter(form, letter, k)}
        if (alone := _without_index(form, letter)) is not None:
            names[letter] = form.tau[alone]
    return names


def _has_letter(form: ClosedForm, letter: str, joint: int) -> bool:
    return letter not in FORCES or (joint < form.n and not form.model.coordinates[joint].revolute)


def _without_index(form: ClosedForm, letter: str) -> int | None:
    """The joint whose torque a letter without index is."""
    joints = [k for k in range(form.n) if not form.model.coordinates[k].revolute or (form.n == 1 and letter not in FORCES)]
    return joints[0] if len(joints) == 1 and (letter != "tau" or form.n == 1) else None


def _defined_torques(form: ClosedForm, answer: Answer) -> dict[tuple[int, ...], Located]:
    """The torques that stand alone on one side; a letter without index is one if nothing else gives this torque."""
    given: dict[tuple[int, ...], Located] = {}
    for letter in LETTERS:
        for index, entry in answer.entries.get(letter, {}).items():
            if _has_letter(form, letter, index[0]):
                given.setdefault(index, entry)
    for letter in LETTERS:
        joint = _without_index(form, letter)
        if joint is not None and letter in answer.definitions:
            given.setdefault((joint,), answer.definitions[letter])
    return given


def solved_torques(form: ClosedForm, asked: Quantity, answer: Answer) -> dict[tuple[int, ...], Located]:
    """The torques that an answer gives directly or by equations; empty if it has none of the letters of torques."""
    given = _defined_torques(form, answer)
    used = {id(t) for t in form.tau}
    defined = {
        index: _as_equation(form.tau[index[0]], entry)
        for index, entry in given.items()
        if index[0] < form.n and any(id(n) in used for n in topological([entry.node, *entry.also]))
    }
    if not defined and not answer.equations:
        return given
    solver = _Solver(form, asked, answer, [*defined.values(), *answer.equations])
    joints = solver.joints(answer.equations, {index[0] for index in given})
    for index, equation in defined.items():
        given[index] = solver.solved(equation, index[0])
    for equation, joint in zip(answer.equations, joints, strict=True):
        found = solver.solved(equation, joint)
        before = given.get((joint,))
        given[joint,] = found if before is None else replace(before, also=(*before.also, found.node, *found.also), texts=())
    return given


def _as_equation(tau: Any, entry: Located) -> Located:
    """τ_i − … = 0 from τ_i = …"""
    return replace(entry, node=tau - entry.node, also=tuple(tau - x for x in entry.also))


def _match(i: int, occurring: Sequence[Sequence[int]], determined: dict[int, int], seen: set[int]) -> bool:
    """Give equation i a joint of its own, by an augmenting path through those of the equations before it."""
    for joint in occurring[i]:
        if joint not in seen:
            seen.add(joint)
            if joint not in determined or _match(determined[joint], occurring, determined, seen):
                determined[joint] = i
                return True
    return False


class _Solver:
    """Solution of equations, linear in the torques, for the torque of one joint; the others have their correct values."""

    def __init__(self, form: ClosedForm, asked: Quantity, answer: Answer, equations: Sequence[Located]) -> None:
        self.form, self.file = form, answer.file
        self.correct = [asked.entries[k,].node() for k in range(form.n)]
        nodes = [node for x in equations for node in (x.node, *x.also)]
        ring = Ring.of([*nodes, *self.correct], form.algebra.ring.angles, [*form.q, *form.v, *form.a, *form.tau, *form.w])
        self.algebra = Algebra(ring, form.algebra.letters)

    def joints(self, equations: Sequence[Located], given: set[int]) -> list[int]:
        """The joint whose torque each equation determines, another one for each, of those that are not ``given``.

        An equation whose torques depend on those before it determines no further torque; it is assigned to one of theirs.
        """
        slopes = [self._slopes(self._numerator(x.node), x) for x in equations]
        occurring = [[k for k, slope in row.items() if not slope.is_zero] for row in slopes]
        determined: dict[int, int] = {}  # equations by joint
        reduced: list[tuple[int, dict[int, Expression]]] = []  # rows of the elimination, with their pivots
        for i, (equation, row) in enumerate(zip(equations, slopes, strict=True)):
            if not occurring[i]:
                raise self._error(equation, "the torques cancel in this equation")
            for pivot, other in reduced:
                row = {k: row[k] * other[pivot] - row[pivot] * other[k] for k in row}  # noqa: PLW2901
            left = [k for k, c in row.items() if k not in given and not c.is_zero]
            if left:
                reduced.append((left[0], row))
                _match(i, [[k for k in found if k not in given] for found in occurring], determined, set())
        joints = {i: joint for joint, i in determined.items()}
        known = given | determined.keys()
        return [joints[i] if i in joints else next(k for k in occurring[i] if k in known) for i in range(len(equations))]

    def solved(self, equation: Located, joint: int) -> Located:
        """The torque of a joint from an equation."""
        first, *others = (self._torque(node, joint, equation) for node in (equation.node, *equation.also))
        return replace(equation, node=first, also=tuple(others), texts=())

    def _torque(self, node: Any, joint: int, equation: Located) -> Any:
        above = self._numerator(node)
        slopes = self._slopes(above, equation)
        slope = slopes[joint]
        if slope.is_zero:
            raise self._error(equation, f"the torque of joint {joint + 1} cancels in this equation")
        if slope.numerator.is_constant() and self.algebra.of_node(node).denominator is None:
            # the terms stay as they are written, for the messages
            values: Mapping[int, Any] = {id(t): 0.0 if k == joint else self.correct[k] for k, t in enumerate(self.form.tau)}
            return factored.replaced(node, values) / -slope.node()
        rest = above
        for k, c in slopes.items():
            tau = self.algebra.of_node(self.form.tau[k])
            rest = rest - c * tau if k == joint else rest + c * (self.algebra.of_node(self.correct[k]) - tau)
        return (-rest / slope).node()

    def _numerator(self, node: Any) -> Expression:
        return Expression(self.algebra, self.algebra.of_node(node).numerator)

    def _slopes(self, above: Expression, equation: Located) -> dict[int, Expression]:
        """The coefficients of the torques."""
        slopes = {k: above.diff(t) for k, t in enumerate(self.form.tau)}
        if any(not slope.diff(t).is_zero for slope in slopes.values() for t in self.form.tau):
            raise self._error(equation, "this equation is not linear in the torques")
        return slopes

    def _error(self, equation: Located, found: str) -> InputError:
        name = self.file if self.file.isprintable() else printable(self.file)
        return InputError(f"{name}:{equation.line}: {found}: write … = τ_1, or an equation with τ_1 to the first power")
