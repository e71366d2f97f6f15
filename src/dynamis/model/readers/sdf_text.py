"""Values of SDF, which stand between tags, with the findings about them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dynamis.errors import printable
from dynamis.model.description import Description
from dynamis.model.diagnostics import Report
from dynamis.model.readers.numbers import PLAIN, advice, miscounted, parse_number, parse_numbers
from dynamis.model.readers.xml_tree import Element
from dynamis.model.values import MAX_MAGNITUDE, warn_degrees
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY, from_quaternion, from_rpy


class Values:
    """Reads the values of elements; findings go to the report, and something harmless is returned."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.d = Description(file=report.source)

    def child(self, e: Element, tag: str, where: str) -> Element | None:
        found = e.all(tag)
        if len(found) > 1:
            self.report.error(
                "repeated-element", where, f"<{tag}> is given {len(found)} times", "once", "keep one of them", found[1].line
            )
        return found[0] if found else None

    def required(self, e: Element, tag: str, where: str) -> Element | None:
        found = self.child(e, tag, where)
        if found is None:
            self.report.error("missing-element", where, f"<{e.tag}> has no <{tag}>", f"one <{tag}>", f"add <{tag}>", e.line)
        return found

    def name(self, e: Element, where: str) -> str:
        name = e.attributes.get("name", "")
        if not name or "::" in name or name.startswith("__"):
            found = f"<{e.tag}> has no name" if not name else f"the name {printable(name)} is reserved"
            self.report.error("name", where, found, "name=…, without :: and without __ at its beginning", "name it", e.line)
        return name

    def word(self, e: Element, tag: str, where: str) -> str:
        found = self.child(e, tag, where)
        return found.text.strip() if found is not None else ""

    def flag(self, e: Element, tag: str, where: str, default: bool = False) -> bool:
        text = self.word(e, tag, where).lower()
        if text not in ("", "0", "1", "true", "false"):
            self.report.error("flag", where, f"<{tag}> is {printable(text)}", "true or false", "write true or false", e.line)
        return {"": default, "0": False, "false": False}.get(text, True)

    def number(self, e: Element, tag: str, where: str, default: float | None = 0.0) -> float:
        found = self.child(e, tag, where) if default is not None else self.required(e, tag, where)
        if found is None:
            return default or 0.0
        text = found.text.strip()
        if text.lower() in ("inf", "+inf", "-inf", "infinity") and tag in ("lower", "upper", "effort", "velocity"):
            return -math.inf if text.startswith("-") else math.inf
        return float(self.numbers(found, 1, where)[0])

    def vector(self, e: Element, tag: str, where: str, default: Any) -> Any:
        found = self.child(e, tag, where) if default is not None else self.required(e, tag, where)
        return np.array(self.numbers(found, 3, where) if found is not None else default or (0.0, 0.0, 1.0))

    def numbers(self, e: Element, count: int, where: str) -> list[float]:
        values = parse_numbers(e.text, count)
        if values is not None and (max(map(abs, values)) <= MAX_MAGNITUDE or count == 1):
            return values
        words = e.text.split()
        what = f"<{e.tag}>{printable(e.text.strip())}"
        if values is None and len(words) != count and len(words) < 20 and all(parse_number(x) is not None for x in words):
            what += f": {miscounted(e.tag, words, count)}"
        large = values is not None
        allowed = f"finite numbers up to {MAX_MAGNITUDE:g}" if large else PLAIN if count == 1 else f"{count} {PLAIN}"
        cure = "give the value in SI units (rad, m, kg)" if large else advice(e.text.strip(), count)
        self.report.error("number", where, what, allowed, cure, e.line)
        return [0.0] * (count - 1) + [1.0]

    def pose(self, e: Element, where: str) -> Pose:
        """The numbers of <pose>; what they are relative to is the caller's business."""
        if not e.text.strip():
            return Pose.identity()
        kind = e.attributes.get("rotation_format", "euler_rpy")
        if kind not in ("euler_rpy", "quat_xyzw"):
            self.report.error(
                "pose", where, f"rotation_format={printable(kind)}", "euler_rpy or quat_xyzw", "use one of these", e.line
            )
        if kind == "quat_xyzw":
            values = self.numbers(e, 7, where)
            length = float(np.linalg.norm(values[3:]))
            if not 0.5 < length < 2.0:
                self.report.error("pose", where, f"a quaternion of length {length:g}", "length 1", "normalise it", e.line)
                return Pose.identity()
            return Pose(from_quaternion(np.array(values[3:]) / length), np.array(values[:3]))
        values = self.numbers(e, 6, where)
        degrees = e.attributes.get("degrees", "false").strip().lower() in ("true", "1")
        rpy = [math.radians(x) for x in values[3:]] if degrees else values[3:]
        if not degrees:
            cure = 'write <pose degrees="true">, or multiply by π/180, if the file gives degrees'
            warn_degrees(self.report, where, "roll, pitch, yaw of <pose>", rpy, e.line, cure)
        return Pose(from_rpy(rpy) if any(rpy) else IDENTITY, np.array(values[:3]))

    def leave(self, what: str, name: str) -> None:
        self.d.aside.setdefault(what, []).append(name)


def cleaned(pose: Pose) -> Pose:
    """The pose without the rounding errors of products of poses: entries below 1e-15 are 0, and a rotation by 0 is none."""
    R, p = (np.where(np.abs(x) < 1e-15, 0.0, x) for x in (np.asarray(pose.R, float), np.asarray(pose.p, float)))
    return Pose(IDENTITY if np.abs(R - np.eye(3)).max() < 1e-15 else R, p)
