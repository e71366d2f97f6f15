"""Frames, parameters, positions and Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.documents.blocks import Section
from dynamis.documents.document import Document
from dynamis.model.joints import Helical, Prismatic, Revolute, Spin
from dynamis.scalar import Node
from dynamis.spatial.inertia import steiner
from dynamis.symbolic.cleaning import difference
from dynamis.symbolic.derivation.dh_table import dh_rows
from dynamis.symbolic.derivation.joint_variables import joint_variables
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.formulas import Formulas

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm

KINDS = {Revolute: "revolute", Prismatic: "prismatic", Helical: "helical", Spin: "rotor"}
_ENTRIES = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
MAX_JACOBIAN_CHARACTERS = 900  # a wider Jacobian fills a page


def write(document: Document, form: ClosedForm) -> None:
    """The first three steps."""
    _frames(document.section("Frames and joint variables"), form)
    _bodies(document.section("Masses, centres of mass, inertia tensors"), form)
    _positions(document.section("Positions and Jacobians of the centres of mass"), form)


def _value(form: ClosedForm, x: Any) -> str:
    return form.expression(x).latex() if form.expanded or not isinstance(x, Node) else str(x)


def _vector(form: ClosedForm, values: Any) -> str:
    return "$(" + r",\; ".join(_value(form, x) for x in values) + ")$"


def _frames(section: Section, form: ClosedForm) -> None:
    section.say(
        "Each joint variable moves one body relative to its parent. The frame of body $i$ is on the axis of its joint; "
        "below, the axis is given in the joint frame, which has the stated position and rotation in the frame of the parent "
        "for zero joint variables."
    )
    if form.model.coupled:
        section.say("A body that moves with the joint of another one has that joint's variable, times a ratio, plus an offset.")
    if len(form.model.moving) > len(form.model.links) + sum(body.is_rotor for _, body in form.model.moving):
        section.say("A joint with several axes is written as several joints, with bodies without mass between them.")
    rows = []
    numbers = {i: number for number, (i, _) in enumerate(form.model.moving, 1)}
    for i, body in form.model.moving:
        variables = ", ".join(f"${x}$" for x in joint_variables(form, body))
        kind = KINDS.get(type(body.motion), "joint")
        axis = getattr(body.motion, "axis", np.zeros(3))
        rows.append(
            (
                str(numbers[i]), str(numbers.get(body.parent, 0)), kind, variables,
                _vector(form, axis), _vector(form, body.placement.p), _turn(form, body.placement.R),
            )
        )  # fmt: skip
    section.table(("body", "on", "joint", "variable", "axis", "position on the parent", "rotation"), rows)
    table = dh_rows(form)
    if table:
        section.say("As a Denavit–Hartenberg table (standard convention; angles in radians):")
        section.table(("link", "$a_i$", r"$\alpha_i$", "$d_i$", r"$\vartheta_i$"), table)


def _turn(form: ClosedForm, R: Any) -> str:
    if R.dtype != object and np.array_equal(R, np.eye(3)):
        return "–"
    return f"${form.formulas(R).latex()}$"


def _bodies(section: Section, form: ClosedForm) -> None:
    section.say(
        "The motion depends on ten parameters of each body: mass $m$, centre of mass $p_C$ and inertia tensor $I$ about "
        "it, both in the body's frame."
    )
    rows = []
    for number, (_, body) in enumerate(form.model.moving, 1):
        inertia = body.inertia
        about_joint, moved, tensor = inertia.tensor, steiner(inertia.mass, inertia.com), inertia.tensor_about_com
        # what Steiner's theorem leaves of a product of inertia that was zero is rounding
        largest = max((abs(x) for x in tensor.flat if not isinstance(x, Node)), default=0.0)
        written = []
        for label, (i, j) in _ENTRIES.items():
            if isinstance(tensor[i, j], Node):
                x = difference(form.expression(about_joint[i, j]), form.expression(moved[i, j]))
            else:
                x = form.expression(0.0 if abs(tensor[i, j]) < 1e-13 * largest else tensor[i, j])
            written.append((label, x))
        shown = ", ".join(f"$I_{{{label}}} = {x.latex()}$" for label, x in written if not x.is_zero)
        rows.append((str(number), f"${_value(form, inertia.mass)}$", _vector(form, inertia.com), shown or "–"))
    section.table(("body", "mass", "centre of mass", "inertia about it"), rows)
    if any(body.is_rotor for _, body in form.model.moving):
        section.say(
            "Bodies whose joint is a rotor are motor rotors mounted on links: they rotate with the driven joint, times the "
            "gear ratio. Their mass and position belong to the link; its inertia is listed without that of the rotor."
        )
    section.say(f"Gravity is $g_0 = {form.formulas(form.model.gravity).latex()}$.")


def _positions(section: Section, form: ClosedForm) -> None:
    n = form.notation
    section.say(
        "A revolute joint $j$ with axis $z_j$ through the point $p_j$ gives the centre of mass the velocity "
        r"$z_j \times (p_{C_i} - p_j)$ and the body the angular velocity $z_j$; a prismatic one gives $z_j$ and zero. These "
        r"are the columns of the Jacobians, zero for joints that do not move body $i$."
    )
    for k in range(len(form.model.moving)):
        if form.positions.shape[0] > k:
            _sized(section, f"p_{{C_{k + 1}}}", form.positions[k])
        _sized(section, n.linear_jacobian.format(k + 1), form.linear_jacobians[k])
        _sized(section, n.angular_jacobian.format(k + 1), form.angular_jacobians[k])


def _sized(section: Section, left: str, values: Formulas) -> None:
    if not all(x.expanded for x in values.flat) or sum(_terms(x) for x in values.flat) > MAX_JACOBIAN_CHARACTERS // 12:
        section.say(f"${left}$ is too wide to print here.")
        return
    section.show(f"{left} = {values.latex()}")


def _terms(x: Expression) -> int:
    return len(x) if x.expanded else 10**9
