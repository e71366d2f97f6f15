"""How a robot stands for its picture: which way is up, where the floor is, and a pose that shows its links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.documents.numbers import short
from dynamis.model.joints import Free, Prismatic
from dynamis.reports.meshes.drawing import Drawing, Drawn, drawing_of
from dynamis.reports.numbers import main_frame, ranges
from dynamis.robot import Robot
from dynamis.spatial.pose import Pose
from dynamis.tolerances import RANK_TOLERANCE

Array = npt.NDArray[Any]

POSE_SAMPLES = 200  # configurations, for the extent of the robot, and as many to find a pose
REFINEMENT_SAMPLES = 50  # around the best
MAX_JOINT_DISTANCE = 1.6  # rad or m from the middle of its range, in the pose
# desired position of the tip in the pose, in reaches …
TIP_DISTANCE, TIP_HEIGHT = 0.55, 0.5
# … and weights of the height of the links, the distance from the middle of the ranges, and the view from the side
HEIGHT_WEIGHT, MIDDLE_WEIGHT, SIDE_VIEW_WEIGHT = 0.9, 0.25, 0.25
CAMERA_ANGLE = 0.75  # rad between the forward direction and that to the camera: view3d.js


def stage_of(robot: Robot) -> dict[str, Any]:
    """What the page's view is set up by."""
    g = np.asarray(robot.model.gravity, dtype=float)
    up = -g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, 1.0])
    q = _configurations(robot, np.inf)
    points = np.stack([_positions(robot, row) for row in q])
    heights = points @ up
    extent = np.ptp(points.reshape(-1, 3), axis=0)
    upright = up[2] > 0.9
    # an arm that swings in an upright plane hangs from a wall; others stand on the floor or on their feet
    planar = bool((extent <= RANK_TOLERANCE * max(float(extent.max()), 1e-300)).any()) and not upright
    reach = max(float(np.linalg.norm(points, axis=-1).max()), 1e-3)
    drawing = drawing_of(robot)
    floor = float(heights.min()) if planar or not upright else min(0.0, _lowest(robot, drawing, q[0], up, base=True))
    pose = _given_pose(robot)
    if pose is None:
        pose = _showing_pose(robot, up, floor, reach, planar)
    if not planar and upright:
        lowest = _lowest(robot, drawing, pose, up)
        free = free_base(robot)
        if free is not None and g.any():
            pose[free : free + 3] -= lowest * up
            floor = 0.0
        elif free is not None:
            floor = lowest - 0.3 * reach
        elif is_mobile(robot):
            floor = lowest
        else:
            floor = min(floor, lowest)
    held = not planar and upright and not is_mobile(robot)
    has_shape = any(d.body == 0 and d.link is not None for d in drawing.shapes)
    slides = any(b.parent == 0 and isinstance(b.motion, Prismatic) for _, b in robot.model.moving)
    return {
        "pose": short(pose, 12),
        "up": short(up, 6),
        "floor": short(floor, 5),
        "planar": planar,
        "reach": short(reach, 5),
        # a base without a shape of its own stands on a plate, or is a rail
        "plate": bool(held and floor > -1e-6 * reach) and not (has_shape or slides),
    }


def free_base(robot: Robot) -> int | None:
    """Where in q the position of a floating base begins."""
    return next((b.q_index.start for _, b in robot.model.moving if b.parent == 0 and isinstance(b.motion, Free)), None)


def is_mobile(robot: Robot) -> bool:
    """Whether nothing holds the base: it floats, or its file says so."""
    return robot.description.appearance.mobile or free_base(robot) is not None


def _given_pose(robot: Robot) -> Array | None:
    """The pose the robot's file gives, within the limits."""
    given, q = robot.description.appearance.pose, robot.home()
    if not given:
        return None
    low, high = ranges(robot)
    for k, c in enumerate(robot.model.coordinates):
        if c.q_index is not None and c.name in given:
            q[c.q_index] = np.clip(given[c.name], low[k], high[k])
    return q


def _lowest(robot: Robot, drawing: Drawing, q: Array, up: Array, *, base: bool = False) -> float:
    """The lowest point of the drawn robot, or of its base alone, and of the frames' origins.

    The housings of made-up shapes do not count: at the base they reach below the floor and are cut off there.
    """
    poses = body_poses(robot, q)
    shown = [d for d in drawing.shapes if d.link is not None and len(d.points) and not (base and d.body)]
    low = [lowest_point(drawn, poses, up) for drawn in shown]
    frames = robot.model.frames.values()
    low += [float((poses[f.body] @ f.pose).p @ up) for f in frames if not (base and f.body)]
    return min(low)


