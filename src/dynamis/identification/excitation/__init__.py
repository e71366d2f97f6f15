"""Excitation trajectories: motions whose log identifies the parameters of a robot.

In reading order: `basis` (motions linear in coefficients), `limits` (constraints, regions, and their check at every time),
`criteria` (optimality of a motion), `log_information` (what earlier logs determine), `search`, `design` (the complete design),
`excitation` (the result and its files).
"""

from dynamis.identification.excitation.basis import Basis, Fourier, Splines
from dynamis.identification.excitation.criteria import CRITERIA
from dynamis.identification.excitation.design import design_excitation
from dynamis.identification.excitation.excitation import Excitation, Use
from dynamis.identification.excitation.limits import Box, HalfSpace, Region, Sphere, above

__all__ = [
    "CRITERIA",
    "Basis",
    "Box",
    "Excitation",
    "Fourier",
    "HalfSpace",
    "Region",
    "Sphere",
    "Splines",
    "Use",
    "above",
    "design_excitation",
]
