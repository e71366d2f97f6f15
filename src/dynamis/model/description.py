"""The description of a robot: editable, and faithful to the file it came from.

Nothing here is derived or reordered: links and joints stand in the order of the file, fixed joints and massless
frames are kept, and every number is as it was read. `build` turns a description into the frozen `Model` that
algorithms use.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted, description_card, flat, short
from dynamis.errors import ConversionError, InputError, NameLookupError, printable, unknown_name
from dynamis.model.actuators import Actuator
from dynamis.model.closures import LoopClosure
from dynamis.model.fields import Fields, from_mapping
from dynamis.model.joints import check_fields
from dynamis.scalar import Node, topological
from dynamis.spatial.checks import shape_of
from dynamis.spatial.inertia import Inertia, foreign_inertia
from dynamis.spatial.pose import Pose, checked_pose

Array = npt.NDArray[Any]

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(repr=False)
class MassProperties(Fields):
    """Mass [kg], centre of mass [m] and inertia tensor about it [kg m²], in the link's frame and axes."""

    mass: Any
    com: Array
    tensor: Array
    line: int | None = field(default=None, repr=False)
    lines: dict[str, int] = field(default_factory=dict, repr=False, compare=False)  # of single values: "mass"
    solid: bool = field(default=False, repr=False, compare=False)  # computed from the dimensions of a solid

    @property
    def inertia(self) -> Inertia:
        """About the origin of the link; of a tensor of numbers, the symmetric part."""
        I = self.tensor
        return Inertia.about_com(self.mass, self.com, I if I.dtype == object else 0.5 * (I + I.T))

    @staticmethod
    def of(inertia: Inertia) -> MassProperties:
        return MassProperties(inertia.mass, inertia.com, inertia.tensor_about_com)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(repr=False)
class Payload(Fields):
    """A body that a link carries, in its frame, and the link's mass properties without it; ``at_tip``: no frame was named."""

    inertia: Inertia
    own: MassProperties | None
    at_tip: bool


@dataclass(repr=False)
class Shape(Fields):
    """What a link looks like (``role`` "visual") or collides as ("collision"); never used by the dynamics.

    ``kind`` is box (size = x, y, z), rounded_box (x, y, z, radius of its edges), cylinder or capsule (radius, length),
    tapered_capsule (radius at −z, radius at +z, distance between the centres of its round ends), sphere (radius),
    ellipsoid (semi-axes) or mesh (``mesh`` = the file name as written, size = scale). Axes are along z of ``origin``.
    """

    role: str
    kind: str
    size: tuple[float, ...]
    origin: Pose
    mesh: str = ""
    rgba: tuple[float, ...] | None = None

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(repr=False)
class Appearance(Fields):
    """How views show a robot; never used by the dynamics.

    ``pose`` maps joints to the positions in which the robot is shown (the others are at 0, or amid their limits).
    ``mobile``: the robot stands on the floor and nothing holds its base, whether it is loaded with a floating base or not.
    ``meshes`` names a URDF whose visual meshes are drawn instead of the shapes where it is installed.
    """

    pose: dict[str, float] = field(default_factory=dict)
    mobile: bool = False
    meshes: str = ""

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(repr=False)
class Link(Fields):
    """A body with its name; an `Inertia` set as ``mass_properties`` becomes `MassProperties`."""

    name: str
    mass_properties: MassProperties | None = None
    shapes: list[Shape] = field(default_factory=list)
    line: int | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, MassProperties.of(value) if isinstance(value, Inertia) else value)

    def __repr__(self) -> str:
        body = "no mass" if self.mass_properties is None else f"{flat(self.mass_properties.mass)} kg"
        return short(f"<Link {printable(self.name)}: {body}, {counted(len(self.shapes), 'shape')}>")

    _repr_html_ = as_table


@dataclass(repr=False)
class Limits(Fields):
    """Position [rad or m], speed and effort limits; infinite where the joint has none."""

    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(repr=False)
class Drive(Fields):
    """The physics of a joint beside its links: friction, rotor, spring.

    Torque against the motion: ``viscous`` · q̇ + ``coulomb`` · sgn q̇, with ``coulomb_bias`` added in both directions
    where dry friction depends on the direction (positive c₊ and negative c₋ give their half sum and half
    difference). ``rotor_inertia`` is the motor's own, seen at the joint multiplied by ``gear_ratio``², on the diagonal of M at
    each of its coordinates. ``stiffness`` · (q − ``rest``) is the spring.

    ``motor_link`` names the link that carries the motor. Its rotor turns there with ``gear_ratio`` · q̇ about ``motor_axis``,
    a unit vector in that link's frame (the joint's axis as it lies at q = 0 unless given), and so takes part in the link's own
    rotation: M gets entries beside the diagonal, and there are gyroscopic torques. The link's stated inertia contains the
    rotor as if it were locked. Without a ``motor_link`` only the reflected inertia counts.
    """

    viscous: Any = 0.0
    coulomb: Any = 0.0
    coulomb_bias: Any = 0.0
    rotor_inertia: Any = 0.0
    gear_ratio: Any = 1.0
    stiffness: Any = 0.0
    rest: Any = 0.0
    motor_link: str | None = None
    motor_axis: Any = None

    __repr__ = as_call
    _repr_html_ = as_table


