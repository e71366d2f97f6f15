"""Other robots made of a description: joints locked, another robot attached, another root, one branch, a new frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.model.build import joint_stages
from dynamis.model.description import Description, Drive, Fresh, Joint
from dynamis.model.joints import JOINT_TYPES
from dynamis.model.symbols import with_values
from dynamis.scalar import Node, is_number, symbol
from dynamis.spatial.pose import Pose
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]


def locked(description: Description, positions: Mapping[str, Any]) -> Description:
    """Joints held at these positions become fixed, without friction, rotor, spring and actuator; so do their followers, and
    the joints to which a closure of the file couples them."""
    result = _edited(description)
    for name, position in positions.items():
        joint = result.joint(name)
        if joint.type == "fixed":
            raise InputError(f"joint {printable(name)} is fixed already")
        if joint.mimic is not None:
            raise InputError(f"joint {printable(name)} follows {printable(joint.mimic.joint)}: lock that joint instead")
        queue = [(joint, position)]
        for leader, at in queue:  # grows: a follower may have followers
            led = [(j, m) for j in result.joints if (m := j.follows) is not None and m.joint == leader.name]
            queue += [(j, m.ratio * np.asarray(at) + m.offset) for j, m in led]
            queue += _geared(result, leader.name, at, positions)
            _lock(leader, at)
            result.appearance.pose.pop(leader.name, None)
    return result


def _geared(d: Description, name: str, at: Any, given: Mapping[str, Any]) -> list[tuple[Joint, Any]]:
    """The joints that couplings of a joint hold with it, and where; these couplings are met and removed."""
    own = [x for x in d.closures if x.kind == "coupled" and name in (x.first, x.second)]
    d.closures = [x for x in d.closures if x not in own]
    found = []
    for x in own:
        other = x.second if name == x.first else x.first
        if not other or (name == x.first and x.ratio == 0.0 and not x.higher):
            continue  # the coupling holds one joint alone
        if x.higher and name == x.first:
            raise InputError(f"joint {printable(name)} is a polynomial of {printable(other)}: lock that joint instead")
        polynomial = np.polynomial.Polynomial([x.offset, x.ratio, *x.higher])
        place = (at - x.offset) / x.ratio if name == x.first else float(polynomial(at))
        if other in given and not np.isclose(given[other], place, rtol=0.0, atol=FILE_PRECISION):
            raise InputError(
                f"joint {printable(other)} is coupled to {printable(name)}: at {at:g} of that one it is at {place:.6g}, not at "
                f"{given[other]:g}"
            )
        if other not in given:
            found.append((d.joint(other), place))
    return found


def _lock(joint: Joint, position: Any) -> None:
    parts = joint_stages(joint)
    size = sum(part.motion.nq for part in parts)
    q = np.atleast_1d(np.asarray(position))
    if q.shape != (size,) or not all(isinstance(x, Node) or (is_number(x) and np.isfinite(x)) for x in q):
        expected = "a finite number" if size == 1 else counted(size, "finite number")
        raise InputError(f"the position of joint {printable(joint.name)} ({joint.type}) must be {expected}, got {position!r}")
    for part in parts:
        if part.motion.nq > part.motion.nv:
            _check_norm(joint, q[part.motion.nq - 4 : part.motion.nq])
        joint.origin = joint.origin @ part.motion.pose(q[: part.motion.nq])
        q = q[part.motion.nq :]
    joint.origin, joint.tail, joint.type = joint.origin @ joint.tail, Pose.identity(), "fixed"
    joint.drive, joint.actuator, joint.mimic = Drive(), None, None


def _check_norm(joint: Joint, quaternion: Array) -> None:
    if quaternion.dtype != object and abs(float(np.linalg.norm(quaternion)) - 1.0) > FILE_PRECISION:
        raise InputError(
            f"the quaternion (x, y, z, w) of joint {printable(joint.name)} must have norm 1, got {quaternion.tolist()}"
        )


def attached(description: Description, other: Description, at: str, pose: Pose, prefix: str) -> Description:
    """Another robot with its root link fixed to the link ``at``; ``prefix`` stands before the names of its links and joints,
    and of the symbols that both robots have."""
    result, tool = _edited(description), other.copy()
    result.link(at)
    root = _root(tool)
    if free := [joint.name for joint in tool.joints if joint.type == "free" and joint.parent == root]:
        raise InputError(
            f"robot {printable(other.name)} has a floating base, the joint {printable(free[0])}: attach what is left with it "
            f"locked, robot.reduced({{{free[0]!r}: [0, 0, 0, 0, 0, 0, 1]}}), position and quaternion (x, y, z, w)"
        )
    tool.gravity = np.zeros(3)  # the robot's own counts
    shared = set(result.symbol_names()).intersection(tool.symbol_names()) if prefix else ()
    if shared:
        tool = with_values(tool, {symbol(name): symbol(prefix + name) for name in shared})
    _rename(tool, prefix)
    for kind, ours, theirs in (("link", result.links, tool.links), ("joint", result.joints, tool.joints)):
        taken = {item.name for item in ours}
        if both := [item.name for item in theirs if item.name in taken]:
            raise InputError(f"both robots have a {kind} {printable(both[0])}: give prefix='tool_' or the like")
    mount = f"{prefix}{root}_mount"
    if mount in {joint.name for joint in [*result.joints, *tool.joints]}:
        raise InputError(f"there is a joint {printable(mount)} already: give another prefix=")
    result.joints.append(Joint(mount, "fixed", at, prefix + root, pose))
    result.links += tool.links
    result.joints += tool.joints
    result.closures += tool.closures
    result.no_contact += tool.no_contact
    result.payloads |= tool.payloads
    result.tip = tool.tip or (result.tip if result.tip != at else "")
    for what, names in tool.aside.items():
        result.aside.setdefault(what, []).extend(f"{name} of {printable(other.name)}" for name in names)
    result.appearance.pose |= tool.appearance.pose
    return result


def _rename(tool: Description, prefix: str) -> None:
    for link in tool.links:
        link.name = prefix + link.name
    for joint in tool.joints:
        joint.name, joint.parent, joint.child = (prefix + x for x in (joint.name, joint.parent, joint.child))
        if joint.mimic is not None:
            joint.mimic.joint = prefix + joint.mimic.joint
        if joint.drive.motor_link is not None:
            joint.drive.motor_link = prefix + joint.drive.motor_link
    for closure in tool.closures:
        names = closure.first, closure.second, closure.axis_of
        closure.first, closure.second, closure.axis_of = (name and prefix + name for name in names)
    tool.no_contact = [(prefix + a, prefix + b) for a, b in tool.no_contact]
    tool.payloads = {prefix + name: value for name, value in tool.payloads.items()}
    tool.tip = tool.tip and prefix + tool.tip
    tool.appearance.pose = {prefix + name: value for name, value in tool.appearance.pose.items()}


def subtree(description: Description, link: str) -> Description:
    """A link and all that it carries, the link fixed to the world."""
    result = _edited(description)
    result.link(link)
    kept = {link}
    while more := {joint.child for joint in result.joints if joint.parent in kept} - kept:
        kept |= more
    inside = [joint for joint in result.joints if joint.parent in kept]
    names = {joint.name for joint in inside}
    for joint in inside:
        if (m := joint.follows) is not None and m.joint not in names:
            raise InputError(
                f"joint {printable(joint.name)} follows {printable(m.joint)}, which link {printable(link)} does not "
                "carry: lock that joint first"
            )
        if joint.drive.motor_link is not None and joint.drive.motor_link not in kept:
            joint.drive.motor_link = joint.drive.motor_axis = None
    result.links = [item for item in result.links if item.name in kept]
    result.joints = inside
    result.payloads = {name: value for name, value in result.payloads.items() if name in kept}
    result.tip = result.tip if result.tip in kept else ""
    result.closures = [
        x for x in result.closures if ({x.first, x.second} <= {"", *names} if x.kind == "coupled" else kept.issuperset(x.links))
    ]
    result.no_contact = [pair for pair in result.no_contact if kept.issuperset(pair)]
    result.appearance.pose = {name: value for name, value in result.appearance.pose.items() if name in names}
    return result


def rerooted(description: Description, link: str) -> Description:
    """The same mechanism with another root link; the joints between the old and the new root are reversed.

    Positions keep their meaning. The new root is fixed to the world, or moves freely where the old one did.
    """
    result = _edited(description)
    result.link(link)
    carrying = {joint.child: joint for joint in result.joints}
    path: list[Joint] = []
    at = link
    while at in carrying:
        path.append(carrying[at])
        at = carrying[at].parent
    if path and path[-1].type == "free":  # the joint of a floating base, which moves the new root instead
        path.pop().child = link
    for joint in path:
        _reverse(joint)
    return result


def _reverse(joint: Joint) -> None:
    if JOINT_TYPES[joint.type].degrees > 1:
        raise InputError(
            f"joint {printable(joint.name)} is {joint.type}: only joints with one degree of freedom can be reversed"
        )
    if joint.drive.motor_link is not None:
        raise InputError(
            f"the motor of joint {printable(joint.name)} is on a link that the reversed joint would move: use "
            "replace(rotors='reflected') first"
        )
    # (origin · X(q) · tail)⁻¹ = tail⁻¹ · X(−q) · origin⁻¹, and X(−q) about the axis is X(q) about its opposite
    joint.parent, joint.child = joint.child, joint.parent
    joint.origin, joint.tail = joint.tail.inverse(), joint.origin.inverse()
    joint.axis = -joint.axis
    if joint.type == "fixed":
        joint.origin, joint.tail = joint.origin @ joint.tail, Pose.identity()


def with_frame(description: Description, name: str, link: str, pose: Pose) -> Description:
    """One more frame, fixed to a link."""
    result = _edited(description)
    result.link(link)
    if name in {item.name for item in result.links}:
        raise InputError(f"there is a link {printable(name)} already")
    return result.add_link(name, link, origin=pose)


def placed(description: Description, pose: Pose) -> Description:
    """The root link fixed to the world at a pose."""
    result = _edited(description)
    root = _root(result)
    world = Fresh(link.name for link in result.links).name("world")
    joint = Fresh(joint.name for joint in result.joints).name(f"{world}_{root}")
    result.add_link(world)
    result.joints.insert(0, Joint(joint, "fixed", world, root, pose))
    return result


def rotors_reflected(description: Description) -> Description:
    """A copy whose rotors are inertias of their joints alone, wherever their motors are."""
    result = description.copy()
    for joint in result.joints:
        joint.drive.motor_link = joint.drive.motor_axis = None
    return result


def rotors_riding(description: Description) -> Description:
    """A copy in which every motor with a rotor sits on a link: the one it names, or its joint's parent."""
    result = description.copy()
    for joint in result.joints:
        drive = joint.drive
        turns = isinstance(drive.rotor_inertia, Node) or drive.rotor_inertia != 0.0
        if turns and drive.motor_link is None and joint.type in JOINT_TYPES and JOINT_TYPES[joint.type].degrees == 1:
            drive.motor_link = joint.parent
    return result


def _edited(description: Description) -> Description:
    """A copy that is no longer an image of a file."""
    result = description.copy()
    result.document = b""
    return result


def _root(description: Description) -> str:
    carried = {joint.child for joint in description.joints}
    return next(link.name for link in description.links if link.name not in carried)
