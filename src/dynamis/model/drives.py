"""Whether the motors of a description can be where it says, and drive what it says."""

from __future__ import annotations

from dynamis.errors import printable, unknown_name
from dynamis.model.actuators import Actuator, Elastic, is_there
from dynamis.model.description import Drive, Joint
from dynamis.model.diagnostics import Report
from dynamis.model.joints import DEGREES_OF_FREEDOM


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
    elif DEGREES_OF_FREEDOM[joint.type] != 1:
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
    elif DEGREES_OF_FREEDOM[joint.type] != 1:
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
