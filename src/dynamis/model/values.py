"""Whether the numbers of a description are usable: of the right kind and size, finite, rotations that rotate.

What can be read as meant (a list for a vector, a NumPy integer for a mass) is put into its proper form.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.model.description import DRIVE_NUMBERS, Description, Drive, Joint, Limits, Link, MassProperties, Mimic
from dynamis.model.diagnostics import Report
from dynamis.model.joints import USES_AXIS
from dynamis.scalar import Node
from dynamis.spatial.checks import not_rotations
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY
from dynamis.tolerances import TYPED_PRECISION

Array = npt.NDArray[Any]

MAX_POSE_ANGLE = 6.5  # rad: a little more than a turn, which no angle of a pose or a DH table needs
BY_DIRECTION = "give one number; of friction c₊ and c₋ by direction: coulomb = (c₊ + c₋) / 2, coulomb_bias = (c₊ − c₋) / 2"
MAX_MAGNITUDE = 1e50  # beyond it products of a few numbers overflow; no robot comes near


def shown(value: Any, limit: int = 70) -> str:
    """A value as a message shows it: on one line and short, whatever it is."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of more than 4,300 digits
        return f"a {type(value).__name__} with too many digits to print"
    return printable(text, limit)[1:-1]


def check_values(description: Description, joints: list[Joint], report: Report) -> None:
    """Put the numbers of the links and ``joints`` into their proper form; add an error for every one that has none."""
    sweep = _Sweep(report)
    description.gravity = sweep.array(description.gravity, (3,), ("robot", "", None), "gravity")
    for link in description.links:
        _link(link, sweep)
    for joint in joints:
        _joint(joint, sweep)
    sweep.finish()
    for joint in joints:
        if f"joint {printable(joint.name)}" not in sweep.faulty:
            _axes(joint, report)


def warn_degrees(report: Report, where: str, key: str, angles: Sequence[Any], line: int | None, cure: str) -> None:
    """Add a warning where an angle of a pose or a table exceeds a turn: it is probably in degrees."""
    if any(not isinstance(x, Node) and abs(x) > MAX_POSE_ANGLE for x in angles):
        listed = ", ".join(f"{x}" if isinstance(x, Node) else f"{x:g}" for x in angles)
        found = f"{key} is {listed if len(angles) == 1 else f'({listed})'}: more than a turn"
        report.warn("angle-unit", where, found, "radians", cure, "used as written", line)


