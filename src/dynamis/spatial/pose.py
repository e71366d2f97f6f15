"""Poses, twists and wrenches.

A pose (R, p) of frame B in frame A maps coordinates of B to those of A. Spatial vectors are linear part first:
twist V = (v, ω), wrench W = (f, μ); their product V · W is a power.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.spatial.rotation import IDENTITY, blocks, cross, skew

Array = npt.NDArray[Any]


class Pose(NamedTuple):
    """Pose of a frame: the columns of R are its axes, p its origin, both in the coordinates of another frame."""

    R: Array
    p: Array

    @staticmethod
    def identity() -> Pose:
        """No displacement; always the same object, whose arrays are read-only."""
        return _HERE

    @staticmethod
    def translation(p: Any) -> Pose:
        return Pose(IDENTITY, np.array(p))

    @staticmethod
    def rotation(R: Array) -> Pose:
        return Pose(R, np.zeros(3))

    @staticmethod
    def from_matrix(X: Array) -> Pose:
        return Pose(X[:3, :3], X[:3, 3])

    def __matmul__(self, other: Pose) -> Pose:
        """X_AB @ X_BC = X_AC."""
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> Pose:
        return Pose(self.R.T, -(self.R.T @ self.p))

    def matrix(self) -> Array:
        """The 4 × 4 homogeneous matrix."""
        return np.vstack([np.column_stack([self.R, self.p]), np.array([[0.0, 0.0, 0.0, 1.0]])])

    def twist_inward(self, V: Array) -> Array:
        """Ad⁻¹ V: a twist given at A in the coordinates of A, taken to B."""
        v, w = V[:3], V[3:]
        return np.concatenate([self.R.T @ (v + cross(w, self.p)), self.R.T @ w])

    def twist_outward(self, V: Array) -> Array:
        """Ad V: a twist given at B in the coordinates of B, taken to A."""
        v, w = self.R @ V[:3], self.R @ V[3:]
        return np.concatenate([v + cross(self.p, w), w])

    def wrench_outward(self, W: Array) -> Array:
        """Ad* W: a wrench given at B in the coordinates of B, taken to A."""
        f, m = self.R @ W[:3], self.R @ W[3:]
        return np.concatenate([f, m + cross(self.p, f)])

    def wrench_inward(self, W: Array) -> Array:
        """A wrench given at A in the coordinates of A, taken to B."""
        f, m = W[:3], W[3:]
        return np.concatenate([self.R.T @ f, self.R.T @ (m - cross(self.p, f))])

    def Ad(self) -> Array:
        """The 6 × 6 adjoint: twists of B to twists of A."""
        return blocks(self.R, skew(self.p) @ self.R, np.zeros((3, 3)), self.R)

    def is_identity(self) -> bool:
        if self is _HERE:
            return True
        if self.R is IDENTITY and self.p.dtype != object:
            return not self.p.any()
        return bool(object not in (self.R.dtype, self.p.dtype) and (self.R == IDENTITY).all() and (self.p == 0).all())

    def __repr__(self) -> str:
        return as_call(self)

    def _repr_html_(self) -> str:
        return as_table(self)


_HERE = Pose(IDENTITY, np.zeros(3))
_HERE.p.setflags(write=False)


def ad(V: Array) -> Array:
    """The 6 × 6 matrix of the Lie bracket: ad(V) U is how a twist U, fixed in a frame moving with V, changes."""
    v, w = skew(V[:3]), skew(V[3:])
    return blocks(w, v, np.zeros((3, 3)), w)


def motion_cross(V: Array, U: Array) -> Array:
    """ad(V) U, without forming the matrix."""
    v, w = V[:3], V[3:]
    return np.concatenate([cross(w, U[:3]) + cross(v, U[3:]), cross(w, U[3:])])


def force_cross(V: Array, W: Array) -> Array:
    """ad*(V) W = −ad(V)ᵀ W: how a wrench W, fixed in a frame moving with V, changes."""
    v, w = V[:3], V[3:]
    return np.concatenate([cross(w, W[:3]), cross(v, W[:3]) + cross(w, W[3:])])
