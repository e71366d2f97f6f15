"""The derivation of the equations of motion, step by step, as a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dynamis.display import counted
from dynamis.documents.blocks import literal
from dynamis.documents.document import Document
from dynamis.symbolic.derivation import actuator_steps, kinematics_steps, lagrange_steps, parameter_steps, recursion_steps

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm

__all__ = ["Document", "derive"]


def derive(form: ClosedForm, *, recursions: bool = True, progress: Callable[[str], None] | None = None) -> Document:
    """The derivation of a closed form: frames, energies, Lagrange's equations, actuators, parameters, and the recursions.

    ``progress`` is called with the title of each section at its start.
    """
    document = Document(
        f"The dynamic model of the robot '{literal(form.model.name)}'",
        f"{counted(form.n, 'degree of freedom', 'degrees of freedom')}, {len(form.model.links)} moving "
        f"bod{'ies' if len(form.model.links) != 1 else 'y'}. The equations of motion by Lagrange's method, step by step; "
        f"then the same torques by recursion. Every formula below was computed exactly from the robot's description."
        f"{_loops(form)}",
        numbered=True,
        progress=progress,
    )
    kinematics_steps.write(document, form)
    lagrange_steps.write(document, form)
    actuator_steps.write(document, form)
    parameter_steps.write(document, form)
    if recursions:
        recursion_steps.write(document, form)
    return document


def _loops(form: ClosedForm) -> str:
    """What the equations leave out of a robot whose file closes loops; empty without loops."""
    closures = form.description.closures if form.description is not None else []
    if not closures:
        return ""
    names = [" and ".join(f"'{literal(x)}'" for x in (each.first, each.second) if x) for each in closures]
    listed = "; ".join(f"{each.kind} of {ends}" for each, ends in zip(closures, names, strict=True))
    return (
        f" The file of this robot closes loops ({listed}), which are open here: the equations are those of the tree. In the "
        "mechanism, the forces of the closures, $J^T \\lambda$, are added to the torques, under the conditions $J \\dot q = 0$."
    )
