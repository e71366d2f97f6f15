"""Reader of Pinocchio models.

A Pinocchio model has its fixed joints merged: each joint carries one body, whose frame is that of the joint; frames become
fixed frames. Armature is a rotor inertia, ``damping`` viscous and ``friction`` Coulomb friction.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.errors import ConversionError, InputError, printable
from dynamis.model.description import Description, Drive, Fresh, Joint, Limits, Link, MassProperties, Mimic
from dynamis.spatial.pose import Pose

ROOT = "universe"
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
LARGE = 1e300  # Pinocchio's limits of joints without limits are the largest numbers, or infinite
# joints with one axis: the end of the class name, our type
ONE_AXIS = {"R": "revolute", "RUB": "continuous", "P": "prismatic", "H": "helical"}
OTHERS = {"JointModelFreeFlyer": "free", "JointModelSpherical": "spherical", "JointModelPlanar": "planar"}
UNALIGNED = {
    "JointModelRevoluteUnaligned": "revolute", "JointModelRevoluteUnboundedUnaligned": "continuous",
    "JointModelPrismaticUnaligned": "prismatic", "JointModelHelicalUnaligned": "helical",
}  # fmt: skip


def describe_pinocchio(model: Any) -> Description:
    """The description of a `pinocchio.Model`."""
    needed = ("joints", "inertias", "jointPlacements", "frames", "parents", "names")
    if not all(hasattr(model, name) for name in needed):
        raise InputError(f"from_pinocchio takes a pinocchio.Model, got {type(model).__name__}")
    d = Description(str(model.name) or "robot", gravity=np.array(model.gravity.linear, float), source="Pinocchio")
    names = Fresh(())
    # a body takes the name of the first BODY frame that coincides with its joint
    bodies: dict[int, Any] = {}
    for frame in model.frames:
        if str(frame.type).endswith("BODY") and _pose(frame.placement).is_identity():
            bodies.setdefault(int(frame.parentJoint), frame)
    links: list[str] = []
    for k in range(model.njoints):
        body = bodies.get(k)
        links.append(names.name(str(body.name) if body is not None else f"{model.names[k]}_body" if k else ROOT))
    d.links.append(Link(links[0], _mass(model.inertias[0])))
    joints = Fresh(())
    leaders = dict(zip(getattr(model, "mimicking_joints", ()), getattr(model, "mimicked_joints", ()), strict=True))
    for k in range(1, model.njoints):
        d.links.append(Link(links[k], _mass(model.inertias[k])))
        name = joints.name(str(model.names[k]))
        if k in leaders:
            joint = _follower(model, k, name, int(leaders[k]), d.joints[leaders[k] - 1].name)
        else:
            joint = _joint(model, k, name)
        joint.parent, joint.child = links[model.parents[k]], links[k]
        d.joints.append(joint)
    for frame in model.frames:
        kind, at = str(frame.type).rsplit(".", 1)[-1], int(frame.parentJoint)
        if kind == "JOINT" or str(frame.name) == ROOT or frame is bodies.get(at):
            continue
        if bodies.get(at) is not None and frame.name == bodies[at].name:
            continue
        name = str(frame.name)
        if kind == "FIXED_JOINT" or name in links:
            continue  # the body of the same place has the name of the link
        own = names.name(name)
        d.links.append(Link(own))
        d.joints.append(Joint(joints.name(f"{own}_frame"), "fixed", links[at], own, _pose(frame.placement)))
    return d


def _joint(model: Any, k: int, name: str) -> Joint:
    joint = model.joints[k]
    kind = joint.shortname()
    inner = _inner(joint)
    made = Joint(name, "fixed", "", "", _pose(model.jointPlacements[k]))
    aligned = re.fullmatch(r"JointModel(R|RUB|P|H)([XYZ])", kind)
    if aligned:
        made.type, made.axis = ONE_AXIS[aligned[1]], np.array(AXES[aligned[2]])
    elif kind in UNALIGNED:
        made.type, made.axis = UNALIGNED[kind], np.array(inner.axis, float)
    elif kind == "JointModelUniversal":
        made.type, made.axis, made.axis2 = "universal", np.array(inner.axis1, float), np.array(inner.axis2, float)
    elif kind in OTHERS:
        made.type = OTHERS[kind]
        made.axis = np.array([0.0, 0.0, 1.0])
    else:
        known = "revolute, prismatic, helical, universal, planar, spherical and free joints"
        raise ConversionError(f"joint {printable(name)} is a {kind}, which a robot cannot represent; {known} are read")
    if made.type == "helical":
        made.pitch = float(inner.pitch)
    v, n, q = int(joint.idx_v), int(joint.nv), int(joint.idx_q)
    made.drive = _drive(model, v, n, name, made.type == "planar")
    if n == 1:
        bounded = made.type != "continuous"
        lower = float(model.lowerPositionLimit[q]) if bounded else -np.inf
        upper = float(model.upperPositionLimit[q]) if bounded else np.inf
        made.limits = Limits(_limit(lower), _limit(upper), _limit(model.velocityLimit[v]), _limit(_effort(model)[v]))
        if made.type == "revolute" and not np.isfinite([made.limits.lower, made.limits.upper]).any():
            made.type = "continuous"
    return made


def _follower(model: Any, k: int, name: str, leader: int, leading: str) -> Joint:
    """A joint that follows another; Pinocchio tells its motion by the pose and the axis it has at a position of 1."""
    joint, inner = model.joints[k], _inner(model.joints[k])
    ratio, offset = float(inner.scaling), float(inner.offset)
    unbounded = int(model.joints[leader].nq) == 2  # (cos, sin) in q
    q, data = np.zeros(model.nq), joint.createData()
    q[joint.idx_q] = 1.0 if unbounded or ratio == 0.0 else (1.0 - offset) / ratio
    joint.calc(data, q)
    if ratio == 0.0:
        return Joint(name, "fixed", "", "", _pose(model.jointPlacements[k]) @ _pose(data.M))
    S = np.array(data.S, float).ravel() / ratio
    turns = S[3:].any()
    made = Joint(name, "prismatic", "", "", _pose(model.jointPlacements[k]), S[3:] if turns else S[:3])
    made.mimic = Mimic(leading, ratio, offset)
    if turns:
        made.pitch = float(made.axis @ _pose(data.M).p)
        made.type = "helical" if made.pitch else "continuous"
    return made


def _inner(joint: Any) -> Any:
    """The joint's own class, behind Pinocchio's variant."""
    return joint.extract() if hasattr(joint, "extract") else joint


def _effort(model: Any) -> Any:
    return model.upperEffortLimit if hasattr(model, "upperEffortLimit") else model.effortLimit


def _drive(model: Any, v: int, n: int, name: str, planar: bool) -> Drive:
    values = {what: np.asarray(getattr(model, what))[v : v + n] for what in ("armature", "damping", "friction")}
    for what, x in values.items():
        turned = planar and what == "armature" and x.any()  # it moves along the axes of the body there, of the parent here
        if np.ptp(x) > 0.0 or turned:
            found = "act along the axes of the body" if turned else f"have different values of model.{what}"
            raise ConversionError(
                f"joint {printable(name)}: its {counted(n, 'coordinate')} {found}, which joints here cannot: set "
                f"model.{what}[{v}:{v + n}] to zero first"
            )
    armature, damping, friction = (float(x[0]) for x in values.values())
    return Drive(viscous=damping, coulomb=friction, rotor_inertia=armature)


def _limit(x: Any) -> float:
    value = float(x)
    return value if abs(value) < LARGE else np.copysign(np.inf, value)


def _mass(inertia: Any) -> MassProperties | None:
    if float(inertia.mass) == 0.0 and not np.asarray(inertia.inertia).any():
        return None
    return MassProperties(float(inertia.mass), np.array(inertia.lever, float), np.array(inertia.inertia, float))


def _pose(placement: Any) -> Pose:
    return Pose(np.array(placement.rotation, float), np.array(placement.translation, float))
