"""Doubtful physics that files really contain: each finding says what was found and how the model reads it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.model.actuators import Elastic
from dynamis.model.description import DRIVE_NUMBERS, Description, Joint, Link
from dynamis.model.diagnostics import Report
from dynamis.model.gravity_load import check_gravity_load
from dynamis.model.joint_coordinates import NO_LIMIT
from dynamis.model.joints import JOINT_TYPES, USES_AXIS
from dynamis.model.massless import CURE_WITH_LOOPS
from dynamis.model.robot_scale import check_scale
from dynamis.scalar import Node
from dynamis.tolerances import EPS, FILE_PRECISION, TYPED_PRECISION

# larger than any joint turns or any arm reaches, smaller than what a wrong unit gives
MAX_JOINT_ANGLE = 20.0  # rad
UNREACHABLE = 1e5  # rad: more turns than any joint makes, in any unit
MAX_LENGTH = 20.0  # m
DENSEST = 22600.0  # kg/m³, osmium; of bodies with this density, a solid sphere has the smallest moments of inertia for its mass
POINT_MASS = 2.0  # kg: lighter bodies, and those with a radius of gyration below TYPED_PRECISION, stand for parts without size
FAR_COM = 3.0  # times the size of a link; counterweights are within one
MAX_COM_NEAR = 0.5  # m: nearer ones are not noted
NOT_NEGATIVE = frozenset({"viscous", "coulomb", "rotor_inertia", "stiffness"})  # of a drive


def check_plausibility(description: Description, report: Report) -> None:
    """Add a warning for everything that loads but is probably not meant, in links and joints without errors."""
    if report.ok:
        links, joints = description.links, description.joints
    else:
        links, joints = _without_errors(description, report)
    check_inertias(links, report)
    for joint in joints:
        _check_joint(joint, report)
    if report.ok:
        _check_rotors(description, report)
        _check_massless_leaves(description, report)
        _check_bodies(description, report)
        check_gravity_load(description, report)
        if not report.by_hand:  # files of robots; examples in Python may have any numbers
            check_scale(description, report)
        _check_gravity(description, report)


def _without_errors(description: Description, report: Report) -> tuple[list[Link], list[Joint]]:
    """The links and joints whose numbers were all read: in place of a faulty number readers continue with another."""
    if any(problem.where.startswith("parameter ") for problem in report.errors):
        report.skipped.append("plausibility of inertias and limits")  # any number may depend on the parameter
        return [], []
    faulty = {p.where for p in report.errors}
    rows = {where[where.find("'") : where.rfind("'") + 1] for where in faulty if where.startswith("[[")}  # [[dh]] 'arm' inertia
    named = [link for link in description.links if isinstance(link.name, str)]
    links = [x for x in named if f"link {printable(x.name)}" not in faulty and printable(x.name) not in rows]
    jointed = [j for j in description.joints if isinstance(j.name, str) and isinstance(j.child, str) and j.name]
    joints = [j for j in jointed if f"joint {printable(j.name)}" not in faulty and printable(j.child) not in rows]
    return links, joints


def _numbers(*values: Any) -> bool:
    return not any(isinstance(v, Node) or (isinstance(v, np.ndarray) and v.dtype == object) for v in values)


def inertia_fault(mass: float, moments: Any, asymmetry: float, size: float) -> str:
    """What no real body can have in a tensor about the centre of mass: "asymmetric", "negative", "triangle", or "" for nothing.

    ``moments`` are its principal moments in ascending order, ``asymmetry`` and ``size`` the largest |Iᵢⱼ − Iⱼᵢ| and |Iᵢⱼ|.
    """
    if size <= mass * 1e-7**2:  # m: smaller radii of gyration are those of a point mass, its tensor rounding errors
        return ""
    if asymmetry > FILE_PRECISION * size:
        return "asymmetric"
    if moments[0] < -FILE_PRECISION * size:
        return "negative"
    return "triangle" if moments[0] + moments[1] < moments[2] * (1.0 - FILE_PRECISION) else ""


def check_inertias(links: list[Link], report: Report) -> None:
    """Add a warning for each mass and inertia tensor that no body has, or that are probably in other units."""
    weighed = [(link, m) for link in links if (m := link.mass_properties) is not None and _numbers(m.mass, m.com, m.tensor)]
    if not weighed:
        return
    tensors: npt.NDArray[Any] = np.array([m.tensor for _, m in weighed], dtype=float)
    skewness = np.abs(tensors - tensors.swapaxes(1, 2)).max(axis=(1, 2))
    moments = np.linalg.eigvalsh(0.5 * (tensors + tensors.swapaxes(1, 2)))
    sizes = np.abs(tensors).max(axis=(1, 2))
    moments[np.abs(moments) < EPS * sizes[:, None]] = 0.0  # rounding errors
    for (link, mass), (a, b, c), uneven, size in zip(weighed, moments.tolist(), skewness.tolist(), sizes.tolist(), strict=True):
        where, line = f"link {printable(link.name)}", mass.line or link.line
        principal = f"({a:.4g}, {b:.4g}, {c:.4g})"
        nearest = "take inertia.nearest_consistent()" if report.by_hand else "run dynamis check FILE --repair OUT"
        repair = f"give the true inertia, or {nearest} for the nearest possible one"
        fault = inertia_fault(mass.mass, (a, b, c), uneven, size)
        if mass.mass == 0.0 and size > 0.0:
            report.warn("inertia-without-mass", where,
                        f"the mass is 0 kg, but the inertia tensor is not 0: its principal moments are {principal} kg m²",
                        "an inertia only where there is mass", "give the link its mass, or for a frame set the inertia to 0",
                        "used as written", mass.lines.get("mass", line))  # fmt: skip
        if fault == "asymmetric":
            report.warn("inertia-asymmetric", where, "the inertia tensor is not symmetric", "Iᵢⱼ = Iⱼᵢ",
                        "correct the products of inertia", "its symmetric part is used", line)  # fmt: skip
        if fault == "negative":
            report.warn("inertia-negative", where, f"the principal moments are {principal} kg m²: not positive definite",
                        "moments that are not negative", repair, "used as written", line)  # fmt: skip
        elif fault == "triangle" and a == b == 0.0 and (report.by_hand or report.source.endswith((".toml", "TOML text"))):
            report.note("inertia-one-moment", where, f"one moment of inertia, {c:.4g} kg m², as for planar motion",
                        "for motion in space give the others too", "used as written", line)  # fmt: skip
        elif fault == "triangle":
            report.warn("inertia-triangle", where,
                        f"the principal moments {principal} kg m² break the triangle inequality: {a:.4g} + {b:.4g} < {c:.4g}",
                        "each moment at most the sum of the other two", repair, "used as written", line)  # fmt: skip
        if mass.mass > 0.0 and c > mass.mass * MAX_LENGTH**2:
            report.warn("inertia-unit", where,
                        f"a moment of {c:.4g} kg m² for {mass.mass:.4g} kg means mass {np.sqrt(c / mass.mass):.3g} m away",
                        "metres" if mass.solid else "kg m²",
                        "divide the lengths of the solid by 1000 if the file gives millimetres" if mass.solid
                        else "divide by 1e6 if the file gives kg mm²", "used as written", line)  # fmt: skip
        radius = math.sqrt(max(c, 0.0) / mass.mass) if mass.mass > POINT_MASS and not fault else 0.0
        if radius > TYPED_PRECISION and (density := mass.mass / _largest_volume(radius)) > DENSEST:
            report.note("inertia-small", where,
                        f"a largest moment of {c:.4g} kg m² for {mass.mass:.4g} kg is a radius of gyration of "
                        f"{1e3 * radius:.3g} mm: a body that small has a density of at least {density:.3g} kg/m³, "
                        f"no material above {DENSEST:g}",
                        "divide the mass by 1000 if the file gives grams, or give the true inertia", "used as written",
                        line)  # fmt: skip
        if max(map(abs, mass.com)) > MAX_LENGTH:
            report.warn("length-unit", where, f"the centre of mass is {np.abs(mass.com).max():.4g} m away", "metres",
                        "divide by 1000 if the file gives millimetres", "used as written", line)  # fmt: skip


def _largest_volume(radius: float) -> float:
    """The volume of the solid sphere with this radius of gyration: no body with it is larger."""
    return 4.0 / 3.0 * math.pi * (math.sqrt(2.5) * radius) ** 3


def _check_joint(joint: Joint, report: Report) -> None:
    where, line = f"joint {printable(joint.name)}", joint.line
    if _numbers(joint.origin.p) and max(map(abs, joint.origin.p)) > MAX_LENGTH:
        report.warn("length-unit", where, f"its origin is {np.abs(joint.origin.p).max():.4g} m away", "metres",
                    "divide by 1000 if the file gives millimetres", "used as written", line)  # fmt: skip
    axes = [(joint.axis, "axis")] if joint.type in USES_AXIS else []
    axes += [(joint.axis2, "second axis")] if joint.type == "universal" and joint.axis2 is not None else []
    for axis, what in axes:
        if not _numbers(axis):
            continue
        length = math.hypot(*axis)
        if abs(length - 1.0) > TYPED_PRECISION and not report.by_hand:  # (1, 1, 0) is natural in Python
            report.warn("axis-length", where, f"the {what} has length {length:.6g}", "length 1", "divide it by its length",
                        "only its direction is used", joint.lines.get("axis", line))  # fmt: skip
    limits = joint.limits
    for name in ("velocity", "effort"):
        if getattr(limits, name) < 0.0:
            report.warn("limits-negative", where, f"the {name} limit is {getattr(limits, name):g}", "0 or a positive number",
                        "remove the sign", "it is used as written", joint.lines.get("limits", line))  # fmt: skip
    zero = [name for name in ("velocity", "effort") if getattr(limits, name) == 0.0]
    if zero and joint.type != "fixed":
        what = f"the {zero[0]} limit is 0" if len(zero) == 1 else f"the {' and '.join(zero)} limits are 0"
        report.warn("limits-zero", where, what, "a positive number", "give the limit of the drive, or remove a limit that is "
                    "not known", "treated as not given", joint.lines.get("limits", line))  # fmt: skip
    if limits.lower == limits.upper == 0.0 and joint.type in ("revolute", "prismatic", "helical"):
        report.warn("range-zero", where, "both position limits are 0", "lower < upper", "give the range of the joint, or make "
                    "it fixed", "treated as not given", joint.lines.get("limits", line))  # fmt: skip
    if limits.lower > limits.upper:
        report.warn("limits-swapped", where, f"the lower limit {limits.lower:g} is above the upper {limits.upper:g}",
                    "lower ≤ upper", "exchange them", "they are exchanged", joint.lines.get("limits", line))  # fmt: skip
    check_range(joint, (limits.lower, limits.upper), report)
    check_drive(joint, report)
    if joint.mimic is not None and joint.type == "fixed":
        report.warn("mimic", where, f"a fixed joint cannot follow joint {printable(joint.mimic.joint)}", "",
                    "remove <mimic>", "it stays fixed", line)  # fmt: skip
    elif joint.mimic is not None:
        m = joint.mimic
        report.note("mimic", where, f"it follows joint {printable(m.joint)} with ratio {m.ratio:g} and offset {m.offset:g}",
                    "", "it has no coordinate of its own", line)  # fmt: skip


def check_range(joint: Joint, ends: Iterable[float], report: Report) -> None:
    """Add a warning for position limits that are not used or probably in another unit."""
    where, line = f"joint {printable(joint.name)}", joint.line
    finite = [abs(x) for x in ends if math.isfinite(x)]
    if JOINT_TYPES[joint.type].degrees > 1 and finite:
        report.warn("limits-unused", where, f"position limits on a {joint.type} joint, which has several positions", "none",
                    "remove them, or use joints with one position each", "they are not used", line)  # fmt: skip
    if joint.type in ("revolute", "universal") and finite and max(finite) > UNREACHABLE:
        report.warn("unreachable-limit", where, f"a limit of {max(finite):g} rad", "a limit that can be reached",
                    "leave it out, or make the joint continuous",
                    "treated as not given" if max(finite) >= NO_LIMIT else "used as written",
                    joint.lines.get("limits", line))  # fmt: skip
    elif joint.type in ("revolute", "universal") and finite and max(finite) > MAX_JOINT_ANGLE:
        report.warn("angle-unit", where, f"a limit of {max(finite):g} rad is {max(finite) / (2 * np.pi):.3g} turns",
                    "radians", "multiply by π/180 if the file gives degrees", "used as written",
                    joint.lines.get("limits", line))  # fmt: skip
    if joint.type == "prismatic" and finite and max(finite) > MAX_LENGTH:
        report.warn("length-unit", where, f"a limit of {max(finite):g} m", "metres",
                    "divide by 1000 if the file gives millimetres", "used as written",
                    joint.lines.get("limits", line))  # fmt: skip


def check_drive(joint: Joint, report: Report, names: Collection[str] = DRIVE_NUMBERS) -> None:
    """Add a warning for each negative friction coefficient, rotor inertia and stiffness among these, and a gear ratio of 0."""
    for name in sorted(NOT_NEGATIVE.intersection(names)):
        value = getattr(joint.drive, name)
        if isinstance(value, int | float) and value < 0.0:  # other types are refused when the model is built
            key, where = joint.keys.get(name, name), f"joint {printable(joint.name)}"
            report.warn("negative-drive", where, f"{key} is {value:g}", "0 or more", "change the sign",
                        "used as written", joint.lines.get(name, joint.line))  # fmt: skip
    gear = joint.drive.gear_ratio
    if "gear_ratio" in names and isinstance(gear, int | float) and gear == 0.0:
        report.warn("zero-gear-ratio", f"joint {printable(joint.name)}", "gear_ratio is 0: its rotor does not turn",
                    "another number", "give the ratio of the gear, 1 for a direct drive", "used as written",
                    joint.lines.get("gear_ratio", joint.line))  # fmt: skip
    dry, bias = joint.drive.coulomb, joint.drive.coulomb_bias
    if (
        "coulomb" in names
        and all(isinstance(x, int | float) for x in (dry, bias))
        and 0.0 <= dry < abs(bias) * (1.0 - FILE_PRECISION)
    ):
        ends = f"{dry + bias:g} in the positive and {dry - bias:g} in the negative direction"
        report.note("driving-friction", f"joint {printable(joint.name)}",
                    f"Coulomb friction of {ends}: beside friction it has a larger constant torque",
                    "give the value of the negative direction without its sign, unless this is meant", "used as written",
                    joint.lines.get("coulomb", joint.line))  # fmt: skip


def _check_rotors(description: Description, report: Report) -> None:
    """A link's inertia contains the rotors it carries; one that is smaller was given without them."""
    links = {link.name: link for link in description.links}
    carried = {joint.child for joint in description.joints}
    for joint in description.joints:
        drive = joint.drive
        mass = links[drive.motor_link].mass_properties if drive.motor_link in carried else None
        if joint.type == "fixed" or mass is None or (drive.motor_axis is None and drive.motor_link != joint.parent):
            continue
        axis = joint.origin.R @ joint.axis if drive.motor_axis is None else np.array(drive.motor_axis)
        if not _numbers(drive.rotor_inertia, mass.tensor, axis):
            continue
        own = float(axis @ mass.tensor @ axis) / float(axis @ axis)
        if own < drive.rotor_inertia * (1.0 - FILE_PRECISION):
            carrier = f"link {printable(str(drive.motor_link))}, whose own inertia about that axis is {own:.4g} kg m²"
            report.warn("rotor-inertia", f"joint {printable(joint.name)}",
                        f"its rotor of {drive.rotor_inertia:.4g} kg m² is on {carrier}",
                        "a link's inertia that contains the rotor, locked", "add the motor's inertia to the link's",
                        "used as written; the mass matrix may not be positive definite", joint.line)  # fmt: skip


