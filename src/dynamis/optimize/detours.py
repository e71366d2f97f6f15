"""Paths between two configurations around what is in the way: a first motion for those that avoid collisions.

The straight way; else the first free one of some parabolas, with a random control point beside the middle, in order of its
distance; else a path of two trees of short straight edges, grown from both ends until they meet (RRT-Connect, Kuffner & LaValle
2000), with its detours cut short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.kinematics.collision_check import CollisionCheck

Array = npt.NDArray[Any]
PARABOLAS, COARSE = 300, 8  # of their nodes, every so many are checked first
NEAREST, FARTHEST = 0.2, 4.0  # rad or m: control points from the middle
SAMPLES, SPREAD = 1500, 1.5  # random configurations for the trees; their deviation from the straight way, in rad or m
EDGE, RESOLUTION = 0.5, 0.08  # rad or m: longest edge, and distance of the configurations that are checked on it
SHORTCUTS = 200


class Detours:
    """Free paths from a start to a goal within bounds of the coordinates (n)."""

    def __init__(self, scene: CollisionCheck, start: Array, goal: Array, low: Array, high: Array) -> None:
        self.scene, self.robot, self.start, self.goal = scene, scene.robot, start, goal
        self.rng = np.random.default_rng(0)
        places = [(c.q_index, k) for k, c in enumerate(self.robot.model.coordinates) if c.q_index is not None]
        self.entries = [entry for entry, _ in places]
        self.low, self.high = (bound[[k for _, k in places]] for bound in (low, high))

    def path(self, share: Array) -> Array:
        """Configurations (…, nq) at shares of the way from 0 to 1; on the straight way where no free one is found."""
        straight = self.robot.interpolate(self.start, self.goal, share)
        if self._free(straight):
            return np.asarray(straight)
        middle = self.robot.interpolate(self.start, self.goal, 0.5)
        for distance in np.geomspace(NEAREST, FARTHEST, PARABOLAS):
            control = self._beside(middle, distance)
            first, second = (self.robot.interpolate(a, b, share) for a, b in ((self.start, control), (control, self.goal)))
            if self._free(q := self.robot.interpolate(first, second, share)):
                return np.asarray(q)
        corners = self._connected()
        return np.asarray(straight) if corners is None else self._along(self._shortened(corners), share)

    def _beside(self, q: Array, distance: float) -> Array:
        way = self.rng.normal(size=self.robot.n)
        return np.asarray(self.robot.integrate(q, distance * way / np.linalg.norm(way)))

    def _free(self, q: Array) -> bool:
        own = q[:, self.entries]
        if (own < self.low).any() or (own > self.high).any():
            return False
        return not self.scene.in_collision(q[::COARSE]).any() and not self.scene.in_collision(q).any()

    def _edge_free(self, a: Array, b: Array) -> bool:
        length = float(np.linalg.norm(self.robot.difference(a, b)))
        return self._free(self.robot.interpolate(a, b, np.linspace(0.0, 1.0, max(2, round(length / RESOLUTION) + 1))[1:]))

    def _connected(self) -> list[Array] | None:
        """The corners of a path of two trees that meet; None if they do not."""
        here, there = _Tree(self.start), _Tree(self.goal)
        for _ in range(SAMPLES):
            way = self.robot.interpolate(self.start, self.goal, self.rng.random())
            if self._extend(here, self._beside(way, SPREAD * abs(self.rng.normal()) * self.robot.n**0.5)):
                target = here.nodes[-1]
                while self._extend(there, target):
                    if np.array_equal(there.nodes[-1], target):
                        path = [*reversed(here.to_root()), *there.to_root()[1:]]
                        return path if here.nodes[0] is self.start else path[::-1]
            here, there = there, here
        return None

    def _extend(self, tree: _Tree, target: Array) -> bool:
        """Whether the tree has grown by an edge towards the target."""
        ways = self.robot.difference(np.array(tree.nodes), np.broadcast_to(target, (len(tree.nodes), len(target))))
        lengths = np.linalg.norm(ways, axis=1)
        k = int(np.argmin(lengths))
        near = lengths[k] <= EDGE
        reached = target if near else np.asarray(self.robot.integrate(tree.nodes[k], EDGE / lengths[k] * ways[k]))
        grown = bool(lengths[k] > 0.0) and self._edge_free(tree.nodes[k], reached)
        if grown:
            tree.add(reached, k)
        return grown

    def _shortened(self, corners: list[Array]) -> list[Array]:
        for _ in range(SHORTCUTS):
            i, j = sorted(self.rng.integers(0, len(corners), 2))
            if j > i + 1 and self._edge_free(corners[i], corners[j]):
                corners = [*corners[: i + 1], *corners[j:]]
        return corners

    def _along(self, corners: list[Array], share: Array) -> Array:
        """Configurations at shares of the length of a path with these corners."""
        points = np.array(corners)
        ends = np.concatenate([[0.0], np.cumsum(np.linalg.norm(self.robot.difference(points[:-1], points[1:]), axis=1))])
        at = share * ends[-1]
        k = np.clip(np.searchsorted(ends, at, side="right") - 1, 0, len(points) - 2)
        return np.asarray(self.robot.interpolate(points[k], points[k + 1], (at - ends[k]) / (ends[k + 1] - ends[k])))


class _Tree:
    """Configurations, each with its parent."""

    def __init__(self, root: Array) -> None:
        self.nodes, self.parents = [root], [-1]

    def add(self, q: Array, parent: int) -> None:
        self.nodes.append(q)
        self.parents.append(parent)

    def to_root(self) -> list[Array]:
        """From the last one to the root."""
        path, k = [], len(self.nodes) - 1
        while k >= 0:
            path.append(self.nodes[k])
            k = self.parents[k]
        return path
