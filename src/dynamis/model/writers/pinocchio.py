"""A description as a Pinocchio model, with the same q and v."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from dynamis.errors import ConversionError, MissingExtraError, ModelWarning, printable
from dynamis.model.build import joint_stages
from dynamis.model.description import Description, Joint, Link
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
    lost = [j.name for j in description.joints if j.drive.stiffness or j.drive.coulomb_bias]
    if lost:
        warnings.warn(
            f"joints {', '.join(map(printable, lost))} have springs, or dry friction that depends on the direction, for which "
            "a Pinocchio model has no place: they are left out",
            ModelWarning, stacklevel=3,
        )  # fmt: skip
    return _Maker(description).made()


class _Maker:
    def __init__(self, description: Description) -> None:
        self.d, self.pin = description, pinocchio()
        self.model = self.pin.Model()
        self.links = {link.name: link for link in description.links}
        self.carrying: dict[str, list[Joint]] = {}
        for joint in description.joints:
            self.carrying.setdefault(joint.parent, []).append(joint)

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
        drive = joint.drive
        for stage in joint_stages(joint):
            n, nq = stage.motion.nv, stage.motion.nq
            several = joint.type in ("cylindrical", "universal", "planar") or n > 1
            low, high = (-np.inf, np.inf) if several else (joint.limits.lower, joint.limits.upper)
            limits = [np.full(n, x) for x in (joint.limits.effort, joint.limits.velocity)]
            ends = [np.full(nq, low), np.full(nq, high)]
            number = self.model.addJoint(
                number, self.motion(stage.motion), _SE3(self.pin, place), joint.name + stage.suffix, *limits, *ends
            )
            self.model.addJointFrame(number)
            v = self.model.joints[number].idx_v
            reflected = float(drive.rotor_inertia) * float(drive.gear_ratio) ** 2 if n == 1 else 0.0
            for name, value in (("armature", reflected), ("damping", float(drive.viscous)), ("friction", float(drive.coulomb))):
                array = np.array(getattr(self.model, name))
                array[v : v + n] = value
                setattr(self.model, name, array)
            place = Pose.identity()
        return number, place @ joint.tail

    def lacking(self, joint: Joint) -> tuple[str, str] | None:
        """What of a joint Pinocchio has not, and the call that removes it from the robot."""
        if joint.follows is not None:
            joints = {j.name: j for j in self.d.joints}
            led = {j.follows.joint for j in self.d.joints if j.follows is not None}
            lock = {name: 0.0 for name in joints if name in led and joints[name].follows is None}
            return f"follows {printable(joint.follows.joint)}", f"lock the joints that lead others by robot.reduced({lock!r})"
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
