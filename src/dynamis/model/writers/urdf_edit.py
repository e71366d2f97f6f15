"""A URDF document with other values: the original text, in which only the values that differ are replaced.

Comments, transmissions, unknown elements, order and layout stay. Masses, centres of mass, inertia tensors, origins and axes of
joints, limits, friction, drives, gravity and the robot's name can be edited so; a robot that differs otherwise is written anew.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import FormatError, printable
from dynamis.model.description import DRIVE_NUMBERS, Description, Drive, Joint, Link, MassProperties
from dynamis.model.diagnostics import Report
from dynamis.model.readers.numbers import parse_number, parse_numbers
from dynamis.model.readers.urdf import read_urdf
from dynamis.model.readers.xml_tree import Document, Element, parse_xml
from dynamis.model.writers.xml_text import escaped, number_text
from dynamis.scalar import Node
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY, from_rpy, to_rpy
from dynamis.tolerances import FEW_ROUNDINGS, RECURSION_ROUNDING

Array = npt.NDArray[Any]

_ENTRIES = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
# elements that may occur once, of which the reader uses the first
_ONCE = {
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry"),
    "collision": ("origin", "geometry"),
    "joint": ("origin", "axis", "parent", "child", "limit", "dynamics", "mimic"),
}
_DYNAMICS = {"viscous": "damping", "coulomb": "friction"}


def edit_urdf(description: Description) -> bytes | None:
    """The description's own document with its values, or None where edits alone cannot make the document hold them."""
    data = description.document
    try:
        before, document = read_urdf(data, description.file, Report()), parse_xml(data, description.file)
        if not _editable(before, description):
            return None
        result = _edited(document, before, description)
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            result = result.decode().encode("utf-16")
        again = read_urdf(result, description.file, Report())
    except FormatError:
        return None
    return result if _editable(again, description) and _same_values(again, description) else None


def without_repeats(data: bytes, file: str) -> tuple[bytes, list[str]]:
    """The document with only the first of each element that may occur once, as it is read, and what was removed."""
    document, changes = parse_xml(data, file), list[str]()
    edits, root = _Edits(document), document.root
    for parent, where in _parents(root):
        for tag in _ONCE[parent.tag]:
            more = parent.all(tag)[1:]
            for element in more:
                edits.remove(element)
            if more:
                changes.append(f"{where}: <{tag}> was given {len(more) + 1} times, the first is kept")
    if not changes:
        return data, changes
    result = edits.apply()
    return result.decode().encode("utf-16") if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else result, changes


def _parents(root: Element) -> list[tuple[Element, str]]:
    """The elements of links and joints in which others may occur once, with a name for messages."""
    found = []
    for element in (*root.all("link"), *root.all("joint")):
        where = f"{element.tag} {printable(element.attributes.get('name', ''))}"
        found.append((element, where))
        found += [(child, where) for child in element.children if element.tag == "link" and child.tag in _ONCE]
    return found


def _edited(document: Document, before: Description, after: Description) -> bytes:
    edits, root = _Edits(document), document.root
    if before.name != after.name:
        edits.set_attributes(root, {"name": escaped(after.name)})
    if _differ(before.gravity, after.gravity):
        edits.set(root, "dynamis", {"gravity": _vector(after.gravity)})
    for element, one, other in zip(root.all("link"), before.links, after.links, strict=True):
        if other.mass_properties is not None:
            _edit_inertial(edits, element, one.mass_properties, other.mass_properties)
    for element, joint, wanted in zip(root.all("joint"), before.joints, after.joints, strict=True):
        _edit_joint(edits, element, joint, wanted)
    return edits.apply()


def _edit_inertial(edits: _Edits, link: Element, before: MassProperties | None, after: MassProperties) -> None:
    inertial = next(iter(link.all("inertial")), None)
    if inertial is None or before is None:
        tensor = " ".join(f'{key}="{number_text(after.tensor[place])}"' for key, place in _ENTRIES.items())
        mass = f'<mass value="{number_text(after.mass)}"/>'
        edits.insert(link, f'<inertial><origin xyz="{_vector(after.com)}"/>{mass}<inertia {tensor}/></inertial>')
        return
    if _differ(before.mass, after.mass):
        edits.set(inertial, "mass", {"value": number_text(after.mass)})
    origin = next(iter(inertial.all("origin")), None)
    if _differ(before.com, after.com):
        written = parse_numbers(origin.attributes.get("xyz", ""), 3) if origin is not None else None
        text = (
            _vector(after.com)
            if origin is None or written is None
            else _edited_components(origin.attributes["xyz"], written, after.com)
        )
        edits.set(inertial, "origin", {"xyz": text})
    if _differ(before.tensor, after.tensor):
        rpy = parse_numbers(origin.attributes.get("rpy", ""), 3) if origin is not None else None
        R = from_rpy(rpy) if rpy is not None and any(rpy) else IDENTITY
        turned: Array = R.T @ after.tensor @ R
        size = float(np.abs(turned).max())
        inertia = inertial.all("inertia")[0]
        old = {key: parse_number(inertia.attributes.get(key, "")) for key in _ENTRIES}
        changed = {
            key: number_text(turned[place])
            for key, place in _ENTRIES.items()
            if (x := old[key]) is None or abs(turned[place] - x) > FEW_ROUNDINGS * size
        }
        edits.set(inertial, "inertia", changed)


