"""From a description to a model: depth-first order, fixed joints merged, compound joints split, noise removed."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, ModelError
from dynamis.model.description import Description, Joint, Limits
from dynamis.model.diagnostics import Report
from dynamis.model.joints import DEGREES_OF_FREEDOM, Primitive, Prismatic, stages
from dynamis.model.model import Body, Coordinate, Frame, Model
from dynamis.model.plausibility import check_plausibility
from dynamis.model.structure import check_structure
from dynamis.scalar import sqrt
from dynamis.spatial.inertia import Inertia
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import IDENTITY

Array = npt.NDArray[Any]

NOISE = 1e-14
_COORDINATE_AXES = frozenset({(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)})


def examine(description: Description, report: Report | None = None) -> Report:
    """Every finding about a description: structure, then, if that is sound, plausibility."""
    report = report if report is not None else Report(description.file or description.name)
    check_structure(description, report)
    if report.ok:
        check_plausibility(description, report)
    return report


def build(description: Description, *, checked: bool = False) -> Model:
    """The model of a sound description; raises `ModelError` for one that is not, unless it was ``checked`` before."""
    if not checked:
        report = Report(description.file or description.name)
        check_structure(description, report)
        report.raise_errors(ModelError)
    return _Builder(description).model()


def with_floating_base(description: Description) -> Description:
    """A copy whose root link is carried by a free joint instead of standing still."""
    result = description.copy()
    carried = {joint.child for joint in result.joints}
    root = next(link.name for link in result.links if link.name not in carried)
    taken = {link.name for link in result.links}
    world = next(name for name in ("world", "inertial_frame", "world_frame", "W") if name not in taken)
    joint = next(n for n in ("floating_base", "free_base", "root_free") if n not in {j.name for j in result.joints})
    result.add_link(world)
    result.joints.insert(0, Joint(joint, "free", world, root))
    return result


def snap(x: Array, scale: float = 1.0) -> Array:
    """Remove rounding noise: what is within 1e-14 of 0 or ±1 (times the scale) becomes exactly that."""
    if x.dtype == object:
        return np.array([snap(np.array(e), scale).item() if isinstance(e, float) else e for e in x.flat]).reshape(x.shape)
    nearest = np.rint(x / scale) * scale if scale else x
    small = (np.abs(x - nearest) <= NOISE * scale) & (np.abs(nearest) <= scale)
    return np.where(small, nearest, x) + 0.0  # + 0.0 turns −0 into 0


def snap_pose(pose: Pose) -> Pose:
    if pose.is_identity():
        return pose
    R = pose.R if pose.R is IDENTITY else snap(pose.R)
    p = pose.p if pose.p.dtype == object else np.where(np.abs(pose.p) < NOISE, 0.0, pose.p)
    return Pose(R, p)


def unit(axis: Array) -> Array:
    """The direction of an axis, as a unit vector."""
    if tuple(axis) in _COORDINATE_AXES:
        return axis
    if axis.dtype == object:
        return axis / sqrt(np.dot(axis, axis))
    return snap(axis / np.linalg.norm(axis))


_NOTHING = Inertia.zero()


@dataclass
class _Draft:
    """A body while its inertia is still being gathered."""

    name: str
    parent: int
    placement: Pose
    motion: Primitive
    joint: Joint
    suffix: str
    inertia: Inertia = _NOTHING


class _Builder:
    def __init__(self, description: Description) -> None:
        self.description = description
        self.drafts: list[_Draft | None] = [None]
        self.base = Inertia.zero()
        self.frames: dict[str, Frame] = {}
        self.depth: dict[str, int] = {}

    def model(self) -> Model:
        self._walk()
        return self._freeze()

    def _walk(self) -> None:
        """Visit links depth first; a fixed joint stays on the same body, a moving one starts a new one."""
        d = self.description
        links = {link.name: link for link in d.links}
        carried = {joint.child for joint in d.joints}
        leaving: dict[str, list[Joint]] = {}
        for joint in d.joints:
            leaving.setdefault(joint.parent, []).append(joint)
        root = next(link.name for link in d.links if link.name not in carried)
        stack: list[tuple[str, Joint | None, int, Pose, int]] = [(root, None, 0, Pose.identity(), 0)]
        while stack:
            name, by, body, pose, depth = stack.pop()
            if by is not None and by.type != "fixed":
                body, pose = self._add_bodies(by, body, pose)
            self.frames[name] = Frame(name, body, pose)
            self.depth[name] = depth
            mass = links[name].mass_properties
            if mass is not None:
                inertia = mass.inertia if pose.is_identity() else mass.inertia.seen_from(pose)
                draft = self.drafts[body]
                if draft is None:
                    self.base = self.base + inertia
                else:
                    draft.inertia = inertia if draft.inertia is _NOTHING else draft.inertia + inertia
            for out in reversed(leaving.get(name, ())):
                place = out.origin if pose.is_identity() else pose @ out.origin
                place = place @ out.tail if out.type == "fixed" else place
                stack.append((out.child, out, body, snap_pose(place), depth + 1))

    def _add_bodies(self, joint: Joint, parent: int, place: Pose) -> tuple[int, Pose]:
        axis2 = unit(joint.axis2) if joint.axis2 is not None else None
        parts = stages(joint.type, unit(joint.axis), axis2, joint.pitch)
        for k, stage in enumerate(parts):
            name = joint.child if k == len(parts) - 1 else joint.name + stage.suffix
            placement = place if k == 0 else stage.step
            self.drafts.append(_Draft(name, parent, placement, stage.motion, joint, stage.suffix))
            parent = len(self.drafts) - 1
        return parent, snap_pose(joint.tail)

    def _freeze(self) -> Model:
        drafts = [d for d in self.drafts if d is not None]
        leaders = {j.name: j for j in self.description.joints}
        first_q: dict[str, int] = {}
        first_v: dict[str, int] = {}
        nq = nv = 0
        coordinates: list[Coordinate] = []
        for draft in drafts:
            if draft.joint.mimic is not None:
                continue
            first_q.setdefault(draft.joint.name + draft.suffix, nq)
            first_v.setdefault(draft.joint.name + draft.suffix, nv)
            coordinates.extend(_coordinates(draft, nq))
            nq, nv = nq + draft.motion.nq, nv + draft.motion.nv
        physics = _Physics(nv)
        bodies: list[Body | None] = [None]
        for draft in drafts:
            joint, ratio, offset = draft.joint, 1.0, 0.0
            while joint.mimic is not None:  # follow the chain to the joint that has a coordinate
                offset = offset + ratio * joint.mimic.offset
                ratio = ratio * joint.mimic.ratio
                joint = leaders[joint.mimic.joint]
            key = joint.name + draft.suffix
            q0, v0 = first_q[key], first_v[key]
            dof = tuple(range(v0, v0 + draft.motion.nv))
            S = draft.motion.S if ratio == 1.0 else ratio * draft.motion.S
            inertia = _without_noise(draft.inertia)
            q_index = slice(q0, q0 + draft.motion.nq)
            bodies.append(
                Body(draft.name, draft.parent, draft.placement, draft.motion, S, inertia, q_index, dof, ratio, offset)
            )
            physics.add(draft.joint, dof, ratio, offset)
        return Model(
            name=self.description.name,
            base=self.base,
            bodies=tuple(bodies),
            frames=MappingProxyType(self.frames),
            coordinates=tuple(coordinates),
            joint_names=tuple(dict.fromkeys(d.joint.name for d in drafts if d.joint.mimic is None)),
            link_names=tuple(self.frames),
            nq=nq,
            gravity=np.array(self.description.gravity),
            **physics.arrays(),
            symbolic=_has_symbols(bodies, self.description, physics),
            tip=self._tip(bodies),
            coupled=any(d.joint.mimic is not None for d in drafts),
        )

    def _tip(self, bodies: list[Body | None]) -> str | None:
        parents = [b.parent for b in bodies if b is not None]
        if len(set(parents)) != len(parents):
            return None
        last = len(bodies) - 1
        on_last = [f.name for f in self.frames.values() if f.body == last]
        return max(on_last, key=lambda name: self.depth[name]) if on_last else None


def _without_noise(inertia: Inertia) -> Inertia:
    if object in (inertia.tensor.dtype, inertia.first_moment.dtype):
        return inertia
    tensor = 0.5 * (inertia.tensor + inertia.tensor.T)
    size = np.abs(tensor)
    tensor[size <= NOISE * size.max()] = 0.0
    moment = inertia.first_moment.copy()
    moment[np.abs(moment) <= NOISE * inertia.mass] = 0.0
    return Inertia(inertia.mass, moment, tensor)


def _coordinates(draft: _Draft, nq: int) -> list[Coordinate]:
    joint, motion = draft.joint, draft.motion
    limits = joint.limits
    if limits.lower > limits.upper:
        limits = Limits(limits.upper, limits.lower, limits.velocity, limits.effort)
    if motion.nv == 1:
        bounded = joint.type != "continuous" and DEGREES_OF_FREEDOM[joint.type] == 1
        low, high = (limits.lower, limits.upper) if bounded else (-np.inf, np.inf)
        name = joint.name + draft.suffix
        return [Coordinate(name, joint.name, nq, low, high, limits.velocity, limits.effort, not isinstance(motion, Prismatic))]
    labels = ("wx", "wy", "wz") if motion.nv == 3 else ("vx", "vy", "vz", "wx", "wy", "wz")
    return [
        Coordinate(f"{joint.name}.{label}", joint.name, None, -np.inf, np.inf, limits.velocity, limits.effort, label[0] == "w")
        for label in labels
    ]


class _Physics:
    """Friction, rotor and spring gathered per degree of freedom; a following joint adds to the one it follows."""

    names = ("viscous", "coulomb", "coulomb_bias", "rotor", "stiffness", "pull")

    def __init__(self, n: int) -> None:
        self.values: dict[str, list[Any]] = {name: [0.0] * n for name in self.names}
        self.rest: list[Any] = [0.0] * n

    def add(self, joint: Joint, dof: tuple[int, ...], ratio: float, offset: float) -> None:
        drive = joint.drive
        if len(dof) > 1 and (not _plain_zero(drive.stiffness)):
            raise InputError(f"joint '{joint.name}': a {joint.type} joint has no single position, so it can have no spring")
        for k in dof:
            v = self.values
            v["viscous"][k] += ratio * ratio * drive.viscous
            v["coulomb"][k] += abs(ratio) * drive.coulomb
            v["coulomb_bias"][k] += ratio * drive.coulomb_bias
            v["rotor"][k] += ratio * ratio * drive.rotor_inertia * drive.gear_ratio * drive.gear_ratio
            v["stiffness"][k] += ratio * ratio * drive.stiffness
            v["pull"][k] += ratio * drive.stiffness * (drive.rest - offset)
            self.rest[k] = (drive.rest - offset) / ratio if joint.mimic is None else self.rest[k]

    def arrays(self) -> dict[str, Array]:
        arrays = {name: np.array(values) if values else np.zeros(0) for name, values in self.values.items()}
        pull = arrays.pop("pull")
        rest = [r if _plain_zero(k) else p / k for p, k, r in zip(pull, arrays["stiffness"], self.rest, strict=True)]
        return {**arrays, "rest": np.array(rest) if rest else np.zeros(0)}


def _plain_zero(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0


def _has_symbols(bodies: list[Body | None], description: Description, physics: _Physics) -> bool:
    arrays = [np.array(description.gravity), *physics.arrays().values()]
    for b in bodies:
        if b is not None:
            arrays += [b.placement.R, b.placement.p, b.S, b.inertia.parameters]
    return any(a.dtype == object for a in arrays)
