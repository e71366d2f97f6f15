"""The equations of a robot's actuators.

A motor has its own variables, numbered like its joint: the angle θ of the rotor of an elastic joint, referred to the joint side
of the gear, the armature current i; u is the command. Linear terms are given as equations; limits, dead zones and backlash as
sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynamis.model.actuators import Actuator, DCMotor, Elastic, Saturated, is_there
from dynamis.scalar import Node
from dynamis.symbolic.equations import LATEX, TEXT, Way, joined, times
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.notation import Notation
from dynamis.symbolic.roles import motor_variable
from dynamis.symbolic.terms import Terms


@dataclass(frozen=True, eq=False)
class Term:
    """± coefficient · variable, or coefficient · (variable − other)."""

    coefficient: Expression
    variable: Node
    other: Node | None = None
    sign: int = 1

    @property
    def value(self) -> Expression:
        difference: Any = self.variable if self.other is None else self.variable - self.other
        return self.coefficient * difference * self.sign

    def written(self, notation: str | Notation | None, way: Way) -> str:
        symbol = self.coefficient.algebra.letters.with_notation(notation).symbol
        names = [way.plain(symbol(x)) for x in (self.variable, self.other) if x is not None]
        factor = names[0] if self.other is None else f"({names[0]} - {names[1]})"
        product = times(self.coefficient, factor, notation, way)
        return product if self.sign > 0 else product.removeprefix("-") if product.startswith("-") else f"-{product}"


@dataclass(frozen=True, eq=False)
class Relation:
    """An equation between two sums, term by term."""

    left_terms: tuple[Term, ...]
    right_terms: tuple[Term, ...]

    @property
    def left(self) -> Expression:
        return _sum(self.left_terms)

    @property
    def right(self) -> Expression:
        return _sum(self.right_terms)

    def latex(self, notation: str | Notation | None = None) -> str:
        """left = right in LaTeX."""
        return self._written(notation, LATEX)

    def __str__(self) -> str:
        return self._written(None, TEXT)

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def _written(self, notation: str | Notation | None, way: Way) -> str:
        return " = ".join(joined([x.written(notation, way) for x in side]) for side in (self.left_terms, self.right_terms))


def _sum(terms: Sequence[Term]) -> Expression:
    total = terms[0].value
    for term in terms[1:]:
        total = total + term.value
    return total


@dataclass(frozen=True, eq=False)
class Remark:
    """A sentence with values."""

    sentence: str
    values: Mapping[str, Expression]

    def markup(self) -> str:
        """The sentence with its values in $…$."""
        return self.sentence.format(**{name: f"${x.latex()}$" for name, x in self.values.items()})

    def __str__(self) -> str:
        return self.sentence.format(**{name: x.text() for name, x in self.values.items()})

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class ActuatorEquations:
    """The actuator of one joint: ``equations``, and ``remarks`` on nonlinearities."""

    coordinate: str
    number: int
    actuator: Actuator
    equations: tuple[Relation, ...]
    remarks: tuple[Remark, ...]

    def latex(self, notation: str | Notation | None = None) -> str:
        """The equations in LaTeX, one per line."""
        return "\\begin{aligned}\n" + " \\\\\n".join(x.latex(notation) for x in self.equations) + "\n\\end{aligned}"

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.equations, *self.remarks)))

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


def actuator_equations(form: Terms) -> list[ActuatorEquations]:
    """The equations of every actuator of the robot, in the order of its coordinates."""
    return [_Writer(form, k).equations(actuator) for k, actuator in enumerate(form.model.actuators) if actuator is not None]


class _Writer:
    """Writes the equations of one joint's actuator."""

    def __init__(self, form: Terms, k: int) -> None:
        self.form, self.number = form, k + 1
        self.coordinate = form.model.coordinates[k]
        self.q, self.v, self.tau = form.q[k], form.v[k], form.tau[k]
        self.u = motor_variable("u", self.number)
        self.torque, self.speed = ("N m", "rad/s") if self.coordinate.revolute else ("N", "m/s")
        self.relations: list[Relation] = []
        self.remarks: list[Remark] = []

    def equations(self, actuator: Actuator) -> ActuatorEquations:
        match actuator:
            case Saturated():
                self._saturated(actuator)
            case DCMotor():
                self._motor(actuator)
            case Elastic():
                self._elastic(actuator)
        return ActuatorEquations(self.coordinate.name, self.number, actuator, tuple(self.relations), tuple(self.remarks))

    def _term(self, coefficient: Any, variable: Node, other: Node | None = None, sign: int = 1) -> Term:
        return Term(self.form.expression(coefficient), variable, other, sign)

    def _relate(self, left: Sequence[Term], right: Sequence[Term]) -> None:
        sides = (tuple(x for x in side if not x.coefficient.is_zero) for side in (left, right))
        self.relations.append(Relation(*sides))

    def _torque(self, *terms: Term) -> None:
        self._relate([self._term(1.0, self.tau)], terms)

    def _remark(self, sentence: str, **values: Any) -> None:
        self.remarks.append(Remark(sentence, {name: self.form.expression(x) for name, x in values.items()}))

    def _gear(self, efficiency: Any) -> None:
        if is_there(efficiency, 1.0):
            sentence = "This holds while the motor drives the joint; while it is back-driven, {eta} is replaced by 1 / {eta}."
            self._remark(sentence, eta=efficiency)

    def _saturated(self, x: Saturated) -> None:
        self._torque(self._term(x.efficiency, self.u))
        if is_there(x.dead_zone, 0.0):
            sentence = f"Within ± {{zone}} {self.torque} the command has no effect (dead zone); beyond, the excess acts."
            self._remark(sentence, zone=x.dead_zone)
        if is_there(x.effort, np.inf):
            self._remark(f"The command saturates at ± {{effort}} {self.torque}.", effort=x.effort)
        if is_there(x.speed, np.inf):
            way = f"In the direction of motion there is no torque above {{speed}} {self.speed}"
            if is_there(x.effort, np.inf):
                self._remark(f"{way}; the limit decreases to zero from {{knee}} of that speed.", speed=x.speed, knee=x.knee)
            else:
                self._remark(f"{way}.", speed=x.speed)
        self._gear(x.efficiency)

    def _motor(self, x: DCMotor) -> None:
        k_r = x.constant * x.ratio
        if x.size:
            i, i_dot = (motor_variable("i", self.number, dots) for dots in (0, 1))
            losses = self._term(x.resistance, i, sign=-1), self._term(k_r, self.v, sign=-1)
            self._relate([self._term(x.inductance, i_dot)], [self._term(1.0, self.u), *losses])
            self._torque(self._term(x.efficiency * k_r, i))
        else:
            self._torque(self._term(x.gain, self.u), self._term(x.back_emf_friction, self.v, sign=-1))
            sentence = f"The back-EMF of the motor acts as viscous friction, {{friction}} {self._friction_unit()}."
            self._remark(sentence, friction=x.back_emf_friction)
        if is_there(x.supply, np.inf):
            self._remark("The voltage saturates at ± {supply} V.", supply=x.supply)
        self._gear(x.efficiency)

    def _friction_unit(self) -> str:
        return "N m s/rad" if self.coordinate.revolute else "N s/m"

    def _elastic(self, x: Elastic) -> None:
        theta, theta_dot, theta_ddot = (motor_variable("theta", self.number, dots) for dots in range(3))
        damped, stretched = self._term(x.damping, theta_dot, self.v), self._term(x.stiffness, theta, self.q)
        own = self._term(x.inertia, theta_ddot), self._term(x.viscous, theta_dot)
        self._relate([*own, damped, stretched], [self._term(1.0, self.u)])
        self._torque(stretched, damped)
        if is_there(x.backlash, 0.0):
            unit = "rad" if self.coordinate.revolute else "m"
            sentence = f"Backlash {{play}} {unit}: within it no torque is transmitted; beyond, the excess deflection acts."
            self._remark(sentence, play=x.backlash)
