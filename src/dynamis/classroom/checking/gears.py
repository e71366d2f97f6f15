r"""Torques of motors behind gears: with the gear ratio n of a joint, its motor's torque is τ_m = τ/n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.answers.vocabulary import key_of
from dynamis.classroom.checking.balls import agree
from dynamis.classroom.checking.motion_equations import LETTERS
from dynamis.classroom.checking.verdict import EntryVerdict
from dynamis.scalar import Node, topological
from dynamis.symbolic.closed_form import ClosedForm

Index = tuple[int, ...]


def gear_ratios(form: ClosedForm) -> dict[int, Any]:
    """The gear ratios of the joints that have one and no other actuator, by joint."""
    joints = {} if form.description is None else {joint.name: joint for joint in form.description.joints}
    found = {k: joints[c.joint].drive.gear_ratio for k, c in enumerate(form.model.coordinates) if c.joint in joints}
    return {k: n for k, n in found.items() if form.model.actuators[k] is None and (isinstance(n, Node) or n not in (0.0, 1.0))}


def ratio_symbols(form: ClosedForm) -> dict[str, Node]:
    """The gear ratios that are symbols, by name: without a rotor's inertia they are not in the robot's equations."""
    return {str(n): n for n in gear_ratios(form).values() if isinstance(n, Node) and n.op == "symbol"}


def motor_torques(form: ClosedForm) -> dict[str, Any]:
    """The torques of the motors by name, in terms of those of the joints; without index that of the only joint."""
    return {name: form.tau[k] / n for k, n in gear_ratios(form).items() for name in _names(form, k)}


def _names(form: ClosedForm, joint: int) -> tuple[str, ...]:
    return (f"tau_m{joint + 1}", *(("tau_m",) if form.n == 1 else ()))


class GearedAnswer:
    """An answer with the torques of motors that stand alone on one side written as equations of those of the joints.

    What only says that τ = n τ_m is left out. With τ_m = τ/n + n J q̈ the τ of the answer is the torque of the gear on the link,
    to which the rotor's, n² J q̈, is added. ``read`` are the formulas of motors, ``forms`` their left sides by position.
    """

    def __init__(self, form: ClosedForm, answer: Answer) -> None:
        self.form, self.ratios = form, gear_ratios(form)
        self.read: list[Located] = []
        self.notes: list[str] = []
        self.forms: dict[tuple[int, int], str] = {}
        self.findings: list[EntryVerdict] = []
        self.loads: set[int] = set()  # joints whose τ has no torque of the rotor
        self.answer = self._rewritten(answer) if self.ratios else answer

    def in_form(self, given: Mapping[Index, Located]) -> dict[Index, Located]:
        """The torques of joints that follow from those of motors, with the form in which they are compared."""
        places = {index: self.forms.get((x.line, x.column)) for index, x in given.items()}
        return {index: replace(x, solved_for=places[index] or x.solved_for) for index, x in given.items()}

    def _rewritten(self, answer: Answer) -> Answer:
        motors = {key_of(name): (name, k) for k in self.ratios for name in _names(self.form, k)}
        formulas = [(letter, index, x) for letter, row in answer.entries.items() for index, x in row.items()]
        formulas += [(name, (), x) for name, x in answer.definitions.items()]
        equations = [y for x in answer.equations if (y := self._without_identities(0.0, x)) is not None]
        kept: list[tuple[str, Index, Located]] = []
        for letter, index, x in formulas:
            name, k = motors.get(letter + "".join(str(i + 1) for i in index), ("", index[0] if index else 0))
            if name:
                own = [y for other, i, z in formulas if other in LETTERS and i == (k,) for y in (z.node, *z.also)]
                equations += self._equation(name, k, x, own)
            elif letter not in LETTERS or k not in self.ratios:
                kept.append((letter, index, x))
            elif (rest := self._without_identities(self.form.tau[k], x)) is not None:
                kept.append((letter, index, rest))
        entries: dict[str, dict[Index, Located]] = {}
        for letter, index, x in kept:
            if index:
                entries.setdefault(letter, {})[index] = self._with_rotor(x, index[0]) if letter in LETTERS else x
        definitions = {letter: x for letter, index, x in kept if not index}
        return replace(answer, entries=entries, definitions=definitions, equations=tuple(equations))

    def _equation(self, name: str, k: int, x: Located, own_torques: Sequence[Any]) -> list[Located]:
        """A motor's torque minus its values, without those that only say what it is by the answer's torques of the joint."""
        tau, n = self.form.tau[k], self.ratios[k]
        torque, ratio = tau / n, n if isinstance(n, Node) else f"{n:g}"
        self.read.append(x)
        self.forms[x.line, x.column] = f"{ratio}*{name}"
        self.notes.append(f"{name} is read as the torque of the motor: tau_{k + 1} = {ratio}*{name}")
        values = [y for y in (x.node, *x.also) if not agree(self.form, torque, y)]
        loads = [(own + self._rotor(k)) / n for own in (tau, *own_torques)]
        if any(agree(self.form, load, y) for load in loads for y in values):
            self.loads.add(k)
            self.notes.append(f"tau_{k + 1} is read as the torque of the gear on the link, without that of the rotor")
        values = [y for y in values if not agree(self.form, loads[0], y)]
        relations = [y for y in values if any(node is tau for node in topological([y]))]
        if relations:
            self.findings.append(self._contradiction(name, k, x))
        values = [y for y in values if not any(y is z for z in relations)]
        return [replace(x, node=torque - values[0], also=tuple(torque - y for y in values[1:]), texts=())] if values else []

    def _contradiction(self, name: str, k: int, x: Located) -> EntryVerdict:
        """The finding on another relation between the torques of motor and joint."""
        ratio = self.ratios[k]
        rotor = self.form.algebra.of_node(self._rotor(k) / ratio)
        correct = f"tau_{k + 1}/{ratio if isinstance(ratio, Node) else format(ratio, 'g')}"
        said = "the torque of the motor is that of the joint over the gear ratio"
        if not rotor.is_zero:
            correct += f", or with the torque on the link {correct} + {rotor}"
            said += ", and with the torque on the link, the rotor's beside it"
        return EntryVerdict(name, x.line, False, correct, cause=said, hint=said)

    def _rotor(self, k: int) -> Any:
        """The torque of the rotor at the joint."""
        return self.form.model.rotor[k] * self.form.a[k]

    def _with_rotor(self, x: Located, k: int) -> Located:
        if k not in self.loads:
            return x
        return replace(x, node=x.node + self._rotor(k), also=tuple(y + self._rotor(k) for y in x.also))

    def _without_identities(self, left: Any, x: Located) -> Located | None:
        """A formula without the values that say only that τ = n τ_m; None if it has no others."""
        motors = {id(self.form.tau[k] / n) for k, n in self.ratios.items()}
        values = [
            y for y in (x.node, *x.also) if not (any(id(n) in motors for n in topological([y])) and agree(self.form, left, y))
        ]
        self.read += [] if values else [x]
        if len(values) > len(x.also):
            return x
        return replace(x, node=values[0], also=tuple(values[1:]), texts=()) if values else None
