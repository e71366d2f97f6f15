"""Whether a description is one tree of known joints: what must hold before a model is built."""

from __future__ import annotations

import numbers
from collections import Counter
from typing import Any

from dynamis.errors import near_names, printable, unknown_name
from dynamis.model.actuators import Actuator, Elastic, is_there
from dynamis.model.closures import check_closures
from dynamis.model.description import Description, Drive, Joint, Mimic
from dynamis.model.diagnostics import Report
from dynamis.model.joints import JOINT_TYPES
from dynamis.model.values import MAX_MAGNITUDE, check_values

NO_LINKS = "no-links"  # the code of its finding
MAX_NAMES = 6  # of joints in a message


def check_structure(description: Description, report: Report) -> None:
    """Add an error for everything that keeps the description from being one tree of rigid bodies.

    Each check covers what the errors found before it leave well defined; ``report.skipped`` names the others.
    """
    if not description.links:
        if not any(problem.code == NO_LINKS for problem in report.errors):
            report.error(NO_LINKS, "robot", "there are no links", "at least one link", "add a link", description.line)
        return
    before = len(report.errors)
    _check_names(description, report)
    _check_joints(description, report)
    complete = all(joint.parent != "" and joint.child != "" for joint in description.joints)
    _check_tree(description, report, sound=complete and len(report.errors) == before)
    typed = _with_known_type(description.joints, report)
    usable = [joint for joint in typed if all(isinstance(x, str) for x in (joint.name, joint.parent, joint.child))]
    _check_mimics(usable, {joint.name for joint in description.joints if isinstance(joint.name, str)}, report)
    check_drives(usable, [link.name for link in description.links], report)
    check_values(description, typed, report)
    links, joints = ({x.name for x in items if isinstance(x.name, str)} for items in (description.links, description.joints))
    moved = {joint.child: joint.name for joint in description.joints if joint.type != "fixed" and joint.name in joints}
    check_closures(description.closures, links, moved, report)
    if description.tip and (not isinstance(description.tip, str) or description.tip not in links):
        found = f"the tip does not exist: {unknown_name('link', description.tip, links)}"
        report.error("missing-link", "robot", found, "a link or frame of this robot", "correct or remove tip", description.line)


def _with_known_type(joints: list[Joint], report: Report) -> list[Joint]:
    """The joints for whose type no error was reported: readers continue with "fixed" in place of an unknown type."""
    untyped = {problem.where for problem in report.errors if problem.code == "joint-type"}
    return [j for j in joints if j.type in JOINT_TYPES and f"joint {printable(str(j.name))}" not in untyped]


def _check_names(description: Description, report: Report) -> None:
    for kind, items in (("link", description.links), ("joint", description.joints)):
        seen: dict[Any, list[Any]] = {}
        for item in items:
            if not isinstance(item.name, str) or not item.name:
                found = "the name is empty" if item.name == "" else f"the name is {printable(repr(item.name))}"
                report.error("empty-name", kind, found, "a name", f"name the {kind}", item.line)
            else:
                seen.setdefault(item.name, []).append(item)
        for name, same in seen.items():
            if len(same) > 1:
                lines = list(dict.fromkeys(str(item.line) for item in same if item.line))[:MAX_NAMES]
                found = f"{len(same)} {kind}s have this name"
                found += f" (line{'s' if len(lines) > 1 else ''} {', '.join(lines)})" if lines else ""
                where, allowed = f"{kind} {printable(name)}", f"a different name for each {kind}"
                report.error("duplicate-name", where, found, allowed, f"rename the other {kind}s", same[1].line)


def _check_joints(description: Description, report: Report) -> None:
    links = {link.name for link in description.links if isinstance(link.name, str)}
    for joint in description.joints:
        where = f"joint {printable(str(joint.name))}"
        if joint.type not in JOINT_TYPES:
            found = f"the type is {printable(str(joint.type))}"
            report.error("joint-type", where, found, ", ".join(JOINT_TYPES), "correct the type", joint.line)
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if _is_missing(name, where, report):
                continue
            if not isinstance(name, str) or name not in links:
                found = f"its {end} link {printable(str(name))} does not exist"
                near = near_names(name, links - {joint.parent, joint.child}, 2) if isinstance(name, str) else []
                meant = " or ".join(map(printable, near))
                repair = f"write {meant}, or add the link" if near else "add the link or correct the name"
                report.error("missing-link", where, found, "a link of this file", repair, joint.lines.get(end, joint.line))
        if joint.parent == joint.child and joint.child != "":
            report.error("self-joint", where, "it joins a link to itself", "two links", "correct parent or child", joint.line)


def _is_missing(link: Any, joint: str, report: Report) -> bool:
    """Whether the reader has already reported that the joint lacks this link, which is not to be reported twice."""
    return link == "" and any(p.where == joint and p.code in ("missing-element", "missing-attribute") for p in report.errors)


