"""Kinematic loops: closures, and mechanisms that have them, each a `ConstrainedRobot`.

A tree robot with holonomic constraints h(q) = 0, of the types in `dynamis.kinematics.closures`. In the order of dependence:
`constraints` (h, its Jacobian H, the bias Ḣ v, the rank), `constrained` (accelerations and multipliers in the null space of H;
assembly), `overconstrained` (rows that are redundant in closed states only), `reduced` (independent coordinates), `stops`
(impacts at joint limits), `loop_motion` (simulation), `actuated` (joints with motors), `stored` (files of motions),
`constrained_functions` and `constrained_robot` (the class), `constrained_derivatives`, `constrain` (checks), `mechanisms`
(worked examples).
"""

from dynamis.kinematics.closures import Anchor, Coupled, Distance, InPlane, Pin, Point, Weld
from dynamis.kinematics.file_closures import closures
from dynamis.simulation.loops.mechanisms import delta, five_bar, four_bar, slider_crank

__all__ = [
    "Anchor",
    "Coupled",
    "Distance",
    "InPlane",
    "Pin",
    "Point",
    "Weld",
    "closures",
    "delta",
    "five_bar",
    "four_bar",
    "slider_crank",
]
