"""The rate of a log's clock: the factor of its times with which torques of inertia and of gravity agree.

Velocities are derivatives of the positions by the logged times. If these are s times the true ones, velocities are too small by
s, accelerations by s². First moments of links act on torques both through gravity, which does not depend on time, and through
accelerations, so that s is determined by the torques even if all parameters are free; where they determine it badly, a larger
s follows with the inertias of the file as measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.logs.free_fit import CERTAIN, EXACT, MOST_ROWS, POSSIBLE, RIVAL, FreeFit
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.identification.nonlinear import Unknown, single_steps, solve

Array = npt.NDArray[Any]
LEAST = np.log(1.1)  # of the factor: lengths of links that are off by a tenth look like half as much
LEAST_BY_FILE = np.log(1.25)  # of the factor, if only the inertias of the file determine it
MOST = np.log(12.0)  # of the factor; other units of time differ by a thousand
STARTS = np.log([0.15, 0.35, 0.6, 0.8, 1.25, 1.6, 3.0, 6.0])  # of the iteration
STEPS = 15  # Gauss–Newton iterations


@dataclass(frozen=True)
class ClockScale:
    """The ``factor`` by which the logged times have to be multiplied, and the standard error of its logarithm."""

    factor: float
    error: float

    def of(self, motion: MotionSummary) -> MotionSummary:
        """The motion with the corrected clock."""
        return _scaled(motion, float(np.log(self.factor)))


def clock_scale(fit: FreeFit, prior: FreeFit, motion: MotionSummary) -> ClockScale | None:
    """Return the scale of the times with which the torques fit best, if it is many standard errors from 1 and the torques are
    clearly more likely with it, free and with the inertias of the file as measurements (``prior``); otherwise None."""
    thin = motion.thinned(MOST_ROWS)
    if fit.unexplained(thin).mean() < EXACT or not thin.v.any():
        return None
    for own, least in ((fit, LEAST), (prior, LEAST_BY_FILE)):
        if (found := _solved(own, prior, thin, least)) is not None:
            value, enough = float(np.log(found.factor)), RIVAL * thin.torque.size
            better = (each.level(_scaled(thin, value)) < each.level(thin) - enough for each in (fit, prior))
            return found if all(better) else None
    return None


def _solved(own: FreeFit, prior: FreeFit, thin: MotionSummary, least: float) -> ClockScale | None:
    """Return the scale with which a fit is best, if its logarithm is many standard errors and ``least`` from zero, or None."""
    unknowns = [Unknown("clock", lower=-MOST, upper=MOST, change=_scaled)]
    rows = own.rows(thin, unknowns)
    (step,), (error,) = single_steps(rows, 1, group=rows.group, block=rows.block)
    if abs(step) < max(POSSIBLE * error, 0.5 * least):
        return None
    starts = np.append(0.0, STARTS)
    start = starts[[int(np.argmin([prior.level(_scaled(thin, x)) for x in starts]))]]
    found = solve(rows, unknowns, group=rows.group, block=rows.block, start=start, steps=STEPS)
    value, error = float(found.values[0]), float(found.errors[0])
    certain = not found.dependent and max(CERTAIN * error, least) < abs(value) < 0.99 * MOST
    return ClockScale(float(np.exp(value)), error) if certain else None


def _scaled(motion: MotionSummary, logarithm: float) -> MotionSummary:
    """Return the motion with its times multiplied by a factor; times themselves and filters are left as they are."""
    factor = float(np.exp(logarithm))
    return motion.faster(1.0 / factor)