def _check_tree(description: Description, report: Report, *, sound: bool) -> None:
    """Two parents, several roots, closed loops; if names or joints are not ``sound``, without consequences of their errors."""
    counts = Counter(link.name for link in description.links if isinstance(link.name, str))
    ambiguous = any(count > 1 for count in counts.values())
    incoming: dict[str, Joint] = {}
    joints = [j for j in description.joints if isinstance(j.child, str) and isinstance(j.parent, str) and j.child != j.parent]
    for joint in joints:
        if counts[joint.child] > 1:
            continue
        if joint.child in incoming:
            first = incoming[joint.child]
            found = f"it is carried by joint {printable(first.name)} and by joint {printable(joint.name)}"
            repair = (
                "remove one of the joints; a closed loop is a [[closure]] of a TOML file, or a closure given to "
                "dynamis.constrained(robot, closures=…)"
            )
            report.error("two-parents", f"link {printable(joint.child)}", found, "one parent", repair, joint.line)
        else:
            incoming[joint.child] = joint
    if ambiguous:
        report.skipped.append("root link and closed loops")
        return
    links = [link for link in description.links if isinstance(link.name, str)]
    roots = [link for link in links if link.name not in incoming]
    if not sound:
        report.skipped.append("root link")
    elif len(roots) > 1:
        names = ", ".join(printable(r.name) for r in roots[:6])
        found = f"{len(roots)} links have no parent: {names}"
        repair = "join the parts (a fixed joint will do), or keep one robot in a file"
        report.error("several-roots", "robot", found, "one root link", repair, roots[1].line)
    children: dict[str, list[str]] = {}
    for joint in incoming.values():
        children.setdefault(joint.parent, []).append(joint.child)
    reached = set()
    stack = [r.name for r in roots] + [child for child, joint in incoming.items() if not counts[joint.parent]]
    while stack:
        name = stack.pop()
        if name not in reached:  # links that do not exist may be joined in a circle
            reached.add(name)
            stack.extend(children.get(name, ()))
    lost = [link for link in links if link.name not in reached]
    if lost:
        names = ", ".join(printable(x.name) for x in lost[:6])
        found = f"the links {names} carry each other in a circle" + ("" if roots else "; there is no root")
        report.error("cycle", "robot", found, "a tree", "turn one joint of the circle around or remove it", lost[0].line)


def _check_mimics(usable: list[Joint], names: set[str], report: Report) -> None:
    """``names`` are those of all joints: a joint with an error of its own can still be followed."""
    joints = {joint.name: joint for joint in usable}
    # a fixed joint has no leader
    followers = [j for j in usable if isinstance(j.mimic, Mimic) and isinstance(j.mimic.joint, str) and j.type != "fixed"]
    for joint in followers:
        assert joint.mimic is not None
        where, line = f"joint {printable(joint.name)}", joint.lines.get("mimic", joint.line)
        target = joints.get(joint.mimic.joint)
        if target is None and joint.mimic.joint not in names:
            found = f"it follows joint {printable(str(joint.mimic.joint))}, which does not exist"
            near = " or ".join(map(printable, near_names(str(joint.mimic.joint), names, 2)))
            repair = f"follow {near}" if near else "correct the name it follows"
            report.error("mimic-target", where, found, "a joint of this file", repair, line)
            continue
        for item in (joint, *([] if target is None else [target])):
            if JOINT_TYPES[item.type].degrees != 1:
                found = f"joint {printable(item.name)} is {item.type}"
                allowed = "joints with one degree of freedom"
                report.error("mimic-type", where, found, allowed, "follow another joint, or none", line)
        if joint.mimic.ratio == 0.0:
            report.error("mimic-ratio", where, "the ratio is 0", "a number other than 0", "make the joint fixed", line)
    before = len(report.errors)
    _check_mimic_circles(followers, joints, report)
    if len(report.errors) == before and all(_has_numbers(joint) for joint in followers):
        _check_mimic_products(followers, joints, report)


def _has_numbers(joint: Joint) -> bool:
    mimic = joint.mimic
    return mimic is not None and all(isinstance(x, numbers.Real) for x in (mimic.ratio, mimic.offset))


def _check_mimic_circles(followers: list[Joint], joints: dict[str, Joint], report: Report) -> None:
    led: set[str] = set()  # whose chain of leaders is known to end
    for joint in followers:
        path: list[str] = []
        on_path: set[str] = set()
        at: Joint | None = joint
        while at is not None and at.mimic is not None and at.type != "fixed" and at.name not in led:
            if at.name in on_path:
                circle = [*path[path.index(at.name) :], at.name]
                shown = circle if len(circle) <= MAX_NAMES else [*circle[: MAX_NAMES - 1], "…", at.name]
                chain = " → ".join(x if x == "…" else printable(x) for x in shown)
                itself = len(circle) == 2
                report.error(
                    "mimic-circle", f"joint {printable(at.name)}",
                    "it follows itself" if itself else f"the joints follow each other in a circle: {chain}",
                    "another joint" if itself else "one leading joint",
                    "name the joint that it follows, or remove mimic" if itself else "remove mimic from one of them",
                    at.lines.get("mimic", at.line),
                )  # fmt: skip
                break
            path.append(at.name)
            on_path.add(at.name)
            at = joints.get(at.mimic.joint)
        led.update(path)


