"""The task: the error of configurations with respect to the target, and its derivative."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.kinematics.targets import as_orientation, as_point, as_pose, rotation_vectors
from dynamis.robot import Robot

Array = npt.NDArray[Any]
ROWS = {"pose": slice(0, 6), "position": slice(0, 3), "orientation": slice(3, 6)}


@dataclass(frozen=True, eq=False)
class Problem:
    """A target position, orientation or pose of a frame.

    Errors are in world axes: e = (p* − p, φ) with φ the rotation vector of R* Rᵀ. ``weights`` multiply them; a direction with
    weight zero is ignored.
    """

    robot: Robot
    frame: str
    kind: str
    R: Array
    p: Array
    weights: Array
    lower: Array  # (nq), of positions
    upper: Array

    @property
    def rows(self) -> slice:
        return ROWS[self.kind]

    def errors(self, q: Array) -> tuple[Array, Array]:
        """(weighted (m, k), sizes (m, 2)) of configurations (m, nq): minimised, and compared with the tolerance (m, rad)."""
        X = self.robot.pose(q, self.frame)
        e = np.zeros((len(q), 6))
        e[:, :3] = self.p - X[:, :3, 3]
        if self.kind != "position":
            e[:, 3:] = rotation_vectors(self.R @ np.swapaxes(X[:, :3, :3], 1, 2))
        plain = np.zeros((len(q), 6))
        plain[:, self.rows] = e[:, self.rows] * (self.weights > 0.0)
        sizes = np.stack([np.linalg.norm(plain[:, :3], axis=1), np.linalg.norm(plain[:, 3:], axis=1)], axis=1)
        return e[:, self.rows] * self.weights, sizes

    def jacobian(self, q: Array) -> Array:
        """−de/dv (m, k, n), weighted; exact at zero rotation error, approximate elsewhere."""
        return np.asarray(self.robot.jacobian(q, self.frame)[:, self.rows] * self.weights[:, None])

    def moved(self, q: Array, dv: Array) -> Array:
        """q (m, nq) moved by dv (m, n) on the manifold, clipped to the limits."""
        plain = self.robot.nq == self.robot.n
        return np.asarray(np.clip(q + dv if plain else self.robot.integrate(q, dv), self.lower, self.upper))

    def blocked(self, q: Array, push: Array) -> Array:
        """(m, n): joints at a limit and pushed against it."""
        result = np.zeros(push.shape, dtype=bool)
        for k, c in enumerate(self.robot.model.coordinates):
            if c.q_index is not None:
                at, towards = q[:, c.q_index], push[:, k]
                result[:, k] = ((at <= self.lower[c.q_index]) & (towards < 0.0)) | (
                    (at >= self.upper[c.q_index]) & (towards > 0.0)
                )
        return result

    def starts(self, rng: np.random.Generator, count: int) -> Array:
        return np.clip(self.robot.random(rng, count), self.lower, self.upper)

    def without_limits(self) -> Problem:
        return replace(self, lower=np.full(self.robot.nq, -np.inf), upper=np.full(self.robot.nq, np.inf))

    def of_position(self) -> Problem:
        """The position part of a pose task."""
        return replace(self, kind="position", weights=self.weights[:3])


def make_problem(robot: Robot, target: Any, frame: str | None, kind: str, limits: bool, weights: Any) -> Problem:
    """The task from its validated arguments."""
    if not isinstance(robot, Robot):
        raise InputError(f"inverse kinematics requires a Robot, such as dynamis.load('ur5e'), got {type(robot).__name__}")
    if robot.model.symbolic:
        raise InputError(
            f"robot {robot.name!r} has symbolic parameters: give them values first, as in dynamis.load(…, parameters=…)"
        )
    if robot.n == 0:
        raise InputError(f"robot {robot.name!r} has no moving joints")
    if kind not in ROWS:
        raise InputError(f"kind={kind!r} is unknown; choose 'pose', 'position' or 'orientation'")
    R, p = np.eye(3), np.zeros(3)
    if kind == "pose":
        R, p = as_pose(target)
    elif kind == "position":
        p = as_point(target)
    else:
        R = as_orientation(target)
    lower, upper = np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf)
    if limits:
        for c in robot.model.coordinates:
            if c.q_index is not None:
                lower[c.q_index], upper[c.q_index] = c.lower, c.upper
    count = 6 if kind == "pose" else 3
    return Problem(robot, robot.model.frame(frame).name, kind, R, p, _weights(weights, count), lower, upper)


def _weights(weights: Any, count: int) -> Array:
    if weights is None:
        return np.ones(count)
    try:
        array = np.array(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"weights= must be {count} numbers, got {weights!r}") from None
    if array.shape != (count,) or not np.isfinite(array).all() or (array < 0.0).any() or not array.any():
        raise InputError(f"weights= must be {count} finite non-negative numbers, not all zero, got {weights!r}")
    return array
