"""Reader of Pinocchio models.

A Pinocchio model has its fixed joints merged: each joint carries one body, whose frame is that of the joint; frames become
fixed frames. Composite joints, and those of Euler angles and of translations, become chains of single joints with massless
links between them. Armature is a rotor inertia, ``damping`` viscous and ``friction`` Coulomb friction.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.errors import ConversionError, InputError, ModelWarning, printable
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
CHAINS = {"JointModelTranslation": ("PX", "PY", "PZ"), "JointModelSphericalZYX": ("RZ", "RY", "RX")}


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
    joints, own_names = Fresh(()), {0: ""}
    leaders = dict(zip(getattr(model, "mimicking_joints", ()), getattr(model, "mimicked_joints", ()), strict=True))
    for k in range(1, model.njoints):
        d.links.append(Link(links[k], _mass(model.inertias[k])))
        name = joints.name(str(model.names[k]))
        if k in leaders:
            chain = [_follower(model, k, name, int(leaders[k]), own_names[int(leaders[k])])]
        else:
            chain = _chain(model, model.joints[k], name, _pose(model.jointPlacements[k]))
        own_names[k], parent = name, links[model.parents[k]]
        for joint in chain:
            joint.parent, joint.child = parent, links[k] if joint is chain[-1] else names.name(f"{joint.name}_link")
            if joint is not chain[-1]:
                d.links.append(Link(joint.child))
            d.joints.append(joint)
            parent = joint.child
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
    _warn_rotors(model)
    return d


def _chain(model: Any, joint: Any, name: str, place: Pose) -> list[Joint]:
    """A joint, or the single joints that it is composed of, the inner ones named with a number."""
    kind, inner = joint.shortname(), _inner(joint)
    if kind == "JointModelComposite":
        made: list[Joint] = []
        for k, (part, placement) in enumerate(zip(inner.joints, inner.jointPlacements, strict=True)):
            made += _chain(model, part, f"{name}.{k + 1}", (Pose.identity() if k else place) @ _pose(placement))
        return made
    q, v = int(joint.idx_q), int(joint.idx_v)
    if kind in CHAINS:
        single = enumerate(CHAINS[kind])
        return [_joint(model, f"JointModel{x}", inner, f"{name}.{k + 1}", Pose.identity() if k else place, q + k, v + k, 1)
                for k, x in single]  # fmt: skip
    return [_joint(model, kind, inner, name, place, q, v, int(joint.nv))]


def _joint(model: Any, kind: str, inner: Any, name: str, place: Pose, q: int, v: int, n: int) -> Joint:
    made = Joint(name, "fixed", "", "", place)
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
        known = "revolute, prismatic, helical, universal, planar, spherical and free joints, and composites of them"
        cure = "make it a chain of single joints in the Pinocchio model"
        raise ConversionError(f"joint {printable(name)} is a {kind}, which a robot cannot represent; {known} are read: {cure}")
    if made.type == "helical":
        made.pitch = float(inner.pitch)
    made.drive = _drive(model, v, n, name, made.type == "planar")
    if n == 1:
        bounded = made.type != "continuous"
        lower = float(model.lowerPositionLimit[q]) if bounded else -np.inf
        upper = float(model.upperPositionLimit[q]) if bounded else np.inf
        made.limits = Limits(_limit(lower), _limit(upper), _limit(model.velocityLimit[v]), _limit(_effort(model)[v]))
        if made.type == "revolute" and not np.isfinite([made.limits.lower, made.limits.upper]).any():
            made.type = "continuous"
    return made


def _warn_rotors(model: Any) -> None:
    """``rotorInertia`` and ``rotorGearRatio`` are in a model for its users: no algorithm of Pinocchio reads them."""
    rotors = np.asarray(getattr(model, "rotorInertia", 0.0)) * np.asarray(getattr(model, "rotorGearRatio", 0.0)) ** 2
    if rotors.any():
        text = "rotorInertia and rotorGearRatio are not read, as Pinocchio's algorithms do not use them"
        cure = "for rotors in the dynamics set model.armature = model.rotorInertia * model.rotorGearRatio**2"
        warnings.warn(f"{text}; {cure}", ModelWarning, stacklevel=5)


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