DRIVE_NUMBERS = tuple(name for name, value in vars(Drive()).items() if value is not None)


@dataclass(repr=False)
class Mimic(Fields):
    """q = ratio · q(joint) + offset."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(repr=False)
class Joint(Fields):
    """A joint from ``parent`` to ``child``.

    The joint's frame is ``origin`` in the parent link's frame; the motion (see `joints`) takes place there; the child
    link's frame is ``tail`` in the moved frame. URDF has no tail. In standard Denavit–Hartenberg form the tail holds
    d, a and α. ``actuator`` is what stands between a command and the joint's torque, where that is not simply the torque.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Pose = field(default_factory=Pose.identity)
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    axis2: Array | None = None
    pitch: Any = 0.0
    tail: Pose = field(default_factory=Pose.identity)
    limits: Limits = field(default_factory=Limits)
    drive: Drive = field(default_factory=Drive)
    mimic: Mimic | None = None
    actuator: Actuator | None = None
    line: int | None = None
    lines: dict[str, int] = field(default_factory=dict, repr=False, compare=False)  # of its parts: "axis", "limits", "mimic", …
    keys: dict[str, str] = field(default_factory=dict, repr=False, compare=False)  # of its drive in the file, where they differ

    @property
    def follows(self) -> Mimic | None:
        """Its mimic, which has no effect on a fixed joint: None for that."""
        return self.mimic if self.type != "fixed" else None

    def __repr__(self) -> str:
        return short(f"<Joint {printable(self.name)}: {self.type}, from {printable(self.parent)} to {printable(self.child)}>")

    _repr_html_ = as_table


class Fresh:
    """Names that are not taken yet: ``fresh.name("tool")`` is tool, tool_2, tool_3, …"""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def name(self, wish: str) -> str:
        found, k = wish, 2
        while found in self._taken:
            found, k = f"{wish}_{k}", k + 1
        self._taken.add(found)
        return found


