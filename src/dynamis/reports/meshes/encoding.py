"""Meshes as the page decodes them: integers of 16 bits, in text."""

from __future__ import annotations

import base64
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.meshes.reading import MeshFile, read
from dynamis.model.meshes.surface import GRID_STEPS, Surface

Array = npt.NDArray[Any]


@functools.lru_cache(maxsize=4)
def encoded(files: tuple[MeshFile, ...]) -> list[dict[str, Any]]:
    surfaces = [surface for file in files if isinstance(surface := read(file), Surface)]
    read.cache_clear()  # as they were read they are large, and no longer needed
    fineness = fineness_of(surfaces)
    return [encode(simplify(surface, cell_of(surface, fineness))) for surface in surfaces]


def encode(surface: Surface) -> dict[str, Any]:
    """The numbers `page/robot_parts.js` decodes: vertices in steps from the lowest, triangles in the order of their colours."""
    low, step = surface.low, surface.size / GRID_STEPS
    colours = list(dict.fromkeys(surface.colours))
    paint = np.array([colours.index(colour) for colour in surface.colours])[surface.part]
    counts = np.bincount(paint, minlength=len(colours))
    wide = len(surface.vertices) > GRID_STEPS
    return {
        "low": [float(x) for x in low],
        "step": step,
        "vertices": _text(np.rint((surface.vertices - low) / step), "<u2"),
        "triangles": _text(surface.triangles[np.argsort(paint, kind="stable")], "<u4" if wide else "<u2"),
        "wide": wide,
        "paint": [
            {"count": int(count), **({"rgba": list(colour)} if colour is not None else {})}
            for count, colour in zip(counts, colours, strict=True)
            if count
        ],
    }


def _text(numbers: Array, kind: str) -> str:
    return base64.b64encode(numbers.astype(kind).tobytes()).decode("ascii")


MAX_TRIANGLES = 60_000  # of all meshes: about 700 kB in the page
MAX_COUNTED_TRIANGLES = 400_000  # when the grid is chosen
MAX_CELL_SIZE = 0.2  # of the size of the mesh


def cell_of(surface: Surface, fineness: float) -> float:
    """The side of a cell: small parts get finer ones, but not in proportion, since they are seen from as far."""
    return float(np.clip(fineness * np.sqrt(surface.size), surface.size / GRID_STEPS, MAX_CELL_SIZE * surface.size))


def fineness_of(surfaces: Sequence[Surface]) -> float:
    """The least with which all meshes keep to the triangles there may be, by bisection of its logarithm."""
    every = -(-sum(len(s.triangles) for s in surfaces) // MAX_COUNTED_TRIANGLES)  # a sample of larger ones is enough
    low, high = 1e-6, 10.0
    if not surfaces or _triangles_left(surfaces, low, every) <= MAX_TRIANGLES:
        return low
    for _ in range(12):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if _triangles_left(surfaces, middle, every) <= MAX_TRIANGLES else (middle, high)
    return high


def _triangles_left(surfaces: Sequence[Surface], fineness: float, every: int) -> int:
    """How many triangles have their corners in three different cells."""
    count = 0
    for s in surfaces:
        a, b, c = _cells(s, cell_of(s, fineness))[s.triangles[::every]].T
        count += every * int(np.count_nonzero((a != b) & (b != c) & (c != a)))
    return count


def _cells(surface: Surface, side: float) -> Array:
    """A number for the cell and the layer of each vertex."""
    x, y, z = np.floor((surface.vertices - surface.low) / side).astype(np.int64).T
    return np.asarray(x << 47 | y << 31 | z << 15 | surface.layer % 2**15)


def simplify(surface: Surface, side: float) -> Surface:
    """One vertex for each cell of a grid, where it lies best on the planes of the triangles around; each triangle once.

    The planes n·x = d of a cell give the least squares Σ a² (n·x − d)², with the area a [Lindstrom 2000]; where they leave a
    direction open, a small weight on the mean of the vertices closes it.
    """
    _, cell = np.unique(_cells(surface, side), return_inverse=True)
    n = int(cell.max()) + 1
    # about their mean, so that no digits are lost
    mean = np.stack([np.bincount(cell, x, n) for x in surface.vertices.T], axis=1) / np.bincount(cell, minlength=n)[:, None]
    corners = cell[surface.triangles]
    a, b, c = np.moveaxis(surface.vertices[surface.triangles], 1, 0)
    normal = np.cross(b - a, c - a) / side**2
    planes = normal[:, :, None] * normal[:, None, :]
    A, r = np.zeros((n, 3, 3)), np.zeros((n, 3))
    for corner in corners.T:
        off = normal * np.einsum("ij,ij->i", normal, a - mean[corner])[:, None]
        for i in range(3):
            r[:, i] += np.bincount(corner, off[:, i], n)
            for j in range(3):
                A[:, i, j] += np.bincount(corner, planes[:, i, j], n)
    weight = 0.02 * np.trace(A, axis1=1, axis2=2) + 1e-12
    moved = np.linalg.solve(A + weight[:, None, None] * np.eye(3), r[..., None])[..., 0]
    vertices = mean + np.clip(moved, -0.5 * side, 0.5 * side)
    kept = _distinct(corners)
    used, again = np.unique(corners[kept], return_inverse=True)
    layer = np.empty(n, dtype=np.int64)
    layer[cell] = surface.layer
    return Surface(vertices[used], again.reshape(-1, 3), layer[used], surface.colours)


def _distinct(corners: Array) -> Array:
    """The triangles (their numbers, in order) with three corners, one of those between the same three."""
    a, b, c = corners.T
    whole = np.flatnonzero((a != b) & (b != c) & (c != a))
    used, again = np.unique(corners[whole], return_inverse=True)
    a, b, c = np.sort(again.reshape(-1, 3), axis=1).T
    _, first = np.unique((a * len(used) + b) * len(used) + c, return_index=True)
    return np.asarray(whole[np.sort(first)])
