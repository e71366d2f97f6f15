"""The URDF reader: strict in numbers and structure, silent about what the specification allows.

Read: links, inertials (with the rotation of their origin), joints of every URDF type and ``spherical``, limits,
``<dynamics>`` (damping is viscous friction, friction is Coulomb friction), mimic, shapes. ``<dynamis>`` elements, which
other tools skip, hold what URDF has no place for: gravity, rotors and the links that carry them, springs, actuators.
Every other tag is listed in a note. Of an element that may occur once the first is used, as urdfdom does.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np

from dynamis.errors import InputError, printable, unknown_name
from dynamis.model.actuators import ACTUATORS
from dynamis.model.description import DRIVE_NUMBERS, Appearance, Description, Joint, Limits, Link, MassProperties, Mimic, Shape
from dynamis.model.diagnostics import Report, format_error
from dynamis.model.joints import USES_AXIS
from dynamis.model.readers.numbers import PLAIN, advice, miscounted, parse_number, parse_numbers
from dynamis.model.readers.spelling import URDF, check_spelling
from dynamis.model.readers.xml_tree import Document, Element, parse_xml
from dynamis.model.shapes import SIZES, fault
from dynamis.model.values import MAX_MAGNITUDE, warn_degrees
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY, from_rpy

URDF_TYPES = {
    "fixed": "fixed",
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "free",
}
# not of the specification, but of files for simulators that know the joint
READ_TYPES = {**URDF_TYPES, "spherical": "spherical"}
STANDARD_SHAPES = ("box", "cylinder", "sphere", "mesh")
URDF_SHAPES = (*STANDARD_SHAPES, "capsule")  # urdfdom does not know the last


def read_urdf(
    data: bytes, file: str, report: Report, encoding: str | None = None, expanded: Document | None = None
) -> Description:
    """The description a URDF document holds; findings go to the report. ``encoding`` overrules the declared one.

    ``expanded`` is what the macros of the document gave, if it has any.
    """
    document = expanded or parse_xml(data, file, encoding)
    root = document.root
    _check_root(document, file)
    if document.blanks:
        report.warn("blank-start", "file", "there is white space before <?xml", "<?xml at the very beginning",
                    "remove the white space: other XML parsers refuse it", "it is skipped", 1)  # fmt: skip
    name = root.attributes.get("name", "")
    if not name:
        report.warn("no-name", "robot", "it has no name", "name=…", "name the robot", "it is called 'robot'", root.line)
    description = Description(
        name or "robot", file=file, line=root.line, document=data if encoding is None and expanded is None else b""
    )
    materials = {m.attributes.get("name", ""): _colour(m) for m in root.all("material")}
    reader = _Reader(report, document, materials, description.aside)
    check_spelling(root, URDF, "robot", report, description.aside, document, deep=False)
    for element in root.children:
        if element.tag == "link":
            description.links.append(reader.link(element))
        elif element.tag == "joint":
            description.joints.append(reader.joint(element))
        elif element.tag == "dynamis":
            description.gravity = reader.vector(element, "gravity", "robot", description.gravity)
            description.appearance = reader.appearance(element)
        elif element.tag == "material":
            check_spelling(element, URDF, "robot", report, description.aside, document)
    report.note_aside("robot", description.aside)
    _drop_mimics_of_nothing(description, report)
    return description


def _drop_mimics_of_nothing(description: Description, report: Report) -> None:
    """Files of parts, such as a hand without its arm, mimic joints they do not contain: such a joint moves on its own."""
    names = {joint.name for joint in description.joints}
    for joint in description.joints:
        if joint.mimic is not None and joint.mimic.joint not in names and joint.type != "fixed" and joint.mimic.joint:
            report.warn("mimic-target", f"joint {printable(joint.name)}",
                        f"it mimics joint {printable(joint.mimic.joint)}, which does not exist", "a joint of this file",
                        "correct the name in <mimic>, or remove <mimic>", "<mimic> is ignored: it has its own coordinate",
                        joint.lines.get("mimic", joint.line))  # fmt: skip
            joint.mimic = None


def _check_root(document: Document, file: str) -> None:
    root = document.root
    if root.tag != "robot":
        found = f"the root element is {printable(root.tag)}"
        raise format_error(file, root.line, found, "<robot>, <sdf> or <mujoco>", "give a URDF, SDF or MJCF document")
    # the bytes tell quickly that there is none; the tree tells whether it is in a comment
    if any(mark in document.data for mark in (b"${", b"$(")):
        _refuse_xacro(document, file)


MACRO = re.compile(r"\$\{[^}]*\}?|\$\((?:find|arg|env|optenv|eval|anon|dirname|cwd)\b[^)]*\)?")


def _refuse_xacro(document: Document, file: str) -> None:
    """Raise for the first unexpanded expression of a document without macros."""
    repair = "write the value, or let the name of the file end in .xacro, and it is expanded"
    stack = [document.root]
    while stack:
        element = stack.pop()
        places = document.places(element)
        for key, value in element.attributes.items():
            macro = MACRO.search(value)
            # a dollar written as a character reference is meant as one: it is not in the bytes
            if macro and (key not in places or MACRO.search(document.data[slice(*places[key])].decode("utf-8", "replace"))):
                found = f"the xacro expression {printable(macro[0])} in <{element.tag} {key}=…> is not expanded"
                raise format_error(file, document.line(element, key), found, "URDF without macros", repair)
        stack.extend(reversed(element.children))


def _colour(material: Element) -> tuple[float, ...] | None:
    for colour in material.all("color"):
        numbers = parse_numbers(colour.attributes.get("rgba", ""), 4)
        return tuple(numbers) if numbers else None
    return None


def _exact(element: Element, near: Shape) -> Shape:
    """The shape for which our writer wrote the nearest one that URDF knows, where it says so."""
    for more in element.all("dynamis"):
        kind = more.attributes.get("shape", "")
        if kind not in SIZES or kind in STANDARD_SHAPES:
            continue
        size = parse_numbers(more.attributes.get("size", ""), len(SIZES[kind]))
        made = replace(near, kind=kind, size=tuple(size)) if size else near
        if fault(made) is None:
            return made
    return near


class _Reader:
    """``materials`` are the colours that shapes may name, ``aside`` what is not read."""

    def __init__(self, report: Report, document: Document, materials: dict[str, Any], aside: dict[str, list[str]]) -> None:
        self.report, self.document, self.materials, self.aside = report, document, materials, aside

    def link(self, element: Element) -> Link:
        link = Link(element.attributes.get("name", ""), line=element.line)
        where = f"link {printable(link.name)}"
        check_spelling(element, URDF, where, self.report, self.aside, self.document)
        inertial = self.only(element, "inertial", where)
        if inertial is not None:
            link.mass_properties = self.inertial(inertial, where)
        for role in ("visual", "collision"):
            for shape in element.all(role):
                self.shape(shape, role, link, where)
        return link

    def inertial(self, element: Element, where: str) -> MassProperties:
        origin = self.origin(element, where)
        mass = self.required(element, "mass", where)
        inertia = self.required(element, "inertia", where)
        m = self.number(mass, "value", where) if mass is not None else 0.0
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        xx, xy, xz, yy, yz, zz = (self.number(inertia, k, where) if inertia is not None else 0.0 for k in keys)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if origin.R is not IDENTITY:
            tensor = origin.R @ tensor @ origin.R.T
        lines = {"mass": self.document.line(mass, "value")} if mass is not None else {}
        return MassProperties(m, origin.p, tensor, element.line, lines)

    def joint(self, element: Element) -> Joint:
        name, written = element.attributes.get("name", ""), element.attributes.get("type", "")
        where = f"joint {printable(name)}"
        check_spelling(element, URDF, where, self.report, self.aside, self.document)
        if written not in READ_TYPES:
            missing = "type" not in element.attributes
            found = "it has no type=…" if missing else f"the type is {printable(written)}"
            line = self.document.line(element, "type")
            self.report.error("joint-type", where, found, ", ".join(READ_TYPES), _type_advice(written, missing), line)
        ends = {}
        lines = {}
        for end in ("parent", "child"):
            e = self.required(element, end, where)
            ends[end] = e.attributes.get("link", "") if e is not None else ""
            if e is not None:
                lines[end] = self.document.line(e, "link")
            if e is not None and "link" not in e.attributes:
                self.missing(e, "link", where)
        joint = Joint(name, READ_TYPES.get(written, "fixed"), ends["parent"], ends["child"], line=element.line, lines=lines)
        joint.origin = self.origin(element, where)
        axis = self.only(element, "axis", where)
        joint.axis = np.array([1.0, 0.0, 0.0])
        if axis is not None:
            joint.axis = self.vector(axis, "xyz", where, None)
            lines["axis"] = self.document.line(axis, "xyz")
        elif joint.type in USES_AXIS:
            self.report.note("no-axis", where, f"a {written} joint without <axis>", 'add <axis xyz="…"/> if it is another',
                             "its axis is x, the default of URDF", element.line)  # fmt: skip
        more = self.only(element, "dynamis", where)
        unlimited = more.attributes.get("unlimited", "").split() if more is not None else []
        self.limits(element, joint, where, unlimited)
        dynamics = self.only(element, "dynamics", where)
        if dynamics is not None:
            joint.drive.viscous = self.number(dynamics, "damping", where, 0.0)
            joint.drive.coulomb = self.number(dynamics, "friction", where, 0.0)
            joint.keys = {"viscous": "damping", "coulomb": "friction"}
            lines |= {key: self.document.line(dynamics, name) for key, name in joint.keys.items()}
        if more is not None:
            for key in DRIVE_NUMBERS:
                if key in more.attributes:
                    setattr(joint.drive, key, self.number(more, key, where))
                    joint.keys.pop(key, None)
                    lines[key] = self.document.line(more, key)
            joint.drive.motor_link = more.attributes.get("motor_link")
            if "motor_axis" in more.attributes:
                joint.drive.motor_axis = tuple(self.vector(more, "motor_axis", where, None).tolist())
            self.actuator(more, joint, where)
        mimic = self.only(element, "mimic", where)
        if mimic is not None:
            lines["mimic"] = self.document.line(mimic, "joint")
            if "joint" not in mimic.attributes:
                self.missing(mimic, "joint", where)
            ratio, offset = self.number(mimic, "multiplier", where, 1.0), self.number(mimic, "offset", where, 0.0)
            joint.mimic = Mimic(mimic.attributes.get("joint", ""), ratio, offset)
        return joint

    def actuator(self, more: Element, joint: Joint, where: str) -> None:
        element = self.only(more, "actuator", where)
        if element is None:
            return
        kind = element.attributes.get("kind", "")
        if kind not in ACTUATORS:
            found, allowed = f"an actuator of kind {printable(kind)}", ", ".join(ACTUATORS)
            self.report.error("actuator", where, found, allowed, "correct the kind", element.line)
            return
        known = {f.name: f.default for f in fields(ACTUATORS[kind])}  # type: ignore[arg-type] # each kind is a dataclass
        for key in element.attributes:
            if key not in (*known, "kind"):
                found = str(unknown_name("attribute", key, known))
                self.report.error("actuator", where, found, ", ".join(known), "correct or remove it", element.line)
        given = {key: self.number(element, key, where) for key, x in known.items() if x is MISSING or key in element.attributes}
        try:
            joint.actuator = ACTUATORS[kind](**given)
        except InputError as error:
            allowed, repair = "physically possible values", "give a physically possible value"
            self.report.error("actuator", where, str(error), allowed, repair, element.line)

    def limits(self, element: Element, joint: Joint, where: str, unlimited: list[str]) -> None:
        limit = self.only(element, "limit", where)
        if limit is None:
            if joint.type in ("revolute", "prismatic"):
                allowed = "<limit lower upper effort velocity>"
                self.report.warn("no-limits", where, f"a {joint.type} joint without <limit>", allowed,
                                 "give its limits, or make it continuous", "it has no limits", element.line)  # fmt: skip
            return
        joint.lines["limits"] = self.document.line(limit, "lower")
        defaults = {"lower": 0.0, "upper": 0.0, "velocity": np.inf, "effort": np.inf}
        found = {key: self.number(limit, key, where, value, largest=np.inf) for key, value in defaults.items()}
        # what our writer could not leave out for other readers' sake
        found |= {key: -np.inf if key == "lower" else np.inf for key in unlimited if key in found}
        if joint.type not in ("revolute", "prismatic"):
            found |= {"lower": -np.inf, "upper": np.inf}
        joint.limits = Limits(**found)

    def appearance(self, element: Element) -> Appearance:
        """How our writer says a robot is shown."""
        attributes = element.attributes
        pose = {e.attributes.get("joint", ""): self.number(e, "value", "robot") for e in element.all("pose")}
        return Appearance(pose, attributes.get("mobile") == "true", attributes.get("meshes", ""))

    def shape(self, element: Element, role: str, link: Link, where: str) -> None:
        """Shapes never enter the dynamics, so a bad one is left out with a warning instead of refused."""
        quiet = Report(self.report.source)
        reader = _Reader(quiet, self.document, {}, {})
        geometry = next(iter(element.all("geometry")), None)
        kinds = [c for c in geometry.children if c.tag in URDF_SHAPES] if geometry else []
        if len(kinds) != 1:
            self.aside.setdefault(f"a {role} without one geometry", []).append(where)
        if not kinds:
            return
        e = kinds[0]
        size: Any = ()
        match e.tag:
            case "box":
                size = reader.vector(e, "size", where, None)
            case "cylinder" | "capsule":
                size = (reader.number(e, "radius", where), reader.number(e, "length", where))
            case "sphere":
                size = (reader.number(e, "radius", where),)
            case "mesh":
                size = reader.vector(e, "scale", where, np.ones(3))
        origin = reader.origin(element, where)
        rgba = None
        for material in element.all("material"):
            rgba = _colour(material) or self.materials.get(material.attributes.get("name", ""))
        if quiet.errors:
            wrong = quiet.errors[0]
            self.report.warn("shape", where, f"a {role} {e.tag}: {wrong.found}", wrong.allowed, wrong.repair,
                             "the shape is left out; the dynamics does not need it", wrong.line)  # fmt: skip
            return
        self.report.problems += [replace(problem, where=f"{where} {role} {e.tag}") for problem in quiet.problems]
        mesh = e.attributes.get("filename", "") if e.tag == "mesh" else ""
        made = Shape(role, e.tag, tuple(float(x) for x in size), origin, mesh, rgba)
        unusable = fault(made)
        if unusable is not None:
            self.report.warn("shape", where, f"a {role} {e.tag}: {unusable}", "lengths of 0 or more", "correct its size",
                             "the shape is left out; the dynamics does not need it", e.line)  # fmt: skip
            return
        link.shapes.append(_exact(element, made))

    def origin(self, element: Element, where: str) -> Pose:
        e = self.only(element, "origin", where)
        if e is None:
            return Pose.identity()
        p = self.vector(e, "xyz", where, np.zeros(3))
        rpy = self.numbers(e, "rpy", 3, where, (0.0, 0.0, 0.0))
        cure = "multiply by π/180 if the file gives degrees"
        warn_degrees(self.report, where, "rpy", rpy, self.document.line(e, "rpy"), cure)
        return Pose(from_rpy(rpy) if any(rpy) else IDENTITY, p)

    def only(self, element: Element, tag: str, where: str) -> Element | None:
        found = element.all(tag)
        if len(found) > 1:
            same = "identical" if all(_same(found[0], other) for other in found[1:]) else "different"
            what = f"<{tag}> is given {len(found)} times, with {same} content"
            # which tree is meant by two parents cannot be known; in our own elements nothing has to be guessed
            if tag in ("dynamis", "actuator") or (tag in ("parent", "child") and same == "different"):
                self.report.error("repeated-element", where, what, "once", "keep one of them", found[1].line)
            else:
                self.report.warn("repeated-element", where, what, "once", "keep one of them",
                                 "the first is used, as in urdfdom", found[1].line)  # fmt: skip
        return found[0] if found else None

    def required(self, element: Element, tag: str, where: str) -> Element | None:
        found = self.only(element, tag, where)
        if found is None:
            what = f"<{element.tag}> has no <{tag}>"
            near = difflib.get_close_matches(tag, [child.tag for child in element.children], n=1, cutoff=0.6)
            repair = f"write <{tag}> instead of <{near[0]}>" if near else f"add <{tag}>"
            self.report.error("missing-element", where, what, f"one <{tag}>", repair, element.line)
        return found

    def missing(self, element: Element, key: str, where: str) -> None:
        found = f"<{element.tag}> has no {key}=…"
        self.report.error("missing-attribute", where, found, f"{key}=…", f"add the attribute {key}", element.line)

    def vector(self, element: Element, key: str, where: str, default: Any) -> Any:
        return np.array(self.numbers(element, key, 3, where, default))

    def number(
        self, element: Element, key: str, where: str, default: float | None = None, *, largest: float = MAX_MAGNITUDE
    ) -> float:
        text = element.attributes.get(key)
        if text is None and default is not None:
            return default
        value = parse_number(text) if text is not None else None
        if value is None or abs(value) > largest:
            return float(self.numbers(element, key, 1, where, None)[0])  # the long way says what is wrong
        return value

    def numbers(self, element: Element, key: str, count: int, where: str, default: Any) -> Any:
        text = element.attributes.get(key)
        if text is None:
            if default is None:
                self.missing(element, key, where)
                return [0.0] * count
            return default
        values = parse_numbers(text, count)
        if values is not None and max(map(abs, values)) <= MAX_MAGNITUDE:
            return values
        what = f"<{element.tag} {key}={printable(text)}>"
        allowed = PLAIN if count == 1 else f"{count} {PLAIN}"
        words = text.split()
        if values is not None:
            repair, allowed = "give the value in SI units (rad, m, kg)", f"finite numbers up to {MAX_MAGNITUDE:g}"
        else:
            repair = advice(text, count)
            counted = all(parse_number(word) is not None for word in words) and len(words) != count and len(text) <= 200
            what += f": {miscounted(key, words, count)}" if counted else ""
        self.report.error("number", where, what, allowed, repair, self.document.line(element, key))
        return [0.0] * (count - 1) + [1.0]  # goes on with something harmless, so that every problem is found


def _type_advice(written: str, missing: bool) -> str:
    if missing:
        return 'give the joint a type, such as type="revolute"'
    near = difflib.get_close_matches(written.strip().lower(), READ_TYPES, n=1, cutoff=0.6)
    return f'write type="{near[0]}"' if near else "give one of these types"


def _same(one: Element, other: Element) -> bool:
    """Whether two elements say the same."""
    return (
        one.attributes == other.attributes
        and len(one.children) == len(other.children)
        and all(a.tag == b.tag and _same(a, b) for a, b in zip(one.children, other.children, strict=True))
    )
