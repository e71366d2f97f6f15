"""Whether a description is one tree of known joints with usable numbers: what must hold before a model is built."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from dynamis.errors import DynamisError, printable
from dynamis.model.description import Description, Joint
from dynamis.model.diagnostics import Report
from dynamis.model.joints import DEGREES_OF_FREEDOM, JOINT_TYPES, USES_AXIS
from dynamis.scalar import Node


def check_structure(description: Description, report: Report) -> None:
    """Add an error for everything that keeps the description from being one tree of rigid bodies."""
    if not description.links:
        report.error("no-links", "robot", "there are no links", "at least one link", "add a <link>")
        return
    _check_names(description, report)
    _check_joints(description, report)
    if report.ok:
        _check_tree(description, report)
    if report.ok:
        _check_mimics(description, report)
    if not _all_plain(description):
        _check_numbers(description, report)


def _all_plain(description: Description) -> bool:
    """Whether every number is finite and in its usual place: one quick look that spares most robots the long one."""
    values: list[Any] = list(np.ravel(description.gravity))
    arrays: list[Any] = []
    if len(values) != 3:
        return False
    for link in description.links:
        mass = link.mass_properties
        if mass is not None:
            if isinstance(mass.mass, Node) or mass.mass < 0.0:
                return False
            values.append(mass.mass)
            arrays += [mass.com, mass.tensor.ravel()]
    for joint in description.joints:
        if joint.type == "universal" or len(joint.axis) != 3:
            return False
        values += vars(joint.drive).values()
        arrays += [joint.origin.p, joint.origin.R.ravel(), joint.tail.p]
        if joint.type in USES_AXIS:
            arrays.append(joint.axis)
            if joint.axis.dtype == object or not joint.axis.any():
                return False
        limits = joint.limits
        if math.isnan(limits.lower + limits.velocity) or math.isnan(limits.upper + limits.effort):
            return False
    try:
        together = np.concatenate([np.array(values, dtype=float), *arrays])
    except (TypeError, ValueError, DynamisError):
        return False
    return together.dtype != object and bool(np.isfinite(together).all())


def _check_names(description: Description, report: Report) -> None:
    for kind, items in (("link", description.links), ("joint", description.joints)):
        count = Counter(item.name for item in items)
        for item in items:
            if not item.name:
                report.error("empty-name", kind, "the name is empty", "a name", f"name the {kind}", item.line)
            elif count[item.name] > 1:
                lines = [str(other.line) for other in items if other.name == item.name and other.line]
                also = f" (lines {', '.join(lines)})" if lines else ""
                what = f"the name stands {count[item.name]} times{also}"
                where = f"{kind} {printable(item.name)}"
                report.error("duplicate-name", where, what, "every name once", f"rename the other {kind}s", item.line)
                count[item.name] = 1  # once is enough


def _check_joints(description: Description, report: Report) -> None:
    links = {link.name for link in description.links}
    for joint in description.joints:
        where = f"joint {printable(joint.name)}"
        if joint.type not in JOINT_TYPES:
            allowed = ", ".join(JOINT_TYPES)
            report.error("joint-type", where, f"the type is {printable(joint.type)}", allowed, "correct the type", joint.line)
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                found = f"its {end} link {printable(name)} does not exist"
                report.error(
                    "missing-link", where, found, "a link of this file", "add the link or correct the name", joint.line
                )
        if joint.parent == joint.child:
            report.error("self-joint", where, "it joins a link to itself", "two links", "correct parent or child", joint.line)


def _check_tree(description: Description, report: Report) -> None:
    incoming: dict[str, Joint] = {}
    for joint in description.joints:
        if joint.child in incoming:
            first = incoming[joint.child]
            found = f"it is carried by joint {printable(first.name)} and by joint {printable(joint.name)}"
            repair = "remove one of the joints; a closed loop is declared as a constraint, not as a second parent"
            report.error("two-parents", f"link {printable(joint.child)}", found, "one parent", repair, joint.line)
        else:
            incoming[joint.child] = joint
    roots = [link for link in description.links if link.name not in incoming]
    if len(roots) > 1:
        names = ", ".join(printable(r.name) for r in roots[:6])
        found = f"{len(roots)} links have no parent: {names}"
        repair = "join the parts (a fixed joint will do), or keep one robot in a file"
        report.error("several-roots", "robot", found, "one root link", repair, roots[1].line)
        return
    children: dict[str, list[str]] = {}
    for joint in description.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    reached = set()
    stack = [r.name for r in roots]
    while stack:
        name = stack.pop()
        reached.add(name)
        stack.extend(children.get(name, ()))
    lost = [link for link in description.links if link.name not in reached]
    if lost:
        names = ", ".join(printable(x.name) for x in lost[:6])
        found = f"the links {names} carry each other in a circle" + ("" if roots else "; there is no root")
        report.error("cycle", "robot", found, "a tree", "turn one joint of the circle around or remove it", lost[0].line)


def _check_mimics(description: Description, report: Report) -> None:
    joints = {joint.name: joint for joint in description.joints}
    for joint in description.joints:
        if joint.mimic is not None and joint.type != "fixed":  # a fixed joint follows nobody, whatever it says
            _check_mimic(joint, joints, report)


def _check_mimic(joint: Joint, joints: dict[str, Joint], report: Report) -> None:
    where, line = f"joint {printable(joint.name)}", joint.line
    seen, leader = {joint.name}, joint
    while leader.mimic is not None:
        target = joints.get(leader.mimic.joint)
        if target is None:
            found = f"it follows joint {printable(leader.mimic.joint)}, which does not exist"
            report.error("mimic-target", where, found, "a joint of this file", "correct the name in <mimic>", line)
            return
        if target.name in seen:
            found = "the joints follow each other in a circle"
            report.error("mimic-circle", where, found, "one leading joint", "remove one <mimic>", line)
            return
        seen.add(target.name)
        leader = target
    for item in (joint, leader):
        if DEGREES_OF_FREEDOM[item.type] != 1:
            found = f"joint {printable(item.name)} is {item.type}"
            report.error("mimic-type", where, found, "joints with one degree of freedom", "remove <mimic>", line)
            return
    assert joint.mimic is not None
    if joint.mimic.ratio == 0.0:
        report.error("mimic-ratio", where, "the ratio is 0", "a number other than 0", "make the joint fixed", line)


def _check_numbers(description: Description, report: Report) -> None:
    def finite(value: Any, where: str, what: str, line: int | None) -> bool:
        array = np.asarray(value)
        numbers = array[()] if array.dtype != object else [x for x in array.flat if not isinstance(x, Node)]
        try:
            good = bool(np.isfinite(np.asarray(numbers, dtype=float)).all())
        except (TypeError, ValueError):
            good = False
        if not good:
            report.error("not-finite", where, f"{what} is {value!r}", "finite numbers", "correct the value", line)
        return good

    finite(description.gravity, "robot", "gravity", None)
    if np.shape(description.gravity) != (3,):
        report.error("gravity", "robot", f"gravity is {description.gravity!r}", "three numbers", "give x, y, z", None)
    for link in description.links:
        mass = link.mass_properties
        where = f"link {printable(link.name)}"
        if mass is None:
            continue
        line = mass.line or link.line
        numeric = all(
            finite(v, where, name, line)
            for name, v in (("mass", mass.mass), ("centre of mass", mass.com), ("inertia tensor", mass.tensor))
        )
        if numeric and not isinstance(mass.mass, Node) and mass.mass < 0.0:
            repair = "give the true mass, or 0 for a frame"
            report.error("negative-mass", where, f"the mass is {mass.mass:g} kg", "0 or more", repair, line)
    for joint in description.joints:
        where = f"joint {printable(joint.name)}"
        for name, value in (("origin", joint.origin.p), ("rotation", joint.origin.R), ("tail", joint.tail.p)):
            finite(value, where, name, joint.line)
        for name, value in vars(joint.drive).items():
            finite(value, where, name, joint.line)
        for name, value in vars(joint.limits).items():
            if not isinstance(value, Node) and math.isnan(value):
                report.error("not-finite", where, f"limit {name} is nan", "a number", "correct the value", joint.line)
        if joint.type in USES_AXIS:
            _check_axis(joint.axis, where, "axis", joint, report)
        if joint.type == "universal":
            if joint.axis2 is None:
                repair = "give axis2"
                report.error("missing-axis", where, "a universal joint needs a second axis", "two axes", repair, joint.line)
            elif _check_axis(joint.axis2, where, "second axis", joint, report) and joint.axis2.dtype != object:
                a, b = joint.axis, joint.axis2
                if np.linalg.norm(np.cross(a, b)) < 1e-6 * np.linalg.norm(a) * np.linalg.norm(b):
                    found, repair = "its two axes are parallel", "make them different directions"
                    report.error("parallel-axes", where, found, "two directions", repair, joint.line)


def _check_axis(axis: Any, where: str, what: str, joint: Joint, report: Report) -> bool:
    a = np.asarray(axis)
    if a.shape != (3,):
        report.error("axis-shape", where, f"the {what} is {axis!r}", "three numbers", "give x, y, z", joint.line)
        return False
    if a.dtype == object:
        return True
    if not np.isfinite(a).all() or np.linalg.norm(a) < 1e-12:
        found = f"the {what} is ({a[0]:g}, {a[1]:g}, {a[2]:g})"
        report.error("zero-axis", where, found, "a finite direction that is not zero", "give the joint's direction", joint.line)
        return False
    return True
