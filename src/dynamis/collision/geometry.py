"""Shapes of links and obstacles as convex geometries of coal [Montaut et al. 2022], and how far two of them are apart.

Every kind of shape is represented exactly by primitives, swept by a sphere where its edges are round; a mesh by its hull.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, MissingExtraError
from dynamis.model.description import Description, Shape
from dynamis.model.meshes.reading import MeshFile, corners
from dynamis.model.packages import find_file, folder_of
from dynamis.spatial.pose import Pose
from dynamis.tolerances import GJK_TOLERANCE, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]

GJK_ITERATIONS, EPA_ITERATIONS = 500, 255
FAILED = np.finfo(float).max  # the distance that coal returns for a failure
FLAT = 1e-3  # of the size of a mesh or an ellipsoid: thinner ones are made so thick, since a hull needs a volume


def load_coal() -> Any:
    """The library coal."""
    try:
        import coal
    except ImportError:
        raise MissingExtraError("collisions and distances require the library coal: pip install 'dynamis[collision]'") from None
    return coal


@dataclass(frozen=True, eq=False)
class Part:
    """A geometry of coal at ``pose`` in the frame of its link, within a ball of this centre (in the same frame) and radius."""

    geometry: Any
    pose: Pose
    centre: Array
    radius: float


def parts_of(shape: Shape, folder: Path | None) -> list[Part]:
    """The convex parts of a shape, whose files are found from a folder; raises `InputError` for a mesh that cannot be read."""
    coal, s = load_coal(), shape.size
    match shape.kind:
        case "box":
            made = coal.Box(*s)
        case "rounded_box":
            made = _swept(coal.Box(*(x - 2.0 * s[3] for x in s[:3])), s[3])
        case "sphere":
            made = coal.Sphere(s[0])
        case "capsule":
            made = coal.Capsule(*s)
        case "cylinder":
            made = coal.Cylinder(*s)
        case "ellipsoid":
            made = coal.Ellipsoid(*np.maximum(s, FLAT * max(s))) if any(s) else coal.Sphere(0.0)
        case "tapered_capsule":
            return _tapered_capsule(coal, shape)
        case "half_space":
            return [Part(coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), shape.origin, shape.origin.p, np.inf)]
        case _:
            made = _hull(coal, _points(shape, folder))
    return [_part(made, shape.origin)]


def _part(geometry: Any, origin: Pose, height: float = 0.0) -> Part:
    """A geometry whose own origin lies on the z axis of a pose, at this height."""
    R, p = (np.asarray(x, dtype=float) for x in origin)
    pose = Pose(R, p + R[:, 2] * height)
    geometry.computeLocalAABB()
    return Part(geometry, pose, pose.R @ geometry.aabb_center + pose.p, float(geometry.aabb_radius))


def _swept(geometry: Any, radius: float) -> Any:
    geometry.setSweptSphereRadius(float(radius))
    return geometry


def _tapered_capsule(coal: Any, shape: Shape) -> list[Part]:
    """The hull of two balls of radii R ≥ r: the larger ball, and a cone swept by a ball of radius r.

    The tangents from the smaller centre to a ball of radius R − r about the larger one touch it on the base of that cone.
    """
    low, high, length = shape.size
    larger, smaller = max(low, high), min(low, high)
    end = -0.5 * length if low >= high else 0.5 * length  # of the larger ball
    ball = _part(coal.Sphere(larger), shape.origin, end)
    difference = larger - smaller
    if difference >= length:
        return [ball]
    if difference == 0.0:
        return [_part(coal.Capsule(larger, length), shape.origin)]
    R, p = (np.asarray(x, dtype=float) for x in shape.origin)
    axis = Pose(R if end < 0.0 else R * np.array([1.0, -1.0, -1.0]), p)  # z towards the smaller ball
    sine = difference / length
    base = difference * sine - 0.5 * length
    cone = _swept(coal.Cone(difference * np.sqrt(1.0 - sine * sine), 0.5 * length - base), smaller)
    return [ball, _part(cone, axis, 0.5 * (base + 0.5 * length))]


def _points(shape: Shape, folder: Path | None) -> Array:
    found = corners(MeshFile.at(find_file(shape.mesh, folder)))
    if isinstance(found, str):
        raise InputError(found)
    return found * np.asarray(shape.size, dtype=float)


def _hull(coal: Any, points: Array) -> Any:
    """The convex hull of points; of points in a plane, a plate."""
    spread = points - points.mean(axis=0)
    size = float(np.abs(spread).max(initial=0.0))
    if size == 0.0:
        raise InputError("all its vertices coincide")
    axes = np.linalg.svd(spread, full_matrices=False)[2]
    thickness = np.ptp(spread @ axes.T, axis=0)
    for axis, thin in zip(axes, thickness < FLAT * size, strict=True):
        if thin:
            points = np.concatenate([points - 0.5 * FLAT * size * axis, points + 0.5 * FLAT * size * axis])
    vector = coal.StdVec_Vec3s()
    vector.extend(list(points))
    return coal.ConvexBase.convexHull(vector, False, None)


def link_parts(description: Description) -> tuple[dict[str, list[Part]], dict[str, str]]:
    """The geometry of each link that has one, and why the others have none.

    A link is represented by its collision shapes, by the visual ones where it has none of them.
    """
    folder = folder_of(description.file)
    parts: dict[str, list[Part]] = {}
    missing: dict[str, str] = {}
    for link in description.links:
        shapes = [s for s in link.shapes if s.role == "collision"] or link.shapes
        if not shapes:
            missing[link.name] = "no shape"
            continue
        try:
            parts[link.name] = [part for shape in shapes for part in parts_of(shape, folder)]
        except (InputError, OSError) as error:
            missing[link.name] = str(error)
    return parts, missing


class Query:
    """Distances of pairs of parts. GJK is exact to `GJK_TOLERANCE`, the depth of penetration by EPA to `SOLUTION_TOLERANCE`."""

    def __init__(self) -> None:
        coal = load_coal()
        self.result, self.transform, self.compute = coal.DistanceResult(), coal.Transform3s, coal.ComputeDistance
        self.request, self.coarse = coal.DistanceRequest(), coal.DistanceRequest()
        self.request.gjk_tolerance, self.request.gjk_max_iterations = GJK_TOLERANCE, GJK_ITERATIONS
        self.request.epa_tolerance, self.request.epa_max_iterations = SOLUTION_TOLERANCE, EPA_ITERATIONS

    def __call__(self, pair: Any, first: Any, second: Any) -> float:
        """The signed distance of a `coal.ComputeDistance` at two transforms; details are in ``result``."""
        self.result.clear()
        distance = pair(first, second, self.request, self.result)
        if not abs(distance) < FAILED:  # the expansion of the polytope
            self.result.clear()
            distance = pair(first, second, self.coarse, self.result)
        return float(distance)
