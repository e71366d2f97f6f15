"""Statics: torques in static equilibrium, forces within torque limits, and stiffness.

Modules, in order of dependence: `convention` (sign of a wrench), `static_torques` (static torques of gravity and a wrench,
virtual work), `duality` (ranges and null spaces of J and Jᵀ), `ellipsoids` (velocity and force), `force_polytope` (forces
within torque limits), `stiffness` (Cartesian stiffness from joint stiffness, with load), `deflection` (equilibrium under a
load), `stiffness_synthesis` (joint stiffness for a desired Cartesian stiffness), `stiffness_map` (over the workspace),
`closed_form` (closed form).
"""

from dynamis.statics.closed_form import static_formulas
from dynamis.statics.deflection import deflection
from dynamis.statics.duality import duality
from dynamis.statics.ellipsoids import force_ellipsoid, velocity_ellipsoid
from dynamis.statics.force_polytope import force_polytope, largest_force
from dynamis.statics.static_torques import static_torques, virtual_work
from dynamis.statics.stiffness import stiffness
from dynamis.statics.stiffness_map import stiffness_map
from dynamis.statics.stiffness_synthesis import joint_stiffness_for

__all__ = [
    "deflection",
    "duality",
    "force_ellipsoid",
    "force_polytope",
    "joint_stiffness_for",
    "largest_force",
    "static_formulas",
    "static_torques",
    "stiffness",
    "stiffness_map",
    "velocity_ellipsoid",
    "virtual_work",
]
