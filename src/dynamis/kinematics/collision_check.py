"""What inverse kinematics asks of a `dynamis.collision.Scene`, which is made of kinematics itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dynamis.errors import InputError, printable
from dynamis.robot import Robot


@runtime_checkable
class CollisionCheck(Protocol):
    """Whether configurations collide, which links are nearest, and h(q) ≥ 0 with its gradient."""

    robot: Robot

    def in_collision(self, q: Any) -> Any: ...

    def nearest(self, q: Any, count: int = 1, *, within: float = np.inf) -> Sequence[Any]: ...

    def barrier(self) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]: ...


def checked_collision(robot: Robot, collision: Any) -> CollisionCheck:
    """A scene with the links and joints of a robot."""
    if not isinstance(collision, CollisionCheck):
        raise InputError(f"collision= must be a dynamis.collision.Scene, got {type(collision).__name__}")
    theirs = collision.robot
    if (theirs.link_names, theirs.joint_names, theirs.nq) != (robot.link_names, robot.joint_names, robot.nq):
        raise InputError(f"collision= is a scene of robot {printable(theirs.name)}, which has other links or joints")
    return collision
