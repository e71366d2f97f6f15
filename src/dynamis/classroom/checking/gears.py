r"""Torques of motors behind gears: with the gear ratio n of a joint, its motor's torque is τ_m = τ/n."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.answers.vocabulary import key_of
from dynamis.classroom.checking.balls import agree
from dynamis.classroom.checking.motion_equations import LETTERS
from dynamis.classroom.checking.verdict import EntryVerdict
from dynamis.scalar import Node, directional, topological
from dynamis.symbolic import factored
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.roles import motor_variable

Index = tuple[int, ...]


def gear_ratios(form: ClosedForm) -> dict[int, Any]:
    """The gear ratios of the joints that have one and no other actuator, by joint."""
    joints = {} if form.description is None else {joint.name: joint for joint in form.description.joints}
    found = {k: joints[c.joint].drive.gear_ratio for k, c in enumerate(form.model.coordinates) if c.joint in joints}
    return {k: n for k, n in found.items() if form.model.actuators[k] is None and (isinstance(n, Node) or n not in (0.0, 1.0))}


def ratio_symbols(form: ClosedForm) -> dict[str, Node]:
    """The gear ratios that are symbols, by name: without a rotor's inertia they are not in the robot's equations."""
    return {str(n): n for n in gear_ratios(form).values() if isinstance(n, Node) and n.op == "symbol"}


def motor_torques(form: ClosedForm) -> dict[str, Node]:
    """The torques of the motors by name; without index that of the only joint."""
    return {name: _motor(k) for k in gear_ratios(form) for name in _names(form, k)}


def motor_angles(form: ClosedForm) -> dict[str, Any]:
    """The angles of the motors and their rates by name: θ_m = n q, without elasticity; without index that of the only joint."""
    found: dict[str, Any] = {}
    for k, n in gear_ratios(form).items():
        for dots, vector in (("", form.q), ("'", form.v), ("''", form.a)):
            found |= {name + dots: n * vector[k] for letter in ("theta", "q") for name in _names(form, k, letter)}
        for dots, vector in (("", form.v), ("'", form.a)):
            found |= {name + dots: n * vector[k] for name in _names(form, k, "omega")}
    return found


def _motor(joint: int) -> Node:
    return motor_variable("tau_m", joint + 1)


def _names(form: ClosedForm, joint: int, letter: str = "tau") -> tuple[str, ...]:
    return (f"{letter}_m{joint + 1}", *((f"{letter}_m",) if form.n == 1 else ()))


class GearedAnswer:
    """An answer with the torques of motors written as those of the joints.

    A relation of both, τ_m = τ/n or J n q̈ = τ_m - τ/n, is left out. In the second one the τ of the answer is the torque of the
    gear on the link, to which the rotor's, n² J q̈, is added, or another part of the joint's torque that acts on the motor.
    ``read`` are the formulas of motors, ``forms`` their left sides by position.
    """

    def __init__(self, form: ClosedForm, answer: Answer) -> None:
        self.form, self.ratios = form, gear_ratios(form)
        self.in_joints = {id(_motor(k)): form.tau[k] / n for k, n in self.ratios.items()}
        self.read: list[Located] = []
        self.notes: list[str] = []
        self.forms: dict[tuple[int, int], str] = {}
        self.findings: list[EntryVerdict] = []
        self.joined: set[int] = set()  # joints with τ = n τ_m
        self.loads: dict[int, Any] = {}  # what the torque of a joint has beside the τ of the answer
        self.answer = self._rewritten(answer) if self.ratios else answer

    def in_form(self, given: Mapping[Index, Located]) -> dict[Index, Located]:
        """The torques of joints that follow from those of motors, with the form in which they are compared."""
        places = {index: self.forms.get((x.line, x.column)) for index, x in given.items()}
        return {index: replace(x, solved_for=places[index] or x.solved_for) for index, x in given.items()}

    def _rewritten(self, answer: Answer) -> Answer:
        motors = {key_of(name): (name, k) for k in self.ratios for name in _names(self.form, k)}
        formulas = [(letter, index, x) for letter, row in answer.entries.items() for index, x in row.items()]
        formulas += [(name, (), x) for name, x in answer.definitions.items()]
        self.own = {k: [x for letter, i, x in formulas if self._is_torque(letter, i, k)] for k in self.ratios}
        equations = [y for x in answer.equations if (y := self._without_relations(0.0, x)) is not None]
        kept: list[tuple[str, Index, Located]] = []
        for letter, index, x in formulas:
            name, k = motors.get(letter + "".join(str(i + 1) for i in index), ("", index[0] if index else 0))
            if name:
                equations += self._equation(name, k, x)
            elif not self._is_torque(letter, index, k):
                kept.append((letter, index, self._in_joint_torques(x)))
            elif (rest := self._without_relations(self.form.tau[k], x)) is not None:
                kept.append((letter, index, rest))
        entries: dict[str, dict[Index, Located]] = {}
        for letter, index, x in kept:
            if index:
                entries.setdefault(letter, {})[index] = self._with_load(x, index[0]) if letter in LETTERS else x
        definitions = {
            letter: self._with_load(x, 0) if self._is_torque(letter, (), 0) else x for letter, index, x in kept if not index
        }
        return replace(answer, entries=entries, definitions=definitions, equations=tuple(equations))

    def _is_torque(self, letter: str, index: Index, k: int) -> bool:
        """Whether a name is that of the torque of a joint with a gear."""
        return letter in LETTERS and k in self.ratios and (index == (k,) or (not index and k == 0 and self.form.n == 1))

    def _in_joint_torques(self, x: Located) -> Located:
        if not any(id(n) in self.in_joints for n in topological([x.node, *x.also])):
            return x
        node, *also = (factored.replaced(y, self.in_joints) for y in (x.node, *x.also))
        return replace(x, node=node, also=tuple(also))

    def _equation(self, name: str, k: int, x: Located) -> list[Located]:
        """A motor's torque minus its values, without those that relate it to the torque of the joint."""
        tau, n = self.form.tau[k], self.ratios[k]
        torque, ratio = tau / n, n if isinstance(n, Node) else f"{n:g}"
        self.read.append(x)
        self.forms[x.line, x.column] = f"{ratio}*{name}"
        self.notes.append(f"{name} is read as the torque of the motor: tau_{k + 1} = {ratio}*{name}")
        every = [factored.replaced(y, self.in_joints) for y in (x.node, *x.also)]
        values = [y for y in every if not (self._contains(y, tau) and self._relate(name, k, x, y))]
        for y in values:
            self._compare(k, y)
        return [replace(x, node=torque - values[0], also=tuple(torque - y for y in values[1:]), texts=())] if values else []

    def _relate(self, name: str, k: int, x: Located, value: Any) -> bool:
        """Take a value of a motor's torque that has the joint's as their relation; True.

        Friction may act on either side of the gear: it is in the relation or in the answer's torque on the link.
        """
        tau, n = self.form.tau[k], self.ratios[k]
        if agree(self.form, tau / n, value):
            self.joined.add(k)
            return True
        rest = factored.replaced(n * value, {id(tau): 0.0})
        if agree(self.form, self._rotor(k), rest):
            rest = self._rotor(k)
        beside = agree(self.form, n * value, tau + rest)
        free = not self._is_complete(k) and (self.own[k] or self._contains(rest, self.form.v[k]))
        if beside and (rest is self._rotor(k) or free):
            self._load(k, rest)
        else:
            self.findings.append(self._contradiction(name, k, x))
        return True

    def _compare(self, k: int, value: Any) -> None:
        """Take what a motor's torque, in which the joint's is replaced by the answer's, has beside it."""
        n = self.ratios[k]
        for x in self.own[k]:
            rest = n * value - x.node
            if agree(self.form, self._rotor(k), rest):
                self._load(k, self._rotor(k))
            elif x.used and not self._is_complete(k) and self._is_of_rotor(k, rest):
                self._load(k, rest)

    def _is_of_rotor(self, k: int, torque: Any) -> bool:
        """Whether a torque depends on the rates of a motor's own joint alone."""
        others = [*self.form.q, *(x for row in (self.form.v, self.form.a) for j, x in enumerate(row) if j != k)]
        slopes = (directional([torque], [x], [1.0])[0] for x in others)
        return k not in self.joined and all(agree(self.form, 0.0, slope) for slope in slopes)

    def _is_complete(self, k: int) -> bool:
        """Whether the answer's torque of a joint is that of the equations of motion."""
        right = self.form.torque[k].node()
        return any(agree(self.form, right, y) for x in self.own[k] for y in (x.node, *x.also))

    def _load(self, k: int, rest: Any) -> None:
        other = "that of the rotor" if rest is self._rotor(k) else "the other torques on the motor"
        if k not in self.loads:
            self.notes.append(f"tau_{k + 1} is read as the torque of the gear on the link, without {other}")
        self.loads[k] = rest

    @staticmethod
    def _contains(node: Any, symbol: Node) -> bool:
        return any(x is symbol for x in topological([node]))

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

    def _with_load(self, x: Located, k: int) -> Located:
        if k not in self.loads:
            return x
        return replace(x, node=x.node + self.loads[k], also=tuple(y + self.loads[k] for y in x.also))

    def _without_relations(self, left: Any, x: Located) -> Located | None:
        """A formula in terms of the joints' torques, without the values that relate them to a motor's; None without others."""
        values = []
        for y in (x.node, *x.also):
            found = self._solved(left - y)
            if found is not None and self._contains(found[1], self.form.tau[found[0]]):
                self._relate(_names(self.form, found[0])[-1], found[0], x, found[1])
                continue
            values.append(factored.replaced(y, self.in_joints))
            if found is not None:
                self._compare(*found)
        self.read += [] if values else [x]
        if len(values) > len(x.also):
            return replace(x, node=values[0], also=tuple(values[1:]))
        return replace(x, node=values[0], also=tuple(values[1:]), texts=()) if values else None

    def _solved(self, equation: Any) -> tuple[int, Any] | None:
        """The joint of a motor whose torque an equation has, and this torque from it."""
        for k in self.ratios:
            motor = _motor(k)
            if not self._contains(equation, motor):
                continue
            (slope,) = directional([equation], [motor], [1.0])
            if self._contains(slope, motor) or agree(self.form, 0.0, slope):
                continue
            rest = factored.replaced(equation, {id(motor): 0.0})
            return k, factored.replaced(-rest / slope, self.in_joints)
        return None
