"""Equations of motion in any arrangement: each is solved for the torque of one joint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dynamis.classroom.answers import Answer, Decimals, Located
from dynamis.classroom.answers.vocabulary import is_symbol, key_of
from dynamis.classroom.checking.limits import refuse_high_degrees
from dynamis.classroom.checking.mistakes import is_small
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.unactuated import Unactuated, without_zeros
from dynamis.errors import InputError, printable
from dynamis.model.actuators import Elastic
from dynamis.scalar import Node, topological
from dynamis.symbolic import factored
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.cleaning import difference
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.ring import Ring

LETTERS = ("tau", "u", "f", "F")  # of torques
FORCES = ("f", "F")  # of prismatic joints
COMMAND = "u"  # another letter of a torque, unless the joint has an actuator, of which it is the command


def joint_names(form: ClosedForm) -> dict[str, int]:
    """The names of the joints, and the usual letters of the only revolute or prismatic joint, unless it has a letter."""
    names = {c.name: k for k, c in enumerate(form.model.coordinates)}
    for letters, revolute in ((("theta", "phi"), True), (("d", "r", "x", "s"), False)):
        alike = [k for k, c in enumerate(form.model.coordinates) if c.revolute == revolute]
        if len(alike) == 1 and not is_symbol(form.model.coordinates[alike[0]].name):
            names = {**dict.fromkeys(letters, alike[0]), **names}
    return names


def named_torques(form: ClosedForm) -> dict[str, int]:
    """The joints by the names of their torques with the names of joints as indices, in canonical spelling: τ_θ, F_r."""
    spelled = [(key_of(f"{letter}_{name}"), letter, k) for name, k in joint_names(form).items() for letter in LETTERS]
    return {key: k for key, letter, k in spelled if key is not None and _has_letter(form, letter, k)}


def torque_names(form: ClosedForm, letters: Sequence[str] = LETTERS) -> dict[str, Any]:
    """The torques by name; without index that of the only joint, and F, f and u that of the only prismatic joint."""
    names: dict[str, Any] = {}
    for letter in letters:
        names |= {f"{letter}_{k + 1}": tau for k, tau in enumerate(form.tau) if _has_letter(form, letter, k)}
        if (alone := _without_index(form, letter)) is not None:
            names[letter] = form.tau[alone]
    return {**{key: form.tau[k] for key, k in named_torques(form).items() if letters == LETTERS}, **names}


def _has_letter(form: ClosedForm, letter: str, joint: int) -> bool:
    turning = joint >= form.n or form.model.coordinates[joint].revolute
    return not (letter in FORCES and turning) and not _is_command(form, letter, joint)


def _is_command(form: ClosedForm, letter: str, joint: int) -> bool:
    return letter == COMMAND and joint < form.n and form.model.actuators[joint] is not None


def _without_index(form: ClosedForm, letter: str) -> int | None:
    """The joint whose torque a letter without index is."""
    joints = [k for k in range(form.n) if not _is_command(form, letter, k)]
    joints = [k for k in joints if not form.model.coordinates[k].revolute or (form.n == 1 and letter not in FORCES)]
    return joints[0] if len(joints) == 1 and (letter != "tau" or form.n == 1) else None


def _defined_torques(form: ClosedForm, answer: Answer) -> dict[tuple[int, ...], Located]:
    """The torques that stand alone on one side; a letter without index is one too."""
    given: dict[tuple[int, ...], Located] = {}
    for index, entry in _torque_definitions(form, answer):
        named = index[0] < form.n and entry.node is form.tau[index[0]] and not entry.also  # τ = [F; 0]
        if not named and not (index in given and entry.used):
            _add(given, index, entry)
    return given


def _torque_definitions(form: ClosedForm, answer: Answer) -> Iterator[tuple[tuple[int, ...], Located]]:
    """The formulas of a text whose names are torques, with the joint."""
    for letter in LETTERS:
        every = answer.entries.get(letter, {}).items()
        yield from ((index, entry) for index, entry in every if _has_letter(form, letter, index[0]))
    named = named_torques(form)
    yield from (((k,), answer.definitions[key]) for key, k in named.items() if key in answer.definitions)
    for letter in LETTERS:
        joint = _without_index(form, letter)
        if joint is not None and letter in answer.definitions:
            yield (joint,), answer.definitions[letter]
    turning = [k for k in range(form.n) if form.model.coordinates[k].revolute]
    if len(turning) == 1 < form.n and "tau" in answer.definitions and _has_other_torques(form, answer, turning[0]):
        yield (turning[0],), answer.definitions["tau"]


def _has_other_torques(form: ClosedForm, answer: Answer, joint: int) -> bool:
    """Whether an answer has torques of other joints than this one, as F_x beside τ."""
    own = torque_names(form)
    others = {id(tau) for k, tau in enumerate(form.tau) if k != joint}
    named = any(id(tau) in others and key_of(name) in answer.definitions for name, tau in own.items())
    held = [node for x in answer.equations for node in (x.node, *x.also)]
    return named or any(letter in answer.entries for letter in FORCES) or any(id(n) in others for n in topological(held))


def _only_torque(form: ClosedForm, answer: Answer, zero: Collection[int]) -> dict[tuple[int, ...], Located]:
    """The torque without index that stands alone on one side, if those of all other joints are zero."""
    left = [k for k in range(form.n) if k not in zero]
    letters = [letter for letter in LETTERS if letter in answer.definitions and _without_index(form, letter) is None]
    return {(left[0],): answer.definitions[letters[0]]} if len(left) == len(letters) == 1 else {}


class Torques(NamedTuple):
    """The torques of an answer by joint, the quantity with which to compare them, and the joints that it calls not actuated.

    ``read`` are the formulas from which they follow, ``missing`` the joints of equations in an answer without any torque.
    """

    entries: dict[tuple[int, ...], Located]
    asked: Quantity
    unactuated: Sequence[int] = ()
    read: Sequence[Located] = ()
    missing: Sequence[int] = ()


def solved_torques(form: ClosedForm, asked: Quantity, answer: Answer, decimals: Decimals | None = None) -> Torques:
    """The torques that an answer gives directly or by equations.

    There are none if the answer has none of the letters of torques and no equations. Equations without torques are those of
    joints that are not actuated; where these torques vanish, others may have the accelerations of their joints eliminated. With
    ``decimals`` that are symbols, their values decide of which joint an equation is.
    """
    given, zero = without_zeros(asked, _defined_torques(form, answer), bool(answer.equations))
    read = [entry for _, entry in _torque_definitions(form, answer)]
    every = [*given.values(), *answer.equations, *(answer.definitions[x] for x in LETTERS if x in answer.definitions)]
    refuse_high_degrees([node for x in every for node in (x.node, *x.also)])
    used = {id(t) for t in form.tau}
    defined = {
        index: _as_equation(form.tau[index[0]], entry)
        for index, entry in given.items()
        if index[0] < form.n and any(id(n) in used for n in topological([entry.node, *entry.also]))
    }
    if not defined and not answer.equations and not (is_small(form) and given):
        return Torques(given, asked, zero, read)
    if not defined and not answer.equations and not _expand([node for x in given.values() for node in (x.node, *x.also)]):
        return Torques(given, asked, zero, read)
    solver = _Solver(form, asked, answer, [*every, *defined.values()], decimals or Decimals())
    free = solver.absent_joints([*defined.values(), *answer.equations], {index[0] for index in given}, zero)
    joints = solver.joints(answer.equations, {index[0] for index in given}, free)
    for index, equation in defined.items():
        given[index] = solver.solved(equation, index[0])
    for equation, joint in zip(answer.equations, joints, strict=True):
        if joint is not None:
            _add(given, (joint,), solver.solved(equation, joint))
    unactuated = Unactuated(form, solver.algebra, solver.correct, zero, free, solver.as_written)
    for equation in [x for x, joint in zip(answer.equations, joints, strict=True) if joint is None]:
        joint, found = unactuated.own_equation(equation, [solver.residual(x) for x in (equation.node, *equation.also)])
        _add(given, (joint,), found)
    only = _only_torque(form, answer, unactuated.zero)
    named = read or any(id(n) in used for n in topological([node for x in answer.equations for node in (x.node, *x.also)]))
    missing = [] if named else sorted(unactuated.zero)
    return Torques(*unactuated.conditions({**only, **given}, asked), zero, [*read, *only.values()], missing)


def _expand(nodes: Sequence[Any]) -> bool:
    """Whether expressions can be multiplied out within the limits of size."""
    try:
        Ring.of(nodes).expand(nodes)
    except BudgetSpent:
        return False
    return True


def _add(given: dict[tuple[int, ...], Located], index: tuple[int, ...], found: Located) -> None:
    before = given.get(index)
    given[index] = (
        found
        if before is None
        else replace(
            before, also=(*before.also, found.node, *found.also), texts=(), solved_for=before.solved_for or found.solved_for
        )
    )


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

    def __init__(
        self, form: ClosedForm, asked: Quantity, answer: Answer, equations: Sequence[Located], decimals: Decimals
    ) -> None:
        self.form, self.file, self.as_written = form, answer.file, decimals.values
        self.correct = [asked.entries[k,].node() for k in range(form.n)]
        nodes = [node for x in equations for node in (x.node, *x.also)]
        ring = Ring.of([*nodes, *self.correct], form.algebra.ring.angles, [*form.q, *form.v, *form.a, *form.tau, *form.w])
        self.algebra = Algebra(ring, form.algebra.letters)

    def absent_joints(self, equations: Sequence[Located], given: set[int], zero: Collection[int]) -> list[int]:
        """The joints without an equation whose torques occur nowhere: those of torque zero first, no elastic ones."""
        nodes = topological([node for x in equations for node in (x.node, *x.also)])
        used = {id(node) for node in nodes}
        absent = [k for k, tau in enumerate(self.form.tau) if k not in given and (k in zero or id(tau) not in used)]
        absent = [k for k in absent if k in zero or not isinstance(self.form.model.actuators[k], Elastic)]
        return sorted(absent, key=lambda k: k not in zero)

    def residual(self, node: Any) -> Expression:
        """An equation with the correct torques; zero, up to rounding, for one that is right."""
        values = {id(t): self.correct[k] for k, t in enumerate(self.form.tau)}
        equation, residual = self.algebra.of_node(node), self.algebra.of_node(factored.replaced(node, values))
        if residual.is_zero or equation.denominator is not None:
            return residual
        rest = self._without_torques(equation)
        return difference(rest, rest - residual)

    def _holds(self, equation: Located) -> bool:
        """Whether an equation is right with the decimals as written."""
        return self.residual(self.as_written(equation.node)).is_zero

    def _without_torques(self, equation: Expression) -> Expression:
        for t in self.form.tau:
            equation = equation - equation.diff(t) * t
        return equation

    def joints(self, equations: Sequence[Located], given: set[int], free: Sequence[int]) -> list[int | None]:
        """The joint whose torque each equation determines, another one for each, of those that are not ``given``.

        None for an equation without torques, or with torques that those before it determine already, if there are joints
        left that may have no torque, ``free``; if there are none, the equation is assigned to one of its torques.
        """
        slopes = [self._slopes(self._numerator(x.node), x) for x in equations]
        occurring = [[k for k, slope in row.items() if k not in free and not slope.is_zero] for row in slopes]
        determined: dict[int, int] = {}  # equations by joint
        reduced: list[tuple[int, dict[int, Expression]]] = []  # rows of the elimination, with their pivots
        for i, (equation, row) in enumerate(zip(equations, slopes, strict=True)):
            if not occurring[i]:
                self._refuse_without_torque(equation, free)
                continue
            for pivot, other in reduced:
                row = {k: row[k] * other[pivot] - row[pivot] * other[k] for k in row}  # noqa: PLW2901
            left = [k for k, c in row.items() if k not in given and k not in free and not c.is_zero]
            if left:
                reduced.append((left[0], row))
                _match(i, [[k for k in found if k not in given] for found in occurring], determined, set())
        joints = {i: joint for joint, i in determined.items()}
        known = given | determined.keys()
        spare = len(free) - sum(not found for found in occurring)
        chosen: list[int | None] = []
        for i, equation in enumerate(equations):
            own = not occurring[i] or (i not in joints and spare > 0 and not self._holds(equation))
            spare -= int(own and bool(occurring[i]))
            chosen.append(None if own else joints[i] if i in joints else next(k for k in occurring[i] if k in known))
        return chosen

    def _refuse_without_torque(self, equation: Located, free: Sequence[int]) -> None:
        torques = {id(tau) for k, tau in enumerate(self.form.tau) if k not in free}
        if any(id(node) in torques for node in topological([equation.node])):
            raise self._error(equation, "the torques cancel in this equation")
        if self._holds(equation):
            raise self._error(equation, "both sides of this equation are equal")
        if not free and any(isinstance(x, Elastic) for x in self.form.model.actuators):
            raise self._error(equation, "there is neither a torque nor the angle of a motor in this equation")
        if not free:
            raise self._error(equation, "there is no torque in this equation, and every joint has an equation of its own")

    def solved(self, equation: Located, joint: int) -> Located:
        """The torque of a joint from an equation."""
        first, *others = (self._torque(node, joint, equation) for node in (equation.node, *equation.also))
        sides = equation.node.args if isinstance(equation.node, Node) and equation.node.op == "sub" else ()
        alone = any(side is self.form.tau[joint] for side in sides)
        return replace(equation, node=first, also=tuple(others), texts=(), solved_for="" if alone else f"tau_{joint + 1}")

    def _torque(self, node: Any, joint: int, equation: Located) -> Any:
        above = self._numerator(node)
        slopes = self._slopes(above, equation)
        slope = slopes[joint]
        if slope.is_zero:
            raise self._error(equation, f"the torque of joint {joint + 1} cancels in this equation")
        others = {k: c for k, c in slopes.items() if k != joint and not c.is_zero}
        if slope.numerator.is_constant() and not others and self.algebra.of_node(node).denominator is None:
            # the terms stay as they are written, for the messages
            return factored.replaced(node, {id(self.form.tau[joint]): 0.0}) / -slope.node()
        rest = self._without_torques(above)
        for k, c in others.items():
            rest = difference(rest, -c * self.correct[k])
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
