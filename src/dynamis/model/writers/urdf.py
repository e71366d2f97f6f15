"""The URDF writer. What URDF has no place for stands in ``<dynamis>`` elements, which other tools skip."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dynamis.errors import ConversionError, printable
from dynamis.model.build import joint_stages
from dynamis.model.description import DRIVE_NUMBERS, Description, Drive, Fresh, Joint, Link, MassProperties, Shape
from dynamis.model.joint_coordinates import with_known_limits
from dynamis.model.readers.urdf import STANDARD_SHAPES, URDF_TYPES
from dynamis.model.writers.urdf_edit import edit_urdf
from dynamis.model.writers.xml_text import escaped, number_text
from dynamis.scalar import Node
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import to_rpy

_NAMES = {ours: theirs for theirs, ours in URDF_TYPES.items()}
SEQUENCES = {"cylindrical": ("prismatic", "continuous"), "universal": ("continuous", "continuous")}  # of joints URDF knows


def urdf_document(description: Description) -> bytes:
    """The robot as a URDF file: the document it was read from with the changed values, or a new one if that is not enough."""
    edited = edit_urdf(description) if description.document else None
    return edited if edited is not None else write_urdf(description).encode()


def write_urdf(description: Description) -> str:
    """The robot as a URDF document.

    Cylindrical and universal joints become two joints with a massless link between them; a link whose frame is not on
    its joint's axis is mounted on it by a fixed joint. Capsules and tapered capsules are written as cylinders, rounded
    boxes as boxes and ellipsoids as spheres, with their exact sizes in a ``<dynamis>`` element. Symbols, helical and
    spherical joints have no URDF form.
    """
    description.require_numbers("a URDF file")
    fresh = Fresh([*(link.name for link in description.links), *(joint.name for joint in description.joints)])
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={_text(description.name)}>"]
    lines += _robot(description)
    for link in description.links:
        lines += _link(link)
    for joint in with_known_limits(description).joints:
        lines += _joint(joint, fresh)
    return "\n".join([*lines, "</robot>", ""])


def _robot(description: Description) -> list[str]:
    """What belongs to the whole robot: gravity and how it is shown."""
    look, attributes = description.appearance, []
    if tuple(number_text(g) for g in description.gravity) != ("0", "0", "-9.81"):
        attributes.append(f'gravity="{_numbers(description.gravity)}"')
    attributes += ['mobile="true"'] if look.mobile else []
    attributes += [f"meshes={_text(look.meshes)}"] if look.meshes else []
    pose = [f'    <pose joint={_text(name)} value="{number_text(x)}"/>' for name, x in look.pose.items()]
    head = " ".join(["  <dynamis", *attributes])
    if pose:
        return [head + ">", *pose, "  </dynamis>"]
    return [head + "/>"] if attributes else []


def _text(value: str) -> str:
    return f'"{escaped(value)}"'


def _numbers(values: Any) -> str:
    return " ".join(number_text(x) for x in values)


def _origin(pose: Pose, indent: str) -> list[str]:
    if pose.is_identity():
        return []
    rpy = to_rpy(pose.R)
    turn = f' rpy="{_numbers(rpy)}"' if rpy.any() else ""
    return [f'{indent}<origin xyz="{_numbers(pose.p)}"{turn}/>']


def _link(link: Link) -> list[str]:
    head = f"  <link name={_text(link.name)}"
    inner = _inertial(link.mass_properties) if link.mass_properties is not None else []
    for shape in link.shapes:
        inner += _shape(shape)
    return [head + ">", *inner, "  </link>"] if inner else [head + "/>"]


def _inertial(mass: MassProperties) -> list[str]:
    I = mass.tensor
    entries = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
    tensor = " ".join(f'{key}="{number_text(value)}"' for key, value in entries.items())
    return [
        "    <inertial>",
        f'      <origin xyz="{_numbers(mass.com)}"/>',
        f'      <mass value="{number_text(mass.mass)}"/>',
        f"      <inertia {tensor}/>",
        "    </inertial>",
    ]


def _shape(shape: Shape) -> list[str]:
    geometry, exact = _geometry(shape), []
    if shape.kind not in STANDARD_SHAPES:
        exact = [f'      <dynamis shape="{shape.kind}" size="{_numbers(shape.size)}"/>']
    colour = []
    if shape.rgba is not None:
        colour = [f'      <material name=""><color rgba="{_numbers(shape.rgba)}"/></material>']
    body = [f"      <geometry>{geometry}</geometry>"]
    return [f"    <{shape.role}>", *_origin(shape.origin, "      "), *body, *colour, *exact, f"    </{shape.role}>"]


def _geometry(shape: Shape) -> str:
    """The shape, or the nearest one that URDF knows."""
    size = shape.size
    match shape.kind:
        case "box" | "rounded_box":
            return f'<box size="{_numbers(size[:3])}"/>'
        case "sphere":
            return f'<sphere radius="{number_text(size[0])}"/>'
        case "ellipsoid":
            return f'<sphere radius="{number_text(float(np.prod(size)) ** (1 / 3))}"/>'  # of the same volume
        case "mesh":
            return f'<mesh filename={_text(shape.mesh)} scale="{_numbers(size)}"/>'
        case "tapered_capsule":
            return f'<cylinder radius="{number_text((size[0] + size[1]) / 2)}" length="{number_text(size[2])}"/>'
        case "capsule":  # as long as the capsule with its round ends
            return f'<cylinder radius="{number_text(size[0])}" length="{number_text(size[1] + 2.0 * size[0])}"/>'
        case _:
            return f'<{shape.kind} radius="{number_text(size[0])}" length="{number_text(size[1])}"/>'


def _joint(joint: Joint, fresh: Fresh) -> list[str]:
    lines: list[str] = []
    for part in _simple_joints(joint, fresh):
        if part.child != joint.child:
            lines.append(f"  <link name={_text(part.child)}/>")
        lines += _one_joint(part)
    return lines


def _simple_joints(joint: Joint, fresh: Fresh) -> list[Joint]:
    """The joint as a sequence of joints URDF knows, without tails, with massless links between them."""
    if joint.type not in (*_NAMES, *SEQUENCES):
        raise ConversionError(f"joint {printable(joint.name)} is {joint.type}: URDF has no such joint; write TOML instead")
    if joint.type == "fixed":
        place = joint.origin @ joint.tail
        return [Joint(joint.name, "fixed", joint.parent, joint.child, place)]
    kinds = SEQUENCES.get(joint.type, (joint.type,))
    suffixes = [""] if len(kinds) == 1 else [stage.suffix for stage in joint_stages(joint)]
    axes = (joint.axis, joint.axis2 if joint.axis2 is not None else joint.axis)
    parts: list[Joint] = []
    parent, place = joint.parent, joint.origin
    for kind, suffix, axis in zip(kinds, suffixes, axes, strict=False):
        child = joint.child if suffix == suffixes[-1] else fresh.name(f"{joint.name}{suffix}/link")
        limits = joint.limits if len(kinds) == 1 else replace(joint.limits, lower=-np.inf, upper=np.inf)
        name = joint.name if not suffix else fresh.name(joint.name + suffix)
        made = Joint(name, kind, parent, child, place, axis, limits=limits, drive=joint.drive, mimic=joint.mimic)
        made.actuator = joint.actuator
        parts.append(made)
        parent, place = child, Pose.identity()
    if not joint.tail.is_identity():
        parts[-1].child = fresh.name(f"{joint.name}/axis")
        parts.append(Joint(fresh.name(f"{joint.name}/tail"), "fixed", parts[-1].child, joint.child, joint.tail))
    return parts


def _one_joint(joint: Joint) -> list[str]:
    lines = [f'  <joint name={_text(joint.name)} type="{_NAMES[joint.type]}">']
    lines += _origin(joint.origin, "    ")
    lines += [f"    <parent link={_text(joint.parent)}/>", f"    <child link={_text(joint.child)}/>"]
    if joint.type not in ("fixed", "free"):
        lines.append(f'    <axis xyz="{_numbers(joint.axis)}"/>')
    if joint.type != "fixed":
        lines += _physics(joint)
    return [*lines, "  </joint>"]


def _physics(joint: Joint) -> list[str]:
    lines = []
    limits, drive = vars(joint.limits), joint.drive
    extra: dict[str, str] = {}
    if joint.type in ("revolute", "prismatic") or np.isfinite(list(limits.values())).any():
        # other readers require every number, so a large one stands for none, and our own mark says so
        shown = {key: value if np.isfinite(value) else -1e9 if key == "lower" else 1e9 for key, value in limits.items()}
        if joint.type not in ("revolute", "prismatic"):
            shown = {key: shown[key] for key in ("velocity", "effort")}
        lines.append("    <limit " + " ".join(f'{key}="{number_text(value)}"' for key, value in shown.items()) + "/>")
        none = [key for key in shown if not np.isfinite(limits[key])]
        extra |= {"unlimited": " ".join(none)} if none else {}
    if not (_same(drive.viscous, 0.0) and _same(drive.coulomb, 0.0)):
        lines.append(f'    <dynamics damping="{number_text(drive.viscous)}" friction="{number_text(drive.coulomb)}"/>')
    plain = Drive()
    for key in DRIVE_NUMBERS:
        value = getattr(drive, key)
        if key not in ("viscous", "coulomb") and not _same(value, getattr(plain, key)):
            extra[key] = number_text(value)
    attributes = [f'{key}="{value}"' for key, value in extra.items()]
    if drive.motor_link is not None:
        attributes.append(f"motor_link={_text(drive.motor_link)}")
    if drive.motor_axis is not None:
        attributes.append(f'motor_axis="{_numbers(drive.motor_axis)}"')
    if joint.actuator is not None:
        stated = [f'{key}="{number_text(x)}"' for key, x in joint.actuator.stated.items()]
        inner = " ".join([f'kind="{joint.actuator.kind}"', *stated])
        lines += ["    " + " ".join(["<dynamis", *attributes]) + ">", f"      <actuator {inner}/>", "    </dynamis>"]
    elif attributes:
        lines.append("    <dynamis " + " ".join(attributes) + "/>")
    if joint.mimic is not None:
        m = joint.mimic
        ratio, offset = number_text(m.ratio), number_text(m.offset)
        lines.append(f'    <mimic joint={_text(m.joint)} multiplier="{ratio}" offset="{offset}"/>')
    return lines


def _same(x: Any, y: float) -> bool:
    return not isinstance(x, Node) and float(x) == y
