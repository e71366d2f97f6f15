"""The URDF writer. What URDF has no place for stands in ``<dynamis>`` elements, which other tools skip."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamis.errors import ConversionError
from dynamis.model.description import Description, Drive, Joint, Link, MassProperties, Shape
from dynamis.model.joints import stages
from dynamis.model.readers.urdf import URDF_TYPES
from dynamis.scalar import Node
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import to_rpy

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
_NAMES = {ours: theirs for theirs, ours in URDF_TYPES.items()}


def write_urdf(description: Description) -> str:
    """The robot as a URDF document.

    Cylindrical and universal joints become two joints with a massless link between them; a link whose frame is not on
    its joint's axis is mounted on it by a fixed joint. Symbols, helical and spherical joints have no URDF form.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={_text(description.name)}>"]
    if tuple(_number(g, "gravity") for g in description.gravity) != ("0", "0", "-9.81"):
        lines.append(f'  <dynamis gravity="{_numbers(description.gravity, "gravity")}"/>')
    for link in description.links:
        lines += _link(link)
    for joint in description.joints:
        lines += _joint(joint)
    return "\n".join([*lines, "</robot>", ""])


def _text(value: str) -> str:
    for character in value:
        if ord(character) < 32 and character not in "\t\n\r":
            raise ConversionError(f"the name {value!r} has a control character, which XML cannot hold; rename it")
    return '"' + "".join(_ESCAPES.get(character, character) for character in value) + '"'


def _number(value: Any, what: str) -> str:
    if isinstance(value, Node):
        raise ConversionError(f"{what} is the symbol {value}: URDF holds numbers only; give the parameters values first")
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def _numbers(values: Any, what: str) -> str:
    return " ".join(_number(x, what) for x in values)


def _origin(pose: Pose, what: str, indent: str) -> list[str]:
    if pose.is_identity():
        return []
    if pose.R.dtype == object:
        raise ConversionError(f"{what} has a symbolic rotation: URDF holds numbers only; give the parameters values first")
    rpy = to_rpy(pose.R)
    turn = f' rpy="{_numbers(rpy, what)}"' if rpy.any() else ""
    return [f'{indent}<origin xyz="{_numbers(pose.p, what)}"{turn}/>']


def _link(link: Link) -> list[str]:
    head = f"  <link name={_text(link.name)}"
    inner = _inertial(link.mass_properties, f"link '{link.name}'") if link.mass_properties is not None else []
    for shape in link.shapes:
        inner += _shape(shape, f"link '{link.name}'")
    return [head + ">", *inner, "  </link>"] if inner else [head + "/>"]


def _inertial(mass: MassProperties, what: str) -> list[str]:
    I = mass.tensor
    entries = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
    tensor = " ".join(f'{key}="{_number(value, what)}"' for key, value in entries.items())
    return [
        "    <inertial>",
        f'      <origin xyz="{_numbers(mass.com, what)}"/>',
        f'      <mass value="{_number(mass.mass, what)}"/>',
        f"      <inertia {tensor}/>",
        "    </inertial>",
    ]


def _shape(shape: Shape, what: str) -> list[str]:
    match shape.kind:
        case "box":
            geometry = f'<box size="{_numbers(shape.size, what)}"/>'
        case "sphere":
            geometry = f'<sphere radius="{_number(shape.size[0], what)}"/>'
        case "mesh":
            geometry = f'<mesh filename={_text(shape.mesh)} scale="{_numbers(shape.size, what)}"/>'
        case _:
            radius, length = (_number(x, what) for x in shape.size)
            geometry = f'<{shape.kind} radius="{radius}" length="{length}"/>'
    colour = []
    if shape.rgba is not None:
        colour = [f'      <material name=""><color rgba="{_numbers(shape.rgba, what)}"/></material>']
    body = [f"      <geometry>{geometry}</geometry>"]
    return [f"    <{shape.role}>", *_origin(shape.origin, what, "      "), *body, *colour, f"    </{shape.role}>"]