def _edit_joint(edits: _Edits, element: Element, before: Joint, after: Joint) -> None:
    moved = {"xyz": _vector(after.origin.p)} if _differ(before.origin.p, after.origin.p) else {}
    turned = {"rpy": _vector(to_rpy(after.origin.R))} if _differ(before.origin.R, after.origin.R) else {}
    if moved or turned:
        edits.set(element, "origin", moved | turned)
    if _differ(before.axis, after.axis):
        axis = next(iter(element.all("axis")), None)
        written = parse_numbers(axis.attributes.get("xyz", ""), 3) if axis is not None else None
        text = (
            _vector(after.axis)
            if axis is None or written is None
            else _edited_components(axis.attributes["xyz"], written, after.axis)
        )
        edits.set(element, "axis", {"xyz": text})
    limits = {k: number_text(v) for k, v in vars(after.limits).items() if _differ(getattr(before.limits, k), v)}
    if limits:
        edits.set(element, "limit", limits)
    changed = {k: v for k in DRIVE_NUMBERS if _differ(getattr(before.drive, k), v := getattr(after.drive, k))}
    friction = {_DYNAMICS[key]: number_text(value) for key, value in changed.items() if key in _DYNAMICS}
    if friction:
        edits.set(element, "dynamics", friction)
    more = {key: number_text(value) for key, value in changed.items() if key not in _DYNAMICS}
    if before.drive.motor_link != after.drive.motor_link:
        more["motor_link"] = escaped(str(after.drive.motor_link))
    if after.drive.motor_axis is not None and before.drive.motor_axis != after.drive.motor_axis:
        more["motor_axis"] = _vector(after.drive.motor_axis)
    if more:
        edits.set(element, "dynamis", more)


