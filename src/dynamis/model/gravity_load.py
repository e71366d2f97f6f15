"""Weights of links compared with the effort limits of the joints that carry them: masses in grams stand out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.model.description import Description, Joint
from dynamis.model.diagnostics import Report
from dynamis.scalar import Node
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import cross
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]

# of the effort limit; robots with right masses are below 5, arms with masses in grams above 100
MAX_LOAD_RATIO = 20.0
CARRYING = ("revolute", "continuous", "prismatic")


def check_gravity_load(description: Description, report: Report) -> None:
    """Warn if the weight beyond a joint exceeds its effort limit by far.

    The load of a revolute joint is the weight of all links beyond it times the distance of their common centre of mass from
    its axis, at q = 0: its gravity torque with the axis horizontal and the lever arm level. Where no joint before it tilts the
    axis, the axis as it stands counts: a vertical one carries nothing.
    """
    limited = [j for j in description.joints if j.type in CARRYING and j.mimic is None and 0.0 < j.limits.effort < math.inf]
    if not limited or any(p.code == "length-unit" for p in report.problems) or not _numeric(description):
        return
    gravity = np.asarray(description.gravity, dtype=float)
    weight = float(np.linalg.norm(gravity))
    masses = {x.name: float(m.mass) for x in description.links if (m := x.mass_properties) is not None}
    if not weight or _bound(description, masses) * weight < MAX_LOAD_RATIO * min(j.limits.effort for j in limited):
        return
    loads = _loads(description, masses, gravity / weight)
    worst = max(limited, key=lambda j: loads[j.name] / j.limits.effort)
    load, limit = weight * loads[worst.name], worst.limits.effort
    if load < MAX_LOAD_RATIO * limit:
        return
    unit = "N" if worst.type == "prismatic" else "N m"
    size = f"{load:.0f}" if load >= 1000.0 else f"{load:.3g}"
    needed = f"holding the links beyond it against gravity needs up to {size} {unit}"
    report.warn("mass-unit", f"joint {printable(worst.name)}",
                f"{needed}, its effort limit is {limit:g} {unit}", "masses in kg, and an effort limit above the gravity load",
                "divide the masses by 1000 if the file gives grams; otherwise correct the effort limit", "used as written",
                worst.lines.get("limits", worst.line))  # fmt: skip


def _numeric(description: Description) -> bool:
    values = [description.gravity]
    for joint in description.joints:
        values += [joint.origin.p, joint.origin.R, joint.tail.p, joint.tail.R, joint.axis]
    values += [x for link in description.links if (m := link.mass_properties) is not None for x in (m.mass, m.com)]
    return not any(isinstance(x, Node) or (isinstance(x, np.ndarray) and x.dtype == object) for x in values)


def _bound(description: Description, masses: dict[str, float]) -> float:
    """An upper bound of all loads per unit of gravity: the whole mass at the end of all lengths, or 1 m for forces."""
    lengths = sum(math.hypot(*j.origin.p) + math.hypot(*j.tail.p) for j in description.joints)
    farthest = max((math.hypot(*m.com) for x in description.links if (m := x.mass_properties) is not None), default=0.0)
    return sum(masses.values()) * max(lengths + farthest, 1.0)


def _loads(description: Description, masses: dict[str, float], down: Array) -> dict[str, float]:
    """Mass times lever arm (mass, for prismatic joints) beyond each joint, by its name; ``down`` is the unit vector of g."""
    out: dict[str, list[Joint]] = {}
    for joint in description.joints:
        out.setdefault(joint.parent, []).append(joint)
    children = {j.child for j in description.joints}
    frames = {x.name: Pose.identity() for x in description.links if x.name not in children}
    level = dict.fromkeys(frames, True)  # no joint on the way to the link tilts it
    mass = {x.name: masses.get(x.name, 0.0) for x in description.links}
    moment: dict[str, Array] = {}
    found: list[tuple[Joint, Array, Array, float]] = []  # joint, a point of its axis, the axis, share of its load
    names, links = list(frames), {x.name: x for x in description.links}
    for name in names:
        X, m = frames[name], links[name].mass_properties
        moment[name] = np.zeros(3) if m is None else mass[name] * (X.p + X.R @ np.asarray(m.com, dtype=float))
        for joint in out.get(name, ()):
            at = X @ joint.origin
            axis, tilted = np.zeros(3), 0.0
            if joint.type != "fixed":
                axis = at.R @ np.asarray(joint.axis, dtype=float)
                axis = axis / (float(np.linalg.norm(axis)) or 1.0)
                tilted = float(np.linalg.norm(cross(axis, down)))
            slides = joint.type == "prismatic"
            share = 1.0 if not level[name] else abs(float(axis @ down)) if slides else tilted
            found.append((joint, at.p, axis, share))
            frames[joint.child] = at @ joint.tail
            level[joint.child] = level[name] and (slides or tilted < FILE_PRECISION)
            names.append(joint.child)
    loads: dict[str, float] = {}
    for joint, p, axis, share in reversed(found):
        carried, s = mass[joint.child], moment[joint.child]
        loads[joint.name] = share * (
            carried if joint.type == "prismatic" else float(np.linalg.norm(cross(axis, s - carried * p)))
        )
        mass[joint.parent] += carried
        moment[joint.parent] = moment[joint.parent] + s
    return loads
