"""Trajectories: motions of joints and of frames, given in advance.

In reading order: `motion` (what a motion is: polynomials in time, or a path with a clock), `profiles` (one number from start to
end), `joint_moves` (all joints together), `splines` (through points), `cartesian` (lines, arcs and screws of a frame),
`following` (the joints that take a frame along them), `time_scaling` (as fast as the limits allow) with `limit_rows` (the
limits along a path) and `reachability` (the passes backward and forward), `plots`, and `given` (the checks of what users give).
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
