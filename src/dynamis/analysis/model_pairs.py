"""Correspondence of bodies and coordinates of two models, and relative poses of corresponding frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.algorithms.regressor import without_rotors
from dynamis.model.joints import Helical, OneNumber, Prismatic
from dynamis.model.model import Body, Model
from dynamis.robot import Robot
from dynamis.spatial import Inertia, Pose
from dynamis.spatial.inertia import seen_from
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]

Changes = list[tuple[str, float, str]]  # what changed, by how much, the unit


@dataclass(frozen=True, eq=False)
class Pair:
    """Corresponding bodies of two robots, with their indices and their poses at q = 0.

    ``name`` is that of the first link with a mass on it.
    """

    name: str
    i: int
    j: int
    first: Body
    second: Body
    X_first: Pose
    X_second: Pose


@dataclass(frozen=True, eq=False)
class Pairs:
    """The correspondence of two robots; ``obstacles`` give reasons against it, ``notes`` the assumptions.

    ``alike``: link frames follow the same convention, as in two versions of one file.
    """

    first: Robot
    second: Robot
    bodies: tuple[Pair, ...]
    obstacles: tuple[str, ...]
    notes: tuple[str, ...]
    alike: bool

    @property
    def coordinates(self) -> list[int]:
        """For each coordinate of the first robot, that of the second."""
        place = {k: m for pair in self.bodies for k, m in zip(pair.first.dof, pair.second.dof, strict=True)}
        return [place[k] for k in range(self.first.n)]

    def state_of_second(self, q: Array) -> Array:
        """Configurations of the first robot in the coordinate order of the second."""
        moved = np.empty((*q.shape[:-1], self.second.nq))
        for pair in self.bodies:
            moved[..., pair.second.q_index] = q[..., pair.first.q_index]
        return moved

    def rates_of_second(self, v: Array) -> Array:
        """Velocities, accelerations or torques of the first robot in the coordinate order of the second."""
        moved = np.empty_like(v)
        moved[..., self.coordinates] = v
        return moved

    def joint_change(self, pair: Pair) -> Changes:
        """The differences of position, orientation, axis and pitch of a joint."""
        return _joint_change(pair) if self.alike else _joint_change_in_world(pair)

    def inertia_of_second(self, pair: Pair) -> Inertia:
        """The inertia of the second robot's body in the frame of the first robot's body."""
        inertia = self.second.model.with_locked_rotors(pair.j)
        return inertia if self.alike else seen_from(inertia, pair.X_first.inverse() @ pair.X_second)


def pairs(first: Robot, second: Robot) -> Pairs:
    """Corresponding bodies: by link name, by joint name, or by order."""
    one, two = without_rotors(first.model), without_rotors(second.model)
    notes: list[str] = []
    names = [body.name for _, body in one], [body.name for _, body in two]
    obstacles = _missing(first.coordinate_names, second.coordinate_names, "joint")
    keys = _keys(first.model, one), _keys(second.model, two)
    if set(names[0]) == set(names[1]):
        order = [names[1].index(name) for name in names[0]]
    elif not obstacles and set(keys[0]) == set(keys[1]):
        order = [keys[1].index(key) for key in keys[0]]
    elif len(one) == len(two) and not (obstacles and set(first.coordinate_names) & set(second.coordinate_names)):
        order, obstacles = list(range(len(one))), []
        notes.append("link and joint names differ: bodies are matched by their order from the base")
    else:
        return Pairs(first, second, (), tuple(obstacles or _missing(*names, "link")), (), False)
    at = [world_poses(r.model, relative_poses(r.model, r.neutral())) for r in (first, second)]
    found = []
    for (i, body), k in zip(one, order, strict=True):
        j, other = two[k]
        found.append(Pair(_called(first, i), i, j, body, other, at[0][i], at[1][j]))
    obstacles = [*obstacles, *_structure(first.model, second.model, found)]
    result = Pairs(first, second, tuple(found), tuple(obstacles), tuple(notes), alike=True)
    # rad: by smaller angles the robots differ, not their conventions
    if obstacles or all(turn(pair.X_first.R.T @ pair.X_second.R) < 0.1 for pair in found):
        return result
    # link frames are rotated by a convention or by a changed joint: the interpretation with fewer differences is taken
    in_world = replace(result, alike=False)
    return result if _count_changes(result) < _count_changes(in_world) else in_world


def _count_changes(pairs: Pairs) -> int:
    """The number of joints and link inertias that differ."""
    changed = 0
    for pair in pairs.bodies:
        A, B = pairs.first.model.with_locked_rotors(pair.i).parameters, pairs.inertia_of_second(pair).parameters
        changed += bool(np.abs(B - A).max() > FILE_PRECISION * np.abs(A).max())
        changed += any(change > FILE_PRECISION for _, change, _ in pairs.joint_change(pair))
    return changed


def _called(robot: Robot, i: int) -> str:
    heavy = {link.name for link in robot.description.links if link.mass_properties is not None}
    names = [frame.name for frame in robot.model.frames.values() if frame.body == i]
    body = robot.model.bodies[i]
    assert body is not None
    return next((name for name in names if name in heavy), body.name)


def _keys(model: Model, bodies: list[tuple[int, Body]]) -> list[tuple[str, float, float]]:
    """Keys of the joints of the bodies: the first coordinate, and its mimic relation."""
    return [(model.coordinates[body.dof[0]].name if body.dof else "", body.ratio, body.offset) for _, body in bodies]


def _missing(one: Any, two: Any, kind: str) -> list[str]:
    only = [(name, "first") for name in one if name not in two] + [(name, "second") for name in two if name not in one]
    return [f"only the {which} robot has the {kind} {name}" for name, which in only]


def _structure(first: Model, second: Model, found: list[Pair]) -> list[str]:
    place = {0: 0, **{pair.i: pair.j for pair in found}}
    reasons = []
    for pair in found:
        one, two = pair.first, pair.second
        kinds = [type(body.motion).__name__.lower() for body in (one, two)]
        if kinds[0] != kinds[1]:
            reasons.append(f"{pair.name} has a {kinds[0]} joint in the first robot, a {kinds[1]} joint in the second")
        elif place.get(one.parent) != two.parent:
            reasons.append(f"{pair.name} has a different parent link in the second robot")
        elif (one.ratio, one.offset) != (two.ratio, two.offset):
            reasons.append(f"{pair.name} has a different mimic relation in the second robot")
    if sum(b.is_rotor for _, b in first.moving) != sum(b.is_rotor for _, b in second.moving):
        reasons.append("rotors are mounted on moving links in one robot only")
    return reasons


def _joint_change(pair: Pair) -> Changes:
    """Differences of the joint frame in the parent link and of the axis in the joint frame, for equal frame conventions."""
    X = pair.first.placement.inverse() @ pair.second.placement
    changes = [("position", _length(X.p), "m"), ("orientation", turn(X.R), "rad")]
    one, two = pair.first.motion, pair.second.motion
    if isinstance(one, OneNumber) and isinstance(two, OneNumber):
        changes.append(("axis", angle_between(one.axis, two.axis), "rad"))
    return changes + _pitch_change(pair)


def _joint_change_in_world(pair: Pair) -> Changes:
    """Differences of the joint axes at q = 0, in the world, for different conventions of the link frames.

    A frame may slide along the axis of its joint and turn about it: only the line of a revolute axis and the direction of a
    prismatic one have a meaning. The distance of two lines that are not parallel is taken at the nearer of the two origins.
    """
    A, B = pair.X_first, pair.X_second
    one, two = pair.first.motion, pair.second.motion
    if not (isinstance(one, OneNumber) and isinstance(two, OneNumber)):
        return [("position", _length(B.p - A.p), "m"), ("orientation", turn(A.R.T @ B.R), "rad")]
    u, w = A.R @ one.axis, B.R @ two.axis
    changes = [("orientation", angle_between(u, w), "rad")]
    if not isinstance(one, Prismatic):
        between = B.p - A.p
        changes.append(("position", min(_length(np.cross(u, between)), _length(np.cross(w, between))), "m"))
    return changes + _pitch_change(pair)


def _pitch_change(pair: Pair) -> Changes:
    one, two = pair.first.motion, pair.second.motion
    if isinstance(one, Helical) and isinstance(two, Helical):
        return [("pitch", abs(float(two.pitch) - float(one.pitch)), "m/rad")]
    return []


def turn(R: Array) -> float:
    """The angle of a rotation, accurate also for small angles."""
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]], dtype=float)
    return float(np.arctan2(np.linalg.norm(axis), np.trace(R) - 1.0))


def angle_between(u: Array, w: Array) -> float:
    """The angle of two unit vectors, accurate also near 0 and π."""
    return float(2.0 * np.arctan2(_length(w - u), _length(w + u)))


def _length(x: Array) -> float:
    return float(np.linalg.norm(np.asarray(x, dtype=float)))