def lowest_point(drawn: Drawn, poses: Sequence[Pose], up: Array) -> float:
    """The height of the lowest point of a drawn shape, for these poses of the bodies."""
    X = poses[drawn.body]
    points, radii = drawn.extremes
    return float((points @ (X.R.T @ up) - radii).min() + X.p @ up)


def _configurations(robot: Robot, widest: float) -> Array:
    """The middle, and others no farther from it than ``widest``, within the limits."""
    low, high = ranges(robot)
    rng = np.random.default_rng(0)
    rest = robot.home()
    q = np.tile(rest, (POSE_SAMPLES, 1))
    for k, c in enumerate(robot.model.coordinates):
        if c.q_index is not None and c.q_index < robot.nq:
            at = rest[c.q_index]
            q[1:, c.q_index] = rng.uniform(max(low[k], at - widest), min(high[k], at + widest), POSE_SAMPLES - 1)
    return q


def _showing_pose(robot: Robot, up: Array, floor: float, reach: float, planar: bool) -> Array:
    """Of many poses the one that shows an arm best; other robots are shown in the middle of their ranges."""
    model, rest = robot.model, robot.home()
    arm = all(len(children) <= 1 for children in model.children) and all(c.q_index is not None for c in model.coordinates)
    if not arm or robot.n < 2:
        return rest
    low, high = ranges(robot)
    places = np.array([c.q_index for c in model.coordinates], dtype=int)
    rng = np.random.default_rng(1)
    q = _configurations(robot, MAX_JOINT_DISTANCE)
    for width in (0.4, 0.2, 0.1):  # closer and closer around the best so far
        best = q[np.argsort(_cost(robot, q, rest, up, floor, reach, planar))[0]]
        around = np.tile(best, (REFINEMENT_SAMPLES, 1))
        around[1:, places] = np.clip(best[places] + width * rng.normal(size=(REFINEMENT_SAMPLES - 1, robot.n)), low, high)
        q = around
    return np.asarray(q[int(np.argmin(_cost(robot, q, rest, up, floor, reach, planar)))])


def _cost(robot: Robot, q: Array, rest: Array, up: Array, floor: float, reach: float, planar: bool) -> Array:
    """How badly each pose shows an arm."""
    points = np.stack([_positions(robot, row) for row in q])
    tips = points[:, list(robot.model.frames).index(main_frame(robot))]
    heights = points @ up / reach
    out = tips - np.outer(tips @ up, up)
    far = np.linalg.norm(out, axis=1)
    cost = np.hypot(far / reach - TIP_DISTANCE, tips @ up / reach - TIP_HEIGHT)
    cost -= HEIGHT_WEIGHT * heights.mean(axis=1)
    places = np.array([c.q_index for c in robot.model.coordinates], dtype=int)
    cost += MIDDLE_WEIGHT * np.abs(q[:, places] - rest[places]).mean(axis=1) / MAX_JOINT_DISTANCE
    if not planar:
        # the direction the camera looks along, on the floor: an arm along it hides itself
        forward = np.array([1.0, 0.0, 0.0]) if abs(up[2]) > 0.9 else np.array([0.0, 0.0, 1.0])
        forward = forward - forward @ up * up
        forward /= np.linalg.norm(forward)
        towards = np.cos(CAMERA_ANGLE) * forward + np.sin(CAMERA_ANGLE) * np.cross(up, forward)
        cost += SIDE_VIEW_WEIGHT * np.abs(out @ towards) / np.maximum(far, 1e-9)
        cost += 10.0 * (heights.min(axis=1) < floor / reach - 1e-6)
    return np.asarray(cost)


def body_poses(robot: Robot, q: Array) -> list[Pose]:
    """By the tree itself: a compiled function for each frame would take longer than its one use."""
    poses = [Pose.identity()]
    for _, body in robot.model.moving:
        poses.append(poses[body.parent] @ body.pose(q))
    return poses


def _positions(robot: Robot, q: Array) -> Array:
    """Where the robot is (points, 3): origins of frames, then the far side of the last bodies' centres of mass."""
    model, poses = robot.model, body_poses(robot, q)
    points = [poses[f.body].R @ f.pose.p + poses[f.body].p for f in model.frames.values()]
    last = [i for i, body in model.moving if not model.children[i] and not body.is_rotor]
    far = [(i, model.with_locked_rotors(i)) for i in last]
    points += [poses[i].R @ (2.0 * inertia.com) + poses[i].p for i, inertia in far if float(inertia.mass) > 0.0]
    return np.array(points, dtype=float)