def _check_mimic_products(followers: list[Joint], joints: dict[str, Joint], report: Report) -> None:
    """Along a chain of followers ratios multiply; what comes out must still be a number to compute with."""
    known: dict[str, tuple[float, float]] = {}
    for joint in followers:
        chain = [joint]
        while chain[-1].name not in known and (target := _leader(chain[-1], joints)) is not None:
            chain.append(target)
        for item in reversed(chain):
            if item.name in known:
                continue
            mimic = item.mimic if _leader(item, joints) is not None else None
            if mimic is None:
                known[item.name] = (1.0, 0.0)
                continue
            ratio, offset = known[mimic.joint]
            known[item.name] = (mimic.ratio * ratio, mimic.ratio * offset + mimic.offset)
            ratio, offset = map(abs, known[item.name])
            if not (1.0 / MAX_MAGNITUDE <= ratio <= MAX_MAGNITUDE and offset <= MAX_MAGNITUDE):
                where, line = f"joint {printable(item.name)}", item.lines.get("mimic", item.line)
                found = f"along its chain of followed joints the ratio becomes {known[item.name][0]:g}, the offset {offset:g}"
                allowed = f"ratios from {1.0 / MAX_MAGNITUDE:g} to {MAX_MAGNITUDE:g}, offsets up to {MAX_MAGNITUDE:g}"
                report.error("mimic-ratio", where, found, allowed, "correct the ratios or offsets of the chain", line)


def _leader(joint: Joint, joints: dict[str, Joint]) -> Joint | None:
    return joints.get(joint.mimic.joint) if joint.mimic is not None and joint.type != "fixed" else None


def check_drives(joints: list[Joint], links: list[str], report: Report) -> None:
    """Add an error for every motor on a link that cannot carry it, and every actuator its joint cannot have."""
    carrier = {joint.child: joint for joint in joints}
    for joint in joints:
        if joint.type == "fixed" or not isinstance(joint.drive, Drive):
            continue
        if joint.drive.motor_link is not None or joint.drive.motor_axis is not None:
            _check_motor(joint, links, carrier, report)
        if joint.actuator is not None:
            _check_actuator(joint, report)


def _check_motor(joint: Joint, links: list[str], carrier: dict[str, Joint], report: Report) -> None:
    where, line, name = f"joint {printable(joint.name)}", joint.line, joint.drive.motor_link
    if name is None:
        found, repair = "its motor has an axis, but no link to be on", "name the link that carries the motor"
        report.error("motor-link", where, found, "motor_axis together with motor_link", repair, line)
    elif not isinstance(name, str) or name not in links:
        found = f"its motor link does not exist: {unknown_name('link', name, links)}"
        report.error("motor-link", where, found, "a link of this file", "correct the name of the motor's link", line)
    elif JOINT_TYPES[joint.type].degrees != 1:
        found, allowed = f"a motor on a link drives a {joint.type} joint", "joints with one degree of freedom"
        report.error("motor-joint", where, found, allowed, "remove motor_link: the reflected inertia then counts", line)
    elif _is_beyond(name, joint, carrier):
        found = f"its motor is on link {printable(name)}, which the joint itself moves"
        repair = f"name a link before the joint, such as its parent {printable(joint.parent)}"
        report.error("motor-link", where, found, "a link the joint does not move", repair, line)


def _is_beyond(link: str, joint: Joint, carrier: dict[str, Joint]) -> bool:
    """Whether the joint moves the link; a circle of links, which is an error of its own, ends the search."""
    seen: set[str] = set()
    while link not in seen and (by := carrier.get(link)) is not None:
        if by is joint:
            return True
        seen.add(link)
        link = by.parent
    return False


def _check_actuator(joint: Joint, report: Report) -> None:
    where, line, actuator = f"joint {printable(joint.name)}", joint.lines.get("actuator", joint.line), joint.actuator
    if not isinstance(actuator, Actuator):
        found = f"its actuator is a {type(actuator).__name__}"
        report.error("actuator", where, found, "a Saturated, DCMotor or Elastic", "give an actuator, or none", line)
    elif JOINT_TYPES[joint.type].degrees != 1:
        found = f"a {joint.type} joint has an actuator, but several variables"
        allowed = "actuators on joints with one degree of freedom"
        report.error("actuator", where, found, allowed, "use joints with one variable each", line)
    elif joint.mimic is not None:
        found, repair = "it has an actuator, but follows another joint", "give the actuator to the joint it follows"
        report.error("actuator", where, found, "actuators on joints that move on their own", repair, line)
    elif isinstance(actuator, Elastic) and actuator.inertia is None and not is_there(joint.drive.rotor_inertia, 0.0):
        found = "the rotor behind its spring needs an inertia"
        allowed = "Elastic(…, inertia=…), or rotor_inertia in the joint"
        report.error("actuator", where, found, allowed, "give one of them", line)
