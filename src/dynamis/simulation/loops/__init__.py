"""Kinematic loops: closures, constrained dynamics and simulation of closed-chain mechanisms.

A tree robot with holonomic constraints h(q) = 0, of the types in `dynamis.kinematics.closures`. In the order of dependence:
`constraints` (h, its Jacobian H, the bias Ḣ v, the rank), `constrained` (accelerations and multipliers; assembly), `reduced`
(independent coordinates), `simulate_loops` (simulation), `mechanisms` (worked examples).
"""

from dynamis.kinematics.closures import Anchor, Coupled, Distance, InPlane, Pin, Point, Weld, closures
from dynamis.simulation.loops.constrained import assemble, assemble_velocity, constrained_dynamics
from dynamis.simulation.loops.constraints import independence
from dynamis.simulation.loops.mechanisms import delta, five_bar, four_bar, slider_crank
from dynamis.simulation.loops.reduced import reduced_dynamics
from dynamis.simulation.loops.simulate_loops import simulate_loops

__all__ = [
    "Anchor",
    "Coupled",
    "Distance",
    "InPlane",
    "Pin",
    "Point",
    "Weld",
    "assemble",
    "assemble_velocity",
    "closures",
    "constrained_dynamics",
    "delta",
    "five_bar",
    "four_bar",
    "independence",
    "reduced_dynamics",
    "simulate_loops",
    "slider_crank",
]
