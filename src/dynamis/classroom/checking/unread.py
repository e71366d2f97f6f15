r"""Equations of motion in a text that were not compared, each with the reason."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from dynamis.classroom.answers import Answer, Located, Step
from dynamis.classroom.answers.names import address_of
from dynamis.classroom.answers.vocabulary import key_of
from dynamis.classroom.checking.motion_equations import LETTERS, torque_names
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.rates import is_motion
from dynamis.errors import printable
from dynamis.scalar import topological
from dynamis.symbolic.closed_form import ClosedForm

UNREADABLE = "whole vectors (variables without a joint's number) or matrices, derivatives or sums are not evaluated"
_ZERO = re.compile(r"(?:.*=\s*0|0\s*=.*)", re.DOTALL)
_VARIABLE = re.compile(r"(?:q|theta|d)([0-9]+)'*")


class Unchecked(NamedTuple):
    """Sentences on the formulas of a text that were not compared: on equations of motion, and on others."""

    equations: list[str]
    others: list[str]


def unchecked(form: ClosedForm, asked: Quantity, answer: Answer, read: Collection[Located], joints: set[int]) -> Unchecked:
    """The formulas that were neither ``read`` nor used; equations of motion, where these are asked, with the reason.

    A step of a derivation, such as Lagrange's equation, is no loss if the equations of its ``joints`` were compared.
    """
    places = {(x.line, x.column) for x in read}
    found = Unchecked([], [])
    for name, x in answer.formulas():
        if x.used or (x.line, x.column) in places:
            continue
        if asked.name == "equations" and (reason := _reason(form, name, x, joints)):
            found.equations.append(f"not read (line {x.line}): {x.text}: {reason}")
        else:
            found.others.append(f"not checked (line {x.line}): {x.text}")
    for step in answer.skipped if asked.name == "equations" else ():
        if not _stated(form, step) <= joints:
            found.equations.append(f"not read (line {step.line}): {step.text}: {UNREADABLE}: write the equation out")
    return found


def _reason(form: ClosedForm, name: str, x: Located, joints: set[int]) -> str:
    """Why a formula that is an equation of motion was not compared; empty for others, such as M_{22} = …"""
    torque = "\\tau" if name == "tau" else name if name.isalnum() else printable(name)
    if name in LETTERS:
        missing = [k for k in range(form.n) if k not in joints] or [0]
        first = next((k for k in missing if form.model.coordinates[k].revolute), missing[0])
        return f"{torque} has no joint's number, and there are {form.n} joints: write … = \\tau_{first + 1}"
    letter, index = address_of(name)
    if is_motion(form, x.node):  # \alpha = \ddot q_1
        return ""
    accelerations = {id(a) for a in form.a}
    moves = any(id(n) in accelerations for n in topological([x.node, *x.also]))
    if moves or (letter in LETTERS and index) or key_of(x.text.rpartition("=")[2].strip()) == name:
        return (
            f"{torque} is no torque of this robot: write … = \\tau_1, or \\tau with the joint's name as index; "
            "F_1 for the force of a prismatic joint"
        )
    return ""


def _stated(form: ClosedForm, step: Step) -> set[int]:
    """The joints whose equations of motion a step states: those of its torques, or of its variables if a side is zero."""
    joints = {id(tau): k for k, tau in enumerate(form.tau)}
    torques = {key_of(name): joints[id(tau)] for name, tau in torque_names(form).items()}
    found = {torques[name] for name in step.names if name in torques}
    if any(name in LETTERS and name not in torques for name in step.names):
        return set(range(form.n))
    if not found and _ZERO.fullmatch(step.text):
        found = {int(match[1]) - 1 for name in step.names if (match := _VARIABLE.fullmatch(name))} or set(range(form.n))
    return found
