"""Pairs of parts, placed by a configuration: bounds of their distances, and the distances themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.collision.geometry import Part, Query

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Witness:
    """The signed distance of pair ``pair``, its nearest points in the world, and the normal from the first to the second."""

    pair: int
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
        self._computations: dict[int, Any] = {}

    def at(self, X: Array) -> Placed:
        """The pairs where frames have these poses (frames, 4, 4)."""
        return Placed(self, X[self.frame, :3, :3], X[self.frame, :3, 3])

    def computation(self, row: int) -> Any:
        if row not in self._computations:
            first, second = self.parts[self.first[row]].geometry, self.parts[self.second[row]].geometry
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
        first, second = self.pairs.first[row], self.pairs.second[row]
        return self.pairs.query(self.pairs.computation(row), self.transform(first), self.transform(second))

    def touches(self, margin: float) -> bool:
        """Whether some pair is nearer than a margin."""
        near = np.flatnonzero(self.bound <= margin)
        return any(self.measure(row) <= margin for row in near[np.argsort(self.bound[near])])

    def touching(self, pairs: set[int], margin: float) -> set[int]:
        """Those of some pairs that are nearer than a margin."""
        found: set[int] = set()
        for row in np.flatnonzero(self.bound <= margin):
            pair = int(self.pairs.pair[row])
            if pair in pairs and pair not in found and self.measure(row) <= margin:
                found.add(pair)
        return found

    def nearest(self, count: int, within: float = np.inf) -> list[Witness]:
        """The nearest pairs of owners, nearest first: at most so many, and not farther than a distance."""
        best: dict[int, Witness] = {}
        limit = within
        for row in np.argsort(self.bound, kind="stable"):
            if self.bound[row] > limit:
                break
            pair, distance = int(self.pairs.pair[row]), self.measure(row)
            if distance <= limit and (pair not in best or distance < best[pair].distance):
                result = self.pairs.query.result
                points = np.array([result.getNearestPoint1(), result.getNearestPoint2()])
                best[pair] = Witness(pair, distance, points, np.array(result.normal))
                if len(best) >= count:
                    limit = min(within, sorted(w.distance for w in best.values())[count - 1])
        return sorted(best.values(), key=lambda w: (w.distance, w.pair))[:count]
