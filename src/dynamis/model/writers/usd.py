"""Writer of USD as text: bodies beside each other at q = 0, joints in a scope of their own, massless ends as frames.

The physics schema is single precision; where that loses digits, an attribute ``dynamis:NAME`` beside NAME has the double.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import ConversionError, printable
from dynamis.model.description import DRIVE_NUMBERS, Description, Drive, Fresh, Joint, Link, MassProperties, Shape
from dynamis.model.joint_coordinates import with_known_limits
from dynamis.model.joints import plane_axes
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import to_quaternion
from dynamis.tolerances import SMALLEST_INERTIA

Array = npt.NDArray[Any]
TYPES = {"revolute": "PhysicsRevoluteJoint", "continuous": "PhysicsRevoluteJoint", "prismatic": "PhysicsPrismaticJoint",
         "spherical": "PhysicsSphericalJoint", "fixed": "PhysicsFixedJoint", "cylindrical": "PhysicsJoint",
         "planar": "PhysicsJoint", "free": "PhysicsJoint"}  # fmt: skip
LOCKED = {"cylindrical": ("transX", "transY", "rotX", "rotY"), "planar": ("transZ", "rotX", "rotY"), "free": ()}
DEGREES = 180.0 / math.pi
PRECISE = {"float": "double", "float3": "double3", "point3f": "double3", "vector3f": "double3", "quatf": "quatd"}


def write_usd(description: Description) -> str:
    """The robot as a USDA document with the physics schema; helical joints are an error, `losses` lists what is lost."""
    description.require_numbers("USD")
    return _Writer(description).text()


class _Writer:
    def __init__(self, description: Description) -> None:
        self.d = _with_simple_joints(with_known_limits(description))
        d = self.d
        self.carried = {joint.child: joint for joint in d.joints}
        self.carrying: dict[str, list[Joint]] = {}
        for joint in d.joints:
            self.carrying.setdefault(joint.parent, []).append(joint)
        self.fresh, self.joint_names = Fresh(("joints",)), Fresh(("root_joint",))
        self.root = next(link for link in d.links if link.name not in self.carried)
        out = self.carrying.get(self.root.name, [])
        self.floats = is_massless(self.root) and not self.root.shapes and len(out) == 1 and _is_bare_free(out[0])
        self.robot = _identifier(d.name)
        self.prims = {link.name: self.fresh.name(_identifier(link.name)) for link in d.links}
        self.joint_prims = {joint.name: self.joint_names.name(_identifier(joint.name)) for joint in d.joints}
        self.placed = {self.root.name: Pose.identity()}
        waiting = [self.root.name]
        while waiting:
            at = waiting.pop()
            for joint in self.carrying.get(at, ()):
                self.placed[joint.child] = self.placed[at] @ joint.origin @ joint.tail
                waiting.append(joint.child)

    def text(self) -> str:
        g = np.asarray(self.d.gravity, float)
        size = float(np.linalg.norm(g))
        scene = [*_attribute("vector3f", "physics:gravityDirection", g / size if size else (0.0, 0.0, -1.0)),
                 *_attribute("float", "physics:gravityMagnitude", (size,))]  # fmt: skip
        bodies = [line for link in self.d.links if not self.is_frame(link) and not self.is_world(link)
                  for line in self.body(link)]  # fmt: skip
        if self.is_frame(self.root):
            bodies = [*self.frame(self.root, Pose.identity(), (self.d.links.index(self.root), -1)), *bodies]
        joints = [] if self.is_frame(self.root) or self.floats else self.hold()
        for joint in self.d.joints:
            if not self.is_frame(self.link(joint.child)) and not (self.floats and joint.parent == self.root.name):
                joints += self.joint(joint)
        joints += self.closures()
        own = [*_name(self.robot, self.d.name), *bodies, *_prim("Scope", "joints", [], joints)]
        robot = _prim("Xform", self.robot, ["PhysicsArticulationRootAPI"], own)
        head = ["#usda 1.0", "(", f'    defaultPrim = "{self.robot}"', "    kilogramsPerUnit = 1", "    metersPerUnit = 1",
                '    upAxis = "Z"', ")", ""]  # fmt: skip
        scene_name = "physicsScene" if self.robot != "physicsScene" else "scene"
        return "\n".join([*head, *_prim("PhysicsScene", scene_name, [], scene), *robot]) + "\n"

    def link(self, name: str) -> Link:
        return next(link for link in self.d.links if link.name == name)

    def is_world(self, link: Link) -> bool:
        return self.floats and link is self.root

    def is_frame(self, link: Link) -> bool:
        """A link without mass that is fixed to another, or to the world: no body of its own."""
        joint = self.carried.get(link.name)
        return is_massless(link) and not self.is_world(link) and (joint is None or joint.type == "fixed")

    def path(self, name: str) -> str:
        parts, link = [self.prims[name]], self.link(name)
        while self.is_frame(link) and link.name in self.carried:
            link = self.link(self.carried[link.name].parent)
            parts.append(self.prims[link.name])
        return "/" + "/".join([self.robot, *reversed(parts)])

    def body(self, link: Link) -> list[str]:
        lines = [*_name(self.prims[link.name], link.name), *_mass(link.mass_properties if not is_massless(link) else None)]
        joint = self.carried.get(link.name)
        if joint is not None and self.floats and joint.parent == self.root.name:
            lines += [f"custom string dynamis:joint = {_text(joint.name)}"]
        lines += [*_place(self.placed[link.name]), *self.inside(link)]
        return _prim("Xform", self.prims[link.name], ["PhysicsRigidBodyAPI", "PhysicsMassAPI"], lines)

    def frame(self, link: Link, X: Pose, places: tuple[int, int]) -> list[str]:
        """A prim without a body; ``places`` are those of the link and of its joint in the description, −1 for no joint."""
        joint = self.carried.get(link.name)
        lines = [*_name(self.prims[link.name], link.name), f"custom int2 dynamis:frame = {places}"]
        lines += [f"custom string dynamis:joint = {_text(joint.name)}"] if joint is not None else []
        return _prim("Xform", self.prims[link.name], [], [*lines, *_place(X), *self.inside(link)])

    def inside(self, link: Link) -> list[str]:
        """The shapes of a link and the frames on it."""
        lines: list[str] = []
        for k, shape in enumerate(link.shapes):
            lines += _shape(shape, self.fresh.name(f"{self.prims[link.name]}_{shape.role}{k}"))
        for joint in self.carrying.get(link.name, ()):
            child = self.link(joint.child)
            if self.is_frame(child):
                lines += self.frame(child, joint.origin @ joint.tail, (self.d.links.index(child), self.d.joints.index(joint)))
        return lines

    def hold(self) -> list[str]:
        return _prim("PhysicsFixedJoint", "root_joint", [], [f"rel physics:body1 = <{self.path(self.root.name)}>"])

    def joint(self, joint: Joint) -> list[str]:
        if joint.type not in TYPES:
            raise ConversionError(f"joint {printable(joint.name)} is {joint.type}: USD has no such joint; write TOML instead")
        axis = np.asarray(joint.axis, float) / (np.linalg.norm(joint.axis) or 1.0)
        letter = next((name for name, e in zip("XYZ", np.eye(3), strict=True) if (axis == e).all()), "Z")
        along_z = letter == "Z" or joint.type in LOCKED
        R = plane_axes(axis) if along_z and joint.type not in ("fixed", "spherical", "free") else np.eye(3)
        letter = "Z" if along_z else letter
        lines = [*_name(self.joint_prims[joint.name], joint.name)]
        lines += [f'uniform token physics:axis = "{letter}"'] if joint.type in ("revolute", "continuous", "prismatic") else []
        lines += self.ends(joint.parent, joint.child, joint.origin @ Pose.rotation(R), joint.tail.inverse() @ Pose.rotation(R))
        apis, more = self.physics(joint, letter)
        for name in LOCKED.get(joint.type, ()):
            apis.append(f"PhysicsLimitAPI:{name}")
            more += [f"float limit:{name}:physics:low = 1", f"float limit:{name}:physics:high = -1"]
        return _prim(TYPES[joint.type], self.joint_prims[joint.name], apis, lines + more)

    def ends(self, parent: str, child: str, X_0: Pose, X_1: Pose) -> list[str]:
        lines = [f"rel physics:body0 = <{self.path(parent)}>", f"rel physics:body1 = <{self.path(child)}>"]
        for number, X in (("0", X_0), ("1", X_1)):
            lines += _attribute("point3f", f"physics:localPos{number}", X.p)
            lines += _attribute("quatf", f"physics:localRot{number}", _quaternion(X.R))
        return lines

    def physics(self, joint: Joint, letter: str) -> tuple[list[str], list[str]]:
        """(applied schemas, attributes) of limits, drive and mimic."""
        apis, lines, limits, drive = list[str](), list[str](), joint.limits, joint.drive
        lines += [f"custom double dynamis:drive:{name} = {float(value)!r}" for name in DRIVE_NUMBERS
                  if (value := getattr(drive, name)) != getattr(Drive(), name)]  # fmt: skip
        if joint.type not in ("revolute", "continuous", "prismatic"):
            return apis, lines
        turns = joint.type != "prismatic"
        unit = DEGREES if turns else 1.0
        for name, value in (("lower", limits.lower), ("upper", limits.upper)):
            if math.isfinite(value):
                lines += _attribute("float", f"physics:{name}Limit", (value * unit,))
        armature = drive.rotor_inertia * drive.gear_ratio**2
        if armature or math.isfinite(limits.velocity):
            apis.append("PhysxJointAPI")
            lines += _attribute("float", "physxJoint:armature", (armature,)) if armature else []
            if math.isfinite(limits.velocity):
                lines += _attribute("float", "physxJoint:maxJointVelocity", (limits.velocity * unit,))
        if drive.viscous or drive.stiffness or math.isfinite(limits.effort):
            own = "drive:angular:physics:" if turns else "drive:linear:physics:"
            apis.append("PhysicsDriveAPI:angular" if turns else "PhysicsDriveAPI:linear")
            values = {"damping": drive.viscous / unit, "stiffness": drive.stiffness / unit,
                      "targetPosition": drive.rest * unit if drive.stiffness else 0.0}  # fmt: skip
            for name, value in values.items():
                lines += [f"float {own}{name} = {_single(value)}"] if value else []
            if math.isfinite(limits.effort):
                lines += _attribute("float", own + "maxForce", (limits.effort,))
        if (mimic := joint.follows) is not None:
            leader = next((j for j in self.d.joints if j.name == mimic.joint), joint)
            key = f"{'rot' if turns else 'trans'}{letter}"
            apis.append(f"PhysxMimicJointAPI:{key}")
            ratio = mimic.ratio * (unit / (1.0 if leader.type == "prismatic" else DEGREES))
            lines += _attribute("float", f"physxMimicJoint:{key}:gearing", (-ratio,))
            lines += _attribute("float", f"physxMimicJoint:{key}:offset", (-mimic.offset * unit,))
            path = f"/{self.robot}/joints/{self.joint_prims[leader.name]}"
            lines += [f"rel physxMimicJoint:{key}:referenceJoint = <{path}>"]
        return apis, lines

    def closures(self) -> list[str]:
        """Joints outside the articulation, which are points and welds."""
        lines: list[str] = []
        for x in self.d.closures:
            if x.kind in ("point", "weld"):
                kind = "PhysicsSphericalJoint" if x.kind == "point" else "PhysicsFixedJoint"
                own = [*self.ends(x.first, x.second, Pose.identity(), Pose.identity()),
                       "bool physics:excludeFromArticulation = 1"]  # fmt: skip
                lines += _prim(kind, self.joint_names.name(_identifier(f"{x.first}_closure")), [], own)
        return lines


def is_massless(link: Link) -> bool:
    m = link.mass_properties
    return m is None or (m.mass == 0.0 and not np.any(np.asarray(m.tensor, float)))


def _is_bare_free(joint: Joint) -> bool:
    return joint.type == "free" and joint.origin.is_identity() and joint.tail.is_identity() and joint.drive == Drive()


def _with_simple_joints(description: Description) -> Description:
    """A copy in which a universal joint is two hinges with a massless link between them."""
    d = description.copy()
    names = Fresh(link.name for link in d.links)
    joints: list[Joint] = []
    for joint in d.joints:
        if joint.type != "universal":
            joints.append(joint)
            continue
        between = names.name(f"{joint.name}/between")
        d.links.append(Link(between))
        shared: dict[str, Any] = {"limits": joint.limits, "drive": joint.drive}
        joints.append(Joint(f"{joint.name}.1", "revolute", joint.parent, between, joint.origin, joint.axis, **shared))
        second = np.asarray(joint.axis2, float)
        joints.append(Joint(f"{joint.name}.2", "revolute", between, joint.child, axis=second, tail=joint.tail, **shared))
    d.joints = joints
    return d


def _prim(kind: str, name: str, apis: list[str], lines: list[str]) -> list[str]:
    listed = ", ".join(f'"{api}"' for api in apis)
    applied = [f'def {kind} "{name}" (', f"    prepend apiSchemas = [{listed}]", ")"] if apis else [f'def {kind} "{name}"']
    return [*applied, "{", *("    " + line for line in lines), "}"]


def _attribute(kind: str, name: str, values: Any) -> list[str]:
    """The attribute, and its double where single precision is not exact."""
    exact = [float(x) for x in values]
    rounded = [_single(x) for x in exact]
    lines = [f"{kind} {name} = {_tuple(rounded)}"]
    if [float(x) for x in rounded] != exact:
        lines.append(f"custom {PRECISE[kind]} dynamis:{name} = {_tuple([repr(x) for x in exact])}")
    return lines


def _mass(m: MassProperties | None) -> list[str]:
    if m is None:  # 0 stands for a mass to be computed
        m = MassProperties(SMALLEST_INERTIA, np.zeros(3), SMALLEST_INERTIA * np.eye(3))
    tensor = np.asarray(m.tensor, float)
    moments, axes = np.linalg.eigh(0.5 * (tensor + tensor.T))
    if not (tensor - np.diag(np.diag(tensor))).any():
        moments, axes = np.diag(tensor), np.eye(3)
    axes = axes if np.linalg.det(axes) > 0.0 else -axes
    lines = _attribute("float", "physics:mass", (max(float(m.mass), SMALLEST_INERTIA),))
    lines += _attribute("point3f", "physics:centerOfMass", m.com)
    lines += _attribute("float3", "physics:diagonalInertia", moments)
    if not moments.any():  # 0 stands for moments to be computed, unless the double says so
        lines.append("custom double3 dynamis:physics:diagonalInertia = (0, 0, 0)")
    return lines + _attribute("quatf", "physics:principalAxes", _quaternion(axes))


def _shape(shape: Shape, name: str) -> list[str]:
    s, scale = shape.size, None
    match shape.kind:
        case "box" | "rounded_box":
            kind, lines, scale = "Cube", ["double size = 1"], s[:3]
        case "sphere":
            kind, lines = "Sphere", [f"double radius = {float(s[0])!r}"]
        case "ellipsoid":
            kind, lines, scale = "Sphere", ["double radius = 1"], s
        case "mesh":
            return []
        case other:
            radius, length = (s[0], s[1]) if other != "tapered_capsule" else ((s[0] + s[1]) / 2.0, s[2])
            kind = "Cylinder" if other == "cylinder" else "Capsule"
            lines = ['uniform token axis = "Z"', f"double height = {float(length)!r}", f"double radius = {float(radius)!r}"]
    if shape.rgba is not None:
        lines.append(f"color3f[] primvars:displayColor = [{_tuple([_single(x) for x in shape.rgba[:3]])}]")
        lines += [f"float[] primvars:displayOpacity = [{_single(shape.rgba[3])}]"] if shape.rgba[3] != 1.0 else []
    collides = shape.role == "collision"
    lines += ['uniform token purpose = "guide"'] if collides else []
    return _prim(kind, name, ["PhysicsCollisionAPI"] if collides else [], [*lines, *_place(shape.origin, scale)])


def _place(X: Pose, scale: Any = None) -> list[str]:
    if X.is_identity() and scale is None:
        return []
    lines = [f"double3 xformOp:translate = {_tuple([repr(float(x)) for x in X.p])}",
             f"quatd xformOp:orient = {_tuple([repr(x) for x in _quaternion(X.R)])}"]  # fmt: skip
    names = ["translate", "orient"]
    if scale is not None:
        names.append("scale")
        lines.append(f"double3 xformOp:scale = {_tuple([repr(float(x)) for x in scale])}")
    order = ", ".join(f'"xformOp:{name}"' for name in names)
    return [*lines, f"uniform token[] xformOpOrder = [{order}]"]


def _quaternion(R: Any) -> list[float]:
    x, y, z, w = (float(value) for value in to_quaternion(np.asarray(R, float)))
    return [w, x, y, z]


def _single(x: Any) -> str:
    return str(np.float32(x))


def _tuple(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _name(prim: str, name: str) -> list[str]:
    return [] if prim == name else [f"custom string dynamis:name = {_text(name)}"]


def _text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _identifier(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
