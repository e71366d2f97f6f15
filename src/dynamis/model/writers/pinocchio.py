"""A description as a Pinocchio model, with the same q and v."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from dynamis.errors import ConversionError, MissingExtraError, ModelWarning, printable
from dynamis.model.build import build, joint_stages
from dynamis.model.description import Description, Joint, Link
from dynamis.model.joint_coordinates import leaders
from dynamis.model.joints import Helical, Primitive, Prismatic, Revolute, Spherical
from dynamis.spatial.pose import Pose


def pinocchio() -> Any:
    """The package, which is an extra."""
    try:
        return importlib.import_module("pinocchio")
    except ImportError:
        raise MissingExtraError("Pinocchio is not installed: pip install pin") from None


def make_pinocchio(description: Description) -> Any:
    """The `pinocchio.Model`; joints in depth-first order, so that q and v are ours. Every link and frame is a frame of it."""
    description.require_numbers("a Pinocchio model")
    springs = [printable(j.name) for j in description.joints if j.drive.stiffness or j.drive.coulomb_bias]
    closures = [f"{x.kind} of {' and '.join(printable(y) for y in (x.first, x.second) if y)}" for x in description.closures]
    for names, begin, end in (
        (springs, "joints ", " have springs, or dry friction that depends on the direction"),
        (closures, "the robot has closures of loops (", ")"),
    ):
        if names:
            text = f"{begin}{', '.join(names)}{end}, for which a Pinocchio model has no place: they are left out"
            warnings.warn(text, ModelWarning, stacklevel=3)
    return _Maker(description).made()


class _Maker:
    def __init__(self, description: Description) -> None:
        self.d, self.pin = description, pinocchio()
        self.model = self.pin.Model()
        self.physics = build(description, checked=True)  # its coordinates have the order of Pinocchio's
        self.leader = leaders(description)
        self.links = {link.name: link for link in description.links}
        self.carrying: dict[str, list[Joint]] = {}
        moving = self.moving()
        # Pinocchio needs a leader before its followers: branches that only follow are last, which leaves q as it is
        for joint in sorted(description.joints, key=lambda j: j.name not in moving):
            self.carrying.setdefault(joint.parent, []).append(joint)

    def moving(self) -> set[str]:
        """The joints with coordinates of their own, there or further out."""
        carrier, found = {joint.child: joint for joint in self.d.joints}, set[str]()
        for joint in self.d.joints:
            at = joint if joint.type != "fixed" and joint.mimic is None else None
            while at is not None and at.name not in found:
                found.add(at.name)
                at = carrier.get(at.parent)
        return found

    def made(self) -> Any:
        d, carried = self.d, {joint.child for joint in self.d.joints}
        self.model.name = d.name
        self.model.gravity = self.pin.Motion(np.asarray(d.gravity, float), np.zeros(3))
        root = next(link for link in d.links if link.name not in carried)
        self.link(root, 0, Pose.identity())
        # depth first: a joint, the Pinocchio joint that carries its parent link, and where that link is in its frame
        stack = [(joint, 0, Pose.identity()) for joint in reversed(self.carrying.get(root.name, []))]
        while stack:
            joint, number, place = stack.pop()
            number, place = self.joint(joint, number, place)
            self.link(self.links[joint.child], number, place)
            stack += [(j, number, place) for j in reversed(self.carrying.get(joint.child, []))]
        for name, values in (("armature", "rotor"), ("damping", "viscous"), ("friction", "coulomb")):
            setattr(self.model, name, np.array(getattr(self.physics, values), float))
        return self.model

    def link(self, link: Link, number: int, place: Pose) -> None:
        pin, m = self.pin, link.mass_properties
        if m is not None:
            try:
                inertia = pin.Inertia(float(m.mass), np.asarray(m.com, float), np.asarray(m.tensor, float))
            except RuntimeError as error:
                raise ConversionError(
                    f"Pinocchio does not accept the inertia of link {printable(link.name)}: {error}; correct the file, or "
                    "by robot.replace(inertias=…)"
                ) from None
            self.model.appendBodyToJoint(number, inertia, _SE3(pin, place))
        self.model.addFrame(pin.Frame(link.name, number, _SE3(pin, place), pin.FrameType.BODY), False)

    def joint(self, joint: Joint, number: int, place: Pose) -> tuple[int, Pose]:
        """(Pinocchio's joint, the child link's pose in its frame)."""
        if (lacking := self.lacking(joint)) is not None:
            what, cure = lacking
            raise ConversionError(
                f"joint {printable(joint.name)} {what}, which a Pinocchio model made here cannot represent: {cure} first"
            )
        place = place @ joint.origin
        for stage in joint_stages(joint) if joint.type != "fixed" else ():  # whose axis may be zero
            motion, name = self.motion(stage.motion), joint.name + stage.suffix
            if joint.follows is not None:
                number = self.model.addJoint(number, self.follower(joint, motion), _SE3(self.pin, place), name)
            else:
                n, nq, v = stage.motion.nv, stage.motion.nq, self.model.nv
                own = self.physics.coordinates[v : v + n]
                limits = [np.array([c.effort for c in own]), np.array([c.velocity for c in own])]
                ends = [np.full(nq, own[0].lower), np.full(nq, own[0].upper)]
                number = self.model.addJoint(number, motion, _SE3(self.pin, place), name, *limits, *ends)
            self.model.addJointFrame(number)
            place = Pose.identity()
        return number, place @ joint.tail

    def follower(self, joint: Joint, motion: Any) -> Any:
        """The motion with the coordinate of the joint that leads it."""
        name, ratio, offset = self.leader(joint)
        leader = self.model.joints[self.model.getJointId(name)]
        motion.setIndexes(leader.id, leader.idx_q, leader.idx_v, leader.idx_vExtended)
        return self.pin.JointModelMimic(motion, ratio, offset)

    def lacking(self, joint: Joint) -> tuple[str, str] | None:
        """What of a joint Pinocchio has not, and the call that removes it from the robot."""
        if joint.follows is not None:
            name = self.leader(joint)[0]
            lock = f"lock the joint that leads it by robot.reduced({ {name: 0.0}!r})"
            if not hasattr(self.pin, "JointModelMimic"):
                return f"follows {printable(name)}", "install Pinocchio 3.7 or later, or " + lock
            if joint.type == "helical":
                return f"is helical and follows {printable(name)}", lock
            if not self.model.existJointName(name):
                return f"follows {printable(name)}, which comes after it in the order of the joints", lock
        if joint.drive.motor_link is not None:
            return "has a motor on a link", "take robot.replace(rotors='reflected')"
        if joint.actuator is not None:
            return "has an actuator", f"take robot.replace(actuators={ {joint.name: None}!r})"
        return None

    def motion(self, motion: Primitive) -> Any:
        pin = self.pin
        match motion:
            case Revolute():
                return pin.JointModelRevoluteUnaligned(np.asarray(motion.axis, float))
            case Prismatic():
                return pin.JointModelPrismaticUnaligned(np.asarray(motion.axis, float))
            case Helical():
                return pin.JointModelHelicalUnaligned(np.asarray(motion.axis, float), float(motion.pitch))
            case Spherical():
                return pin.JointModelSpherical()
            case _:
                return pin.JointModelFreeFlyer()


def _SE3(pin: Any, pose: Pose) -> Any:
    return pin.SE3(np.asarray(pose.R, float), np.asarray(pose.p, float))
