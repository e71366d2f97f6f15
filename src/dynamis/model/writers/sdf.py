"""Writer of SDF 1.11: links relative to their joints, joints relative to their parents, massless ends as frames.

Names with :: are those of nested models, as the reader gives them, if no joint leads out of its model.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dynamis.errors import ConversionError, printable
from dynamis.model.build import joint_stages
from dynamis.model.description import STANDARD_GRAVITY, Description, Drive, Fresh, Joint, Limits, Link, Shape
from dynamis.model.joint_coordinates import with_known_limits
from dynamis.model.joints import Prismatic, Stage
from dynamis.model.writers.xml_text import escaped, number_text
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import to_rpy

NAMES = {"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "fixed", "spherical": "ball",
         "helical": "screw", "universal": "universal"}  # fmt: skip


def write_sdf(description: Description) -> str:
    """The robot as an SDF document, with a fixed joint to the world where the base is held: other models of SDF are free.

    Cylindrical and planar joints become sequences of joints. `losses` lists what SDF has no place for.
    """
    description.require_numbers("SDF")
    return _Writer(description).text()


class _Writer:
    def __init__(self, description: Description) -> None:
        self.d = description = with_known_limits(description)
        fresh = Fresh(())
        flat = bool(not_nested(description))
        links, joints = ([x.name for x in items] for items in (description.links, description.joints))
        self.links, self.joints = (
            {name: fresh.name(plain_name(name) if flat or "::" not in name else name) for name in names}
            for names in (links, joints)
        )
        self.fresh = fresh
        self.carried = {joint.child: joint for joint in description.joints}
        self.parents = {joint.parent for joint in description.joints}
        self.scope = ""  # of the model that is being written: arm:: for what is in its nested model arm

    def text(self) -> str:
        d = self.d
        root = next(link for link in d.links if link.name not in self.carried)
        lines = [f'<model name="{escaped(d.name)}">']
        free = [joint.name for joint in d.joints if joint.type == "free"]
        if free and not (self.is_world(root) and [j.name for j in d.joints if j.parent == root.name] == free):
            raise ConversionError(
                f"joint {printable(free[-1])} is free, and a model of SDF has no other free joint than that of its root; write "
                "MJCF, USD or TOML instead"
            )
        if self.is_world(root):
            self.links[root.name] = "world"
        elif not any(joint.type == "free" for joint in d.joints):
            name = self.fresh.name("held")
            lines += [f'  <joint name="{name}" type="fixed">', "    <parent>world</parent>",
                      f"    <child>{escaped(self.links[root.name])}</child>", "  </joint>"]  # fmt: skip
        lines += [*self.contents(""), "</model>"]
        gravity = tuple(float(x) for x in d.gravity)
        if gravity != STANDARD_GRAVITY:
            lines = [
                '<world name="default">',
                f"  <gravity>{_numbers(gravity)}</gravity>",
                *("  " + x for x in lines),
                "</world>",
            ]
        return "\n".join(
            ['<?xml version="1.0" encoding="utf-8"?>', '<sdf version="1.11">', *("  " + x for x in lines), "</sdf>", ""]
        )

    def contents(self, scope: str) -> list[str]:
        """Links, joints and nested models of a model, nested models in the place of their first joint."""
        outer, self.scope = self.scope, scope
        links = [(self.links[link.name], link) for link in self.d.links if not self.is_world(link)]
        joints = [(self.joints[j.name], j) for j in self.d.joints if not self.is_frame(self.child(j)) and j.type != "free"]
        lines = [line for name, link in links if _scope(name) == scope for line in self.link(link)]
        nested: set[str] = set()
        for name, joint in [*joints, *((name, None) for name, _ in links)]:
            inside = _scope(name).removeprefix(scope) if _scope(name).startswith(scope) else ""
            model = inside.partition("::")[0]
            if inside and model not in nested:
                nested.add(model)
                inner = self.contents(f"{scope}{model}::")
                lines += [f'  <model name="{escaped(model)}">', *("  " + line for line in inner), "  </model>"]
            elif joint is not None and _scope(name) == scope:
                lines += self.joint(joint)
        self.scope = outer
        return lines

    def here(self, name: str) -> str:
        """A full name as it is written in the present model."""
        return escaped(name.removeprefix(self.scope))

    def at_zero(self, link: str) -> Pose:
        """The pose of a link in the model, its joints at zero."""
        place = Pose.identity()
        while (joint := self.carried.get(link)) is not None and joint.type != "free":
            place, link = joint.origin @ joint.tail @ place, joint.parent
        return place

    def child(self, joint: Joint) -> Link:
        return next(link for link in self.d.links if link.name == joint.child)

    def is_world(self, link: Link) -> bool:
        """A root without mass, to which joints are attached: the world of SDF."""
        free = any(joint.parent == link.name and joint.type == "free" for joint in self.d.joints)
        return (
            link.name not in self.carried
            and link.mass_properties is None
            and not link.shapes
            and (link.name == "world" or free)
        )

    def is_frame(self, link: Link) -> bool:
        """A massless link without shapes, fixed to its parent, which carries nothing."""
        joint = self.carried.get(link.name)
        held = joint is not None and joint.type == "fixed" and link.name not in self.parents
        return (
            held and link.mass_properties is None and not link.shapes and self.links[joint.parent if joint else ""] != "world"
        )

    def link(self, link: Link) -> list[str]:
        joint, name = self.carried.get(link.name), self.here(self.links[link.name])
        if joint is not None and self.is_frame(link):
            place = _pose(joint.origin @ joint.tail, "", "    ")
            return [f'  <frame name="{name}" attached_to="{self.here(self.links[joint.parent])}">', *place, "  </frame>"]
        lines = [f'  <link name="{name}">']
        if joint is not None and _scope(self.joints[joint.name]) != self.scope:  # of a model around this one
            lines += _pose(self.at_zero(link.name), "", "    ")
        elif joint is not None and joint.type != "free":
            lines += _pose(joint.tail, self.here(self.last_part(joint)), "    ", always=True)
        m = link.mass_properties
        I = np.zeros((3, 3)) if m is None else np.asarray(m.tensor, float)
        lines += ["    <inertial>", *([] if m is None else _pose(Pose.translation(np.asarray(m.com, float)), "", "      "))]
        lines += [f"      <mass>{number_text(0.0 if m is None else m.mass)}</mass>", "      <inertia>"]
        for i, j, key in ((0, 0, "ixx"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 1, "iyy"), (1, 2, "iyz"), (2, 2, "izz")):
            lines.append(f"        <{key}>{number_text(I[i, j])}</{key}>")
        lines += ["      </inertia>", "    </inertial>"]
        for k, shape in enumerate(link.shapes):
            lines += _shape(shape, f"{shape.role}{k}")
        return [*lines, "  </link>"]

    def parts(self, joint: Joint) -> list[tuple[str, Stage | None]]:
        """The joints that stand for one, by name: (name, its motion where the joint is a sequence)."""
        own = self.joints[joint.name]
        if joint.type not in ("cylindrical", "planar"):
            return [(own, None)]
        return [(own + stage.suffix, stage) for stage in joint_stages(joint)]

    def last_part(self, joint: Joint) -> str:
        return self.parts(joint)[-1][0]

    def joint(self, joint: Joint) -> list[str]:
        if joint.type not in (*NAMES, "cylindrical", "planar"):
            raise ConversionError(f"joint {printable(joint.name)} is {joint.type}: SDF has no such joint; write TOML instead")
        lines: list[str] = []
        parent, parts = self.links[joint.parent], self.parts(joint)
        for k, (name, stage) in enumerate(parts):
            last = k == len(parts) - 1
            child = self.links[joint.child] if last else self.fresh.name(f"{name}_link")
            kind = joint.type if stage is None else "prismatic" if isinstance(stage.motion, Prismatic) else "continuous"
            if not last:
                zero = "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"
                lines.append(f'  <link name="{self.here(child)}"><pose relative_to="{self.here(name)}"/>{zero}</link>')
            lines += [f'  <joint name="{self.here(name)}" type="{NAMES[kind]}">']
            lines += _pose(joint.origin if k == 0 else Pose.identity(), "" if parent == "world" else self.here(parent), "    ",
                           always=True, model=parent == "world")  # fmt: skip
            lines += [f"    <parent>{self.here(parent)}</parent>", f"    <child>{self.here(child)}</child>"]
            if kind not in ("fixed", "spherical"):
                axis = joint.axis if stage is None else stage.motion.axis  # type: ignore[attr-defined]
                lines += self.axis("axis", axis, joint, joint.limits if stage is None else Limits())
            if kind == "universal":
                lines += self.axis("axis2", joint.axis2, joint, joint.limits)
            if kind == "helical":
                lines.append(f"    <screw_thread_pitch>{number_text(2.0 * math.pi * joint.pitch)}</screw_thread_pitch>")
            lines.append("  </joint>")
            parent = child
        return lines

    def axis(self, tag: str, axis: Any, joint: Joint, limits: Limits) -> list[str]:
        lines = [f"    <{tag}>", f"      <xyz>{_numbers(axis)}</xyz>"]
        if joint.mimic is not None:
            m = joint.mimic
            leader = self.here(self.joints.get(m.joint, m.joint))
            lines.append(f'      <mimic joint="{leader}"><multiplier>{number_text(m.ratio)}</multiplier>'
                         f"<offset>{number_text(m.offset)}</offset><reference>0</reference></mimic>")  # fmt: skip
        bounds = {key: value for key, value in vars(limits).items() if math.isfinite(value)}
        if bounds:
            lines += ["      <limit>", *(f"        <{k}>{number_text(x)}</{k}>" for k, x in bounds.items()), "      </limit>"]
        drive, plain = joint.drive, Drive()
        keys = {"damping": "viscous", "friction": "coulomb", "spring_stiffness": "stiffness", "spring_reference": "rest"}
        stated = {k: getattr(drive, name) for k, name in keys.items() if getattr(drive, name) != getattr(plain, name)}
        if stated:
            lines += [
                "      <dynamics>",
                *(f"        <{k}>{number_text(x)}</{k}>" for k, x in stated.items()),
                "      </dynamics>",
            ]
        return [*lines, f"    </{tag}>"]


def _scope(name: str) -> str:
    """The nested model of a name: arm:: of arm::link."""
    head, mark, _ = name.rpartition("::")
    return head + mark


def not_nested(description: Description) -> list[str]:
    """The names with :: that cannot be those of nested models, in which joints and frames see only what is inside.

    All names are then written with / in place of ::, also those that could be nested.
    """
    d, wrong = description, list[str]()
    taken = {link.name for link in d.links} | {joint.name for joint in d.joints}
    ends = {link.name for link in d.links if link.mass_properties is None and not link.shapes}
    for joint in d.joints:
        inside = [joint.parent, joint.child, *([joint.mimic.joint] if joint.mimic is not None else [])]
        as_frame = joint.type == "fixed" and joint.child in ends
        if not all(x.startswith(_scope(joint.name)) for x in inside) or (
            as_frame and not joint.parent.startswith(_scope(joint.child))
        ):
            wrong.append(joint.name)
    for name in sorted(x for x in taken if "::" in x):
        parts = name.split("::")
        models = {"::".join(parts[:k]) for k in range(1, len(parts))}
        if models & taken or not all(part and part != "world" and not part.startswith("__") for part in parts):
            wrong.append(name)
    return wrong


def plain_name(name: str) -> str:
    """A name that SDF accepts: :: separates the names of nested models there, and world and __… are reserved."""
    name = name.replace("::", "/")
    return f"link_{name}" if name.startswith("__") or name in ("", "world") else name


def _shape(shape: Shape, name: str) -> list[str]:
    size = shape.size
    match shape.kind:
        case "box" | "rounded_box":
            inner = f"<box><size>{_numbers(size[:3])}</size></box>"
        case "sphere":
            inner = f"<sphere><radius>{number_text(size[0])}</radius></sphere>"
        case "ellipsoid":
            inner = f"<ellipsoid><radii>{_numbers(size)}</radii></ellipsoid>"
        case "mesh":
            uri = escaped(shape.mesh.replace("package://", "model://"))
            inner = f"<mesh><uri>{uri}</uri><scale>{_numbers(size)}</scale></mesh>"
        case kind:
            radius, length = (size[0], size[1]) if kind != "tapered_capsule" else ((size[0] + size[1]) / 2, size[2])
            tag = "cylinder" if kind == "cylinder" else "capsule"
            inner = f"<{tag}><radius>{number_text(radius)}</radius><length>{number_text(length)}</length></{tag}>"
    lines = [f'    <{shape.role} name="{name}">', *_pose(shape.origin, "", "      "), f"      <geometry>{inner}</geometry>"]
    if shape.rgba is not None and shape.role == "visual":
        lines.append(f"      <material><diffuse>{_numbers(shape.rgba)}</diffuse></material>")
    return [*lines, f"    </{shape.role}>"]


def _pose(pose: Pose, relative_to: str, indent: str, *, always: bool = False, model: bool = False) -> list[str]:
    if pose.is_identity() and not always:
        return []
    frame = f' relative_to="{relative_to}"' if relative_to else ' relative_to="__model__"' if model else ""
    numbers = "" if pose.is_identity() else _numbers([*pose.p, *to_rpy(np.asarray(pose.R, float))])
    return [f"{indent}<pose{frame}>{numbers}</pose>"]


def _numbers(values: Any) -> str:
    return " ".join(number_text(x) for x in values)
