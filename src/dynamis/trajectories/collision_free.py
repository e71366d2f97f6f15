"""Motions that must not collide."""

from __future__ import annotations

from typing import Any, TypeVar

from dynamis.errors import InputError
from dynamis.kinematics.collision_check import checked_collision, unavoidable_collisions
from dynamis.robot import Robot
from dynamis.trajectories.motion import Motion

M = TypeVar("M", bound=Motion)


def collision_free(motion: M, collision: Any, robot: Robot | None, cure: str) -> M:
    """The motion; an error if it collides in ``collision``, a `collision.Scene` or None, with what to change."""
    if collision is None:
        return motion
    scene = checked_collision(robot, collision)
    found = scene.along(motion)
    if found.free:
        return motion
    within = f" (a margin of {scene.margin:g} m is kept)" if scene.margin else ""
    around = f"{cure}, or let dynamis.optimize.trajectory(..., collision=scene) find a way around"
    q = motion.at(0.0)[0]
    if (always := unavoidable_collisions(scene)) or scene.in_collision(q):
        near = scene.nearest(q, 1)[0].status
        around = always or f"its start is in collision ({near}), so that no way leads around: choose another start"
    raise InputError(f"the motion collides: {found.status}{within}; {around}")
