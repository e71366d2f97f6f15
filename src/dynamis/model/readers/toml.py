"""The reader of Dynamis' own robot files (TOML); the format is described in ``docs/robot-files.md``.

One file holds one robot, link by link: freely placed (``[[link]]``), by standard or modified Denavit–Hartenberg
parameters (``[[dh]]``, ``[[mdh]]``) or by the local product of exponentials (``[[poe]]``). Every number may be an
arithmetic expression of the names declared under ``[parameters]``, some of which may stay symbols.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import DynamisError, FormatError, InputError, printable, unknown_name
from dynamis.model.description import Description, Drive, Joint, Limits, Link, MassProperties, Mimic, Shape
from dynamis.model.diagnostics import Report
from dynamis.model.forms import joint_from_dh, joint_from_modified_dh, joint_from_screw
from dynamis.model.joints import JOINT_TYPES
from dynamis.model.readers.expressions import PARAMETER_NAME, parse_expression
from dynamis.scalar import Node, symbol
from dynamis.spatial import solids
from dynamis.spatial.inertia import Inertia
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY, from_rpy

MAX_BYTES = 16 * 2**20

SOLIDS: dict[str, Callable[..., Inertia]] = {
    "point": solids.point_mass, "sphere": solids.sphere, "box": solids.box, "cylinder": solids.cylinder,
    "hollow_cylinder": solids.hollow_cylinder, "rod": solids.rod, "disc": solids.disc, "ellipsoid": solids.ellipsoid,
}  # fmt: skip

_MASS = {"mass", "com", "inertia", "solid", "shapes"}
_JOINT = {"joint", "type", "limits", "mimic", *vars(Drive())}
_KEYS = {
    "robot": {"name", "about", "source", "gravity"},
    "base": {"name"} | _MASS,
    "link": {"link", "parent", "xyz", "rpy", "axis", "axis2", "pitch", "tail"} | _MASS | _JOINT,
    "dh": {"link", "parent", "a", "alpha", "d", "theta"} | _MASS | _JOINT,
    "mdh": {"link", "parent", "a", "alpha", "d", "theta"} | _MASS | _JOINT,
    "poe": {"link", "parent", "xyz", "rpy", "screw"} | _MASS | _JOINT,
    "frame": {"link", "parent", "joint", "xyz", "rpy"},
}


def read_toml(data: bytes, file: str, report: Report, values: Mapping[str, Any] | None = None) -> Description:
    """The description a robot file holds; ``values`` replace parameters by name."""
    if len(data) > MAX_BYTES:
        raise FormatError(f"{file}: the file has {len(data)} bytes, more than the {MAX_BYTES} a robot may have")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{file}: not UTF-8 at byte {error.start}; save the file as UTF-8") from None
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        place = f"{file}:{line[1]}" if line else file
        raise FormatError(f"{place}: not TOML: {error}; correct the syntax there") from None
    return _Reader(document, text, file, report, values or {}).description()


class _Reader:
    def __init__(self, document: dict[str, Any], text: str, file: str, report: Report, values: Mapping[str, Any]) -> None:
        self.document, self.file, self.report, self.values = document, file, report, values
        self.lines: dict[str, list[int]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            header = re.match(r"\s*\[\[?\s*([A-Za-z_]+)\s*\]", line)
            if header:
                self.lines.setdefault(header[1], []).append(number)
        self.names: dict[str, Any] = {}

    def line(self, section: str, k: int = 0) -> int | None:
        lines = self.lines.get(section, [])
        return lines[k] if k < len(lines) else None

    def description(self) -> Description:
        known = {*_KEYS, "parameters"}
        for key in self.document:
            if key not in known:
                self.wrong("unknown-section", "file", str(unknown_name("section", key, known)), self.line(key))
        robot = self.table("robot")
        self.read_parameters()
        d = Description(str(robot.get("name") or "robot"), file=self.file)
        d.about, d.source = str(robot.get("about", "")), str(robot.get("source", ""))
        if "gravity" in robot:
            d.gravity = self.vector(robot["gravity"], "robot", "gravity", self.line("robot"))
        base = self.table("base")
        root = Link(str(base.get("name", "base")), line=self.line("base"))
        self.read_mass(base, root, "base")
        d.links.append(root)
        last = root.name
        for section in ("dh", "mdh", "poe", "link", "frame"):
            rows = self.document.get(section, [])
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                self.wrong("section", "file", f"[{section}] must be written [[{section}]], once for each", self.line(section))
                continue
            for k, row in enumerate(rows):
                last = self.read_row(section, k, row, d, last)
        return d

    def table(self, section: str) -> dict[str, Any]:
        table = self.document.get(section, {})
        if not isinstance(table, dict):
            self.wrong("section", "file", f"[[{section}]] must be written [{section}], once", self.line(section))
            return {}
        self.check_keys(section, table, f"[{section}]", self.line(section))
        return table

    def read_parameters(self) -> None:
        table = self.document.get("parameters", {})
        if not isinstance(table, dict):
            self.wrong("section", "file", "[[parameters]] must be written [parameters]", self.line("parameters"))
            return
        for name in self.values:
            if name not in table:
                raise unknown_name(f"parameter of {self.file}", name, table)
        for name, value in table.items():
            where, line = f"parameter {printable(name)}", self.line("parameters")
            if not PARAMETER_NAME.fullmatch(name):
                self.wrong("parameter-name", where, "the name is not letters, digits and _", line)
                continue
            if name in self.values:
                self.names[name] = self.scalar(self.values[name], where, "value", line)
            elif value == "symbol":
                self.names[name] = symbol(name)
            else:
                self.names[name] = self.scalar(value, where, "value", line)

    def read_row(self, section: str, k: int, row: dict[str, Any], d: Description, last: str) -> str:
        line = self.line(section, k)
        name = str(row.get("link", f"link{len(d.links)}"))
        where = f"[[{section}]] {printable(name)}"
        self.check_keys(section, row, where, line)
        link = Link(name, line=line)
        self.read_mass(row, link, where)
        d.links.append(link)
        parent = str(row.get("parent", last))
        default_type = "fixed" if section == "frame" else "revolute"
        kind = str(row.get("type", default_type))
        if kind not in JOINT_TYPES:
            self.report.error(
                "joint-type", where, f"the type is {printable(kind)}", ", ".join(JOINT_TYPES), "correct the type", line
            )
            kind = "fixed"
        number = sum(j.type != "fixed" for j in d.joints) + 1
        joint_name = str(row.get("joint", f"joint{number}" if kind != "fixed" else f"{name}_mount"))
        joint = Joint(joint_name, kind, parent, name, line=line)
        self.place(section, row, joint, where, line)
        self.read_physics(row, joint, where, line)
        d.joints.append(joint)
        return last if section == "frame" else name

    def place(self, section: str, row: dict[str, Any], joint: Joint, where: str, line: int | None) -> None:
        if section in ("dh", "mdh"):
            a, alpha, d, theta = (self.scalar(row.get(key, 0.0), where, key, line) for key in ("a", "alpha", "d", "theta"))
            if joint.type not in ("revolute", "continuous", "prismatic", "fixed"):
                self.wrong("joint-type", where, f"a {joint.type} joint has no Denavit–Hartenberg form; use [[link]]", line)
                return
            form = joint_from_dh if section == "dh" else joint_from_modified_dh
            joint.origin, joint.tail = form(joint.type, a, alpha, d, theta)
        elif section == "poe":
            home = self.pose(row, where, line)
            screw = self.vector(row.get("screw", [0, 0, 0, 0, 0, 1]), where, "screw", line, 6)
            try:
                joint.type, joint.origin, joint.axis, joint.pitch, joint.tail = joint_from_screw(home, screw, joint.type)
            except InputError as error:
                self.wrong("screw", where, str(error), line)
        else:
            joint.origin = self.pose(row, where, line)
            joint.axis = self.vector(row.get("axis", [0, 0, 1]), where, "axis", line)
            if "axis2" in row:
                joint.axis2 = self.vector(row["axis2"], where, "axis2", line)
            joint.pitch = self.scalar(row.get("pitch", 0.0), where, "pitch", line)
            if "tail" in row:
                joint.tail = self.pose(self.subtable(row, "tail", {"xyz", "rpy"}, where, line), where, line)

    def read_physics(self, row: dict[str, Any], joint: Joint, where: str, line: int | None) -> None:
        for key in vars(Drive()):
            if key == "coulomb" and isinstance(row.get(key), list):
                plus, minus = self.vector(row[key], where, key, line, 2)
                joint.drive.coulomb, joint.drive.coulomb_bias = (plus + minus) / 2.0, (plus - minus) / 2.0
            elif key in row:
                setattr(joint.drive, key, self.scalar(row[key], where, key, line))
        if "limits" in row:
            table = self.subtable(row, "limits", set(vars(Limits())), where, line)
            joint.limits = Limits(**{key: self.real(value, where, key, line) for key, value in table.items()})
        if "mimic" in row:
            table = self.subtable(row, "mimic", {"joint", "ratio", "offset"}, where, line)
            ratio, offset = (self.real(table.get(key, v), where, key, line) for key, v in (("ratio", 1.0), ("offset", 0.0)))
            joint.mimic = Mimic(str(table.get("joint", "")), ratio, offset)

    def read_mass(self, row: dict[str, Any], link: Link, where: str) -> None:
        line = link.line
        com = self.vector(row["com"], where, "com", line) if "com" in row else np.zeros(3)
        if "solid" in row:
            inertia = self.read_solid(row, where, line)
            if inertia is not None:
                link.mass_properties = MassProperties(inertia.mass, com, inertia.tensor, line)
        elif "mass" in row or "inertia" in row:
            mass = self.scalar(row.get("mass", 0.0), where, "mass", line)
            given = self.subtable(row, "inertia", {"xx", "yy", "zz", "xy", "xz", "yz"}, where, line)
            I = {
                key: self.scalar(given.get(key, 0.0), where, f"inertia.{key}", line)
                for key in ("xx", "yy", "zz", "xy", "xz", "yz")
            }
            tensor = np.array([[I["xx"], I["xy"], I["xz"]], [I["xy"], I["yy"], I["yz"]], [I["xz"], I["yz"], I["zz"]]])
            link.mass_properties = MassProperties(mass, com, tensor, line)
        for table in row.get("shapes", []) if isinstance(row.get("shapes", []), list) else []:
            self.read_shape(table, link, where, line)

    def read_solid(self, row: dict[str, Any], where: str, line: int | None) -> Inertia | None:
        solid = row["solid"]
        if not isinstance(solid, dict) or solid.get("kind") not in SOLIDS:
            kind = solid.get("kind", "") if isinstance(solid, dict) else solid
            self.wrong("solid", where, str(unknown_name("solid", kind, SOLIDS)), line)
            return None
        numbers = {k: self.scalar(v, where, f"solid.{k}", line) for k, v in solid.items() if k not in ("kind", "rpy")}
        if "mass" in row:
            numbers["mass"] = self.scalar(row["mass"], where, "mass", line)
        try:
            inertia = SOLIDS[solid["kind"]](**numbers)
        except (TypeError, DynamisError) as error:
            self.wrong("solid", where, f"solid {solid['kind']}: {error}", line)
            return None
        if "rpy" in solid:
            R = from_rpy(self.vector(solid["rpy"], where, "solid.rpy", line))
            inertia = inertia.seen_from(Pose.rotation(R))
        return inertia

    def read_shape(self, table: Any, link: Link, where: str, line: int | None) -> None:
        if not isinstance(table, dict) or table.get("kind") not in ("box", "cylinder", "capsule", "sphere", "mesh"):
            self.wrong("shape", where, "a shape needs kind = box, cylinder, capsule, sphere or mesh", line)
            return
        count = {"box": 3, "cylinder": 2, "capsule": 2, "sphere": 1, "mesh": 3}[table["kind"]]
        size = self.vector(table.get("size", [1.0] * count), where, "shape size", line, count)
        role, mesh = str(table.get("role", "visual")), str(table.get("mesh", ""))
        rgba = tuple(float(x) for x in table["rgba"]) if "rgba" in table else None
        link.shapes.append(Shape(role, table["kind"], tuple(float(x) for x in size), self.pose(table, where, line), mesh, rgba))

    def pose(self, row: dict[str, Any], where: str, line: int | None) -> Pose:
        p = self.vector(row["xyz"], where, "xyz", line) if "xyz" in row else np.zeros(3)
        R = from_rpy(self.vector(row["rpy"], where, "rpy", line)) if "rpy" in row else IDENTITY
        return Pose(R, p)

    def subtable(self, row: dict[str, Any], key: str, known: set[str], where: str, line: int | None) -> dict[str, Any]:
        table = row.get(key, {})
        if not isinstance(table, dict):
            self.wrong("table", where, f"{key} must be a table {{{', '.join(sorted(known))}}}", line)
            return {}
        for name in table:
            if name not in known:
                self.wrong("unknown-key", where, str(unknown_name(f"key in {key}", name, known)), line)
        return {name: value for name, value in table.items() if name in known}

    def vector(self, value: Any, where: str, what: str, line: int | None, count: int = 3) -> npt.NDArray[Any]:
        if not isinstance(value, list) or len(value) != count:
            self.wrong("numbers", where, f"{what} is {value!r}, not a list of {count} numbers", line)
            return np.zeros(count)
        return np.array([self.scalar(x, where, what, line) for x in value])

    def real(self, value: Any, where: str, what: str, line: int | None) -> float:
        number = self.scalar(value, where, what, line)
        if isinstance(number, Node):
            self.wrong("numbers", where, f"{what} must be a number, not a symbol", line)
            return 1.0
        return number

    def scalar(self, value: Any, where: str, what: str, line: int | None) -> Any:
        if isinstance(value, Node):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value):
            return float(value)
        if isinstance(value, str):
            try:
                return parse_expression(value, self.names)
            except DynamisError as error:
                self.wrong("expression", where, f"{what}: {error}", line)
                return 1.0
        self.wrong("number", where, f"{what} is {value!r}, not a finite number or an expression", line)
        return 1.0

    def check_keys(self, section: str, table: dict[str, Any], where: str, line: int | None) -> None:
        for key in table:
            if key not in _KEYS[section]:
                self.wrong("unknown-key", where, str(unknown_name("key", key, sorted(_KEYS[section]))), line)

    def wrong(self, code: str, where: str, found: str, line: int | None) -> None:
        self.report.error(code, where, found, "", "see docs/robot-files.md for the format", line)
