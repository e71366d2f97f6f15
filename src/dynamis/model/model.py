"""The model: a frozen, depth-first tree of rigid bodies, with nothing left that an algorithm would have to decide."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted, flat
from dynamis.errors import InputError, printable, unknown_name
from dynamis.model.actuators import Actuator
from dynamis.model.joints import Primitive, Spin
from dynamis.model.tip import candidates
from dynamis.spatial.inertia import Inertia, seen_from
from dynamis.spatial.pose import Pose
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """A moving body and the joint that carries it.

    The body's frame is the joint's moved frame: its pose in the parent body's frame is ``placement`` times the
    joint's motion. ``S`` (6 × nv) maps the joint's rates to the twist it adds, in the body's frame; for a joint that
    follows another (mimic) it contains the ratio, and ``dof`` points at the coordinates of the joint it follows.
    """

    name: str
    parent: int
    placement: Pose
    motion: Primitive
    S: Array
    inertia: Inertia
    q_index: slice
    dof: tuple[int, ...]
    ratio: float = 1.0
    offset: float = 0.0

    def pose(self, q: Array) -> Pose:
        """The body's pose in its parent's frame."""
        own = q[self.q_index]
        if self.ratio != 1.0 or self.offset != 0.0:
            own = self.ratio * own + self.offset
        return self.placement @ self.motion.pose(own)

    @property
    def is_rotor(self) -> bool:
        """Whether this is the rotor of a motor that rides on the parent body, and no link."""
        return isinstance(self.motion, Spin)

    def __repr__(self) -> str:
        return f"<Body {printable(self.name)}: {type(self.motion).__name__.lower()}, {flat(self.inertia.mass)} kg>"

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """A named frame fixed to a body: a link of the file, or a frame behind fixed joints."""

    name: str
    body: int
    pose: Pose

    def __repr__(self) -> str:
        return f"<Frame {printable(self.name)} on body {self.body}>"

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate:
    """One degree of freedom: where its position stands in q (None where v is not a rate of one), and its limits."""

    name: str
    joint: str
    q_index: int | None
    lower: float
    upper: float
    velocity: float
    effort: float
    revolute: bool

    __repr__ = as_call
    _repr_html_ = as_table

    def allows(self, value: float) -> bool:
        """Whether a position is within the limits, up to the precision of numbers in files."""
        return self.lower - FILE_PRECISION <= value <= self.upper + FILE_PRECISION

    @property
    def effort_unit(self) -> str:
        """Of its torque or force."""
        return "N m" if self.revolute else "N"

    def looks_like_degrees(self, value: float) -> bool:
        """An angle of more than one turn, beyond the joint's limits or, where it has none, a whole number."""
        if not self.revolute or not abs(value) > 2.0 * math.pi or not math.isfinite(value):
            return False
        limited = math.isfinite(self.lower) or math.isfinite(self.upper)
        return not self.allows(value) if limited else float(value).is_integer()


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A robot ready for computation.

    Bodies are numbered depth first, siblings in file order; body 0 is the base, and every parent has a smaller
    number than its children. Rotors that ride on links come last: massless bodies whose joints follow those they drive. Per
    degree of freedom the joint's own physics: ``viscous``, ``coulomb``, ``coulomb_bias``, ``rotor`` (reflected inertia, zero
    where the rotor rides on a link or turns behind a spring), ``stiffness``, ``rest``; and in ``actuators`` what stands
    between its command and its torque. ``coupled``: some body moves with another's joint.
    """

    name: str
    base: Inertia
    bodies: tuple[Body | None, ...]
    frames: MappingProxyType[str, Frame]
    coordinates: tuple[Coordinate, ...]
    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]
    nq: int
    gravity: Array
    viscous: Array
    coulomb: Array
    coulomb_bias: Array
    rotor: Array
    stiffness: Array
    rest: Array
    symbolic: bool = False
    tip: str | None = None
    coupled: bool = False
    actuators: tuple[Actuator | None, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "frames": dict(self.frames)}  # a read-only view cannot be pickled

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, frames=MappingProxyType(state["frames"]))

    @property
    def n(self) -> int:
        """Degrees of freedom."""
        return len(self.coordinates)

    @cached_property
    def moving(self) -> tuple[tuple[int, Body], ...]:
        """(i, body i) for i = 1 … N_B: parents before children."""
        return tuple((i, b) for i, b in enumerate(self.bodies) if b is not None)

    @cached_property
    def links(self) -> tuple[tuple[int, Body], ...]:
        """(i, body i) of the bodies that are links of the file.

        The others have no frame of the file: rotors mounted on links, and the massless bodies between the axes of a
        cylindrical, universal or planar joint.
        """
        carrying = {frame.body for frame in self.frames.values()}
        return tuple((i, b) for i, b in self.moving if i in carrying)

    @cached_property
    def parent(self) -> tuple[int, ...]:
        """λ(i), the parent of body i; −1 for the base."""
        return tuple(-1 if b is None else b.parent for b in self.bodies)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """μ(i), the children of body i."""
        lists: list[list[int]] = [[] for _ in self.bodies]
        for i, b in self.moving:
            lists[b.parent].append(i)
        return tuple(map(tuple, lists))

    @cached_property
    def chains(self) -> tuple[int, ...]:
        """For each degree of freedom, the number of those between it and the base, itself included."""
        ends = [0] * len(self.bodies)
        chains: list[int] = []
        for i, body in self.moving:
            ends[i] = ends[body.parent] + len(body.dof)
            chains += range(ends[body.parent] + 1, ends[i] + 1)
        return tuple(chains)

    @property
    def predecessor(self) -> tuple[int, ...]:
        """p(j), the body joint j starts from; in a tree without loops p(j) = λ(j)."""
        return self.parent[1:]

    @property
    def successor(self) -> tuple[int, ...]:
        """s(j), the body joint j carries; joints are numbered like the bodies they carry, so s(j) = j."""
        return tuple(range(1, len(self.bodies)))

    def ancestors(self, i: int) -> Iterable[int]:
        """Body i, its parent, and so on, without the base."""
        while i > 0:
            yield i
            i = self.parent[i]

    def with_locked_rotors(self, i: int) -> Inertia:
        """The inertia of body i as its file gives it: with the rotors that ride on it, as if they did not turn."""
        body = self.bodies[i]
        assert body is not None
        riding = (b.inertia for k in self.children[i] if (b := self.bodies[k]) is not None and b.is_rotor)
        return sum(riding, start=body.inertia)

    def inertia_in_link_frame(self, i: int) -> Inertia:
        """The inertia of body i, with locked rotors, in the frame of its link; for a DH link, the frame at its end."""
        body = self.bodies[i]
        assert body is not None
        return seen_from(self.with_locked_rotors(i), self.frames[body.name].pose.inverse())

    def frame(self, name: str | None = None, option: str = "frame=") -> Frame:
        """The frame of this name; without one, the tip of a serial arm. Messages call it ``option``."""
        if name is None:
            name = self.tip_or_refusal(option)
        try:
            return self.frames[name]
        except (KeyError, TypeError):
            raise unknown_name("frame", name, self.frames) from None

    def tip_or_refusal(self, option: str) -> str:
        """The tip, or an `InputError` that lists frames to choose from."""
        if self.tip is not None:
            return self.tip
        rotors = {i for i, body in self.moving if body.is_rotor}
        leaves = [i for i, below in enumerate(self.children) if i not in rotors and not set(below) - rotors]
        ends = candidates({f.name: f.body for f in self.frames.values()}, leaves, self.parent)
        some = ", ".join(map(printable, (ends or list(self.frames))[:6]))
        raise InputError(f"robot {printable(self.name)} has no single tip: name a frame with {option}, such as {some}")

    def distinct_frames(self, names: Iterable[str | None]) -> tuple[Frame, ...]:
        """The frames that wrenches act on; one of them twice is refused, also under its name and as the tip (None)."""
        frames = tuple(self.frame(name, "wrenches={frame: wrench}") for name in names)
        for k, frame in enumerate(frames):
            if frame.name in (other.name for other in frames[:k]):
                raise InputError(f"wrenches= has the frame {printable(frame.name)} twice: give the sum of its wrenches once")
        return frames

    def zeros(self, shape: int | Sequence[int], *arrays: Array) -> Array:
        """Zeros that can hold what is computed from this model and these arrays: floats, or nodes."""
        if self.symbolic or any(a.dtype == object for a in arrays):
            result = np.empty(shape, dtype=object)
            result.fill(0.0)
            return result
        return np.zeros(shape)

    @property
    def size_text(self) -> str:
        """Its degrees of freedom and moving bodies, for messages."""
        bodies = counted(len(self.links), "moving body", "moving bodies")
        return f"{counted(self.n, 'degree of freedom', 'degrees of freedom')}, {bodies}"

    @property
    def tip_text(self) -> str:
        """Its tip, for messages."""
        return "no single tip" if self.tip is None else f"tip {printable(self.tip)}"

    def __repr__(self) -> str:
        kind = "symbolic " if self.symbolic else ""
        return f"<{kind}Model {printable(self.name)}: {self.size_text}>"

    _repr_html_ = as_table


def fingerprint(model: Model) -> str:
    """A digest of every number of a model: equal models, and only they, have equal ones."""
    digest = hashlib.sha256()

    def add(*things: Any) -> None:
        for thing in things:
            plain = isinstance(thing, np.ndarray) and thing.dtype != object
            digest.update(thing.tobytes() if plain else repr(thing).encode())
            digest.update(b"\0")

    add(model.gravity, model.viscous, model.coulomb, model.coulomb_bias, model.rotor, model.stiffness, model.rest, model.nq)
    add(model.base.parameters, [c.q_index for c in model.coordinates])
    for frame in model.frames.values():
        add(frame.name, frame.body, *frame.pose)
    for _, b in model.moving:
        add(b.parent, *b.placement, type(b.motion).__name__, b.motion.S, b.S, b.inertia.parameters)
        add(b.q_index, b.dof, b.ratio, b.offset)
    if any(model.actuators):
        add(model.actuators)
    return digest.hexdigest()