@dataclass(repr=False)
class Description(Fields):
    """A robot as its file says it. Edit it freely, then ``dynamis.Robot(description)``.

    Numbers may be symbols. ``document`` is the URDF it was read from: written again, only the values that differ are replaced.
    ``payloads`` has the payloads that links carry, which are part of their mass properties, ``aside`` the names of what else
    its file has, by kind, ``known`` the findings about it before it was edited. ``no_contact`` are pairs of links that do not
    collide with each other. ``tip`` is the link or frame that functions take where none is named; "": by the rule of `tip_of`.
    """

    name: str = "robot"
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    gravity: Array = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    about: str = ""
    source: str = ""
    file: str = ""
    appearance: Appearance = field(default_factory=Appearance)
    closures: list[LoopClosure] = field(default_factory=list)
    no_contact: list[tuple[str, str]] = field(default_factory=list)
    tip: str = ""
    line: int | None = field(default=None, repr=False, compare=False)
    document: bytes = field(default=b"", repr=False, compare=False)
    payloads: dict[str, Payload] = field(default_factory=dict, repr=False, compare=False)
    aside: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)
    known: frozenset[tuple[str, ...]] = field(default=frozenset(), repr=False, compare=False)

    def link(self, name: str) -> Link:
        return _find(self.links, name, "link")

    def joint(self, name: str) -> Joint:
        return _find(self.joints, name, "joint")

    def copy(self) -> Description:
        return _copied(self)

    def symbol_names(self, *, kinematic: bool = False) -> list[str]:
        """The names of all symbols, or of those on which the poses of the links depend, sorted."""
        values: list[Any] = []
        for joint in self.joints:
            values += [x for pose in (joint.origin, joint.tail) for array in pose for x in array.flat]
            values += [*joint.axis, *(joint.axis2 if joint.axis2 is not None else ()), joint.pitch]
        return _symbols(values if kinematic else values + self._dynamic_values())

    def _dynamic_values(self) -> list[Any]:
        """Gravity, and the numbers of drives, actuators and masses."""
        values: list[Any] = list(np.asarray(self.gravity).flat)
        for joint in self.joints:
            values += [getattr(joint.drive, name) for name in DRIVE_NUMBERS]
            actuator = joint.actuator.numbers.values() if joint.actuator is not None else ()
            values += [*(joint.drive.motor_axis or ()), *actuator]
        for link in self.links:
            if link.mass_properties is not None:
                m = link.mass_properties
                values += [m.mass, *m.com, *m.tensor.flat]
        return values

    def require_numbers(self, target: str) -> None:
        """Raise a `ConversionError` if there are symbols: the target contains numbers only."""
        names = self.symbol_names()
        if names:
            values = ", ".join(f"{name!r}: …" for name in names)
            raise ConversionError(
                f"robot {printable(self.name)} has parameters without values, {', '.join(names)}, and {target} contains "
                f"numbers only: give them with robot.replace(parameters={{{values}}})"
            )

    def add_link(
        self,
        name: str,
        parent: str | None = None,
        joint: str = "fixed",
        *,
        joint_name: str | None = None,
        origin: Pose | Any = None,
        axis: Any = (0.0, 0.0, 1.0),
        inertia: Inertia | None = None,
        **joint_fields: Any,
    ) -> Description:
        """Append a link and, unless it is the root (no ``parent``), its joint at ``origin`` (a `Pose`, 4 × 4). Returns self.

        ``joint_fields`` are those of a joint; ``limits``, ``drive`` and ``mimic`` are mappings, such as
        ``limits={"lower": -1, "upper": 2}`` or ``mimic={"joint": "left", "ratio": -1}``.

        >>> d = Description("pendulum").add_link("base")
        >>> bob = Inertia.about_com(1.0, (0, 0, -1), np.zeros((3, 3)))
        >>> d = d.add_link("bob", "base", "revolute", axis=(0, 1, 0), inertia=bob)
        >>> [j.name for j in d.joints]
        ['bob_joint']
        """
        if inertia is not None and not isinstance(inertia, Inertia):
            raise InputError(
                f"inertia= takes a dynamis.Inertia, such as dynamis.solids.sphere(0.1, mass=2), got {foreign_inertia(inertia)}"
            )
        if parent is None:
            if joint_fields or origin is not None or joint != "fixed":
                raise InputError(f"link {name!r} has no parent, so it can have no joint")
            self.links.append(Link(name, MassProperties.of(inertia) if inertia is not None else None))
            return self
        if unknown := sorted(joint_fields.keys() - {f.name for f in fields(Joint)}):
            known = "axis2, pitch, tail, limits, drive, mimic, actuator"
            raise InputError(f"a joint has no {unknown[0]}=; allowed: {known}; inertia= holds the mass of the link")
        check_fields(joint_name or f"{name}_joint", joint, joint_fields)
        direction = np.array(axis) if shape_of(axis) == (3,) else np.zeros(0)
        if direction.dtype.kind not in "iufO" or direction.shape != (3,):
            raise InputError(f"axis= takes three numbers, got {axis!r}")
        direction = direction if direction.dtype == object else direction.astype(float)
        place = Pose.identity() if origin is None else checked_pose(origin, "origin=")
        self.links.append(Link(name, MassProperties.of(inertia) if inertia is not None else None))
        parts = {key: from_mapping(JOINT_PARTS.get(key), value, f"{key}=") for key, value in joint_fields.items()}
        self.joints.append(Joint(joint_name or f"{name}_joint", joint, parent, name, place, direction, **parts))
        return self

    def attach_payload(self, inertia: Inertia, link: str) -> Description:
        """Add a body, given in a link's frame, to that link. Returns self."""
        holder = self.link(link)
        own = holder.mass_properties
        holder.mass_properties = MassProperties.of(inertia if own is None else own.inertia + inertia)
        return self

    def __repr__(self) -> str:
        return f"<Description {printable(self.name)}: {counted(len(self.links), 'link')}, {counted(len(self.joints), 'joint')}>"

    def _repr_html_(self) -> str:
        return description_card(self)


JOINT_PARTS: dict[str, type[Fields]] = {"limits": Limits, "drive": Drive, "mimic": Mimic}
UNCHANGEABLE = frozenset({type(None), bool, int, float, str, bytes, frozenset, np.float64, Node, Inertia})
PARTS = (Description, Appearance, Link, MassProperties, Payload, Shape, Joint, Limits, Drive, Mimic)


def _copied(x: Any) -> Any:
    """A copy of all parts that can be changed: much quicker than ``copy.deepcopy``, which keeps account of every object."""
    kind = type(x)
    if kind in UNCHANGEABLE:
        return x
    if isinstance(x, np.ndarray):
        return x.copy(order="K")
    if kind is list:
        return [_copied(part) for part in x]
    if kind is dict:
        return {name: _copied(part) for name, part in x.items()}
    if kind is tuple:
        return tuple(map(_copied, x))
    if kind is Pose:
        return Pose(*map(_copied, x))
    if isinstance(x, PARTS):
        new = object.__new__(kind)
        vars(new).update({name: _copied(part) for name, part in vars(x).items()})
        return new
    return copy.deepcopy(x)


def _symbols(values: list[Any]) -> list[str]:
    """The names of the symbols in expressions, sorted."""
    return sorted({node.args[0] for node in topological(values) if node.op == "symbol"})


def _find(items: Any, name: str, kind: str) -> Any:
    for item in items:
        if item.name == name:
            return item
    error: NameLookupError = unknown_name(kind, name, [item.name for item in items])
    raise error
