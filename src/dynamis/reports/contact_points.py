"""The spheres with which a robot touches the floor, fitted to the shapes that are drawn of its bodies.

The rule depends on a body's drawn shape in the body's own axes only, so that mirrored links have mirrored spheres.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull, QhullError

from dynamis.reports.meshes.drawing import drawing_of
from dynamis.reports.staging import body_poses
from dynamis.robot import Robot
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]

# integer directions up to 3: a set that reflections at the coordinate planes map to itself
DIRECTIONS = np.array([d for d in itertools.product(range(-3, 4), repeat=3) if np.gcd.reduce(d) == 1], dtype=float)
DIRECTIONS = DIRECTIONS[np.argsort(np.abs(DIRECTIONS[:, 1]), kind="stable")]  # first those in the plane of symmetry y = 0
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
OPPOSITE = np.argmin(DIRECTIONS @ DIRECTIONS.T, axis=1)
MIRRORED = np.argmax(DIRECTIONS @ (DIRECTIONS * [1.0, -1.0, 1.0]).T, axis=1)  # of each direction, that with −y
THICKNESS = (1.0, 0.5, 0.0)  # radii, of half the least width of a body
SPHERE_TOLERANCE = 0.014  # of the size of the drawn robot, by which a body's shape may extend beyond its spheres
OUTER_TOLERANCE = 0.5  # of SPHERE_TOLERANCE, by which the spheres may extend beyond the shape


MIN_BODY_SIZE = 0.07  # of the size of the drawn robot: smaller inner bodies touch the floor by their neighbours


@dataclass(frozen=True)
class ContactPoint:
    """A sphere fixed to a frame: its centre in the frame's axes, and its radius."""

    frame: str
    point: Array
    radius: float


def contact_points(robot: Robot) -> list[ContactPoint]:
    """Spheres that touch the floor in place of the drawn shapes of the moving bodies."""
    outlines = _outlines(robot)
    if not outlines:
        return []
    poses = body_poses(robot, robot.home())
    placed = np.concatenate([p @ poses[b].R.T + poses[b].p for b, (p, _) in outlines.items()])
    size = float(np.ptp(placed, axis=0).max())
    found = []
    for body, (points, radii) in outlines.items():
        if robot.model.children[body] and float((np.ptp(points, axis=0) + 2.0 * radii.max()).max()) < MIN_BODY_SIZE * size:
            continue
        frame = next((f for f in robot.model.frames.values() if f.body == body), None)
        if frame is None:  # between the axes of a joint there is no link
            continue
        R, p = (np.asarray(x, dtype=float) for x in frame.pose)
        found += [ContactPoint(frame.name, R.T @ (c - p), r) for c, r in spheres(points, radii, SPHERE_TOLERANCE * size)]
    return found


def spheres(points: Array, radii: Array, tolerance: float) -> list[tuple[Array, float]]:
    """(centre, radius) of few spheres whose hull is that of the given balls, to ``tolerance`` along the `DIRECTIONS`.

    A candidate touches the hull from inside, in one direction and with one of a few radii, and reaches beyond it in no
    direction by more than a part of the tolerance. Pairs of mirrored candidates are taken, each time the one that supports the
    hull in most of the directions left (greedy set cover).
    """
    hull = (points @ DIRECTIONS.T + radii[:, None]).max(axis=0)
    centres, sizes = _candidates(points, radii, hull)
    reach = centres @ DIRECTIONS.T + sizes[:, None]  # (candidates, directions)
    covers = (reach >= hull - tolerance) & (reach <= hull + OUTER_TOLERANCE * tolerance).all(axis=1, keepdims=True)
    count = len(DIRECTIONS)
    partner = np.concatenate([MIRRORED + k * count for k in range(len(THICKNESS))])
    left, taken = np.ones(count, dtype=bool), []
    while left.any():
        gain = ((covers | covers[partner]) & left).sum(axis=1)
        best = int(np.argmax(gain))  # the first of equal ones: larger radii come first
        alone = {k: int((covers[k] & left).sum()) for k in (best, int(partner[best]))}
        better = max(alone, key=lambda k: alone[k])
        taken.append(better)
        left &= ~covers[better]
        # the other one too where it adds to the better one, or where neither is better: a body and its mirror image are alike
        taken += [k for k in alone if k != better and ((covers[k] & left).any() or alone[k] == alone[better])]
        for k in alone:
            left &= ~covers[k]
    return [(centres[k], float(sizes[k])) for k in taken]


def _candidates(points: Array, radii: Array, hull: Array) -> tuple[Array, Array]:
    """Centres and radii of spheres that touch the hull from inside, by radius and direction."""
    width = hull + hull[OPPOSITE]
    thickness = 0.5 * float(width.min())
    outer = points @ DIRECTIONS.T + radii[:, None]
    tied = outer >= hull - FILE_PRECISION * max(float(width.max()), 1e-12)
    # the middle of a face at right angles to a direction, so that rounding does not choose among its corners
    touching = (tied.T @ points + (tied.T @ radii)[:, None] * DIRECTIONS) / tied.sum(axis=0)[:, None]
    centres = np.concatenate([touching - part * thickness * DIRECTIONS for part in THICKNESS])
    return centres, np.repeat(np.array(THICKNESS) * thickness, len(DIRECTIONS))


def _outlines(robot: Robot) -> dict[int, tuple[Array, Array]]:
    """By moving body: centres and radii of balls whose convex hull is that of its drawn shapes."""
    parts: dict[int, list[tuple[Array, Array]]] = {}
    for drawn in drawing_of(robot).shapes:
        if drawn.body:
            points, radii = drawn.extremes
            outer = _on_the_hull(points) if drawn.mesh is not None else slice(None)
            parts.setdefault(drawn.body, []).append((points[outer], radii[outer]))
    return {
        body: (np.concatenate([p for p, _ in found]), np.concatenate([r for _, r in found])) for body, found in parts.items()
    }


def _on_the_hull(points: Array) -> Any:
    """Which points are corners of their convex hull; all of them where they are in one plane."""
    try:
        return ConvexHull(points).vertices
    except QhullError:
        return slice(None)
