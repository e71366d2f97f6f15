"""The SDF reader, for versions 1.5 to 1.12: one model with its nested models, frames, joints and shapes.

A pose may be relative to any frame of its model; a joint moves in its own frame, which the description holds as the joint's
origin and tail. ``<frame>`` elements become fixed frames, nested models get names such as ``gripper::finger``. Sensors,
plugins and lights are listed in notes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.errors import printable
from dynamis.model.description import Description, Drive, Fresh, Joint, Limits, Link, MassProperties, Mimic, Shape
from dynamis.model.diagnostics import Report, format_error
from dynamis.model.joint_coordinates import NO_LIMIT
from dynamis.model.joints import USES_AXIS
from dynamis.model.readers.loop_joints import CLOSING, close_loop, second_parents
from dynamis.model.readers.sdf_frames import Model
from dynamis.model.readers.sdf_includes import OLD, is_true
from dynamis.model.readers.sdf_text import Values, cleaned
from dynamis.model.readers.sdf_world import World
from dynamis.model.readers.spelling import SDF, check_spelling
from dynamis.model.readers.xml_tree import Document, Element
from dynamis.model.shapes import fault
from dynamis.model.values import check_direction
from dynamis.spatial.pose import Pose

FREE_MODEL = "free-model"  # the code of a finding
VERSIONS = tuple(f"1.{n}" for n in range(5, 13))
TYPES = {
    "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "fixed", "ball": "spherical",
    "universal": "universal", "revolute2": "universal", "screw": "helical",
}  # fmt: skip


def read_sdf(document: Document, folder: Path | None, report: Report) -> Description:
    """The description an SDF document holds; ``folder`` is that of the file, for its includes."""
    root = document.root
    version = root.attributes.get("version", "")
    if version not in VERSIONS:
        raise format_error(report.source, root.line, f"SDF version {printable(version)}", f"{VERSIONS[0]} to {VERSIONS[-1]}",
                           'convert it with "gz sdf -p FILE", or correct version=…')  # fmt: skip
    return Reader(report, folder, version).description(root)


class Reader(Values):
    def __init__(self, report: Report, folder: Path | None, version: str) -> None:
        super().__init__(report)
        self.folder, self.version = folder, version

    def description(self, root: Element) -> Description:
        world = self.child(root, "world", "file")
        if world is not None:
            check_spelling(world, SDF, "world", self.report, self.d.aside, deep=False)
            if world.all("gravity"):
                self.d.gravity = self.vector(world, "gravity", "world", None)
            if root.all("model"):
                raise format_error(self.report.source, root.line, "a <world> and a <model> beside it", "one of both",
                                   "move the <model> into the <world>, or into a file of its own")  # fmt: skip
        holder = World(self, world or root, self.version in OLD)
        check_spelling(root, SDF, "file", self.report, self.d.aside, deep=False)
        model = holder.robot
        where = f"model {printable(holder.name)}"
        self.d.name, self.d.line = self.name(model.e, where) or "robot", model.e.line
        holder.add()
        self.hold_once()
        self.close_loops(where)
        self.place(model)
        if is_true(self.word(model.e, "static", where)) and any(joint.type != "fixed" for joint in self.d.joints):
            self.report.warn("static", where, "<static> is true: nothing moves the model in SDF", "false", "remove the element",
                             "its joints move all the same", model.e.line)  # fmt: skip
        self.report.note_aside("model", self.d.aside)
        self.report.merge_repeated()  # a frame is followed from every element that stands on it
        return self.d

    def hold_once(self) -> None:
        """Where a link is fixed to the world and to another part of the robot, the world holds the root of that part."""
        d = self.d
        for held in [joint for joint in d.joints if joint.parent == "world" and joint.type == "fixed"]:
            fixed = {joint.child: joint for joint in d.joints if joint is not held and joint.type == "fixed"}
            link, place = held.child, held.origin @ held.tail
            while link in fixed:
                joint = fixed.pop(link)
                link, place = joint.parent, place @ (joint.origin @ joint.tail).inverse()
            if link == "world":
                d.joints.remove(held)
            elif link != held.child and not any(joint.child == link for joint in d.joints):
                held.child, held.origin, held.tail = link, cleaned(place), Pose.identity()

    def close_loops(self, where: str) -> None:
        """The second joint of a link closes a loop."""
        d = self.d
        links, joints = (Fresh(x.name for x in parts) for parts in (d.links, d.joints))
        loops = second_parents(d.joints)
        # links that do not exist are errors of their own
        for joint in (x for x in loops if x.type in CLOSING and x.parent and x.child):
            d.joints.remove(joint)
            if joint.type in USES_AXIS:
                check_direction(joint.axis, f"joint {printable(joint.name)}", "axis", joint, self.report)
            ends = [(joint.parent, joint.origin), (joint.child, joint.tail.inverse())]
            close_loop(d, joint.type, joint.name, ends, joint.axis, links, joints)
            lost = [what for what, has in (("limits", joint.limits != Limits()), ("friction or spring", joint.drive != Drive()),
                                           ("<mimic>", joint.mimic is not None)) if has]  # fmt: skip
            if lost:
                self.report.warn(
                    "left-aside", f"joint {printable(joint.name)}", f"a joint that closes a loop has {' and '.join(lost)}", "",
                    "exchange the order of the joints: the first one of a link stays in the tree",
                    "this is left aside; the loop is closed", joint.line,
                )  # fmt: skip
        if d.closures:
            self.report.warn_of_closures(where, f"loops closed by {counted(len(loops), 'second joint')} of links")

    def place(self, model: Model) -> None:
        """The root link and the world: joints may start there; otherwise the root link keeps its pose in the model."""
        d = self.d
        children = {joint.child for joint in d.joints}
        held = [joint for joint in d.joints if joint.parent == "world"]
        if len(held) == 1 and held[0].type == "fixed" and (held[0].origin @ held[0].tail).is_identity():
            d.joints.remove(held[0])  # a base without a pose of its own: the fixed root of a description
            return
        if held:
            d.links.insert(0, Link("world"))
            return
        roots = [link.name for link in d.links if link.name not in children]
        if not is_true(self.word(model.e, "static", "model")):
            self.report.warn(
                FREE_MODEL, "model", "no joint holds the model to the world, so that it is free in SDF", "", "load it with "
                'base="floating", or add a fixed joint to the world', "its base is fixed", model.e.line,
            )  # fmt: skip
        if len(roots) == 1 and roots[0] in model.placed:
            at = model.at @ model.placed[roots[0]]
            if not at.is_identity():  # gravity acts in the axes of the world
                name = Fresh(link.name for link in d.links).name("world")
                d.links.insert(0, Link(name))
                d.joints.insert(
                    0,
                    Joint(
                        Fresh(j.name for j in d.joints).name(f"{name}_to_{roots[0].replace('::', '/')}"),
                        "fixed",
                        name,
                        roots[0],
                        at,
                    ),
                )

    # links

    def link(self, e: Element, name: str) -> Link:
        where = f"link {printable(name)}"
        link = Link(name, line=e.line)
        check_spelling(e, SDF, where, self.report, self.d.aside)
        if not self.flag(e, "gravity", where, True):
            self.report.warn("no-gravity", where, "<gravity> is switched off", "true", "give the robot a gravity of 0",
                             "gravity acts on the link all the same", e.line)  # fmt: skip
        if self.flag(e, "kinematic", where):
            self.report.warn("kinematic", where, "<kinematic> is true: no force moves the link", "false", "remove the element, "
                             "or hold the link by a fixed joint", "it moves as any other link", e.line)  # fmt: skip
        inertial = self.child(e, "inertial", where)
        if inertial is None:
            self.report.warn("no-inertial", where, "no <inertial>", "a mass and an inertia", "add <inertial>",
                             "1 kg and 1 kg m² are used, the default of SDF", e.line)  # fmt: skip
            link.mass_properties = MassProperties(1.0, np.zeros(3), np.eye(3), e.line)
        else:
            link.mass_properties = self.inertial(inertial, where)
        for role in ("visual", "collision"):
            for shape in e.all(role):
                self.shape(shape, role, link, where)
        return link

    def inertial(self, e: Element, where: str) -> MassProperties | None:
        if e.attributes.get("auto", "false").lower() in ("true", "1"):
            self.report.error("inertial", where, 'inertial auto="true"', "numbers", "write mass and inertia", e.line)
        mass = self.number(e, "mass", where, 1.0)
        inertia, I = self.child(e, "inertia", where), np.eye(3)
        if inertia is not None:
            for i, j, key in ((0, 0, "ixx"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 1, "iyy"), (1, 2, "iyz"), (2, 2, "izz")):
                I[i, j] = I[j, i] = self.number(inertia, key, where, 1.0 if i == j else 0.0)
        pose = self.child(e, "pose", where)
        at = self.pose(pose, where) if pose is not None else Pose.identity()
        if pose is not None and pose.attributes.get("relative_to"):
            self.report.error(
                "pose", where, "the pose of <inertial> has relative_to", "none: it is in the link", "remove it", pose.line
            )
        if mass == 0.0 and not I.any():
            return None  # as our writer writes links without mass
        return MassProperties(mass, at.p, at.R @ I @ at.R.T, e.line)

    def shape(self, e: Element, role: str, link: Link, where: str) -> None:
        where = f"{where} {role}"
        geometry = self.child(e, "geometry", where)
        kinds = geometry.children if geometry is not None else []
        if len(kinds) != 1:
            self.leave("a shape without one geometry", where)
            return
        g, mesh = kinds[0], ""
        size: tuple[float, ...] = ()
        match g.tag:
            case "box":
                size = tuple(self.vector(g, "size", where, None))
            case "sphere":
                size = (self.number(g, "radius", where, None),)
            case "cylinder" | "capsule":
                size = (self.number(g, "radius", where, None), self.number(g, "length", where, None))
            case "ellipsoid":
                size = tuple(self.vector(g, "radii", where, None))
            case "mesh":
                size = tuple(self.vector(g, "scale", where, (1.0, 1.0, 1.0)))
                mesh = self.word(g, "uri", where).replace("model://", "package://")
            case _:
                return  # listed with the elements that are not read
        pose, material = self.child(e, "pose", where), self.child(e, "material", where)
        rgba = None
        diffuse = self.child(material, "diffuse", where) if material is not None else None
        if diffuse is not None:
            rgba = tuple(self.numbers(diffuse, 4 if len(diffuse.text.split()) != 3 else 3, where))
            rgba = rgba if len(rgba) == 4 else (*rgba, 1.0)
        at = self.pose(pose, where) if pose is not None else Pose.identity()
        made = Shape(role, g.tag, tuple(float(x) for x in size), at, mesh, rgba)
        unusable = fault(made)
        if unusable is not None:
            self.report.warn("shape", where, f"a {g.tag}: {unusable}", "lengths of 0 or more", "correct its size",
                             "the shape is left out; the dynamics does not need it", g.line)  # fmt: skip
            return
        link.shapes.append(made)

    # joints

    def axis(self, e: Element, tag: str, where: str, model: Model, R_MJ: Any) -> tuple[Any, Limits, Drive, Mimic | None]:
        """(axis in the joint's frame, limits, drive, mimic) of <axis> or <axis2>; ``R_MJ`` are the axes of the joint."""
        axis = self.required(e, tag, where)
        if axis is None:
            return np.array([0.0, 0.0, 1.0]), Limits(), Drive(), None
        u = self.vector(axis, "xyz", where, (0.0, 0.0, 1.0))
        xyz = self.child(axis, "xyz", where)
        frame = xyz.attributes.get("expressed_in", "") if xyz is not None else ""
        if self.flag(axis, "use_parent_model_frame", where) and model.old:
            frame = "__model__"
        if frame:
            u = R_MJ.T @ (model.pose(frame, xyz or axis, where).R @ u)
        limit, dynamics, limits, drive = (
            self.child(axis, "limit", where),
            self.child(axis, "dynamics", where),
            Limits(),
            Drive(),
        )
        if limit is not None:
            lower, upper = self.number(limit, "lower", where, -NO_LIMIT), self.number(limit, "upper", where, NO_LIMIT)
            effort, velocity = self.number(limit, "effort", where, -1.0), self.number(limit, "velocity", where, -1.0)
            limits = Limits(-math.inf if lower <= -NO_LIMIT else lower, math.inf if upper >= NO_LIMIT else upper,
                            math.inf if velocity < 0.0 or velocity >= NO_LIMIT else velocity,
                            math.inf if effort < 0.0 or effort >= NO_LIMIT else effort)  # fmt: skip
        if dynamics is not None:
            drive.viscous, drive.coulomb = self.number(dynamics, "damping", where), self.number(dynamics, "friction", where)
            drive.stiffness = self.number(dynamics, "spring_stiffness", where)
            drive.rest = self.number(dynamics, "spring_reference", where)
        mimic, follows = None, self.child(axis, "mimic", where)
        if follows is not None:
            ratio = self.number(follows, "multiplier", where, None)
            offset = self.number(follows, "offset", where) - ratio * self.number(follows, "reference", where)
            mimic = Mimic(model.prefix + follows.attributes.get("joint", ""), ratio, offset)
        return u, limits, drive, mimic

    def joint(self, e: Element, model: Model) -> None:
        name = model.prefix + self.name(e, "joint")
        where = f"joint {printable(name)}"
        written = e.attributes.get("type", "")
        if written == "gearbox":
            self.report.warn("left-aside", where, "a gearbox couples two joints", "mimic joints", "use <mimic> in the axis",
                             "it is left aside: the joints move independently", e.line)  # fmt: skip
            return
        if written not in TYPES:
            self.report.error(
                "joint-type", where, f"the type is {printable(written)}", ", ".join(TYPES), "give one of these types", e.line
            )
            return
        check_spelling(e, SDF, where, self.report, self.d.aside)
        ends = [self.required(e, tag, where) for tag in ("parent", "child")]
        if ends[0] is None or ends[1] is None:
            return
        parent, child = (model.end(end, where) for end in ends if end is not None)
        X_MJ = model.relative(e, where)
        world = model.at.inverse()
        parent_place, child_place = (model.placed.get(x, world if x == "world" else Pose.identity()) for x in (parent, child))
        joint = Joint(name, TYPES[written], parent, child, parent_place.inverse() @ X_MJ, line=e.line)
        joint.tail = X_MJ.inverse() @ child_place
        joint.origin, joint.tail = cleaned(joint.origin), cleaned(joint.tail)
        if joint.type not in ("fixed", "spherical"):
            joint.axis, joint.limits, joint.drive, joint.mimic = self.axis(e, "axis", where, model, X_MJ.R)
            joint.lines = {"axis": e.all("axis")[0].line} if e.all("axis") else {}
        if joint.type == "revolute" and not np.isfinite([joint.limits.lower, joint.limits.upper]).any():
            joint.type = "continuous"
        if joint.type == "helical":
            turn = self.number(e, "screw_thread_pitch", where) / (2.0 * math.pi)
            old = self.number(e, "thread_pitch", where)
            joint.pitch = turn if turn or not old else -1.0 / old
        if joint.type != "universal":
            self.d.joints.append(joint)
            return
        # each axis has limits and friction of its own: two joints, with a massless link between them
        u, limits, drive, mimic = self.axis(e, "axis2", where, model, X_MJ.R)
        between = Link(Fresh([link.name for link in self.d.links]).name(f"{name}/between"))
        self.d.links.append(between)
        second = Joint(f"{name}.2", "revolute", between.name, child, Pose.identity(), u, tail=joint.tail, limits=limits,
                       drive=drive, mimic=mimic, line=e.line)  # fmt: skip
        self.d.joints += [replace(joint, name=f"{name}.1", type="revolute", child=between.name, tail=Pose.identity()), second]
        for part in self.d.joints[-2:]:
            part.type = "revolute" if np.isfinite([part.limits.lower, part.limits.upper]).any() else "continuous"