def _joint(joint: Joint) -> list[str]:
    what = f"joint '{joint.name}'"
    if joint.type in ("helical", "spherical"):
        raise ConversionError(f"{what} is {joint.type}: URDF has no such joint; write TOML instead")
    if joint.type == "fixed":
        place = joint.origin @ joint.tail
        return _one_joint(joint.name, "fixed", joint.parent, joint.child, place, None, [], what)
    lines: list[str] = []
    tail = not joint.tail.is_identity()
    final = f"{joint.name}/axis" if tail else joint.child
    if joint.type in ("cylindrical", "universal"):
        axis2 = joint.axis2 if joint.axis2 is not None else joint.axis
        parts = stages(joint.type, joint.axis, axis2)
        middle = joint.name + parts[0].suffix + "/link"
        first, second = ("prismatic", "continuous") if joint.type == "cylindrical" else ("continuous", "continuous")
        lines += [f"  <link name={_text(middle)}/>"]
        lines += _one_joint(
            joint.name + parts[0].suffix, first, joint.parent, middle, joint.origin, joint.axis, _extras(joint, what), what
        )
        lines += _one_joint(
            joint.name + parts[1].suffix, second, middle, final, Pose.identity(), axis2, _extras(joint, what), what
        )
    else:
        axis = None if joint.type == "free" else joint.axis
        lines += _one_joint(joint.name, _NAMES[joint.type], joint.parent, final, joint.origin, axis, _extras(joint, what), what)
    if tail:
        lines += [f"  <link name={_text(final)}/>"]
        lines += _one_joint(joint.name + "/tail", "fixed", final, joint.child, joint.tail, None, [], what)
    return lines


def _one_joint(
    name: str, kind: str, parent: str, child: str, origin: Pose, axis: Any, extras: list[str], what: str
) -> list[str]:
    lines = [f'  <joint name={_text(name)} type="{kind}">']
    lines += _origin(origin, what, "    ")
    lines += [f"    <parent link={_text(parent)}/>", f"    <child link={_text(child)}/>"]
    if axis is not None:
        lines.append(f'    <axis xyz="{_numbers(axis, what)}"/>')
    return [*lines, *extras, "  </joint>"]


def _extras(joint: Joint, what: str) -> list[str]:
    lines = []
    limits, drive = joint.limits, joint.drive
    # an infinite limit has no URDF number: the largest float stands for it where the attribute is required
    finite = {key: value for key, value in vars(limits).items() if np.isfinite(value)}
    if joint.type in ("revolute", "prismatic", "cylindrical") or finite:
        big = {"lower": -1e9, "upper": 1e9} if joint.type in ("prismatic", "cylindrical", "revolute") else {}
        shown = {**big, **finite}
        lines.append("    <limit " + " ".join(f'{k}="{_number(v, what)}"' for k, v in shown.items()) + "/>")
    if not (_is_zero(drive.viscous) and _is_zero(drive.coulomb)):
        lines.append(f'    <dynamics damping="{_number(drive.viscous, what)}" friction="{_number(drive.coulomb, what)}"/>')
    plain = Drive()
    more = {k: v for k, v in vars(drive).items() if k not in ("viscous", "coulomb") and not _same(v, getattr(plain, k))}
    if more:
        lines.append("    <dynamis " + " ".join(f'{k}="{_number(v, what)}"' for k, v in more.items()) + "/>")
    if joint.mimic is not None:
        m = joint.mimic
        ratio, offset = _number(m.ratio, what), _number(m.offset, what)
        lines.append(f'    <mimic joint={_text(m.joint)} multiplier="{ratio}" offset="{offset}"/>')
    return lines


def _is_zero(x: Any) -> bool:
    return _same(x, 0.0)


def _same(x: Any, y: float) -> bool:
    return not isinstance(x, Node) and float(x) == y
