"""Excitation trajectories: motions whose log identifies the parameters of a robot.

In reading order: `basis` (motions linear in coefficients), `fourier` and `splines` (two bases), `tracing` (functions of a state
with gradients), `information` and `criteria` (optimality of a motion), `regions` and `limits` (constraints), `aggregation`
(constraints as few smooth functions) and `checking` (constraints at every time), `start` (start configuration), `search`,
`design` (the complete design), `excitation` (the result), `files` and `plots`.
"""

from dynamis.identification.excitation.basis import Basis, Fourier, Splines
from dynamis.identification.excitation.criteria import CRITERIA
from dynamis.identification.excitation.design import design_excitation
from dynamis.identification.excitation.excitation import Excitation, Use
from dynamis.identification.excitation.regions import Box, HalfSpace, Region, Sphere, above

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
