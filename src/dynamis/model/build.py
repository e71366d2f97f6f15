"""From a description to a model: depth-first order, fixed joints merged, compound joints split, noise removed."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import ModelError, printable
from dynamis.model.actuators import Actuator, Elastic, is_there
from dynamis.model.description import Description, Fresh, Joint
from dynamis.model.diagnostics import Report
from dynamis.model.joint_coordinates import JointPhysics, coordinates_of, effective_limits, leaders, narrowed, resolved_actuator
from dynamis.model.joints import Primitive, Spin, Stage, stages
from dynamis.model.massless import CURE, CURE_WITH_LOOPS, MAX_DOF_FOR_RANK, always_massless, is_regular, joints_in
from dynamis.model.model import Body, Coordinate, Frame, Model
from dynamis.model.plausibility import check_plausibility
from dynamis.model.structure import check_structure
from dynamis.model.tip import tip_of
from dynamis.scalar import Node, evaluate, sqrt, topological
from dynamis.spatial.inertia import Inertia, seen_from
from dynamis.spatial.pose import Pose
from dynamis.tolerances import SUM_ROUNDING

Array = npt.NDArray[Any]

SINGULAR_MASS = "singular-mass"  # the code of its finding
TRIALS = 3  # values of symbols at which the length of a direction is taken
_COORDINATE_AXES = frozenset({(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)})


def examine(description: Description, report: Report | None = None) -> Report:
    """Every finding about a description: structure, then the plausibility of the links and joints without errors."""
    report = report if report is not None else Report(description.file or description.name)
    check_structure(description, report)
    check_plausibility(description, report)
    if report.ok:
        check_mass_matrix(description, report)
    else:
        report.skipped.append("mass moved by each joint")
    return report


def doubts(description: Description, model: Model) -> Report:
    """What is doubtful in the description of a model."""
    report = Report(description.file or description.name, by_hand=True)
    check_plausibility(description, report)
    check_mass_matrix(description, report, model)
    return report


def check_mass_matrix(description: Description, report: Report, model: Model | None = None) -> None:
    """Warn of joints that together move no mass, unless each of them was found to carry none by itself."""
    carried = {joint.child for joint in description.joints}
    inertias = [link.mass_properties.inertia if link.mass_properties else _ZERO_INERTIA for link in description.links
                if link.name in carried]  # fmt: skip
    if len(inertias) > MAX_DOF_FOR_RANK or all(map(is_regular, inertias)):
        return
    model = build(description, checked=True) if model is None else model
    motion = always_massless(model)
    joints = joints_in(model, motion) if motion is not None else []
    known = {p.where for p in report.problems if p.code in ("massless-leaf", SINGULAR_MASS)}
    if motion is None or all(f"joint {printable(name)}" in known for name in joints):
        return
    line = next((j.line for j in description.joints if j.name in joints and j.line), None)
    several = len(joints) > 1
    where = ("joints " if several else "joint ") + ", ".join(map(printable, joints[:8])) + (", …" if len(joints) > 8 else "")
    if where in known:
        return
    subject = "they can move together" if several else "it can move"
    report.warn(SINGULAR_MASS, where, f"{subject} without moving any mass: the mass matrix is singular",
                "every motion of the joints moves mass", CURE_WITH_LOOPS if description.closures else CURE,
                "inverse dynamics works; forward dynamics and simulation will refuse", line)  # fmt: skip


def build(description: Description, *, checked: bool = False) -> Model:
    """The model of a sound description; raises `ModelError` for one that is not, unless it was ``checked`` before."""
    if not checked:
        report = Report(description.file or description.name)
        check_structure(description, report)
        report.raise_errors(ModelError)
    return _Builder(description).model()


def with_floating_base(description: Description) -> Description:
    """A copy whose root link is carried by a free joint instead of standing still, unless a free joint begins there already."""
    result = description.copy()
    carried = {joint.child for joint in result.joints}
    root = next(link.name for link in result.links if link.name not in carried)
    if any(joint.parent == root and joint.type == "free" for joint in result.joints):
        return result
    world = Fresh(link.name for link in result.links).name("world")
    joint = Fresh(joint.name for joint in result.joints).name("floating_base")
    result.add_link(world)
    result.joints.insert(0, Joint(joint, "free", world, root))
    return result


def snap(x: Array) -> Array:
    """Remove rounding noise from directions: what is within 1e-14 of 0 or ±1 becomes exactly that."""
    if x.dtype == object:
        return np.array([snap(np.array(e)).item() if isinstance(e, float) else e for e in x.flat]).reshape(x.shape)
    nearest = np.rint(x)
    return np.where(np.abs(x - nearest) <= SUM_ROUNDING, nearest, x) + 0.0  # + 0.0 turns −0 into 0


def snap_pose(pose: Pose) -> Pose:
    return snap_poses([pose])[0]


def snap_poses(poses: list[Pose]) -> list[Pose]:
    """The poses without rounding noise, all at once."""
    result = list(poses)
    plain = [k for k, X in enumerate(poses) if not X.is_identity() and object not in (X.R.dtype, X.p.dtype)]
    if plain:
        R = snap(np.stack([poses[k].R for k in plain]))
        p = np.stack([poses[k].p for k in plain])
        p = np.where(np.abs(p) < SUM_ROUNDING, 0.0, p)
        for k, turned, moved in zip(plain, R, p, strict=True):
            result[k] = Pose(turned, moved)
    for k, X in enumerate(poses):
        if X.R.dtype == object:
            result[k] = Pose(snap(X.R), X.p)
    return result


def joint_stages(joint: Joint) -> list[Stage]:
    """The primitives of a joint, about unit vectors along its axes."""
    axis2 = unit(joint.axis2) if joint.axis2 is not None else None
    return stages(joint.type, axis=unit(joint.axis), axis2=axis2, pitch=joint.pitch)


def unit(axis: Array) -> Array:
    """The direction of an axis, as a unit vector."""
    if tuple(axis) in _COORDINATE_AXES:
        return axis.copy()
    if any(isinstance(x, Node) for x in axis):
        _, lengths = trial_lengths(axis)
        if np.ptp(lengths) <= SUM_ROUNDING * lengths[0]:  # (cos α, sin α, 0): a root would stay in the equations
            return axis / float(snap(lengths[:1])[0])
        return axis / sqrt(np.dot(axis, axis))
    return snap(axis.astype(float) / np.linalg.norm(axis.astype(float)))


def trial_lengths(direction: Array) -> tuple[list[Node], Array]:
    """The symbols in a direction, and its lengths at some values of these."""
    symbols = [node for node in topological(direction) if node.op == "symbol"]
    trials = np.random.default_rng(0).uniform(-2.0, 2.0, (len(symbols), TRIALS if symbols else 1))
    return symbols, np.linalg.norm(evaluate(direction, dict(zip(symbols, trials, strict=True))).reshape(-1, 3), axis=1)


_ZERO_INERTIA = Inertia.zero()


@dataclass
class _Draft:
    """A body while its inertia is still being gathered."""

    name: str
    parent: int
    placement: Pose
    motion: Primitive
    joint: Joint
    suffix: str
    inertia: Inertia = _ZERO_INERTIA

    @property
    def is_rotor(self) -> bool:
        return isinstance(self.motion, Spin)

    def turned(self, angle: float) -> Array:
        """Its rotation against the parent's frame where the joint's variable is this (a quaternion has none)."""
        at = np.array([angle]) if self.motion.nq == 1 else self.motion.neutral()
        return self.placement.R @ self.motion.pose(at).R


class _Builder:
    def __init__(self, description: Description) -> None:
        self.description = description
        self.drafts: list[_Draft | None] = [None]
        self.base = Inertia.zero()
        self.frames: dict[str, Frame] = {}
        self.depth: dict[str, int] = {}
        self.riding: set[str] = set()

    def model(self) -> Model:
        self._walk()
        self._add_rotors()
        self._remove_noise()
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
                inertia = mass.inertia if pose.is_identity() else seen_from(mass.inertia, pose)
                draft = self.drafts[body]
                if draft is None:
                    self.base = self.base + inertia
                else:
                    draft.inertia = inertia if draft.inertia is _ZERO_INERTIA else draft.inertia + inertia
            for out in reversed(leaving.get(name, ())):
                place = Pose(out.origin.R, out.origin.p.copy()) if pose.is_identity() else pose @ out.origin
                place = place @ out.tail if out.type == "fixed" else place
                stack.append((out.child, out, body, place, depth + 1))

    def _add_bodies(self, joint: Joint, parent: int, place: Pose) -> tuple[int, Pose]:
        parts = joint_stages(joint)
        for k, stage in enumerate(parts):
            name = joint.child if k == len(parts) - 1 else joint.name + stage.suffix
            placement = place if k == 0 else Pose.identity()
            self.drafts.append(_Draft(name, parent, placement, stage.motion, joint, stage.suffix))
            parent = len(self.drafts) - 1
        return parent, joint.tail if joint.tail.is_identity() else Pose(joint.tail.R.copy(), joint.tail.p.copy())

    def _add_rotors(self) -> None:
        """Give each rotor on a moving link a body that follows the joint it drives, and take it, locked, off the link.

        On a link that stands still its reflected inertia is the whole truth, and stays on the diagonal.
        """
        for k, draft in list(enumerate(self.drafts)):
            if draft is None or draft.joint.drive.motor_link is None:
                continue
            drive = draft.joint.drive
            carrier = self.frames[draft.joint.drive.motor_link].body
            holder = self.drafts[carrier]
            if holder is None or isinstance(draft.joint.actuator, Elastic) or not is_there(drive.rotor_inertia, 0.0):
                continue
            axis = self._motor_axis(k, carrier)
            # a disc: I about its axis, I / 2 across it; without mass, for that stays on the link
            rotor = Inertia(0.0, np.zeros(3), 0.5 * drive.rotor_inertia * (np.eye(3) + np.outer(axis, axis)))
            holder.inertia = Inertia(holder.inertia.mass, holder.inertia.first_moment, holder.inertia.tensor - rotor.tensor)
            motion = Spin(axis, drive.gear_ratio)
            name = f"{draft.joint.name}.rotor"
            self.drafts.append(_Draft(name, carrier, Pose.identity(), motion, draft.joint, draft.suffix, rotor))
            self.riding.add(draft.joint.name)

    def _motor_axis(self, k: int, carrier: int) -> Array:
        """The axis about which the motor of body k's joint turns, in the frame of the body that carries it."""
        draft = self.drafts[k]
        assert draft is not None
        drive = draft.joint.drive
        if drive.motor_axis is not None and drive.motor_link is not None:
            given = np.array(drive.motor_axis)
            given = given if given.dtype == object else unit(given)
            return snap(self.frames[drive.motor_link].pose.R @ given)
        axis = unit(draft.joint.axis)
        if carrier == draft.parent:
            return snap(draft.placement.R @ axis)
        return snap(self._turned_at_zero(carrier).T @ self._turned_at_zero(k) @ axis)

    def _turned_at_zero(self, k: int) -> Array:
        """The rotation of a body in the world where all coordinates are zero."""
        R: Array = np.eye(3)
        leader = leaders(self.description)
        while (draft := self.drafts[k]) is not None:
            R = draft.turned(leader(draft.joint)[2]) @ R
            k = draft.parent
        return R

    def _remove_noise(self) -> None:
        drafts = [d for d in self.drafts if d is not None]
        for draft, pose in zip(drafts, snap_poses([d.placement for d in drafts]), strict=True):
            draft.placement = pose
        frames = list(self.frames.values())
        for frame, pose in zip(frames, snap_poses([f.pose for f in frames]), strict=True):
            if pose is not frame.pose:
                self.frames[frame.name] = Frame(frame.name, frame.body, pose)
        plain = [d for d in drafts if object not in (d.inertia.tensor.dtype, d.inertia.first_moment.dtype)]
        if plain:
            tensors = np.stack([d.inertia.tensor for d in plain])
            tensors = 0.5 * (tensors + tensors.swapaxes(1, 2))
            moments = np.stack([d.inertia.first_moment for d in plain])
            sizes = np.abs(tensors).max(axis=(1, 2), keepdims=True)
            masses = np.array([d.inertia.mass for d in plain])[:, None]
            tensors = np.where(np.abs(tensors) <= SUM_ROUNDING * sizes, 0.0, tensors)
            moments = np.where(np.abs(moments) <= SUM_ROUNDING * masses, 0.0, moments)
            for draft, tensor, moment in zip(plain, tensors, moments, strict=True):
                draft.inertia = Inertia(draft.inertia.mass, moment, tensor)

    def _freeze(self) -> Model:
        drafts = [d for d in self.drafts if d is not None]
        leader = leaders(self.description)
        first_q: dict[tuple[str, str], int] = {}
        first_v: dict[tuple[str, str], int] = {}
        nq = nv = 0
        coordinates: list[Coordinate] = []
        actuators: list[Actuator | None] = []
        for draft in drafts:
            if draft.joint.mimic is not None or draft.is_rotor:
                continue
            first_q[draft.joint.name, draft.suffix], first_v[draft.joint.name, draft.suffix] = nq, nv
            coordinates.extend(coordinates_of(draft.joint, draft.motion, draft.suffix, nq))
            actuators.extend([resolved_actuator(draft.joint)] * draft.motion.nv)
            nq, nv = nq + draft.motion.nq, nv + draft.motion.nv
        physics = JointPhysics(nv)
        bodies: list[Body | None] = [None]
        for draft in drafts:
            name, ratio, offset = leader(draft.joint)
            key = name, draft.suffix
            q0, v0 = first_q[key], first_v[key]
            dof = tuple(range(v0, v0 + draft.motion.nv))
            S = draft.motion.S if ratio == 1.0 else ratio * draft.motion.S
            q_index = slice(q0, q0 + draft.motion.nq)
            bodies.append(
                Body(draft.name, draft.parent, draft.placement, draft.motion, S, draft.inertia, q_index, dof, ratio, offset)
            )
            if draft.is_rotor:
                continue
            physics.add(draft.joint, dof, ratio, offset, draft.joint.name not in self.riding)
            if draft.joint.mimic is not None:
                coordinates[v0] = narrowed(coordinates[v0], effective_limits(draft.joint), ratio, offset)
        _make_read_only(bodies, self.frames)
        model = Model(
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
            symbolic=_has_symbols(bodies, self.frames, self.base, self.description, physics),
            tip=self._tip(bodies),
            coupled=any(d.joint.mimic is not None or d.is_rotor for d in drafts),
            actuators=tuple(actuators),
        )
        for array in (
            model.gravity,
            model.viscous,
            model.coulomb,
            model.coulomb_bias,
            model.rotor,
            model.stiffness,
            model.rest,
        ):
            array.setflags(write=False)
        return model

    def _tip(self, bodies: list[Body | None]) -> str | None:
        if self.description.tip:
            return self.description.tip
        links = [b for b in bodies if b is not None and not b.is_rotor]
        if len({b.parent for b in links}) != len(links):
            return None
        bodies_of = {f.name: f.body for f in self.frames.values() if f.body <= len(links)}
        return tip_of(self.description, bodies_of, self.depth)


def _make_read_only(bodies: list[Body | None], frames: dict[str, Frame]) -> None:
    for b in bodies:
        if b is not None:
            for array in (*b.placement, b.S, b.inertia.first_moment, b.inertia.tensor):
                array.setflags(write=False)
    for frame in frames.values():
        for array in frame.pose:
            array.setflags(write=False)


def _has_symbols(
    bodies: list[Body | None], frames: dict[str, Frame], base: Inertia, description: Description, physics: JointPhysics
) -> bool:
    arrays = [np.array(description.gravity), base.parameters, *physics.arrays().values()]
    arrays += [array for frame in frames.values() for array in frame.pose]
    for b in bodies:
        if b is not None:
            arrays += [*b.placement, b.S, b.inertia.parameters]
    return any(a.dtype == object for a in arrays)
