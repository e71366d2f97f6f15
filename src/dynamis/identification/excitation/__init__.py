"""Exciting motions: what a robot should do so that its log tells its parameters.

In reading order: `basis` (motions that are linear in coefficients), `fourier` and `splines` (two kinds), `tracing` (functions
of a state with gradients), `information` and `criteria` (how much a motion tells), `regions` and `limits` (what it must stay
within), `aggregation` (limits as few smooth functions) and `checking` (limits at every time), `start` (where it starts),
`search`, `design` (all together), `excitation` (the result), `files` and `plots`.
"""

from dynamis.identification.excitation.basis import Basis
from dynamis.identification.excitation.criteria import CRITERIA
from dynamis.identification.excitation.design import design_excitation
from dynamis.identification.excitation.excitation import Excitation, Use
from dynamis.identification.excitation.fourier import Fourier
from dynamis.identification.excitation.regions import Box, HalfSpace, Region, Sphere, above
from dynamis.identification.excitation.splines import Splines

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
