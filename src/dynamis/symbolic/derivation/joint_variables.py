"""The variables of the joint that moves a body, those of a joint that follows another one by the variables of that one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamis.model.joints import Spin

if TYPE_CHECKING:
    from dynamis.model.model import Body
    from dynamis.symbolic.closed_form import ClosedForm


def joint_variables(form: ClosedForm, body: Body) -> list[str]:
    """In LaTeX: q_2, -q_1 or 0.5 q_1 + 0.1; that of a rotor times the gear ratio, r q_2."""
    if body.is_rotor or body.ratio != 1.0 or body.offset != 0.0:
        gear = body.motion.ratio if isinstance(body.motion, Spin) else 1.0
        return [form.expression(gear * (body.ratio * form.q[k] + body.offset)).latex() for k in body.dof]
    return [form.algebra.letters.variable("position", k + 1) for k in body.dof]