def _check_massless_leaves(description: Description, report: Report) -> None:
    """A motion that moves no mass makes the mass matrix singular."""
    carried: dict[str, list[Joint]] = {}
    for joint in description.joints:
        carried.setdefault(joint.parent, []).append(joint)
    weighs: dict[str, bool] = {}
    children = {j.child for j in description.joints}
    order = [link.name for link in description.links if link.name not in children]
    for name in order:
        order.extend(j.child for j in carried.get(name, ()))
    links = {link.name: link for link in description.links}
    for name in reversed(order):
        mass = links[name].mass_properties
        own = mass is not None and not (_numbers(mass.mass, mass.tensor) and mass.mass == 0.0 and not np.any(mass.tensor))
        weighs[name] = own or any(weighs[j.child] for j in carried.get(name, ()))
    # a leader moves what its followers carry
    leading = {j.mimic.joint for j in description.joints if j.mimic is not None and weighs[j.child]}
    for joint in description.joints:
        rotor = not _numbers(joint.drive.rotor_inertia) or joint.drive.rotor_inertia > 0.0
        rotor = rotor and not isinstance(joint.actuator, Elastic)  # behind a spring it moves by itself
        moves = joint.type != "fixed" and joint.mimic is None
        if moves and not weighs[joint.child] and not rotor and joint.name not in leading:
            where = f"joint {printable(joint.name)}"
            report.warn("massless-leaf", where, f"it moves link {printable(joint.child)} and nothing with mass",
                        "a link with mass, or a rotor inertia",
                        CURE_WITH_LOOPS if description.closures else "give the link mass and inertia, or make the joint fixed",
                        "inverse dynamics works; forward dynamics will find the mass matrix singular", joint.line)  # fmt: skip


