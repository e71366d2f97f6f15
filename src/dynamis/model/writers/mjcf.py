"""Writer of MJCF, MuJoCo's format: bodies, joints, inertias, friction, armature, springs, limits and frames."""

from __future__ import annotations

import dataclasses
import math
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from dynamis.errors import ConversionError, printable
from dynamis.model.description import Description, Fresh, Joint, Link, Shape
from dynamis.model.joint_coordinates import with_known_limits
from dynamis.model.writers.mjcf_inertia import consistent_tensors, principal
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import to_quaternion
from dynamis.tolerances import SMALLEST_INERTIA

Array = npt.NDArray[Any]
# the joints of a body, each by its type in MJCF and the axis it takes
JOINTS = {
    "revolute": ("hinge",), "continuous": ("hinge",), "prismatic": ("slide",), "spherical": ("ball",), "free": ("free",),
    "cylindrical": ("slide", "hinge"), "universal": ("hinge", "hinge"),
}  # fmt: skip
SUFFIXES = {"cylindrical": (".distance", ".angle"), "universal": (".1", ".2")}


def write_mjcf(description: Description) -> str:
    """The robot as an MJCF document; joints that MuJoCo has not are an error."""
    description.require_numbers("MJCF")
    return _Writer(description).text()


def reserved(description: Description) -> list[str]:
    """The names of bodies that MJCF has for its world alone: a root called world without mass is that world."""
    carried = {joint.child for joint in description.joints}
    return [x.name for x in description.links if x.name == "world" and (x.name in carried or x.mass_properties is not None)]


class _Writer:
    def __init__(self, description: Description) -> None:
        self.d = description = with_known_limits(description)
        self.tensors, _ = consistent_tensors(description)
        self.carried = {joint.child: joint for joint in description.joints}
        self.carrying: dict[str, list[Joint]] = {}
        self.closed = {name for x in description.closures if x.kind in ("point", "weld") for name in x.links}
        self.fresh = Fresh(link.name for link in description.links)
        self.names = {name: self.fresh.name(f"link_{name}") for name in reserved(description)}
        for joint in description.joints:
            self.carrying.setdefault(joint.parent, []).append(joint)

    def text(self) -> str:
        d = self.d
        root = next(link for link in d.links if link.name not in self.carried)
        return "\n".join([
            f"<mujoco model={quoteattr(d.name)}>",
            '  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
            f'  <option gravity="{_numbers(d.gravity)}"/>',
            "  <worldbody>",
            *self._root(root),
            "  </worldbody>",
            *self._contact(),
            *self._followers(),
            "</mujoco>\n",
        ])  # fmt: skip

    def _root(self, root: Link) -> list[str]:
        if root.name == "world" and root.mass_properties is None:
            shapes = [f"    {text}" for text in _geoms(root.shapes)]
            shapes += [f"    {text}" for text in self._site(root)]
            return [*shapes, *self._children(self.carrying.get(root.name, []), "    ")]
        below = self.carrying.pop(root.name, [])
        free = [joint for joint in below if joint.type == "free"]  # MuJoCo has them at the top level only
        self.carrying[root.name] = [joint for joint in below if joint.type != "free"]
        return [*self._body(root, Pose.identity(), [], "    "), *self._children(free, "    ")]

    def _children(self, carrying: list[Joint], indent: str) -> list[str]:
        links = {link.name: link for link in self.d.links}
        lines: list[str] = []
        for joint in carrying:
            if joint.type in ("spherical", "free") and not joint.tail.is_identity():
                lines += self._turning(joint, links[joint.child], indent)
                continue
            place = joint.origin @ joint.tail  # where the child is at zero
            lines += self._body(links[joint.child], place, self._joint(joint), indent)
        return lines

    def _turning(self, joint: Joint, link: Link, indent: str) -> list[str]:
        """A body that turns with the joint's frame, whose quaternion MuJoCo has as coordinates, and the link fixed to it."""
        name, inner = self.fresh.name(f"{joint.name}_frame"), indent + "  "
        moments, _ = principal(np.zeros((3, 3)), True)
        inertial = f'<inertial pos="0 0 0" mass="{_number(SMALLEST_INERTIA)}" diaginertia="{_numbers(moments)}"/>'
        return [
            f"{indent}<body name={quoteattr(name)}{_place(joint.origin)}>",
            inner + inertial,
            *(inner + line for line in self._joint(dataclasses.replace(joint, tail=Pose.identity()))),
            *self._body(link, joint.tail, [], inner),
            f"{indent}</body>",
        ]

    def _body(self, link: Link, place: Pose, joints: list[str], indent: str) -> list[str]:
        lines = [f"{indent}<body name={self._name(link.name)}{_place(place)}>"]
        inner = indent + "  "
        if link.mass_properties is not None or link.name in self.tensors or joints:
            mass, com = (0.0, np.zeros(3)) if (m := link.mass_properties) is None else (float(m.mass), np.asarray(m.com, float))
            moments, axes = principal(self.tensors.get(link.name, np.zeros((3, 3))), bool(joints))
            number = _number(max(mass, SMALLEST_INERTIA) if joints else mass)
            lines.append(f'{inner}<inertial{_place(Pose(axes, com))} mass="{number}" diaginertia="{_numbers(moments)}"/>')
        lines += [inner + joint for joint in joints]
        lines += [inner + text for text in self._site(link)]
        lines += [inner + text for text in _geoms(link.shapes)]
        return [*lines, *self._children(self.carrying.get(link.name, []), inner), f"{indent}</body>"]

    def _name(self, link: str) -> str:
        return quoteattr(self.names.get(link, link))

    def _site(self, link: Link) -> list[str]:
        return [f"<site name={self._name(link.name)}/>"] if link.name in self.closed else []

    def _joint(self, joint: Joint) -> list[str]:
        if joint.type == "fixed":
            return []
        if joint.type not in JOINTS:
            raise ConversionError(f"joint {printable(joint.name)} is {joint.type}: MJCF has no such joint; write TOML instead")
        if joint.drive.motor_link is not None:
            raise ConversionError(
                f"joint {printable(joint.name)} has a motor on a link, which MJCF cannot represent: remove it with replace"
            )
        drive, limits = joint.drive, joint.limits
        back = joint.tail.inverse()
        lines = []
        kinds, suffixes = JOINTS[joint.type], SUFFIXES.get(joint.type, ("",))
        axes = (joint.axis, joint.axis2 if joint.axis2 is not None else joint.axis)
        for kind, suffix, axis in zip(kinds, suffixes, axes, strict=False):
            words = [f"joint name={quoteattr(joint.name + suffix)}", f'type="{kind}"']
            if kind != "free":
                words.append(f'pos="{_numbers(back.p)}"')
            if kind in ("hinge", "slide"):
                words.append(f'axis="{_numbers(back.R @ np.asarray(axis, float))}"')
                if math.isfinite(limits.lower) and math.isfinite(limits.upper) and len(kinds) == 1:
                    words.append(f'range="{_number(limits.lower)} {_number(limits.upper)}"')
                if math.isfinite(limits.effort):
                    words.append(f'actuatorfrcrange="{_number(-limits.effort)} {_number(limits.effort)}"')
            physics = {"damping": drive.viscous, "frictionloss": drive.coulomb, "stiffness": drive.stiffness,
                       "springref": drive.rest, "armature": drive.rotor_inertia * drive.gear_ratio**2}  # fmt: skip
            words += [f'{name}="{_number(value)}"' for name, value in physics.items() if value]
            lines.append(f"<{' '.join(words)}/>")
        return lines

    def _contact(self) -> list[str]:
        pairs = self.d.no_contact
        lines = [f"    <exclude body1={self._name(a)} body2={self._name(b)}/>" for a, b in pairs]
        return ["  <contact>", *lines, "  </contact>"] if lines else []

    def _followers(self) -> list[str]:
        """Followers and closures; MuJoCo's equality constraints are soft: a follower keeps its degree of freedom there."""
        lines = [
            f"    <joint joint1={quoteattr(joint.name)} joint2={quoteattr(m.joint)} "
            f'polycoef="{_number(m.offset)} {_number(m.ratio)} 0 0 0"/>'
            for joint in self.d.joints
            if (m := joint.follows) is not None
        ]
        for x in self.d.closures:
            if x.kind == "coupled":
                second = f" joint2={quoteattr(x.second)}" if x.second else ""
                numbers = " ".join(_number(c) for c in (x.offset, x.ratio, *x.higher, 0.0, 0.0, 0.0)[:5])
                lines.append(f'    <joint joint1={quoteattr(x.first)}{second} polycoef="{numbers}"/>')
            elif x.kind in ("point", "weld"):
                word = "connect" if x.kind == "point" else "weld"
                lines.append(f"    <{word} site1={self._name(x.first)} site2={self._name(x.second)}/>")
        return ["  <equality>", *lines, "  </equality>"] if lines else []


