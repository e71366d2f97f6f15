"""The model linear in its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamis.display import counted
from dynamis.documents.document import Document
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.derivation.readable import MAX_FORMULA_CHARACTERS
from dynamis.symbolic.parameters import letter

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm


def write(document: Document, form: ClosedForm) -> None:
    """By inspection, and with the fewest parameters."""
    section = document.section("Linear in the parameters")
    p = form.notation.parameters
    if not form.expanded:
        section.say("The regressor is not printed for a model of this size; robot.regressor computes it.")
        return
    section.say(
        f"Masses, first moments and moments of inertia enter linearly, so that $\\tau = Y(q, \\dot q, \\ddot q)\\, {p}$. By "
        "inspection of the equations, with the moments of each body about its joint:"
    )
    if len(form.parameters) > 12:
        section.say(f"This gives {counted(len(form.parameters), 'parameter')}; the minimal set below has fewer.")
    else:
        for k, value in enumerate(form.parameters, 1):
            section.show(f"{p}_{{{k}}}", value.latex())
        entries = [(i, k, form.regressor[i, k]) for i in range(form.n) for k in range(len(form.parameters))]
        for i, k, value in entries:
            text = value.latex()
            if not value.is_zero and len(text) < MAX_FORMULA_CHARACTERS:
                section.show(f"y_{{{i + 1}{k + 1}}}" if k < 9 else f"y_{{{i + 1},{k + 1}}}", text)
        if any(value.is_zero for _, _, value in entries):
            section.say("Entries that are not listed are zero.")
    try:
        base = form.base
    except BudgetSpent as spent:
        section.say(f"The minimal set is not given: {spent}.")
        return
    section.say(
        f"Not all of these are identifiable from the motion. With known geometry and gravity, {base.dimension} inertial "
        f"parameters are independent."
    )
    moved = [rule for rule in base.rules if rule.into]
    if moved and base.reflected:
        section.say("With the inertias of the motors that are seen through their gears at the joints,")
        for name, value in base.reflected:
            section.show(letter(name), value.latex())
    if moved:
        section.say("Each of the others that affects the motion is regrouped into those of the parent body, by these rules:")
    for rule in moved[:60]:
        section.show(rule.latex())
    if len(moved) > 60:
        section.say(f"… and {len(moved) - 60} more.")
    silent = [rule for rule in base.rules if not rule.into]
    if silent:
        names = ", ".join(f"${rule.name}$" for rule in silent)
        section.say(f"These do not affect the motion: {names}.")
    section.say(f"The base parameters of this robot ({len(base.parameters)} nonzero):")
    for k, value in enumerate(base.parameters, 1):
        section.show(rf"{p}^*_{{{k}}}", value.latex())
