"""Robots of the Robotics Toolbox for Python: Denavit–Hartenberg robots and robots of elementary transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamis.errors import ConversionError, InputError, printable
from dynamis.model.description import Description, Drive, Fresh, Joint, Limits, Link, MassProperties
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import about_axis

Z = np.array([0.0, 0.0, 1.0])


def describe_toolbox(robot: Any) -> Description:
    """The description of a DHRobot (standard or modified parameters) or of an ERobot whose joints have one axis each."""
    links = list(getattr(robot, "links", ()))
    if not links or not hasattr(robot, "gravity"):
        raise InputError(f"from_roboticstoolbox takes a robot of roboticstoolbox, got {type(robot).__name__}")
    if any(type(link).__name__ == "Link2" for link in links):
        raise ConversionError(f"robot {printable(str(robot.name))} moves in the plane, in SE(2), and such robots are not read: "
                              "make it of transforms in space, with ET in place of ET2")  # fmt: skip
    d = Description(str(robot.name or "robot"), gravity=np.ravel(np.array(robot.gravity, float)), source="Robotics Toolbox")
    if hasattr(links[0], "alpha"):
        _from_table(d, robot, links)
    else:
        _from_transforms(d, links)
    return d


def _from_table(d: Description, robot: Any, links: list[Any]) -> None:
    d.links.append(Link("base"))
    parent, modified = "base", bool(robot.mdh)
    before = _matrix(getattr(robot, "base", None))
    for k, link in enumerate(links, 1):
        slides = bool(link.isprismatic)
        theta, along, a, alpha = (float(x) for x in (link.theta, link.d, link.a, link.alpha))
        offset = float(link.offset)
        turn = Pose(about_axis(Z, theta + (0.0 if slides else offset)), Z * (along + (offset if slides else 0.0)))
        twist = Pose(about_axis(np.array([1.0, 0.0, 0.0]), alpha), np.array([a, 0.0, 0.0]))
        joint = Joint(
            f"joint{k}", "prismatic" if slides else "revolute", parent, f"link{k}", axis=-Z if _flipped(link) else Z.copy()
        )
        # constant rotations about z and displacements along it commute with the motion: they stand before it
        joint.origin = before @ (twist @ turn if modified else turn)
        joint.tail = Pose.identity() if modified else twist
        _dynamics(joint, link)
        d.joints.append(joint)
        d.links.append(Link(joint.child, _mass(link)))
        parent, before = joint.child, Pose.identity()
    tool = _matrix(getattr(robot, "tool", None))
    if not tool.is_identity():
        d.add_link("tool", parent, origin=tool)


def _from_transforms(d: Description, links: list[Any]) -> None:
    names = Fresh(())
    known: dict[int, str] = {}
    joints = Fresh(())
    for link in links:
        own = names.name(str(link.name or "link"))
        parent = getattr(link, "parent", None)
        if parent is None and not d.links and not link.isjoint and _matrix(link.Ts).is_identity():
            d.links.append(Link(own, _mass(link)))
            known[id(link)] = own
            continue
        if parent is None and not d.links:
            d.links.append(Link(names.name("base")))
        if parent is not None and id(parent) not in known:
            raise ConversionError(f"link {printable(own)} stands before its parent in the list of links")
        above = d.links[0].name if parent is None else known[id(parent)]
        known[id(link)] = own
        d.links.append(Link(own, _mass(link)))
        constant = _matrix(link.Ts)
        joint = Joint(joints.name(f"{own}_joint"), "fixed", above, own, constant)
        if link.isjoint:
            motion = link.v.axis  # such as Rz, or tx
            if motion[0] not in "Rt" or motion[1:] not in ("x", "y", "z"):
                raise ConversionError(
                    f"link {printable(own)} moves by {printable(motion)}; rotations and translations are read"
                )
            joint.type = "revolute" if motion[0] == "R" else "prismatic"
            joint.axis = np.eye(3)["xyz".index(motion[1])] * (-1.0 if _flipped(link) else 1.0)
            _dynamics(joint, link)
        d.joints.append(joint)


def _dynamics(joint: Joint, link: Any) -> None:
    """Friction and rotor; the toolbox states viscous friction at the motor, and Coulomb friction there for both directions."""
    gear = abs(float(link.G)) or 1.0
    plus, minus = (float(x) for x in np.ravel(link.Tc))
    joint.drive = Drive(
        viscous=float(link.B) * gear**2, coulomb=0.5 * gear * (plus - minus), coulomb_bias=0.5 * gear * (plus + minus),
        rotor_inertia=float(link.Jm), gear_ratio=gear,
    )  # fmt: skip
    limits = getattr(link, "qlim", None)
    if limits is not None and len(np.ravel(limits)) == 2:
        joint.limits = Limits(*(float(x) for x in np.ravel(limits)))
    elif joint.type == "revolute":
        joint.type = "continuous"


def _flipped(link: Any) -> bool:
    """Whether the joint turns against its axis; the attribute has two names in the versions of the toolbox."""
    return bool(getattr(link, "isflip", getattr(link, "flip", False)))


def _mass(link: Any) -> MassProperties | None:
    mass, com, tensor = float(link.m), np.ravel(np.asarray(link.r, float)), np.asarray(link.I, float)
    return None if mass == 0.0 and not tensor.any() else MassProperties(mass, np.array(com), np.array(tensor))


def _matrix(transform: Any) -> Pose:
    if transform is None:
        return Pose.identity()
    A = np.asarray(getattr(transform, "A", transform), float)
    if np.abs(A - np.eye(4)).max() < 1e-15:
        return Pose.identity()
    return Pose(np.array(A[:3, :3]), np.array(A[:3, 3]))
