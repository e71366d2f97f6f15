"""The Denavit–Hartenberg table of a robot whose description has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.errors import DynamisError
from dynamis.model.denavit_hartenberg import to_dh
from dynamis.model.description import Joint
from dynamis.scalar import Node, atan2
from dynamis.symbolic.derivation.joint_variables import joint_variables

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm


def dh_rows(form: ClosedForm) -> list[tuple[str, ...]]:
    """(link, a, α, d, ϑ) in LaTeX, the joint's variable in its column; nothing where there is no table."""
    if form.description is None:
        return []
    joints = [j for j in form.description.joints if j.type != "fixed"]
    rows = [_as_written(joint) for joint in joints]
    if not rows or any(row is None for row in rows):
        try:
            _, table = to_dh(form.description)
        except (DynamisError, TypeError, ValueError):
            return []
        rows = [(row.a, row.alpha, row.d, row.theta) for row in table]
    bodies = {body.name: body for _, body in form.model.moving if not body.is_rotor}
    lines: list[tuple[str, ...]] = []
    for k, (joint, row) in enumerate(zip(joints, rows, strict=True), 1):
        assert row is not None
        a, alpha, d, theta = (_latex(form, x) for x in row)
        (variable,) = joint_variables(form, bodies[joint.child])
        if joint.type == "prismatic":
            d = _sum(variable, d)
        else:
            theta = _sum(variable, theta)
        lines.append((str(k), f"${a}$", f"${alpha}$", f"${d}$", f"${theta}$"))
    return lines


def _sum(variable: str, constant: str) -> str:
    return variable if constant == "0" else f"{variable} - {constant[1:]}" if constant[0] == "-" else f"{variable} + {constant}"


def _as_written(joint: Joint) -> tuple[Any, Any, Any, Any] | None:
    """(a, α, d, ϑ offset) of a joint placed by a standard row: Rz(ϑ) Tz(d) Tx(a) Rx(α) about z."""
    R, p = joint.tail
    placed = joint.origin
    axis_is_z = _all_zero([joint.axis[0], joint.axis[1], joint.axis[2] - 1.0])
    plain = _all_zero([*(placed.R - np.eye(3)).flat, *placed.p])
    about_x = _all_zero([R[0, 0] - 1.0, R[0, 1], R[0, 2], R[1, 0], R[2, 0], p[1]])
    if not (axis_is_z and plain and about_x and joint.type in ("revolute", "continuous", "prismatic")):
        return None
    return p[0], atan2(R[2, 1], R[2, 2]), p[2], 0.0


def _all_zero(values: Any) -> bool:
    return all(not isinstance(x, Node) and abs(float(x)) < 1e-12 for x in values)


def _latex(form: ClosedForm, x: Any) -> str:
    if isinstance(x, Node) and x.op == "atan2":
        # the angle whose sine and cosine these are
        x = x.args[0].args[0] if isinstance(x.args[0], Node) and x.args[0].op == "sin" else x
    if not isinstance(x, Node):
        turns = float(x) / np.pi
        for denominator in (1, 2, 3, 4, 6):
            whole = turns * denominator
            if abs(whole) > 1e-9 and abs(whole - round(whole)) < 1e-9:
                return _fraction_of_pi(round(whole), denominator)
        return form.expression(float(x)).latex()
    return form.algebra.letters.symbol(x) if x.op == "symbol" else form.expression(x).latex()


def _fraction_of_pi(whole: int, denominator: int) -> str:
    sign, size = ("-", -whole) if whole < 0 else ("", whole)
    top = r"\pi" if size == 1 else rf"{size}\pi"
    return sign + (top if denominator == 1 else rf"{top}/{denominator}")
