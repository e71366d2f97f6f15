"""What inverse kinematics and motions ask of a `dynamis.collision.Scene`, which is made of kinematics and motions itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dynamis.errors import InputError, printable
from dynamis.robot import Robot


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