def _geoms(shapes: list[Shape]) -> list[str]:
    """The geoms of a link; one that is visual and collides is one geom."""
    roles: dict[str, set[str]] = {}
    for shape in shapes:
        if text := _geom(shape):
            roles.setdefault(text, set()).add(shape.role)
    words = {"visual": ' contype="0" conaffinity="0" group="1"', "collision": ' group="3"'}
    return [f"<geom {text}{words[min(found)] if len(found) == 1 else ''}/>" for text, found in roles.items()]


def _geom(shape: Shape) -> str:
    size, rgba = shape.size, "" if shape.rgba is None else f' rgba="{_numbers(shape.rgba)}"'
    match shape.kind:
        case "sphere":
            kind, sizes = "sphere", size[:1]
        case "box":
            kind, sizes = "box", tuple(x / 2 for x in size)
        case "rounded_box":
            kind, sizes = "box", tuple(x / 2 for x in size[:3])
        case "cylinder" | "capsule":
            kind, sizes = shape.kind, (size[0], size[1] / 2)
        case "tapered_capsule":
            kind, sizes = "capsule", ((size[0] + size[1]) / 2, size[2] / 2)
        case "ellipsoid":
            kind, sizes = "ellipsoid", size
        case _:
            return ""  # meshes
    return f'type="{kind}" size="{_numbers(sizes)}"{_place(shape.origin)}{rgba}'


def _place(pose: Pose) -> str:
    if pose.is_identity():
        return ' pos="0 0 0"'
    x, y, z, w = to_quaternion(np.asarray(pose.R, float))
    return f' pos="{_numbers(pose.p)}" quat="{_numbers((w, x, y, z))}"'


def _numbers(values: Any) -> str:
    return " ".join(_number(x) for x in values)


def _number(x: Any) -> str:
    return repr(float(x)).removesuffix(".0")
