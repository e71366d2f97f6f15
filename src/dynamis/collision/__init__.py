"""Collisions and distances between the links of a robot, and between them and obstacles, by the library coal.

Modules, in reading order: `geometry` (shapes as convex geometries), `obstacle` (shapes at rest), `pairs` (which pairs of links
are checked), `placement` (pairs of parts placed by a configuration), `clearance` (along a motion), `scene` (the
questions a user asks) and `contact_exclusions` (pairs without contacts in MJCF files).
"""

from dynamis.collision.obstacle import Obstacle
from dynamis.collision.scene import Scene

__all__ = ["Obstacle", "Scene"]
