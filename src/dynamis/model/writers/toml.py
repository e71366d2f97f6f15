"""The writer of Dynamis' own robot files; the format is described in ``docs/robot-files.md``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dynamis.errors import ConversionError, InputError, printable
from dynamis.model.actuators import is_there
from dynamis.model.build import build
from dynamis.model.closures import CLOSURES, LoopClosure
from dynamis.model.denavit_hartenberg import to_dh
from dynamis.model.description import (
    DRIVE_NUMBERS,
    Appearance,
    Description,
    Drive,
    Joint,
    Limits,
    Link,
    MassProperties,
    Shape,
)
from dynamis.model.diagnostics import Report
from dynamis.model.equivalence import are_equivalent
from dynamis.model.forms import screw_of
from dynamis.model.joint_coordinates import with_known_limits
from dynamis.model.joints import JOINT_TYPES
from dynamis.model.payloads import unloaded
from dynamis.model.readers.expressions import PARAMETER_NAME, parse_expression
from dynamis.model.readers.toml import read_toml
from dynamis.model.structure import check_structure
from dynamis.scalar import Node, topological
from dynamis.scalar.graph import show
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import to_rpy


def write_toml(description: Description, form: str = "link") -> str:
    """The robot as a TOML file.

    ``form`` is "link" (freely placed, holds everything), "dh" or "mdh" (standard or modified Denavit–Hartenberg table)
    or "poe" (local product of exponentials). The last three raise `ConversionError` for robots they cannot hold.
    """
    if form not in ("link", "dh", "mdh", "poe"):
        raise InputError(f"form {form!r} is not known; choose link, dh, mdh or poe")
    original, description = description, with_known_limits(unloaded(description))
    payloads = description.payloads
    if form in ("dh", "mdh"):
        description, rows = to_dh(description, "standard" if form == "dh" else "modified")
        table = {row.link: row for row in rows}
    else:
        table = {}
    symbols = _symbols(original)
    out = ["[robot]", f"name = {_text(description.name)}"]
    out += [f"{key} = {_text(getattr(description, key))}" for key in ("about", "source", "tip") if getattr(description, key)]
    out.append(f"gravity = {_vector(description.gravity)}")
    if symbols:
        out += ["", "[parameters]", *(f'{name} = "symbol"' for name in symbols)]
    out += _appearance(description.appearance)
    links = {link.name: link for link in description.links}
    carried = {joint.child for joint in description.joints}
    root = next(link for link in description.links if link.name not in carried)
    out += ["", "[base]", f"name = {_text(root.name)}", *_mass(root)]
    for joint in description.joints:
        link = links[joint.child]
        out.append("")
        if joint.child in table:
            row = table[joint.child]
            values = {"a": row.a, "alpha": row.alpha, "d": row.d, "theta": row.theta}
            out += [f"[[{form}]]", *_names(joint)]
            out += [f"{key} = {_scalar(value)}" for key, value in values.items()]
        elif form == "poe" and joint.type != "fixed":
            home, screw = screw_of(joint)
            out += ["[[poe]]", *_names(joint), *_pose(home), f"screw = {_vector(screw)}"]
        else:
            out += ["[[link]]", *_names(joint), *_pose(joint.origin), *_motion(joint)]
            if not joint.tail.is_identity():
                out.append("tail = { " + ", ".join(_pose(joint.tail)) + " }")
        out += [*_physics(joint), *_mass(link)]
    for closure in description.closures:
        out += _closure(closure)
    for frame, body in payloads.items():
        tip = ["tip = true"] if body.at_tip else []
        out += ["", "[[payload]]", f"frame = {_text(frame)}", *tip, *_mass(Link(frame, MassProperties.of(body.inertia)))]
    text = "\n".join([*out, ""])
    if form != "link":
        _prove(original, text, form)
    return text


def _prove(description: Description, text: str, form: str) -> None:
    """Raise unless the text, read again, is the same robot: tables and screws are computed, and rounding may spoil them."""
    report, model = Report(), build(description, checked=True)
    if model.symbolic:
        return
    again = read_toml(text.encode(), "", report)
    check_structure(again, report)
    if not report.ok or not are_equivalent(model, build(again, checked=True), 1e-9):
        raise ConversionError(
            f"robot {printable(description.name)} cannot be written in the form {form}: computed in floating point, its "
            "numbers differ too much in size for the table to give the same robot; use the form link"
        )


def _closure(x: LoopClosure) -> list[str]:
    lines = [
        "",
        "[[closure]]",
        *(f"{key} = {_text(value)}" for key in ("kind", "first", "second") if (value := getattr(x, key))),
    ]
    for key in CLOSURES[x.kind]:
        value = getattr(x, key)
        if value not in (None, "", ()):
            written = _text(value) if isinstance(value, str) else _vector(value) if isinstance(value, tuple) else _scalar(value)
            lines.append(f"{key} = {written}")
    return lines


def _appearance(appearance: Appearance) -> list[str]:
    lines = []
    if appearance.pose:
        entries = [f"{_text(joint)} = {_scalar(x)}" for joint, x in appearance.pose.items()]
        lines.append("pose = { " + ", ".join(entries) + " }")
    if appearance.mobile:
        lines.append("mobile = true")
    if appearance.meshes:
        lines.append(f"meshes = {_text(appearance.meshes)}")
    return ["", "[appearance]", *lines] if lines else []


def _symbols(description: Description) -> list[str]:
    names = description.symbol_names()
    for name in names:
        if not PARAMETER_NAME.fullmatch(name) or name == "pi":
            raise ConversionError(f"the symbol {name!r} cannot be a parameter's name: letters, digits and _ only; rename it")
    return names


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _scalar(value: Any) -> str:
    if isinstance(value, Node):
        text = show(value, limit=10_000, exact=True)
        try:
            parse_expression(text, {n.args[0]: n for n in topological([value]) if n.op == "symbol"})
        except InputError:
            raise ConversionError(f"the expression {printable(text)} has no form in a file; give its symbols values") from None
        return _text(text)
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def _vector(values: Any) -> str:
    return "[" + ", ".join(map(_scalar, values)) + "]"


def _names(joint: Joint) -> list[str]:
    ends = [f"link = {_text(joint.child)}", f"parent = {_text(joint.parent)}"]
    return [*ends, f"joint = {_text(joint.name)}", f'type = "{joint.type}"']


def _pose(pose: Pose) -> list[str]:
    if pose.is_identity():
        return []
    lines = [f"xyz = {_vector(pose.p)}"]
    if pose.R.dtype == object:
        raise ConversionError("a rotation by a symbolic angle cannot be written; give its symbols values first")
    rpy = to_rpy(pose.R)
    return lines + ([f"rpy = {_vector(rpy)}"] if rpy.any() else [])


def _motion(joint: Joint) -> list[str]:
    values = {field: getattr(joint, field) for field in JOINT_TYPES[joint.type].fields}
    return [
        f"{field} = {_vector(value) if isinstance(value, np.ndarray) else _scalar(value)}"
        for field, value in values.items()
        if value is not None
    ]


def _physics(joint: Joint) -> list[str]:
    plain, none = Drive(), Limits()
    changed = {k: v for k in DRIVE_NUMBERS if is_there(v := getattr(joint.drive, k), getattr(plain, k))}
    lines = [f"{key} = {_scalar(value)}" for key, value in changed.items()]
    if joint.drive.motor_link is not None:
        lines.append(f"motor_link = {_text(joint.drive.motor_link)}")
    if joint.drive.motor_axis is not None:
        lines.append(f"motor_axis = {_vector(joint.drive.motor_axis)}")
    if joint.actuator is not None:
        entries = [f"{key} = {_scalar(x)}" for key, x in joint.actuator.stated.items()]
        lines.append("actuator = { " + ", ".join([f'kind = "{joint.actuator.kind}"', *entries]) + " }")
    limits = [f"{k} = {_scalar(v)}" for k, v in vars(joint.limits).items() if v != getattr(none, k)]
    if limits:
        lines.append("limits = { " + ", ".join(limits) + " }")
    if joint.mimic is not None:
        m = joint.mimic
        lines.append(f"mimic = {{ joint = {_text(m.joint)}, ratio = {_scalar(m.ratio)}, offset = {_scalar(m.offset)} }}")
    return lines


def _mass(link: Link) -> list[str]:
    lines = []
    m: MassProperties | None = link.mass_properties
    if m is not None:
        lines.append(f"mass = {_scalar(m.mass)}")
        if m.com.dtype == object or m.com.any():
            lines.append(f"com = {_vector(m.com)}")
        I = m.tensor
        entries = {"xx": I[0, 0], "yy": I[1, 1], "zz": I[2, 2], "xy": I[0, 1], "xz": I[0, 2], "yz": I[1, 2]}
        shown = [f"{k} = {_scalar(v)}" for k, v in entries.items() if isinstance(v, Node) or v != 0.0]
        if shown:
            lines.append("inertia = { " + ", ".join(shown) + " }")
    if link.shapes:
        lines.append("shapes = [" + ", ".join(_shape(s) for s in link.shapes) + "]")
    return lines


def _shape(shape: Shape) -> str:
    parts = [f'kind = "{shape.kind}"', f"size = {_vector(shape.size)}", *_pose(shape.origin)]
    parts += [f'role = "{shape.role}"'] if shape.role != "visual" else []
    parts += [f"mesh = {_text(shape.mesh)}"] if shape.mesh else []
    parts += [f"rgba = {_vector(shape.rgba)}"] if shape.rgba is not None else []
    return "{ " + ", ".join(parts) + " }"
