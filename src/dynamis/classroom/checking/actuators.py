r"""Equations of elastic joints and motors in an answer to the equations of motion.

An actuator has its own variables: the rotor's angle θ_m, its current i, its command u. Its equations are linear in the torque
τ, in θ_m or i, and in u, so that an equation of a text follows from them if it vanishes when these are eliminated. One with
accelerations of the joints, such as M q̈ + g + K (q − θ) = 0, is brought to the form … = τ; if it is wrong, it is compared as
written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.answers.vocabulary import key_of
from dynamis.classroom.checking.limits import refuse_high_degrees
from dynamis.classroom.checking.motion_equations import torque_names
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.verdict import Verdict
from dynamis.model.actuators import Elastic
from dynamis.scalar import Node, topological
from dynamis.symbolic import factored
from dynamis.symbolic.cleaning import difference
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.notation import Notation
from dynamis.symbolic.ring import Ring
from dynamis.symbolic.roles import motor_variable

Index = tuple[int, ...]
_JOINT_VARIABLE = re.compile(r"(?<![A-Za-z])d{0,2}q(?![A-Za-z])|(?<![A-Za-z])q(?:d|dd|dot|ddot)(?![A-Za-z])")


class MotorNames(NamedTuple):
    """The names of motor variables: those with rates (θ_m, i) with their symbols by order, and those of commands."""

    variables: dict[str, tuple[Any, ...]]
    commands: dict[str, Any]


ENERGIES = ("kinetic-energy", "potential-energy")
NO_MOTORS = MotorNames({}, {})


def motor_names(form: ClosedForm, notation: Notation, text: str) -> MotorNames:
    r"""The names of a robot's motor variables in a text; \theta_1 is a rotor's angle where the joint's is called q."""
    found = MotorNames({}, {})
    letters = form.algebra.letters.with_notation(notation)
    for x in form.actuator_equations:
        k = x.number
        indices = (f"_{k}", "") if form.n == 1 else (f"_{k}",)
        for letter in ("theta", "i"):
            rates = tuple(motor_variable(letter, k, dots) for dots in range(3 if letter == "theta" else 2))
            if not any(id(n) in form.algebra.letters.roles for n in rates):
                continue
            found.variables[letters.symbol(rates[0])] = rates
            if letter == "theta":
                found.variables.update({f"theta_m{index.lstrip('_')}": rates for index in indices})
                found.variables.update({f"theta{index}": rates for index in indices if _JOINT_VARIABLE.search(text)})
            else:
                found.variables.update({f"i{index}": rates for index in indices})
        command = motor_variable("u", k)
        found.commands[letters.symbol(command)] = command
        found.commands.update({f"u{index}": command for index in indices})
        found.commands.update({f"tau_m{index.lstrip('_')}": command for index in indices})
    return found


def elastic_motor_names(form: ClosedForm, notation: Notation, text: str) -> MotorNames:
    """The names of the rotors' angles of elastic joints, which the energies of a robot have."""
    rotors = {id(motor_variable("theta", x.number)) for x in form.actuator_equations if isinstance(x.actuator, Elastic)}
    named = motor_names(form, notation, text).variables if rotors else {}
    return MotorNames({name: rates for name, rates in named.items() if id(rates[0]) in rotors}, {})


def with_motor_energies(form: ClosedForm, asked: Quantity, nodes: Sequence[Any]) -> tuple[Quantity, list[str]]:
    """The energy of an answer with motor variables: that of rotors and springs is added to the links'; and a note on it."""
    elastic = [(x.number, x.actuator) for x in form.actuator_equations if isinstance(x.actuator, Elastic)]
    own = [motor_variable("theta", k, dots) for k, _ in elastic for dots in range(3)]
    if asked.name not in ENERGIES or () not in asked.entries or not {id(x) for x in own} & {id(n) for n in topological(nodes)}:
        return asked, []
    energy: Any = asked.entries[()].node()
    for k, x in elastic:
        theta, rate = motor_variable("theta", k), motor_variable("theta", k, 1)
        energy += 0.5 * (x.inertia * rate**2 if asked.name == "kinetic-energy" else x.stiffness * (theta - form.q[k - 1]) ** 2)
    ring = Ring.of([energy], form.algebra.ring.angles, [*form.q, *form.v, *form.a, *form.tau, *form.w, *own])
    part = "rotors" if asked.name == "kinetic-energy" else "springs"
    note = f"compared with the energy of the links and of the {part} of elastic joints, as the answer has motor variables"
    return replace(asked, entries={(): Algebra(ring, form.algebra.letters).of_node(energy)}), [note]


