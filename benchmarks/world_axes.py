"""States in the convention MuJoCo and frax share: a free base has its linear velocity in world axes, quaternions start with w."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.subjects import States
from dynamis.spatial.rotation import from_quaternion

Array = npt.NDArray[Any]


class WorldAxes:
    """Our states in that convention, and results in that convention as ours."""

    def __init__(self, states: States, *, floating: bool) -> None:
        self._floating = floating
        self._v = states.v
        if not floating:
            self.q, self.v, self.a, self.tau = states.q, states.v, states.a, states.tau
            return
        self._R = np.array([from_quaternion(q[3:7]) for q in states.q])
        self.q = np.concatenate([states.q[:, :3], states.q[:, [6, 3, 4, 5]], states.q[:, 7:]], axis=1)
        self.v = self._outward(states.v)
        self.a = self._outward(states.a + self._turning())
        self.tau = self._outward(states.tau)

    def our_forces(self, forces: Array) -> Array:
        return self._inward(forces) if self._floating else forces

    def our_accelerations(self, accelerations: Array) -> Array:
        if not self._floating:
            return accelerations
        return self._inward(accelerations) - self._turning()[: len(accelerations)]

    def our_matrices(self, matrices: Array) -> Array:
        if not self._floating:
            return matrices
        T = np.tile(np.eye(matrices.shape[-1]), (len(matrices), 1, 1))
        T[:, :3, :3] = self._R[: len(matrices)]
        return np.asarray(T.transpose(0, 2, 1) @ matrices @ T)

    def _turning(self) -> Array:
        """ω × v: d/dt (R v) = R (v̇ + ω × v)."""
        result = np.zeros_like(self._v)
        result[:, :3] = np.cross(self._v[:, 3:6], self._v[:, :3])
        return result

    def _outward(self, rows: Array) -> Array:
        result = rows.copy()
        result[:, :3] = np.einsum("sij,sj->si", self._R[: len(rows)], rows[:, :3])
        return result

    def _inward(self, rows: Array) -> Array:
        result = rows.copy()
        result[:, :3] = np.einsum("sji,sj->si", self._R[: len(rows)], rows[:, :3])
        return result
