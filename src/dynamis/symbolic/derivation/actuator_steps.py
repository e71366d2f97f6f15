"""The actuators: what the torques of the equations of motion are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamis.model.actuators import DCMotor, Elastic, Saturated
from dynamis.symbolic.derivation.document import Document

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm

_KINDS = {Saturated: "a torque source with limits", DCMotor: "a DC motor", Elastic: "an elastic transmission"}
_MODELS = {
    DCMotor: (
        "The armature of a DC motor is a circuit of resistance $R$ and inductance $L$ against the voltage $k\\, r\\, \\dot q$ "
        "that its turning induces, behind a gear of ratio $r$ and efficiency $\\eta$; $u$ is the voltage:",
        r"L\, \dot\imath = u - R\, i - k\, r\, \dot q, \qquad \tau = \eta\, r\, k\, i",
    ),
    Elastic: (
        "Between a motor and an elastic joint there is a spring: the rotor has an angle $\\theta$ of its own, here as it is "
        "seen on the joint's side of the gear, and its inertia $I$ is no longer part of the link; $u$ is the motor's torque:",
        r"I\, \ddot\theta + F\, \dot\theta + D (\dot\theta - \dot q) + K (\theta - q) = u, \qquad "
        r"\tau = K (\theta - q) + D (\dot\theta - \dot q)",
    ),
}


def write(document: Document, form: ClosedForm) -> None:
    """Each actuator's equations, where the robot has some."""
    found = form.actuator_equations
    if not found:
        return
    section = document.section("Actuators")
    section.say("Between a command $u$ and the torque that reaches a joint stands the joint's actuator.")
    for kind, (words, formula) in _MODELS.items():
        if any(isinstance(x.actuator, kind) for x in found):
            section.say(words)
            section.show(formula)
    for x in found:
        section.say(f"Joint variable {x.number} is driven by {_KINDS[type(x.actuator)]}:")
        for relation in x.equations:
            section.show(relation.latex())
        for remark in x.remarks:
            section.say(remark.markup())
    elastic = sum(isinstance(x.actuator, Elastic) for x in found)
    if elastic:
        section.say(f"With the equations of motion these are {form.n + elastic} equations of second order.")