@dataclass
class Part:
    """Equations of one kind: what they determine, and the ones of the text by joint."""

    letter: str
    right: dict[Index, Expression] = field(default_factory=dict)
    given: dict[Index, Located] = field(default_factory=dict)


class _Given(NamedTuple):
    """A formula that may be an equation: the name and the symbol that it defines, or "" and 0."""

    name: str
    symbol: Any
    located: Located

    @property
    def nodes(self) -> tuple[Any, ...]:
        return (self.located.node, *self.located.also)

    @property
    def residuals(self) -> list[Any]:
        """Expressions equal to zero."""
        return [self.symbol - x if self.name else x for x in self.nodes]


class ActuatorAnswer:
    """The equations of an answer that have motor variables; ``rest`` is the answer without them, as for a rigid robot.

    ``read`` are the formulas with motor variables.
    """

    def __init__(self, form: ClosedForm, asked: Quantity, answer: Answer, names: MotorNames) -> None:
        self.form, self.asked = form, asked
        self.commands = {key_of(name): x for name, x in names.commands.items()}
        self.torques = {key_of(name): x for name, x in torque_names(form).items()}
        self.drives = {x.number - 1: x for x in form.actuator_equations}
        self.read: list[Located] = []
        self.notes: list[str] = []
        self.motors, self.transmissions = Part("u"), Part("transmission: tau")
        self.written: dict[tuple[int, int], tuple[int, Expression]] = {}  # wrong equations of motion with motor variables
        self.rest = self._separated(answer) if self.drives else answer

    def merged(self, verdict: Verdict, compared: Callable[[Quantity, Mapping[Index, Located]], Verdict]) -> Verdict:
        """The verdict on the equations of motion with those on the equations of the actuators."""
        for k, drive in self.drives.items():
            if isinstance(drive.actuator, Elastic):
                self.motors.right.setdefault((k,), _solved(self._relations[k].motor, self._relations[k].command))
        for part in (self.motors, self.transmissions):
            if part.right:
                other = compared(Quantity("actuators", (part.letter,), part.right), part.given)
                verdict = replace(
                    verdict,
                    findings=(*verdict.findings, *other.findings),
                    absent=(*verdict.absent, *other.absent),
                    remark=verdict.remark or other.remark,
                    hint=verdict.hint or other.hint,
                )
        return verdict

    def _separated(self, answer: Answer) -> Answer:
        """The answer without the equations of actuators, which are read here."""
        named = [(name, self.commands.get(name, self.torques.get(name)), x) for name, x in answer.formulas()]
        given = [_Given(name, symbol, x) for name, symbol, x in named if symbol is not None]
        given += [_Given("", 0.0, x) for x in answer.equations]
        residuals = [y for x in given for y in x.residuals]
        refuse_high_degrees(residuals)
        self._prepare(residuals)
        motor_torques = {k for y in residuals for k in self._motor_torques(y)}
        for k in (k + 1 for k in sorted(motor_torques)):
            self.notes.append(f"τ_{k} is read as the torque u_{k} of motor {k}, in whose equation it is")
        commanded = {id(self.form.tau[k]): self._relations[k].command for k in motor_torques}
        kept: dict[str, Located | None] = {}
        equations = []
        for x in given:
            every = [factored.replaced(y, commanded) for y in x.residuals]
            own = [y for y in every if self._present(y) & self._own.keys()]
            rest = [y for y, z in zip(x.nodes, every, strict=True) if not self._present(z) & self._own.keys()]
            left = replace(x.located, node=rest[0], also=tuple(rest[1:]), texts=()) if rest else None
            left = left if own else x.located
            self.read += [x.located] if own else []
            if x.name:
                kept[x.name] = left
            elif left is not None:
                equations.append(left)
            for y in own:
                equations += self._assigned(replace(x.located, node=y, also=(), texts=()))
        entries: dict[str, dict[Index, Located]] = {letter: {} for letter in answer.entries}
        definitions = {name: y for name, x in answer.definitions.items() if (y := kept.get(name, x)) is not None}
        for letter, found in answer.entries.items():
            for index, entry in found.items():
                rest_of = kept.get(letter + ",".join(str(k + 1) for k in index), entry)
                entries[letter] |= {} if rest_of is None else {index: rest_of}
        entries = {letter: found for letter, found in entries.items() if found}
        return replace(answer, entries=entries, definitions=definitions, equations=tuple(equations))

    def _prepare(self, nodes: Sequence[Any]) -> None:
        """The relations of the actuators in one ring with the equations of the text."""
        form = self.form
        relations = {k: [(x.left - x.right).node() for x in drive.equations] for k, drive in self.drives.items()}
        every = [*nodes, *(x for row in relations.values() for x in row)]
        if form.expanded:
            every += [x.node() for x in self.asked.entries.values()]
        own = {id(n): n for n in topological(every) if n.op == "symbol" and id(n) in form.algebra.letters.roles}
        ring = Ring.of(every, form.algebra.ring.angles, [*form.q, *form.v, *form.a, *form.tau, *form.w, *own.values()])
        self.algebra = Algebra(ring, form.algebra.letters)
        self._relations = {k: Relations.of(self.algebra, form, k, row) for k, row in relations.items()}
        self._own = {id(n): k for k, x in self._relations.items() for n in x.symbols}  # joints by their motor variables

    def _present(self, node: Any) -> set[int]:
        """The ids of the symbols of an equation."""
        return {id(n) for n in topological([node])}

    def _motor_joints(self, present: set[int]) -> list[int]:
        """The joints whose motors an equation with these symbols is about: it has the command or the highest rate."""
        return [k for k, x in self._relations.items() if x.motor is not None and present & x.highest]

    def _motor_torques(self, node: Any) -> list[int]:
        """The joints whose letter tau in an equation is the torque of the motor: the equation does not hold for the joint's."""
        present = self._present(node)
        named = [k for k in self._motor_joints(present) if id(self.form.tau[k]) in present]
        return [
            k for k in named if id(self._relations[k].command) not in present and not self._holds(self.algebra.of_node(node))
        ]

    def _assigned(self, x: Located) -> list[Located]:
        """Record an equation of an actuator; one of motion is returned, in terms of the torques."""
        present, equation = self._present(x.node), self.algebra.of_node(x.node)
        motors = self._motor_joints(present)
        k = min(self._own[k] for k in present & self._own.keys())
        if motors:
            self._record(self.motors, motors[0], x, equation, self._relations[motors[0]].motor)
        elif id(self.form.tau[k]) in present and not any(id(a) in present for a in self.form.a):
            self._record(self.transmissions, k, x, equation, self._relations[k].transmission)
        else:
            if {self._own[i] for i in present & self._own.keys()} == {k} and not self._holds(equation):
                self.written[x.line, x.column] = k, equation
            return [replace(x, node=self._in_torques(equation).node())]
        return []

    def in_written_form(self, given: Mapping[Index, Located], asked: Quantity) -> tuple[dict[Index, Located], Quantity]:
        """The torques given by equations, and the correct ones; of wrong equations with motor variables, both as written.

        Such an equation, M q̈ + g + K (q − θ) = 0, is multiplied so that most of its terms are right.
        """
        found, correct = dict(given), dict(asked.entries)
        for index, x in given.items():
            k, equation = self.written.get((x.line, x.column), (-1, None))
            if equation is None or index != (k,) or x.also or not self.form.expanded:
                continue
            tau, transmission = self.form.tau[k], self._relations[k].transmission
            right = _eliminated(self.algebra.of_node(correct[index].node() - tau), tau, transmission)
            slopes = [(equation.diff(a), right.diff(a)) for a in self.form.a]
            multiples = [equation, -equation, *(equation * b / a for a, b in slopes if not a.is_zero and not b.is_zero)]
            sizes = [len(difference(right, multiple)) for multiple in multiples]
            node = multiples[sizes.index(min(sizes))].node()
            found[index], correct[index] = replace(x, node=node, texts=(), solved_for="0"), right
        return found, replace(asked, entries=correct)

    def _in_torques(self, equation: Expression) -> Expression:
        """An equation with the motor variables of transmissions eliminated."""
        for x in self._relations.values():
            equation = _eliminated(equation, x.pivot, x.transmission)
        return equation

    def _holds(self, equation: Expression) -> bool:
        """Whether an equation follows from those of the actuators and of motion."""
        for x in self._relations.values():
            equation = equation if x.motor is None else _eliminated(equation, x.command, x.motor)
        equation = self._in_torques(equation)
        if equation.is_zero or not self.form.expanded:
            return equation.is_zero
        for k, tau in enumerate(self.form.tau):
            equation = _eliminated(equation, tau, self.algebra.of_node(tau - self.asked.entries[k,].node()))
        return equation.is_zero

    def _record(self, part: Part, k: int, x: Located, equation: Expression, relation: Expression) -> None:
        relations = self._relations[k]
        subject = relations.command if part is self.motors else self.form.tau[k]
        right, given = _solved(relation, subject), _solved(equation, subject)
        if self._holds(equation):
            given = part.right.get((k,), right)
        elif given is None:  # the subject is missing
            symbol = next(s for s in relations.symbols if not equation.diff(s).is_zero)
            right, given = relation, equation * (relation.diff(symbol) / equation.diff(symbol))
            x = replace(x, solved_for="0")
        else:
            right = self._in_form(right, k, self._present(x.node))
        found = replace(x, node=given.node())
        before = part.given.get((k,))
        part.right[k,] = right if before is None else part.right[k,]
        part.given[k,] = found if before is None else replace(before, also=(*before.also, found.node))

    def _in_form(self, right: Expression, k: int, present: set[int]) -> Expression:
        """The correct value in the form of an answer: with the joint's torque or accelerations for the motor's variable."""
        relations, tau = self._relations[k], self.form.tau[k]
        given = id(tau) in present or any(id(a) in present for a in self.form.a)
        if id(relations.pivot) in present or relations.motor is None or not given:
            return right
        right = _eliminated(right, relations.pivot, relations.transmission)
        if id(tau) in present or not any(id(a) in present for a in self.form.a) or not self.form.expanded:
            return right
        return _eliminated(right, tau, self.algebra.of_node(tau - self.asked.entries[k,].node()))


