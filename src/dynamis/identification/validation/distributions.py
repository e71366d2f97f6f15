"""Probabilities of the tests and intervals of a fit: `scipy.special` has them, too, but takes longer to import than a fit."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np


def chi_square_tail(degrees: int, x: float) -> float:
    """Return the probability that a χ² variable with an integer number of degrees of freedom exceeds x.

    >>> round(chi_square_tail(3, 7.8147), 5)
    0.05
    """
    half = 0.5 * x
    if not half > 0.0:
        return 1.0
    powers = np.arange(0.5 * (degrees % 2), 0.5 * degrees)
    terms = [math.exp(k * math.log(half) - half - math.lgamma(k + 1.0)) for k in powers]
    return (math.erfc(math.sqrt(half)) if degrees % 2 else 0.0) + math.fsum(terms)


def t_quantile(degrees: float, probability: float) -> float:
    """Return the value that a variable with Student's t distribution exceeds with probability 1 − p, for p ≥ ½.

    With t = √ν tan θ, the density of θ is proportional to cos^(ν − 1) θ; Newton's method converges from below.

    >>> round(t_quantile(4.0, 0.975), 4)
    2.7764
    """
    x, weights = np.polynomial.legendre.leggauss(40)
    scale = math.exp(math.lgamma(0.5 * degrees + 0.5) - math.lgamma(0.5 * degrees)) / math.sqrt(math.pi)
    angle = math.atan(NormalDist().inv_cdf(probability) / math.sqrt(degrees))
    for _ in range(100):
        within = 0.5 * angle * float(weights @ np.cos(0.5 * angle * (x + 1.0)) ** (degrees - 1.0))
        step = ((probability - 0.5) / scale - within) / math.cos(angle) ** (degrees - 1.0)
        angle += step
        if abs(step) <= 1e-15 * angle:
            break
    return math.sqrt(degrees) * math.tan(angle)