def _check_bodies(description: Description, report: Report) -> None:
    """A moving link that is drawn but has no mass, and a centre of mass far outside its link."""
    out: dict[str, list[Joint]] = {}
    for joint in description.joints:
        out.setdefault(joint.parent, []).append(joint)
    links = {link.name: link for link in description.links}
    carriers, fixed = _carriers(description)
    for joint in description.joints:
        link, beyond = links[joint.child], out.get(joint.child, [])
        mass, where = link.mass_properties, f"link {printable(link.name)}"
        if mass is None:
            if joint.type == "fixed" or not link.shapes or joint.child in fixed:
                continue
            found, repair = "it has shapes and moves, but has no mass", "add its mass, unless another link contains it"
            if joint.child in carriers:
                report.warn("no-mass", where, found, "a mass", repair, "used as written", link.line)
            else:  # a joint that moves no mass is another warning
                report.note("no-mass", where, found, repair, "used as written", link.line)
            continue
        if not _numbers(mass.mass, mass.com, *(j.origin.p for j in beyond)) or not mass.mass:
            continue
        arms = [math.hypot(*j.origin.p) for j in beyond] + [
            math.hypot(*s.origin.p) + max(s.size, default=0.0) for s in link.shapes if s.kind != "mesh" and _numbers(s.origin.p)
        ]
        distance, size = math.hypot(*mass.com), max(arms, default=0.0)
        if size > 0.0 and distance > FAR_COM * size and distance > MAX_COM_NEAR:
            report.note("com-far", where,
                        f"its centre of mass is {distance:.3g} m from the origin of its frame, its joints and shapes at most "
                        f"{size:.3g} m", "give it in the frame of the link, in metres",
                        "used as written", mass.lines.get("com", mass.line or link.line))  # fmt: skip


def _carriers(description: Description) -> tuple[set[str], set[str]]:
    """The links beyond which other links have mass, and those to which such links are fixed."""
    above = {joint.child: joint for joint in description.joints}
    carriers, fixed = set[str](), set[str]()
    for link in description.links:
        name, rigid = link.name, True
        while link.mass_properties and (joint := above.get(name)) is not None:
            name, rigid = joint.parent, rigid and joint.type == "fixed"
            if name in (fixed if rigid else carriers):
                break
            carriers.add(name)
            fixed |= {name} if rigid else set()
    return carriers, fixed


def _check_gravity(description: Description, report: Report) -> None:
    """Add a note if gravity points up: some toolboxes give the acceleration of the base in its place."""
    if _numbers(description.gravity) and description.gravity[2] > math.hypot(*description.gravity[:2]):
        shown = ", ".join(f"{x:g}" for x in description.gravity)
        report.note("gravity-up", "robot", f"gravity [{shown}] m/s² points up, along +z of the base",
                    "reverse its sign, unless the base is mounted upside down", "used as written")  # fmt: skip
