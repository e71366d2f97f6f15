"""The terms of contacts in the equations of one time step, summed over the tree of bodies.

Each contact has a wrench f − D V, linear in the twist V of its body. All are expressed at the origin of the world in world
axes, where the wrenches and matrices of a subtree are added up as they are. The joint-space terms Σ Jᵀ f and Σ Jᵀ D J then
follow as the inertia matrix does from composite rigid bodies [Featherstone 2008, §6.2], with D in place of the inertias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.model.model import Model
from dynamis.spatial import Pose, cross, skew

Array = npt.NDArray[Any]


class ContactTerms:
    """The contacts of one configuration, whatever the velocities are."""

    def __init__(self, model: Model, q: Array, contacts: Sequence[Any]) -> None:
        self.model, self.contacts = model, contacts
        self.frames = [model.frame(one.frame) for one in contacts]
        X_W = world_poses(model, relative_poses(model, q))
        self.poses = [X_W[frame.body] @ frame.pose for frame in self.frames]
        self.touched = {i for frame in self.frames for i in model.ancestors(frame.body)}
        self.screws = {i: _at_origin(X_W[i], body.S) for i, body in model.moving if i in self.touched}

    def wrenches(self, v: Array) -> Array:
        """(contacts, 6): the wrench of each at the origin of its frame."""
        V = self._twists(v)
        placed = zip(self.contacts, self.frames, self.poses, strict=True)
        return np.array([one.wrench_at(X, _at_frame(X, V[frame.body])) for one, frame, X in placed])

    def power(self, v: Array) -> Any:
        """The power of the contacts at the velocity v, by their law itself."""
        V, total = self._twists(v), 0.0
        for one, frame, X in zip(self.contacts, self.frames, self.poses, strict=True):
            twist = _at_frame(X, V[frame.body])
            total = total + one.wrench_at(X, twist) @ twist
        return total

    def assembled(self, v: Array, start: Array, h: Any, middle: bool) -> tuple[Array, Array]:
        """(Σ Jᵀ f, Σ Jᵀ D J), for v at this configuration and that at the start of the step; see `Contact.linearised`."""
        V, V_start = self._twists(v), self._twists(start)
        wrenches, slopes = ({i: np.zeros(shape) for i in self.touched} for shape in (6, (6, 6)))
        for one, frame, X in zip(self.contacts, self.frames, self.poses, strict=True):
            twists = (_at_frame(X, twist[frame.body]) for twist in (V, V_start))
            f, D = one.linearised(X, *twists, h, middle)
            to_frame = np.block([[np.eye(3), -skew(X.p)], [np.zeros((3, 3)), np.eye(3)]])
            wrenches[frame.body] = wrenches[frame.body] + to_frame.T @ f
            slopes[frame.body] = slopes[frame.body] + to_frame.T @ D @ to_frame
        return self._composite(wrenches, slopes, len(v))

    def _twists(self, v: Array) -> dict[int, Array]:
        V: dict[int, Array] = {0: np.zeros(6)}
        for i, S in self.screws.items():
            body = self.model.bodies[i]
            assert body is not None
            V[i] = V[body.parent] + S @ v[list(body.dof)]
        return V

    def _composite(self, wrenches: dict[int, Array], slopes: dict[int, Array], n: int) -> tuple[Array, Array]:
        kind = object if any(f.dtype == object for f in wrenches.values()) else float
        b, A = np.zeros(n, dtype=kind), np.zeros((n, n), dtype=kind)
        for i in sorted(self.touched, reverse=True):
            body = self.model.bodies[i]
            assert body is not None
            dof, S = list(body.dof), self.screws[i]
            b[dof] = b[dof] + S.T @ wrenches[i]
            F = slopes[i] @ S
            for j in self.model.ancestors(i):
                other = self.model.bodies[j]
                assert other is not None
                block = self.screws[j].T @ F
                rows, columns = np.ix_(other.dof, dof), np.ix_(dof, other.dof)
                A[rows] = A[rows] + block
                if j != i:
                    A[columns] = A[columns] + block.T
            if body.parent:
                wrenches[body.parent] = wrenches[body.parent] + wrenches[i]
                slopes[body.parent] = slopes[body.parent] + slopes[i]
        return b, A


def _at_origin(X: Pose, S: Array) -> Array:
    """Twists (6, k) of a body in its own frame, as those of its point at the origin of the world, in world axes."""
    linear, angular = X.R @ S[:3], X.R @ S[3:]
    return np.concatenate([linear + skew(X.p) @ angular, angular])


def _at_frame(X: Pose, twist: Array) -> Array:
    """The velocity of the origin of a frame, and its angular velocity, from the twist at the origin of the world."""
    return np.concatenate([twist[:3] + cross(twist[3:], X.p), twist[3:]])
