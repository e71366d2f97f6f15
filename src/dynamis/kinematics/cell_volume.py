"""Volume of a set from points sampled in it, by counting cells; those at the boundary by their filled share."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

POINTS = 12.0  # that an occupied cell holds on average, so that few are missed
PARTS = 6  # of a cell along each axis, for its share on one side of a plane
EDGE_ERROR = 0.05  # of the volume of the cells at the boundary: below it the comparison of two cell sizes tells nothing


def sampled_volume(x: Array) -> tuple[float, float]:
    """(volume, estimated error) of the set in which the points (N, d) lie; d = 1, 2 or 3.

    A cell at the boundary counts with the share on the inner side of a plane through its outermost point; the normal of the
    plane follows from the neighbouring cells. The error is twice the difference to the result with cells of twice the volume.
    """
    (volume, edge), (coarser, _) = _counted(x, POINTS), _counted(x, 2.0 * POINTS)
    return volume, max(2.0 * abs(volume - coarser), EDGE_ERROR * edge)


def _counted(x: Array, points: float) -> tuple[float, float]:
    """(volume, volume of the cells at the boundary) with cells that hold so many points on average."""
    d = x.shape[1]
    low, extent = x.min(axis=0), np.ptp(x, axis=0)
    about = float((np.prod(extent) * points / len(x)) ** (1.0 / d))
    # a whole number of cells along each axis, half a cell beyond its ends: then cells at a straight edge are half full
    side = extent / np.maximum(np.round(extent / about), 1.0)
    u = (x - low) / side + 0.5
    cells = np.floor(u).astype(int)
    shape = tuple(cells.max(axis=0) + 3)  # with an empty cell on every side
    flat = np.ravel_multi_index(tuple((cells + 1).T), shape)
    filled = np.zeros(shape)
    filled.flat[flat] = 1.0
    edge = np.flatnonzero((filled > 0.0) & (_neighbours(filled) < 3.0**d))
    normal = np.stack([_slope(filled, axis).flat[edge] for axis in range(d)], axis=-1)
    steep = np.linalg.norm(normal, axis=1)
    normal /= np.where(steep > 0.0, steep, 1.0)[:, None]
    # in each cell at the edge the point that lies farthest out
    number = np.full(filled.size, -1)
    number[edge] = np.arange(len(edge))
    of = number[flat]
    at_edge, of = of >= 0, of[of >= 0]
    outermost = np.full(len(edge), -np.inf)
    np.maximum.at(outermost, of, np.einsum("ij,ij->i", normal[of], (u - cells - 0.5)[at_edge]))
    grid = np.array(list(itertools.product((np.arange(PARTS) + 0.5) / PARTS - 0.5, repeat=d)))
    share = np.mean(normal @ grid.T <= outermost[:, None], axis=1)
    share = np.where(steep > 0.0, share, 0.5)  # in a set as thin as a cell there is no inner side
    cell = float(np.prod(side))
    return float(filled.sum() - len(edge) + share.sum()) * cell, len(edge) * cell


def _neighbours(filled: Array) -> Array:
    """The number of filled cells among each cell and those around it."""
    count = filled
    for axis in range(filled.ndim):
        count = np.roll(count, 1, axis) + count + np.roll(count, -1, axis)
    return count


def _slope(filled: Array, axis: int) -> Array:
    """Filled cells behind minus filled cells ahead along an axis, weighted 1-2-1 across it (the Sobel operator)."""
    slope = np.roll(filled, 1, axis) - np.roll(filled, -1, axis)
    for other in range(filled.ndim):
        if other != axis:
            slope = np.roll(slope, 1, other) + 2.0 * slope + np.roll(slope, -1, other)
    return slope