class Relations(NamedTuple):
    """The relations of an actuator as expressions equal to zero: of the motor, where there are two, and of the joint's torque.

    ``pivot`` is the motor variable that the latter determines; ``highest`` are the ids of the command and of the highest rate.
    """

    motor: Any
    transmission: Expression
    command: Node
    pivot: Node
    highest: frozenset[int]
    symbols: tuple[Node, ...]

    @staticmethod
    def of(algebra: Algebra, form: ClosedForm, k: int, nodes: Sequence[Any]) -> Relations:
        command = motor_variable("u", k + 1)
        rates = [motor_variable(letter, k + 1, dots) for letter, count in (("theta", 3), ("i", 2)) for dots in range(count)]
        rates = [x for x in rates if id(x) in form.algebra.letters.roles]
        symbols = (command, *rates)
        with_torque = [any(n is form.tau[k] for n in topological([x])) for x in nodes]
        transmission = nodes[with_torque.index(True)]
        motor = nodes[with_torque.index(False)] if False in with_torque else None
        pivot = rates[0] if rates else command
        highest = frozenset({id(command), *([id(rates[-1])] if rates else [])})
        return Relations(
            None if motor is None else algebra.of_node(motor), algebra.of_node(transmission), command, pivot, highest, symbols
        )


def _eliminated(equation: Expression, symbol: Node, relation: Expression) -> Expression:
    """An equation without a variable that a relation determines."""
    slope = equation.diff(symbol)
    return equation if slope.is_zero else difference(equation, slope / relation.diff(symbol) * relation)


def _solved(equation: Expression, subject: Node) -> Any:
    """The value of a variable by an equation that is linear in it; None if it does not occur."""
    slope = equation.diff(subject)
    return None if slope.is_zero else -(equation - slope * subject) / slope
