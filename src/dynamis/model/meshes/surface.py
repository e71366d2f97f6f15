"""A mesh as numbers: triangles between vertices, in layers that are never merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

GRID_STEPS = 2**16 - 1  # along the longest side of a mesh
# the corners of a tetrahedron, rotated so that normals along coordinate axes are not midway between two of them
NORMAL_DIRECTIONS = np.array([[0.83, 0.45, 0.33], [-0.67, 0.74, -0.08], [-0.33, -0.59, 0.74], [0.17, -0.6, -0.99]])


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles (m, 3) between vertices (n, 3) in metres, and of each vertex its layer (n,).

    Vertices of different layers are never merged. Each part of the mesh has one layer per row of `NORMAL_DIRECTIONS`, by the
    direction of its normal: the two sides of a thin wall stay apart. ``colours`` has one for each part, or None.
    """

    vertices: Array
    triangles: Array
    layer: Array
    colours: tuple[tuple[float, ...] | None, ...]

    @property
    def low(self) -> Array:
        return np.asarray(self.vertices.min(axis=0))

    @property
    def size(self) -> float:
        return float(np.ptp(self.vertices, axis=0).max())

    @property
    def part(self) -> Array:
        """The part each triangle is of."""
        return np.asarray(self.layer[self.triangles[:, 0]] // len(NORMAL_DIRECTIONS))


def joined(points: Array, faces: Array) -> tuple[Array, Array]:
    """The same triangles with equal vertices made one: many files give each triangle its own."""
    low, size = points.min(axis=0), np.ptp(points, axis=0).max()
    if not 0.0 < size < np.inf:  # nor where one is not a number
        raise ValueError("its vertices are not points in space")
    x, y, z = np.rint((points - low) * (GRID_STEPS / size)).astype(np.int64).T
    _, first, again = np.unique(x << 32 | y << 16 | z, return_index=True, return_inverse=True)
    return points[first], again[faces]


def normal_classes(points: Array, faces: Array) -> Array:
    """The index of the row of `NORMAL_DIRECTIONS` nearest to the surface normal at each vertex."""
    a, b, c = np.moveaxis(points[faces], 1, 0)
    components = np.cross(b - a, c - a) @ NORMAL_DIRECTIONS.T
    around = [np.bincount(faces.ravel(), np.repeat(x, 3), len(points)) for x in components.T]
    return np.argmax(np.array(around), axis=0)
