"""The reader of Dynamis' own robot files (TOML); the format is described in ``docs/robot-files.md``.

One file holds one robot, link by link: freely placed (``[[link]]``), by standard or modified Denavit–Hartenberg
parameters (``[[dh]]``, ``[[mdh]]``) or by the local product of exponentials (``[[poe]]``). Every number may be an
arithmetic expression of the names declared under ``[parameters]``, some of which may stay symbols.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.errors import InputError, near_names, printable, unknown_name
from dynamis.model.actuators import ACTUATORS
from dynamis.model.closures import CLOSURES, LoopClosure
from dynamis.model.description import (
    DRIVE_NUMBERS,
    Appearance,
    Description,
    Drive,
    Joint,
    Limits,
    Link,
    MassProperties,
    Mimic,
    Shape,
)
from dynamis.model.diagnostics import Report, format_error
from dynamis.model.forms import joint_from_dh, joint_from_modified_dh, joint_from_screw
from dynamis.model.joints import JOINT_TYPES, OF_SOME_TYPES
from dynamis.model.parameter_names import declared_name
from dynamis.model.payloads import check_bodies, load
from dynamis.model.readers.expressions import PARAMETER_NAME
from dynamis.model.readers.toml_table import TomlTable, brief
from dynamis.model.readers.toml_text import parsed
from dynamis.model.shapes import ALONG_Z, SIZES, between, fault
from dynamis.scalar import symbol
from dynamis.spatial import solids
from dynamis.spatial.inertia import Inertia, seen_from
from dynamis.spatial.pose import Pose

MAX_ROWS = 50_000

SOLIDS: dict[str, Callable[..., Inertia]] = {
    "point": solids.point_mass, "sphere": solids.sphere, "box": solids.box, "cylinder": solids.cylinder,
    "hollow_cylinder": solids.hollow_cylinder, "rod": solids.rod, "disc": solids.disc, "ellipsoid": solids.ellipsoid,
}  # fmt: skip

PARTS_WITH_LINES = ("actuator", "mimic", "limits", "axis", *DRIVE_NUMBERS)  # of a joint
_MASS = {"mass", "com", "inertia", "solid", "shapes"}
_JOINT = {"link", "parent", "joint", "type", "limits", "mimic", "actuator", *vars(Drive())} | _MASS
_KEYS = {
    "robot": {"name", "about", "source", "gravity", "tip"},
    "base": {"name"} | _MASS,
    "link": {"xyz", "rpy", "axis", "axis2", "pitch", "tail"} | _JOINT,
    "dh": {"a", "alpha", "d", "theta"} | _JOINT,
    "mdh": {"a", "alpha", "d", "theta"} | _JOINT,
    "poe": {"xyz", "rpy", "screw"} | _JOINT,
    "frame": {"link", "parent", "joint", "xyz", "rpy"},
    "appearance": {"pose", "mobile", "meshes"},
    "payload": {"frame", "tip", *_MASS} - {"shapes"},
    "closure": {"kind", "first", "second"}.union(*CLOSURES.values()),
}
_ROWS = ("link", "dh", "mdh", "poe", "frame")


def read_toml(data: bytes, file: str, report: Report, values: Mapping[str, Any] | None = None) -> Description:
    """The description a robot file holds; ``values`` replace parameters by name."""
    if values is not None and not isinstance(values, Mapping):
        raise InputError(f"parameters= takes a mapping such as {{'m_1': 2.0}}, got {type(values).__name__}")
    document, text = parsed(data, file)
    return _Reader(document, text, file, report, values or {}).description()


def _line(row: TomlTable, key: str) -> dict[str, int]:
    line = row.line_of(key)
    return {} if line is None else {key: line}


class _Reader:
    def __init__(self, document: dict[str, Any], text: str, file: str, report: Report, values: Mapping[str, Any]) -> None:
        self.document, self.file, self.report, self.values = document, file, report, values
        self.names: dict[str, Any] = {}
        self.text = text.splitlines()
        self.moving = 0
        self.lines: dict[str, list[int]] = {}
        quote = ""  # the mark that ends the multi-line text we are in
        for number, line in enumerate(self.text, 1):
            header = re.match(r"""\s*\[\[?\s*["']?([A-Za-z_]+)["']?\s*\]""", line)
            if header and not quote:
                self.lines.setdefault(header[1], []).append(number)
            for mark in re.findall(r"\"\"\"|\'\'\'", line):
                quote = mark if not quote else "" if mark == quote else quote

    def line(self, section: str, k: int = 0) -> int | None:
        lines = self.lines.get(section, [])
        return lines[k] if k < len(lines) else None

    def description(self) -> Description:
        known = {*_KEYS, "parameters"}
        for key in list(self.document)[:50]:
            if key not in known:
                found, allowed = str(unknown_name("section", key, known)), ", ".join(sorted(known))
                self.report.error("unknown-section", "file", found, allowed, "correct or remove it", self.line(key))
        robot = self.section("robot")
        self.read_parameters()
        d = Description(robot.text("name", "robot") or "robot", file=self.file)
        d.about, d.source, d.tip = (robot.text(key, "") for key in ("about", "source", "tip"))
        d.line = robot.line_of("tip") if d.tip else None
        if "gravity" in robot:
            d.gravity = robot.vector("gravity")
        base = self.section("base")
        root = Link(base.text("name", "base"), line=base.line)
        self.read_mass(base, root)
        d.links.append(root)
        last = root.name
        for section, row in self.rows():
            name = self.read_row(section, row, d, last)
            last = last if section == "frame" else name
        for row in self.list_of("payload"):
            self.read_payload(row, d)
        self.read_appearance(d)
        d.closures = [self.read_closure(row) for row in self.list_of("closure")]
        if d.closures:
            self.report.warn_of_closures("robot", f"loops closed by {counted(len(d.closures), 'closure')}")
        return d

    def read_closure(self, row: TomlTable) -> LoopClosure:
        x = LoopClosure(row.text("kind", ""), row.text("first", ""), row.text("second", ""), line=row.line)
        row.only({"kind", "first", "second", *CLOSURES[x.kind]} if x.kind in CLOSURES else _KEYS["closure"], ("kind", "first"))
        x.ratio, x.offset, x.length = (row.real(key, getattr(x, key)) for key in ("ratio", "offset", "length"))
        x.axis_of = row.text("axis_of", "")
        for key in ("axis", "second_axis", "higher"):
            if key in row:
                given = row.entries[key]
                some = len(given) if key == "higher" and isinstance(given, list) and len(given) in (1, 2) else 3
                setattr(x, key, row.reals(key, some, [0.0, 0.0, 1.0]))
        return x

    def read_payload(self, row: TomlTable, d: Description) -> None:
        frame, tip, body = row.text("frame", ""), row.entries.get("tip", False), Link("")
        row.where = f"[[payload]] {printable(frame)}"
        row.only(_KEYS["payload"], ("frame",))
        self.read_mass(row, body)
        names = [link.name for link in d.links if link.name not in d.payloads]
        if frame not in names:
            found = "it has a payload already" if frame in d.payloads else str(unknown_name("link", frame, names))
            row.wrong("payload", found, "one payload for each link", "name the link or frame that carries it", "frame")
        elif body.mass_properties is None or not isinstance(tip, bool):
            row.wrong("payload", "no mass, or tip is not true or false", "frame, mass, com, inertia or solid, tip")
        else:
            check_bodies({row.where: body.mass_properties.inertia}, self.report, row.line)
            load(d, frame, body.mass_properties.inertia, tip)

    def read_appearance(self, d: Description) -> None:
        table = self.section("appearance")
        joints = {joint.name for joint in d.joints if joint.type in ("revolute", "continuous", "prismatic", "helical")}
        pose = table.table("pose", joints)
        pose.no_angles = frozenset()  # its keys are joints
        mobile = table.entries.get("mobile", False)
        if not isinstance(mobile, bool):
            table.wrong("appearance", f"mobile = {brief(mobile)}", "true or false")
            mobile = False
        positions = {name: pose.real(name, 0.0) for name in pose.entries}
        d.appearance = Appearance(positions, mobile, table.text("meshes", ""))

    def section(self, name: str) -> TomlTable:
        entries = self.document.get(name, {})
        known = entries if isinstance(entries, dict) else {}
        table = TomlTable(known, f"[{name}]", self.line(name), self.names, self.report, self.text)
        if not isinstance(entries, dict):
            table.wrong("section", f"{name} = {brief(entries)}", f"[{name}], once", f"write [{name}]")
        if name in _KEYS:
            table.only(_KEYS[name])
        return table

    def read_parameters(self) -> None:
        table = self.section("parameters")
        values = {declared_name(name, table.entries): value for name, value in self.values.items()}
        if len(values) < len(self.values):
            raise InputError(
                f"parameters= gives a parameter of {self.file} twice, under two spellings: {', '.join(self.values)}"
            )
        for name in values:
            if name not in table:
                if not table.entries:
                    raise InputError(f"{self.file} declares no parameters, so {name!r} has no meaning there")
                raise unknown_name(f"parameter of {self.file}", name, table.entries)
        for name, value in table.entries.items():
            entry = TomlTable({}, f"parameter {printable(name)}", table.line_of(name), self.names, self.report)
            if not PARAMETER_NAME.fullmatch(name) or name == "pi":
                entry.wrong("parameter-name", f"the name is {printable(name)}", "letters, digits and _, not pi", "rename it")
            elif name in values:
                self.names[name] = entry.scalar(values[name], "value")
            else:
                self.names[name] = symbol(name) if value == "symbol" else entry.scalar(value, "value")

    def rows(self) -> list[tuple[str, TomlTable]]:
        """The links' tables in the order of the file, whatever their kinds."""
        found = [(row.line or 0, section, row) for section in _ROWS for row in self.list_of(section)]
        if len(found) > MAX_ROWS:
            raise format_error(self.file, None, counted(len(found), "link"), f"at most {MAX_ROWS}", "give a robot's file")
        return [(section, row) for _, section, row in sorted(found, key=lambda item: item[0])]

    def list_of(self, section: str) -> list[TomlTable]:
        """The tables of a section that may be there several times."""
        entries = self.document.get(section, [])
        if not isinstance(entries, list) or not all(isinstance(row, dict) for row in entries):
            table = TomlTable({}, f"[[{section}]]", self.line(section), self.names, self.report)
            table.wrong("section", f"{section} = {brief(entries)}", f"[[{section}]], once for each", f"write [[{section}]]")
            return []
        known = len(self.lines.get(section, [])) == len(entries)
        return [
            TomlTable(row, f"[[{section}]]", self.line(section, k) if known else None, self.names, self.report, self.text)
            for k, row in enumerate(entries)
        ]

    def read_row(self, section: str, row: TomlTable, d: Description, last: str) -> str:
        name = row.text("link", f"link{len(d.links)}")
        row.where = f"[[{section}]] {printable(name)}"
        row.only(_KEYS[section])
        link = Link(name, line=row.line)
        self.read_mass(row, link)
        d.links.append(link)
        kind = row.text("type", "fixed" if section == "frame" else "revolute")
        if kind not in JOINT_TYPES:
            near = near_names(kind, JOINT_TYPES, 1)
            repair = f'write type = "{near[0]}"' if near else "correct the type"
            row.wrong("joint-type", f"the type is {printable(kind)}", ", ".join(JOINT_TYPES), repair, "type")
            kind = "fixed"
        self.moving += kind != "fixed"
        default = f"{name}_mount" if kind == "fixed" else f"joint{self.moving}"
        joint = Joint(row.text("joint", default), kind, row.text("parent", last), name, line=row.line)
        self.place(section, row, joint)
        self.read_physics(row, joint)
        d.joints.append(joint)
        return name

    def place(self, section: str, row: TomlTable, joint: Joint) -> None:
        if section in ("dh", "mdh"):
            if joint.type not in ("revolute", "continuous", "prismatic", "fixed"):
                row.wrong("joint-type", f"the type is {joint.type}", "revolute, continuous, prismatic or fixed", "use [[link]]")
                return
            form = joint_from_dh if section == "dh" else joint_from_modified_dh
            joint.origin, joint.tail = form(
                joint.type, row.number("a"), row.angle("alpha"), row.number("d"), row.angle("theta")
            )
        elif section == "poe":
            home, screw = row.pose(), row.vector("screw", 6, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
            stated_type = joint.type if "type" in row else None
            made = row.attempt(
                "screw",
                lambda: joint_from_screw(home, screw, stated_type),
                "(vx, vy, vz, wx, wy, wz) of unit length",
                "correct the screw or the type",
                "screw",
            )
            if made is not None:
                joint.type, joint.origin, joint.axis, joint.pitch, joint.tail = made
        else:
            joint.origin = row.pose()
            joint.axis = row.vector("axis", 3, [0.0, 0.0, 1.0])
            joint.axis2 = row.vector("axis2") if "axis2" in row else None
            joint.pitch = row.number("pitch")
            if "pitch" in JOINT_TYPES[joint.type].fields and "pitch" not in row:
                cure = 'add pitch = …, the lead of the thread divided by 2π, or write type = "revolute"'
                row.wrong("pitch", f"the {joint.type} joint has no pitch", "pitch = …, in metres per radian", cure, "type")
            for key in OF_SOME_TYPES:
                if key in row and key not in JOINT_TYPES[joint.type].fields:
                    using = ", ".join(name for name, one in JOINT_TYPES.items() if key in one.fields)
                    row.wrong("no-effect", f"a {joint.type} joint does not use {key}", f"{key} of {using}",
                              f"remove {key}, or correct the type", key)  # fmt: skip
            joint.tail = row.table("tail", {"xyz", "rpy"}).pose() if "tail" in row else Pose.identity()

    def read_physics(self, row: TomlTable, joint: Joint) -> None:
        for key in DRIVE_NUMBERS:
            if key == "coulomb" and isinstance(row.entries.get(key), list):
                plus, minus = row.vector(key, 2)
                joint.drive.coulomb, joint.drive.coulomb_bias = (plus + minus) / 2.0, (plus - minus) / 2.0
            elif key in row:
                setattr(joint.drive, key, row.number(key))
        if "motor_link" in row:
            joint.drive.motor_link = row.text("motor_link", joint.parent)
        if "motor_axis" in row:
            joint.drive.motor_axis = tuple(row.vector("motor_axis").tolist())
        if "actuator" in row:
            self.read_actuator(row, joint)
        joint.lines = {key: line for key in PARTS_WITH_LINES if key in row and (line := row.line_of(key)) is not None}
        if "limits" in row:
            limits = row.table("limits", set(vars(Limits())))
            joint.limits = Limits(**{key: limits.real(key, 0.0, largest=math.inf) for key in limits.entries})
        if "mimic" in row:
            mimic = row.table("mimic", {"joint", "ratio", "offset"})
            if "joint" not in mimic:
                mimic.wrong("mimic", "mimic names no joint", "mimic = { joint, ratio, offset }", "add joint = …")
                return
            joint.mimic = Mimic(mimic.text("joint", ""), mimic.real("ratio", 1.0), mimic.real("offset", 0.0))

    def read_actuator(self, row: TomlTable, joint: Joint) -> None:
        entries = row.entries["actuator"]
        kind = entries.get("kind", "") if isinstance(entries, dict) else entries
        if not isinstance(kind, str) or kind not in ACTUATORS:
            known = str(unknown_name("actuator", kind, ACTUATORS)) if kind and isinstance(kind, str) else ""
            allowed = "actuator = { kind = …, … }, of kind " + ", ".join(ACTUATORS)
            row.wrong(
                "actuator", known or f"the actuator's kind is {brief(kind)}", allowed, "name the kind of actuator", "actuator"
            )
            return
        parts = fields(ACTUATORS[kind])  # type: ignore[arg-type] # each kind is a dataclass
        table = row.table("actuator", {"kind", *(f.name for f in parts)})
        missing = [f.name for f in parts if f.default is MISSING and f.name not in table]
        if missing:
            table.wrong("actuator", f"the {kind} has no {', '.join(missing)}", ", ".join(f.name for f in parts), "give it")
            return
        numbers = {name: table.number(name) for name in table.entries if name != "kind"}
        joint.actuator = table.attempt("actuator", lambda: ACTUATORS[kind](**numbers), "physically possible values")

    def read_mass(self, row: TomlTable, link: Link) -> None:
        com = row.vector("com")
        if "solid" in row:
            if "inertia" in row:
                allowed, cure = "one of both", "remove inertia, which the solid has, or solid; write a drawing as shapes"
                row.wrong("solid", "both solid and inertia are given", allowed, cure, "inertia")
            inertia = self.read_solid(row)
            if inertia is not None:
                link.mass_properties = MassProperties(
                    inertia.mass, com, inertia.tensor, row.line, solid=True, lines=_line(row, "mass")
                )
        elif "mass" in row or "inertia" in row:
            given = row.table("inertia", {"xx", "yy", "zz", "xy", "xz", "yz"})
            parameters = [given.number(key) for key in ("xx", "xy", "yy", "xz", "yz", "zz")]
            tensor = Inertia.from_parameters([0.0, 0.0, 0.0, 0.0, *parameters]).tensor
            link.mass_properties = MassProperties(row.number("mass"), com, tensor, row.line, lines=_line(row, "mass"))
        for shape in row.tables("shapes", {"kind", "size", "xyz", "rpy", "from", "to", "role", "mesh", "rgba"}):
            self.read_shape(shape, link)

    def read_solid(self, row: TomlTable) -> Inertia | None:
        entries = row.entries["solid"]
        kind = entries.get("kind", "") if isinstance(entries, dict) else ""
        if not isinstance(kind, str) or kind not in SOLIDS:
            shown = brief(kind) if isinstance(entries, dict) else brief(entries)
            row.wrong("solid", f"the solid's kind is {shown}", ", ".join(SOLIDS), "name the kind of solid", "solid")
            return None
        make = SOLIDS[kind]
        lengths = [name for name in inspect.signature(make).parameters if name not in ("mass", "density")]
        solid = row.table("solid", {"kind", "rpy", "density", *lengths}, lengths)
        missing = [name for name in lengths if name not in solid]
        if missing:
            row.wrong("solid", f"the {kind} has no {', '.join(missing)}", ", ".join(lengths), "give every length", "solid")
            return None
        numbers = {name: solid.number(name) for name in (*lengths, "density") if name in solid}
        if "mass" in row:
            numbers["mass"] = row.number("mass")
        if "density" in numbers and "density" not in inspect.signature(make).parameters:
            row.wrong("solid", f"a {kind} has no volume, so no density", "mass", "give its mass instead", "solid")
            return None
        inertia: Inertia | None = row.attempt(
            "solid", lambda: make(**{"mass": None, **numbers}), "mass, or density in the solid"
        )
        if inertia is not None and "rpy" in solid:
            inertia = seen_from(inertia, Pose.rotation(solid.rotation()))
        return inertia

    def read_shape(self, shape: TomlTable, link: Link) -> None:
        kind, role = shape.text("kind", ""), shape.text("role", "visual")
        if kind not in SIZES or role not in ("visual", "collision"):
            allowed = f"kind = {', '.join(SIZES)}; role = visual or collision"
            shape.wrong("shape", f"a shape of kind {printable(kind)} and role {printable(role)}", allowed)
            return
        count = len(SIZES[kind])
        if "from" in shape or "to" in shape:
            if kind not in ALONG_Z or "xyz" in shape or "rpy" in shape:
                shape.wrong("shape", f"a {kind} with from and to", f"{', '.join(ALONG_Z)}, and neither xyz nor rpy then")
                return
            ends = [np.array(shape.reals(key, 3, [0.0] * 3)) for key in ("from", "to")]
            origin, length = between(*ends)
            size = (*shape.reals("size", count - 1, [1.0] * (count - 1)), length)
        else:
            origin, size = shape.pose(), shape.reals("size", count, [1.0] * count)
        rgba = shape.reals("rgba", 4, [1.0] * 4) if "rgba" in shape else None
        made = Shape(role, kind, size, origin, shape.text("mesh", ""), rgba)
        wrong = fault(made)
        if wrong is not None:
            shape.wrong("shape", f"a {kind}: {wrong}", f"size = [{', '.join(SIZES[kind])}], in metres")
            return
        link.shapes.append(made)
