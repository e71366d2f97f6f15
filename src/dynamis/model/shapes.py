"""The shapes of links: which kinds there are, what their sizes mean, and how much room they take.

Every kind but the mesh is the convex hull of a few balls. Those balls give the lowest point of a robot, the frame of a
picture of it, and the points at which it can touch the floor.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.description import Shape
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import cross

Array = npt.NDArray[Any]

SIZES = {
    "box": ("x", "y", "z"),
    "rounded_box": ("x", "y", "z", "radius"),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "tapered_capsule": ("radius at −z", "radius at +z", "length"),
    "sphere": ("radius",),
    "ellipsoid": ("a", "b", "c"),
    "mesh": ("scale x", "scale y", "scale z"),
}
ALONG_Z = ("cylinder", "capsule", "tapered_capsule")  # may be given from one point to another
POINTS_PER_CIRCLE = 12  # on the rims of a cylinder and the rings of an ellipsoid
_SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


def between(start: Array, end: Array) -> tuple[Pose, float]:
    """The pose whose z axis leads from one point to another, its origin halfway, and the distance between them."""
    way = np.asarray(end, dtype=float) - np.asarray(start, dtype=float)
    length = float(np.linalg.norm(way))
    z = way / length if length else np.array([0.0, 0.0, 1.0])
    across = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = cross(across, z)
    x = x / np.linalg.norm(x)
    return Pose(np.column_stack([x, cross(z, x), z]), (np.asarray(start, dtype=float) + end) / 2.0), length


def fault(shape: Shape) -> str | None:
    """What is wrong with the sizes of a shape, if anything."""
    names = SIZES[shape.kind]
    if shape.kind == "mesh":
        return None
    bad = [f"{name} = {x:g}" for name, x in zip(names, shape.size, strict=True) if not 0.0 <= x < np.inf]
    if bad:
        return ", ".join(bad) + " is not a length"
    if shape.kind == "rounded_box" and 2.0 * shape.size[3] > min(shape.size[:3]):
        return f"the radius {shape.size[3]:g} is more than half of the shortest side"
    return None


def balls(shape: Shape) -> tuple[Array, Array]:
    """Centres (k, 3) in the link's frame and radii (k,) of balls whose convex hull is the shape; none for a mesh."""
    points, radii = _own_balls(shape)
    R, p = (np.asarray(x, dtype=float) for x in shape.origin)
    return points @ R.T + p, radii


def _own_balls(shape: Shape) -> tuple[Array, Array]:
    s = shape.size
    match shape.kind:
        case "sphere":
            return np.zeros((1, 3)), np.array([s[0]])
        case "capsule":
            return _on_axis(s[1]), np.array([s[0], s[0]])
        case "tapered_capsule":
            return _on_axis(s[2]), np.array([s[0], s[1]])
        case "box":
            return _SIGNS * (np.array(s) / 2.0), np.zeros(8)
        case "rounded_box":
            return _SIGNS * (np.array(s[:3]) / 2.0 - s[3]), np.full(8, s[3])
        case "cylinder":
            return np.concatenate([s[0] * _ring() + end for end in _on_axis(s[1])]), np.zeros(2 * POINTS_PER_CIRCLE)
        case "ellipsoid":
            heights = np.linspace(-1.0, 1.0, 7)
            rings = [np.sqrt(1.0 - z * z) * _ring() + np.array([0.0, 0.0, z]) for z in heights]
            return np.concatenate(rings) * np.array(s), np.zeros(POINTS_PER_CIRCLE * len(heights))
        case _:
            return np.zeros((0, 3)), np.zeros(0)


def _on_axis(length: float) -> Array:
    return np.array([[0.0, 0.0, -length / 2.0], [0.0, 0.0, length / 2.0]])


def _ring() -> Array:
    angle = 2.0 * np.pi * np.arange(POINTS_PER_CIRCLE) / POINTS_PER_CIRCLE
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(POINTS_PER_CIRCLE)])
