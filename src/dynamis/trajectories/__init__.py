"""Trajectories: planned motions of joints and frames.

Modules, in reading order: `motion` (polynomials in time, or a path with a time law), `profiles` (point-to-point profiles of one
variable), `joint_moves` (synchronised joint moves), `splines` (through via points), `cartesian` (lines, arcs and screws of a
frame), `path_ik` (inverse kinematics along a Cartesian motion), `time_scaling` (time-optimal motion along a path) with
`constraints` (constraints along a path) and `reachability` (backward and forward pass), `collision_free` (refusal of motions
that collide), and `validate` (checks of arguments).
"""

from dynamis.trajectories.cartesian import arc, line, screw
from dynamis.trajectories.joint_moves import joint_move
from dynamis.trajectories.path_ik import follow
from dynamis.trajectories.profiles import double_s, polynomial, trapezoidal
from dynamis.trajectories.splines import spline, spline_path
from dynamis.trajectories.time_scaling import time_optimal

__all__ = [
    "arc",
    "double_s",
    "follow",
    "joint_move",
    "line",
    "polynomial",
    "screw",
    "spline",
    "spline_path",
    "time_optimal",
    "trapezoidal",
]