class _Sweep:
    """Collects numbers with their owners and checks all of them at once, which is much faster for long chains."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.numbers: list[float] = []
        self.number_owners: list[tuple[Any, str]] = []
        self.arrays: list[Array] = []
        self.array_owners: list[tuple[Any, str]] = []
        self.rotations: list[Array] = []
        self.rotation_owners: list[Any] = []
        self.faulty: set[str] = set()  # links and joints with an error

    def wrong(self, owner: Any, what: str, value: Any, allowed: str, repair: str = "") -> None:
        kind, name, line = owner
        where = f"{kind} {printable(name)}" if name else kind
        self.faulty.add(where)
        self.report.error("not-finite", where, f"{what} is {shown(value)}", allowed, repair or f"give {allowed}", line)

    def number(self, value: Any, owner: Any, what: str, infinite: bool = False) -> Any:
        if isinstance(value, Node) and not infinite:
            return value
        if not isinstance(value, float):
            if not isinstance(value, numbers.Real) or isinstance(value, bool):
                self.wrong(owner, what, value, "a number", BY_DIRECTION if what == "coulomb" else "")
                return 0.0
            try:
                value = float(value)
            except OverflowError:
                self.wrong(owner, what, value, f"finite numbers up to {MAX_MAGNITUDE:g}")
                return 0.0
        if not (infinite and math.isinf(value)):
            self.numbers.append(value)
            self.number_owners.append((owner, what))
        return value

    def array(self, value: Any, shape: tuple[int, ...], owner: Any, what: str) -> Array:
        if not (type(value) is np.ndarray and value.dtype == np.float64 and value.shape == shape):
            converted = _as_array(value, shape)
            if converted is None:
                self.wrong(owner, what, value, " × ".join(map(str, shape)) + " numbers")
                return np.zeros(shape)
            value = converted
        if value.dtype == object:
            for x in value.flat:
                self.number(x, owner, what)
        else:
            self.arrays.append(value.ravel())
            self.array_owners.append((owner, what))
        return value

    def pose(self, value: Any, owner: Any, what: str) -> Pose:
        if not isinstance(value, tuple) or len(value) != 2:
            self.wrong(owner, what, value, "a Pose (R, p)")
            return Pose.identity()
        R = IDENTITY if value[0] is IDENTITY else self.array(value[0], (3, 3), owner, f"rotation of {what}")
        if R is not IDENTITY and R.dtype != object:
            self.rotations.append(R)
            self.rotation_owners.append((owner, what))
        return Pose(R, self.array(value[1], (3,), owner, what))

    def finish(self) -> None:
        values = np.array(self.numbers)
        for k in np.flatnonzero(~(np.abs(values) <= MAX_MAGNITUDE)):
            owner, what = self.number_owners[k]
            self.wrong(owner, what, self.numbers[k], f"finite numbers up to {MAX_MAGNITUDE:g}")
        flat = np.concatenate(self.arrays) if self.arrays else np.zeros(0)
        bad = ~(np.abs(flat) <= MAX_MAGNITUDE)
        if bad.any():
            ends = np.cumsum([len(a) for a in self.arrays])
            for k in sorted(set(np.searchsorted(ends, np.flatnonzero(bad), side="right").tolist())):
                owner, what = self.array_owners[k]
                self.wrong(owner, what, self.arrays[k].tolist(), f"finite numbers up to {MAX_MAGNITUDE:g}")
        finite = [k for k, R in enumerate(self.rotations) if not bad.any() or (np.abs(R) <= MAX_MAGNITUDE).all()]
        if finite:
            R = np.stack([self.rotations[k] for k in finite])
            for k in np.flatnonzero(not_rotations(R)):
                owner, what = self.rotation_owners[finite[k]]
                self.wrong(owner, f"rotation of {what}", R[k].round(4).tolist(), "a rotation matrix")


def _as_array(value: Any, shape: tuple[int, ...]) -> Array | None:
    try:
        array = np.array(value)
        if array.dtype == object:
            plain = all(isinstance(x, Node | numbers.Real) and not isinstance(x, bool) for x in array.flat)
            symbolic = any(isinstance(x, Node) for x in array.flat)
            array = array if symbolic else array.astype(float)
        else:
            plain = array.dtype.kind in "iuf"
            array = array.astype(float) if plain else array
    except (TypeError, ValueError, OverflowError):
        return None
    return array if plain and array.shape == shape else None


def _link(link: Link, sweep: _Sweep) -> None:
    mass = link.mass_properties
    if mass is None:
        return
    if not isinstance(mass, MassProperties):
        sweep.wrong(("link", link.name, link.line), "mass_properties", mass, "MassProperties, an Inertia, or None")
        return
    owner = ("link", link.name, mass.line or link.line)
    mass.mass = sweep.number(mass.mass, owner, "mass")
    mass.com = sweep.array(mass.com, (3,), owner, "centre of mass")
    mass.tensor = sweep.array(mass.tensor, (3, 3), owner, "inertia tensor")
    if not isinstance(mass.mass, Node) and mass.mass < 0.0:
        where, repair = f"link {printable(link.name)}", "give the true mass, or 0 for a frame"
        line = mass.lines.get("mass", owner[2])
        sweep.report.error("negative-mass", where, f"the mass is {mass.mass:g} kg", "0 or more", repair, line)


EXAMPLES = {
    Limits: 'a mapping, such as {"lower": -1, "upper": 2}',
    Drive: 'a mapping, such as {"viscous": 0.1}',
    Mimic: 'a mapping, such as {"joint": "left", "ratio": -1, "offset": 0}',
}


def _joint(joint: Joint, sweep: _Sweep) -> None:
    owner = ("joint", joint.name, joint.line)
    joint.origin = sweep.pose(joint.origin, owner, "origin")
    joint.tail = sweep.pose(joint.tail, owner, "tail")
    joint.pitch = sweep.number(joint.pitch, owner, "pitch")
    if joint.type in USES_AXIS:
        joint.axis = sweep.array(joint.axis, (3,), owner, "axis")
    if joint.axis2 is not None:
        joint.axis2 = sweep.array(joint.axis2, (3,), owner, "second axis")
    for holder, kind, infinite in ((joint.drive, Drive, False), (joint.limits, Limits, True)):
        if not isinstance(holder, kind):
            sweep.wrong(owner, kind.__name__.lower(), holder, EXAMPLES[kind])
            continue
        names = DRIVE_NUMBERS if holder is joint.drive else tuple(vars(holder))
        values = [getattr(holder, name) for name in names]
        if all(type(value) is float for value in values) and (
            all(value == value for value in values) if infinite else sum(map(abs, values)) <= MAX_MAGNITUDE  # noqa: PLR0124
        ):
            continue  # nearly always: plain numbers, nan is the one that differs from itself
        for key, value in zip(names, values, strict=True):
            setattr(holder, key, sweep.number(value, owner, key.replace("_", " "), infinite))
    if isinstance(joint.drive, Drive) and joint.drive.motor_axis is not None:
        joint.drive.motor_axis = tuple(sweep.array(joint.drive.motor_axis, (3,), owner, "motor axis").tolist())
    if joint.mimic is not None:
        if not isinstance(joint.mimic, Mimic) or not isinstance(joint.mimic.joint, str):
            sweep.wrong(owner, "mimic", joint.mimic, EXAMPLES[Mimic])
            return
        for key in ("ratio", "offset"):
            value = getattr(joint.mimic, key)
            if isinstance(value, Node):
                sweep.wrong(owner, f"mimic {key}", value, "a number, not a symbol")
            setattr(joint.mimic, key, sweep.number(value, owner, f"mimic {key}"))


def _axes(joint: Joint, report: Report) -> None:
    where = f"joint {printable(joint.name)}" if joint.type in USES_AXIS else ""
    good = True
    if joint.type in USES_AXIS:
        good = check_direction(joint.axis, where, "axis", joint, report)
    if joint.type == "universal":
        if joint.axis2 is None:
            report.error("missing-axis", where, "a universal joint has no second axis", "two axes", "give axis2", joint.line)
        elif check_direction(joint.axis2, where, "second axis", joint, report) and good:
            a, b = joint.axis, joint.axis2
            plain = object not in (a.dtype, b.dtype)
            if plain and np.linalg.norm(np.cross(a, b)) < 1e-6 * np.linalg.norm(a) * np.linalg.norm(b):
                found, repair = "its two axes are parallel", "make them different directions"
                report.error("parallel-axes", where, found, "two directions", repair, joint.line)
    motor_axis = joint.drive.motor_axis
    if motor_axis is not None and not any(isinstance(x, Node) for x in motor_axis):
        length = math.hypot(*motor_axis)
        if abs(length - 1.0) > TYPED_PRECISION:
            found = f"the motor axis has length {length:g}"
            where = f"joint {printable(joint.name)}"
            report.error("motor-axis", where, found, "length 1", "give the motor's direction as a unit vector", joint.line)
    stiffness = joint.drive.stiffness
    if joint.type in ("spherical", "free") and (isinstance(stiffness, Node) or stiffness != 0.0):
        found = f"a {joint.type} joint has a spring, but no single position"
        where = f"joint {printable(joint.name)}"
        report.error("spring", where, found, "springs on joints with positions", "remove its stiffness", joint.line)


def check_direction(axis: Array, where: str, what: str, joint: Joint, report: Report) -> bool:
    """Whether an axis has a direction; an error of its joint otherwise."""
    if axis.dtype == object:
        return True
    if math.hypot(*axis) < 1e-12:
        found = f"the {what} is ({axis[0]:g}, {axis[1]:g}, {axis[2]:g})"
        repair = "give the joint's direction"
        line = joint.lines.get("axis", joint.line)
        report.error("zero-axis", where, found, "a direction that is not zero", repair, line)
        return False
    return True
