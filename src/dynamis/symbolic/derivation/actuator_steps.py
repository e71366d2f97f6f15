"""The actuator equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamis.display import counted
from dynamis.documents.document import Document
from dynamis.model.actuators import DCMotor, Elastic, Saturated

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm

_KINDS = {Saturated: "a torque source with limits", DCMotor: "a DC motor", Elastic: "an elastic transmission"}
_MODELS = {
    DCMotor: (
        "The armature of a DC motor is a circuit of resistance $R$ and inductance $L$ with the back-EMF $k\\, r\\, \\dot q$ "
        "and a gear of ratio $r$ and efficiency $\\eta$; $u$ is the voltage:",
        r"L\, \dot\imath = u - R\, i - k\, r\, \dot q, \qquad \tau = \eta\, r\, k\, i",
    ),
    Elastic: (
        "An elastic joint has a spring between motor and link: the rotor has its own angle $\\theta$, here referred to the "
        "joint side of the gear, and its inertia $I$ is not part of the link; $u$ is the motor torque:",
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
    section.say("The actuator of a joint converts a command $u$ to the joint torque.")
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
        section.say(f"With the equations of motion these are {counted(form.n + elastic, 'equation')} of second order.")
