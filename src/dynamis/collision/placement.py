"""Pairs of parts, placed by a configuration: bounds of their distances, and the distances themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.collision.geometry import Part, Query
from dynamis.spatial import about_axis, cross

Array = npt.NDArray[Any]
TILT = 0.05  # rad: a quick joint in a step of 20 ms


@dataclass(frozen=True, eq=False)
class Witness:
    """The signed distance of a pair of owners, its nearest points in the world, and the normal from the first to the second.

    ``row`` is the number of the nearest pair of parts.
    """

    pair: int
    row: int
    distance: float
    points: Array
    normal: Array


class PartPairs:
    """The parts of all owners (links and obstacles), each with the number of its frame, and those of the pairs of owners."""

    def __init__(self, owners: Sequence[Sequence[Part]], frames: Sequence[int], pairs: Sequence[tuple[int, int]]) -> None:
        self.query = Query()
        self.parts = [part for parts in owners for part in parts]
        self.frame = np.array([f for f, parts in zip(frames, owners, strict=True) for _ in parts], dtype=int)
        ends = np.cumsum([0, *map(len, owners)])
        rows = [
            (i, j, k)
            for k, (a, b) in enumerate(pairs)
            for i in range(ends[a], ends[a + 1])
            for j in range(ends[b], ends[b + 1])
        ]
        self.first, self.second, self.pair = np.array(rows, dtype=int).reshape(-1, 3).T
        self.R = np.array([part.pose.R for part in self.parts]).reshape(-1, 3, 3)
        self.p = np.array([part.pose.p for part in self.parts]).reshape(-1, 3)
        self.centre = np.array([part.centre for part in self.parts]).reshape(-1, 3)
        self.radius = np.array([part.radius for part in self.parts])
        self.rows: list[list[int]] = [np.flatnonzero(self.pair == k).tolist() for k in range(len(pairs))]
        self.members = [(int(i), int(j)) for i, j in zip(self.first, self.second, strict=True)]
        self.owner_pair: list[int] = self.pair.tolist()
        self._computations: dict[int, Any] = {}

    def at(self, X: Array) -> Placed:
        """The pairs where frames have these poses (frames, 4, 4)."""
        return Placed(self, X[self.frame, :3, :3], X[self.frame, :3, 3])

    def computation(self, row: int) -> Any:
        if row not in self._computations:
            first, second = (self.parts[part].geometry for part in self.members[row])
            self._computations[row] = self.query.compute(first, second)
        return self._computations[row]


class Placed:
    """Pairs of parts in one configuration."""

    def __init__(self, pairs: PartPairs, R: Array, p: Array) -> None:
        self.pairs = pairs
        self.R, self.p = R @ pairs.R, np.einsum("gij,gj->gi", R, pairs.p) + p
        centre = np.einsum("gij,gj->gi", R, pairs.centre) + p
        apart = np.linalg.norm(centre[pairs.first] - centre[pairs.second], axis=1)
        radii = pairs.radius[pairs.first] + pairs.radius[pairs.second]
        self.bound = np.where(np.isfinite(radii), apart - radii, -np.inf)  # of balls about the parts
        self._transforms: dict[int, Any] = {}

    def transform(self, part: int) -> Any:
        if part not in self._transforms:
            self._transforms[part] = self.pairs.query.transform(self.R[part], self.p[part])
        return self._transforms[part]

    def measure(self, row: int) -> float:
        """The signed distance of one pair of parts."""
        first, second = self.pairs.members[row]
        return self.pairs.query(self.pairs.computation(row), self.transform(first), self.transform(second))

    def distance(self, pair: int) -> float:
        """The signed distance of one pair of owners."""
        return min(self.measure(row) for row in self.pairs.rows[pair])

    def near(self, within: float) -> list[int]:
        """The pairs of parts whose bounds do not exceed a distance, the smallest bound first."""
        near = np.flatnonzero(self.bound <= within)
        return near[np.argsort(self.bound[near], kind="stable")].tolist()  # plain integers, which lists are quicker with

    def touches(self, margin: float) -> bool:
        """Whether some pair is nearer than a margin."""
        return any(self.measure(row) <= margin for row in self.near(margin))

    def touching(self, pairs: set[int], margin: float) -> set[int]:
        """Those of some pairs that are nearer than a margin."""
        found: set[int] = set()
        for row in self.near(margin):
            pair = self.pairs.owner_pair[row]
            if pair in pairs and pair not in found and self.measure(row) <= margin:
                found.add(pair)
        return found

    def witness(self, row: int, distance: float) -> Witness:
        """What was measured last, of a pair of parts."""
        result = self.pairs.query.result
        points = np.array([result.getNearestPoint1(), result.getNearestPoint2()])
        return Witness(self.pairs.owner_pair[row], row, distance, points, np.array(result.normal))

    def tilted(self, near: Witness) -> list[Witness]:
        """Further points of a pair that become the nearest if the second part turns by ±`TILT` about axes across the normal.

        The nearest points of edges and faces jump as these turn; with the points between which they jump, each at its own
        distance along its normal, the linearised distance holds for small turns.
        """
        first, second = self.pairs.members[near.row]
        centre, n = near.points[1], near.normal
        across = cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        across = across / np.linalg.norm(across)
        found = []
        for axis in (across, cross(n, across)):
            for angle in (-TILT, TILT):
                E = about_axis(axis, angle)
                moved = self.pairs.query.transform(E @ self.R[second], centre + E @ (self.p[second] - centre))
                self.pairs.query(self.pairs.computation(near.row), self.transform(first), moved)
                other = self.witness(near.row, 0.0)
                points = np.array([other.points[0], centre + E.T @ (other.points[1] - centre)])
                found.append(replace(other, points=points, distance=float(other.normal @ (points[1] - points[0]))))
        return found

    def nearest(self, count: int, within: float = np.inf) -> list[Witness]:
        """The nearest pairs of owners, nearest first: at most so many, and not farther than a distance."""
        best: dict[int, Witness] = {}
        limit, bound = within, self.bound.tolist()
        for row in self.near(within):
            if bound[row] > limit:
                break
            pair = self.pairs.owner_pair[row]
            if pair in best and bound[row] >= best[pair].distance:
                continue
            distance = self.measure(row)
            if distance <= limit and (pair not in best or distance < best[pair].distance):
                best[pair] = self.witness(row, distance)
                if len(best) >= count:
                    limit = min(within, sorted(w.distance for w in best.values())[count - 1])
        return sorted(best.values(), key=lambda w: (w.distance, w.pair))[:count]
