"""Kinematic loops: closures, constrained dynamics and simulation of closed-chain mechanisms.

A tree robot with holonomic constraints h(q) = 0. In the order of dependence: `closure` (constraint types), `constraints` (h,
its Jacobian H, the bias Ḣ v, the rank), `constrained` (accelerations and multipliers; assembly), `reduced` (independent
coordinates), `simulate_loops` (simulation), `mechanisms` (worked examples).
"""

from dynamis.simulation.loops.closure import Closure, Coupled, Distance, InPlane, Pin, Point, Weld
from dynamis.simulation.loops.constrained import Constrained, assemble, assemble_velocity, constrained_dynamics
from dynamis.simulation.loops.constraints import Constraints, constraints, independence
from dynamis.simulation.loops.mechanisms import Mechanism, delta, five_bar, four_bar, slider_crank
from dynamis.simulation.loops.reduced import Reduced, independent_coordinates, reduced_dynamics
from dynamis.simulation.loops.simulate_loops import LoopTrajectory, simulate_loops

__all__ = [
    "Closure",
    "Constrained",
    "Constraints",
    "Coupled",
    "Distance",
    "InPlane",
    "LoopTrajectory",
    "Mechanism",
    "Pin",
    "Point",
    "Reduced",
    "Weld",
    "assemble",
    "assemble_velocity",
    "constrained_dynamics",
    "constraints",
    "delta",
    "five_bar",
    "four_bar",
    "independence",
    "independent_coordinates",
    "reduced_dynamics",
    "simulate_loops",
    "slider_crank",
]
