"""Distances of links and obstacles as constraints of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.kinematics.collision_check import CollisionCheck, unavoidable_collisions

Array = npt.NDArray[Any]
DISTANCE_SCALE = 0.03  # m: counts as much as 1 rad at the goal; with 0.1 the first round leaves a free motion
WITHIN = 0.05  # m beyond what is kept: pairs farther apart are not measured


class Avoidance:
    """keep − d ≤ 0 for the distances d of all pairs at the nodes between the ends, as an augmented Lagrangian.

    ``keep`` exceeds the margin of the scene by so much that a motion within the tolerance is free.
    """

    def __init__(self, scene: CollisionCheck, tolerance: float) -> None:
        self.scene, self.tolerance, self.keep = scene, tolerance, scene.margin + 2.0 * tolerance
        self.multiplier: Array = np.zeros((1, len(scene.pairs)))

    def _excess(self, q: Array, weight: float) -> Array:
        """λ + μ c (N − 1, pairs)."""
        d = self.scene.distances(q[1:-1], within=self.keep + WITHIN)
        return np.asarray(self.multiplier + weight * (self.keep - d) / DISTANCE_SCALE)

    def value(self, q: Array, weight: float) -> float:
        """Of one motion (N + 1, nq)."""
        excess = np.maximum(self._excess(q, weight), 0.0)
        return float((excess**2).sum() - (self.multiplier**2).sum()) / (2.0 * weight)

    def added(self, cost: Array, q: Array, weight: float, sufficient: Array | None) -> Array:
        """Costs of motions with those of their distances, which take longest: up to the first that suffices."""
        if cost.ndim == 0:
            return np.asarray(cost + self.value(q, weight))
        total = np.full(cost.shape, np.inf)
        for k in np.flatnonzero(np.isfinite(cost)):
            total[k] = cost[k] + self.value(q[:, k], weight)
            if sufficient is not None and total[k] < sufficient[k]:
                break
        return total

    def expansion(self, q: Array, weight: float, margin: float) -> tuple[Array, Array]:
        """(l_q (N + 1, n), l_qq (N + 1, n, n)), by Gauss and Newton."""
        excess, n = self._excess(q, weight), self.scene.robot.n
        l_q, l_qq = np.zeros((len(q), n)), np.zeros((len(q), n, n))
        near = excess > -weight * margin / DISTANCE_SCALE
        rows = np.flatnonzero(near.any(axis=1))
        if len(rows):
            J = -self.scene.distance_gradients(q[rows + 1], within=self.keep + WITHIN) / DISTANCE_SCALE
            l_q[rows + 1] = np.einsum("kp,kpi->ki", np.maximum(excess[rows], 0.0), J)
            l_qq[rows + 1] = weight * np.einsum("kp,kpi,kpj->kij", near[rows].astype(float), J, J)
        return l_q, l_qq

    def violation(self, q: Array) -> float:
        """By how much the nearest pair is nearer than what is kept, in m."""
        d = self.scene.distances(q[1:-1], within=self.keep)
        return max(float((self.keep - d).max(initial=0.0)), 0.0)

    def update(self, q: Array, weight: float) -> None:
        """First-order update of the multipliers."""
        self.multiplier = np.maximum(self._excess(q, weight), 0.0)

    def along(self, t: Array, q: Array) -> Any:
        """The smallest distance of a motion, also between its nodes."""
        return self.scene.along((t, q))

    def tightened(self, motions: Sequence[tuple[Array, Array]]) -> bool:
        """Whether one of the motions (t, q) collides: more is kept at the nodes of the first then, by what is missing."""
        missing = self.scene.margin - min(self.along(*motion).distance for motion in motions)
        if missing < 0.0:
            return False
        nodes = motions[0][1]
        self.keep = max(self.keep, float(self.scene.distances(nodes[1:-1]).min())) + missing + self.tolerance
        return True

    def check_ends(self, start: Array, goal: Array) -> None:
        """Refuse a start or a goal in collision."""
        for q, name in ((start, "start"), (goal, "goal")):
            near = self.scene.nearest(q, 1)
            if near and near[0].distance < self.keep:
                cure = unavoidable_collisions(self.scene) or f"choose another {name}, or a scene with a smaller margin="
                raise InputError(
                    f"the {name} is in collision: {near[0].status}, and a distance of {self.keep:.3g} m is required; {cure}"
                )
