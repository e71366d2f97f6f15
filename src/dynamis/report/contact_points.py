"""The points of a robot that can touch the floor, taken from the shapes of its links."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.shapes import balls
from dynamis.report.meshes.drawing import drawing_of
from dynamis.report.staging import body_poses
from dynamis.robot import Robot

Array = npt.NDArray[Any]

HEAVY = 0.2  # of the mass of the robot
CUBE = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
MOST = 24  # points: the cost of a step grows with their number
APART = 0.04  # of the size of the robot: points closer than this to one already taken are left out


@dataclass(frozen=True)
class ContactPoint:
    """A sphere fixed to a frame: its centre in the frame's axes, and its radius."""

    frame: str
    point: Array
    radius: float


def contact_points(robot: Robot, q: Array) -> list[ContactPoint]:
    """Spheres inside the robot's shapes, which touch the floor in place of the shapes.

    First the corners of heavy bodies, then the lowest of each last body at ``q``, then those farthest from all others.
    The spheres are the corners and ends of the shapes (see `balls`): round ends with their radius, corners with radius 0.
    """
    bodies, points, radii = _candidates(robot)
    poses = body_poses(robot, q)
    placed = np.array([poses[b].R @ p + poses[b].p for b, p in zip(bodies, points, strict=True)]).reshape(-1, 3)
    if not len(placed):
        return []
    gravity = np.asarray(robot.model.gravity, dtype=float)
    depth = placed @ gravity / max(float(np.linalg.norm(gravity)), 1e-12) + radii
    taken = _corners(robot, bodies, placed)
    last = [i for i, body in robot.model.moving if not robot.model.children[i] and not body.is_rotor]
    own = [np.flatnonzero(bodies == i) for i in last]
    taken += [int(them[np.argmax(depth[them])]) for them in own if len(them)]
    taken = list(dict.fromkeys(taken))[:MOST] or [int(np.argmax(depth))]
    away = np.min([np.linalg.norm(placed - placed[k], axis=1) for k in taken], axis=0)
    size = float(np.ptp(placed, axis=0).max())
    while len(taken) < MOST and away.max() > APART * size:
        taken.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(placed - placed[taken[-1]], axis=1))
    return [_in_a_frame(robot, int(bodies[k]), points[k], float(radii[k])) for k in sorted(taken)]


def _corners(robot: Robot, bodies: Array, placed: Array) -> list[int]:
    """The outermost points of heavy bodies, which the robot lies on, towards the corners of a cube."""
    total = sum(float(body.inertia.mass) for _, body in robot.model.moving)
    heavy = [i for i, body in robot.model.moving if float(body.inertia.mass) > HEAVY * total]
    found = []
    for body in heavy:
        own = np.flatnonzero(bodies == body)
        if len(own):
            found += [int(own[k]) for k in np.argmax(placed[own] @ CUBE.T, axis=0)]
    return found


def _candidates(robot: Robot) -> tuple[Array, Array, Array]:
    """Body, centre in its frame, and radius of every ball: of the file's simple shapes, else of what is drawn of a body."""
    found: dict[int, list[tuple[Array, Array]]] = {}
    for link in robot.description.links:
        frame = robot.model.frames.get(link.name)
        simple = [s for s in link.shapes if s.kind != "mesh"]
        collision = [s for s in simple if s.role == "collision"]
        for shape in collision or simple:
            if frame is not None:
                p, r = balls(shape)
                found.setdefault(frame.body, []).append((p @ np.asarray(frame.pose.R).T + np.asarray(frame.pose.p), r))
    simple_bodies = set(found)
    for drawn in drawing_of(robot).shapes:
        if drawn.body not in simple_bodies:
            found.setdefault(drawn.body, []).append((drawn.points, drawn.radii))
    every = [(b, p, r) for b, parts in found.items() if b for p, r in parts if len(p)]
    if not every:
        return np.zeros(0, dtype=int), np.zeros((0, 3)), np.zeros(0)
    bodies = np.concatenate([np.full(len(p), b) for b, p, _ in every])
    return bodies, np.concatenate([p for _, p, _ in every]), np.concatenate([r for _, _, r in every])


def _in_a_frame(robot: Robot, body: int, point: Array, radius: float) -> ContactPoint:
    """The same point, seen from the first frame of its body."""
    frame = next(f for f in robot.model.frames.values() if f.body == body)
    R, p = (np.asarray(x, dtype=float) for x in frame.pose)
    return ContactPoint(frame.name, R.T @ (point - p), radius)
