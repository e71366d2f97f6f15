"""Trajectories: planned motions of joints and frames.

Modules, in reading order: `motion` (polynomials in time, or a path with a time law), `profiles` (point-to-point profiles of one
variable), `joint_moves` (synchronised joint moves), `splines` (through via points), `cartesian` (lines, arcs and screws of a
frame), `following` (inverse kinematics along a Cartesian motion), `time_scaling` (time-optimal motion along a path) with
`limit_rows` (constraints along a path) and `reachability` (backward and forward pass), `plots`, and `given` (checks of
arguments).
"""

from dynamis.trajectories.cartesian import CartesianMotion, arc, line, screw
from dynamis.trajectories.following import follow
from dynamis.trajectories.joint_moves import joint_move
from dynamis.trajectories.motion import Along, Motion, Polynomials
from dynamis.trajectories.profiles import double_s, polynomial, trapezoidal
from dynamis.trajectories.splines import spline, through
from dynamis.trajectories.time_scaling import fastest

__all__ = [
    "Along",
    "CartesianMotion",
    "Motion",
    "Polynomials",
    "arc",
    "double_s",
    "fastest",
    "follow",
    "joint_move",
    "line",
    "polynomial",
    "screw",
    "spline",
    "through",
    "trapezoidal",
]
