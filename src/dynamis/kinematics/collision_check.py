"""What inverse kinematics and motions ask of a `dynamis.collision.Scene`, which is made of kinematics and motions itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dynamis.errors import InputError, printable
from dynamis.robot import Robot

POSTURES = 50
BEYOND_MARGIN = 1e-3  # m: farther apart than the margin, if only just


@runtime_checkable
class CollisionCheck(Protocol):
    """Whether configurations and motions collide, which links are nearest, their distances, and h(q) ≥ 0, with gradients."""

    robot: Robot
    margin: float

    @property
    def pairs(self) -> Sequence[tuple[str, str]]: ...

    def in_collision(self, q: Any) -> Any: ...

    def nearest(self, q: Any, count: int = 1, *, within: float = np.inf) -> Sequence[Any]: ...

    def distances(self, q: Any, *, within: float = np.inf) -> Any: ...

    def distance_gradients(self, q: Any, *, within: float = np.inf) -> Any: ...

    def barrier(self) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]: ...

    def along(self, motion: Any) -> Any: ...


def unavoidable_collisions(collision: CollisionCheck) -> str:
    """The pairs that collide in all of some random postures, with what to do; empty if there are none.

    An obstacle that encloses the foot of an arm collides with its first links wherever it is.
    """
    distances = collision.distances(collision.robot.random(0, POSTURES), within=collision.margin + BEYOND_MARGIN)
    found = [pair for pair, d in zip(collision.pairs, distances.T, strict=True) if (d <= collision.margin).all()]
    if not found:
        return ""
    names = ", ".join(f"{printable(a)} and {printable(b)}" for a, b in found)
    listed = ", ".join(f"({a!r}, {b!r})" for a, b in found)
    return (
        f"{names} collide in all of {POSTURES} random postures, so that nothing is free: exclude what may touch, "
        f"Scene(…, exclude=[{listed}]), or move or shrink the obstacle"
    )


def checked_collision(robot: Robot | None, collision: Any) -> CollisionCheck:
    """A scene with the links and joints of a robot, or of any robot."""
    if not isinstance(collision, CollisionCheck):
        raise InputError(f"collision= must be a dynamis.collision.Scene, got {type(collision).__name__}")
    if robot is None:
        return collision
    theirs = collision.robot
    if (theirs.link_names, theirs.joint_names, theirs.nq) != (robot.link_names, robot.joint_names, robot.nq):
        raise InputError(f"collision= is a scene of robot {printable(theirs.name)}, which has other links or joints")
    return collision
