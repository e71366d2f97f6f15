"""Masses and speeds that no robot of its size has: masses in grams, and velocity limits in degrees per second."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dynamis.model.description import Description
from dynamis.model.diagnostics import Report
from dynamis.scalar import Node

# kg per m³ of the ball around the stretched robot: real robots are below 10, arms with masses in grams above 1000
MAX_DENSITY = 500.0
MIN_RADIUS = 0.5  # m, of the ball: links extend beyond their joints
EXTENT = 2.5  # radii of gyration: those of a ball are 1.6, those of a rod about its middle 1.7 from its end
# rad/s: no robot has limits above it at all joints, but of placeholders; limits in deg/s are
MIN_SPEED, MAX_SPEED = 60.0, 900.0


def check_scale(description: Description, report: Report) -> None:
    """Add warnings for masses that are probably in grams, and velocity limits that are probably in degrees per second."""
    if not any(p.code in ("mass-unit", "length-unit") for p in report.problems):
        _check_masses(description, report)
    _check_speeds(description, report)


def _check_masses(description: Description, report: Report) -> None:
    bodies = [m for link in description.links if (m := link.mass_properties) is not None]
    values: list[Any] = [x for m in bodies for x in (m.mass, m.com, m.tensor)]
    values += [x for joint in description.joints for x in (joint.origin.p, joint.tail.p)]
    if any(isinstance(x, Node) or (isinstance(x, np.ndarray) and x.dtype == object) for x in values):
        return
    mass = sum(float(m.mass) for m in bodies)
    length = sum(math.hypot(*joint.origin.p) + math.hypot(*joint.tail.p) for joint in description.joints)
    length += max((math.hypot(*m.com) for m in bodies), default=0.0)
    gyration = max((math.sqrt(float(np.abs(m.tensor).max()) / m.mass) for m in bodies if m.mass > 0.0), default=0.0)
    sizes = [x for link in description.links for shape in link.shapes if shape.kind != "mesh" for x in shape.size]
    radius = max(length, EXTENT * gyration, MIN_RADIUS, *(float(x) for x in sizes if not isinstance(x, Node)))
    density = mass / (4.0 / 3.0 * math.pi * radius**3)
    if density > MAX_DENSITY:
        report.warn("mass-unit", "robot",
                    f"its links have {mass:.4g} kg and reach {radius:.3g} m: {density:.3g} kg per m³ of a ball of this radius",
                    f"masses in kg; robots are below {MAX_DENSITY:g} kg/m³",
                    "divide the masses by 1000 if the file gives grams", "used as written")  # fmt: skip


def _check_speeds(description: Description, report: Report) -> None:
    joints = [j for j in description.joints if j.type == "revolute" and 0.0 < j.limits.velocity < math.inf]
    limits = [j.limits.velocity for j in joints]
    given = [x for x in limits if not math.log10(x).is_integer()]  # 100 or 1000 stands for a limit that is not known
    if not given or min(limits) < MIN_SPEED or max(given) > MAX_SPEED:
        return
    first = joints[limits.index(given[0])]
    ends = f"{min(limits):g}" if min(limits) == max(limits) else f"{min(limits):g} … {max(limits):g}"
    turns = min(limits) / (2.0 * math.pi)
    report.warn("speed-unit", "robot",
                f"the velocity limits of all revolute joints are {ends} rad/s: {turns:.3g} turns per second or more",
                "rad/s", "multiply by π/180 if the file gives deg/s", "used as written",
                first.lines.get("limits", first.line))  # fmt: skip