class _Edits:
    """Replacements of pieces of a document, collected and then made at once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.pieces: list[tuple[int, int, bytes]] = []

    def set(self, parent: Element, tag: str, attributes: dict[str, str]) -> None:
        """Give the first child of this tag these attributes; where there is none, add one."""
        child = next(iter(parent.all(tag)), None)
        if child is not None:
            self.set_attributes(child, attributes)
        else:
            self.insert(parent, f"<{tag} " + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + "/>")

    def set_attributes(self, element: Element, attributes: dict[str, str]) -> None:
        places, end = self.document.places(element), self.document.head_end(element)
        for key, value in attributes.items():
            if key in places:
                self.pieces.append((*places[key], value.encode()))
            else:
                self.pieces.append((end, end, f' {key}="{value}"'.encode()))

    def insert(self, parent: Element, text: str) -> None:
        """Add a child at the end of an element, on a line of its own where the closing tag has one."""
        data = self.document.data
        if not data.startswith(b"</", parent.end):  # <link name="…"/>
            end = self.document.head_end(parent)
            close = re.compile(rb"\s*/>").match(data, end)
            after = close.end() if close else end
            self.pieces.append((end, after, f">{text}</{parent.tag}>".encode()))
            return
        line = max(data.rfind(b"\n", 0, parent.end), data.rfind(b"\r", 0, parent.end)) + 1
        indent = data[line : parent.end]
        if line and not indent.strip():
            break_ = b"\r\n" if data[line - 2 : line] == b"\r\n" else data[line - 1 : line]
            self.pieces.append((line, line, indent + b"  " + text.encode() + break_))
        else:
            self.pieces.append((parent.end, parent.end, text.encode()))

    def remove(self, element: Element) -> None:
        """Remove an element, with its line where it is alone on it."""
        data = self.document.data
        closed = data.startswith(b"</", element.end) and element.end > element.start
        after = data.index(b">", element.end if closed else self.document.head_end(element)) + 1
        line = max(data.rfind(b"\n", 0, element.start), data.rfind(b"\r", 0, element.start)) + 1
        alone = re.compile(rb"[ \t]*(\r\n|\r|\n)").match(data, after)
        if line and alone and not data[line : element.start].strip():
            self.pieces.append((line, alone.end(), b""))
        else:
            self.pieces.append((element.start, after, b""))

    def apply(self) -> bytes:
        result, at = [], 0
        for start, end, text in sorted(self.pieces, key=lambda piece: piece[:2]):
            result += [self.document.data[at:start], text]
            at = end
        return b"".join([*result, self.document.data[at:]])


def _vector(values: Any) -> str:
    return " ".join(map(number_text, values))


def _edited_components(text: str, written: list[float], values: Array) -> str:
    """A vector as it was written, except for the components that changed."""
    words, size = text.split(), float(np.abs(values).max())
    same = [abs(new - old) <= FEW_ROUNDINGS * size for new, old in zip(values, written, strict=True)]
    return " ".join(word if kept else number_text(x) for word, kept, x in zip(words, same, values, strict=True))


def _editable(before: Description, after: Description) -> bool:
    """Whether nothing differs but values for which a document has a place."""
    if len(before.links) != len(after.links) or len(before.joints) != len(after.joints):
        return False
    links = all(_same_link(a, b) for a, b in zip(before.links, after.links, strict=True))
    return links and all(_same_joint(a, b) for a, b in zip(before.joints, after.joints, strict=True))


def _same_link(before: Link, after: Link) -> bool:
    one, other = before.mass_properties, after.mass_properties
    if before.name != after.name or len(before.shapes) != len(after.shapes) or (other is None and one is not None):
        return False
    if other is not None and not _plain(other.mass, other.com, other.tensor):
        return False
    shapes = zip(before.shapes, after.shapes, strict=True)
    return all(
        (a.role, a.kind, a.size, a.mesh, a.rgba) == (b.role, b.kind, b.size, b.mesh, b.rgba) and _same_pose(a.origin, b.origin)
        for a, b in shapes
    )


def _same_joint(before: Joint, after: Joint) -> bool:
    names = [(j.name, j.type, j.parent, j.child, j.mimic, j.actuator) for j in (before, after)]
    if names[0] != names[1] or after.axis2 is not None or not _same_pose(before.tail, after.tail):
        return False
    if not _plain(*after.origin, after.axis, *(getattr(after.drive, k) for k in DRIVE_NUMBERS)):
        return False
    drive = after.drive
    if (drive.motor_link is None and before.drive.motor_link is not None) or not isinstance(drive, Drive):
        return False
    if drive.motor_axis is None and before.drive.motor_axis is not None:
        return False
    limits = zip(vars(before.limits).values(), vars(after.limits).values(), strict=True)
    return all(a == b or np.isfinite([a, b]).all() for a, b in limits)


def _same_values(one: Description, other: Description) -> bool:
    """Whether two descriptions with the same structure have the same numbers, up to rounding."""
    pairs: list[tuple[Any, Any]] = [(one.gravity, other.gravity)]
    for a, b in zip(one.links, other.links, strict=True):
        x, y = a.mass_properties, b.mass_properties
        if (x is None) != (y is None):
            return False
        if x is not None and y is not None:
            pairs += [(x.mass, y.mass), (x.com, y.com), (x.tensor, y.tensor)]
    for j, k in zip(one.joints, other.joints, strict=True):
        pairs += [(j.origin.R, k.origin.R), (j.origin.p, k.origin.p), (j.axis, k.axis)]
        pairs += [*((getattr(j.drive, key), getattr(k.drive, key)) for key in DRIVE_NUMBERS)]
        pairs += [(v, w) for v, w in zip(vars(j.limits).values(), vars(k.limits).values(), strict=True) if v != w]
        if (j.drive.motor_link, j.drive.motor_axis) != (k.drive.motor_link, k.drive.motor_axis):
            return False
    return one.name == other.name and not any(_differ(a, b, RECURSION_ROUNDING) for a, b in pairs)


def _plain(*values: Any) -> bool:
    return not any(isinstance(x, Node) or (isinstance(x, np.ndarray) and x.dtype == object) for x in values)


def _same_pose(one: Pose, other: Pose) -> bool:
    return _plain(*one, *other) and not (_differ(one.R, other.R) or _differ(one.p, other.p))


def _differ(one: Any, other: Any, tolerance: float = FEW_ROUNDINGS) -> bool:
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    if np.array_equal(a, b):
        return False
    return bool(a.shape != b.shape or np.abs(a - b).max() > tolerance * max(np.abs(a).max(), np.abs(b).max()))
